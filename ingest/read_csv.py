"""A CSV or TSV file -> the grid(s) in it, and the lines above and below them as texts.

The delimiter (, ; tab |) is the one that cuts most lines into equally many cells; a first line "sep=;" decides. Rows
are padded to the longest, so nothing that stands beyond the headings is lost. A blank line followed by rows of another
width begins another grid. Cells stay as they are written (decimal commas, dates). Quotes that do not pair are refused
rather than guessed at, since one of them can swallow half the file. Raises FileRefusedError: `broken` (naming the
line), `empty` (no row below the headings), `encoding`.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from ingest.blocks import Block, FileRefusedError, Grid, Parsed, Place, Text
from ingest.encodings import decode

# In this order where two cut a file equally well: a comma is the likeliest to be part of a cell.
_DELIMITERS = "\t;|,"
_SAMPLE_CHARS = 128 * 1024
_REMARK = re.compile(
    r"[*※]|(?:附?注|备注|说明|(?:数据|资料)?来源|notes?|remarks?|(?:data )?sources?)\s*\d*\s*[:：]", re.IGNORECASE
)
_SEP_LINE = re.compile(r'sep=(\t|[^\w\s"])\n', re.IGNORECASE)


@dataclass(frozen=True)
class _Dialect:
    """How cells are parted; an empty delimiter stands for a file of one column."""

    delimiter: str
    space_before_quote: bool = False


@dataclass(frozen=True)
class _Record:
    """One row of cells, or a blank line; `line` is the file's line where it begins, the first being 1."""

    line: int
    cells: tuple[str, ...]

    @property
    def blank(self) -> bool:
        return not any(cell.strip() for cell in self.cells)

    @property
    def lone(self) -> str:
        """The text of a row whose first cell alone is filled, otherwise ""."""
        return "" if any(cell.strip() for cell in self.cells[1:]) else self.cells[0].strip()


@dataclass
class _Section:
    """One grid and the lines around it. `width` is the commonest number of cells, 0 until a row has two."""

    width: int
    before: list[_Record] = field(default_factory=list)
    rows: list[_Record] = field(default_factory=list)
    after: list[_Record] = field(default_factory=list)


def read(content: bytes, name: str) -> Parsed:
    """Everything in the file called `name`. Raises FileRefusedError (see the module)."""
    text = decode(content)[0].removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    dialect, first_line, body = _dialect(text)
    records = list(_records(body, dialect, first_line))
    sections = _sections(records, dialect)
    blocks = tuple(block for section in sections for block in _blocks(section))
    rows = sum(len(section.rows) for section in sections)
    if not blocks or (len(blocks) == 1 and rows == 1):
        raise FileRefusedError(
            "empty",
            "表格只有标题行（或什么都没有），没有数据。请补上数据行再导入。",
            "The table has only a heading row, or nothing at all. Add the rows and import it again.",
        )
    texts = sum(isinstance(block, Text) for block in blocks)
    return Parsed(PurePosixPath(name.replace("\\", "/")).stem, blocks, _count_rows(body, dialect) - texts)


# ---- delimiter ----


def _dialect(text: str) -> tuple[_Dialect, int, str]:
    """The dialect, the number of the first line that belongs to the table, and the text from there on."""
    if stated := _SEP_LINE.match(text):
        body = text[stated.end() :]
        return _with_spaces(stated[1], body), 2, body
    sample = text[:_SAMPLE_CHARS]
    if len(text) > _SAMPLE_CHARS:
        sample = sample[: sample.rfind("\n") + 1] or sample
    even = {delimiter: _even_rows(sample, delimiter) for delimiter in _DELIMITERS}
    # With the wrong delimiter the quotes of quoted cells stand in odd places.
    fits = {delimiter: even[delimiter] > 0 and _quotes_pair(sample, delimiter, len(text)) for delimiter in _DELIMITERS}
    best = max(_DELIMITERS, key=lambda delimiter: (fits[delimiter], even[delimiter]))
    return (_with_spaces(best, sample) if even[best] else _Dialect("")), 1, text


def _even_rows(sample: str, delimiter: str) -> int:
    """How many rows of the sample the delimiter cuts into the commonest number of cells; 0 where it cuts few rows.

    The lines above and below the table do not count against it."""
    widths = [len(row) for row in csv.reader(io.StringIO(sample, newline="\n"), delimiter=delimiter) if row]
    cut = [index for index, width in enumerate(widths) if width > 1]
    # A single line with a comma among others is no table.
    if not cut or (len(cut) == 1 and len(widths) > 2) or len(cut) * 2 < cut[-1] - cut[0] + 1:
        return 0
    return Counter(widths[index] for index in cut).most_common(1)[0][1]


def _quotes_pair(sample: str, delimiter: str, text_chars: int) -> bool:
    """Whether every quoted cell ends at a delimiter or line end; a sample may end inside of one."""
    dialect = _with_spaces(delimiter, sample)
    reader = csv.reader(
        io.StringIO(sample, newline="\n"), delimiter=delimiter, skipinitialspace=dialect.space_before_quote, strict=True
    )
    try:
        for _ in reader:
            pass
    except csv.Error:
        return len(sample) < text_chars and reader.line_num >= sample.count("\n")
    return True


def _with_spaces(delimiter: str, text: str) -> _Dialect:
    """Spaces after the delimiter are skipped only where a quoted cell follows them: `a, "b, c"`."""
    return _Dialect(delimiter, re.search(f'{re.escape(delimiter)} +"(?!")', text[:_SAMPLE_CHARS]) is not None)


# ---- records ----


def _records(text: str, dialect: _Dialect, first_line: int) -> Iterator[_Record]:
    csv.field_size_limit(max(csv.field_size_limit(), len(text) + 1))
    # A file of one column may hold any delimiter in its cells; this one no text has.
    reader = csv.reader(
        io.StringIO(text, newline="\n"),
        delimiter=dialect.delimiter or "\x1f",
        skipinitialspace=dialect.space_before_quote,
        strict=True,
    )
    line = first_line
    try:
        for cells in reader:
            yield _Record(line, tuple(cells))
            line = first_line + reader.line_num
    except csv.Error as error:
        raise _broken(
            line,
            "引号不配对（单元格里的引号要写成两个，整个单元格再用引号括起来）",
            "has quotes that do not pair (double a quote inside a cell, and put the whole cell in quotes)",
        ) from error


def _broken(line: int, zh: str, en: str) -> FileRefusedError:
    return FileRefusedError(
        "broken",
        f"第 {line} 行{zh}，为免丢失数据没有导入。请改好这一行，或用表格软件另存为 CSV 或 XLSX。",
        f"Line {line} {en}; it was not imported, lest data be lost. Mend that line, or save the table anew as CSV or XLSX.",
    )


def _count_rows(text: str, dialect: _Dialect) -> int:
    """The number of rows that are not blank, counted without the csv module: quoted cells first become one letter."""
    delimiter = re.escape(dialect.delimiter or "\x1f")
    if '"' in text:
        spaces = " *" if dialect.space_before_quote else ""
        quoted = re.compile(f'(^|{delimiter}){spaces}"((?:[^"]++|"")*+)"', re.MULTILINE)
        text = quoted.sub(lambda found: f"{found[1]}x" if found[2].strip() else found[1], text)
    filled = re.compile(rf"[^\s{delimiter}]")
    return sum(1 for line in text.split("\n") if filled.search(line))


# ---- grids and texts ----


def _sections(records: list[_Record], dialect: _Dialect) -> list[_Section]:
    """Grids are parted where a blank line is followed by rows of another width."""
    if not dialect.delimiter:
        return [_Section(1, rows=[record for record in records if not record.blank])]
    sections = [_Section(0)]
    for chunk in _chunks(records):
        width = _width(chunk)
        if width and sections[-1].rows and width != sections[-1].width:
            sections.append(_Section(width, before=sections[-1].after))
            sections[-2].after = []
        _add(sections[-1], chunk, width)
    return sections


def _chunks(records: list[_Record]) -> Iterator[list[_Record]]:
    """Runs of rows between blank lines."""
    chunk: list[_Record] = []
    for record in records:
        if not record.blank:
            chunk.append(record)
        elif chunk:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def _width(chunk: list[_Record]) -> int:
    """The commonest number of cells among rows with more than one filled, the larger one of two; 0 if there is none.

    A remark that its own commas cut ("Source: vendors, March 2025") is no such row."""
    widths = Counter(
        len(record.cells) for record in chunk if not record.lone and not _REMARK.match(record.cells[0].strip())
    )
    return max(widths, key=lambda width: (widths[width], width), default=0)


def _add(section: _Section, chunk: list[_Record], width: int) -> None:
    if not width:
        # Lines of their own: above the grid, or perhaps below it.
        (section.after if section.rows else section.before).extend(chunk)
        return
    if not section.rows:
        section.width = width
        start = next(index for index, record in enumerate(chunk) if not _is_remark(record, width))
        section.before.extend(chunk[:start])
        chunk = chunk[start:]
    # What stood between two runs of rows is a row of the grid as well.
    section.rows.extend(section.after)
    section.after = []
    section.rows.extend(chunk)


def _is_remark(record: _Record, width: int) -> bool:
    """A title or comment above the headings: its first cell alone is filled, or a "#" before a line cut by its own commas."""
    return bool(record.lone) or (record.cells[0].startswith("#") and len(record.cells) != width)


def _blocks(section: _Section) -> Iterator[Block]:
    yield from map(_text, section.before)
    if section.rows:
        width = max(len(record.cells) for record in section.rows)
        yield Grid(
            rows=tuple(record.cells + ("",) * (width - len(record.cells)) for record in section.rows),
            numbers=tuple(record.line for record in section.rows),
            place=_place(section.rows[0]),
        )
    yield from map(_text, section.after)


def _text(record: _Record) -> Text:
    words = ", ".join(cell.strip() for cell in record.cells if cell.strip())
    # A "#" would make it a heading in Markdown.
    return Text(words.lstrip("# ") or words, place=_place(record))


def _place(record: _Record) -> Place:
    return Place("line", str(record.line))
