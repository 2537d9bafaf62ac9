"""Figures of several cards together: the sum with its formula, form by form, and none where each card alone is asked."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_answer import run

from assistant.calculator.calculation import number
from assistant.tools import calculate


@pytest.mark.parametrize(
    ("question", "intent", "words"),
    [
        ("how much memory do eight 80 GB A100s have together", "memory", ["8× A100, GPU memory: 640 GB in total", "8 × 80 GB = 640 GB"]),
        ("8 张 A100 80G 一共多少显存", "memory", ["8 张 A100 显存：合计 640 GB", "8 × 80 GB = 640 GB", "不是连成一块"]),
        ("what is the total VRAM of four 4090s", "memory", ["96 GB in total", "4 × 24 GB = 96 GB"]),
        ("四张 4090 总显存多大", "memory", ["合计 96 GB"]),
        ("2 台 8 卡 H100 SXM 的总带宽是多少", "serving", ["合计 53,600 GB/s", "16 × 3,350 GB/s"]),
        ("combined memory bandwidth of two A100 80GB", "memory", ["3,870 GB/s in total", "4,078 GB/s in total"]),
        ("total TDP of 4 H100s", "price", ["4 × 350 W = 1,400 W", "4 × 700 W = 2,800 W", "4 × 400 W = 1,600 W"]),
        ("8 张 H100 总功耗多少", "power", ["8 × 700 W = 5,600 W"]),
        ("how many TFLOPS BF16 do 16 H100 SXM have in total", "fit", ["16 × 989 TFLOPS = 15,824 TFLOPS", "sum is one of peaks"]),
        ("8 张 H100 总算力多少 TFLOPS", "serving", ["| 8 张 H100 SXM5 80GB [2] | 536 TFLOPS | 7,912 TFLOPS |"]),
        # several kinds of cards make one sum; a disputed figure a range
        ("2 张 A100 80G 加 4 张 H100 SXM 一共多少显存", "memory", ["合计 480 GB", "2 × 80 GB + 4 × 80 GB = 480 GB"]),
        ("what's the total VRAM of two 3090s and one T4", "memory", ["64 GB in total", "2 × 24 GB + 1 × 16 GB = 64 GB"]),
        ("8 张 B200 总显存", "memory", ["合计 1,440–1,536 GB"]),
        # not asked, and still beside the figure of one
        ("8 张 H100 SXM 的功耗", "memory", ["**H100 SXM5 80GB 功耗 TDP：700 W**", "合计 5,600 W"]),
        ("每张 A100 80G 的显存多少，8 张一共多少", "memory", ["80 GB HBM2e", "合计 640 GB"]),
    ],
)  # fmt: skip
def test_cards_together_have_the_sum_of_their_rows(question: str, intent: str, words: list[str]) -> None:
    _, result = run(question, intent)
    assert [word for word in words if word not in result.text] == [], result.text
    assert (result.status, result.verified) == ("answered", True), result.text


@pytest.mark.parametrize(
    ("question", "intent"),
    [
        ("how much VRAM does each of the 8 A100 80GB have", "memory"),
        ("8 张 A100 80G，单卡显存多大", "memory"),
        ("H100 SXM 的显存带宽", "memory"),
        ("NVLink bandwidth of eight H100 SXM in total", "memory"),  # a link of each card, no sum over cards
        ("8 张 H100 一共多少钱一小时", "price"),  # money, no specification
    ],
)
def test_no_sum_where_one_card_or_a_price_is_asked(question: str, intent: str) -> None:
    _, result = run(question, intent)
    assert not [call for call in result.calls if call.tool == "card_total"], result.text


@pytest.mark.parametrize("question", ["what is the power consumption of the H100 SXM", "H100 SXM 耗电多少"])
def test_a_power_without_a_time_is_a_rating_and_no_bill(question: str) -> None:
    _, result = run(question, "power")
    assert "700 W" in result.text
    assert "kWh" not in result.text


@settings(max_examples=25, deadline=None)
@given(counts=st.lists(st.integers(1, 512), min_size=1, max_size=4), each=st.integers(1, 400))
def test_a_sum_over_kinds_is_that_of_its_parts(counts: list[int], each: int) -> None:
    parts = [{"cards": count, "each": each} for count in counts]
    result = calculate("card_total", parts=parts, unit="GB")
    assert result.value == each * sum(counts)
    assert result.formula.endswith(f"= {number(result.value)} GB")
