"""A PPTX presentation -> headings, texts and grids, slide by slide.

Shapes are read from the top left; groups, tables with merged cells, the data of charts and the speaker's notes too.
Pictures, SmartArt, animations and what only the master slides say are left out. Raises FileRefusedError: empty,
encrypted, macro, wrong-type, broken.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from ingest.blocks import Block, FileRefusedError, Grid, Heading, Note, Parsed, Place, Text
from ingest.office_package import DAMAGE, PPTX, broken, check_kind
from ingest.sheet_cells import plain_number

LINE_HEIGHT_EMU = 180_000  # shapes whose tops differ by less than half a centimetre stand side by side
_MAIN = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_TITLE_KINDS = ("TITLE", "CENTER_TITLE", "VERTICAL_TITLE")
_PAGE_KINDS = ("SLIDE_NUMBER", "FOOTER", "DATE", "HEADER")


def read(content: bytes, name: str) -> Parsed:
    """Read a presentation in full; `name` is the file's name, for messages and the title. Raises FileRefusedError."""
    import pptx
    from pptx.exc import PythonPptxError

    check_kind(content, name, PPTX)
    try:
        slides = list(pptx.Presentation(io.BytesIO(content)).slides)
        blocks: list[Block] = []
        for number, slide in enumerate(slides, start=1):
            blocks.extend(_slide_blocks(slide, Place("slide", str(number))))
        table_rows = sum(_row_count(slide) for slide in slides)
        hidden = [number for number, slide in enumerate(slides, start=1) if slide.element.get("show") == "0"]
    except (*DAMAGE, PythonPptxError) as error:
        raise broken(name, PPTX, error) from error
    if not blocks:
        raise FileRefusedError(
            "empty",
            f"演示文稿里没有文字（可能全是图片）：{name}。请把图片里的内容写成文字，或先做文字识别（OCR）。",
            f"The slides hold no text (perhaps only pictures): {name}. Write their content as text, or run OCR first.",
        )
    title = next((block.text for block in blocks if isinstance(block, Heading)), PurePath(name).stem)
    return Parsed(title, tuple(blocks), table_rows, tuple(_notes(hidden)))


def _notes(hidden: list[int]) -> Iterator[Note]:
    if hidden:
        numbers = ", ".join(map(str, hidden))
        yield Note(f"隐藏的幻灯片也读了：{numbers}", f"Hidden slides were read too: {numbers}")


def _slide_blocks(slide: Any, place: Place) -> Iterator[Block]:
    shapes = list(_leaves(slide.shapes, 0, 0))
    titles = [shape for shape, _, _ in shapes if _placeholder(shape) in _TITLE_KINDS]
    for shape in titles:
        if text := _joined(shape.text_frame.text):
            yield Heading(2, text, place)
    for shape, _, _ in sorted(shapes, key=lambda item: (item[1] // LINE_HEIGHT_EMU, item[2])):
        if _placeholder(shape) not in _TITLE_KINDS:
            yield from _shape_blocks(shape, place)
    if slide.has_notes_slide and (frame := slide.notes_slide.notes_text_frame) is not None and frame.text.strip():
        yield Text(_frame_markdown(frame), place)


def _leaves(shapes: Any, top: int, left: int) -> Iterator[tuple[Any, int, int]]:
    """All shapes with their top and left in EMU; those of a group stand where the group stands, in their own order."""
    for shape in shapes:
        shape_top, shape_left = top + (shape.top or 0), left + (shape.left or 0)
        if hasattr(shape, "shapes"):
            inner = sorted(_leaves(shape.shapes, 0, 0), key=lambda item: (item[1] // LINE_HEIGHT_EMU, item[2]))
            yield from ((leaf, shape_top, shape_left) for leaf, _, _ in inner)
        else:
            yield shape, shape_top, shape_left


def _placeholder(shape: Any) -> str:
    return shape.placeholder_format.type.name if shape.is_placeholder and shape.placeholder_format.type else ""


def _shape_blocks(shape: Any, place: Place) -> Iterator[Block]:
    if _placeholder(shape) in _PAGE_KINDS:
        return
    if getattr(shape, "has_table", False):
        yield from _table_grid(shape.table, place)
    elif getattr(shape, "has_chart", False):
        yield from _chart_blocks(shape.chart, place)
    elif shape.has_text_frame and (markdown := _frame_markdown(shape.text_frame)):
        yield Text(markdown, place)


def _frame_markdown(frame: Any) -> str:
    """The paragraphs of a frame: lines of their own, as list items where there are several."""
    paragraphs = [(paragraph.level, _joined(paragraph.text)) for paragraph in frame.paragraphs]
    paragraphs = [(level, text) for level, text in paragraphs if text]
    if len(paragraphs) < 2:
        return "".join(text for _, text in paragraphs)
    return "\n".join(f"{'  ' * level}- {text}" for level, text in paragraphs)


def _joined(text: str) -> str:
    """Line breaks (also the vertical tab that stands for a soft one) and runs of spaces -> one space."""
    return " ".join(text.split())


def _table_grid(table: Any, place: Place) -> Iterator[Grid]:
    rows = [[_joined(cell.text) for cell in row.cells] for row in table.rows]
    for top, row in enumerate(table.rows):
        for left, cell in enumerate(row.cells):
            if cell.is_merge_origin:
                for below in rows[top : top + cell.span_height]:
                    width = min(cell.span_width, len(below) - left)
                    below[left : left + width] = [rows[top][left]] * width
    width = max((len(row) for row in rows), default=0)
    if any(any(row) for row in rows):
        grid = tuple(tuple(row + [""] * (width - len(row))) for row in rows)
        header_rows = max(cell.span_height for cell in table.rows[0].cells) if table.first_row else None
        yield Grid(grid, tuple(range(1, len(rows) + 1)), header_rows=header_rows, place=place)


def _chart_blocks(chart: Any, place: Place) -> Iterator[Block]:
    """The data behind a chart: categories down, series across. Charts of points (XY) have no categories: the title only."""
    title = _joined(chart.chart_title.text_frame.text) if chart.has_title and chart.chart_title.has_text_frame else ""
    series, labels = _chart_data(chart)
    if not labels or not series:
        if title:
            yield Text(title, place)
        return
    rows = [("", *(name for name, _ in series))]
    for index, label in enumerate(labels):
        values = (values[index] if index < len(values) else None for _, values in series)
        rows.append((label, *("" if value is None else plain_number(value) for value in values)))
    yield Grid(tuple(rows), tuple(range(1, len(rows) + 1)), caption=title, header_rows=1, place=place)


def _chart_data(chart: Any) -> tuple[list[tuple[str, tuple[float | None, ...]]], list[str]]:
    plots = [plot for plot in chart.plots if len(plot.categories)]
    labels = [""] * len(plots[0].categories) if plots else []
    for category in plots[0].categories if plots else ():
        labels[category.idx] = _joined(category.label)  # an empty one is missing from the list
    return [(_joined(line.name or ""), tuple(line.values)) for plot in plots for line in plot.series], labels


def _row_count(slide: Any) -> int:
    """Rows of tables that hold any text, by the slide's XML, and one for each category of a chart and its heading."""
    rows = 0
    for table in slide.element.iter(_MAIN + "tbl"):
        if any((text.text or "").strip() for text in table.iter(_MAIN + "t")):
            rows += sum(1 for _ in table.iter(_MAIN + "tr"))
    for part in (relation.target_part for relation in slide.part.rels.values() if not relation.is_external):
        if part.partname.startswith("/ppt/charts/chart"):
            rows += _chart_row_count(part.blob)
    return rows


def _chart_row_count(chart_xml: bytes) -> int:
    from lxml import etree

    namespace = {"c": "http://schemas.openxmlformats.org/drawingml/2006/chart"}
    chart = etree.fromstring(chart_xml)
    plot = chart.xpath("(//c:plotArea/*[c:ser/c:cat])[1]", namespaces=namespace)
    counts = plot[0].xpath("c:ser[1]/c:cat//c:ptCount/@val", namespaces=namespace) if plot else []
    return 1 + int(counts[0]) if counts and int(counts[0]) else 0
