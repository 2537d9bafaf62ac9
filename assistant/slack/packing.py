"""Parts of an answer fitted into as few Slack messages as its limits allow, in their order.

One table in a message; a heading or a line that leads in stays with its table. It knows no answer and no buttons.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from assistant.slack.rich_text import BLOCK_CHARACTERS, Grid, Part, Rich, Rule, parts
from assistant.slack.tables import as_list, table_blocks
from assistant.slack.view import Block

MESSAGE_CHARACTERS = 9_000  # all text of a message's blocks
BLOCK_WEIGHT, MESSAGE_WEIGHT = 125, 12_500  # Slack reckons so much for each block beside the text
BLOCKS = 45  # Slack takes 50
PARTED_BY = 2  # line ends between two parts of a block
CONTEXT_CHARACTERS = 1_900  # Slack takes 2,000 in one element

_LEADS_IN = re.compile(r"[:：]\s*(?:\[\d+\]\s*)*$")
_Piece = Rich | Block  # what is fitted: rich text, which may share a block, or a whole block


def packed(items: Sequence[Part | Block], last: Sequence[Block] = ()) -> tuple[tuple[Block, ...], ...]:
    """The blocks of each message; `last` (buttons) end the last one. Whole blocks may stand among the parts."""
    messages: list[list[_Piece]] = []
    current: list[_Piece] = []
    room = _Room()
    for piece in _pieces(items):
        if current and not room.after(piece).is_enough:
            kept = len(current) - _leading(current, piece)
            messages.append(current[:kept])
            current = current[kept:]
            room = _Room().after(*current)
        current.append(piece)
        room = room.after(piece)
    if len(current) > 1 and not room.after(*last).is_enough:
        messages.append(current[:-1])
        current = current[-1:]
    messages.append([*current, *last])
    return tuple(tuple(_blocks(pieces)) for pieces in messages if pieces)


def one_message(items: Sequence[Part | Block], last: Sequence[Block]) -> tuple[tuple[Block, ...], bool]:
    """As many of the items as fit into one message with `last` at its end, and whether these are all of them."""
    current: list[_Piece] = []
    room = _Room()
    for piece in _pieces(items):
        room = room.after(piece)
        if current and not room.after(*last).is_enough:
            return (*_blocks(current), *last), False
        current.append(piece)
    return (*_blocks(current), *last), True


@dataclass(frozen=True)
class _Room:
    """What the pieces of one message take up so far; `run` are the characters of the rich text block at its end."""

    characters: int = 0
    blocks: int = 0
    tables: int = 0
    run: int = 0

    def after(self, *pieces: _Piece) -> _Room:
        """What they take up with these pieces too, at most."""
        room = self
        for piece in pieces:
            if isinstance(piece, Rich):
                length = len(piece.text) + PARTED_BY
                joins = room.run and room.run + length <= BLOCK_CHARACTERS
                run, blocks = (room.run + length, room.blocks) if joins else (length, room.blocks + 1)
                room = _Room(room.characters + length, blocks, room.tables, run)
            else:
                characters = room.characters + shown_characters(piece)
                room = _Room(characters, room.blocks + 1, room.tables + _is_table(piece))
        return room

    @property
    def is_enough(self) -> bool:
        """Whether Slack takes that much in one message."""
        weight = self.characters + BLOCK_WEIGHT * self.blocks
        within = self.characters <= MESSAGE_CHARACTERS and weight <= MESSAGE_WEIGHT
        return within and self.blocks <= BLOCKS and self.tables <= 1


def context_blocks(lines: Sequence[str]) -> tuple[Block, ...]:
    """Small grey lines below a text, as plain text; what is too long for one goes on in the next."""
    texts: list[str] = []
    for line in lines:
        for start in range(0, len(line), CONTEXT_CHARACTERS):
            piece = line[start : start + CONTEXT_CHARACTERS]
            if texts and len(texts[-1]) + 1 + len(piece) <= CONTEXT_CHARACTERS:
                texts[-1] += f"\n{piece}"
            else:
                texts.append(piece)
    return tuple(
        {"type": "context", "elements": [{"type": "plain_text", "text": text, "emoji": False}]} for text in texts
    )


def shown_characters(part: Any) -> int:
    """Characters of all texts within blocks."""
    if isinstance(part, dict):
        own = part.get("text")
        return (len(own) if isinstance(own, str) else 0) + sum(shown_characters(value) for value in part.values())
    return sum(shown_characters(each) for each in part) if isinstance(part, list | tuple) else 0


def _pieces(items: Sequence[Part | Block]) -> Iterator[_Piece]:
    for item in items:
        if isinstance(item, Grid):
            blocks = table_blocks(item)
            yield from blocks or (part for part in parts(as_list(item)) if isinstance(part, Rich))
        elif isinstance(item, Rule):
            yield {"type": "divider"}
        else:
            yield item


def _is_table(piece: _Piece) -> bool:
    return isinstance(piece, dict) and piece.get("type") == "table"


def _leading(current: Sequence[_Piece], following: _Piece) -> int:
    """How many of the last pieces belong to the table that follows: headings, and a line that ends in a colon."""
    if not _is_table(following):
        return 0
    count = 0
    for piece in reversed(current[1:]):
        if not isinstance(piece, Rich) or not (piece.heading or _LEADS_IN.search(piece.text)):
            break
        count += 1
    return count


def _blocks(pieces: Sequence[_Piece]) -> list[Block]:
    """The pieces as blocks; neighbours of rich text share one as long as they fit."""
    out: list[Block] = []
    run: list[Rich] = []
    characters = 0  # of the run
    for piece in pieces:
        if isinstance(piece, Rich):
            length = len(piece.text) + PARTED_BY
            if run and characters + length > BLOCK_CHARACTERS:
                out.append(_rich_text(run))
                run = []
            characters = characters + length if run else length
            run.append(piece)
            continue
        if run:
            out.append(_rich_text(run))
            run = []
        out.append(piece)
    return [*out, _rich_text(run)] if run else out


def _rich_text(run: Sequence[Rich]) -> Block:
    """One block, laid out as Slack's own composer does: paragraphs in one section, an empty line between them."""
    elements: list[Block] = []
    heading = False
    for part in run:
        element = part.element
        is_section = element["type"] == "rich_text_section"
        if elements and is_section and elements[-1]["type"] == "rich_text_section":
            joint = "\n" if heading else "\n\n"
            joined = [*_with_end(elements[-1]["elements"], joint), *element["elements"]]
            elements[-1] = {**elements[-1], "elements": joined}
        else:
            if elements and elements[-1]["type"] == "rich_text_section":
                elements[-1] = {**elements[-1], "elements": _with_end(elements[-1]["elements"], "\n")}
            elif elements and is_section:
                element = {**element, "elements": [{"type": "text", "text": "\n"}, *element["elements"]]}
            elements.append(element)
        heading = bool(part.heading)
    return {"type": "rich_text", "elements": elements}


def _with_end(elements: Sequence[Block], end: str) -> list[Block]:
    """The elements of a section with `end` behind them."""
    final = elements[-1]
    if final["type"] == "text" and "style" not in final:
        return [*elements[:-1], {**final, "text": final["text"] + end}]
    return [*elements, {"type": "text", "text": end}]
