"""A card for "a model of our own" where nobody says which: each usual size with what it takes, and what the money reaches."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from test_answer import run

QUESTIONS = [  # question, intent, budget in the currency of the table, words of the head
    ("我想搞个本地大模型给公司 30 个人用，预算 5 万，买什么卡好？", "document", 50_000, "预算内最大能用 Qwen2.5-"),
    ("公司想部署开源大模型，预算 20 万，买什么卡", "buy_price", 200_000, "预算内最大能用 Qwen2.5-72B"),
    ("we have $10k, which gpu should we buy to run a local llm for 10 people?", "document", 10_000, "largest within the budget is Qwen2.5-72B int4 for 10 users"),
    ("which gpu should i rent to host a chatbot for 50 users? budget $1000 a month", "budget", 1_000, "for 730 h"),
]  # fmt: skip


@pytest.mark.parametrize(("question", "intent", "budget", "head"), QUESTIONS)
def test_every_size_has_its_cheapest_setup_and_the_budget_is_held_against_it(
    question: str, intent: str, budget: int, head: str
) -> None:
    _, result = run(question, intent)
    assert head in result.text
    assert (result.status, result.verified) == ("answered", True), result.text
    rows = re.findall(r"\| (Qwen2\.5-\d+B \w+) \| [^|]+ \| ([\d,.]+) \| (是|否|yes|no) \|", result.text)
    assert len(rows) == 8, result.text
    for _, cost, within in rows:
        assert (Decimal(cost.replace(",", "")) <= budget) is (within in ("是", "yes"))


def test_yuan_a_month_are_held_against_dollar_rents_at_a_stated_rate() -> None:
    _, result = run("每月 5000 块租卡跑个大模型给 20 人用，租什么卡", "budget")
    assert re.search(r"\*\*5,000 元 = 69\d\.\d\d 美元\*\*（按 \d{4} 年平均汇率", result.text), result.text
    assert result.verified


def test_money_that_reaches_nothing_is_said_so() -> None:
    _, result = run("本地跑大模型，一千块预算推荐什么显卡", "document")
    assert "一档也够不到" in result.text
    assert "| 是 |" not in result.text


@pytest.mark.parametrize(
    "question", ["微调大模型，预算 5 万，买什么卡好？", "一万块买什么显卡打游戏好", "预算 5 万跑 Qwen2.5-32B 买什么卡"]
)
def test_training_games_and_named_models_are_left_to_others(question: str) -> None:
    _, result = run(question, "document")
    assert "没有说模型" not in result.text


@pytest.mark.parametrize(
    ("question", "head", "rows"),
    [
        ("got 15k yuan for one card to tinker with LLMs at home, what should i get",
         "One card within the money: GeForce RTX 4090 (14,599.00 CNY)", ["| GeForce RTX 4090 | 14,599.00 | 24 GB GDDR6X | Qwen2.5-32B int4 | barred", "| Tesla T4 | 7,999.00 |"]),
        ("一万五预算，自己在家玩大模型，买一张什么卡好", "首选 GeForce RTX 4090（14,599.00 元）", ["规则日期 2023-10-17", "| Tesla T4 | 7,999.00 | 16 GB GDDR6 | Qwen2.5-14B int4 |"]),
        ("$1700 for a single gpu to run local llms, what should i buy?", "One card within the money: GeForce RTX", ["| GeForce RTX 3090 | 1,499.99 | 24 GB"]),
    ],
)  # fmt: skip
def test_for_one_card_the_most_capable_within_the_money_comes_first(question: str, head: str, rows: list[str]) -> None:
    _, result = run(question, "budget")
    assert (result.status, result.verified) == ("answered", True), result.text
    assert head in result.text
    assert [row for row in rows if row not in result.text] == [], result.text
    assert "RTX A6000" not in result.text  # dearer than the money
    assert "SXM" not in result.text  # no module fits a machine at home


def test_a_price_at_launch_is_called_so() -> None:
    _, result = run("$2000 for a single gpu to run local llms, what should i buy?", "buy_price")
    assert "| GeForce RTX 5090 | 1,999.00 (at launch) | 32 GB" in result.text
    assert "the price is that at launch" in result.text
