"""An XLSX workbook -> headings, texts and grids of all sheets in order, hidden ones too.

Formulas are read as the values saved with them; charts, comments, pictures and colours are left out. The rows are
counted from the sheet's XML, apart from openpyxl's reading. Raises FileRefusedError: empty, encrypted, macro,
wrong-type, broken. What a cell says is in sheet_cells.py, which cells form a table in sheet_tables.py.
"""

from __future__ import annotations

import io
import warnings
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import PurePath
from typing import IO, Any

from ingest.blocks import Block, FileRefusedError, Heading, Note, Parsed, Place
from ingest.office_package import DAMAGE, XLSX, broken, check_kind
from ingest.sheet_cells import cell_text, one_line
from ingest.sheet_tables import Merge, Sheet, count_rows, expand_merges

_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_VALUE = _MAIN + "v"
_STRICT = b"http://purl.oclc.org/ooxml/spreadsheetml/main"


@dataclass
class RawSheet:
    """What the sheet's XML says by itself: filled cells as bits by row, merged ranges, formulas without a value."""

    bits: dict[int, int] = field(default_factory=dict)
    merges: list[Merge] = field(default_factory=list)
    valueless: list[tuple[int, int]] = field(default_factory=list)

    def expand(self) -> None:
        """Count the cells that merged ranges cover as filled, as far as the sheet is filled at all."""
        last_row = max(self.bits, default=0)
        widest = max((bits.bit_length() for bits in self.bits.values()), default=0)
        for merge in self.merges:
            if not self.bits.get(merge.top, 0) >> merge.left & 1:
                continue
            columns = (1 << min(merge.right + 1, widest)) - (1 << merge.left)
            for number in range(merge.top, min(merge.bottom, last_row) + 1):
                self.bits[number] = self.bits.get(number, 0) | columns


def read(content: bytes, name: str) -> Parsed:
    """Read a workbook in full; `name` is the file's name, for messages and the title. Raises FileRefusedError."""
    check_kind(content, name, XLSX)
    try:
        with warnings.catch_warnings():
            # Extensions, styles and headers that openpyxl does not know carry no cells.
            warnings.filterwarnings("ignore", category=UserWarning, module="openpyxl")
            return _read(content, name)
    except DAMAGE as error:
        raise broken(name, XLSX, error) from error


def _read(content: bytes, name: str) -> Parsed:
    import openpyxl

    with zipfile.ZipFile(io.BytesIO(content)) as package:
        if _STRICT in package.read("xl/workbook.xml"):
            raise FileRefusedError(
                "wrong-type",
                f"文件是“Strict Open XML”格式，读不了：{name}。请在 Excel 中另存为“Excel 工作簿 (.xlsx)”。",
                f"The file is a Strict Open XML workbook: {name}. In Excel, save it as “Excel Workbook (.xlsx)”.",
            )
        blank = _blank_strings(package)
    workbook = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True)
    if not workbook.sheetnames:
        raise KeyError("no sheet")  # every workbook has one
    blocks: list[Block] = []
    table_rows = 0
    valueless: list[str] = []
    hidden: list[str] = []
    for sheet in workbook.worksheets:
        sheet_blocks, sheet_rows, without_value = _read_sheet(sheet, blank)
        if not sheet_blocks:
            continue
        if len(workbook.sheetnames) > 1:
            blocks.append(Heading(2, sheet.title, Place("sheet", sheet.title)))
        blocks.extend(sheet_blocks)
        table_rows += sheet_rows
        valueless.extend(f"{sheet.title}!{_cell_name(*cell)}" for cell in without_value)
        if sheet.sheet_state != "visible":
            hidden.append(sheet.title)
    if not blocks:
        raise FileRefusedError(
            "empty", f"工作簿里没有任何有内容的单元格：{name}", f"No cell of the workbook holds anything: {name}"
        )
    charts = [sheet.title for sheet in workbook.chartsheets]
    return Parsed(PurePath(name).stem, tuple(blocks), table_rows, tuple(_notes(valueless, hidden, charts)))


def _read_sheet(sheet: Any, blank: set[int]) -> tuple[list[Block], int, list[tuple[int, int]]]:
    with sheet._get_source() as source:  # the only way from a sheet to its XML; openpyxl passes over merged ranges here
        raw = _raw_sheet(source, blank)
    rows = _filled_cells(sheet)
    for number, column in raw.valueless:
        rows.setdefault(number, {}).setdefault(column, "")
    expand_merges(rows, raw.merges)
    raw.expand()
    cells = Sheet(rows, raw.merges)
    pieces = cells.pieces()
    blocks = list(cells.blocks(pieces, Place("sheet", sheet.title)))
    return blocks, count_rows(raw.bits, pieces), raw.valueless


def _filled_cells(sheet: Any) -> dict[int, dict[int, str]]:
    """Row -> column -> text of every cell that shows anything."""
    sheet.reset_dimensions()  # a stated size of a million rows is often false
    epoch = sheet.parent.epoch
    rows: dict[int, dict[int, str]] = {}
    lines: dict[str, str] = {}  # texts already seen, since tables repeat them by the thousand
    for row in sheet.iter_rows():
        texts: dict[int, str] = {}
        for cell in row:
            value = cell.value
            if value is None:
                continue
            if isinstance(value, str):
                text = lines.get(value)
                if text is None:
                    text = lines[value] = one_line(value)
            else:
                text = cell_text(value, cell.number_format, cell.style_array.numFmtId, epoch)
            if text:
                texts[cell.column] = text
                rows[cell.row] = texts
    return rows


def _raw_sheet(source: IO[bytes], blank: set[int]) -> RawSheet:
    from lxml import etree
    from openpyxl.utils.cell import range_boundaries

    raw = RawSheet()
    number = 0
    for _, element in etree.iterparse(source, tag=(_MAIN + "row", _MAIN + "mergeCell")):
        if element.tag == _MAIN + "row":
            number = int(float(element.get("r", number + 1)))
            _raw_row(element, number, blank, raw)
        else:
            left, top, right, bottom = range_boundaries(element.get("ref"))
            raw.merges.append(Merge(top, left, bottom, right))
        element.clear()
        while element.getprevious() is not None:  # else a million empty rows pile up
            del element.getparent()[0]
    return raw


def _raw_row(row: Any, number: int, blank: set[int], raw: RawSheet) -> None:
    column, bits = 0, 0
    for cell in row:
        reference = cell.get("r")
        column = _column(reference.rstrip("0123456789")) if reference else column + 1
        if not len(cell):
            continue
        if _holds_value(cell, blank):
            bits |= 1 << column
        elif cell.find(_MAIN + "f") is not None and cell.get("t") != "str":  # t="str": its value is an empty text
            bits |= 1 << column
            raw.valueless.append((number, column))
    if bits:
        raw.bits[number] = bits


@lru_cache(maxsize=1 << 14)
def _column(letters: str) -> int:
    from openpyxl.utils import column_index_from_string

    return int(column_index_from_string(letters))


def _holds_value(cell: Any, blank: set[int]) -> bool:
    kind = cell.get("t", "n")
    if kind == "inlineStr":
        return bool("".join(cell.itertext()).strip())
    value = ""
    for child in cell:
        if child.tag == _VALUE:
            value = child.text or ""
    if kind == "s" and value:
        return int(value) not in blank
    return bool(value.strip())


def _blank_strings(package: zipfile.ZipFile) -> set[int]:
    """The numbers of the shared texts that show nothing."""
    from lxml import etree

    part = next((part for part in package.namelist() if part.lower() == "xl/sharedstrings.xml"), None)
    if part is None:
        return set()
    blank = set()
    with package.open(part) as source:
        for number, (_, element) in enumerate(etree.iterparse(source, tag=_MAIN + "si")):
            if not "".join(element.itertext(_MAIN + "t")).replace("_x000D_", "").strip():
                blank.add(number)
            element.clear()
    return blank


def _cell_name(row: int, column: int) -> str:
    from openpyxl.utils import get_column_letter

    return f"{get_column_letter(column)}{row}"


def _notes(valueless: list[str], hidden: list[str], charts: list[str]) -> Iterator[Note]:
    if valueless:
        yield Note(
            f"{len(valueless)} 个公式单元格没有保存计算结果，按空值读取，第一个是 {valueless[0]}。请用 Excel 或 LibreOffice 打开并保存，再导入。",
            f"{len(valueless)} formula cells were saved without a value and are read as empty, the first is "
            f"{valueless[0]}. Open the file in Excel or LibreOffice, save it, and import it again.",
        )
    if hidden:
        yield Note(f"隐藏的工作表也读了：{'、'.join(hidden)}", f"Hidden sheets were read too: {', '.join(hidden)}")
    if charts:
        yield Note(f"图表工作表没有读：{'、'.join(charts)}", f"Chart sheets were not read: {', '.join(charts)}")
