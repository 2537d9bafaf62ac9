"""The filled cells of one sheet -> its tables, titles and lines, where blank rows and columns part them.

A blank row parts two tables, unless what follows, be it one row, goes on with figures under the same columns. A blank
column parts two tables when it is blank over all their rows and both are two columns wide at least. A line of one cell
above a table is its caption, a remark below it is a text. Not here: what a cell's text is (sheet_cells.py), which rows
are headings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ingest.blocks import Block, Grid, Place, Text

Rows = Mapping[int, Mapping[int, str]]  # row number -> column number -> text; "" is a cell whose value is missing
Captions = tuple[tuple[int, str], ...]  # row number, text
WIDEST_GAP_IN_TABLE = 3
MOST_LINES_OF_TEXT = 20
MOST_CAPTIONS, LONGEST_CAPTION = 3, 80
_REMARK = re.compile(
    r"[*※]|(附?注|备注|说明|(数据)?来源|(foot)?notes?|remarks?|sources?)\b|(附?注|备注|说明|(数据)?来源)", re.I
)
_FIGURE = re.compile(r"[^\w]*\d")


@dataclass(frozen=True)
class Area:
    """Rows by number and the columns first..last of a sheet."""

    rows: tuple[int, ...]
    first: int
    last: int

    @property
    def columns(self) -> int:
        """The columns as bits: bit n for column n."""
        return (1 << (self.last + 1)) - (1 << self.first)


@dataclass(frozen=True)
class Merge:
    """One merged range, both ends included."""

    top: int
    left: int
    bottom: int
    right: int


@dataclass(frozen=True)
class Table:
    """A table with the captions above it by row; `titles` are those rows that stand above this table only."""

    area: Area
    captions: Captions = ()
    titles: tuple[int, ...] = ()


@dataclass(frozen=True)
class Lines:
    """Rows that are no table: each becomes a text."""

    area: Area


def expand_merges(rows: dict[int, dict[int, str]], merges: Sequence[Merge]) -> None:
    """Write the text of each merged range into all its cells, as far as the sheet is filled at all."""
    last_row = max(rows, default=0)
    last_column = max((max(row) for row in rows.values() if row), default=0)
    for merge in merges:
        text = rows.get(merge.top, {}).get(merge.left)
        if text is None:
            continue
        columns = range(merge.left, min(merge.right, last_column) + 1)
        for number in range(merge.top, min(merge.bottom, last_row) + 1):
            rows.setdefault(number, {}).update(dict.fromkeys(columns, text))


class Sheet:
    """The filled cells of one sheet, with merged ranges already expanded."""

    def __init__(self, rows: Rows, merges: Sequence[Merge]) -> None:
        self.rows = rows
        self.bits = {number: sum(1 << column for column in row) for number, row in rows.items()}
        self.merged: dict[int, list[Merge]] = {}
        for merge in merges:
            if merge.right > merge.left and merge.left in rows.get(merge.top, {}):
                self.merged.setdefault(merge.top, []).append(merge)

    def pieces(self) -> list[Table | Lines]:
        """All tables and lines, from the top down, left before right."""
        if not self.rows:
            return []
        last = max(max(row) for row in self.rows.values() if row)
        found = self._parts(Area(tuple(sorted(self.rows)), 1, last), ())
        return self._joined(found)

    def blocks(self, pieces: Sequence[Table | Lines], place: Place) -> Iterator[Block]:
        """The pieces as blocks; a row of lines becomes one Text, its cells parted by " | "."""
        for piece in pieces:
            area = piece.area
            if isinstance(piece, Lines):
                for number in area.rows:
                    if text := " | ".join(self._texts(number, area)):
                        yield Text(text, place)
                continue
            columns = range(area.first, area.last + 1)
            grid = tuple(tuple(self.rows[number].get(column, "") for column in columns) for number in area.rows)
            yield Grid(
                grid, area.rows, caption="\n".join(" ".join(text.split()) for _, text in piece.captions), place=place
            )

    def _parts(self, area: Area, captions: Captions) -> Iterator[Table | Lines]:
        for band in self._bands(area):
            yield from self._band_parts(band, captions)

    def _bands(self, area: Area) -> Iterator[Area]:
        """The runs of rows without a blank one, each cut to its filled columns."""
        band: list[int] = []
        for number in area.rows:
            if not self.bits[number] & area.columns:
                continue
            if band and number != band[-1] + 1:
                yield self._cut(band, area)
                band = []
            band.append(number)
        if band:
            yield self._cut(band, area)

    def _cut(self, numbers: Sequence[int], area: Area) -> Area:
        filled = 0
        for number in numbers:
            filled |= self.bits[number] & area.columns
        return Area(tuple(numbers), (filled & -filled).bit_length() - 1, filled.bit_length() - 1)

    def _band_parts(self, band: Area, captions: Captions) -> Iterator[Table | Lines]:
        top, bottom = self._titles(band), self._remarks(band)
        if top + bottom >= len(band.rows):
            yield Lines(band)
            return
        body = self._cut(band.rows[top : len(band.rows) - bottom], band)
        prose = self._prose_rows(band, top)
        if prose:
            yield Lines(replace(band, rows=band.rows[:prose]))
        titles = band.rows[prose:top]
        captions += tuple((number, " ".join(self._texts(number, band))) for number in titles)
        sides = self._sides(body)
        if len(sides) > 1:
            parts = [part for side in sides for part in self._parts(side, captions)]
            if titles and not any(isinstance(part, Table) for part in parts):
                yield Lines(replace(band, rows=titles))
            yield from parts
        elif self._is_table(body):
            yield Table(body, captions, titles)
        else:
            yield Lines(replace(band, rows=titles + body.rows))
        if bottom:
            yield Lines(replace(band, rows=band.rows[len(band.rows) - bottom :]))

    def _titles(self, band: Area) -> int:
        """How many rows at the top are of one cell, and so titles of what stands below them."""
        if band.first == band.last:
            return 0
        single = 0
        while single < len(band.rows) - 1 and self._is_title(band.rows[single], band):
            single += 1
        return single

    def _prose_rows(self, band: Area, titles: int) -> int:
        """How many of the rows of one cell at the top are sentences rather than titles of the table."""
        prose = max(0, titles - MOST_CAPTIONS)
        for index in range(prose, titles):
            if len(self._texts(band.rows[index], band)[0]) > LONGEST_CAPTION:
                prose = index + 1
        return prose

    def _is_title(self, number: int, band: Area) -> bool:
        if self._spans_all(number, band):
            return True
        filled = [column for column in self.rows[number] if band.first <= column <= band.last]
        return len(filled) == 1 and (filled[0] == band.first or band.last - band.first >= 2)

    def _remarks(self, band: Area) -> int:
        """How many rows at the bottom are remarks: one cell, over the whole width or beginning like a remark."""
        if band.first == band.last:
            return 0
        remarks = 0
        for number in reversed(band.rows):
            texts = self._texts(number, band)
            if not (self._spans_all(number, band) or (len(texts) == 1 and _REMARK.match(texts[0]))):
                break
            remarks += 1
        return remarks

    def _spans_all(self, number: int, band: Area) -> bool:
        return any(
            merge.left <= band.first and merge.right >= band.last and merge.bottom - merge.top < len(band.rows) - 1
            for merge in self.merged.get(number, ())
        )

    def _sides(self, area: Area) -> list[Area]:
        """Tables side by side: parted at columns that are blank over all rows, two columns wide at least each."""
        filled = 0
        for number in area.rows:
            filled |= self.bits[number]
        runs: list[tuple[int, int]] = []
        for column in range(area.first, area.last + 1):
            if not filled >> column & 1:
                continue
            if runs and runs[-1][1] == column - 1:
                runs[-1] = (runs[-1][0], column)
            else:
                runs.append((column, column))
        return [Area(area.rows, first, last) for first, last in _wide_runs(runs)]

    def _is_table(self, area: Area) -> bool:
        if len(area.rows) < 2:
            return False
        if area.first < area.last or len(area.rows) > MOST_LINES_OF_TEXT:
            return True
        return any(_FIGURE.match(self.rows[number][area.first]) for number in area.rows)

    def _texts(self, number: int, area: Area) -> list[str]:
        """The different texts of a row from left to right."""
        row = self.rows[number]
        return list(dict.fromkeys(row[column] for column in sorted(row) if area.first <= column <= area.last))

    def _joined(self, pieces: Iterator[Table | Lines]) -> list[Table | Lines]:
        """Put a table that goes on below a blank row to the one above it, the title between them as a row of it."""
        joined: list[Table | Lines] = []
        for piece in pieces:
            above = joined[-1] if joined else None
            below = Table(piece.area) if isinstance(piece, Lines) and len(piece.area.rows) == 1 else piece
            if isinstance(below, Table) and isinstance(above, Table) and self._goes_on(above, below):
                rows = above.area.rows + below.titles + below.area.rows
                joined[-1] = replace(above, area=replace(above.area, rows=rows))
            else:
                joined.append(piece)
        return joined

    def _goes_on(self, table: Table, piece: Table) -> bool:
        """Whether the first row below has a figure in a column where the table above has a word on top and figures under it."""
        above, below = table.area, piece.area
        if len(piece.captions) > len(piece.titles):  # a title that it shares with a table beside it
            return False
        if above.first != below.first or above.last < below.last or above.rows[-1] >= below.rows[0]:
            return False
        head, following = self.rows[above.rows[0]], self.rows[below.rows[0]]
        figures = [
            column
            for column in range(below.first, below.last + 1)
            if head.get(column) and not _FIGURE.match(head[column]) and _FIGURE.match(following.get(column, ""))
        ]
        # Not in the last row alone: that one may have a remark merged over its figures.
        return any(
            _FIGURE.match(self.rows[number].get(column, "")) for number in reversed(above.rows) for column in figures
        )


def count_rows(bits: Mapping[int, int], pieces: Sequence[Table | Lines]) -> int:
    """The rows that must appear in grids, from the filled cells as the raw file has them: row -> columns as bits.

    A row counts once for each table that it has cells in, and once more when a cell of it stands in no piece at all.
    """
    tables: dict[int, list[int]] = {}
    texts: dict[int, int] = {}
    for piece in pieces:
        for number in piece.area.rows:
            if isinstance(piece, Table):
                tables.setdefault(number, []).append(piece.area.columns)
            else:
                texts[number] = texts.get(number, 0) | piece.area.columns
        for number, _ in piece.captions if isinstance(piece, Table) else ():
            texts[number] = -1
    total = 0
    for number, filled in bits.items():
        left = filled & ~texts.get(number, 0)
        for columns in tables.get(number, ()):
            total += bool(filled & columns)
            left &= ~columns
        total += bool(left)
    return total


def _wide_runs(runs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Runs of filled columns; one of a single column stays with its neighbour unless the gap is wide."""
    wide: list[tuple[int, int]] = []
    for first, last in runs:
        narrow = first == last or (wide and wide[-1][0] == wide[-1][1])
        if wide and narrow and first - wide[-1][1] - 1 <= WIDEST_GAP_IN_TABLE:
            wide[-1] = (wide[-1][0], last)
        else:
            wide.append((first, last))
    return wide
