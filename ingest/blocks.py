"""What a file says, whatever its format: headings, texts and table grids in reading order, each with its place.

Data only: readers make it (read_*.py), ingest/passages.py turns it into passages. Plain JSON crosses the process
boundary, since readers run in a sandbox (sandbox.py) on files nobody has vetted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

PlaceKind = Literal["page", "slide", "sheet", "line", ""]


@dataclass(frozen=True)
class Place:
    """Where in the file a block stands; `label` is a page or slide number, a sheet's name or a line number."""

    kind: PlaceKind = ""
    label: str = ""


@dataclass(frozen=True)
class Heading:
    """A heading; `level` 1 is the outermost."""

    level: int
    text: str
    place: Place = Place()


@dataclass(frozen=True)
class Text:
    """One paragraph, list item group, quotation or code block, as Markdown without surrounding blank lines."""

    markdown: str
    place: Place = Place()


@dataclass(frozen=True)
class Grid:
    """A table as the file has it, before anyone decided which rows are headings.

    `rows` is rectangular: every cell that a merged or spanned cell covers holds its text, an empty cell is "".
    `numbers` gives each row's number in the file as a reader of it counts (the sheet's row, the CSV's line; 1 for the
    first row of a table in a text). `header_rows` is what the format says (Markdown: 1, HTML: rows of <thead> or of
    <th> only, DOCX: rows marked to repeat), None where it does not say. `caption` is the caption or title that the
    format gives the table, a line for each part of it; the sentence before it is a Text of its own and is found there.
    """

    rows: tuple[tuple[str, ...], ...]
    numbers: tuple[int, ...]
    caption: str = ""
    header_rows: int | None = None
    place: Place = Place()

    def __post_init__(self) -> None:
        widths = {len(row) for row in self.rows}
        if len(widths) > 1 or len(self.numbers) != len(self.rows):
            raise ValueError(
                f"a grid of {len(self.rows)} rows with widths {sorted(widths)} and {len(self.numbers)} numbers"
            )


Block = Heading | Text | Grid


@dataclass(frozen=True)
class Note:
    """Something a reader of the file should know, such as formulas saved without a value; in both languages."""

    zh: str
    en: str


@dataclass(frozen=True)
class Parsed:
    """A file that was read in full. `table_rows` counts the rows of all grids by another way than the grids were made."""

    title: str
    blocks: tuple[Block, ...]
    table_rows: int
    notes: tuple[Note, ...] = ()


class FileRefusedError(Exception):
    """A file that is not taken; `code` is one of REASONS, and the message names what is wrong and the way out."""

    def __init__(self, code: str, zh: str, en: str) -> None:
        super().__init__(f"{zh} / {en}")
        if code not in REASONS:
            raise ValueError(f"{code!r} is not one of {sorted(REASONS)}")
        self.code = code
        self.zh = zh
        self.en = en


REASONS = frozenset({
    "empty", "encrypted", "too-large", "zip-bomb", "macro", "wrong-type", "broken", "no-text-layer", "rows-lost",
    "too-slow", "too-much-memory", "encoding", "not-found", "not-findable",
})  # fmt: skip


def to_json(parsed: Parsed) -> dict[str, Any]:
    """A value of JSON types only; each block carries its class as `block`."""
    # vars instead of asdict: no copy of a hundred thousand rows, cell by cell
    blocks = [{**vars(block), "block": type(block).__name__, "place": vars(block.place)} for block in parsed.blocks]
    notes = [vars(note) for note in parsed.notes]
    return {"title": parsed.title, "blocks": blocks, "table_rows": parsed.table_rows, "notes": notes}


def from_json(value: dict[str, Any]) -> Parsed:
    """The inverse of `to_json`. Raises KeyError, TypeError or ValueError for anything else."""
    return Parsed(
        title=value["title"],
        blocks=tuple(_block(dict(block)) for block in value["blocks"]),
        table_rows=value["table_rows"],
        notes=tuple(Note(**note) for note in value["notes"]),
    )


def _block(value: dict[str, Any]) -> Block:
    kind, place = value.pop("block"), Place(**value.pop("place"))
    if kind == "Heading":
        return Heading(**value, place=place)
    if kind == "Text":
        return Text(**value, place=place)
    if kind == "Grid":
        rows = tuple(tuple(row) for row in value.pop("rows"))
        numbers = tuple(value.pop("numbers"))
        return Grid(**value, rows=rows, numbers=numbers, place=place)
    raise ValueError(f"{kind!r} is no block")
