"""The scorers of the eval suite, one trap a line: what must be found in an answer, and what must not pass for it."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from assistant.evidence import Language, Status
from evals.answer_cases import Checks, WantedFigure
from evals.answer_text import normalise
from evals.scoring import GradedText, failures, language_failures

TABLE = (
    "| Cloud | Price (CNY/h) | Host (GiB) |\n| --- | --- | --- |\n| Tencent | 8.68 | 32 |\n| Volcengine | 11.28 | 16 |"
)
DAILY = "| Cloud | CNY/day |\n|---|---|\n| Tencent | 28.64 |"


def has(text: str, value: float | str, unit: str = "", tol_pct: float = 0.15) -> bool:
    """Whether the text holds the figure."""
    return GradedText(text).has_figure(WantedFigure(value=value, unit=unit, tol_pct=tol_pct))


@pytest.mark.parametrize(
    ("trap", "text", "value", "unit", "found"),
    [
        ("wrong currency", "28.64 USD an hour", 28.64, "CNY/hour", False),
        ("US dollars are no yuan", "28.64 美元/小时", 28.64, "CNY/hour", False),
        ("Hong Kong dollars are no US dollars", "HK$28.64", 28.64, "USD", False),
        ("no currency at all", "It costs 28.64 an hour", 28.64, "CNY/hour", False),
        ("a sign before the number", "¥28.64/小时", 28.64, "CNY/hour", True),
        ("a sign before wins over a later word", "$28.64, in CNY more", 28.64, "CNY", False),
        ("a code between two numbers is the first one's", "28.64 CNY 30 USD", 30, "CNY", False),
        ("a code before its number", "USD 30 an hour", 30, "USD/hour", True),
        ("the sign of the next number is not this one's", "8 $5, 7 元", 8, "USD", False),
        ("the unit of the next number is not this one's", "28.64, or rather 4 USD or 30 CNY", 28.64, "USD", False),
        ("块 of a card is no money", "3 块卡", 3, "CNY", False),
        ("块 is money", "28.64 块一小时", 28.64, "CNY/hour", True),
        ("another period", "28.64 元/天", 28.64, "CNY/hour", False),
        ("another period in words", "28.64 yuan per month", 28.64, "CNY/hour", False),
        ("another period before", "每天 28.64 元", 28.64, "CNY/hour", False),
        ("another period in the heading", DAILY, 28.64, "CNY/hour", False),
        ("a missing period does not matter", "A100：28.64 元", 28.64, "CNY/hour", True),
        ("the only currency of the line", "A 28.64, B 34.742, C 40.39 元/小时", 28.64, "CNY/hour", True),
        ("two currencies in the line decide nothing", "A 28.64 and much later on, B at 3 USD or 4 CNY", 28.64, "CNY", False),
        ("a sentence declares it", "All prices in CNY.\n\nTencent: 28.64", 28.64, "CNY/hour", True),
        ("a table cell has the currency of its heading", TABLE, 8.68, "CNY/hour", True),
        ("a table cell has not the unit of its neighbour", TABLE, 32, "CNY", False),
        ("a table cell has the unit of its heading", TABLE, 16, "GB", True),
        ("number glued to letters", "A100 元", 100, "CNY", False),
        ("number glued to letters, T4", "T4 元", 4, "CNY", False),
        ("a name's digits are no boundary", "1 台 A100 要 28.64 元", 1, "card", True),
        ("the tail of a longer number", "134.74 CNY", 34.74, "CNY", False),
        ("the head of a longer number", "28.64123 CNY", 28, "CNY", False),
        ("a part of a separated number", "20,620 CNY", 620, "CNY", False),
        ("a list parted by commas", "245,125,96 GiB", 125, "GB", True),
        ("separated thousands", "20,620.80 元", 20620.8, "CNY", True),
        ("thousands parted by spaces", "20 620.80 元", 20620.8, "CNY", True),
        ("2.06 万", "约 2.06 万", 20620.8, "CNY", True),
        ("2.1 万 is too coarse", "约 2.1 万元", 20620.8, "CNY", False),
        ("万 of something else is no money", "2.06 万条", 20620.8, "CNY", False),
        ("亿", "50 亿元", 5e9, "CNY", True),
        ("k is a scale or a unit", "about 1.5k yuan", 1500, "CNY", True),
        ("w is ten thousand", "2w 元", 20000, "CNY", True),
        ("billion", "16.1 billion parameters", 16.1e9, "", True),
        ("the last unit of a range counts for all", "85–100 GB", 85, "GB", True),
        ("the last unit of a list counts for all", "14/16/16 核", 14, "core", True),
        ("the unit right before", "内存 (GiB): 245", 245, "GB", True),
        ("GB is not the wanted cores", "16 GB", 16, "core", False),
        ("full width", "价格：２８．６４　元", 28.64, "CNY", True),
        ("a full-width colon behind T4 makes no clock time", "腾讯云 T4：11.63 元/小时", 11.63, "CNY/hour", True),
        ("zero width", "28.\u200b64 元", 28.64, "CNY", True),
        ("emphasis and citation marks", "**28.64** [1] CNY/h", 28.64, "CNY/hour", True),
        ("a citation mark is no figure", "the cards [4] fit", 4, "", False),
        ("a formula", r"$3 \times 28.64 = 85.92$ 元", 85.92, "CNY", True),
        ("Chinese number words", "需要四张卡", 4, "card", True),
        ("Chinese tens", "十六张", 16, "card", True),
        ("English number words", "two cards", 2, "card", True),
        ("第一 is no one", "第一张卡", 1, "card", False),
        ("a factor", "快 2.3 倍", 2.3, "x", True),
        ("a faster look-alike", "23 倍", 2.3, "x", False),
        ("percent", "29.95 %", 29.95, "%", True),
        ("percentage points are no yuan", "29.95 %", 29.95, "CNY", False),
        ("GB/s", "300 GB/s", 300, "GB/s", True),
    ],
)  # fmt: skip
def test_a_figure_is_found_or_not(trap: str, text: str, value: float, unit: str, found: bool) -> None:
    assert has(text, value, unit) is found, trap


@pytest.mark.parametrize(
    ("trap", "text", "value", "unit", "found"),
    [
        ("clock form", "用时 1:42:46", "1:42:46", "", True),
        ("in words", "1 小时 42 分 46 秒", "1:42:46", "", True),
        ("in minutes", "102.77 min", "1:42:46", "", True),
        ("in hours", "1.713 hours", "1:42:46", "", True),
        ("a part of a duration is not it", "1 小时 42 分 46 秒", 1, "hour", False),
        ("a longer duration is not it", "11:42:46", "1:42:46", "", False),
        ("the other run's time", "1:31:05", "1:42:46", "", False),
        ("days for hours", "349.16 h are 14.55 days", 349.16, "hour", True),
        ("only days", "约 14.55 天", 349.16, "hour", True),
        ("a rate is no duration", "28.64 元/小时", 28.64, "hour", False),
        ("each hour is no duration", "3 张，每小时", 3, "hour", False),
        ("a heading gives the unit", "| run | hours |\n|---|---|\n| pt2 | 5 |", 5, "hour", True),
        ("two and a half days", "2 天半", 60, "hour", True),
        ("time itself is no hour", "5 时间", 5, "hour", False),
    ],
)
def test_time_is_compared_as_time(trap: str, text: str, value: float | str, unit: str, found: bool) -> None:
    assert has(text, value, unit) is found, trap


@settings(max_examples=60, deadline=None)
@given(st.decimals(min_value="0.01", max_value="9999999", places=2))
def test_an_amount_is_found_however_it_is_written(value: Decimal) -> None:
    for text in (f"共 {value:,} 元", f"It costs {value:.2f} CNY an hour.", f"**¥{value:,}**[1]"):
        assert has(text, float(value), "CNY", 0.001)
        assert not has(text, float(value), "USD", 0.001)
        assert not has(text, float(value) * 1.02, "CNY", 0.5)


@pytest.mark.parametrize(
    ("text", "word", "found"),
    [
        ("价格表没有收录京东云", "@missing", True),
        ("没问题，可以跑", "@missing", False),
        ("The table does not list it", "@missing", True),
        ("Notable: 3 cards", "@missing", False),
        ("请告诉我用哪家云", "@asks", True),
        ("Which cloud do you mean?", "@asks", True),
        ("这张卡放不下", "@no", True),
        ("It does not fit", "@no", True),
        ("跑得动", "@yes", True),
        ("不够", "@yes", False),
        ("不能跑", "@yes", False),
        ("It fits", "@yes", True),
        ("ＫＡＧＧＬＥ 免费", "Kaggle", True),
        ("A | B", "re:a.{1,4}b", True),
    ],
)
def test_words_and_phrase_groups(text: str, word: str, found: bool) -> None:
    assert GradedText(text).has_word(word) is found


@pytest.mark.parametrize(
    ("trap", "text", "wanted", "right"),
    [
        ("right figure in the wrong language", "The Tencent A100 rents for 28.64 CNY per hour on demand", "zh", False),
        ("Chinese in an English answer", "腾讯云的 A100 每小时二十八元六角四分，按需计费", "en", False),
        ("names and units may be English", "腾讯云 A100 SXM4 的价格是 28.64 CNY/hour", "zh", True),
        ("a term in brackets", "Tensor cores (张量核心) do the matrix operations of deep learning", "en", True),
        ("a table in the other language", "Prices of the three clouds, lowest first:\n| 云 | 价格 |\n|---|---|\n| 腾讯 | 8 |", "en", True),
        ("a short answer in the wrong language", "It is not listed", "zh", False),
        ("a bare figure is in either", "28.64 CNY/hour", "zh", True),
        ("sources may be in the other", "It costs 28.64 CNY an hour at Tencent Cloud.\n来源 [1]：GPU 选型文章一，租用价格表", "en", True),
    ],
)  # fmt: skip
def test_language(trap: str, text: str, wanted: Language, right: bool) -> None:
    assert (language_failures(wanted, text, wanted) == []) is right, trap


def test_an_answer_that_names_the_other_language_is_wrong() -> None:
    assert language_failures("zh", "价格是二十八元", "en") == ["says that it is in en, not zh"]


def checked(text: str, given: Status | None = "answered", **checks: object) -> list[str]:
    """Failures of a text with the status `given` against checks."""
    return failures(Checks.model_validate(checks), text, given)


def test_every_kind_of_check_can_fail() -> None:
    wrong = checked(
        "Twenty",
        "off_topic",
        status=["answered"],
        figures=[{"value": 1, "unit": "CNY"}],
        any_figures=[[{"value": 2}, {"min": 3, "max": 4, "unit": "GB"}]],
        all_of=[["kaggle", "colab"]],
        none_of=["twent."],
    )
    assert wrong == [
        "status off_topic, wanted answered", "lacks 1.0 CNY", "lacks any of 2.0, 3 to 4 GB", "lacks kaggle or colab",
        "says 'Twenty'",
    ]  # fmt: skip


def test_a_range_holds_at_its_ends_and_not_beyond() -> None:
    for text, right in (("85 GB", True), ("100 GB", True), ("100.1 GB", False), ("90 cores", False)):
        assert (checked(text, figures=[{"min": 85, "max": 100, "unit": "GB"}]) == []) is right


def test_when_holds_for_its_status_only() -> None:
    when = {"needs_detail": {"all_of": [["@asks"]]}}
    assert checked("28.64", "answered", when=when) == []
    assert checked("28.64", "needs_detail", when=when)


def test_nothing_is_asked_of_a_text_without_status_that_hangs_on_it() -> None:
    assert checked("28.64", None, status=["not_in_knowledge"], when={"answered": {"all_of": [["x"]]}}) == []


def test_an_empty_answer_is_wrong_even_where_nothing_is_wanted() -> None:
    assert checked(" \n") == ["empty text"]


def test_forbidden_words_are_searched_in_the_normalised_text() -> None:
    assert checked("Ａ１００", none_of=["a100"]) == ["says 'A100'"]


@pytest.mark.parametrize(
    "checks",
    [
        {"figures": [{"value": 1, "min": 2, "max": 3}]},
        {"figures": [{"min": 2}]},
        {"figures": [{"value": "28.64"}]},
        {"figures": [{"value": 1, "tolerance": 2}]},
        {"all_of": [["@perhaps"]]},
        {"all_of": [["re:("]]},
        {"none_of": ["["]},
        {"status": ["ok"]},
        {"langauge": "zh"},
    ],
)
def test_checks_that_could_never_fail_or_never_pass_are_refused(checks: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Checks.model_validate(checks)


def test_multiplication_signs_have_one_spelling() -> None:
    assert {normalise(f"4{sign}24") for sign in (" * ", "x", " ✕ ", "×")} <= {"4 × 24", "4×24"}
