"""PDF files as they come: ruled tables over pages, merged cells, columns, Chinese, scans, rotated and encrypted pages."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reportlab.lib import colors, pdfencrypt
from reportlab.lib.pagesizes import A4, landscape
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.utils import ImageReader
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import PageBreak, Paragraph, SimpleDocTemplate, Spacer, Table, TableStyle

from ingest.blocks import Block, FileRefusedError, Grid, Heading, Parsed, Place, Text, from_json, to_json
from ingest.pdf_lines import join_lines
from ingest.read_pdf import read

pdfmetrics.registerFont(UnicodeCIDFont("STSong-Light"))
FONT = "STSong-Light"
BODY = ParagraphStyle("body", fontName=FONT, fontSize=10, leading=15, wordWrap="CJK", spaceAfter=8)
LATIN = ParagraphStyle("latin", fontName="Helvetica", fontSize=10, leading=13, spaceAfter=8)
TITLE = ParagraphStyle("title", fontName=FONT, fontSize=20, leading=26, spaceAfter=10)
SECTION = ParagraphStyle("section", fontName=FONT, fontSize=14, leading=20, spaceAfter=8)
RULED = [("GRID", (0, 0), (-1, -1), 0.5, colors.black), ("FONT", (0, 0), (-1, -1), FONT, 9)]
PRICES = [["型号", "显存", "价格"], ["H100", "80GB", "¥28.64"], ["A100", "40GB", "¥19.9"], ["H20", "96GB", "¥12"]]


def story(*flowables: Any, furniture: Callable[[Canvas, Any], None] | None = None, **options: Any) -> bytes:
    target = io.BytesIO()
    document = SimpleDocTemplate(target, pagesize=A4, **options)
    draw = {"onFirstPage": furniture, "onLaterPages": furniture} if furniture else {}
    document.build(list(flowables), **draw)
    return target.getvalue()


def drawn(draw: Callable[[Canvas], None], **options: Any) -> bytes:
    target = io.BytesIO()
    canvas = Canvas(target, pagesize=options.pop("pagesize", A4), **options)
    draw(canvas)
    canvas.save()
    return target.getvalue()


def table(rows: Sequence[Sequence[str]], *style: Any, **options: Any) -> Table:
    return Table([list(row) for row in rows], style=TableStyle([*RULED, *style]), **options)


def parse(content: bytes) -> Parsed:
    parsed = read(content, "报价.pdf")
    assert sum(len(grid.rows) for grid in grids(parsed)) == parsed.table_rows
    assert from_json(to_json(parsed)) == parsed
    return parsed


def grids(parsed: Parsed) -> list[Grid]:
    return [block for block in parsed.blocks if isinstance(block, Grid)]


def texts(parsed: Parsed) -> list[str]:
    return [block.markdown for block in parsed.blocks if isinstance(block, Text)]


def refusal(content: bytes) -> FileRefusedError:
    with pytest.raises(FileRefusedError) as refused:
        read(content, "报价.pdf")
    assert "报价.pdf" in refused.value.zh
    assert "报价.pdf" in refused.value.en
    return refused.value


def scan() -> ImageReader:
    from PIL import Image

    return ImageReader(Image.new("RGB", (200, 300), "gray"))


def test_headings_paragraphs_and_a_table_in_order_with_their_page() -> None:
    content = story(
        Paragraph("云服务器报价说明", TITLE),
        Paragraph("一、适用范围", SECTION),
        Paragraph("本报价适用于中国内地各地域的按量计费实例，" * 5 + "不含税。", BODY),
        Paragraph("二、价格", SECTION),
        table(PRICES),
        PageBreak(),
        Paragraph("价格每月更新一次，以官网为准。", BODY),
    )
    parsed = parse(content)
    one, two = Place("page", "1"), Place("page", "2")
    expected: list[Block] = [
        Heading(1, "云服务器报价说明", one),
        Heading(2, "一、适用范围", one),
        Text("本报价适用于中国内地各地域的按量计费实例，" * 5 + "不含税。", one),
        Heading(2, "二、价格", one),
        Grid(tuple(map(tuple, PRICES)), (1, 2, 3, 4), place=one),
        Text("价格每月更新一次，以官网为准。", two),
    ]
    assert list(parsed.blocks) == expected
    assert parsed.title == "云服务器报价说明"
    assert not parsed.notes


def test_a_table_over_three_pages_is_one_grid_without_its_repeated_heading() -> None:
    rows = [PRICES[0], *([f"GPU-{index}", f"{index}GB", f"¥{index}.5"] for index in range(120))]
    parsed = parse(story(table(rows, repeatRows=1)))
    (grid,) = grids(parsed)
    assert grid.rows == tuple(map(tuple, rows))
    assert grid.numbers == tuple(range(1, 122))
    assert grid.header_rows == 1
    assert grid.place == Place("page", "1")


def test_a_table_over_pages_without_a_repeated_heading_keeps_every_row() -> None:
    rows = [PRICES[0], *([f"GPU-{index % 7}", "80GB", "¥5"] for index in range(90))]
    (grid,) = grids(parse(story(table(rows))))
    assert grid.rows == tuple(map(tuple, rows))
    assert grid.header_rows is None


def test_two_tables_on_two_pages_with_other_columns_stay_two() -> None:
    parsed = parse(story(table(PRICES, colWidths=90), PageBreak(), table(PRICES, colWidths=[150, 60, 90])))
    assert len(grids(parsed)) == 2


def test_a_table_below_a_sentence_on_the_next_page_is_another_one() -> None:
    parsed = parse(story(table(PRICES), PageBreak(), Paragraph("另一张表：", BODY), table(PRICES)))
    assert [grid.place.label for grid in grids(parsed)] == ["1", "2"]


def test_a_continued_caption_between_the_halves_does_not_part_them() -> None:
    more = [PRICES[0], ["L40S", "48GB", "¥9"]]
    content = story(table(PRICES, colWidths=90), PageBreak(), Paragraph("续表", BODY), table(more, colWidths=90))
    (grid,) = grids(parse(content))
    assert grid.rows == (*map(tuple, PRICES), ("L40S", "48GB", "¥9"))


def test_merged_cells_are_repeated_and_empty_ones_stay_empty() -> None:
    rows = [
        ["云厂商", "价格", ""],
        ["", "按量", "包月"],
        ["阿里云", "28.64", ""],
        ["", "", "9000"],
    ]
    spans = [("SPAN", (0, 0), (0, 1)), ("SPAN", (1, 0), (2, 0)), ("SPAN", (0, 2), (0, 3))]
    (grid,) = grids(parse(story(table(rows, *spans))))
    assert grid.rows == (
        ("云厂商", "价格", "价格"),
        ("云厂商", "按量", "包月"),
        ("阿里云", "28.64", ""),
        ("阿里云", "", "9000"),
    )


def test_a_table_without_its_outer_vertical_lines_keeps_its_outer_columns() -> None:
    rows = [PRICES[0], *PRICES[1:]]
    style = [
        ("LINEABOVE", (0, 0), (-1, -1), 0.5, colors.black),
        ("LINEBELOW", (0, -1), (-1, -1), 0.5, colors.black),
        ("INNERGRID", (0, 0), (-1, -1), 0.5, colors.black),
        ("FONT", (0, 0), (-1, -1), FONT, 9),
    ]
    content = story(Table(rows, style=TableStyle(style)), Paragraph("以上不含税。", BODY), table(PRICES))
    parsed = parse(content)
    assert [grid.rows for grid in grids(parsed)] == [tuple(map(tuple, PRICES))] * 2
    assert texts(parsed) == ["以上不含税。"]


def test_a_wrapped_cell_is_one_text_without_a_space_between_chinese_lines() -> None:
    cell = Paragraph("按量计费的实例在关机以后仍然收取磁盘费用", BODY)
    content = story(Table([["型号", "说明"], ["H100", cell]], style=TableStyle(RULED), colWidths=[60, 70]))
    (grid,) = grids(parse(content))
    assert grid.rows[1] == ("H100", "按量计费的实例在关机以后仍然收取磁盘费用")


def test_a_table_without_lines_is_a_grid_only_where_every_line_is_aligned() -> None:
    def draw(canvas: Canvas) -> None:
        canvas.setFont(FONT, 10)
        for index, row in enumerate(PRICES):
            for column, cell in enumerate(row):
                canvas.drawString(80 + 120 * column, 700 - 16 * index, cell)
        canvas.drawString(80, 600, "含税")
        canvas.drawString(300, 600, "不含税")
        canvas.drawString(80, 584, "甲方")

    parsed = parse(drawn(draw))
    assert [grid.rows for grid in grids(parsed)] == [tuple(map(tuple, PRICES))]
    assert texts(parsed) == ["含税  不含税", "甲方"]


@pytest.mark.parametrize(
    "style",
    [
        ("ROWBACKGROUNDS", (0, 0), (-1, -1), [colors.white, colors.lightgrey]),
        ("LINEBELOW", (0, 0), (-1, 0), 0.5, colors.black),
    ],
)
def test_a_table_with_stripes_or_a_line_under_its_heading_only(style: Any) -> None:
    content = story(Table(PRICES, style=TableStyle([("FONT", (0, 0), (-1, -1), FONT, 9), style])))
    assert [grid.rows for grid in grids(parse(content))] == [tuple(map(tuple, PRICES))]


def test_short_lines_are_not_joined_to_a_paragraph() -> None:
    def draw(canvas: Canvas) -> None:
        canvas.setFont(FONT, 10)
        for index, line in enumerate(["H100 现货", "A100 缺货", "H20 现货"]):
            canvas.drawString(80, 700 - 14 * index, line)

    assert texts(parse(drawn(draw))) == ["H100 现货", "A100 缺货", "H20 现货"]


def test_a_ragged_table_without_lines_keeps_each_line_whole() -> None:
    def draw(canvas: Canvas) -> None:
        canvas.setFont(FONT, 10)
        for index, (name, x, price) in enumerate([("H100", 200, "28"), ("A100", 260, "19"), ("H20", 230, "12")]):
            canvas.drawString(80, 700 - 16 * index, name)
            canvas.drawString(x, 700 - 16 * index, price)
            canvas.drawString(x + 100, 700 - 16 * index, "元")

    assert texts(parse(drawn(draw))) == ["H100  28  元\nA100  19  元\nH20  12  元"]


def test_page_numbers_and_running_heads_are_dropped_and_a_paragraph_goes_on_over_the_page() -> None:
    def furniture(canvas: Canvas, document: Any) -> None:
        canvas.setFont(FONT, 9)
        canvas.drawString(72, 810, "内部资料 请勿外传")
        canvas.drawCentredString(297, 30, f"第 {document.page} 页 共 4 页")

    prose = "".join(f"第{index}种显卡的租用价格随供应情况变化而变化，" for index in range(400)) + "以合同为准。"
    (text,) = texts(parse(story(Paragraph(prose, BODY), furniture=furniture)))
    assert text.replace(" ", "") == prose


def test_rows_that_look_alike_at_the_top_of_every_page_are_no_running_heads() -> None:
    def draw(canvas: Canvas) -> None:
        for page in range(5):
            canvas.setFont(FONT, 10)
            for line in range(45):
                canvas.drawString(80, 790 - 16 * line, f"H{page} {line}GB 含税价格每小时")
            canvas.showPage()

    lines = [f"H{page} {line}GB 含税价格每小时" for page in range(5) for line in range(45)]
    found = "".join(texts(parse(drawn(draw))))
    assert all(found.replace(" ", "").count(line.replace(" ", "")) >= 1 for line in lines)


@pytest.mark.parametrize("number", ["3", "- 3 -", "第 3 页", "Page 3 of 10", "3/10", "第3页 共10页", "iv", "第三页"])
def test_a_lone_page_number_is_dropped_even_on_one_page(number: str) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.setFont(FONT, 10)
        canvas.drawString(80, 600, "正文在这里。")
        canvas.drawString(290, 30, number)

    assert texts(parse(drawn(draw))) == ["正文在这里。"]


def test_two_columns_of_prose_are_read_one_after_the_other() -> None:
    left = [f"左栏第{index}行的文字把这一栏从头到尾填满了" for index in range(8)]
    right = [f"右栏第{index}行的文字把这一栏从头到尾填满了" for index in range(8)]

    def draw(canvas: Canvas) -> None:
        canvas.setFont(FONT, 10)
        canvas.drawString(70, 740, "通栏的一句话横跨两栏，从页面的左边一直到右边，把整个版心全部占满为止。")
        for index, (one, other) in enumerate(zip(left, right, strict=True)):
            canvas.drawString(70, 700 - 14 * index, one)
            canvas.drawString(310, 697 - 14 * index, other)

    joined = "".join(texts(parse(drawn(draw))))
    assert joined.index("".join(left)) < joined.index("".join(right))


def test_bullets_stay_a_list_and_hyphens_at_the_line_end_are_mended() -> None:
    def draw(canvas: Canvas) -> None:
        canvas.setFont("Helvetica", 10)
        lines = [
            "The hourly price of a dedicated and band-",
            "width-hungry node changes with the availability of memory and",
            "of cards.",
        ]
        lines += ["", "• first point", "• second point"]
        for index, line in enumerate(lines):
            canvas.drawString(80, 700 - 13 * index, line)

    assert texts(parse(drawn(draw))) == [
        "The hourly price of a dedicated and bandwidth-hungry node changes with the availability of memory and of cards.",
        "- first point\n- second point",
    ]


@pytest.mark.parametrize(
    ("lines", "joined"),
    [
        (["显卡", "价格"], "显卡价格"),
        (["显卡 A100", "价格"], "显卡 A100 价格"),
        (["band-", "width"], "bandwidth"),
        (["A100-", "80GB"], "A100-80GB"),
        (["NV-", "Link"], "NV-Link"),
        (["¥28.64/", "hour"], "¥28.64/hour"),
        (["1 -", "2"], "1 - 2"),
        (["two", "words"], "two words"),
        (["soft\u00ad", "ware"], "software"),
        (["结束。", "开始"], "结束。开始"),
    ],
)
def test_joining_lines(lines: list[str], joined: str) -> None:
    assert join_lines(lines) == joined


def test_type_printed_twice_to_look_bold_is_read_once_and_no_other_letter_is_lost() -> None:
    def draw(canvas: Canvas) -> None:
        canvas.setFont(FONT, 10)
        for shift in (0, 0.3):
            canvas.drawString(80 + shift, 700, "特价")
        for index in range(40):
            canvas.setFont("Helvetica", 6 + index % 7)
            canvas.drawString(80 + index % 5, 660 - 15 * index, "illicit little lll iii 1111")

    found = "".join(block.text if isinstance(block, Heading) else str(block) for block in parse(drawn(draw)).blocks)
    assert found.count("特") == 1
    assert found.count("illicit little lll iii 1111") == 40


@pytest.mark.parametrize("turn", [0, 90, 180, 270])
def test_text_drawn_sideways_is_read_upright(turn: int) -> None:
    def draw(canvas: Canvas) -> None:
        corners = {0: (0, 0), 90: (A4[0], 0), 180: A4, 270: (0, A4[1])}
        canvas.translate(*corners[turn])
        canvas.rotate(turn)
        sideways = table(PRICES)
        sideways.wrapOn(canvas, 400, 400)
        sideways.drawOn(canvas, 100, 300)
        canvas.setFont(FONT, 10)
        canvas.drawString(100, 250, "以上为含税价格。")

    parsed = parse(drawn(draw))
    assert [grid.rows for grid in grids(parsed)] == [tuple(map(tuple, PRICES))]
    assert texts(parsed) == ["以上为含税价格。"]


@pytest.mark.parametrize("turn", [90, 180, 270])
def test_a_page_that_says_it_is_turned(turn: int) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.setPageRotation(turn)
        canvas.setFont(FONT, 10)
        canvas.drawString(100, 250, "以上为含税价格。")

    assert texts(parse(drawn(draw, pagesize=landscape(A4)))) == ["以上为含税价格。"]


def test_a_scan_is_refused_with_the_way_out() -> None:
    refused = refusal(drawn(lambda canvas: canvas.drawImage(scan(), 0, 0, 595, 842)))
    assert refused.code == "no-text-layer"
    assert "OCR" in refused.zh
    assert "OCR" in refused.en


def test_pages_without_a_text_layer_are_named() -> None:
    def draw(canvas: Canvas) -> None:
        for page in range(1, 6):
            if page in (2, 5):
                canvas.drawImage(scan(), 0, 0, 595, 842)
            else:
                canvas.setFont(FONT, 10)
                canvas.drawString(80, 500, f"这是正文 {page}。")
            canvas.showPage()

    parsed = parse(drawn(draw))
    assert len(texts(parsed)) == 3
    (note,) = parsed.notes
    assert "2, 5" in note.zh
    assert "2, 5" in note.en


def test_a_scan_with_only_a_page_number_is_still_a_scan() -> None:
    def draw(canvas: Canvas) -> None:
        canvas.drawImage(scan(), 0, 0, 595, 842)
        canvas.drawString(290, 30, "1")

    assert refusal(drawn(draw)).code == "no-text-layer"


def test_passwords() -> None:
    def draw(canvas: Canvas) -> None:
        canvas.drawString(80, 500, "Prices exclude tax.")

    locked = drawn(draw, encrypt=pdfencrypt.StandardEncryption("secret", ownerPassword="owner", strength=128))
    assert refusal(locked).code == "encrypted"
    open_to_read = drawn(
        draw, encrypt=pdfencrypt.StandardEncryption("", ownerPassword="owner", strength=128, canCopy=0)
    )
    assert texts(parse(open_to_read)) == ["Prices exclude tax."]


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "empty"),
        (b"%PDF-1.7\nnothing more", "broken"),
        (b"%PDF-1.7\nnothing more\n%%EOF", "broken"),
        (drawn(lambda canvas: canvas.showPage()), "empty"),
    ],
)
def test_files_without_anything_to_read(content: bytes, code: str) -> None:
    assert refusal(content).code == code


def test_a_file_cut_off_in_the_middle_is_refused_rather_than_half_read() -> None:
    content = story(*(Paragraph("正文一段。" * 300, BODY) for _ in range(10)))
    for size in range(len(content) // 10, len(content) - 10, len(content) // 10):
        assert refusal(content[:size]).code == "broken"


def test_a_drawing_of_lines_is_not_a_table() -> None:
    def draw(canvas: Canvas) -> None:
        for step in range(10):
            canvas.line(100, 300 + 20 * step, 400, 300 + 20 * step)
            canvas.line(100 + 30 * step, 300, 100 + 30 * step, 480)
        canvas.setFont(FONT, 10)
        canvas.drawString(103, 305, "图例")
        canvas.drawString(100, 500, "利用率曲线见下图。")

    parsed = parse(drawn(draw))
    assert not grids(parsed)
    assert sorted(texts(parsed)) == ["利用率曲线见下图。", "图例"]


CELL = st.text(alphabet="算力显卡ABCxyz0123456789.%", min_size=0, max_size=6)


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_any_ruled_table_comes_back_as_drawn(data: st.DataObject) -> None:
    width, height = data.draw(st.integers(2, 4)), data.draw(st.integers(2, 5))
    drawn_rows = [[data.draw(CELL) for _ in range(width)] for _ in range(height)]
    drawn_rows[0] = [f"列{column}" for column in range(width)]
    top, left = data.draw(st.integers(0, height - 1)), data.draw(st.integers(0, width - 1))
    bottom, right = data.draw(st.integers(top, height - 1)), data.draw(st.integers(left, width - 1))
    expected = [list(row) for row in drawn_rows]
    for row in range(top, bottom + 1):
        for column in range(left, right + 1):
            expected[row][column] = drawn_rows[top][left]
    single_tops = {row for row in range(height) if not (top < row <= bottom and left == 0 and right == width - 1)}
    single_lefts = {
        column for column in range(width) if not (left < column <= right and top == 0 and bottom == height - 1)
    }
    expected = [[row[c] for c in sorted(single_lefts)] for r, row in enumerate(expected) if r in single_tops]
    content = story(
        table(drawn_rows, ("SPAN", (left, top), (right, bottom)), colWidths=60, rowHeights=20), Spacer(1, 9)
    )
    found = grids(parse(content))
    if len(expected) < 2 or len(expected[0]) < 2 or sum(bool(c) for r in expected for c in r) < 2:
        return
    assert [grid.rows for grid in found] == [tuple(map(tuple, expected))]
