"""The parts of a Word package that hold text, mended where mammoth would lose something or shift a table's cells.

Mended: results of simple fields (the number in 表 1), breaks written <w:cr>, hidden text, rows that begin or end inside
the grid, old-style horizontal merges, header marks that are switched off, bookmarks between rows and cells (which stop
mammoth from merging), tables and pictures in text boxes that are stored twice. Media are left out of the new package.

Errors: FileRefusedError of zip_checks.py; what lxml and zipfile raise for damage (office_package.DAMAGE).
"""

from __future__ import annotations

import io
import re
import zipfile
from collections import Counter
from dataclasses import dataclass
from typing import Any

from ingest.zip_checks import opened, read_member

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_STRICT = b"http://purl.oclc.org/ooxml/wordprocessingml/main"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}oMath"
_DRAWN = (
    "{http://schemas.openxmlformats.org/drawingml/2006/picture}pic",
    "{http://schemas.openxmlformats.org/drawingml/2006/chart}chart",
    "{http://schemas.openxmlformats.org/drawingml/2006/diagram}relIds",
    "{urn:schemas-microsoft-com:vml}imagedata",
)
_TEXT_PARTS = (f"{_W}document", f"{_W}footnotes", f"{_W}endnotes")
_UNREAD = re.compile(r"customXml/|docProps/|word/(?:charts|diagrams|embeddings|glossary|media|theme)/")
_IN_THE_WAY = [f"{_W}{tag}" for tag in ("bookmarkStart", "bookmarkEnd", "permStart", "permEnd", "proofErr")]
OUTLINE_STYLE = "OutlineLevel"  # the style of a paragraph that has an outline level and no style
_OFF = ("0", "false", "off")
_SPAN_AT_MOST = 1000


@dataclass(frozen=True)
class WordParts:
    """A package for mammoth, and what of the original it cannot tell."""

    package: bytes
    table_rows: int
    heading_styles: dict[str, int]
    pictures: int
    formulas: int


def mended(content: bytes) -> WordParts:
    """The mended package. `table_rows` counts rows that show a cell, without one-cell tables (see read_html.py)."""
    archive = opened(content)
    table_rows = pictures = formulas = 0
    heading_styles: dict[str, int] = {}
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w", zipfile.ZIP_STORED) as package:
        for info in archive.infolist():
            if not info.filename.endswith((".xml", ".rels")) or _UNREAD.match(info.filename):
                continue
            data = read_member(archive, info)
            root = _root(data)
            if root.tag in _TEXT_PARTS:
                pictures += sum(1 for _ in root.iter(*_DRAWN))
                formulas += sum(1 for _ in root.iter(_MATH))
                _mend(root)
                table_rows += _shown_rows(root)
                data = _bytes(root)
            elif root.tag == f"{_W}styles":
                heading_styles |= _heading_styles(root)
            package.writestr(info.filename, data)
    return WordParts(output.getvalue(), table_rows, heading_styles, pictures, formulas)


def _root(data: bytes) -> Any:
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False)
    root = etree.fromstring(data.replace(_STRICT, _W[1:-1].encode()), parser)
    if root.getroottree().docinfo.doctype:
        raise ValueError("DOCTYPE")
    return root


def _bytes(root: Any) -> bytes:
    from lxml import etree

    return bytes(etree.tostring(root, xml_declaration=True, encoding="UTF-8", standalone=True))


def _mend(root: Any) -> None:
    _keep_one_alternative(root)
    _lift_text_boxes(root)
    for element in list(root.iter(*_IN_THE_WAY)):
        element.getparent().remove(element)
    for field in list(root.iter(f"{_W}fldSimple")):
        _unwrap(field)
    for line_break in root.iter(f"{_W}cr"):
        line_break.tag = f"{_W}br"
    for hidden in list(root.iter(f"{_W}vanish")):
        run = hidden.getparent().getparent()
        if _is_on(hidden) and run.tag == f"{_W}r":
            run.getparent().remove(run)
    for outline in list(root.iter(f"{_W}outlineLvl")):
        _style_by_outline(outline)
    for table in root.iter(f"{_W}tbl"):
        _mend_table(table)


def _style_by_outline(outline: Any) -> None:
    """A paragraph made a heading by hand gets a style that read_docx.py knows."""
    properties = outline.getparent()
    level = _number(outline)
    if level < 9 and properties.tag == f"{_W}pPr" and properties.find(f"{_W}pStyle") is None:
        style = properties.makeelement(f"{_W}pStyle", {f"{_W}val": f"{OUTLINE_STYLE}{min(level + 1, 6)}"})
        properties.insert(0, style)


def _keep_one_alternative(root: Any) -> None:
    """A text box is stored in a new and an old way; the old is read, the new where there is no other."""
    for alternative in list(root.iter(f"{_MC}AlternateContent")):
        choices = alternative.findall(f"{_MC}Choice")
        fallback = alternative.find(f"{_MC}Fallback")
        if fallback is None or len(fallback) == 0:
            fallback = next(iter(choices), None)
        for choice in choices:
            if choice is not fallback:
                alternative.remove(choice)
        if fallback is not None:
            fallback.tag = f"{_MC}Fallback"  # the only one that mammoth reads


def _lift_text_boxes(root: Any) -> None:
    """Text in a new-style shape, into which mammoth does not look, is put into an old-style one."""
    for drawing in list(root.iter(f"{_W}drawing")):
        boxes = list(drawing.iter(f"{_W}txbxContent"))
        if boxes:
            picture = drawing.makeelement(f"{_W}pict", {})
            picture.extend(boxes)
            drawing.getparent().replace(drawing, picture)


def _unwrap(element: Any) -> None:
    parent = element.getparent()
    index = parent.index(element)
    for child in reversed(list(element)):
        parent.insert(index, child)
    parent.remove(element)


def _is_on(element: Any) -> bool:
    return element is not None and element.get(f"{_W}val") not in _OFF


def _mend_table(table: Any) -> None:
    rows = [row for row in table.iter(f"{_W}tr") if _table_of(row) is table and not _is_deleted(row)]
    one_cell = sum(len(_cells(row)) for row in rows) == 1
    least_before = min((_before(row) for row in rows), default=0)
    starts: dict[int, int] = {}
    for row in rows:
        mark = row.find(f"{_W}trPr/{_W}tblHeader")
        if mark is not None and (one_cell or not _is_on(mark)):
            mark.getparent().remove(mark)
        _merge_old_style(row)
        _pad(row, _before(row) - least_before)
        starts = _checked_merges(row, starts)


def _checked_merges(row: Any, above: dict[int, int]) -> dict[int, int]:
    """Start column -> columns of the merged cells; one that continues none of the row `above` is made a cell of its own."""
    starts, column = dict[int, int](), 0
    for cell in _cells(row):
        merge = cell.find(f"{_W}tcPr/{_W}vMerge")
        if merge is not None and merge.get(f"{_W}val", "continue") == "continue" and above.get(column) != _span(cell):
            merge.getparent().remove(merge)
        if cell.find(f"{_W}tcPr/{_W}vMerge") is not None:
            starts[column] = _span(cell)
        column += _span(cell)
    return starts


def _merge_old_style(row: Any) -> None:
    """<w:hMerge>: cells marked to continue become columns of the one before."""
    before = None
    for cell in _cells(row):
        merge = cell.find(f"{_W}tcPr/{_W}hMerge")
        if merge is not None and merge.get(f"{_W}val") != "restart" and before is not None:
            _set_span(before, _span(before) + _span(cell))
            cell.getparent().remove(cell)
        else:
            before = cell


def _pad(row: Any, columns: int) -> None:
    """An empty cell for the grid columns that a row leaves out before its first cell."""
    if columns and _cells(row):
        empty = row.makeelement(f"{_W}tc", {})
        empty.append(row.makeelement(f"{_W}p", {}))
        _set_span(empty, columns)
        _cells(row)[0].addprevious(empty)


def _before(row: Any) -> int:
    return _number(row.find(f"{_W}trPr/{_W}gridBefore"))


def _table_of(element: Any) -> Any:
    return next(element.iterancestors(f"{_W}tbl"), None)


def _cells(row: Any) -> list[Any]:
    return [cell for cell in row.iter(f"{_W}tc") if next(cell.iterancestors(f"{_W}tr")) is row]


def _is_deleted(row: Any) -> bool:
    return row.find(f"{_W}trPr/{_W}del") is not None


def _number(element: Any) -> int:
    value = element.get(f"{_W}val", "") if element is not None else ""
    return min(int(value), _SPAN_AT_MOST) if value.isdecimal() else 0


def _span(cell: Any) -> int:
    return _number(cell.find(f"{_W}tcPr/{_W}gridSpan")) or 1


def _set_span(cell: Any, columns: int) -> None:
    properties = cell.find(f"{_W}tcPr")
    if properties is None:
        properties = cell.makeelement(f"{_W}tcPr", {})
        cell.insert(0, properties)
    span = properties.find(f"{_W}gridSpan")
    if span is None:
        span = properties.makeelement(f"{_W}gridSpan", {})
        properties.append(span)
    span.set(f"{_W}val", str(columns))


def _shown_rows(root: Any) -> int:
    """Rows with a cell that does not merely continue the one above; deleted rows and one-cell tables are none."""
    cells: Counter[Any] = Counter()
    rows: dict[Any, set[Any]] = {}
    for cell in root.iter(f"{_W}tc"):
        row, table = next(cell.iterancestors(f"{_W}tr"), None), _table_of(cell)
        merge = cell.find(f"{_W}tcPr/{_W}vMerge")
        continues = merge is not None and merge.get(f"{_W}val", "continue") == "continue"
        if row is not None and not continues and not any(map(_is_deleted, cell.iterancestors(f"{_W}tr"))):
            cells[table] += 1
            rows.setdefault(table, set()).add(row)
    return sum(len(rows[table]) for table, count in cells.items() if count > 1)


def _heading_styles(root: Any) -> dict[str, int]:
    """Style name -> heading level 1 to 6, for paragraph styles that have or inherit an outline level."""
    styles = {
        style.get(f"{_W}styleId"): style for style in root.iter(f"{_W}style") if style.get(f"{_W}type") == "paragraph"
    }
    found: dict[str, int] = {}
    for style in styles.values():
        name = style.find(f"{_W}name")
        level = _outline_level(style, styles)
        if name is not None and name.get(f"{_W}val") and level is not None and level < 9:
            found[name.get(f"{_W}val")] = min(level + 1, 6)
    return found


def _outline_level(style: Any, styles: dict[Any, Any]) -> int | None:
    """0 to 8 for headings, 9 for body text, None where nothing says."""
    seen = set()
    while style is not None and style not in seen:
        seen.add(style)
        outline = style.find(f"{_W}pPr/{_W}outlineLvl")
        if outline is not None:
            return _number(outline)
        name = style.find(f"{_W}name")
        by_name = re.fullmatch(
            r"(?:heading|标题)\s*([1-9])", name.get(f"{_W}val", "") if name is not None else "", re.I
        )
        if by_name:
            return int(by_name[1]) - 1
        based_on = style.find(f"{_W}basedOn")
        style = styles.get(based_on.get(f"{_W}val")) if based_on is not None else None
    return None
