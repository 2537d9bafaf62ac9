"""Slack's published limits of blocks and their parts: lengths, counts, required and allowed fields, kinds of text.

It knows the blocks this product may use (BLOCK_FIELDS) and says of any other that it is unknown. It uses no code of the
assistant, checks no Slack state (channels, tokens), and does not judge what a message says.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from evals.slack_text_limits import (
    Fields,
    Part,
    count_faults,
    field_faults,
    length_faults,
    rich_text_faults,
    shown_text,
    text_faults,
    twice,
)

Surface = Literal["message", "modal"]

TEXT, HEADER, LABEL, CONTEXT_TEXT, FIELD = 3000, 150, 2000, 2000, 2000
BLOCK_ID, ACTION_ID, BUTTON_TEXT, BUTTON_VALUE, URL, ALT_TEXT = 255, 255, 75, 2000, 3000, 2000
ACTIONS, CONTEXT_ELEMENTS, FIELDS, OPTIONS = 25, 10, 10, 100
OPTION_TEXT, OPTION_VALUE, PLACEHOLDER, TYPED = 75, 150, 150, 3000
TABLE_ROWS, TABLE_COLUMNS, TABLE_TEXT = 100, 20, 10_000
MARKDOWN_TEXT = 12_000

BLOCK_FIELDS: dict[str, Fields] = {
    name: (frozenset(required.split()), frozenset(optional.split()))
    for name, required, optional in (
        ("section", "", "text fields accessory expand"),
        ("divider", "", ""),
        ("image", "alt_text", "image_url slack_file title"),
        ("actions", "elements", ""),
        ("context", "elements", ""),
        ("input", "label element", "hint optional dispatch_action"),
        ("header", "text", "level"),
        ("markdown", "text", ""),
        ("rich_text", "elements", ""),
        ("table", "rows", "column_settings"),
    )
}
NOT_IN_MODALS = frozenset({"markdown", "table"})

ELEMENT_FIELDS: dict[str, Fields] = {
    name: (frozenset(required.split()), frozenset(optional.split()))
    for name, required, optional in (
        ("button", "text", "action_id url value style confirm accessibility_label"),
        ("static_select", "", "action_id options option_groups placeholder initial_option confirm focus_on_load"),
        ("overflow", "options", "action_id confirm"),
        ("radio_buttons", "options", "action_id initial_option confirm focus_on_load"),
        ("checkboxes", "options", "action_id initial_options confirm focus_on_load"),
        (
            "plain_text_input",
            "",
            "action_id initial_value multiline min_length max_length placeholder dispatch_action_config focus_on_load",
        ),
        ("image", "alt_text", "image_url slack_file"),
    )
}
IN_ACTIONS = frozenset({"button", "static_select", "overflow", "radio_buttons", "checkboxes"})
IN_INPUTS = frozenset({"static_select", "radio_buttons", "checkboxes", "plain_text_input"})


def block_faults(blocks: Any, surface: Surface, most: int) -> list[str]:
    """What Slack would refuse in these blocks, each with a JSON pointer; none: they are right. `most`: blocks allowed."""
    if not isinstance(blocks, list):
        return [f"/blocks: {type(blocks).__name__} instead of a list"]
    found = []
    if len(blocks) > most:
        found.append(f"/blocks: {len(blocks)} blocks, {most} fit")
    for number, block in enumerate(blocks):
        found += _block(block, f"/blocks/{number}", surface)
    good = [block for block in blocks if isinstance(block, dict)]
    ids = [block["block_id"] for block in good if block.get("block_id")]
    found += [f"/blocks: block_id {name!r} stands twice" for name in twice(ids)]
    tables = sum(block.get("type") == "table" for block in good)
    if tables > 1:
        found.append(f"/blocks: {tables} tables, only_one_table_allowed")
    markdown = sum(len(str(block.get("text", ""))) for block in good if block.get("type") == "markdown")
    if markdown > MARKDOWN_TEXT:
        found.append(f"/blocks: {markdown} characters in all markdown blocks, {MARKDOWN_TEXT} fit")
    return found


def _block(block: Any, at: str, surface: Surface) -> list[str]:
    if not isinstance(block, dict):
        return [f"{at}: no block"]
    kind = block.get("type")
    if kind not in BLOCK_FIELDS or (surface == "modal" and kind in NOT_IN_MODALS):
        return [f"{at}: unknown block type {kind!r} in a {surface}"]
    found = field_faults({name: value for name, value in block.items() if name != "block_id"}, at, BLOCK_FIELDS[kind])
    if "block_id" in block:
        found += length_faults(block["block_id"], f"{at}/block_id", BLOCK_ID)
    return found or CHECKS[kind](block, at)


def _section(block: Part, at: str) -> list[str]:
    if not block.get("text") and not block.get("fields"):
        return [f"{at}: neither text nor fields"]
    found = text_faults(block["text"], f"{at}/text", TEXT) if "text" in block else []
    if "fields" in block:
        found += count_faults(block["fields"], f"{at}/fields", FIELDS)
        found += [
            fault
            for number, field in enumerate(block["fields"])
            for fault in text_faults(field, f"{at}/fields/{number}", FIELD)
        ]
    if "accessory" in block:
        found += _element(block["accessory"], f"{at}/accessory", IN_ACTIONS | {"image"})
    return found


def _picture(part: Part, at: str) -> list[str]:
    found = length_faults(part["alt_text"], f"{at}/alt_text", ALT_TEXT)
    if ("image_url" in part) == ("slack_file" in part):
        found.append(f"{at}: either image_url or slack_file")
    if "image_url" in part:
        found += length_faults(part["image_url"], f"{at}/image_url", URL)
    if "slack_file" in part and len(set(part["slack_file"]) & {"id", "url"}) != 1:
        found.append(f"{at}/slack_file: either id or url")
    return found


def _image(block: Part, at: str) -> list[str]:
    titled = text_faults(block["title"], f"{at}/title", LABEL, ["plain_text"]) if "title" in block else []
    return _picture(block, at) + titled


def _actions(block: Part, at: str) -> list[str]:
    found = count_faults(block["elements"], f"{at}/elements", ACTIONS)
    if found:
        return found
    for number, element in enumerate(block["elements"]):
        found += _element(element, f"{at}/elements/{number}", IN_ACTIONS)
    ids = [str(element["action_id"]) for element in block["elements"] if element.get("action_id")]
    return found + [f"{at}: action_id {name!r} stands twice" for name in twice(ids)]


def _context(block: Part, at: str) -> list[str]:
    found = count_faults(block["elements"], f"{at}/elements", CONTEXT_ELEMENTS)
    if found:
        return found
    for number, element in enumerate(block["elements"]):
        place = f"{at}/elements/{number}"
        if isinstance(element, dict) and element.get("type") == "image":
            found += _element(element, place, frozenset({"image"}))
        else:
            found += text_faults(element, place, CONTEXT_TEXT)
    return found


def _input(block: Part, at: str) -> list[str]:
    found = text_faults(block["label"], f"{at}/label", LABEL, ["plain_text"])
    if "hint" in block:
        found += text_faults(block["hint"], f"{at}/hint", LABEL, ["plain_text"])
    return found + _element(block["element"], f"{at}/element", IN_INPUTS)


def _header(block: Part, at: str) -> list[str]:
    return text_faults(block["text"], f"{at}/text", HEADER, ["plain_text"])


def _element(element: Any, at: str, allowed: frozenset[str]) -> list[str]:
    if not isinstance(element, dict):
        return [f"{at}: no element"]
    kind = str(element.get("type"))
    if kind not in allowed:
        return [f"{at}: unknown element type {kind!r} here"]
    found = field_faults(element, at, ELEMENT_FIELDS[kind])
    if found:
        return found
    if "action_id" in element:
        found += length_faults(element["action_id"], f"{at}/action_id", ACTION_ID)
    if "confirm" in element:
        found += _confirm(element["confirm"], f"{at}/confirm")
    if "placeholder" in element:
        found += text_faults(element["placeholder"], f"{at}/placeholder", PLACEHOLDER, ["plain_text"])
    if "options" in element:
        found += _options(element["options"], f"{at}/options", {"overflow": 5, "static_select": OPTIONS}.get(kind, 10))
    return found + ELEMENT_CHECKS.get(kind, _nothing)(element, at)


def _nothing(element: Part, at: str) -> list[str]:
    return []


def _button(element: Part, at: str) -> list[str]:
    found = text_faults(element["text"], f"{at}/text", BUTTON_TEXT, ["plain_text"])
    if "value" in element:
        found += length_faults(element["value"], f"{at}/value", BUTTON_VALUE)
    if "url" in element:
        found += length_faults(element["url"], f"{at}/url", URL)
    if "accessibility_label" in element:
        found += length_faults(element["accessibility_label"], f"{at}/accessibility_label", BUTTON_TEXT)
    if element.get("style", "primary") not in ("primary", "danger"):
        found.append(f"{at}/style: {element['style']!r}, only primary or danger")
    return found


def _typed(element: Part, at: str) -> list[str]:
    found = [
        f"{at}/{name}: {element[name]!r}, {least} to {TYPED} fit"
        for name, least in (("min_length", 0), ("max_length", 1))
        if name in element and not (isinstance(element[name], int) and least <= element[name] <= TYPED)
    ]
    return found + (
        length_faults(element["initial_value"], f"{at}/initial_value", TYPED) if "initial_value" in element else []
    )


def _confirm(confirm: Any, at: str) -> list[str]:
    if not isinstance(confirm, dict):
        return [f"{at}: no confirm object"]
    parts = (("title", 100), ("text", 300), ("confirm", 30), ("deny", 30))
    return [
        fault
        for name, most in parts
        if name in confirm or name in ("title", "text")
        for fault in text_faults(confirm.get(name), f"{at}/{name}", most)
    ]


def _options(options: Any, at: str, most: int) -> list[str]:
    found = count_faults(options, at, most)
    if found:
        return found
    for number, option in enumerate(options):
        found += text_faults(option.get("text"), f"{at}/{number}/text", OPTION_TEXT)
        found += length_faults(option.get("value"), f"{at}/{number}/value", OPTION_VALUE)
    values = [str(option.get("value")) for option in options]
    return found + [f"{at}: value {value!r} stands twice" for value in twice(values)]


def _table(block: Part, at: str) -> list[str]:
    rows = block["rows"]
    found = count_faults(rows, f"{at}/rows", TABLE_ROWS)
    if found:
        return found
    for number, row in enumerate(rows):
        found += count_faults(row, f"{at}/rows/{number}", TABLE_COLUMNS)
    if found:
        return found
    if len({len(row) for row in rows}) > 1:
        found.append(f"{at}/rows: rows of {sorted({len(row) for row in rows})} cells, all must be equally long")
    if (length := shown_text(rows)) > TABLE_TEXT:
        found.append(f"{at}/rows: {length} characters in all cells, {TABLE_TEXT} fit")
    for number, row in enumerate(rows):
        for column, cell in enumerate(row):
            found += _cell(cell, f"{at}/rows/{number}/{column}")
    return found + _columns(block.get("column_settings", []), f"{at}/column_settings")


def _cell(cell: Any, at: str) -> list[str]:
    kind = cell.get("type") if isinstance(cell, dict) else None
    if kind == "rich_text":
        return _block(cell, at, "message")
    if kind not in ("raw_text", "raw_number"):
        return [f"{at}: unknown cell type {kind!r}"]
    number = frozenset({"value"}) if kind == "raw_number" else frozenset()
    found = field_faults(cell, at, (frozenset({"text"}) | number, frozenset()))
    return found or length_faults(cell["text"], f"{at}/text", TABLE_TEXT)


def _columns(settings: Any, at: str) -> list[str]:
    if not isinstance(settings, list) or len(settings) > TABLE_COLUMNS:
        return [f"{at}: a list of at most {TABLE_COLUMNS}"]
    found = []
    for number, column in enumerate(settings):
        found += field_faults(column or {}, f"{at}/{number}", (frozenset(), frozenset({"align", "is_wrapped"})))
        if (column or {}).get("align", "left") not in ("left", "center", "right"):
            found.append(f"{at}/{number}/align: {column['align']!r}, only left, center or right")
    return found


def _markdown(block: Part, at: str) -> list[str]:
    return length_faults(block["text"], f"{at}/text", MARKDOWN_TEXT)


ELEMENT_CHECKS: dict[str, Callable[[Part, str], list[str]]] = {
    "button": _button,
    "plain_text_input": _typed,
    "image": _picture,
}
CHECKS: dict[str, Callable[[Part, str], list[str]]] = {
    "section": _section,
    "divider": _nothing,
    "image": _image,
    "actions": _actions,
    "context": _context,
    "input": _input,
    "header": _header,
    "markdown": _markdown,
    "rich_text": rich_text_faults,
    "table": _table,
}
