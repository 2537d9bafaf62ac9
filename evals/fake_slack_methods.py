"""The methods of the fake Slack's Web API: what each does to the workspace, and the errors Slack gives.

Limits are checked before (slack_limits.py); tokens, failures asked for and HTTP are the server's (fake_slack_http.py).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from evals.fake_slack_state import (
    APP,
    BOT,
    BOT_USER,
    TEAM,
    Channel,
    Modal,
    Posted,
    ResponseUrl,
    SlackError,
    Upload,
    Workspace,
)

Arguments = Mapping[str, Any]
Result = dict[str, Any]
Method = Callable[[Workspace, Arguments], Result]


def _channel(workspace: Workspace, name: Any) -> Channel:
    channel = workspace.channels.get(str(name))
    if channel is None:
        raise SlackError("channel_not_found")
    return channel


def _writable(workspace: Workspace, name: Any) -> Channel:
    channel = _channel(workspace, name)
    if channel.archived:
        raise SlackError("is_archived")
    if not channel.member:
        raise SlackError("not_in_channel")
    return channel


def _message(workspace: Workspace, arguments: Arguments) -> Posted:
    message = workspace.messages.get((_channel(workspace, arguments["channel"]).id, arguments["ts"]))
    if message is None or message.deleted:
        raise SlackError("message_not_found")
    return message


def as_slack_shows(message: Posted) -> Result:
    """A message as Slack gives it back, and puts it into the payload of a click."""
    shown: Result = {
        "type": "message",
        "user": message.user,
        "ts": message.ts,
        "bot_id": BOT,
        "app_id": APP,
        "text": message.text,
        "team": TEAM,
        "blocks": message.blocks,
    }
    return shown | ({"thread_ts": message.thread_ts} if message.thread_ts else {})


def _with_block_ids(workspace: Workspace, blocks: Any) -> list[dict[str, Any]]:
    return [{**block, "block_id": block.get("block_id") or workspace.new_id("b")} for block in blocks or []]


def _new(workspace: Workspace, channel: str, arguments: Arguments, **more: Any) -> Posted:
    return Posted(
        channel=channel,
        ts=workspace.new_ts(),
        text=arguments.get("text") or arguments.get("markdown_text") or "",
        blocks=_with_block_ids(workspace, arguments.get("blocks")),
        thread_ts=arguments.get("thread_ts"),
        at=time.monotonic(),
        **more,
    )


def _post(workspace: Workspace, arguments: Arguments) -> Result:
    message = _new(workspace, _writable(workspace, arguments["channel"]).id, arguments)
    workspace.messages[message.channel, message.ts] = message
    return {"channel": message.channel, "ts": message.ts, "message": as_slack_shows(message)}


def _update(workspace: Workspace, arguments: Arguments) -> Result:
    message = _message(workspace, arguments)
    if message.user != BOT_USER:
        raise SlackError("cant_update_message")
    if message.streaming:
        raise SlackError("streaming_state_conflict")
    message.change(arguments.get("text") or "", _with_block_ids(workspace, arguments.get("blocks")))
    message.streamed = ""
    return {"channel": message.channel, "ts": message.ts, "text": message.text, "message": as_slack_shows(message)}


def _delete(workspace: Workspace, arguments: Arguments) -> Result:
    message = _message(workspace, arguments)
    if message.user != BOT_USER:
        raise SlackError("cant_delete_message")
    message.deleted = True
    return {"channel": message.channel, "ts": message.ts}


def _ephemeral(workspace: Workspace, arguments: Arguments) -> Result:
    channel = _writable(workspace, arguments["channel"])
    if arguments["user"] not in workspace.users:
        raise SlackError("user_not_in_channel")
    message = _new(workspace, channel.id, arguments, to=arguments["user"])
    workspace.ephemerals.append(message)
    return {"message_ts": message.ts}


def _start_stream(workspace: Workspace, arguments: Arguments) -> Result:
    channel = _writable(workspace, arguments["channel"])
    if workspace.streaming == "off":
        raise SlackError("feature_not_enabled")
    if channel.kind != "im":
        if workspace.streaming == "direct messages":
            raise SlackError("channel_type_not_supported")
        for name in ("recipient_team_id", "recipient_user_id"):
            if not arguments.get(name):
                raise SlackError(f"missing_{name}")
    message = _new(workspace, channel.id, {"thread_ts": arguments["thread_ts"]}, streaming=True)
    message.streamed = _streamed(arguments)
    workspace.messages[message.channel, message.ts] = message
    return {"channel": message.channel, "ts": message.ts}


def _streamed(arguments: Arguments) -> str:
    chunks = [chunk.get("text", "") for chunk in arguments.get("chunks") or [] if chunk.get("type") == "markdown_text"]
    return (arguments.get("markdown_text") or "") + "".join(chunks)


def _streaming(workspace: Workspace, arguments: Arguments) -> Posted:
    message = _message(workspace, arguments)
    if not message.streaming:
        raise SlackError("message_not_in_streaming_state")
    message.streamed += _streamed(arguments)
    return message


def _append_stream(workspace: Workspace, arguments: Arguments) -> Result:
    message = _streaming(workspace, arguments)
    return {"channel": message.channel, "ts": message.ts}


def _stop_stream(workspace: Workspace, arguments: Arguments) -> Result:
    message = _streaming(workspace, arguments)
    message.streaming = False
    message.text, message.blocks = message.streamed, _with_block_ids(workspace, arguments.get("blocks"))
    return {"channel": message.channel, "ts": message.ts, "message": as_slack_shows(message)}


def _upload_url(workspace: Workspace, arguments: Arguments) -> Result:
    file = Upload(
        workspace.new_id("F"),
        str(arguments["filename"]),
        int(arguments["length"]),
        arguments.get("alt_txt") or "",
    )
    workspace.files[file.id] = file
    return {"file_id": file.id, "upload_url": f"/upload/{file.id}"}  # the server puts its address before it


def _complete_upload(workspace: Workspace, arguments: Arguments) -> Result:
    files = []
    for item in arguments["files"]:
        file = workspace.files.get(item.get("id"))
        if file is None or file.content is None:
            raise SlackError("file_not_found")
        file.title = item.get("title") or file.name
        files.append(file)
    if arguments.get("channel_id"):
        _share(workspace, files, arguments)
    return {"files": [{"id": file.id, "title": file.title, "name": file.name, "size": file.length} for file in files]}


def _share(workspace: Workspace, files: list[Upload], arguments: Arguments) -> None:
    channel = _writable(workspace, arguments["channel_id"]).id
    comment = {"text": arguments.get("initial_comment"), "thread_ts": arguments.get("thread_ts")}
    message = _new(workspace, channel, comment, files=[file.id for file in files])
    workspace.messages[channel, message.ts] = message
    for file in files:
        file.channel, file.thread_ts = channel, arguments.get("thread_ts")


def _delete_file(workspace: Workspace, arguments: Arguments) -> Result:
    file = workspace.files.get(arguments["file"])
    if file is None:
        raise SlackError("file_not_found")
    if file.deleted:
        raise SlackError("file_deleted")
    file.deleted = True
    for message in workspace.messages.values():
        message.deleted = message.deleted or message.files == [file.id]
    return {}


def _open_view(workspace: Workspace, arguments: Arguments) -> Result:
    user, made = workspace.triggers.pop(arguments["trigger_id"], ("", 0.0))
    if not user:
        raise SlackError("invalid_trigger_id")
    if time.monotonic() - made > workspace.trigger_seconds:
        raise SlackError("expired_trigger_id")
    modal = Modal(workspace.new_id("V"), user, dict(arguments["view"]))
    workspace.modals.append(modal)
    return {"view": {**modal.view, "id": modal.id, "team_id": TEAM, "app_id": APP, "bot_id": BOT, "hash": "1.fake"}}


def _status(workspace: Workspace, arguments: Arguments) -> Result:
    channel = _channel(workspace, arguments["channel_id"]).id
    workspace.statuses.append((channel, arguments["thread_ts"], arguments["status"]))
    return {}


def _title(workspace: Workspace, arguments: Arguments) -> Result:
    channel = _channel(workspace, arguments["channel_id"]).id
    workspace.titles[channel, arguments["thread_ts"]] = arguments["title"]
    return {}


def _prompts(workspace: Workspace, arguments: Arguments) -> Result:
    channel = _channel(workspace, arguments["channel_id"]).id
    workspace.prompts[channel, arguments.get("thread_ts") or ""] = list(arguments["prompts"])
    return {}


def _auth(workspace: Workspace, arguments: Arguments) -> Result:
    return {
        "url": "https://gpu.slack.example/",
        "team": "GPU",
        "user": "gpu-advisor",
        "team_id": TEAM,
        "user_id": BOT_USER,
        "bot_id": BOT,
        "is_enterprise_install": False,
    }


def _open_connection(workspace: Workspace, arguments: Arguments) -> Result:
    ticket = workspace.new_id("t")
    workspace.tickets.add(ticket)
    return {"url": f"/link/?ticket={ticket}&app_id={APP}"}  # the server puts its address before it


def _channel_info(workspace: Workspace, arguments: Arguments) -> Result:
    channel = _channel(workspace, arguments.get("channel"))
    kind = {"channel": "is_channel", "group": "is_group", "im": "is_im", "mpim": "is_mpim"}
    flags = {flag: channel.kind == name for name, flag in kind.items()}
    return {"channel": {"id": channel.id, "name": channel.id.lower(), "is_member": channel.member, **flags}}


def _user_info(workspace: Workspace, arguments: Arguments) -> Result:
    name = workspace.users.get(str(arguments.get("user")))
    if name is None:
        raise SlackError("user_not_found")
    return {"user": {"id": arguments["user"], "team_id": TEAM, "name": name, "is_bot": False, "locale": "en-US"}}


def respond(workspace: Workspace, url: ResponseUrl, arguments: Arguments) -> None:
    """A post to a response_url: a new message, or the one clicked replaced or deleted; SlackError where it is used up."""
    if url.expired or url.left <= 0:
        raise SlackError("expired_url" if url.expired else "used_url")
    url.left -= 1
    old = _clicked(workspace, url) if arguments.get("replace_original") or arguments.get("delete_original") else None
    if arguments.get("delete_original"):
        if old is not None:
            old.deleted = True
        return
    if old is not None:
        old.change(arguments.get("text") or "", _with_block_ids(workspace, arguments.get("blocks")))
        return
    public = arguments.get("response_type") == "in_channel"
    message = _new(workspace, url.channel, {"thread_ts": url.thread_ts, **arguments}, to="" if public else url.user)
    url.ts = url.ts or message.ts  # of a command: what it said first is the original from then on
    if public:
        workspace.messages[message.channel, message.ts] = message
    else:
        workspace.ephemerals.append(message)


def _clicked(workspace: Workspace, url: ResponseUrl) -> Posted | None:
    for message in [*workspace.messages.values(), *workspace.ephemerals]:
        if (message.channel, message.ts) == (url.channel, url.ts) and not message.deleted:
            return message
    return None


METHODS: dict[str, Method] = {
    "auth.test": _auth,
    "apps.connections.open": _open_connection,
    "chat.postMessage": _post,
    "chat.update": _update,
    "chat.delete": _delete,
    "chat.postEphemeral": _ephemeral,
    "chat.startStream": _start_stream,
    "chat.appendStream": _append_stream,
    "chat.stopStream": _stop_stream,
    "files.getUploadURLExternal": _upload_url,
    "files.completeUploadExternal": _complete_upload,
    "files.delete": _delete_file,
    "views.open": _open_view,
    "assistant.threads.setStatus": _status,
    "assistant.threads.setTitle": _title,
    "assistant.threads.setSuggestedPrompts": _prompts,
    "conversations.info": _channel_info,
    "users.info": _user_info,
}
