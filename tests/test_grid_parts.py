"""One grid that is more: a form above a heading, tables without a gap; and all that only looks like it stays whole."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.blocks import Grid, Place
from ingest.grid_parts import parts_of

HEADING = "型号|数量|单价|金额"
DATA = "H100|8|250000|2000000"


def grid(*lines: str, header_rows: int | None = None, place: Place | None = None) -> Grid:
    rows = [line.split("|") for line in lines]
    width = max(map(len, rows))
    padded = tuple(tuple(row + [""] * (width - len(row))) for row in rows)
    return Grid(padded, tuple(range(1, len(rows) + 1)), header_rows=header_rows, place=place or Place())


@pytest.mark.parametrize(
    ("lines", "form", "kept"),
    [
        (["客户|甲公司", "日期|2025-03-01", HEADING, DATA], ["客户 | 甲公司", "日期 | 2025-03-01"], [3, 4]),
        (["客户|甲公司", HEADING, DATA], ["客户 | 甲公司"], [2, 3]),
        (["客户：|甲公司|日期：|2025-03-01", HEADING, DATA], ["客户： | 甲公司 | 日期： | 2025-03-01"], [2, 3]),
        (["客户|甲公司|联系人|张三", HEADING, DATA], ["客户 | 甲公司 | 联系人 | 张三"], [2, 3]),
        (["报价单|报价单|报价单|报价单", "客户|甲公司|甲公司", HEADING, DATA], ["客户 | 甲公司"], [1, 3, 4]),
        (["客户|甲公司", "", HEADING, DATA], ["客户 | 甲公司", ""], [3, 4]),
        (
            ["Customer|Acme", "Ref|Q-17", "Date|2025-03-01", "GPU|Count|Price|Sum", DATA],
            ["Customer | Acme", "Ref | Q-17", "Date | 2025-03-01"],
            [4, 5],
        ),
    ],
)
def test_a_form_above_the_heading_is_told_apart(lines: list[str], form: list[str], kept: list[int]) -> None:
    parts = parts_of(grid(*lines))
    assert list(parts.form) == form
    assert [list(part.numbers) for part in parts.grids] == [kept]


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param(["GPU|价格|价格", "GPU|按需|包月", "A100|28|9000"], id="heading of two rows, merged"),
        pytest.param(["GPU|价格|", "|按需|包月", "A100|28|9000"], id="heading of two rows, saved with blanks"),
        pytest.param(["GPU|Paris|", "Model|hour|month", "A100|28|9000"], id="heading of two rows, both full of words"),
        pytest.param(["客户|型号|数量", "甲公司|H100|8"], id="a heading that begins with a form's label"),
        pytest.param(["客户|甲公司", "日期|2025-03-01", "电话|123"], id="a form and nothing else"),
        pytest.param(["参数|RTX 4090|A100", "显存|24|80", "接口|PCIe|SXM", "功耗|450|400"], id="words among figures"),
        pytest.param(["型号|显存|单价", "A100|80|28", "H100|八十|面议", "L4|24|5"], id="a row of words for figures"),
        pytest.param(["GPU|Price", "A100|1.8", "H100|contact us", "L4|0.7"], id="a price in words"),
        pytest.param(["GPU|Price", "A100|1.8", "GPU|Price", "L4|0.7"], id="the same heading again"),
        pytest.param(["价格"], id="one cell"),
        pytest.param(["", "", ""], id="blank"),
    ],
)
def test_what_only_looks_like_several_parts_stays_one(lines: list[str]) -> None:
    assert parts_of(grid(*lines)).grids == (grid(*lines),)


def test_a_marked_heading_is_believed() -> None:
    whole = grid("客户|甲公司", "日期|2025-03-01", HEADING, DATA, header_rows=1)
    assert parts_of(whole).form == ()


@pytest.mark.parametrize(
    ("lines", "numbers"),
    [
        (["GPU|Price (USD)", "A100|1.8", "GPU|Price (EUR)", "H100|2.5"], [[1, 2], [3, 4]]),
        (["项目|A机房|B机房", "电价|0.6|0.7", "型号|数量|单价", "H100|8|250000"], [[1, 2], [3, 4]]),
        (
            ["GPU|Price (USD)", "A100|1", "GPU|Price (EUR)", "A100|2", "GPU|Price (CNY)", "A100|3"],
            [[1, 2], [3, 4], [5, 6]],
        ),
        (["客户|甲公司", "型号|数量|单价", "H100|8|250000", "型号|数量|月租", "H100|8|9000"], [[2, 3], [4, 5]]),
    ],
)
def test_another_heading_begins_another_table(lines: list[str], numbers: list[list[int]]) -> None:
    whole = grid(*lines, place=Place("line", "1"))
    parts = parts_of(whole)
    assert [list(part.numbers) for part in parts.grids] == numbers
    assert [part.place.label for part in parts.grids] == [str(first) for first, *_ in numbers]


CELLS = st.sampled_from(
    ["客户", "甲公司", "日期", "2025-03-01", "型号", "数量", "单价", "GPU", "Price", "8", "1.5", "", "A100"]
)


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 4).flatmap(lambda width: st.lists(st.lists(CELLS, min_size=width, max_size=width), max_size=9)))
def test_every_row_is_in_the_form_or_in_one_table(rows: list[list[str]]) -> None:
    whole = Grid(tuple(map(tuple, rows)), tuple(range(1, len(rows) + 1)))
    parts = parts_of(whole)
    numbers = [number for part in parts.grids for number in part.numbers]
    assert len(parts.form) + len(numbers) == len(rows)
    assert sorted(set(numbers)) == numbers
