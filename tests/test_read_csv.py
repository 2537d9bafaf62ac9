"""CSV files as they come: any delimiter and encoding, remarks around the table, ragged rows; nothing lost, nothing guessed."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ingest.blocks import FileRefusedError, Grid, Parsed, Place, Text
from ingest.read_csv import read

ROWS = (("GPU", "显存", "价格"), ("A100", "80 GB", "28,64"), ("T4", "16 GB", "4,10"))


def grids(parsed: Parsed) -> list[Grid]:
    return [block for block in parsed.blocks if isinstance(block, Grid)]


def texts(parsed: Parsed) -> list[str]:
    return [block.markdown for block in parsed.blocks if isinstance(block, Text)]


def only_grid(text: str, name: str = "prices.csv") -> Grid:
    parsed = read(text.encode(), name)
    assert [type(block) for block in parsed.blocks] == [Grid]
    (grid,) = grids(parsed)
    assert parsed.table_rows == len(grid.rows)
    return grid


def refused(content: bytes) -> FileRefusedError:
    with pytest.raises(FileRefusedError) as caught:
        read(content, "prices.csv")
    assert caught.value.zh
    assert caught.value.en
    return caught.value


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_delimiter_and_line_end_gives_the_same_grid(delimiter: str, end: str) -> None:
    file = io.StringIO()
    csv.writer(file, delimiter=delimiter, lineterminator=end).writerows(ROWS)
    grid = only_grid(file.getvalue())
    assert grid.rows == ROWS
    assert grid.numbers == (1, 2, 3)
    assert grid.header_rows is None
    assert grid.place == Place("line", "1")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gbk", "gb18030"])
def test_encodings_of_chinese_programs_are_read(encoding: str) -> None:
    text = "显卡,价格\n英伟达 A100 计算卡,每小时二十八元\n"
    (grid,) = grids(read(text.encode(encoding), "价格.csv"))
    assert grid.rows == (("显卡", "价格"), ("英伟达 A100 计算卡", "每小时二十八元"))


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        pytest.param("a;b;c\nH100;1,5;2,3\nT4;0,5;1,1\n", (("a", "b", "c"), ("H100", "1,5", "2,3"), ("T4", "0,5", "1,1")), id="decimal commas"),
        pytest.param("a,notes\nx,p;q\ny,r;s\n", (("a", "notes"), ("x", "p;q"), ("y", "r;s")), id="semicolons in cells"),
        pytest.param("sep=;\na,x;b\n1,2;3\n", (("a,x", "b"), ("1,2", "3")), id="Excel's first line decides"),
        pytest.param("SEP=|\r\na|b\r\n1|2\r\n", (("a", "b"), ("1", "2")), id="its first line in capitals"),
        pytest.param('a,b\n"one\ntwo",3\nx,y\n', (("a", "b"), ("one\ntwo", "3"), ("x", "y")), id="line end in a cell"),
        pytest.param('a,b\n"he said ""24"" wide",3\n', (("a", "b"), ('he said "24" wide', "3")), id="doubled quotes"),
        pytest.param('a,b\n24" rack,3\n', (("a", "b"), ('24" rack', "3")), id="an inch mark inside a bare cell"),
        pytest.param('"a", "b, c"\n"1", "2, 3"\n', (("a", "b, c"), ("1", "2, 3")), id="space before the quote"),
        pytest.param("a,b,c\n1,2\n3\n", (("a", "b", "c"), ("1", "2", ""), ("3", "", "")), id="short rows padded"),
        pytest.param("a,b\n1,2,3,4\n5,6\n", (("a", "b", "", ""), ("1", "2", "3", "4"), ("5", "6", "", "")), id="long rows kept"),
        pytest.param("a,b\n1,2\n\n3,4\n , \n5,6\n", (("a", "b"), ("1", "2"), ("3", "4"), ("5", "6")), id="blank lines"),
        pytest.param("GPU\nA100\nT4\n", (("GPU",), ("A100",), ("T4",)), id="a single column"),
        pytest.param("note\nfast\nslow, but cheap\nold\n", (("note",), ("fast",), ("slow, but cheap",), ("old",)), id="a comma in a single column"),
        pytest.param("note\nfast, new\nold\nslow\nplain\nodd, rare\n", (("note",), ("fast, new",), ("old",), ("slow",), ("plain",), ("odd, rare",)), id="two lines with commas far apart"),
        pytest.param(",A100,T4\n显存,80,16\n价格,28,4\n", (("", "A100", "T4"), ("显存", "80", "16"), ("价格", "28", "4")), id="an empty corner"),
        pytest.param("#,GPU\n1,A100\n2,T4\n", (("#", "GPU"), ("1", "A100"), ("2", "T4")), id="# as a heading"),
        pytest.param(',h\n"",0\n', (("", "h"), ("", "0")), id="quoted nothing"),
        pytest.param('a,b\n"""",1\n', (("a", "b"), ('"', "1")), id="a cell that is a quote"),
    ],
)  # fmt: skip
def test_cells_stand_where_the_file_has_them(text: str, rows: tuple[tuple[str, ...], ...]) -> None:
    assert only_grid(text).rows == rows


def test_numbers_are_lines_of_the_file_even_after_cells_of_several_lines_and_blank_ones() -> None:
    grid = only_grid('sep=,\na,b\n"1\n\n1",2\n\n3,4\n')
    assert grid.numbers == (2, 3, 7)


@pytest.mark.parametrize(
    ("above", "said"),
    [
        ("租用价格，2024 年\n", ["租用价格，2024 年"]),
        ("租用价格,,\n单位：元,,\n", ["租用价格", "单位：元"]),
        ("# source: us, them\n# as of 2024\n", ["source: us, them", "as of 2024"]),
        ("Prices\n\n", ["Prices"]),
    ],
)
def test_titles_and_comments_above_the_headings_are_texts(above: str, said: list[str]) -> None:
    parsed = read((above + "a,b,c\n1,2,3\n4,5,6\n").encode(), "x.csv")
    assert texts(parsed) == said
    (grid,) = grids(parsed)
    assert grid.rows == (("a", "b", "c"), ("1", "2", "3"), ("4", "5", "6"))
    assert grid.numbers[0] == above.count("\n") + 1
    assert parsed.table_rows == 3


def test_remarks_below_the_table_are_texts_but_a_short_last_row_is_a_row() -> None:
    parsed = read("a,b\n1,2\nshort\n\n注：不含税\n".encode(), "x.csv")
    assert texts(parsed) == ["注：不含税"]
    assert grids(parsed)[0].rows[-1] == ("short", "")


def test_a_second_table_of_another_width_is_a_grid_of_its_own() -> None:
    parsed = read(b"a,b\n1,2\n\nSecond\n\nc,d,e\n3,4,5\n6,7,8\n", "x.csv")
    assert [type(block) for block in parsed.blocks] == [Grid, Text, Grid]
    first, second = grids(parsed)
    assert first.rows == (("a", "b"), ("1", "2"))
    assert second.rows == (("c", "d", "e"), ("3", "4", "5"), ("6", "7", "8"))
    assert second.numbers == (6, 7, 8)
    assert parsed.table_rows == 5


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('a,b\n1,2\n"open,3\n4,5\n', 3),
        ('a,b\n"24" rack,3\n', 2),
        ('a,b\n"x\ny",1\n"open,3\n"z",1\n', 4),
    ],
)
def test_quotes_that_do_not_pair_are_refused_with_their_line(text: str, line: int) -> None:
    error = refused(text.encode())
    assert error.code == "broken"
    assert f"第 {line} 行" in error.zh
    assert f"Line {line} " in error.en


@pytest.mark.parametrize("content", [b"a,b\n", b"", b"\n\n", b" , \n,,\n", b"GPU\n", b"sep=;\n"])
def test_a_heading_without_rows_is_empty(content: bytes) -> None:
    assert refused(content).code == "empty"


@pytest.mark.parametrize("content", [b"a,b\n1,\0\n", "a,b\n1,\0\n".encode("utf-16")])
def test_nul_characters_are_refused(content: bytes) -> None:
    assert refused(content).code in ("broken", "wrong-type")


def test_a_cell_longer_than_the_csv_module_takes_by_default() -> None:
    assert only_grid(f"a,b\n{'x' * 200_000},1\n").rows[1] == ("x" * 200_000, "1")


def test_a_hundred_thousand_rows_all_arrive() -> None:
    grid = only_grid("n,double\n" + "".join(f'{number},"{2 * number}"\n' for number in range(100_000)))
    assert len(grid.rows) == 100_001
    assert grid.rows[-1] == ("99999", "199998")


# No other delimiter, no space at the start, no lone row that a title would be.
CELLS = st.text(st.sampled_from("abc甲乙\"'\n é.,:0")).map(lambda cell: f"x{cell}")
TABLES = st.integers(2, 5).flatmap(
    lambda width: st.lists(st.lists(CELLS, min_size=width, max_size=width), min_size=2, max_size=8)
)


@settings(max_examples=60, deadline=None)
@given(TABLES, st.sampled_from(",;\t|"))
@example([["x", "x", "x"], ["x", "x,\n,", "x\n,"]], ";")
def test_what_the_csv_module_writes_comes_back(table: list[list[str]], delimiter: str) -> None:
    file = io.StringIO()
    csv.writer(file, delimiter=delimiter, quoting=csv.QUOTE_ALL).writerows(table)
    parsed = read(file.getvalue().encode(), "x.csv")
    (grid,) = grids(parsed)
    assert [list(row) for row in grid.rows] == table
    assert parsed.table_rows == len(table)


@settings(max_examples=60, deadline=None)
@given(st.text(st.sampled_from('ab,;\t|"\n\r #甲=')))
def test_of_any_text_every_letter_arrives_or_it_is_refused(text: str) -> None:
    try:
        parsed = read(text.encode(), "x.csv")
    except FileRefusedError:
        return
    said = "".join(texts(parsed)) + "".join(cell for grid in grids(parsed) for row in grid.rows for cell in row)
    assert sum(map(said.count, "ab甲=")) == sum(map(text.count, "ab甲="))
    assert parsed.table_rows == sum(len(grid.rows) for grid in grids(parsed))
