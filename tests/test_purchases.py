"""Buying cards: orders, budgets, differences and extremes, each figure traced; what has no price is refused."""

from __future__ import annotations

import pytest
from test_answer import run

from assistant.calculator.purchase import PurchasableCardsInput, PurchaseCostInput, purchasable_cards, purchase_cost


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("买8张A800要多少钱", ["**8 张 A800：880,000 元**", "8 × 110,000 元"]),
        ("What would 8 A800 cards cost to buy?", ["**8 A800 cards: 880,000 CNY**"]),
        ("十万块能买几张4090", ["能买 6 张 RTX 4090", "剩 12,406 元"]),
        ("How many 4090s can I buy with 100,000 CNY?", ["buys 6 RTX 4090 cards", "12,406 CNY left over"]),
        ("5千块能买4090吗", ["不够买 1 张", "还差 9,599 元"]),
        ("一百万预算买8张A800够吗", ["**够**", "880,000 元", "120,000 元"]),
        ("Is 500,000 CNY enough to buy 8 A800s?", ["**Not enough**", "380,000 CNY", "4 at most"]),
        ("V100和A10差多少", ["V100 比 A10 贵 24,000 元", "126.32 %"]),
        ("What is the price difference between buying a V100 and an A10?", ["24,000 CNY more than A10"]),
        ("H100单价是A100的几倍", ["3.46 倍"]),
        ("一张H100的钱能买几张4090", ["能买 16 张 RTX 4090", "剩 8,416 元"]),
        ("Purchase price of 2 A100 and 3 H100?", ["**865,998 CNY in all**", "139,998 CNY", "726,000 CNY"]),
        ("买8张4090和2张A100哪个便宜", ["贵 23,206 元", "116,792 元"]),
        ("Which card is the most expensive to buy?", ["dearest is the H100 (242,000 CNY)"]),
        ("买 H800 和 A100 各多少钱", ["69,999 元", "没有购卡价的：H800"]),
    ],
)
def test_what_was_asked_is_the_first_line_and_every_figure_traces(question: str, words: list[str]) -> None:
    _, result = run(question, "buy_price")
    assert [word for word in words if word not in result.text] == [], result.text
    assert (result.status, result.verified) == ("answered", True), result.text
    assert words[0] in result.text.splitlines()[0]


@pytest.mark.parametrize(
    ("question", "extreme"), [("H100 买一张多少钱", "最便宜"), ("What does one T4 cost to buy?", "cheapest")]
)
def test_one_card_is_neither_cheapest_nor_dearest(question: str, extreme: str) -> None:
    _, result = run(question, "buy_price")
    assert extreme not in result.text
    assert result.verified


def test_money_that_names_no_card_lists_only_what_it_buys() -> None:
    _, result = run("三万块能买哪些卡", "buy_price")
    assert "能买 2 张 RTX 4090" in result.text
    assert "不够" not in result.text
    assert result.verified


@pytest.mark.parametrize(
    "question", ["MI100 买一张多少钱", "How much is an RTX 6090 to buy?", "昇腾 910C 买一张多少钱"]
)
def test_card_without_a_price_gets_none(question: str) -> None:
    _, result = run(question, "buy_price")
    assert (result.status, result.verified) == ("not_in_knowledge", True), result.text
    assert "14,599" not in result.text


def test_card_priced_in_dollars_only_is_shown_in_dollars_with_what_kind_of_price_it_is() -> None:
    _, result = run("5090 买一张多少钱", "buy_price")
    assert (result.status, result.verified) == ("answered", True), result.text
    assert [w for w in ("1,999", "美元", "发售建议价") if w not in result.text] == []


def test_dollars_are_not_taken_for_yuan() -> None:
    _, result = run("10000美元能买几张4090", "buy_price")
    assert (result.status, result.verified) == ("answered", True), result.text
    assert "14,599" not in result.text
    assert [w for w in ("6 张", "1,599", "406.00", "3,129.99") if w not in result.text] == [], (
        result.text
    )  # 6 x 1,599 = 9,594


def test_buy_or_rent_counts_hours_of_rent_until_the_card_is_paid() -> None:
    _, result = run("T4 买还是租,每天8小时", "buy_or_rent")
    assert [w for w in ("921.54 小时", "115.19", "7,999 元") if w not in result.text] == []
    assert (result.status, result.verified) == ("answered", True)


def test_exact_budget_buys_the_last_card_and_leaves_nothing() -> None:
    out = purchasable_cards(PurchasableCardsInput(budget="330000", price_per_card="110000", cards=4)).outputs
    assert (out["cards"], out["left_over"], out["wanted_short_by"]) == (3, 0, 110000)
    assert purchase_cost(PurchaseCostInput(cards=8, price_per_card="110000")).value == 880000
