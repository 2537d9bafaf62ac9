"""Splitting prose: cuts at the best place, never in a number, a unit, a name, a link or a row, and loses nothing."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ingest.rows import MAX_WIDTH, width
from ingest.splitting import packed, pieces, split

FILLER = "我们在这里写一些没有标点的话"


def squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


def test_a_short_text_stays_one_part() -> None:
    assert split("一段。\n\n另一段。") == ["一段。\n\n另一段。"]


def test_an_empty_text_has_no_parts() -> None:
    assert split(" \n\n\t\n") == []


def test_a_width_too_small_for_words_is_an_error() -> None:
    with pytest.raises(ValueError, match="max_width 3"):
        split("abc", 3)


@pytest.mark.parametrize(
    ("text", "max_width", "parts"),
    [
        ("甲甲甲甲。乙乙乙乙，丙丙丙丙。丁丁。", 30, ["甲甲甲甲。乙乙乙乙，丙丙丙丙。", "丁丁。"]),
        ("甲甲甲甲，乙乙乙乙，丙丙丙丙，丁丁", 24, ["甲甲甲甲，乙乙乙乙，", "丙丙丙丙，丁丁"]),
        ("他说：“先买一张再说。”然后他走了出去看卡", 24, ["他说：“先买一张再说。”", "然后他走了出去看卡"]),
        ("（先买一张再说。）然后他走了出去看卡去了", 24, ["（先买一张再说。）", "然后他走了出去看卡去了"]),
        ("We buy cards. They are fast, e.g. in training.", 34, ["We buy cards.", "They are fast, e.g. in training."]),
        ('He said "buy it now." Then he left us.', 24, ['He said "buy it now."', "Then he left us."]),
        ("真的太贵了……还是租一张来用吧", 20, ["真的太贵了……", "还是租一张来用吧"]),
        ("It costs 1,234.5. Eight cards cost more.", 30, ["It costs 1,234.5.", "Eight cards cost more."]),
        ("- 第一项没有句号\n- 第二项没有句号\n- 第三项", 30, ["- 第一项没有句号", "- 第二项没有句号\n- 第三项"]),
        ("1. one thing\n2. two things. And more\n3. three", 42, ["1. one thing\n2. two things. And more", "3. three"]),
    ],
)
def test_a_text_is_cut_at_the_best_place_that_fits(text: str, max_width: int, parts: list[str]) -> None:
    assert pieces(text, max_width) == parts


UNITS = [
    "1,234.5", "28.64 元/小时", "28.64元/小时", "2 × 80 GB", "80 GB/s", "RTX 4090 D", "H100 SXM5", "RTX PRO 6000",
    "RTX 6000 Ada Generation", "4070 Ti SUPER", "Llama-3.1-8B", "gn7e-c16g1.4xlarge", "昇腾 910B", "昇腾910B", "A100 80GB",
    "https://example.com/a?b=1,2&c=3", "`pip install vllm`", "[说明 文档](https://a.example/x)", "1:42:46", "2026 年 11 月 30 日",
    "三百二十元", "¥ 12,999", "3.5 万元", "100 万美元", "$1.99/hr", "5–10 倍", "第 3 页", "NVIDIA GeForce RTX 3090",
]  # fmt: skip


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("filler", ["这里没有标点只有汉字", "plain words without any mark "], ids=["zh", "en"])
def test_numbers_names_links_and_code_are_never_cut(unit: str, filler: str) -> None:
    """At every offset, so that each character of the unit stands at the limit once."""
    for offset in range(60):
        text = ("字" * offset if filler[0] != "p" else "w " * offset) + (filler + unit + " ") * 4
        parts = split(text, 60)
        assert max(map(width, parts)) <= 60
        assert sum(part.count(unit) for part in parts) == 4, parts


def test_a_soft_wrapped_number_stays_with_its_unit_and_a_wrapped_name_whole() -> None:
    for offset in range(40):
        parts = split("字" * offset + "价格是 28.64\n元 每小时 用的是 RTX\n4090 显卡 很快", 50)
        assert any("28.64\n元" in part for part in parts)
        assert any("RTX\n4090" in part for part in parts)


@pytest.mark.parametrize(
    "text",
    ["没有标点" * 25_000, "a" * 100_000, "1" * 100_000, "12 " * 33_000, "[a" * 50_000, "`a" * 50_000, "（" * 100_000,
     "-" * 100_000 + "|", "😀" * 50_000, "~" * 100_000, "```" + "x" * 100_000, "|" * 100_000, "1/" * 50_000, "。" * 100_000],
    ids=lambda text: text[:4],
)  # fmt: skip
def test_a_hundred_thousand_characters_without_a_place_to_cut_still_end(text: str) -> None:
    parts = split(text)
    assert max(map(width, parts)) <= MAX_WIDTH
    assert squeezed("".join(parts)) == squeezed(text)


def test_a_hard_cut_leaves_an_accent_and_a_joined_emoji_with_their_character() -> None:
    for part in split("e\u0301" * 500 + "👩\u200d🔬" * 200, 21):
        assert part[0] not in "\u0301\u200d"
        assert part[-1] != "\u200d"


def test_code_is_cut_between_lines_and_each_part_fenced_again() -> None:
    code = [f"line_{number} = {number}" for number in range(60)]
    parts = split("\n".join(["```python", *code[:30], "", *code[30:], "```"]), 200)
    assert len(parts) > 3
    for part in parts:
        assert part.startswith("```python\n")
        assert part.endswith("\n```")
        assert width(part) <= 200
    lines = [line for part in parts for line in part.splitlines() if line and not line.startswith("```")]
    assert lines == code


def test_a_blank_line_in_code_does_not_end_it() -> None:
    assert pieces("```\na\n\nb\n```\n\n后文") == ["```\na\n\nb\n```", "后文"]


def test_a_table_row_is_never_cut_and_the_header_repeated() -> None:
    rows = [f"| 卡{number} | {'很长的说明，有标点。' * 5} |" for number in range(20)]
    parts = split("\n".join(["| 卡 | 说明 |", "|---|---|", *rows]), 400)
    assert [line for part in parts for line in part.splitlines()[2:]] == rows
    assert all(part.startswith("| 卡 | 说明 |\n|---|---|\n") for part in parts)


def test_a_paragraph_right_above_a_table_is_no_row_of_it() -> None:
    parts = split("说明文字。" * 30 + "\n| 卡 | 价 |\n|---|---|\n| A100 | 28 |", 200)
    assert parts[-1].endswith("| 卡 | 价 |\n|---|---|\n| A100 | 28 |")


def test_packing_counts_the_blank_line_between_paragraphs() -> None:
    assert packed(["a" * 49, "b" * 49], 100) == [range(0, 2)]
    assert packed(["a" * 49, "b" * 50], 100) == [range(0, 1), range(1, 2)]


WORDS = st.sampled_from([*UNITS, "。", "，", "、", ". ", ", ", " ", "\n", "\n\n", "字", "显卡", "word", "“", "”", "（", "）", "- ", "……", "！"])  # fmt: skip


@given(st.lists(WORDS, max_size=120).map("".join), st.integers(60, 200))
@settings(max_examples=150)
@example("80 GB" * 40, 60)
def test_nothing_is_lost_and_no_part_too_wide_whatever_the_text(text: str, max_width: int) -> None:
    parts = split(text, max_width)
    assert squeezed("".join(parts)) == squeezed(text)
    assert all(0 < width(part) <= max_width for part in parts)


@given(st.text(max_size=600), st.integers(20, 80))
@settings(max_examples=150)
def test_any_characters_survive_in_order(text: str, max_width: int) -> None:
    parts = split(text, max_width)
    joined = iter(squeezed("".join(parts)))
    assert all(character in joined for character in squeezed(text))  # in order; fences and headers may come again


@given(st.lists(st.sampled_from(UNITS[:7] + UNITS[10:13]), min_size=1, max_size=12), st.integers(0, 40))
@settings(max_examples=100)
def test_no_number_or_name_is_cut_in_a_sentence_of_them(units: list[str], offset: int) -> None:
    text = "字" * offset + "".join(f"，{unit}，{FILLER}" for unit in units)
    joined = "\x00".join(split(text, 70))
    for unit in set(units):
        assert joined.count(unit) == text.count(unit)
