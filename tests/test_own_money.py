"""Sums of the reader's own money: a million tokens at his price and speed, and how many hours an amount rents."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from test_answer import run

TOKENS = [  # question, intent, words: price per hour ÷ (tokens per second × 3,600) × 10^6
    ("my server does 1,200 tokens/s and costs $3 an hour: what is a million tokens?", "cost", ["0.694444 USD per million"]),
    ("一小时 20 块，每秒 800 token，百万 token 成本多少", "cost", ["每百万输出 token 约 6.94444 元", "20 元/小时 ÷ (800 × 3600)"]),
    ("our box makes 2500 tok/s at $4.5/hour, cost per 1M tokens?", "serving", ["0.5 USD per million"]),
    ("an A100 at $1.2/h gives 900 tokens per second; price per million tokens", "price", ["0.37037 USD"]),
    ("自己的机器 1 小时 12 元，吞吐每秒 1000 个 token，利用率 50%，一百万 token 多少钱", "serving", ["6.66667 元", "3600 × 0.5", "50 %"]),
    ("8 张卡每张每小时 20 块，总吞吐 8000 token/s，每百万 token 成本", "cost", ["5.55556 元", "8 张每小时 160 元"]),
    ("机器每月 8000 元，吞吐 1500 tokens/s，百万 token 多少钱", "cost", ["2.02943 元", "8,000 元 ÷ (730 小时)"]),
]  # fmt: skip


@pytest.mark.parametrize(("question", "intent", "words"), TOKENS)
def test_a_million_tokens_at_ones_own_price_and_speed(question: str, intent: str, words: list[str]) -> None:
    _, result = run(question, intent)
    assert [word for word in words if word not in result.text] == [], result.text
    assert (result.status, result.verified) == ("answered", True), result.text


@pytest.mark.parametrize(
    "question",
    ["20 tokens/s per user, 100 users, $3 an hour, what is a million tokens", "50 million tokens a day at 1200 tokens/s and $3 an hour, how long?"],
)  # fmt: skip
def test_a_speed_per_user_and_an_amount_of_tokens_are_no_price_of_a_million(question: str) -> None:
    _, result = run(question, "cost")
    assert not [call for call in result.calls if call.tool == "cost_per_million_tokens"], result.text


HOURS = [  # question, earlier turns, intent, words
    ("10,000 yuan buys how many hours of A100", (), "budget", ["349.16 hours"]),  # 10,000 ÷ 28.64
    ("1 万块能买多少小时 A100", (), "buy_price", ["349.16 小时"]),
    ("1 万块能租 A100 多久", (), "budget", ["349.16 小时", "14.54 天"]),
    ("$500 buys how much time on an A100 at Dataoorts", (), "buy_price", ["704.22 hours"]),  # 500 ÷ 0.71
    ("5000 块能用多久", ("租 A100 一小时多少钱",), "price", ["174.58 小时"]),
    ("5000 能用几天", ("租 A100 一小时多少钱",), "budget", ["174.58 小时", "7.27 天"]),
    ("how long would 5000 last", ("how much is it to rent an A100 per hour",), "budget", ["174.58 hours"]),
    ("how long can I run it on 5000", ("how much is a Tencent T4 per hour",), "price", ["576.03 hours"]),
    # yuan beside prices in dollars: at the rate of rates.csv, told with its year; 5,000 ÷ 7.189 = 695.51
    ("5000 块能用多久", ("租一张 4090 多少钱一小时",), "budget", ["695.51 美元", "1,830.28 小时", "年平均"]),
    ("5000 块能用多久，汇率 7", ("租一张 4090 多少钱一小时",), "budget", ["714.29 美元", "你给的汇率"]),
]  # fmt: skip


@pytest.mark.parametrize(("question", "turns", "intent", "words"), HOURS)
def test_money_for_time_is_hours_of_rent(question: str, turns: tuple[str, ...], intent: str, words: list[str]) -> None:
    _, result = run(question, intent, *turns)
    assert [word for word in words if word not in result.text] == [], result.text
    assert (result.status, result.verified) == ("answered", True), result.text


@pytest.mark.parametrize(
    ("question", "intent", "word"),
    [
        ("I have 100,000 yuan, how many A100 can I buy", "buy_price", "buys 1 A100 card"),
        ("10 万块能买几张 A100", "budget", "能买 1 张"),
        ("7 万买 A100，多久回本，租每小时 28 元", "budget", "2,500 小时"),
        ("5000 块腾讯 T4 每天 8 小时一个月够吗", "budget", "**够**"),
    ],
)
def test_money_for_cards_and_money_for_a_stated_time_keep_their_answers(question: str, intent: str, word: str) -> None:
    _, result = run(question, intent)
    assert word in result.text, result.text


def test_month_of_yuan_without_a_card_leads_with_how_far_it_goes_and_shows_dollar_rents_at_a_stated_rate() -> None:
    """10,000 yuan: a T4 at 8.68 yuan takes 6,336.40 for 730 hours, an A100 20,907.20; at 7.189 it is 1,391.01 dollars."""
    _, result = run("预算每月 1 万，能长期租什么卡", "budget")
    assert "预算内价位最高的是腾讯云 T4" in result.text
    assert "**10,000 元 = 1,391.01 美元**" in result.text
    dollars = result.text.split("按美元报价")[1]
    costs = [Decimal(cost.replace(",", "")) for cost in re.findall(r"\| ([\d,]+\.\d\d) \|$", dollars, re.M)]
    assert costs
    assert max(costs) <= Decimal("1391.01")
    assert result.verified


def test_money_that_rents_nothing_for_the_time_says_so() -> None:
    _, result = run("2000 块租一个月能租什么卡", "budget")
    assert "一张也租不满" in result.text
