"""Markdown as Slack's rich text: styles beside Chinese, nothing that mentions anybody, no text lost, limits kept."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from assistant.slack.answers import draft_blocks, notice, stream_text
from assistant.slack.inline_text import plain
from assistant.slack.packing import packed
from assistant.slack.rich_text import Grid, Rich, parts
from assistant.slack.safe_marks import HAIR_SPACE
from assistant.slack.tables import table_blocks
from evals.slack_limits import faults

PIECES = st.sampled_from(
    ["**价格：**100 元", "**A100**比", "3*4*5", "`a|b`", "<!channel>", "<@U1>", "&lt;b&gt;", "```\ncode <@U1>\n```", "\n\n",
     "\n- item\n  - nested\n", "\n1. one\n2. two\n", "\n> 引用 **粗**\n", "**unbalanced", "🚀👨‍👩‍👧", "1,234.56", "| a | b |\n|---|--:|\n| 1 \\| x | **2** |\n",
     "# 标题\n", "https://a.example/x?y=1", "[x](https://b.example)", "![p](http://x/y.png)", "  \n", "[1]", "字" * 700, "word " * 400, "x" * 3500]
)  # fmt: skip


def _texts(value: Any) -> str:
    if isinstance(value, dict):
        own = value.get("text")
        return (own if isinstance(own, str) else "") + "".join(_texts(v) for k, v in value.items() if k != "text" or not isinstance(v, str))  # fmt: skip
    return "".join(map(_texts, value)) if isinstance(value, list | tuple) else ""


def _solid(text: str) -> str:
    return re.sub(r"[\s\u2013]", "", text)


def _seen(markdown: str) -> str:
    out = []
    for part in parts(markdown):
        if isinstance(part, Rich):
            out.append(part.text)
        elif isinstance(part, Grid):
            out += [plain(cell) for row in (part.headings, *part.rows) for cell in row]
    return "".join(out)


def _fitted(markdown: str) -> str:
    """What is seen, in the order of messages: each table block and each entry of a list says the headings again."""
    out = []
    for part in parts(markdown):
        if isinstance(part, Rich):
            out.append(part.text)
        elif isinstance(part, Grid):
            rows, blocks = iter(part.rows), table_blocks(part)
            for block in blocks:
                out += [plain(cell) for cell in part.headings]
                out += [plain(cell) for _ in block["rows"][1:] for cell in next(rows)]
            out += [plain(cell) for row in rows for pair in zip(part.headings, row, strict=True) for cell in pair]
    return "".join(out)


@settings(max_examples=60, deadline=None)
@given(st.lists(PIECES, max_size=14))
def test_any_markdown_fits_and_loses_no_text(pieces: list[str]) -> None:
    markdown = "".join(pieces)
    messages = packed(parts(markdown))
    for blocks in messages:
        assert faults("chat.postMessage", {"channel": "C1", "text": "x", "blocks": list(blocks)}) == []
    assert _solid(_texts(messages)) == _solid(_fitted(markdown))
    for mark in ("字", "🚀", "code", "item"):
        assert _seen(markdown).count(mark) == markdown.count(mark)
    for message in (draft_blocks(markdown, "working", "en"), notice(markdown)):
        assert faults("chat.update", {"channel": "C1", "ts": "1700000000.000100", "text": message.text, "blocks": list(message.blocks)}) == []  # fmt: skip
    stream_text(markdown)


@pytest.mark.parametrize(
    ("markdown", "bold"),
    [
        ("**价格：**100 元", "价格："),
        ("**A100**比 H100 慢", "A100"),
        ("比**（A100）**快", "（A100）"),
        ("**“便宜”**的卡", "“便宜”"),
        ("the **A100:**best", "A100:"),
    ],
)
def test_bold_beside_chinese_and_punctuation_renders(markdown: str, bold: str) -> None:
    (part,) = parts(markdown)
    assert isinstance(part, Rich)
    assert [e["text"] for e in part.element["elements"] if e.get("style")] == [bold]
    assert f"<strong>{bold}</strong>" in MarkdownIt("commonmark").render(stream_text(markdown)).replace("&quot;", '"')


@pytest.mark.parametrize(
    ("markdown", "seen"),
    [
        ("**1,**000", "1,000"),
        ("**$**100", "$100"),
        ("5**%**", "5%"),
        ("3*4*5 = 60", "3*4*5 = 60"),
        ("2**3**4", "2**3**4"),
        ("4*A100*72h", "4*A100*72h"),
    ],
)
def test_a_figure_stays_whole_and_its_asterisks_stay(markdown: str, seen: str) -> None:
    assert HAIR_SPACE not in stream_text(markdown)
    assert _seen(markdown) == seen


def test_nothing_streamed_mentions_anybody() -> None:
    streamed = stream_text("<!channel> `<@U1>` <https://x.example|y>\n```\n<!here>\n```")
    assert "<!" not in streamed
    assert "<@" not in streamed
    assert "<http" not in streamed


def test_a_table_is_cut_between_rows_and_repeats_its_headings() -> None:
    rows = [f"| r{n} | {n} |" for n in range(250)]
    messages = packed(parts("\n".join(["| name | n |", "|---|---|", *rows])))
    tables = [block for blocks in messages for block in blocks if block["type"] == "table"]
    assert len(tables) == len(messages) == 3
    assert {table["rows"][0][0]["text"] for table in tables} == {"name"}
    assert [row[0]["text"] for table in tables for row in table["rows"][1:]] == [f"r{n}" for n in range(250)]


def test_a_cell_too_large_for_a_table_becomes_a_list_and_stays_whole() -> None:
    messages = packed(parts(f"| a | b |\n|---|---|\n| k | {'长' * 5_000} |\n"))
    assert _texts(messages).count("长") == 5_000
    assert not any(block["type"] == "table" for blocks in messages for block in blocks)


def test_deeply_nested_text_is_not_dropped() -> None:
    assert _solid(_seen("> " * 200 + "deep")).endswith("deep")
    assert "deep" in _seen("- " * 100 + "deep")
