"""Slack's published limits of text objects and rich text, and the checks that all parts of a message share.

It knows no blocks (slack_block_limits.py does), and uses no code of the assistant.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Part = Mapping[str, Any]
Fields = tuple[frozenset[str], frozenset[str]]  # required, optional; `type` beside them

LIST_INDENT = 8
WHOLE_TEXT = 40_000  # of one rich text element, which has no limit of its own

RICH_FIELDS: dict[str, Fields] = {
    name: (frozenset(required.split()), frozenset(optional.split()))
    for name, required, optional in (
        ("rich_text_section", "elements", ""),
        ("rich_text_list", "elements style", "indent offset border"),
        ("rich_text_preformatted", "elements", "border language"),
        ("rich_text_quote", "elements", "border"),
        ("text", "text", "style"),
        ("link", "url", "text unsafe style"),
        ("emoji", "name", "unicode skin_tone style"),
        ("user", "user_id", "style"),
        ("usergroup", "usergroup_id", "style"),
        ("channel", "channel_id", "style"),
        ("broadcast", "range", "style"),
        ("date", "timestamp format", "url fallback style"),
        ("color", "value", "style"),
    )
}
STYLES = frozenset({"bold", "italic", "strike", "code", "underline"})
CONTAINERS = frozenset({"rich_text_section", "rich_text_list", "rich_text_preformatted", "rich_text_quote"})
INLINE = frozenset(RICH_FIELDS) - CONTAINERS


def shown_text(part: Any) -> int:
    """Characters of all texts in a block or in a list of them: what a reader sees, without structure."""
    if isinstance(part, Mapping):
        own = part.get("text")
        own_length = len(own) if isinstance(own, str) else 0
        return own_length + sum(shown_text(value) for value in part.values())
    if isinstance(part, Sequence) and not isinstance(part, str):
        return sum(shown_text(value) for value in part)
    return 0


def text_faults(text: Any, at: str, most: int, kinds: Iterable[str] = ("plain_text", "mrkdwn")) -> list[str]:
    """Of a text object: its kind, its fields, and 1 to `most` characters."""
    if not isinstance(text, Mapping):
        return [f"{at}: no text object"]
    kind, optional = text.get("type"), {"plain_text": "emoji", "mrkdwn": "verbatim"}
    if kind not in tuple(kinds):
        return [f"{at}: text of type {kind!r}, here only {' or '.join(kinds)}"]
    surplus = set(text) - {"type", "text", optional[str(kind)]}
    found = [f"{at}: no field {name!r} in {kind}" for name in sorted(surplus)]
    return found + length_faults(text.get("text"), f"{at}/text", most)


def field_faults(part: Part, at: str, fields: Fields) -> list[str]:
    """Required fields that a part lacks, and fields that Slack does not know."""
    required, optional = fields
    missing = [f"{at}: missing required field: {name}" for name in sorted(required - set(part))]
    surplus = [f"{at}: no field {name!r}" for name in sorted(set(part) - required - optional - {"type"})]
    return missing + surplus


def length_faults(text: Any, at: str, most: int, least: int = 1) -> list[str]:
    """Of a string that has `least` to `most` characters."""
    if not isinstance(text, str):
        return [f"{at}: {type(text).__name__} instead of a string"]
    if least <= len(text) <= most:
        return []
    return [f"{at}: {len(text)} characters, {least} to {most} fit"]


def count_faults(items: Any, at: str, most: int) -> list[str]:
    """Of a list that has 1 to `most` items."""
    if not isinstance(items, list):
        return [f"{at}: {type(items).__name__} instead of a list"]
    return [] if 1 <= len(items) <= most else [f"{at}: {len(items)} items, 1 to {most} fit"]


def twice(names: Sequence[str]) -> list[str]:
    """The names that occur more than once."""
    return sorted({name for name in names if names.count(name) > 1})


def rich_text_faults(block: Part, at: str) -> list[str]:
    """Of a rich_text block: which elements may stand in which, their fields and styles."""
    return _rich(block["elements"], at, CONTAINERS)


def _rich(elements: Any, at: str, allowed: frozenset[str]) -> list[str]:
    found = count_faults(elements, f"{at}/elements", 10_000)
    if found:
        return found
    return [
        fault for number, part in enumerate(elements) for fault in _rich_part(part, f"{at}/elements/{number}", allowed)
    ]


def _rich_part(part: Any, at: str, allowed: frozenset[str]) -> list[str]:
    kind = part.get("type") if isinstance(part, dict) else None
    if kind not in allowed:
        return [f"{at}: unknown rich text element {kind!r} here"]
    found = field_faults(part, at, RICH_FIELDS[kind])
    if found:
        return found
    if kind == "rich_text_list":
        return _list(part, at)
    if kind in CONTAINERS:
        return _rich(part["elements"], at, INLINE)
    found = [
        f"{at}/style: {name!r}" for name, on in part.get("style", {}).items() if name not in STYLES or on is not True
    ]
    for name in ("text", "url", "name", "user_id", "channel_id", "usergroup_id"):
        if name in part:
            found += length_faults(part[name], f"{at}/{name}", WHOLE_TEXT)
    return found


def _list(part: Part, at: str) -> list[str]:
    found = [] if part["style"] in ("bullet", "ordered") else [f"{at}/style: {part['style']!r}, only bullet or ordered"]
    for name, most in (("indent", LIST_INDENT), ("offset", 10_000), ("border", 1)):
        value = part.get(name, 0)
        if type(value) is not int or not 0 <= value <= most:
            found.append(f"{at}/{name}: {value!r}, 0 to {most} fit")
    return found + _rich(part["elements"], at, frozenset({"rich_text_section"}))
