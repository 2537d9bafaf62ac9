"""Cards set against each other: every figure that decides, how many times as much, what each gives for its rent."""

from __future__ import annotations

from decimal import Decimal

import pytest
from pydantic import JsonValue
from test_answer import run

from assistant.evidence import Call

QUESTIONS = [  # question, intent, words that must stand in the text
    ("A100 和 H100 有什么区别", "speedup",
     ["H100 SXM5 80GB 3,350 GB/s，是 A100 SXM4 80GB（2,039 GB/s）的 **1.64 倍**", "的 **3.17 倍**", "训练约 **2.3 倍**", "对华出口"]),
    ("What is the difference between an A100 and an H100?", "document",
     ["**1.64x** the A100 SXM4 80GB (2,039 GB/s)", "**3.17x**", "training about **2.3x**", "Export to China"]),
    ("H100 和 H800 有什么区别？", "document", ["都是 80 GB", "900 GB/s", "400 GB/s", "NVLink 4（削减）"]),
    ("L40S vs A100 哪个好", "compare", ["L40S 362 TFLOPS，是 A100 SXM4 80GB（312 TFLOPS）的 **1.16 倍**", "**2.36 倍**"]),
    ("which is better, 4090 or 3090?", "document", ["24 GB each", "**2.33x** the GeForce RTX 3090 (71 TFLOPS)"]),
    ("买 3090 还是 4090？", "buy_price", ["都是 24 GB", "14,599 元"]),
    ("should i get a 5090 or an A6000", "buy_price", ["RTX A6000 48 GB, **1.5x** the GeForce RTX 5090 (32 GB)"]),
    ("A800 和 A100 的区别", "document", ["几乎一样，2,040 与 2,039 GB/s", "400 GB/s"]),
    ("T4 和 A10 怎么选", "document", ["A10 600 GB/s，是 Tesla T4（300 GB/s）的 **2 倍**", "每美元时租得"]),
    ("is the H200 worth it over the H100 for inference?", "document", ["**1.76x** the H100 SXM5 80GB (80 GB)", "**1.43x**"]),
    ("有 4090 了，升级到 5090 划算吗", "forecast", ["是 GeForce RTX 4090（24 GB）的 **1.33 倍**"]),
    ("两张 4090 还是一张 A100 好", "buy_price",
     ["A100 SXM4 80GB 80 GB，是 2 × GeForce RTX 4090（48 GB）的 **1.67 倍**", "330.4 TFLOPS", "并行"]),
]  # fmt: skip


@pytest.mark.parametrize(("question", "intent", "words"), QUESTIONS)
def test_cards_stand_side_by_side_and_every_figure_traces(question: str, intent: str, words: list[str]) -> None:
    _, result = run(question, intent)
    assert [word for word in words if word not in result.text] == [], result.text
    assert (result.status, result.verified) == ("answered", True), result.text


@pytest.mark.parametrize(
    ("question", "intent", "word"),
    [
        ("4090 和 A100 每小时哪个便宜", "compare", "最便宜"),
        ("A100 和 H100 哪个快", "speedup", "2.3 倍"),
        ("H100 与 A100 的显存带宽对比", "document", "随形态不同"),
    ],
)
def test_prices_speeds_and_single_figures_are_answered_by_what_knows_them(
    question: str, intent: str, word: str
) -> None:
    _, result = run(question, intent)
    assert word in result.text
    assert "16 位稠密算力" not in result.text


def test_each_side_has_its_rent_and_the_verdict_follows_from_rent_and_speed() -> None:
    _, result = run("4090 和 3090 哪个好", "document")
    per_money = [call for call in result.calls if call.tool == "price_per_unit"]
    assert len(per_money) == 4
    hour_of_4090, hour_of_3090 = (
        next(c for c in per_money if c.arguments["quantity"] == tflops) for tflops in (165.2, 71)
    )
    wins = Decimal(str(outputs(hour_of_4090)["units_per_price"])) > Decimal(
        str(outputs(hour_of_3090)["units_per_price"])
    )
    assert wins is ("受算力限制）：同样的租金 **GeForce RTX 4090** 给得更多" in result.text)


def outputs(call: Call) -> dict[str, JsonValue]:
    assert isinstance(call.result, dict)
    found = call.result["outputs"]
    assert isinstance(found, dict)
    return found
