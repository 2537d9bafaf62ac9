"""What may be shown: figures, citations, names and claims against their evidence, and sentences cut from a stream."""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import JsonValue

from assistant.evidence import Call, Citation
from assistant.sentences import split_sentences
from assistant.verify import Verdict, check_prose, normalise_marks, trace

RENT = Call(
    tool="rental_cost",
    arguments={"gpus": 4, "hours": 72.0, "price_per_hour": 28.64, "currency": "CNY", "gpus_per_instance": 1},
    result={
        "value": 8248.32,
        "unit": "CNY",
        "outputs": {"cost": 8248.32, "instances": 4, "hours": 72.0, "currency": "CNY"},
    },
    formula="4 × 72 h × 28.64 CNY/h = 8,248.32 CNY",
    assumptions=("一个月按 730 小时计",),
)
MONTH = Call(tool="rental_cost", arguments={}, result={"cost_cny": 20620.80, "memory_gib": 96, "rank": 7})
OFFERS = Call(
    tool="prices",
    arguments={"gpu": "A100", "providers": ["腾讯云", "火山引擎"]},
    result={
        "offers": [
            {"provider": "腾讯云", "price_cny_per_hour": 28.64},
            {"provider": "火山引擎", "price_cny_per_hour": 40.39},
        ],
        "difference_cny": 11.75,
        "surplus_percent": 41.03,
    },
)
RUN = Citation(
    id=2, title="微调耗时", source="GPU 选型文章一", locator="表", excerpt="在 RTX 4090 上微调 9,999 条，用时 1:42:46。"
)
FALCON = Citation(
    id=1, title="运行 Falcon-40B", source="GPU 选型文章一（内容为 2023 年）", locator="memory",
    excerpt="运行 Falcon-40B 需要 85 GB 到 100 GB 或更多的显存。训练用 384 台 A100，16-bit 推理快约 3.5 倍。",
)  # fmt: skip
NAMES = {"provider:tencent": "腾讯", "provider:volcengine": "火山", "gpu:A100": "A100", "gpu:T4": "T4"}


def names_in(text: str) -> set[str]:
    return {key for key, spelling in NAMES.items() if spelling in text}


def tokens(text: str) -> list[str]:
    """A toy of the real tokenizer: pairs of Chinese characters and words."""
    pairs = [a + b for a, b in pairwise(text) if a > "\u4e00" and b > "\u4e00"]
    return pairs + [word for word in text.lower().split() if word.isalpha()]


def evidence_of(text: str, *calls: Call, question: str = "") -> list[str]:
    """Where each figure was traced to; the untraced ones as "?text"."""
    found = trace(text, calls, [FALCON, RUN], question, {"4090"})
    return [figure.evidence for figure in found.figures] + [f"?{text}" for text in found.untraced]


@pytest.mark.parametrize(
    ("text", "evidence"),
    [
        ("共 8,248.32 元", ["call:0"]),
        ("4 张跑 72 小时", ["call:0", "call:0"]),
        ("a total of 8248.32 CNY", ["call:0"]),
        ("¥8,248.32", ["call:0"]),
        ("28.64 元/小时", ["call:0"]),
        ("3 天", ["call:0"]),  # 72 hours
        ("一小时 28.64 元", ["call:0", "call:0"]),
        ("按 730 小时", ["call:0"]),
        ("85–100 GB", ["cite:1", "cite:1"]),
        ("快 3.5 倍", ["cite:1"]),
        ("用时 1 小时 42 分 46 秒", ["cite:2"]),
        ("about 1.713 hours", ["cite:2"]),
        ("102.77 分钟", ["cite:2"]),
        ("two options, 三种办法", []),
        ("一张 A100", []),
        ("40B 参数，即 400 亿参数", ["cite:1", "cite:1"]),
        # traps
        ("8,248.33 元", ["?8,248.33 元"]),  # a changed digit
        ("8,248.32 美元", ["?8,248.32 美元"]),  # another currency
        ("$8,248.32", ["?8,248.32"]),
        ("28.64 元/天", ["?28.64 元/天"]),  # another period
        ("每月 28.64 元", ["?28.64 元"]),
        ("85 GiB", ["?85 GiB"]),  # GB and GiB differ
        ("85 %", ["?85 %"]),
        ("3.5 %", ["?3.5 %"]),
        ("384 台机器", ["?384 台机器"]),  # 台 counted cards
        ("384 元", ["?384 元"]),
        ("四家云", ["?四家"]),
        ("4 天", ["?4 天"]),
        ("三倍", ["?三倍"]),  # small, but a claim
        ("1:42:47", ["?1:42:47"]),
        ("4,090 张", ["?4,090 张"]),
    ],
)  # fmt: skip
def test_figures_need_the_same_value_unit_currency_and_period(text: str, evidence: list[str]) -> None:
    assert evidence_of(text, RENT) == evidence


@pytest.mark.parametrize(
    ("text", "is_traced"),
    [
        ("20,620.80 元", True),
        ("20,621 元", True),
        ("2.06 万元", True),
        ("2.062 万元", True),
        ("20.6k yuan", True),
        ("20,620 元", False),  # cut off, not rounded
        ("2.1 万元", False),
        ("2 万元", False),
        ("21,000 元", False),
        ("20,600 元", False),  # claims five digits
        ("96 GiB", True),
        ("96.0 GiB", True),
        ("96 G", True),
        ("96 GB", False),
        ("96 核", False),
        ("7 GB", False),  # a rank is no amount
    ],
)
def test_rounding_is_correct_and_keeps_three_digits(text: str, is_traced: bool) -> None:
    assert (not trace(text, [MONTH], []).untraced) is is_traced


def test_a_half_may_be_rounded_up_or_to_even_but_not_down_to_odd() -> None:
    call = Call(tool="t", arguments={}, result={"hours": 12.25, "days": 12.35})
    assert [not trace(text, [call], []).untraced for text in ("12.3 小时", "12.2 小时", "12.4 天", "12.3 天")] == [
        True, True, True, False]  # fmt: skip


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ({"price": 28.64, "currency": "CNY", "period": "hour"}, "28.64 元/小时"),
        ({"price": "28.64", "unit": "CNY/hour"}, "28.64 元/小时"),
        ({"rows": [{"price_cny_per_hour": 28.64}]}, "28.64 元/小时"),
        ({"price_cny_per_hour": {"腾讯云": 28.64}}, "28.64 元/小时"),
        ({"memory_gb": [40, 80]}, "80 GB"),
        ({"note": "约 41.03 %"}, "41.03%"),
        ({"duration": "1:31:05"}, "1 小时 31 分 5 秒"),
        ({"difference": -11.75, "currency": "CNY"}, "便宜 11.75 元"),
        (["a", "b", "c", "d", "e"], "五家云"),  # the length of a list is a count
    ],
)
def test_units_of_results_come_from_keys_siblings_and_strings(result: object, text: str) -> None:
    call = Call.model_validate({"tool": "t", "arguments": {}, "result": result})
    assert trace(text, [call], []).untraced == ()


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ({"price": 28.64}, "28.64 元"),  # no currency stated
        ({"instances": 4, "currency": "CNY"}, "4 元"),  # a currency beside it makes no count money
        ({"count": 4, "currency": "CNY"}, "4 元"),
        ({"is_exact": True}, "1 GB"),
        ({"limit": float("inf")}, "9 GB"),
        (["a", "b", "c", "d", "e"], "5 GB"),  # a list's length is no amount
        ({"hours": 72}, "72 %"),
    ],
)
def test_evidence_does_not_lend_a_unit_it_lacks(result: JsonValue, text: str) -> None:
    call = Call.model_construct(tool="t", arguments={}, result=result, formula=None, assumptions=())
    assert trace(text, [call], []).untraced


def test_the_readers_own_figures_may_be_echoed_but_not_his_prices() -> None:
    question = "我有 6 张卡，跑 50 小时；腾讯云 A100 是 5 元/小时，对吧？预算 2 万元"
    assert evidence_of("6 张卡跑 50 小时", question=question) == ["question", "question"]
    assert evidence_of("是的，5 元/小时", question=question) == ["?5 元/小时"]
    assert evidence_of("6 台机器", question=question) == ["?6 台机器"]
    assert evidence_of("2 天多一点", question=question) == ["?2 天"]


@pytest.mark.parametrize("text", ["8 张 H100", "8 cards"])
def test_a_count_comes_from_what_counts_the_same_and_not_from_a_bare_number_of_the_same_value(text: str) -> None:
    shape = Citation(
        id=1, title="模型结构表", source="s", locator="tables/models.csv 第 3 行", excerpt="键值头 = 8；层数 = 80"
    )
    plan = Call(tool="inference_memory", arguments={"gpus": 8}, result={"per_gpu_gib": 19.25})
    [figure] = trace(text, [plan], [shape], question="8 张 H100 80GB").figures
    assert figure.evidence == "call:0"
    [figure] = trace("8 个键值头", [plan], [shape]).figures
    assert figure.evidence == "cite:1"


def test_figures_carry_their_value_unit_and_text() -> None:
    [figure] = trace("每小时 28.64 元", [OFFERS], []).figures
    assert (figure.text, figure.value, figure.unit, figure.evidence) == (
        "28.64 元",
        Decimal("28.64"),
        "CNY/hour",
        "call:0",
    )


@pytest.mark.parametrize(
    ("sentence", "is_ok"),
    [
        ("腾讯云 28.64 元/小时，火山引擎 40.39 元/小时。", True),
        ("火山引擎 28.64 元/小时。", False),
        ("腾讯云 40.39 元/小时，火山引擎 28.64 元/小时。", False),
        ("腾讯云比火山引擎便宜，每小时只要 28.64 元。", True),
        ("腾讯云比火山引擎便宜 11.75 元。", True),
        ("火山引擎贵 41.03 %。", True),
        ("A100 在腾讯云是 28.64 元/小时。", True),
        ("T4 在腾讯云是 28.64 元/小时。", False),
    ],
)
def test_a_right_figure_beside_the_wrong_name_is_not_traced(sentence: str, is_ok: bool) -> None:
    assert (not trace(sentence, [OFFERS], [], "T4 呢？", names_in=names_in).untraced) is is_ok


def verdict(sentence: str, question: str = "运行 Falcon-40B 要多少显存？") -> Verdict:
    return check_prose(
        sentence, [RENT], [FALCON, RUN], question=question, names={"4090"}, names_in=names_in, tokenize=tokens
    )


@pytest.mark.parametrize(
    ("sentence", "reason", "dropped"),
    [
        ("运行 Falcon-40B 需要 85 到 100 GB 显存 [1]。", "", ()),
        ("运行 Falcon-40B 需要 85 到 100 GB 显存。", "", ()),
        ("共 8,248.32 元 [2]。", "", ()),  # a call holds it
        ("运行 Falcon-40B 需要更多的显存【1】【2】。", "", ()),
        ("运行 Falcon-40B 需要 85 到 100 GB 显存 [2]。", "figure", ("85", "100 GB")),  # the wrong passage
        ("运行 Falcon-40B 需要 90 GB 显存 [1]。", "figure", ("90 GB",)),
        ("运行 Falcon-40B 需要更多的显存 [7]。", "citation", ("[7]",)),
        ("需要更多的显存 [1, 9]。", "citation", ("[9]",)),
        ("运行 Falcon-7B 需要更多的显存。", "identifier", ("Falcon-7B",)),
        ("运行 Falcon-40B 需要 A10 的显存。", "identifier", ("A10",)),  # A10 is not in A100
        ("8-bit 推理需要更多的显存。", "identifier", ("8-bit",)),
        ("16 位推理需要更多的显存，内容为 2023 年。", "", ()),
        ("内容为 2024 年。", "identifier", ("2024",)),
        ("运行 Falcon-40B 看 https://evil.example/a 。", "link", ("https://evil.example/a",)),
        ("运行 Falcon-40B 需要腾讯云的显存。", "name", ("provider:tencent",)),
        ("液冷机柜能够大幅降低电费支出。", "ungrounded", ()),
    ],
)
def test_prose_is_shown_only_with_its_evidence(sentence: str, reason: str, dropped: tuple[str, ...]) -> None:
    found = verdict(sentence)
    assert (found.reason, found.dropped, found.ok) == (reason, dropped, not reason)


def test_english_prose_may_cite_chinese_digits_and_carries_its_figures() -> None:
    found = check_prose("It needs 85–100 GB [1].", [], [FALCON])
    assert [(figure.text, figure.evidence) for figure in found.figures] == [("85", "cite:1"), ("100 GB", "cite:1")]


@pytest.mark.parametrize(
    ("text", "normal", "dropped"),
    [
        ("显存【1】和 [^2]。", "显存[1]和 [2]。", ()),
        ("both [1, 2] and [2、1]", "both [1][2] and [2][1]", ()),
        ("【1†source】", "[1]", ()),
        ("no such [3], [1,7]", "no such , [1]", ("[3]", "[7]")),
        ("`a[3]` and ```\nb[4]\n```", "`a[3]` and ```\nb[4]\n```", ()),
        ("[1](https://x.y)", "[1](https://x.y)", ()),
        ("[see]", "[see]", ()),
    ],
)
def test_citation_marks_get_one_spelling_and_unknown_ones_go(text: str, normal: str, dropped: tuple[str, ...]) -> None:
    marks = normalise_marks(text, {1, 2})
    assert (marks.text, marks.dropped) == (normal, dropped)


@pytest.mark.parametrize(
    ("text", "sentences", "rest"),
    [
        ("第一句。第二句！第三", ["第一句。", "第二句！"], "第三"),
        ("价格 3.5 元；便宜。", ["价格 3.5 元；"], "便宜。"),
        ("It costs 28.64 yuan. Cheap? Yes", ["It costs 28.64 yuan. ", "Cheap? "], "Yes"),
        ("A100 vs. T4, e.g. in U.S. clouds. Next", ["A100 vs. T4, e.g. in U.S. clouds. "], "Next"),
        ("1. First item\n2. Second", ["1. First item\n"], "2. Second"),
        ("**1.** First. Second", ["**1.** First. "], "Second"),
        ("一句。[1] 二句。【2】三句", ["一句。[1] ", "二句。【2】"], "三句"),
        ("One. [1][2] Two", ["One. [1][2] "], "Two"),
        ("一句。[1", [], "一句。[1"),  # a mark not yet complete
        ("一句。", [], "一句。"),  # a mark may follow
        ("One. ", [], "One. "),
        ("一句。[link](x)", ["一句。"], "[link](x)"),
        ("他说“好。”然后", ["他说“好。”"], "然后"),
        ("**粗体。** 下一句", ["**粗体。** "], "下一句"),
        ("a\n\n  - b\nc", ["a\n\n", "  - b\n"], "c"),
        ("```py\na. b\n", [], "```py\na. b\n"),  # an open fence is held back
        ("```py\na. b\n```\nc", ["```py\na. b\n```\n"], "c"),
        ("run `a. b`. Then", ["run `a. b`. "], "Then"),
        ("A100.然后", ["A100."], "然后"),
        ("版本 3.5", [], "版本 3.5"),
        ("", [], ""),
    ],
)
def test_sentences_of_a_stream(text: str, sentences: list[str], rest: str) -> None:
    assert split_sentences(text) == (sentences, rest)


pieces = st.lists(
    st.sampled_from(["。", "！", "；", ". ", "? ", "\n", "\n\n", "1. ", "3.5", "vs. ", "[1]", "【2】", " [3, 4] ", "`", "```", "**", "显存", "GPU", " ", "”", ")"])
    | st.text(max_size=3),
    max_size=25,
)  # fmt: skip


@given(pieces.map("".join), st.lists(st.integers(1, 6), max_size=60))
def test_however_a_stream_is_cut_its_sentences_are_the_same(text: str, sizes: list[int]) -> None:
    streamed: list[str] = []
    buffer, at = "", 0
    for size in [*sizes, len(text)]:
        sentences, buffer = split_sentences(buffer + text[at : at + size])
        streamed, at = streamed + sentences, at + size
    assert (streamed, buffer) == split_sentences(text)
    assert "".join(streamed) + buffer == text


amounts = st.decimals(Decimal("0.01"), 10**7, places=2, allow_nan=False, allow_infinity=False)


@given(amounts, st.data())
def test_a_changed_digit_is_never_traced(amount: Decimal, data: st.DataObject) -> None:
    printed = f"{amount:.2f}"
    at = data.draw(st.sampled_from([i for i, character in enumerate(printed) if character != "."]))
    wrong = printed[:at] + data.draw(st.sampled_from("0123456789")) + printed[at + 1 :]
    assume(wrong != printed)
    call = Call(tool="t", arguments={}, result={"cost_cny": float(amount)})
    assert trace(f"{printed} 元", [call], []).untraced == ()
    assert trace(f"{wrong} 元", [call], []).untraced == (f"{wrong} 元",)


@given(st.text(), st.text(), st.text())
def test_checking_never_fails(sentence: str, excerpt: str, question: str) -> None:
    citation = Citation(id=1, title="", source="", locator="", excerpt=excerpt)
    found = check_prose(sentence, [RENT], [citation], question=question, names_in=names_in, tokenize=tokens)
    assert found.ok is (found.reason == "")
