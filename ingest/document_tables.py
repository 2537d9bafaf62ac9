"""The tables of a parsed file with what stands around them, ready to be read as prices or as specifications.

Numbers every table of the file from 1 in reading order, whether anything is recognised in it or not. It recognises
nothing itself. FileRefusedError of grids.py passes through.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from ingest.blocks import Block, Grid, Heading, Parsed, Place, Text
from ingest.grid_parts import parts_of
from ingest.grids import tabulate

LONGEST_LABEL = 160  # a longer paragraph before a table is no label of it
LONGEST_NAME = 60  # of a document, where it is quoted as a source
NOTHING_SAID = re.compile(
    r"[\s\-–—―_/\\.×✗✕]*|n/?a|null|none|tbd|暂无|无|未知|不详|未公布|待定|缺货|面议|未提供|不支持", re.I
)
NO_HEADER = re.compile(r"(?:列|column) \d+")


@dataclass(frozen=True)
class DocumentTable:
    """One table: `headings` and the cells of `rows` are of one width; `lines` are the rows' numbers in the file.

    `label` is its caption, or the short text right before it; `unit_note` holds what it says of units, `notes` the
    other sentences of it. `around` names what it stands in, the nearest first: its heading, the document's title.
    """

    number: int
    label: str
    place: Place
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    lines: tuple[int, ...]
    sections: tuple[str, ...]
    unit_note: str
    notes: tuple[str, ...]
    around: tuple[str, ...]


def document_tables(parsed: Parsed) -> Iterator[DocumentTable]:
    """Every table of the file that has data rows."""
    number, heading, before = 0, "", ""
    for block in parsed.blocks:
        if isinstance(block, Grid):
            parts = parts_of(block)
            for part in parts.grids:
                number += 1
                if found := _table(number, part, before, tuple(filter(None, (heading, parsed.title))), parts.form):
                    yield found
        heading = block.text if isinstance(block, Heading) else heading
        before = _label_before(block)


def rows_of(document: str) -> str:
    """What the source of every row of a document begins with, see `source_of`."""
    return source_of(document, 0).partition(" · ")[0] + " · 表 "


def source_of(document: str, number: int) -> str:
    """What a row is said to come from, in both languages, and short enough for a file name: 报价.docx · 表 2 (table 2)."""
    name = document if len(document) <= LONGEST_NAME else f"{document[: LONGEST_NAME - 1]}…"
    return f"{name} · 表 {number} (table {number})"


def folded(text: str) -> str:
    """Half width, lower case, single spaces: the form in which headings and cells are compared."""
    return " ".join(unicodedata.normalize("NFKC", text).lower().split())


def says_nothing(cell: str) -> bool:
    """Whether a cell is empty or a mark for "not known"."""
    return bool(NOTHING_SAID.fullmatch(folded(cell)))


def _table(
    number: int, grid: Grid, before: str, around: tuple[str, ...], form: tuple[str, ...]
) -> DocumentTable | None:
    table = tabulate(grid)
    if not table.rows:
        return None
    return DocumentTable(
        number=number,
        label=table.caption or before,
        place=table.place,
        headings=tuple("" if NO_HEADER.fullmatch(heading) else heading for heading in table.headers),
        rows=table.rows,
        lines=table.numbers,
        sections=table.sections,
        unit_note=table.unit_note,
        notes=(*table.notes, *form),
        around=around,
    )


def _label_before(block: Block) -> str:
    """The text of a block if it may be the label of a table right after it."""
    if not isinstance(block, Text):
        return ""
    text = block.markdown.strip().strip("*_").strip()
    return text if "\n" not in text and len(text) <= LONGEST_LABEL else ""
