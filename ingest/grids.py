"""Decides what each row of a table grid is: header, unit, section, repeated header, blank or data.

Every row of the grid gets exactly one of these roles and is counted under it, so that no row is lost silently. Does
NOT read files (read_*.py), and does not word rows for readers (passages.py). Raises FileRefusedError("rows-lost")
where the counts do not add up to the rows of the grid.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields

from ingest.blocks import FileRefusedError, Grid, Place
from ingest.rows import width
from ingest.table_headers import (
    PROPERTY,
    Cells,
    header_height,
    is_figure,
    is_key_value,
    is_unit_row,
    joined_headers,
    unit_of,
)
from knowledge.keywords import HAN
from knowledge.passage import Language

WIDEST_CAPTION = 160  # a longer sentence across the whole table is a note to it: it is not repeated in every row
LANGUAGE_SAMPLE_ROWS = 20
CHINESE_SHARE = 0.15
WIDEST_HEADER = 200

CHINESE = re.compile(f"[{HAN}]")
UNIT_NOTE = re.compile(
    r"[(（\[【]?\s*(?:计量|货币|价格)?(?:单位|币种|units?|currency)\s*[:：]\s*(.{1,60}?)\s*[)）\]】]?", re.I
)
NOTE = re.compile(r"[*※]|(?:备?注|说明|数据来源|资料来源|来源|notes?|sources?)\s*\d*\s*[:：]", re.I)
SECTION_WORD = re.compile(r"地域|地区|区域|大区|系列|分类|类别|\bregions?\b|\bzones?\b|\bseries\b|[:：]\Z", re.I)
TOTAL = re.compile(r"合计|总计|小计|共计|汇总|总和|平均|\b(?:sub)?total\b|\bsum\b|\baverage\b", re.I)


@dataclass(frozen=True)
class RowCounts:
    """How many rows of a grid were of which kind; `section` counts titles and notes across the whole table too."""

    header: int = 0
    data: int = 0
    repeated: int = 0
    blank: int = 0
    section: int = 0
    unit: int = 0

    @property
    def total(self) -> int:
        return sum(getattr(self, field.name) for field in fields(self))


@dataclass(frozen=True)
class Table:
    """A grid whose rows are told apart; `rows`, `numbers` and `sections` are of one length.

    `headers` names every column; only the first may be "" (a list of properties), and both of a `key_value` table,
    which is two columns of label and value. `sections` holds for each row the title across the table above it, or "".
    `notes` are sentences across the table that do not head a group of rows.
    """

    caption: str
    headers: Cells
    rows: tuple[Cells, ...]
    numbers: tuple[int, ...]
    unit_note: str
    place: Place
    sections: tuple[str, ...]
    notes: tuple[str, ...]
    key_value: bool
    counts: RowCounts


@dataclass
class _Sorted:
    """The rows of a grid as they are put apart, one after the other."""

    titles: dict[str, None]  # in order
    units: list[str]
    notes: list[str]
    header: list[Cells]
    data: list[tuple[int, Cells, str]]  # (index of the row, its cells, the section it stands in)
    counts: dict[str, int]

    def count(self, role: str) -> None:
        self.counts[role] = self.counts.get(role, 0) + 1


def tabulate(grid: Grid) -> Table:
    """The table of a grid. Raises FileRefusedError("rows-lost") if a row was not accounted for."""
    rows = _without_empty_columns([tuple(" ".join(cell.split()) for cell in row) for row in grid.rows])
    found = _Sorted({}, [], [], [], [], {})
    start = _read_top(rows, grid.header_rows or 0, found)
    start, key_value = _read_header(rows, start, grid.header_rows or 0, found)
    headers = tuple(_short_header(header, found) for header in joined_headers(found.header))
    start, headers = _read_unit_row(rows, start, headers, found)
    key_value = key_value or (len(rows[0]) == 2 and not any(headers) and bool(found.header) if rows else False)
    _read_body(rows, start, found)
    caption = _caption(_without_units(grid.caption, found), found)
    table = Table(
        caption=caption,
        headers=_named(headers, rows) if not key_value else ("", ""),
        rows=tuple(row for _, row, _ in found.data),
        numbers=tuple(grid.numbers[at] for at, _, _ in found.data),
        unit_note="；".join(dict.fromkeys(found.units)),
        place=grid.place,
        sections=tuple(section for _, _, section in found.data),
        notes=tuple(dict.fromkeys(found.notes)),
        key_value=key_value,
        counts=RowCounts(data=len(found.data), **found.counts),
    )
    check_rows(table.counts.total, len(grid.rows), caption)
    return table


def check_rows(accounted: int, expected: int, what: str) -> None:
    """Raises FileRefusedError("rows-lost") unless both numbers agree; `what` names the table or the file."""
    if accounted != expected:
        raise FileRefusedError(
            "rows-lost",
            f"{what or '表格'}：表格行数对不上，文件有 {expected} 行，读出 {accounted} 行；请把表格另存为 CSV 或 XLSX 再导入",
            f"{what or 'table'}: the table rows do not add up, the file has {expected} and {accounted} were read; "
            "save the tables as CSV or XLSX and import those",
        )


def language_of(text: str, otherwise: Language = "en") -> Language:
    """zh where more than 15 % of the letters are Chinese; `otherwise` for a text without letters."""
    if text.isascii():
        return "en" if any(map(str.isalpha, text)) else otherwise
    letters = sum(map(str.isalpha, text))
    chinese = len(text) - len(CHINESE.sub("", text))
    if not letters:
        return otherwise
    return "zh" if chinese > CHINESE_SHARE * letters else "en"


def unit_note_of(text: str) -> str:
    """元/小时 of a sentence that is only "单位：元/小时"; "" for any other."""
    note = UNIT_NOTE.fullmatch(text.strip().strip("*_"))
    return note[1] if note else ""


def _without_empty_columns(rows: list[Cells]) -> list[Cells]:
    """Trailing columns without header and cells are left by formatting, not by an author; at least one column stays."""
    used = max((at + 1 for row in rows for at in range(len(row) - 1, -1, -1) if row[at]), default=1)
    return [row[:used] for row in rows]


def _title(row: Cells) -> str:
    """The text of a cell merged over a whole row; "" for a row of several values, or of one figure or flag."""
    text = row[0]
    if not text or row[-1] != text or len(row) < 2 or any(cell != text for cell in row):
        return ""
    return "" if is_figure(text) else text


def _lone(row: Cells) -> str:
    """The first cell where all others are empty."""
    return row[0] if len(row) > 1 and row[0] and not any(row[1:]) else ""


def _lone_title(row: Cells) -> str:
    text = _lone(row)
    return "" if PROPERTY.fullmatch(text) else text  # 型号 | "": a header whose neighbour has no name


def _read_top(rows: list[Cells], given: int, found: _Sorted) -> int:
    """Blank rows, titles and unit notes above the header; gives the index where the header begins."""
    if given and not (given == 1 and len(rows) > 2 and _title(rows[0])):
        return 0
    last_full = next((at for at in range(len(rows) - 1, -1, -1) if any(rows[at][1:]) and not _title(rows[at])), 0)
    for at, row in enumerate(rows):
        if not any(row):
            found.count("blank")
        elif at < last_full and (text := _title(row) or _lone_title(row)):
            _keep_title(text, found)
        else:
            return at
    return len(rows)


def _keep_title(text: str, found: _Sorted) -> None:
    if note := unit_note_of(text):
        found.units.append(note)
        found.count("unit")
        return
    found.count("section")
    if width(text) > WIDEST_CAPTION or NOTE.match(text):
        found.notes.append(text)
    else:
        found.titles[text] = None


def _read_header(rows: list[Cells], start: int, given: int, found: _Sorted) -> tuple[int, bool]:
    """Puts the header rows apart; gives the index after them and whether the table is label and value without any."""
    if start or given >= len(rows) > 1:
        given = 0  # the format marked a title, or every row
    filled = [row for row in rows[start:] if any(row)]
    key_value = not given and is_key_value([row for row in filled if not _title(row)])
    height = 0 if key_value else header_height(filled)
    at = start
    while at < len(rows) and (at < given if given else len(found.header) < height):
        row = rows[at]
        at += 1
        if not given and not any(row):
            found.count("blank")
            continue
        found.count("header")
        if given > 1 and (title := _title(row)):
            found.titles[title] = None
            continue
        found.header.append(row)
    if not found.header:
        found.header.extend([("",) * len(rows[0])] if given and rows else [])
    return at, key_value


def _read_unit_row(rows: list[Cells], start: int, headers: Cells, found: _Sorted) -> tuple[int, Cells]:
    """A row of units under the header goes into the headers: 价格 over （元/小时） is "价格 (元/小时)"."""
    if not found.header or start + 1 >= len(rows) or not is_unit_row(rows[start], headers, rows[start + 1]):
        return start, headers
    found.count("unit")
    found.header.append(rows[start])
    folded = []
    for header, cell in zip(headers, rows[start], strict=True):
        unit = "" if cell == header else unit_of(cell)
        folded.append(f"{header} ({unit})".strip() if unit and unit not in header else header)
    return start + 1, tuple(folded)


def _read_body(rows: list[Cells], start: int, found: _Sorted) -> None:
    headers = {row for row in found.header if any(row)}
    named = _rows_are_named(rows[start:])
    section, used = "", True
    for at in range(start, len(rows)):
        row = rows[at]
        if not any(row):
            found.count("blank")
        elif row in headers:
            found.count("repeated")
        elif text := _section_title(row, named):
            found.count(_role_of_title(text, found))
            if _is_heading(text, found):
                section, used = _nested(section, text, used, found), False
        else:
            found.data.append((at, row, section))
            used = True
    if section and not used:
        found.notes.append(section)


def _nested(section: str, text: str, used: bool, found: _Sorted) -> str:
    """The title of the rows below: with the one right above it, which has no rows of its own, if both are short."""
    if used or not section:
        return text
    if width(f"{section} / {text}") <= WIDEST_CAPTION:
        return f"{section} / {text}"
    found.notes.append(section)
    return text


def _role_of_title(text: str, found: _Sorted) -> str:
    if text in found.titles:
        return "repeated"
    if note := unit_note_of(text):
        (found.notes if found.data else found.units).append(text if found.data else note)
        return "unit"
    if not _is_heading(text, found):
        found.notes.append(text)
    return "section"


def _is_heading(text: str, found: _Sorted) -> bool:
    """Whether a text across the table heads the rows below it, rather than being a note or the table's title again."""
    return (
        width(text) <= WIDEST_CAPTION and not NOTE.match(text) and not unit_note_of(text) and text not in found.titles
    )


def _rows_are_named(rows: Sequence[Cells]) -> bool:
    """Whether rows begin with names such as A100: a lone word between them is then a title, not a row without values."""
    names = [row[0] for row in rows if row[0] and any(row[1:])]
    return sum(any(map(str.isdigit, name)) for name in names) * 2 > len(names)


def _short_header(header: str, found: _Sorted) -> str:
    """A whole paragraph over a column is kept once, as a note: it is not repeated in every row."""
    if width(header) <= WIDEST_HEADER:
        return header
    found.notes.append(header)
    return header[: WIDEST_HEADER // 2].rstrip() + "…"


def _section_title(row: Cells, named: bool) -> str:
    """A title across the table, merged or saved as one value and blanks; "" where it may as well be a row of data."""
    text = _title(row)
    if text and len(row) > 2:
        return text
    text = text or _lone(row)
    if not text or TOTAL.search(text):
        return ""
    if NOTE.match(text) or unit_note_of(text) or SECTION_WORD.search(text) or width(text) > WIDEST_CAPTION:
        return text
    return text if named and not any(map(str.isdigit, text)) and not is_figure(text) else ""


def _without_units(caption: str, found: _Sorted) -> list[str]:
    """The lines of the format's caption but for those that only tell a unit, which are put apart."""
    lines = [" ".join(line.split()) for line in caption.splitlines()]
    units = {line: note for line in lines if (note := unit_note_of(line))}
    found.units[:0] = units.values()
    return [line for line in lines if line not in units]


def _caption(given: Sequence[str], found: _Sorted) -> str:
    """The format's caption and the titles above the header, as one line; too long a one becomes a note."""
    caption = ""
    for part in dict.fromkeys([*given, *found.titles]):
        longer = f"{caption}，{part}" if caption and part else caption or part
        if width(longer) > WIDEST_CAPTION:
            found.notes.append(part)
        else:
            caption = longer
    return caption


def _named(headers: Cells, rows: Sequence[Cells]) -> Cells:
    """The headers, with 列 3 or column 3 for a column without one; only the first may stay without a name."""
    if not any(headers) and not any(map(any, rows)):
        return ()
    sample = " ".join(cell for row in rows[:LANGUAGE_SAMPLE_ROWS] for cell in row)
    word = "列" if language_of(sample) == "zh" else "column"
    given = headers or ("",) * len(rows[0])
    bare = not any(given)
    return tuple(header or ("" if at == 0 and not bare else f"{word} {at + 1}") for at, header in enumerate(given))
