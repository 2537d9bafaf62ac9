"""A call of Slack's Web API against Slack's published limits: what Slack would refuse, with the error it would give.

Messages, updates, ephemeral messages, posts to a response_url, modals, chunks of a stream, and what an assistant thread
takes. It uses no code of the assistant and keeps no state: whether a channel or a message exists is the fake's matter.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from evals.slack_block_limits import block_faults
from evals.slack_text_limits import shown_text, text_faults

MESSAGE_BLOCKS, MODAL_BLOCKS = 50, 100
MESSAGE_TEXT = (
    4_000  # chat.update refuses more; chat.postMessage cuts at 40,000, and nobody reads so long a notification
)
STREAM_TEXT = 12_000
# Unpublished; slackapi/bolt-js issue 2509 found msg_blocks_too_long above 13,297 characters in markdown blocks alone,
# and each further block to cost about 125.
BLOCKS_TEXT, COST_OF_A_BLOCK = 13_297, 125
MODAL_TITLE, MODAL_BUTTON, MODAL_METADATA, CALLBACK_ID, MODAL_BYTES = 24, 24, 3_000, 255, 250_000
ALT_TEXT_OF_FILE, PROMPTS, LOADING_MESSAGES = 1_000, 4, 10
RESPONSE_URL = "response_url"

TIMESTAMP = re.compile(r"\d{10}\.\d{6}")
REQUIRED = {
    "chat.postMessage": "channel",
    "chat.update": "channel ts",
    "chat.postEphemeral": "channel user",
    "chat.delete": "channel ts",
    "chat.startStream": "channel thread_ts",
    "chat.appendStream": "channel ts",
    "chat.stopStream": "channel ts",
    "views.open": "trigger_id view",
    "files.getUploadURLExternal": "filename length",
    "files.completeUploadExternal": "files",
    "files.delete": "file",
    "assistant.threads.setStatus": "channel_id thread_ts",
    "assistant.threads.setTitle": "channel_id thread_ts title",
    "assistant.threads.setSuggestedPrompts": "channel_id prompts",
}


def faults(method: str, arguments: Mapping[str, Any]) -> list[str]:
    """Faults of a call, each `error: what and where`, where `error` is the one that Slack answers with.

    `arguments` are decoded (blocks a list, view a dict). The method "response_url" is a post to a response_url.
    """
    missing = [
        f"{_missing(method, name)}: {method} without {name}"
        for name in REQUIRED.get(method, "").split()
        if arguments.get(name) in (None, "")
    ]
    times = [
        f"invalid_{name}: {arguments[name]!r} is no message timestamp"
        for name in ("thread_ts", "ts")
        if arguments.get(name) and not (isinstance(arguments[name], str) and TIMESTAMP.fullmatch(arguments[name]))
    ]
    return missing + times + (CHECKS[method](arguments) if method in CHECKS and not missing else [])


def _missing(method: str, name: str) -> str:
    if method == "chat.startStream" and name == "thread_ts":
        return "missing_thread_ts"
    return "channel_not_found" if name == "channel" else "invalid_arguments"


def _message(arguments: Mapping[str, Any]) -> list[str]:
    text, blocks, markdown = arguments.get("text") or "", arguments.get("blocks"), arguments.get("markdown_text")
    if not isinstance(text, str):
        return [f"invalid_arguments: text is {type(text).__name__}"]
    found = []
    if len(text) > MESSAGE_TEXT:
        found.append(f"msg_too_long: text of {len(text)} characters, {MESSAGE_TEXT} fit")
    if markdown is not None and (text or blocks):
        found.append("markdown_text_conflict: markdown_text beside text or blocks")
    if not (blocks or markdown or text.strip() or arguments.get("attachments")):
        found.append("no_text: neither text nor blocks")
    return found + _markdown(arguments) + (_blocks(blocks) if blocks is not None else [])


def _blocks(blocks: Any) -> list[str]:
    found = [f"invalid_blocks: {fault}" for fault in block_faults(blocks, "message", MESSAGE_BLOCKS)]
    size = shown_text(blocks) + COST_OF_A_BLOCK * (len(blocks) - 1 if isinstance(blocks, list) else 0)
    if size > BLOCKS_TEXT:
        found.append(f"msg_blocks_too_long: {size} characters in blocks, {BLOCKS_TEXT} fit")
    return found


def _markdown(arguments: Mapping[str, Any]) -> list[str]:
    markdown = arguments.get("markdown_text")
    if markdown is None:
        return []
    if not isinstance(markdown, str):
        return [f"invalid_arguments: markdown_text is {type(markdown).__name__}"]
    if len(markdown) > STREAM_TEXT:
        return [f"msg_too_long: markdown_text of {len(markdown)} characters, {STREAM_TEXT} fit"]
    return []


def _response(arguments: Mapping[str, Any]) -> list[str]:
    found = []
    if arguments.get("response_type", "ephemeral") not in ("ephemeral", "in_channel"):
        found.append(f"invalid_arguments: response_type {arguments['response_type']!r}")
    for name in ("replace_original", "delete_original"):
        if not isinstance(arguments.get(name, False), bool):
            found.append(f"invalid_arguments: {name} is {type(arguments[name]).__name__}")
    return found if arguments.get("delete_original") is True else found + _message(arguments)


def _stream(arguments: Mapping[str, Any]) -> list[str]:
    if arguments.get("markdown_text") and arguments.get("chunks"):
        return ["invalid_arguments: markdown_text beside chunks"]
    found = _markdown(arguments)
    for number, chunk in enumerate(arguments.get("chunks") or []):
        found += [f"invalid_chunks: /chunks/{number}: {fault}" for fault in _chunk(chunk)]
    return found


def _chunk(chunk: Any) -> list[str]:
    kind = chunk.get("type") if isinstance(chunk, dict) else None
    if kind == "markdown_text":
        text = chunk.get("text")
        fits = isinstance(text, str) and 1 <= len(text) <= STREAM_TEXT
        return [] if fits else [f"text of 1 to {STREAM_TEXT} characters"]
    if kind == "blocks":
        return block_faults(chunk.get("blocks"), "message", MESSAGE_BLOCKS)
    return [f"unknown chunk type {kind!r}"]


def _append(arguments: Mapping[str, Any]) -> list[str]:
    empty = not arguments.get("markdown_text") and not arguments.get("chunks")
    return ["no_text: nothing to append"] if empty else _stream(arguments)


def _stop(arguments: Mapping[str, Any]) -> list[str]:
    return _stream(arguments) + (_blocks(arguments["blocks"]) if arguments.get("blocks") is not None else [])


def _modal(arguments: Mapping[str, Any]) -> list[str]:
    view = arguments["view"]
    if not isinstance(view, dict) or view.get("type") != "modal":
        return ["invalid_arguments: /view: no view of type modal"]
    found = text_faults(view.get("title"), "/view/title", MODAL_TITLE, ["plain_text"])
    for name in ("submit", "close"):
        if name in view:
            found += text_faults(view[name], f"/view/{name}", MODAL_BUTTON, ["plain_text"])
    for name, most in (
        ("private_metadata", MODAL_METADATA),
        ("callback_id", CALLBACK_ID),
        ("external_id", CALLBACK_ID),
    ):
        if len(view.get(name, "")) > most:
            found.append(f"/view/{name}: {len(view[name])} characters, {most} fit")
    blocks = view.get("blocks")
    found += block_faults(blocks, "modal", MODAL_BLOCKS) if blocks else ["/view/blocks: none"]
    if "submit" not in view and any(block.get("type") == "input" for block in blocks or [] if isinstance(block, dict)):
        found.append("/view: input blocks need a submit button")
    if len(json.dumps(view)) > MODAL_BYTES:
        found.append(f"/view: more than {MODAL_BYTES} bytes")
    return [f"invalid_arguments: {fault}" for fault in found]


def _upload(arguments: Mapping[str, Any]) -> list[str]:
    found = []
    if not str(arguments["length"]).isdigit() or int(arguments["length"]) < 1:
        found.append(f"invalid_arguments: length {arguments['length']!r} bytes")
    if len(arguments.get("alt_txt") or "") > ALT_TEXT_OF_FILE:
        found.append(f"alt_txt_too_large: {len(arguments['alt_txt'])} characters, {ALT_TEXT_OF_FILE} fit")
    return found


def _status(arguments: Mapping[str, Any]) -> list[str]:
    if not isinstance(arguments.get("status"), str):
        return ["invalid_arguments: status is no string"]
    if len(arguments.get("loading_messages") or []) > LOADING_MESSAGES:
        return [f"invalid_arguments: more than {LOADING_MESSAGES} loading_messages"]
    return []


def _prompts(arguments: Mapping[str, Any]) -> list[str]:
    prompts = arguments["prompts"]
    if not isinstance(prompts, list) or not 1 <= len(prompts) <= PROMPTS:
        return [f"invalid_arguments: 1 to {PROMPTS} prompts"]
    return [
        f"invalid_arguments: /prompts/{number}: no {name}"
        for number, prompt in enumerate(prompts)
        for name in ("title", "message")
        if not (isinstance(prompt, dict) and isinstance(prompt.get(name), str) and prompt[name].strip())
    ]


CHECKS: dict[str, Callable[[Mapping[str, Any]], list[str]]] = {
    "chat.postMessage": _message,
    "chat.update": _message,
    "chat.postEphemeral": _message,
    "chat.startStream": _stream,
    "chat.appendStream": _append,
    "chat.stopStream": _stop,
    RESPONSE_URL: _response,
    "views.open": _modal,
    "files.getUploadURLExternal": _upload,
    "assistant.threads.setStatus": _status,
    "assistant.threads.setSuggestedPrompts": _prompts,
}
