"""Presentations as they come: order on the slide, groups, merged cells, charts, notes, hidden slides."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import pptx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pptx.chart.data import CategoryChartData, XyChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Cm

from ingest.blocks import Block, FileRefusedError, Grid, Heading, Parsed, Place, Text, from_json, to_json
from ingest.read_pptx import read

TITLE_ONLY, BLANK, TITLE_AND_CONTENT = 5, 6, 1


def saved(deck: Any) -> bytes:
    target = io.BytesIO()
    deck.save(target)
    return target.getvalue()


def slide_of(deck: Any, layout: int = BLANK, title: str = "") -> Any:
    slide = deck.slides.add_slide(deck.slide_layouts[layout])
    if title:
        slide.shapes.title.text = title
    return slide


def write(shapes: Any, text: str, left_cm: float, top_cm: float) -> None:
    shapes.add_textbox(Cm(left_cm), Cm(top_cm), Cm(5), Cm(1)).text_frame.text = text


def add_table(slide: Any, rows: list[list[str]]) -> Any:
    table = slide.shapes.add_table(len(rows), len(rows[0]), Cm(1), Cm(4), Cm(15), Cm(5)).table
    for number, row in enumerate(rows):
        for column, text in enumerate(row):
            table.cell(number, column).text = text
    return table


def parse(content: bytes) -> Parsed:
    parsed = read(content, "产品.pptx")
    assert sum(len(block.rows) for block in parsed.blocks if isinstance(block, Grid)) == parsed.table_rows
    assert from_json(to_json(parsed)) == parsed
    return parsed


def refusal(content: bytes) -> FileRefusedError:
    with pytest.raises(FileRefusedError) as refused:
        read(content, "产品.pptx")
    return refused.value


def test_slides_in_order_with_titles_lists_and_notes() -> None:
    deck = pptx.Presentation()
    first = slide_of(deck, TITLE_AND_CONTENT, "GPU 服务器\v产品")
    frame = first.placeholders[1].text_frame
    frame.text = "八卡 H100"
    frame.add_paragraph().text = "液冷"
    frame.paragraphs[1].level = 1
    first.notes_slide.notes_text_frame.text = "口头报价：28 元/小时"
    slide_of(deck, TITLE_ONLY, "价格")
    parsed = parse(saved(deck))
    expected: list[Block] = [
        Heading(2, "GPU 服务器 产品", Place("slide", "1")),
        Text("- 八卡 H100\n  - 液冷", Place("slide", "1")),
        Text("口头报价：28 元/小时", Place("slide", "1")),
        Heading(2, "价格", Place("slide", "2")),
    ]
    assert list(parsed.blocks) == expected
    assert parsed.title == "GPU 服务器 产品"


def test_shapes_are_read_from_the_top_left_and_a_group_stays_together() -> None:
    deck = pptx.Presentation()
    slide = slide_of(deck)
    write(slide.shapes, "右下", 12, 10)
    write(slide.shapes, "右上", 12, 1.1)
    write(slide.shapes, "左上", 1, 1.2)
    group = slide.shapes.add_group_shape()
    write(group.shapes, "组二", 1, 6)
    write(group.shapes, "组一", 1, 5)
    inner = group.shapes.add_group_shape()
    write(inner.shapes, "组中组", 8, 7)
    texts = [block.markdown for block in parse(saved(deck)).blocks if isinstance(block, Text)]
    assert texts == ["左上", "右上", "组一", "组二", "组中组", "右下"]


def test_a_title_that_stands_below_the_text_still_comes_first() -> None:
    deck = pptx.Presentation()
    slide = slide_of(deck, TITLE_ONLY, "标题")
    slide.shapes.title.top = Cm(15)
    slide.shapes.title.left = slide.shapes.title.width = slide.shapes.title.height = Cm(2)
    write(slide.shapes, "正文", 1, 1)
    assert [type(block) for block in parse(saved(deck)).blocks] == [Heading, Text]


def test_merged_cells_of_a_table_are_repeated() -> None:
    deck = pptx.Presentation()
    rows = [["云", "价格", ""], ["", "按量", "包月"], ["阿里云", "28", "9000\n元"]]
    table = add_table(slide_of(deck), rows)
    table.cell(0, 0).merge(table.cell(1, 0))
    table.cell(0, 1).merge(table.cell(0, 2))
    (grid,) = parse(saved(deck)).blocks
    assert grid == Grid(
        (("云", "价格", "价格"), ("云", "按量", "包月"), ("阿里云", "28", "9000 元")),
        (1, 2, 3),
        header_rows=2,
        place=Place("slide", "1"),
    )


def test_a_table_without_a_heading_row_says_nothing_about_it_and_an_empty_table_is_left_out() -> None:
    deck = pptx.Presentation()
    slide = slide_of(deck)
    add_table(slide, [["H100", "80GB"], ["A100", "40GB"]]).first_row = False
    add_table(slide, [["", ""], ["", ""]])
    (grid,) = parse(saved(deck)).blocks
    assert isinstance(grid, Grid)
    assert grid.header_rows is None


def test_the_data_of_a_chart_is_a_grid_and_one_of_points_is_not() -> None:
    deck = pptx.Presentation()
    slide = slide_of(deck)
    data = CategoryChartData()
    data.categories = ["H100", "A100"]
    data.add_series("价格", (28.64, 0.1 + 0.2))
    data.add_series("库存", (4, None))
    box = Cm(1), Cm(1), Cm(10), Cm(6)
    chart = slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *box, data).chart
    chart.has_title = True
    chart.chart_title.text_frame.text = "每小时价格"
    points = XyChartData()
    points.add_series("点").add_data_point(1, 2)
    slide.shapes.add_chart(XL_CHART_TYPE.XY_SCATTER, *box, points)
    grids = [block for block in parse(saved(deck)).blocks if isinstance(block, Grid)]
    assert [(grid.caption, grid.rows) for grid in grids] == [
        ("每小时价格", (("", "价格", "库存"), ("H100", "28.64", "4"), ("A100", "0.3", "")))
    ]


def test_hidden_slides_are_read_and_noted() -> None:
    deck = pptx.Presentation()
    slide_of(deck, TITLE_ONLY, "公开")
    slide_of(deck, TITLE_ONLY, "内部").element.set("show", "0")
    parsed = parse(saved(deck))
    assert len(parsed.blocks) == 2
    (note,) = parsed.notes
    assert note.zh.endswith("2")
    assert note.en.endswith("2")


def with_part(content: bytes, name: str, data: bytes = b"x") -> bytes:
    target = io.BytesIO(content)
    with zipfile.ZipFile(target, "a") as package:
        package.writestr(name, data)
    return target.getvalue()


def rewritten(content: bytes, part: str, data: bytes) -> bytes:
    source, target = zipfile.ZipFile(io.BytesIO(content)), io.BytesIO()
    with zipfile.ZipFile(target, "w") as package:
        for name in source.namelist():
            package.writestr(name, data if name == part else source.read(name))
    return target.getvalue()


def plain() -> bytes:
    deck = pptx.Presentation()
    slide_of(deck, TITLE_ONLY, "价格")
    return saved(deck)


PLAIN = plain()
OLE = bytes.fromhex("d0cf11e0a1b11ae1") + b"\0" * 512


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "empty"),
        (saved(pptx.Presentation()), "empty"),
        (OLE + "EncryptedPackage".encode("utf-16-le"), "encrypted"),
        (OLE + "PowerPoint Document".encode("utf-16-le"), "wrong-type"),
        (PLAIN[: len(PLAIN) // 2], "broken"),
        (with_part(PLAIN, "ppt/vbaProject.bin"), "macro"),
        (rewritten(PLAIN, "ppt/slides/slide1.xml", b"<p:sld"), "broken"),
        (rewritten(PLAIN, "ppt/_rels/presentation.xml.rels", b""), "broken"),
        (b"%PDF-1.4 x %%EOF", "wrong-type"),
    ],
)
def test_refusals(content: bytes, code: str) -> None:
    refused = refusal(content)
    assert refused.code == code
    assert refused.zh
    assert refused.en


WORD = st.text(alphabet="算力卡ABCxyz019.", min_size=0, max_size=5)


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_any_table_with_a_merge_comes_back_as_written(data: st.DataObject) -> None:
    width, height = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 5))
    rows = [[data.draw(WORD) for _ in range(width)] for _ in range(height)]
    rows[0][0] = "型号"
    top, bottom = sorted((data.draw(st.integers(0, height - 1)), data.draw(st.integers(0, height - 1))))
    left, right = sorted((data.draw(st.integers(0, width - 1)), data.draw(st.integers(0, width - 1))))
    deck = pptx.Presentation()
    table = add_table(slide_of(deck), rows)
    if (top, left) != (bottom, right):
        for row in range(top, bottom + 1):
            for column in range(left, right + 1):
                table.cell(row, column).text = rows[top][left] if (row, column) == (top, left) else ""
        table.cell(top, left).merge(table.cell(bottom, right))
    expected = [list(row) for row in rows]
    for row in range(top, bottom + 1):
        expected[row][left : right + 1] = [rows[top][left]] * (right - left + 1)
    (grid,) = parse(saved(deck)).blocks
    assert isinstance(grid, Grid)
    assert grid.rows == tuple(map(tuple, expected))
