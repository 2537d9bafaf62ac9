"""Table grids: which rows are headers, sections, units, blanks; every row is counted once and no cell is lost."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.blocks import FileRefusedError, Grid, Place
from ingest.grids import RowCounts, Table, check_rows, language_of, tabulate, unit_note_of


def grid(drawn: str, header_rows: int | None = None, caption: str = "") -> Grid:
    """A grid as drawn, a line a row and "|" between cells."""
    rows = tuple(tuple(cell.strip() for cell in line.split("|")) for line in drawn.strip("\n").splitlines())
    return Grid(rows, tuple(range(1, len(rows) + 1)), caption=caption, header_rows=header_rows)


def read(drawn: str, header_rows: int | None = None, caption: str = "") -> Table:
    return tabulate(grid(drawn, header_rows, caption))


@pytest.mark.parametrize(
    ("trap", "drawn", "headers", "first_row"),
    [
        ("words above figures", "型号|价格\nA100|28.64\nH100|60", ("型号", "价格"), ("A100", "28.64")),
        ("all words", "平台|网址\nAutoDL|autodl.com\nVast|vast.ai", ("平台", "网址"), ("AutoDL", "autodl.com")),
        ("data only", "A100|28.64\nH100|60.5\nV100|10", ("column 1", "column 2"), ("A100", "28.64")),
        ("data only, in Chinese", "一号机|28.64\n二号机|60\n三号机|10", ("列 1", "列 2"), ("一号机", "28.64")),
        ("data only, values that come again", "A|租\nB|买\nC|租\nD|买", ("列 1", "列 2"), ("A", "租")),
        ("years are headers", "型号|2023|2024\nA100|80|28.64\nH100|80|60", ("型号", "2023", "2024"), ("A100", "80", "28.64")),
        ("figures with another unit", "型号|1 卡|8 卡\nA100|28.64|229\nH100|60|480", ("型号", "1 卡", "8 卡"), ("A100", "28.64", "229")),
        ("card names across, properties down", "|RTX 4090|A100\n显存|24 GB|80 GB\n接口|PCIe|SXM", ("", "RTX 4090", "A100"), ("显存", "24 GB", "80 GB")),
        ("numeric card names across", "|4090|3090\n显存|24 GB|24 GB\n功耗|450 W|350 W", ("", "4090", "3090"), ("显存", "24 GB", "24 GB")),
        ("a merged group", "GPU|价格|价格\nGPU|按需|包月\nA100|28|8000\nH100|60|20000", ("GPU", "价格 / 按需", "价格 / 包月"), ("A100", "28", "8000")),
        ("a merged group, GPU not merged", "GPU|价格|价格\n|按需|包月\nA100|28|8000\nH100|60|9", ("GPU", "价格 / 按需", "价格 / 包月"), ("A100", "28", "8000")),
        ("a merged group saved as CSV", "GPU|价格|\n|按需|包月\nA100|28|8000\nH100|60|9", ("GPU", "价格 / 按需", "价格 / 包月"), ("A100", "28", "8000")),
        ("two groups and nothing else", "价格|价格|规格|规格\n按需|包月|显存|带宽\n28|8000|80|2039\n60|9|80|3350", ("价格 / 按需", "价格 / 包月", "规格 / 显存", "规格 / 带宽"), ("28", "8000", "80", "2039")),
        ("figures under a merged group", "GPU|价格|价格\nGPU|1 卡|8 卡\nA100|28|229\nH100|60|480", ("GPU", "价格 / 1 卡", "价格 / 8 卡"), ("A100", "28", "229")),
        ("three header rows", "GPU|云|云|云\nGPU|价格|价格|显存\nGPU|按需|包月|显存\nA100|28|8000|80\nH100|6|9|80", ("GPU", "云 / 价格 / 按需", "云 / 价格 / 包月", "云 / 显存"), ("A100", "28", "8000", "80")),
        ("merged data cells are no header", "地域|型号|价格\n北京|A100|28\n北京|H100|60\n上海|A100|27", ("地域", "型号", "价格"), ("北京", "A100", "28")),
        ("units in brackets", "型号|显存|价格\n|(GB)|（元/小时）\nA100|80|28.64\nH100|80|60", ("型号", "显存 (GB)", "价格 (元/小时)"), ("A100", "80", "28.64")),
        ("units without brackets", "型号|显存|价格\n|GiB|元/小时\nA100|80|28.64\nH100|80|60", ("型号", "显存 (GiB)", "价格 (元/小时)"), ("A100", "80", "28.64")),
        ("a data row of words is no unit row", "型号|形式|云\nA100|SXM|AWS\nH100|PCIe|GCP", ("型号", "形式", "云"), ("A100", "SXM", "AWS")),
        ("a blank header inside", "型号|\nA100|有货\nH100|缺货", ("型号", "列 2"), ("A100", "有货")),
        ("a trailing empty column", "型号|价格|\nA100|28.64|\nH100|60|", ("型号", "价格"), ("A100", "28.64")),
        ("a trailing column with one cell", "型号|价格|\nA100|28.64|\nH100|60|缺货", ("型号", "价格", "列 3"), ("A100", "28.64", "")),
        ("a title and a unit above", "GPU 价格|GPU 价格|GPU 价格\n单位：元|单位：元|单位：元\n型号|显存|价\nA100|80|28\nH100|80|60", ("型号", "显存", "价"), ("A100", "80", "28")),
        ("a title saved as one cell", "GPU 价格||\n||\n型号|显存|价\nA100|80|28\nH100|80|60", ("型号", "显存", "价"), ("A100", "80", "28")),
        ("one row only", "A100|28.64", ("column 1", "column 2"), ("A100", "28.64")),
        ("line ends in cells", "型 号|价格\nA100\t80GB|28\nH100|60", ("型 号", "价格"), ("A100 80GB", "28")),
    ],
)  # fmt: skip
def test_headers_are_found(trap: str, drawn: str, headers: tuple[str, ...], first_row: tuple[str, ...]) -> None:
    table = read(drawn)
    assert (table.headers, table.rows[0]) == (headers, first_row), trap
    assert table.counts.total == len(drawn.splitlines())


def test_what_the_format_says_of_headers_is_believed() -> None:
    assert read("1|2\n3|4\n5|6", header_rows=1).headers == ("1", "2")
    assert read("GPU|价格\nGPU|按需\nA100|28", header_rows=2).headers == ("GPU", "价格 / 按需")
    assert (
        read("价格表|价格表\nGPU|按需\nA100|28", header_rows=2).caption == "价格表"
    )  # a title is no header of columns


def test_a_format_that_calls_every_row_a_header_is_not_believed() -> None:
    assert read("GPU|价格\nA100|28\nH100|60", header_rows=3).counts == RowCounts(header=1, data=2)


def test_a_header_without_rows_is_a_header() -> None:
    assert read("GPU|价格", header_rows=1).counts == RowCounts(header=1)


BODY = """
型号|显存|价格
北京地域|北京地域|北京地域
A100|80 GB|28.64
型号|显存|价格
||
H100|80 GB|0
上海地域||
整机|整机|整机
A100|80 GB|
合计|160 GB|28.64
注：不含税|注：不含税|注：不含税
"""


def test_every_kind_of_row_in_the_body_is_told_apart_and_counted() -> None:
    table = read(BODY)
    assert table.rows == (
        ("A100", "80 GB", "28.64"),
        ("H100", "80 GB", "0"),
        ("A100", "80 GB", ""),
        ("合计", "160 GB", "28.64"),
    )
    assert table.numbers == (3, 6, 9, 10)
    assert table.sections == ("北京地域", "北京地域", "上海地域 / 整机", "上海地域 / 整机")
    assert table.notes == ("注：不含税",)
    assert table.counts == RowCounts(header=1, data=4, repeated=1, blank=1, section=4)


@pytest.mark.parametrize("value", ["0", "28.64", "-", "√", "N/A", "支持", "80 GB"])
def test_a_row_of_one_value_is_data_when_the_value_is_a_figure_or_a_mark(value: str) -> None:
    assert (value,) * 3 in read(f"A 卡|B 卡|C 卡\n1|2|3\n{value}|{value}|{value}").rows


def test_a_row_that_lacks_its_values_is_no_section() -> None:
    table = read("型号|显存|价格\nH200||\nA100|80 GB|28\nH100|80 GB|60")
    assert table.rows[0] == ("H200", "", "")
    assert set(table.sections) == {""}


def test_a_total_without_values_is_a_row_and_no_section() -> None:
    table = read("型号|显存|价格\nA100|80 GB|28\n合计||\nH100|80 GB|60")
    assert ("合计", "", "") in table.rows
    assert set(table.sections) == {""}


def test_units_that_come_again_with_the_header_on_the_next_page_are_no_data() -> None:
    page = "型号|显存|价格\n|(GB)|(元)\n"
    assert read(f"{page}A100|80|28\n{page}H100|80|60").counts == RowCounts(header=1, data=2, repeated=2, unit=1)


def test_two_equal_cells_of_a_two_column_table_are_data() -> None:
    assert read("名称|别名\nA100|安培卡\nH100|H100\nV100|伏特卡").rows[1] == ("H100", "H100")


def test_a_section_without_rows_below_it_is_kept_as_a_note() -> None:
    assert read("型号|显存|价格\nA100|80|28\n以上价格有效期到月底|以上价格有效期到月底|以上价格有效期到月底").notes == (
        "以上价格有效期到月底",
    )


def test_a_long_sentence_across_the_table_is_a_note_and_not_carried_by_every_row() -> None:
    sentence = "本表价格仅供参考，" * 20
    table = read(f"型号|显存|价格\n{sentence}|{sentence}|{sentence}\nA100|80|28")
    assert table.notes == (sentence,)
    assert table.sections == ("",)


def test_title_and_units_above_the_header_become_caption_and_unit() -> None:
    table = read(
        "GPU 价格|GPU 价格\n单位：元/小时|单位：元/小时\n型号|价\nA100|28\nGPU 价格|GPU 价格\nH100|60", caption="附件一"
    )
    assert (table.caption, table.unit_note) == ("附件一，GPU 价格", "元/小时")
    assert table.counts == RowCounts(header=1, data=2, section=1, unit=1, repeated=1)  # the title printed on page 2


@pytest.mark.parametrize(
    "drawn",
    [
        "显存|80 GB\n功耗|400 W\n带宽|2039 GB/s",
        "型号|A100\n显存|80 GB\n价格|面议",
        "Memory|80 GB\nPower|400 W\nVendor|NVIDIA",
    ],
)
def test_labels_and_values_in_two_columns_stay_rows(drawn: str) -> None:
    table = read(drawn)
    assert table.key_value
    assert len(table.rows) == 3


@pytest.mark.parametrize(
    "drawn", ["型号|价格\nA100|28\nH100|60", "参数|值\n显存|80 GB\n功耗|400 W", "型号|显存\nA100|80 GB\nX|1 TB\nY|2 TB"]
)
def test_two_columns_under_a_header_are_no_labels(drawn: str) -> None:
    assert not read(drawn).key_value


def test_an_empty_markdown_header_over_two_columns_means_labels_and_values() -> None:
    assert read("|\n显存|80 GB", header_rows=1).key_value


def test_a_paragraph_as_header_is_kept_once_and_short_in_the_headers() -> None:
    table = read("型号|" + "说明" * 300 + "\nA100|28\nH100|60")
    assert len(table.headers[1]) < 120
    assert table.notes == ("说明" * 300,)


def test_no_rows_and_no_columns_are_no_error() -> None:
    assert tabulate(Grid((), ())).counts.total == 0
    assert tabulate(Grid(((), ()), (1, 2))).counts == RowCounts(blank=2)


def test_rows_that_do_not_add_up_are_refused_with_both_numbers() -> None:
    with pytest.raises(FileRefusedError, match=r"价格.xlsx.*9 行.*8 行.*has 9 and 8") as refusal:
        check_rows(8, 9, "价格.xlsx")
    assert refusal.value.code == "rows-lost"


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("单位：元/小时", "元/小时"),
        ("（单位:万元）", "万元"),
        ("Unit: USD", "USD"),
        ("**货币单位：美元**", "美元"),
        ("单位很多", ""),
        ("下单位置：北京", ""),
    ],
)
def test_unit_notes(text: str, unit: str) -> None:
    assert unit_note_of(text) == unit


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("显卡", "zh"),
        ("A100 GPU", "en"),
        ("GPU = NVIDIA GeForce RTX 4090; price of it", "en"),
        ("型号 = A100", "zh"),
        ("1 | 2", "zh"),
    ],
)
def test_language_by_letters(text: str, language: str) -> None:
    assert language_of(text, "zh") == language


CELL = st.sampled_from(["", "", "0", "28.64", "80 GB", "A100", "型号", "价格", "北京地域", "（元）", "GB", "单位：元", "合计", "-", "a|b", "x; y", "2024", "注：无"])  # fmt: skip


@st.composite
def grids(draw: st.DrawFn) -> Grid:
    columns = draw(st.integers(1, 4))
    one = CELL.map(lambda cell: (cell,) * columns)
    rows = draw(st.lists(st.one_of(st.tuples(*[CELL] * columns), one), max_size=12))
    header_rows = draw(st.one_of(st.none(), st.integers(0, 3)))
    return Grid(tuple(rows), tuple(range(1, len(rows) + 1)), header_rows=header_rows, place=Place("page", "2"))


@given(grids())
@settings(max_examples=300)
def test_every_row_has_one_role_and_no_word_is_lost(made: Grid) -> None:
    table = tabulate(made)
    assert table.counts.total == len(made.rows)
    assert len(table.rows) == len(table.numbers) == len(table.sections) == table.counts.data
    for number, row in zip(table.numbers, table.rows, strict=True):
        width = len(row)
        assert made.rows[number - 1][:width] == row
        assert not any(made.rows[number - 1][width:])
    said = " ".join([table.caption, table.unit_note, *table.headers, *table.sections, *table.notes])
    said += " ".join(cell for row in table.rows for cell in row)
    for row in made.rows:
        for cell in row:
            assert cell.strip("（）").removeprefix("单位：") in said or cell == "-"  # no unit
