"""Tables as Slack's table blocks, cut between rows where they are too large, with the headings repeated.

A table with a cell too large for any block becomes a list, one entry per row, so that no row is ever cut. It decides
nothing about what a table holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from assistant.slack.inline_text import Inline, plain
from assistant.slack.rich_text import Grid
from assistant.slack.view import Block

ROWS, COLUMNS = 100, 20
TABLE_CHARACTERS = 6_000  # Slack takes 10,000 in all cells, but the message holds other text too
CELL_CHARACTERS = 1_500
_WRAPPED_FROM = 24  # characters; shorter cells stay on one line
_EMPTY = "–"  # Slack refuses a cell without text
_FIGURE = re.compile(r"[✓★~≈+\-−–]*\s*[¥$€£]?\d[\d,. ]*(?:[\s/%（(x×].{0,14})?|[—–]")


def table_blocks(grid: Grid) -> tuple[Block, ...]:
    """The table as blocks that may each stand in a message of their own; none where a cell is too large for that."""
    rows = (grid.headings, *grid.rows)
    if any(len(plain(cell)) > CELL_CHARACTERS for row in rows for cell in row):
        return ()
    if any(_length(row[:COLUMNS]) > TABLE_CHARACTERS // 2 for row in rows):
        return ()
    return tuple(_block(part) for part in _parts(grid))


def as_list(grid: Grid) -> str:
    """The table as Markdown, one entry per row: heading and cell on each line."""
    return "\n".join(
        "- "
        + "\n  ".join(
            f"**{_escaped(plain(heading))}** {_escaped(plain(cell))}  "
            for heading, cell in zip(grid.headings, row, strict=False)
        )
        for row in grid.rows or (grid.headings,)
    )


def text_grid(headings: Sequence[str], rows: Sequence[Sequence[str]], bold: Sequence[int] = ()) -> Grid:
    """A table of plain texts; the rows at the places `bold` stand out."""
    return Grid(
        tuple(_cell(heading, bold=False) for heading in headings),
        tuple(tuple(_cell(cell, bold=place in bold) for cell in row) for place, row in enumerate(rows)),
        ("",) * len(headings),
    )


def _cell(text: str, *, bold: bool) -> Inline:
    element: Block = {"type": "text", "text": text}
    return ({**element, "style": {"bold": True}} if bold else element,) if text else ()


def _parts(grid: Grid) -> Iterator[Grid]:
    """The table cut into ones within the limits: by columns (the first one repeated), then by rows."""
    for columns in _columns(len(grid.headings)):
        narrow = Grid(
            _picked(grid.headings, columns),
            tuple(_picked(row, columns) for row in grid.rows),
            tuple(grid.alignments[column] for column in columns),
        )
        yield from _by_rows(narrow)


def _columns(count: int) -> list[list[int]]:
    if count <= COLUMNS:
        return [list(range(count))]
    others = range(1, count)
    return [[0, *others[start : start + COLUMNS - 1]] for start in range(0, len(others), COLUMNS - 1)]


def _picked(row: Sequence[Inline], columns: Sequence[int]) -> tuple[Inline, ...]:
    return tuple(row[column] if column < len(row) else () for column in columns)


def _by_rows(grid: Grid) -> Iterator[Grid]:
    rows: list[tuple[Inline, ...]] = []
    head = length = _length(grid.headings)
    for row in grid.rows:
        if rows and (len(rows) + 1 >= ROWS or length + _length(row) > TABLE_CHARACTERS):
            yield Grid(grid.headings, tuple(rows), grid.alignments)
            rows, length = [], head
        rows.append(row)
        length += _length(row)
    yield Grid(grid.headings, tuple(rows), grid.alignments)


def _length(row: Sequence[Inline]) -> int:
    return sum(len(plain(cell)) or len(_EMPTY) for cell in row)


def _block(grid: Grid) -> Block:
    rows = [grid.headings, *grid.rows]
    return {
        "type": "table",
        "column_settings": [_setting(grid, column) for column in range(len(grid.headings))],
        "rows": [[_slack_cell(cell) for cell in row] for row in rows],
    }


def _slack_cell(cell: Inline) -> Block:
    text = plain(cell)
    if not text.strip():
        return {"type": "raw_text", "text": _EMPTY}
    if all(element == {"type": "text", "text": element.get("text")} for element in cell):
        return {"type": "raw_text", "text": text}
    return {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": list(cell)}]}


def _setting(grid: Grid, column: int) -> Block:
    cells = [plain(row[column]).strip() for row in grid.rows]
    figures = bool(cells) and all(_FIGURE.fullmatch(cell) for cell in cells)
    align = grid.alignments[column] or ("right" if figures else "left")
    wrapped = any(len(cell) > _WRAPPED_FROM for cell in cells)
    return {"align": align, "is_wrapped": wrapped}


def _escaped(text: str) -> str:
    return re.sub(r"([\\`*_\[\]<>|#~&!-])", r"\\\1", " ".join(text.split()))
