"""Workbooks as they come: several tables on a sheet, merged cells, formats, formulas without values, false sizes."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from typing import Any

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl.chart import BarChart, Reference
from openpyxl.worksheet.worksheet import Worksheet

from ingest.blocks import Block, FileRefusedError, Grid, Heading, Parsed, Place, Text, from_json, to_json
from ingest.read_xlsx import read
from ingest.sheet_tables import Area, Lines, Merge, Table, count_rows

PRICES = [["型号", "显存", "价格"], ["H100", "80GB", 28.64], ["A100", "40GB", 19.9]]
EXPECTED = (("型号", "显存", "价格"), ("H100", "80GB", "28.64"), ("A100", "40GB", "19.9"))
HERE = Place("sheet", "报价")


def saved(workbook: openpyxl.Workbook) -> bytes:
    target = io.BytesIO()
    workbook.save(target)
    return target.getvalue()


def sheet_with(fill: Callable[[Worksheet], Any]) -> bytes:
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    assert isinstance(sheet, Worksheet)
    sheet.title = "报价"
    fill(sheet)
    return saved(workbook)


def put(sheet: Worksheet, top: int, left: int, rows: list[list[Any]]) -> None:
    for number, row in enumerate(rows):
        for column, value in enumerate(row):
            sheet.cell(top + number, left + column).value = value


def parse(content: bytes) -> Parsed:
    parsed = read(content, "报价.xlsx")
    assert sum(len(grid.rows) for grid in grids(parsed)) == parsed.table_rows
    assert from_json(to_json(parsed)) == parsed
    return parsed


def grids(parsed: Parsed) -> list[Grid]:
    return [block for block in parsed.blocks if isinstance(block, Grid)]


def blocks_of(fill: Callable[[Worksheet], Any]) -> list[Block]:
    return list(parse(sheet_with(fill)).blocks)


def rewritten(content: bytes, part: str, change: Callable[[str], str]) -> bytes:
    """The package with one part changed."""
    source, target = zipfile.ZipFile(io.BytesIO(content)), io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as package:
        for name in source.namelist():
            data = source.read(name)
            package.writestr(name, change(data.decode()).encode() if name == part else data)
    return target.getvalue()


def refusal(content: bytes) -> FileRefusedError:
    with pytest.raises(FileRefusedError) as refused:
        read(content, "报价.xlsx")
    return refused.value


CELLS: list[tuple[str, Any, str, str]] = [
    ("binary noise", 0.1 + 0.2, "General", "0.3"),
    ("integer stored as a float", 4.0, "General", "4"),
    ("long integer", 123456789012345, "General", "123456789012345"),
    ("zero is not empty", 0, "General", "0"),
    ("small", 0.00001, "General", "0.00001"),
    ("percentage", 0.125, "0.0%", "12.5%"),
    ("percentage with more digits than its format shows", 0.07125, "0%", "7.125%"),
    ("yuan sign", 28.64, "¥#,##0.00", "¥28.64"),
    ("accounting", 28.64, '_ "¥"* #,##0.00_ ;_ "¥"* \\-#,##0.00_ ;_ "¥"* "-"??_ ;_ @_ ', "¥28.64"),
    ("locale currency, negative", -1234.5, "[$¥-804]#,##0.00", "-¥1234.5"),
    ("unit behind", 28.5, '#,##0.00"元/小时"', "28.5元/小时"),
    ("currency word", 5, "[$USD] #,##0.00", "USD 5"),
    ("euro behind", 5, "#,##0.00\\ [$€-407]", "5 €"),
    ("dollar with bracketed negative", -5, '"$"#,##0_);("$"#,##0)', "-$5"),
    ("memory", 80, '0"GB"', "80GB"),
    ("ten thousands would make the unit false", 12345, '0!.0,"万"', "12345"),
    ("thousands would make the unit false", 12345, '0.0,"K"', "12345"),
    ("colour and scientific", 1e30, "[Red]0.00E+00", "1E+30"),
    ("true", True, "General", "TRUE"),
    ("error", "#N/A", "General", "#N/A"),
    ("leading zeros in text", "007", "@", "007"),
    ("line break and spaces", " 单价\n(元)  含税 ", "General", "单价 (元) 含税"),
    ("date", date(2025, 1, 31), "yyyy-mm-dd", "2025-01-31"),
    ("Chinese date", date(2025, 1, 31), 'yyyy"年"m"月"d"日"', "2025-01-31"),
    ("month only", date(2025, 1, 1), 'yyyy"年"m"月"', "2025-01"),
    ("date and time", datetime(2025, 1, 31, 8, 30), "yyyy-mm-dd hh:mm", "2025-01-31 08:30"),
    ("time", time(8, 30), "hh:mm", "08:30"),
    ("hours beyond a day", timedelta(hours=25, minutes=30), "[h]:mm:ss", "25:30"),
]


@pytest.mark.parametrize(("trap", "value", "number_format", "text"), CELLS, ids=[case[0] for case in CELLS])
def test_cell_texts(trap: str, value: Any, number_format: str, text: str) -> None:
    def fill(sheet: Worksheet) -> None:
        put(sheet, 1, 1, [["型号", "值"], ["H100", value]])
        sheet["B2"].number_format = number_format

    (grid,) = grids(parse(sheet_with(fill)))
    assert grid.rows[1] == ("H100", text)


def test_a_date_in_a_chinese_builtin_format_is_not_a_serial_number() -> None:
    def fill(sheet: Worksheet) -> None:
        put(sheet, 1, 1, [["型号", "日期"], ["H100", 45688]])
        sheet["B2"].number_format = "0.00"

    content = rewritten(sheet_with(fill), "xl/styles.xml", lambda xml: xml.replace('numFmtId="2"', 'numFmtId="31"'))
    assert grids(parse(content))[0].rows[1] == ("H100", "2025-01-31")


def test_all_sheets_in_order_with_headings_and_a_note_for_hidden_and_chart_sheets() -> None:
    workbook = openpyxl.Workbook()
    first = workbook.active
    assert isinstance(first, Worksheet)
    first.title = "云"
    put(first, 1, 1, PRICES)
    hidden = workbook.create_sheet("内部")
    hidden.sheet_state = "hidden"
    put(hidden, 1, 1, PRICES)
    workbook.create_sheet("空")
    chart = BarChart()
    chart.add_data(Reference(first, min_col=3, min_row=1, max_row=3), titles_from_data=True)
    workbook.create_chartsheet("图").add_chart(chart)
    parsed = parse(saved(workbook))
    assert list(parsed.blocks) == [
        Heading(2, "云", Place("sheet", "云")),
        Grid(EXPECTED, (1, 2, 3), place=Place("sheet", "云")),
        Heading(2, "内部", Place("sheet", "内部")),
        Grid(EXPECTED, (1, 2, 3), place=Place("sheet", "内部")),
    ]
    assert [("内部" in note.zh, "图" in note.en) for note in parsed.notes] == [(True, False), (False, True)]
    assert parsed.title == "报价"


def test_leading_blank_rows_and_columns_hidden_rows_and_columns() -> None:
    def fill(sheet: Worksheet) -> None:
        put(sheet, 4, 3, PRICES)
        sheet.row_dimensions[5].hidden = True
        sheet.column_dimensions["D"].hidden = True

    assert blocks_of(fill) == [Grid(EXPECTED, (4, 5, 6), place=HERE)]


def test_titles_above_become_the_caption_and_remarks_below_a_text() -> None:
    def fill(sheet: Worksheet) -> None:
        sheet["A1"] = "GPU 租用价格"
        sheet.merge_cells("A1:C1")
        sheet["C2"] = "单位：元/小时"
        put(sheet, 3, 1, PRICES)
        sheet["A6"] = "注：以上不含税"

    assert blocks_of(fill) == [
        Grid(EXPECTED, (3, 4, 5), caption="GPU 租用价格\n单位：元/小时", place=HERE),
        Text("注：以上不含税", HERE),
    ]


def test_sentences_above_a_table_are_texts_and_only_short_lines_next_to_it_its_caption() -> None:
    def fill(sheet: Worksheet) -> None:
        put(sheet, 1, 1, [["使用说明"], ["价格" * 60], ["单位：元/小时"], *PRICES])

    assert blocks_of(fill) == [
        Text("使用说明", HERE),
        Text("价格" * 60, HERE),
        Grid(EXPECTED, (4, 5, 6), caption="单位：元/小时", place=HERE),
    ]


def test_tables_parted_by_blank_rows_and_columns_with_lines_between() -> None:
    other = [["地域", "税率"], ["北京", 0.06], ["上海", 0.06]]
    other_expected = (("地域", "税率"), ("北京", "0.06"), ("上海", "0.06"))

    def fill(sheet: Worksheet) -> None:
        sheet["A1"] = "更新：每月"
        put(sheet, 3, 1, PRICES)
        put(sheet, 3, 5, other)
        sheet["A7"] = "第二部分"
        put(sheet, 9, 2, other)

    assert blocks_of(fill) == [
        Text("更新：每月", HERE),
        Grid(EXPECTED, (3, 4, 5), place=HERE),
        Grid(other_expected, (3, 4, 5), place=HERE),
        Text("第二部分", HERE),
        Grid(other_expected, (9, 10, 11), place=HERE),
    ]


def test_an_empty_column_that_has_a_heading_or_a_single_column_beside_it_parts_nothing() -> None:
    rows: list[list[Any]] = [["型号", "显存", "备注", "价格", None, "币种"], ["H100", "80GB", None, 28, None, "CNY"]]
    (grid,) = grids(parse(sheet_with(lambda sheet: put(sheet, 1, 1, rows))))
    assert grid.rows == (("型号", "显存", "备注", "价格", "", "币种"), ("H100", "80GB", "", "28", "", "CNY"))


def test_groups_of_one_table_parted_by_blank_rows_keep_their_heading() -> None:
    def fill(sheet: Worksheet) -> None:
        put(sheet, 1, 1, PRICES)
        put(sheet, 5, 1, [["AMD"], ["MI300X", "192GB", 22.5], ["MI250", "128GB", 9]])

    (grid,) = grids(parse(sheet_with(fill)))
    assert grid.rows == (*EXPECTED, ("AMD", "", ""), ("MI300X", "192GB", "22.5"), ("MI250", "128GB", "9"))
    assert grid.numbers == (1, 2, 3, 5, 6, 7)


def test_a_second_table_with_a_heading_of_its_own_stays_a_second_one() -> None:
    def fill(sheet: Worksheet) -> None:
        put(sheet, 1, 1, PRICES)
        put(sheet, 5, 1, [["地域", "机房", "税率"], ["北京", "A", 0.06]])

    assert [grid.numbers for grid in grids(parse(sheet_with(fill)))] == [(1, 2, 3), (5, 6)]


def test_merged_cells_are_repeated_in_both_directions() -> None:
    def fill(sheet: Worksheet) -> None:
        put(sheet, 1, 1, [["云", "价格", None], [None, "按量", "包月"], ["阿里云", 28, 9000], [None, 30, 9100]])
        for merged in ("A1:A2", "B1:C1", "A3:A4"):
            sheet.merge_cells(merged)

    (grid,) = grids(parse(sheet_with(fill)))
    assert grid.rows == (
        ("云", "价格", "价格"),
        ("云", "按量", "包月"),
        ("阿里云", "28", "9000"),
        ("阿里云", "30", "9100"),
    )


def test_formulas_without_a_saved_value_are_empty_and_noted_with_the_first_cell() -> None:
    def fill(sheet: Worksheet) -> None:
        put(sheet, 1, 1, [["型号", "价格"], ["H100", "=1+1"], ["A100", "=B2*2"]])

    parsed = parse(sheet_with(fill))
    assert grids(parsed)[0].rows == (("型号", "价格"), ("H100", ""), ("A100", ""))
    (note,) = parsed.notes
    assert note.zh.startswith("2 ")
    assert "报价!B2" in note.en
    assert "LibreOffice" in note.en


@pytest.mark.parametrize(
    ("value", "text"), [('<c r="B2"><f>1+1</f><v>2</v></c>', "2"), ('<c r="B2" t="str"><f>""</f><v></v></c>', "")]
)
def test_formulas_with_a_saved_value_even_an_empty_text_are_not_noted(value: str, text: str) -> None:
    content = sheet_with(lambda sheet: put(sheet, 1, 1, [["型号", "价格"], ["H100", 5], ["A100", 6]]))
    parsed = parse(rewritten(content, "xl/worksheets/sheet1.xml", lambda xml: re.sub(r'<c r="B2".*?</c>', value, xml)))
    assert grids(parsed)[0].rows[1] == ("H100", text)
    assert not parsed.notes


@pytest.mark.parametrize("dimension", ["A1:XFD1048576", "A1:A1", "A1"])
def test_a_false_size_neither_hangs_nor_hides_cells(dimension: str) -> None:
    content = sheet_with(lambda sheet: put(sheet, 1, 1, PRICES))
    content = rewritten(
        content,
        "xl/worksheets/sheet1.xml",
        lambda xml: re.sub(r'<dimension ref="[^"]*"', f'<dimension ref="{dimension}"', xml),
    )
    assert grids(parse(content))[0].rows == EXPECTED


def test_a_cell_in_the_last_row_and_a_merge_over_the_whole_sheet_take_no_memory() -> None:
    def fill(sheet: Worksheet) -> None:
        put(sheet, 1, 1, PRICES)
        sheet.cell(1048576, 16384).value = "尾"

    content = sheet_with(fill)
    blocks = parse(content).blocks
    assert blocks[0] == Grid(EXPECTED, (1, 2, 3), place=HERE)
    assert blocks[1] == Text("尾", HERE)
    merged = rewritten(
        sheet_with(lambda sheet: put(sheet, 1, 1, [["全", None], [None, "b"]])),
        "xl/worksheets/sheet1.xml",
        lambda xml: xml.replace(
            "</sheetData>", '</sheetData><mergeCells><mergeCell ref="A1:XFD1048576"/></mergeCells>'
        ),
    )
    assert [block.rows for block in grids(parse(merged))] == [(("全", "全"), ("全", "全"))]


def test_blank_texts_and_whitespace_are_no_cells() -> None:
    def fill(sheet: Worksheet) -> None:
        put(sheet, 1, 1, [*PRICES, [" ", "\n", "\u3000"]])

    assert blocks_of(fill) == [Grid(EXPECTED, (1, 2, 3), place=HERE)]


def test_many_rows_come_back_in_order() -> None:
    workbook = openpyxl.Workbook(write_only=True)
    sheet = workbook.create_sheet("报价")
    for number in range(33_000):
        sheet.append([f"id{number}", number])
    (grid,) = grids(parse(saved(workbook)))
    assert len(grid.rows) == 33_000
    assert grid.rows[-1] == ("id32999", "32999")


def test_a_row_that_a_grid_lost_is_counted_all_the_same() -> None:
    bits = {1: 0b110, 2: 0b110, 3: 0b110, 5: 0b10}
    pieces = [Table(Area((1, 3), 1, 2)), Lines(Area((5,), 1, 1))]
    assert count_rows(bits, pieces) == 3
    assert Merge(1, 1, 2, 2).bottom == 2


OLE = bytes.fromhex("d0cf11e0a1b11ae1") + b"\0" * 512
PLAIN = sheet_with(lambda sheet: put(sheet, 1, 1, PRICES))


def with_part(name: str) -> bytes:
    target = io.BytesIO(PLAIN)
    with zipfile.ZipFile(target, "a") as package:
        package.writestr(name, b"x")
    return target.getvalue()


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "empty"),
        (sheet_with(lambda sheet: None), "empty"),
        (OLE + "EncryptedPackage".encode("utf-16-le"), "encrypted"),
        (OLE + "Workbook".encode("utf-16-le"), "wrong-type"),
        (PLAIN[: len(PLAIN) // 2], "broken"),
        (with_part("xl/vbaProject.bin"), "macro"),
        (rewritten(PLAIN, "xl/worksheets/sheet1.xml", lambda xml: xml[: len(xml) // 2]), "broken"),
        (rewritten(PLAIN, "xl/workbook.xml", lambda xml: "<x/>"), "broken"),
        (
            rewritten(
                PLAIN,
                "xl/workbook.xml",
                lambda xml: xml.replace(
                    "http://schemas.openxmlformats.org/spreadsheetml/2006/main",
                    "http://purl.oclc.org/ooxml/spreadsheetml/main",
                ),
            ),
            "wrong-type",
        ),
        (b"%PDF-1.4 x %%EOF", "wrong-type"),
    ],
)
def test_refusals(content: bytes, code: str) -> None:
    refused = refusal(content)
    assert refused.code == code
    assert refused.zh
    assert refused.en


WORD = st.text(alphabet="算力卡ABCxyz.-", min_size=1, max_size=5)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_full_sheet_with_a_merge_comes_back_as_written(data: st.DataObject) -> None:
    width, height = data.draw(st.integers(2, 5)), data.draw(st.integers(2, 6))
    row, column = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 4))
    written = [[data.draw(WORD) for _ in range(width)] for _ in range(height)]
    top, bottom = sorted((data.draw(st.integers(0, height - 1)), data.draw(st.integers(0, height - 1))))
    # A merge over all columns would be a title, a remark or a group's heading: tested by themselves.
    left, right = sorted((data.draw(st.integers(0, width - 2)), data.draw(st.integers(0, width - 2))))
    expected = [list(cells) for cells in written]
    for below in range(top, bottom + 1):
        expected[below][left : right + 1] = [written[top][left]] * (right - left + 1)

    def fill(sheet: Worksheet) -> None:
        put(sheet, row, column, [list(cells) for cells in written])
        sheet.merge_cells(
            start_row=row + top, end_row=row + bottom, start_column=column + left, end_column=column + right
        )

    (grid,) = grids(parse(sheet_with(fill)))
    assert grid.rows == tuple(map(tuple, expected))
    assert grid.numbers == tuple(range(row, row + height))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from([None, None, "甲", "b", 1, 2.5]), min_size=1, max_size=6), min_size=1, max_size=8)
)
def test_no_cell_of_any_sheet_is_lost(rows: list[list[Any]]) -> None:
    written = sorted(str(value) for row in rows for value in row if value is not None)
    content = sheet_with(lambda sheet: put(sheet, 1, 1, rows))
    if not written:
        assert refusal(content).code == "empty"
        return
    found: list[str] = []
    for block in parse(content).blocks:
        if isinstance(block, Grid):
            found += [cell for cells in block.rows for cell in cells if cell]
            found += block.caption.split()
        elif isinstance(block, Text):
            found += block.markdown.split(" | ")
    assert set(found) == set(written)
