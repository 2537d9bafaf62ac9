"""A message that Slack does not take as it is, once more as plain text in pieces that it takes.

Pure functions; nothing is lost but styles and buttons.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

from assistant.slack.view import Message

PIECE_CHARACTERS = 3_000
_CELL_GAP = " | "


def plain_messages(message: Message) -> tuple[Message, ...]:
    """The words of `message` in messages of one block of plain text each, at most PIECE_CHARACTERS long."""
    words = plain_words(message.blocks) or html.unescape(message.text)
    return tuple(_plain(piece) for piece in pieces(words, PIECE_CHARACTERS)) or (_plain("…"),)


def folded(messages: Sequence[Message], most_characters: int) -> Message:
    """The words of several messages in one of plain text; what is over `most_characters` is left out, with "…"."""
    words = "\n\n".join(plain_words(each.blocks) or html.unescape(each.text) for each in messages)
    if len(words) > most_characters:
        words = f"{words[: most_characters - 1]}…"
    blocks = [_section(piece) for piece in pieces(words, PIECE_CHARACTERS)]
    return Message(tuple(blocks), html.escape(words[:PIECE_CHARACTERS], quote=False))


def plain_words(blocks: Sequence[Mapping[str, Any]]) -> str:
    """What a reader sees of the blocks, without styles and buttons; tables as lines with bars."""
    return "\n".join(filter(None, (_words(block).strip("\n") for block in blocks)))


def pieces(text: str, most_characters: int) -> list[str]:
    """The text cut at line ends, else behind a sentence, else anywhere: none longer, none empty, no character lost."""
    out: list[str] = []
    while len(text) > most_characters:
        cut = _cut(text[:most_characters])
        out.append(text[:cut])
        text = text[cut:]
    return [each for each in [*out, text] if each.strip()]


def _cut(head: str) -> int:
    """Where to cut `head`: in its later half, at the best place that there is."""
    for mark in ("\n", "。", ". ", " "):
        place = head.rfind(mark)
        if place >= len(head) // 2:
            return place + len(mark)
    return len(head)


def _plain(text: str) -> Message:
    return Message((_section(text),), html.escape(text, quote=False))


def _section(text: str) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "plain_text", "text": text, "emoji": False}}


def _words(node: Mapping[str, Any]) -> str:
    kind = node.get("type")
    if kind in {"actions", "divider"}:
        return ""
    if kind == "table":
        return "\n".join(_CELL_GAP.join(_words(cell) for cell in row) for row in node["rows"])
    if kind == "rich_text_list":
        return "\n".join(f"- {_words(each)}" for each in node["elements"])
    if "elements" in node:
        gap = "\n" if kind in {"rich_text", "context"} else ""
        return gap.join(_words(each) for each in node["elements"])
    text = node.get("text") or node.get("url") or node.get("alt_text") or ""
    return _words(text) if isinstance(text, Mapping) else str(text)
