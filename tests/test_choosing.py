"""Answers about which card to take: what is ranked has room, what is left out has a reason, and costs add up."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import cast

import pytest
from test_answer import run

from assistant.evidence import Answer, Call

CHOICES = [
    "部署 32B 模型买什么卡",
    "which GPU to serve 7B under 1 USD/h",
    "What GPU should I rent to serve Llama-3-70B in fp8 for 200 concurrent users?",
    "QPS 10，输入 1000 输出 300，Qwen2.5-14B 用什么卡，租",
    "cheapest GPU per million tokens for Llama-3.1-8B",
    "部署 DeepSeek-R1 用什么卡",
    "4090 和 A100 哪个适合部署 Qwen2.5-14B，买",
]


def table(answer: Answer) -> list[list[str]]:
    """Cells of the first table below its heading."""
    lines = [line for line in answer.text.split("\n\n")[2].splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def name(call: Call) -> str:
    return cast("dict[str, dict[str, str]]", call.arguments)["gpu"]["name"]


def outputs(call: Call) -> dict[str, float]:
    return cast("dict[str, dict[str, float]]", call.result)["outputs"]


@pytest.mark.parametrize("question", CHOICES)
def test_answered_with_every_figure_traced(question: str) -> None:
    _, result = run(question, "choose")
    assert result.status == "answered"
    assert result.verified, result.text
    assert result.text.startswith("**")


def test_purchases_in_yuan_are_ranked_by_cost_without_what_may_not_be_exported() -> None:
    """An A6000 costs 32,999 yuan in the table of purchase prices, and 32e9 x 2 bytes take two of 48 GB."""
    _, result = run("部署 32B 模型 fp16 买什么卡", "choose")
    assert result.text.startswith("**32B fp16：最便宜的是 2 张 RTX A6000，65,998.00 元**")
    costs = [Decimal(row[1].replace(",", "")) for row in table(result)]
    assert costs == sorted(costs)
    names = " ".join(row[0] for row in table(result))
    assert [name for name in ("4090", "A100", "H100", "A800") if name in names] == []
    assert "2023-10-17" in result.text
    assert "RTX 4090：禁止向中国出口" in result.text


def test_a_price_per_hour_is_a_limit() -> None:
    _, result = run("which GPU to serve 7B int4 under 0.5 USD/h", "choose")
    costs = [Decimal(row[1]) for row in table(result)]
    assert costs
    assert max(costs) <= Decimal("0.5")
    assert "over the budget" in result.text


def test_a_budget_bounds_what_is_bought() -> None:
    """T4 7,999 and A10 18,999 yuan are below 30,000; the A6000 at 32,999 is not."""
    _, result = run("预算3万，部署 14B int4 买什么卡", "choose")
    assert [re.sub(r" ★", "", row[0]) for row in table(result)] == ["1 张 T4", "1 张 A10"]
    assert re.search(r"超出预算：[^；\n]*RTX A6000", result.text)


def test_users_set_the_number_of_cards() -> None:
    few = run("rent a GPU to serve Llama-3.1-8B in fp8, 10 concurrent users", "choose")[1]
    many = run("rent a GPU to serve Llama-3.1-8B in fp8, 2000 concurrent users", "choose")[1]
    assert Decimal(table(few)[0][1]) < Decimal(table(many)[0][1])
    assert "2000 users" in many.text
    assert many.verified


def test_room_is_what_the_need_leaves_of_the_usable_memory() -> None:
    """On one A6000: 0.9 x 48 GiB less the high end of the need."""
    _, result = run("部署 14B int4 买什么卡", "choose")
    fits = {name(call): outputs(call) for call in result.calls if call.tool == "inference_fit"}
    a6000 = fits["RTX A6000"]
    assert a6000["headroom_gib"] == pytest.approx(48 * 0.9 - a6000["need_high_gib"], abs=0.002)
    assert f"{a6000['headroom_gib']:.2f} GiB" in result.text


def test_front_holds_no_choice_that_another_beats_in_both() -> None:
    _, result = run("which GPU should I rent to serve Qwen2.5-7B in bf16", "choose")
    rows = [(Decimal(row[1]), Decimal(row[5].replace(",", "")), "★" in row[0]) for row in table(result)]
    for cost, speed, starred in rows:
        beaten = any(c <= cost and s > speed * Decimal("1.01") for c, s, _ in rows)
        assert not (starred and beaten), rows


def test_old_cards_are_left_out_for_the_engine() -> None:
    _, result = run("租什么卡部署 Qwen2.5-7B int4", "choose")
    assert "架构太旧，vLLM 不支持：" in result.text
    assert "P40" in result.text


def test_named_cards_are_the_only_ones_weighed() -> None:
    _, result = run("L40S or H100 for serving Llama-3.1-8B bf16, which to rent?", "choose")
    names = " ".join(row[0] for row in table(result))
    assert ("L40S" in names, "A100" in names, "RTX" in names) == (True, False, False)


def test_no_model_and_no_size_is_for_the_documents() -> None:
    assert run("买什么卡好", "choose")[1].calls == ()


def test_a_spare_copy_and_the_time_of_the_budget_are_counted() -> None:
    """Two T4 of Tencent at 8.68 yuan for 720 hours: one holds the 7.6 GB of a 7B in 8 bits, the other stands by."""
    _, result = run("7B int8 部署，一个月别超过两万块，最好有一台坏了还能顶上，火山阿里腾讯怎么选，按30天", "choose")
    assert result.text.startswith("**7B int8：最便宜的是 2 张 T4，720 小时 12,499.20 元**")
    assert "多留一个副本" in result.text
    assert result.verified


def test_buyer_in_china_is_told_which_ranked_cards_have_no_verified_export_status() -> None:
    _, result = run("中国能买到什么卡跑 DeepSeek-V3", "choose")
    assert "未核实" in result.text
    assert "MI300X" in result.text.split("未核实")[1]
    assert result.verified
