"""HTML as blocks: spans, nested and hidden tables, and figures that must not change on the way."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ingest.blocks import Block, FileRefusedError, Grid, Heading, Place, Text
from ingest.html_inline import BLOCKS
from ingest.read_html import html_blocks, html_words, read


def grids(html: str) -> list[Grid]:
    """The grids, after checking that as many rows stand in the tree as in them."""
    blocks, table_rows = html_blocks(html)
    found = [block for block in blocks if isinstance(block, Grid)]
    assert table_rows == sum(len(grid.rows) for grid in found)
    return found


def texts(html: str) -> list[str]:
    return [block.markdown for block in html_blocks(html)[0] if isinstance(block, Text)]


def rows(html: str) -> list[list[str]]:
    (grid,) = grids(html)
    assert grid.numbers == tuple(range(1, len(grid.rows) + 1))
    return [list(row) for row in grid.rows]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<table><tr><td>a<td>b<tr><td>1<td>2</table>", [["a", "b"], ["1", "2"]]),
        ("<table><tr><td>a<td rowspan=2>b<tr><td>1</table>", [["a", "b"], ["1", "b"]]),
        ("<table><tr><td colspan=2>a<tr><td>1<td>2</table>", [["a", "a"], ["1", "2"]]),
        # a rowspan past the end of the table, of its group, and until the end of the group
        ("<table><tr><td rowspan=99>a<td>1<tr><td>2</table>", [["a", "1"], ["a", "2"]]),
        (
            "<table><thead><tr><th rowspan=9>a<th>b<tbody><tr><td>1<td>2</table>",
            [["a", "b"], ["1", "2"]],
        ),
        (
            "<table><tbody><tr><td rowspan=0>a<td>1<tr><td>2<tbody><tr><td>x<td>3</table>",
            [["a", "1"], ["a", "2"], ["x", "3"]],
        ),
        # a span wider than the table makes no columns of its own, nor one that no row divides
        ("<table><tr><td colspan='100%'>t<tr><td>1<td>2</table>", [["t", "t"], ["1", "2"]]),
        ("<table><tr><td colspan=2>a<td>b<tr><td colspan=2>1<td>2</table>", [["a", "b"], ["1", "2"]]),
        ("<table><tr><td colspan=0>a<td rowspan=-1>b<tr><td colspan=x>1<td>2</table>", [["a", "b"], ["1", "2"]]),
        # short rows, a row without cells that a span counts, cells without a row, rows inside a form
        ("<table><tr><td>a<td>b<tr><td>1</table>", [["a", "b"], ["1", ""]]),
        ("<table><tr><td rowspan=2>a<td>b</tr><tr></tr><tr><td>1<td>2</table>", [["a", "b"], ["1", "2"]]),
        ("<table><td>1</td><td>2</td></table>", [["1", "2"]]),
        ("<table><form><tr><td>1<td>2</tr></form></table>", [["1", "2"]]),
        # rows and cells inside an element that is never closed
        ("<table><tr><td><div>a<tr><td>1<td><div>2<tr><td>3<td>4</table>", [["a", ""], ["1", "2"], ["3", "4"]]),
        ("<table><caption><td>1<td>2</table>", [["1", "2"]]),
        # the foot stands before the body in the file, below it on the page
        ("<table><tfoot><tr><td>sum<td>3<tbody><tr><td>a<td>3</table>", [["a", "3"], ["sum", "3"]]),
        # zero is a value, empty is none
        ("<table><tr><td>0<td>0.0<td>0%<td><td> &nbsp;</table>", [["0", "0.0", "0%", "", ""]]),
        # overlapping spans lose neither text
        (
            "<table><tr><td>a<td rowspan=2>b<td>c<tr><td colspan=3>wide</table>",
            [["a", "b", "c"], ["wide", "wide", "wide"]],
        ),
    ],
)
def test_spans_and_broken_markup_give_the_grid_that_a_browser_shows(html: str, expected: list[list[str]]) -> None:
    assert rows(html) == expected


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("80&nbsp;GB<br>HBM2e", "80 GB HBM2e"),
        ("<b>A</b>100", "A100"),
        ("<p>a</p><p>b</p>", "a b"),
        ("28.64<sup>1</sup>", "28.64^1"),
        ("28.64<sup>[1]</sup>", "28.64[1]"),
        ("10<sup>15</sup> FLOP", "10^15 FLOP"),
        ("10<sup>−3</sup>", "10^−3"),
        ("log<sub>2</sub>", "log2"),
        ("312<sub>2</sub>", "312_2"),
        ("4<sup>th</sup>", "4th"),
        ("<s>40.00</s> 28.64", "~~40.00~~ 28.64"),
        ("<s>40.00</s><del>39</del> ~~~~ 28.64<s></s>", "~~40.0039~~ ~~~~ 28.64"),
        # a comment or a character reference inside a text, a ruby reading beside it
        ("28<!-- was 29 -->.6&#52; <ruby>显<rt>xian</rt></ruby>卡", "28.64 显卡"),
        ("<span style='display: none'>7004</span>40", "40"),
        ("<span hidden>x</span>y<script>z</script><style>w</style>", "y"),
        ("价格\n  含税", "价格含税"),
        ("price\n incl.", "price incl."),
        ("<img alt='yes' src=x>", ""),
        ("<a href='http://x'>link</a> &lt;b&gt; &#20215;", "link <b> 价"),
        ("1\u200b0\u00ad0", "100"),
        ("<input type=checkbox checked> ECC <input type=text value=1>", "☑ ECC"),
        ("<!-- 99 -->1", "1"),
        ("<select><option>1<option>2</select>3", "3"),
        ("<ul><li>a<li>b</ul>", "a b"),
    ],
)
def test_a_cell_keeps_its_words_and_no_figure_changes(cell: str, expected: str) -> None:
    assert rows(f"<table><tr><td>{cell}</td><td>end</td></tr></table>") == [[expected, "end"]]


@pytest.mark.parametrize(
    ("html", "header_rows"),
    [
        ("<table><thead><tr><th>a<th>b<tr><th>c<th>d<tbody><tr><td>1<td>2</table>", 2),
        ("<table><thead><tr><td>a<td>b<tbody><tr><td>1<td>2</table>", 1),
        ("<table><tr><th>a<th>b<tr><td>1<td>2</table>", 1),
        ("<table><tr><th>a<th colspan=2>p<tr><th>b<th>h<th>d<tr><th>x<td>2<td>3</table>", 2),
        ("<table><tr><th>a<td>1<tr><th>b<td>2</table>", None),
        ("<table><tr><th scope=row>a<tr><th scope=row>b<tr><td>c</table>", None),
        ("<table><tr><td>a<td>b<tr><td>1<td>2</table>", None),
        ("<table><thead><tr><th>a<th>b<tr><td>1<td>2</table>", 1),  # everything in the head
        ("<table><thead></thead><tr><th>a<th>b<tr><td>1<td>2</table>", 1),
    ],
)
def test_header_rows_are_those_the_markup_says(html: str, header_rows: int | None) -> None:
    (grid,) = grids(html)
    assert grid.header_rows == header_rows


def test_a_nested_table_follows_its_outer_one_and_stands_in_no_cell() -> None:
    outer, inner, innermost = grids(
        "<table><tr><td>a<td>x<table><tr><td>i<td>j<table><tr><td>k<td>l</table></table>y</table>"
    )
    assert outer.rows == (("a", "x y"),)
    assert inner.rows == (("i", "j"),)
    assert innermost.rows == (("k", "l"),)


def test_a_table_for_layout_is_read_as_if_it_were_not_there() -> None:
    blocks, table_rows = html_blocks(
        "<table><tr><td><h2>Box</h2>words<table><tr><th>a<th>b<tr><td>1<td>2</table></td></tr></table>"
        "<table role=presentation><tr><td>left<td><table><tr><td>3<td>4</table></table>"
    )
    assert [type(block) for block in blocks] == [Heading, Text, Grid, Text, Grid]
    assert table_rows == 3


def test_a_table_is_kept_where_text_is_left_out() -> None:
    hidden = "<{0}>gone<table><tr><td>kept<td>1</table></{1}>"
    for tag in ("nav nav", "div+hidden div", "div+style='display:none' div", "noscript noscript"):
        opening, closing = tag.split(" ")
        html = hidden.format(opening.replace("+", " "), closing)
        assert [grid.rows for grid in grids(html)] == [(("kept", "1"),)], html
        assert texts(html) == [], html


def test_text_and_caption_in_a_table_are_not_lost() -> None:
    blocks, _ = html_blocks("<table>stray<caption>表 1 <b>价格</b></caption><tr><td>1<td>2</table>")
    assert isinstance(blocks[1], Grid)
    assert (blocks[0], blocks[1].caption) == (Text("stray"), "表 1 价格")
    (figure,) = html_blocks("<figure><table><tr><td>1<td>2</table><figcaption>Table 2</figcaption></figure>")[0]
    assert isinstance(figure, Grid)
    assert figure.caption == "Table 2"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>表 1 价格<table><tr><td>1<td>2</table>after", ["表 1 价格", "after"]),
        ("<div>one<br>two<br><br>three</div>", ["one\ntwo", "three"]),
        ("<ul><li>a<ul><li>b</ul></li><li><p>c</p></ul>", ["- a\n  - b\n- c"]),
        ("<ol start=3><li>x<ol><li>y</ol><li>z</ol>", ["3. x\n   1. y\n4. z"]),
        ("<dl><dt>显存<dd>80 GB<dd>HBM<dt>功耗<dd>0</dl>", ["- 显存: 80 GB; HBM\n- 功耗: 0"]),
        ("<blockquote><p>a<p>b</blockquote>", ["> a\n>\n> b"]),
        ("<pre>a  |b\n  c```</pre>", ["````\na  |b\n  c```\n````"]),
        ("<pre><code>| a |\n|---|</code></pre>", ["```\n| a |\n|---|\n```"]),
        ("<p>x <code>a*b</code> 4*72*28</p>", ["x a*b 4*72*28"]),
        ("<ul><li>a<table><tr><td>1<td>2</table></ul>", ["a"]),
        ("<footer>© 2024 A</footer><article><footer>by B</footer></article>", ["by B"]),
        ("<footer><p>Prices without tax.</p></footer>", ["Prices without tax."]),
        ("<tr><td>loose</td></tr>", ["loose"]),
        ("<template><table><tr><td>{{a}}<td>{{b}}</table></template>x", ["x"]),
        ("<math><mi>x</mi></math>y<svg><text>z</text></svg>", ["y"]),
    ],
)
def test_texts_become_markdown_in_reading_order(html: str, expected: list[str]) -> None:
    assert texts(html) == expected


def test_order_headings_and_place() -> None:
    blocks, _ = html_blocks(
        "<h1>A <em>b</em></h1>t<h3>C</h3><table><tr><td>1<td>2</table><h2> </h2>", Place("page", "3")
    )
    place = Place("page", "3")
    assert blocks == [
        Heading(1, "A b", place),
        Text("t", place),
        Heading(3, "C", place),
        Grid((("1", "2"),), (1,), "", None, place),
    ]


def test_deep_nesting_loses_nothing() -> None:
    html = "<div>" * 700 + "deep<table><tr><td>1<td>2</table>" + "</div>" * 700 + "after"
    assert texts(html) == ["deep", "after"]
    assert len(grids(html)) == 1


def test_lists_nested_beyond_reason_are_refused() -> None:
    with pytest.raises(FileRefusedError) as refused:
        html_blocks("<ul><li>" * 2000 + "x")
    assert refused.value.code == "broken"


@pytest.mark.parametrize("row", ["<td colspan=1000>x</td>" * 5000, "<td rowspan=65534 colspan=1000>x</td>" * 900])
def test_absurd_spans_are_refused_before_they_fill_the_memory(row: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingest.html_tables.CELLS_AT_MOST", 100_000)
    with pytest.raises(FileRefusedError) as refused:
        html_blocks("<table>" + f"<tr>{row}</tr>" + "<tr><td>1</td></tr>" * 50 + "</table>")
    assert refused.value.code == "too-large"


def test_a_rowspan_may_leave_the_head_of_a_word_table() -> None:
    html = "<table><thead><tr><th rowspan=2>a<th>b<tbody><tr><td>1</table>"
    (block,) = html_blocks(html, spans_cross_groups=True)[0]
    assert isinstance(block, Grid)
    assert block.rows == (("a", "b"), ("a", "1"))


def test_a_file_has_a_title_and_the_encoding_it_declares() -> None:
    page = (
        '<html><head><meta charset="gb2312"><title>价格 表</title></head><body><h1>标题</h1><p>显卡</p></body></html>'
    )
    assert read(page.encode("gb18030"), "a.html").title == "价格 表"
    assert read(page.replace("<title>价格 表</title>", "").encode("gbk"), "a.html").title == "标题"
    assert read(b"<p>x", "folder/a.html").title == "a"
    xhtml = (
        '<?xml version="1.0" encoding="big5"?><html xmlns="http://www.w3.org/1999/xhtml"><p>顯示卡租用價格</p></html>'
    )
    assert read(xhtml.encode("big5"), "a.xhtml").blocks == (Text("顯示卡租用價格"),)
    assert read(b"hello.html", "a.html").blocks == (Text("hello.html"),)


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"<html><body><div id=root></div><script>x()</script></body></html>", "empty"),
        (b"", "empty"),
        (b"MIME-Version: 1.0\n<html>", "wrong-type"),
        (b"\x00\x01<html>", "broken"),
    ],
)
def test_a_page_without_words_or_of_another_kind_is_refused(content: bytes, code: str) -> None:
    with pytest.raises(FileRefusedError) as refused:
        read(content, "page.html")
    assert refused.value.code == code
    assert refused.value.zh
    assert refused.value.en


def test_words_of_a_fragment() -> None:
    assert html_words("10<sup>15</sup><br>次") == "10^15 次"


@st.composite
def tiled_tables(draw: st.DrawFn) -> tuple[str, list[list[str]]]:
    """HTML of a rectangle tiled by cells of random spans, and its grid."""
    height, width = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    grid: list[list[str | None]] = [[None] * width for _ in range(height)]
    started_rows, started_columns = set[int](), set[int]()
    html = ["<table>"]
    for row in range(height):
        html.append("<tr>")
        for column in range(width):
            if grid[row][column] is not None:
                continue
            free = next((c for c in range(column, width) if grid[row][c] is not None), width) - column
            columns, lines = draw(st.integers(1, free)), draw(st.integers(1, height - row))
            text = draw(st.sampled_from(["", "0", "0%", "显卡", "28.64", "a b"])) + f"#{row}.{column}"
            for r in range(row, row + lines):
                grid[r][column : column + columns] = [text] * columns
            started_rows.add(row)
            started_columns.add(column)
            tag = draw(st.sampled_from(["td", "th"]))
            html.append(f"<{tag} rowspan={lines} colspan={columns}>{text}</{tag}>")
        html.append("</tr>")
    assume(sum(part.startswith(("<td", "<th")) for part in html) > 1)
    expected = [[grid[row][column] or "" for column in sorted(started_columns)] for row in sorted(started_rows)]
    return "".join([*html, "</table>"]), expected


@settings(max_examples=80, deadline=None)
@given(tiled_tables())
def test_any_tiling_by_spans_comes_back_as_its_grid(case: tuple[str, list[list[str]]]) -> None:
    html, expected = case
    assert rows(html) == expected


TAGS = [
    "table",
    "tr",
    "td",
    "th",
    "thead",
    "tbody",
    "tfoot",
    "caption",
    "div",
    "p",
    "ul",
    "li",
    "h2",
    "nav",
    "span",
    "pre",
    "dl",
    "dt",
    "dd",
]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from([*TAGS, *(f"/{tag}" for tag in TAGS), "word"]), max_size=40))
def test_tag_soup_never_crashes_and_its_table_rows_agree(tags: list[str]) -> None:
    html = "".join(f"w{number} " if tag == "word" else f"<{tag}>" for number, tag in enumerate(tags))
    blocks, table_rows = html_blocks(html)
    assert table_rows == sum(len(block.rows) for block in blocks if isinstance(block, Grid))
    if "nav" not in tags:
        kept = re.findall(r"w\d+", " ".join(_words(block) for block in blocks))
        assert {f"w{number}" for number, tag in enumerate(tags) if tag == "word"} <= set(kept)


def _words(block: Block) -> str:
    if isinstance(block, Grid):
        return " ".join([block.caption, *(cell for row in block.rows for cell in row)])
    return block.markdown if isinstance(block, Text) else block.text


def test_every_element_name_of_the_block_list_is_one_name() -> None:
    assert all(name.isalnum() for name in BLOCKS)
