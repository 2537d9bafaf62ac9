"""Slack's published limits, each at its edge (fits) and one beyond (Slack would refuse)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from evals.slack_limits import BLOCKS_TEXT, faults
from evals.slack_text_limits import shown_text

TS = "1700000000.000100"
Part = dict[str, Any]


def plain(text: str) -> Part:
    return {"type": "plain_text", "text": text}


def posted(*blocks: Part, text: str = "x") -> list[str]:
    return faults("chat.postMessage", {"channel": "C1", "text": text, "blocks": list(blocks)})


def rich(*parts: Part) -> Part:
    return {"type": "rich_text", "elements": list(parts)}


def section(*parts: Part) -> Part:
    return {"type": "rich_text_section", "elements": list(parts)}


def words(text: str, **style: bool) -> Part:
    return {"type": "text", "text": text} | ({"style": style} if style else {})


def button(number: int = 0, **fields: Any) -> Part:
    return {"type": "button", "text": plain("ok"), "action_id": f"a{number}", "value": "v", **fields}


def actions(*elements: Part, **fields: Any) -> Part:
    return {"type": "actions", "elements": list(elements), **fields}


def table(rows: int, columns: int, text: str = "x", **fields: Any) -> Part:
    return {"type": "table", "rows": [[{"type": "raw_text", "text": text}] * columns for _ in range(rows)], **fields}


def modal(**fields: Any) -> Part:
    typed = {"type": "plain_text_input", "action_id": "why"}
    blocks = [{"type": "input", "label": plain("Why"), "element": typed}]
    view = {"type": "modal", "title": plain("t"), "submit": plain("s"), "close": plain("c"), "blocks": blocks, **fields}
    return {"trigger_id": "1.2.3", "view": view}


def opened(**fields: Any) -> list[str]:
    return faults("views.open", modal(**fields))


def asked(**element: Any) -> list[str]:
    typed = {"type": "plain_text_input", "action_id": "why", **element}
    return opened(blocks=[{"type": "input", "label": plain("Why"), "element": typed}])


# name, a message or view of that size, the greatest size that fits
EDGES: dict[str, tuple[Callable[[int], list[str]], int]] = {
    "fallback text": (lambda size: posted(text="x" * size), 4000),
    "blocks of a message": (lambda size: posted(*[{"type": "divider"}] * size), 50),
    "all text of the blocks": (lambda size: posted({"type": "divider"}, rich(section(words("x" * size)))), BLOCKS_TEXT - 125),
    "section": (lambda size: posted({"type": "section", "text": plain("x" * size)}), 3000),
    "section field": (lambda size: posted({"type": "section", "fields": [plain("x" * size)]}), 2000),
    "section fields": (lambda size: posted({"type": "section", "fields": [plain("x")] * size}), 10),
    "header": (lambda size: posted({"type": "header", "text": plain("x" * size)}), 150),
    "context elements": (lambda size: posted({"type": "context", "elements": [plain("x")] * size}), 10),
    "context text": (lambda size: posted({"type": "context", "elements": [plain("x" * size)]}), 2000),
    "buttons in actions": (lambda size: posted(actions(*[button(number) for number in range(size)])), 25),
    "button text": (lambda size: posted(actions(button(text=plain("x" * size)))), 75),
    "button value": (lambda size: posted(actions(button(value="x" * size))), 2000),
    "button url": (lambda size: posted(actions(button(url="x" * size))), 3000),
    "action_id": (lambda size: posted(actions(button(action_id="x" * size))), 255),
    "block_id": (lambda size: posted({"type": "divider", "block_id": "x" * size}), 255),
    "alt_text": (lambda size: posted({"type": "image", "image_url": "u", "alt_text": "x" * size}), 2000),
    "markdown block": (lambda size: posted({"type": "markdown", "text": "x" * size}), 12_000),
    "two markdown blocks": (lambda size: posted(*[{"type": "markdown", "text": "x" * (size // 2)}] * 2), 12_001),
    "table rows": (lambda size: posted(table(size, 2)), 100),
    "table columns": (lambda size: posted(table(2, size)), 20),
    "table text": (lambda size: posted(table(1, 2, "x" * (size // 2))), 10_001),
    "column settings": (lambda size: posted(table(1, 1, column_settings=[{"align": "right"}] * size)), 20),
    "tables of a message": (lambda size: posted(*[table(1, 1)] * size), 1),
    "list indent": (
        lambda size: posted(
            rich({"type": "rich_text_list", "style": "bullet", "indent": size, "elements": [section(words("x"))]})
        ),
        8,
    ),
    "modal title": (lambda size: opened(title=plain("x" * size)), 24),
    "modal submit": (lambda size: opened(submit=plain("x" * size)), 24),
    "modal close": (lambda size: opened(close=plain("x" * size)), 24),
    "private_metadata": (lambda size: opened(private_metadata="x" * size), 3000),
    "callback_id": (lambda size: opened(callback_id="x" * size), 255),
    "blocks of a modal": (lambda size: opened(blocks=[{"type": "divider"}] * size), 100),
    "input label": (
        lambda size: opened(blocks=[{**modal()["view"]["blocks"][0], "label": plain("x" * size)}]),
        2000,
    ),
    "typed characters": (lambda size: asked(max_length=size), 3000),
    "placeholder": (lambda size: asked(placeholder=plain("x" * size)), 150),
    "stream text": (
        lambda size: faults("chat.appendStream", {"channel": "C1", "ts": TS, "markdown_text": "x" * size}),
        12_000,
    ),
    "first stream text": (
        lambda size: faults("chat.startStream", {"channel": "C1", "thread_ts": TS, "markdown_text": "x" * size}),
        12_000,
    ),
    "suggested prompts": (
        lambda size: faults(
            "assistant.threads.setSuggestedPrompts",
            {"channel_id": "D1", "prompts": [{"title": "t", "message": "m"}] * size},
        ),
        4,
    ),
    "alt text of a file": (
        lambda size: faults("files.getUploadURLExternal", {"filename": "f", "length": 1, "alt_txt": "x" * size}),
        1000,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", EDGES)
def test_the_edge_fits_and_one_more_does_not(name: str) -> None:
    of_size, most = EDGES[name]
    assert of_size(most) == []
    assert of_size(most + 1)


FAULTY: dict[str, Part] = {
    "unknown block": {"type": "sektion", "text": plain("x")},
    "no block type": {"text": plain("x")},
    "field too many": {"type": "divider", "text": "x"},
    "section without text": {"type": "section"},
    "empty text": {"type": "section", "text": plain("")},
    "text that is no object": {"type": "section", "text": "x"},
    "unknown text type": {"type": "section", "text": {"type": "markdown", "text": "x"}},
    "plain_text with verbatim": {"type": "section", "text": {**plain("x"), "verbatim": True}},
    "mrkdwn in a header": {"type": "header", "text": {"type": "mrkdwn", "text": "x"}},
    "mrkdwn in a button": actions(button(text={"type": "mrkdwn", "text": "x"})),
    "value that is no string": actions(button(value={"turn": 1})),
    "button without text": actions({"type": "button", "action_id": "a"}),
    "unknown button style": actions(button(style="default")),
    "action_id twice in a block": actions(button(1), button(1)),
    "no elements": actions(),
    "unknown element": actions({"type": "knob", "action_id": "a"}),
    "text input in actions": actions({"type": "plain_text_input", "action_id": "a"}),
    "rows of unequal length": {**table(1, 2), "rows": [*table(1, 2)["rows"], *table(1, 3)["rows"]]},
    "empty cell": table(1, 1, ""),
    "unknown cell": {"type": "table", "rows": [[plain("x")]]},
    "number without value": {"type": "table", "rows": [[{"type": "raw_number", "text": "1"}]]},
    "no rows": {"type": "table", "rows": []},
    "unknown alignment": table(1, 1, column_settings=[{"align": "middle"}]),
    "text outside of a section": rich(words("x")),
    "empty rich text": rich(),
    "empty rich text run": rich(section(words(""))),
    "list in a section": rich(
        section({"type": "rich_text_list", "style": "bullet", "elements": [section(words("x"))]})
    ),
    "list of texts": rich({"type": "rich_text_list", "style": "bullet", "elements": [words("x")]}),
    "list without style": rich({"type": "rich_text_list", "elements": [section(words("x"))]}),
    "unknown list style": rich({"type": "rich_text_list", "style": "dash", "elements": [section(words("x"))]}),
    "unknown rich text style": rich(section(words("x", loud=True))),
    "style that is off": rich(section(words("x", bold=False))),
    "unknown rich element": rich(section({"type": "mark", "text": "x"})),
    "link without url": rich(section({"type": "link", "text": "x"})),
    "image with two sources": {"type": "image", "alt_text": "x", "image_url": "u", "slack_file": {"id": "F1"}},
    "image without source": {"type": "image", "alt_text": "x"},
    "confirmation too long": actions(button(confirm={"title": plain("x" * 101), "text": plain("y")})),
}


@pytest.mark.parametrize("name", FAULTY)
def test_what_slack_refuses_in_a_block(name: str) -> None:
    found = posted(FAULTY[name])
    assert found
    assert all(fault.startswith("invalid_blocks: ") for fault in found)


def test_what_the_bot_may_use_is_right() -> None:
    item = section(words("项", bold=True), {"type": "link", "url": "https://example.com", "text": "来源"})
    nested = {"type": "rich_text_list", "style": "ordered", "indent": 1, "offset": 2, "elements": [item]}
    code = {"type": "rich_text_preformatted", "elements": [words("1 + 1")]}
    quote = {"type": "rich_text_quote", "elements": [words("引")]}
    cells = [{"type": "raw_text", "text": "A100"}, {"type": "raw_number", "value": 28.19, "text": "28.19"}, rich(item)]
    assert posted(
        {"type": "header", "text": plain("价格")},
        rich(section(words("a"), {"type": "user", "user_id": "U1"}), nested, code, quote),
        {"type": "table", "rows": [cells, cells], "column_settings": [None, {"align": "right", "is_wrapped": True}]},
        {"type": "context", "elements": [plain("as of 2026")]},
        actions(button(1), button(2, style="primary")),
    ) == []  # fmt: skip


def test_block_ids_are_unique_in_a_message() -> None:
    assert "stands twice" in posted({"type": "divider", "block_id": "b"}, {"type": "divider", "block_id": "b"})[0]
    assert posted(actions(button(1)), actions(button(1))) == []  # action_ids only within a block


@pytest.mark.parametrize("kind", ["markdown", "table"])
def test_blocks_that_a_modal_does_not_take(kind: str) -> None:
    block = {"type": "markdown", "text": "x"} if kind == "markdown" else table(1, 1)
    assert posted(block) == []
    assert "in a modal" in opened(blocks=[block])[0]


@pytest.mark.parametrize(
    ("method", "arguments", "error"),
    [
        ("chat.postMessage", {"channel": "C1"}, "no_text"),
        ("chat.postMessage", {"channel": "C1", "text": "", "blocks": []}, "no_text"),
        ("chat.postMessage", {"text": "x"}, "channel_not_found"),
        ("chat.postMessage", {"channel": "C1", "text": 5}, "invalid_arguments"),
        ("chat.postMessage", {"channel": "C1", "text": "x", "thread_ts": "C1"}, "invalid_thread_ts"),
        ("chat.postMessage", {"channel": "C1", "text": "x", "thread_ts": 1700000000.0001}, "invalid_thread_ts"),
        ("chat.postMessage", {"channel": "C1", "text": "x", "markdown_text": "y"}, "markdown_text_conflict"),
        ("chat.postMessage", {"channel": "C1", "text": "x", "blocks": "[]"}, "invalid_blocks"),
        ("chat.update", {"channel": "C1", "text": "x"}, "invalid_arguments"),
        ("chat.postEphemeral", {"channel": "C1", "text": "x"}, "invalid_arguments"),
        ("response_url", {"text": "x", "response_type": "public"}, "invalid_arguments"),
        ("response_url", {"text": "x", "replace_original": "true"}, "invalid_arguments"),
        ("response_url", {"replace_original": True}, "no_text"),
        ("chat.startStream", {"channel": "C1"}, "missing_thread_ts"),
        ("chat.appendStream", {"channel": "C1", "ts": TS}, "no_text"),
        ("chat.appendStream", {"channel": "C1", "ts": TS, "chunks": [{"type": "text"}]}, "invalid_chunks"),
        ("views.open", {"trigger_id": "1", "view": {"type": "home"}}, "invalid_arguments"),
        ("views.open", {"view": modal()["view"]}, "invalid_arguments"),
        ("assistant.threads.setStatus", {"channel_id": "D1", "thread_ts": TS}, "invalid_arguments"),
    ],
)
def test_the_error_is_the_one_slack_gives(method: str, arguments: dict[str, Any], error: str) -> None:
    assert faults(method, arguments)[0].startswith(f"{error}: ")


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("response_url", {"delete_original": True}),
        ("assistant.threads.setStatus", {"channel_id": "D1", "thread_ts": TS, "status": ""}),
        ("chat.startStream", {"channel": "D1", "thread_ts": TS}),
        ("chat.stopStream", {"channel": "D1", "ts": TS}),
        ("chat.postMessage", {"channel": "C1", "text": "x", "thread_ts": None}),
    ],
)
def test_what_needs_no_text(method: str, arguments: dict[str, Any]) -> None:
    assert faults(method, arguments) == []


def test_a_modal_with_inputs_needs_a_submit_button() -> None:
    view = modal()["view"]
    del view["submit"]
    assert "submit" in faults("views.open", {"trigger_id": "1", "view": view})[0]


def test_shown_text_counts_what_a_reader_sees() -> None:
    assert shown_text([rich(section(words("价格"), words("ab"))), actions(button()), table(2, 2, "12")]) == 14
