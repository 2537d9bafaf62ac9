"""Markdown as blocks: tables that GitHub would shorten, and stars between figures."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.blocks import Block, FileRefusedError, Grid, Heading, Parsed, Place, Text
from ingest.read_markdown import read


def parsed(markdown: str) -> Parsed:
    """The document, after checking that as many rows were counted as are in its grids."""
    found = read(markdown.encode(), "folder/name.md")
    assert found.table_rows == sum(len(block.rows) for block in found.blocks if isinstance(block, Grid))
    return found


def grid(markdown: str) -> Grid:
    (found,) = [block for block in parsed(markdown).blocks if isinstance(block, Grid)]
    return found


def at(line: int) -> Place:
    return Place("line", str(line))


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("| a | b |\n|---|:-:|\n| 1 | 0 |", [["a", "b"], ["1", "0"]]),
        ("a | b\n--|--\n1 | 0%", [["a", "b"], ["1", "0%"]]),
        ("|a|\n|-|\n|1|", [["a"], ["1"]]),
        # marks in cells, a link defined elsewhere, and no strike where four tildes are written
        ("|a|\n|-|\n|**1** [x][y] \\~~~~|\n\n[y]: /z", [["a"], ["1 x ~~~~"]]),
        ("| a | b |\n|---|---|\n| x\\|y | 2 |", [["a", "b"], ["x|y", "2"]]),
        ("| a | b |\n|---|---|\n| `x\\|y` | 2 |", [["a", "b"], ["x|y", "2"]]),
        # a pipe in a code span that would part the cell: not where the row then fits the header
        ("| a | b |\n|---|---|\n| `x|y` | 2 |", [["a", "b"], ["x|y", "2"]]),
        # more cells than the header are kept, fewer filled
        ("| a | b |\n|---|---|\n| 1 | 2 | 3 | 4 |", [["a", "b", "", ""], ["1", "2", "3", "4"]]),
        ("| a | b |\n|---|---|\n| 1 |", [["a", "b"], ["1", ""]]),
        ("a | b\n--|--\n1 | 2 | 3", [["a", "b", ""], ["1", "2", "3"]]),
        ("| | b |\n|---|---|\n| 1 | |", [["", "b"], ["1", ""]]),
        ("| a | b |\n|---|---|\n| x<br>y | **z** |", [["a", "b"], ["x y", "z"]]),
        ("| a | b |\n|---|---|\n| 10<sup>15</sup> | ~~40~~ 28 |", [["a", "b"], ["10^15", "~~40~~ 28"]]),
        # a star between figures is no emphasis
        ("| a | b |\n|---|---|\n| 4*72*28.64 | 2*3<br>4*5 |", [["a", "b"], ["4*72*28.64", "2*3 4*5"]]),
        ("| a | b |\n|---|---|\n| [x](http://y) ![i](z) | &lt;1 \\* |", [["a", "b"], ["x", "<1 *"]]),
        ("> | a | b |\n> |---|---|\n> | 1 | 2 | 3 |", [["a", "b", ""], ["1", "2", "3"]]),
        ("- x\n\n  | a | b |\n  |---|---|\n  | 1 | 2 | 3 |", [["a", "b", ""], ["1", "2", "3"]]),
        ("<table><tr><td>1<td rowspan=2>2<tr><td>3</table>", [["1", "2"], ["3", "2"]]),
        # blank lines end an HTML block of Markdown, not the table
        ("<table>\n\n<tr>\n<td>1</td>\n\n    <td>2</td></tr>\n\n</table>", [["1", "2"]]),
        ("价格：<table><tr><td>1</td><td>2</td></tr></table>", [["1", "2"]]),
        ("| a | b |\r\n|---|---|\r\n| 1 | 2 |\r\n", [["a", "b"], ["1", "2"]]),
    ],
)
def test_a_table_keeps_every_cell(table: str, expected: list[list[str]]) -> None:
    found = grid(table)
    assert [list(row) for row in found.rows] == expected
    assert found.numbers == tuple(range(1, len(expected) + 1))


def test_blocks_and_their_lines() -> None:
    assert parsed(
        "# 价格 *表*\r\n\r\n表 1 租用价格\r\n| a | b |\r\n|---|---|\r\n| 1 | 2 |\r\n注：含税\r\n\r\n"
        "Setext\r\n---\r\n\r\n- x\r\n  - y\r\n\r\n> q\r\n\r\n```sh\r\n| no | table |\r\n|---|---|\r\n```\r\n##显存\r\n"
    ).blocks == (
        Heading(1, "价格 表", at(1)),
        Text("表 1 租用价格", at(3)),
        Grid((("a", "b"), ("1", "2")), (1, 2), "", 1, at(4)),
        Text("注：含税", at(7)),
        Heading(2, "Setext", at(9)),
        Text("- x\n  - y", at(12)),
        Text("> q", at(15)),
        Text("```sh\n| no | table |\n|---|---|\n```", at(17)),
        Heading(2, "显存", at(21)),
    )


def test_text_after_an_html_table_with_blank_lines_keeps_its_line() -> None:
    blocks = parsed("before\n\n<table>\n<tr><td>1</td>\n\n<td>2</td></tr>\n</table>\n\nafter\n\n<p>html</p>").blocks
    assert [block.place for block in blocks] == [at(1), at(3), at(9), at(11)]
    assert blocks[2] == Text("after", at(9))


def test_an_html_table_that_never_ends_does_not_swallow_the_rest() -> None:
    blocks = parsed("<table>\n<tr><td>1</td><td>2</td></tr>\n\n# Heading\n\ntext").blocks
    assert blocks[1:] == (Heading(1, "Heading", at(4)), Text("text", at(6)))


@pytest.mark.parametrize(
    ("markdown", "title", "first"),
    [
        ("---\ntitle: '价格: 表'\ndate: 2024\n---\ntext", "价格: 表", Text("text", at(5))),
        ('+++\ntitle = "Prices"\n+++\ntext', "Prices", Text("text", at(4))),
        ("\ufeff---\ntags: [a]\n---\n\n# H", "H", Heading(1, "H", at(5))),
        ("---\n\nno front matter\n\n---\n", "name", Text("no front matter", at(3))),
        ("text\n\n## H", "name", Text("text", at(1))),
    ],
)
def test_front_matter_gives_the_title_and_is_no_text(markdown: str, title: str, first: Block) -> None:
    found = parsed(markdown)
    assert (found.title, found.blocks[0]) == (title, first)


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("a line\nand 4*72*28 more", "a line\nand 4*72*28 more"),
        ("x ![chart](data:image/png;base64,AAAA) y", "x ![chart] y"),
        ("#no heading, a tag", "#no heading, a tag"),
        ("| a | b |\n|---|\n| 1 | 2 |", "| a | b |\n|---|\n| 1 | 2 |"),  # as on GitHub: no table, but nothing lost
        ("    code | x\n    y", "    code | x\n    y"),
    ],
)
def test_texts_are_the_source(markdown: str, expected: str) -> None:
    (block,) = parsed(markdown).blocks
    assert block == Text(expected, at(1))


@pytest.mark.parametrize(
    "markdown", ["", "\n \n", "<!-- only a comment -->", "---\ntitle: x\n---\n", "[ref]: http://x"]
)
def test_a_document_without_words_is_empty(markdown: str) -> None:
    with pytest.raises(FileRefusedError) as refused:
        read(markdown.encode(), "a.md")
    assert refused.value.code == "empty"


def escaped(cell: str) -> str:
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", cell).replace("\n", "<br>")


CELLS = st.text(st.sampled_from("|`\\*_~<>&[]()!#-:. \n0123aZ显卡价格，%"), max_size=12)


@settings(max_examples=150, deadline=None)
@given(
    st.integers(1, 4).flatmap(
        lambda width: st.lists(st.lists(CELLS, min_size=width, max_size=width), min_size=1, max_size=5)
    )
)
def test_any_cells_written_as_markdown_come_back(table: list[list[str]]) -> None:
    lines = ["| " + " | ".join(map(escaped, row)) + " |" for row in table]
    lines.insert(1, "|" + "---|" * len(table[0]))
    expected = [[" ".join(cell.split()) for cell in row] for row in table]
    assert [list(row) for row in grid("\n".join(lines)).rows] == expected


@settings(max_examples=150, deadline=None)
@given(st.text(st.sampled_from("|-:`*_#> \n\t<tablerd/>012显"), max_size=80))
def test_any_text_is_read_without_a_crash_and_its_rows_agree(markdown: str) -> None:
    try:
        parsed(markdown)
        code = "read"
    except FileRefusedError as refused:
        code = refused.code
    assert code in ("read", "empty")
