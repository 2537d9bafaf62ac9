"""Plain text as paragraphs with their lines, and headings only where nothing else can be meant."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.blocks import FileRefusedError, Heading, Place, Text
from ingest.read_text import read


def shown(text: str) -> list[tuple[str, str]]:
    """(line, text) of each block; a heading begins with its level's number of #."""
    parsed = read(text.encode(), "name.txt")
    assert parsed.table_rows == 0
    found = []
    for block in parsed.blocks:
        assert isinstance(block, (Heading, Text))
        assert block.place.kind == "line"
        text = block.markdown if isinstance(block, Text) else "#" * block.level + " " + block.text
        found.append((block.place.label, text))
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("one\ntwo\n\n\nthree\n", [("1", "one\ntwo"), ("5", "three")]),
        ("one\r\n\r\ntwo\rmore", [("1", "one"), ("3", "two\nmore")]),
        ("第一段。\n第二段。\n", [("1", "第一段。"), ("2", "第二段。")]),
        ("显卡\n价格 0 元\n", [("1", "显卡"), ("2", "价格 0 元")]),
        ("\u3000\u3000一段开头，\n续行\n\u3000\u3000二段", [("1", "一段开头，续行"), ("3", "二段")]),
        ("a" * 130 + "\n" + "b" * 20, [("1", "a" * 130), ("2", "b" * 20)]),
        (
            "这一行有二十多个汉字并且没有句号因为它被固定宽度截断\n了所以下面还有一行同样长度的文字继续写下去直到最后结束\n"
            "第三行也是同样的宽度所以三行是同一个段落不应该拆散掉\n结束。",
            [
                (
                    "1",
                    "这一行有二十多个汉字并且没有句号因为它被固定宽度截断了所以下面还有一行同样长度的文字继续写下去直到最后结束"
                    "第三行也是同样的宽度所以三行是同一个段落不应该拆散掉结束。",
                )
            ],
        ),
        ("- item\n  more\n- next", [("1", "- item\nmore\n- next")]),
        ("A100\t80\nH20\t96", [("1", "A100\t80\nH20\t96")]),
        ("\x0cx\x0cy\nz", [("1", "x y\nz")]),
        ("text\x1a", [("1", "text")]),
    ],
)
def test_paragraphs_and_their_lines(text: str, expected: list[tuple[str, str]]) -> None:
    assert shown(text) == expected


@pytest.mark.parametrize(
    ("text", "headings"),
    [
        ("第一章 总则\n正文。\n第二节　范围\n正文。", ["# 第一章 总则", "## 第二节 范围"]),
        ("第一章\n\n正文", ["# 第一章"]),
        ("第3章：价格\n正文", ["# 第3章：价格"]),
        ("第一章总则\n正文", ["# 第一章总则"]),
        ("第一章讲的是显卡，第二章讲价格。", []),
        ("第一部手机很贵", []),
        ("第一节课", []),
        (
            "1.1 Scope\n\ntext\n\n1.2 Prices\n\ntext\n\n1.2.1 Rental\n\ntext",
            ["## 1.1 Scope", "## 1.2 Prices", "### 1.2.1 Rental"],
        ),
        # figures with a unit, alone on their line, are none
        ("intro\n\n3.5 元/小时\n\n28.64 yuan\n\n4.2 GHz", []),
        ("1.1 Scope\n\n3.5 yuan per hour\n\n1.2 Prices", ["## 1.1 Scope", "## 1.2 Prices"]),
        ("1.1 yuan\n\ntext", []),
        ("1.1 Scope\ntext below without a blank line\n\n1.2 Prices\ntext", []),
        ("1. Buy a card\n\n2. Rent it", []),
        ("2024.1 发布", []),
    ],
)
def test_only_unmistakable_headings(text: str, headings: list[str]) -> None:
    assert [line for _, line in shown(text) if line.startswith("#")] == headings


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("GPU 选型  指南\n\n正文。", "GPU 选型 指南"),
        ("价格是 3 元。\n\n正文。", "name"),
        ("one line", "name"),
        ("two\nlines\n\nmore", "name"),
    ],
)
def test_title_is_a_short_first_line_that_stands_alone(text: str, title: str) -> None:
    assert read(text.encode(), "folder/name.txt").title == title


def test_other_encodings() -> None:
    assert read("显卡租用价格\n每小时三元".encode("gbk"), "a.txt").blocks == (
        Text("显卡租用价格", Place("line", "1")),
        Text("每小时三元", Place("line", "2")),
    )


@pytest.mark.parametrize(
    ("content", "code"),
    [(b"", "empty"), (b" \n\t\r\n", "empty"), ("\u3000\n\ufeff".encode(), "empty"), (bytes(40), "wrong-type")],
)
def test_nothing_to_read_is_refused(content: bytes, code: str) -> None:
    with pytest.raises(FileRefusedError) as refused:
        read(content, "a.txt")
    assert refused.value.code == code


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.sampled_from(["价格", "第一章 x", "1.1 A", "1.2 B", "word", "", " ", "\u3000\u3000段", "0", "long " * 30]),
        max_size=12,
    )
)
def test_no_word_is_lost_whatever_the_lines(lines: list[str]) -> None:
    text = "\n".join(lines)
    if text.strip():
        joined = "".join(line.removeprefix("#").lstrip("# ") for _, line in shown(text))
        assert "".join(joined.split()) == "".join(text.split())
