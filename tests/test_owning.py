"""Owning against renting: totals, break-even and sensitivities worked out here, in one currency, every figure traced."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_answer import run

MONTH_H, PUE = 730, 1.56


def owning_month(cards: int, watts: float, utilisation: float, per_kwh: float) -> float:
    """Power: cards at full load while used and a tenth of it while idle, a host of a quarter of their rated power."""
    rated = cards * watts / 1000
    return (rated * utilisation + rated * 0.1 * (1 - utilisation) + rated * 0.25) * PUE * MONTH_H * per_kwh


def ask(question: str, *turns: str) -> str:
    _, answer = run(question, "buy_or_rent", *turns)
    assert (answer.status, answer.verified) == ("answered", True), answer.text
    return answer.text


def amount(value: float) -> str:
    return f"{value:,.2f}"


def test_cards_years_and_utilisation_get_totals_and_break_even() -> None:
    text = ask("buy or rent 8 H100 for 3 years at 60 % utilisation")
    purchase = 8 * 18_549.95 * 1.25  # SXM street price, a quarter more for the servers
    rent, own = (
        float(re.search(r"([\d.]+) USD/hour per GPU", text)[1]) * 8 * MONTH_H * 0.6,
        owning_month(8, 700, 0.6, 0.15),
    )  # type: ignore[index]
    head = text.splitlines()[0]
    assert f"Buying costs {amount(purchase + own * 36)} USD" in head
    assert f"renting {amount(rent * 36)} USD" in head
    assert ("buying is cheaper" in head) == (rent * 36 > purchase + own * 36)
    assert f"pays back after {purchase / (rent - own):.1f} months" in text
    assert "changes it most" in text


def test_chinese_question_in_dollars_where_no_yuan_rent_is_known() -> None:
    text = ask("买 8 卡 4090 服务器还是租，用两年哪个划算")
    purchase, own = 8 * 3_129.99 * 1.25, owning_month(8, 450, 1, 0.15)
    assert f"买共 {amount(purchase + own * 24)} 美元" in text.splitlines()[0]
    assert "24 个月" in text.splitlines()[0]
    assert "没说利用率，按全天满负荷" in text
    assert "禁售" in text  # the export rule for a buyer in China


def test_yuan_rows_are_compared_with_yuan_rows() -> None:
    text = ask("Should I buy or rent 4 A100 for 18 months, power 0.8 yuan/kWh, 40% utilization?")
    own = 4 * 69_999 * 1.25 + 18 * owning_month(4, 250, 0.4, 0.8)
    assert (
        f"Buying costs {amount(own)} CNY, renting {amount(28.64 * 4 * MONTH_H * 0.4 * 18)} CNY" in text.splitlines()[0]
    )
    assert "USD" not in text.split("Source")[0]


def test_other_currency_is_converted_at_a_named_rate() -> None:
    text = ask("买 4 张 L40S 还是租，每小时 12 块，用两年")
    card = round(9_749.95 * 7.189, 2)
    assert "按 2024 年平均汇率换算" in text
    assert f"9,749.95 美元 × 7.189 CNY/USD = {amount(card)}" in text.replace("USD ×", "美元 ×")
    own = round(4 * card * 1.25 + 24 * owning_month(4, 350, 1, 0.63), 2)
    assert f"租共 {amount(12 * 4 * MONTH_H * 24)} 元" in text
    assert f"买共 {amount(own)} 元" in text


def test_foreign_power_price_is_converted_before_cents_are_lost() -> None:
    text = ask("自建 8 卡 H100 服务器和租云用三年比,每天 12 小时,电费 0.6 元/度")
    assert f"600 CNY ÷ 7.189 CNY/USD = {600 / 7.189:.2f} USD" in text
    assert f"电费每月 {amount(owning_month(8, 700, 0.5, round(600 / 7.189, 2) / 1000))} 美元" in text


@pytest.mark.parametrize(("question", "words"), [
    ("T4 买还是租,每天8小时", ["921.54 小时", "115.19", "7,999 元"]),
    ("Should I buy a T4 or rent one, 8 hours a day?", ["921.54", "115.19", "7,999 CNY"]),
])  # fmt: skip
def test_simple_question_keeps_the_simple_break_even(question: str, words: list[str]) -> None:
    text = ask(question)
    assert [word for word in words if word not in text] == []
    assert "PUE" not in text


def test_simple_question_without_a_yuan_rent_is_compared_in_dollars() -> None:
    text = ask("H100 是买还是租合算")
    assert "美元/小时" in text
    assert "没说用多久，按 36 个月" in text


def test_card_without_any_price_is_left_to_the_documents() -> None:
    _, answer = run("MI100 是买还是租", "buy_or_rent")
    assert answer.status != "answered"


def test_price_without_a_rent_asks_for_it() -> None:
    _, answer = run("A10 买还是租", "buy_or_rent")
    if answer.status == "needs_detail":
        assert "18,999" in answer.text
    assert answer.verified


@settings(max_examples=40, deadline=None)
@given(
    cards=st.integers(1, 64), card=st.sampled_from(["4090", "H100", "A100", "T4", "B200", "L40S", "3090", "MI300X"]),
    years=st.sampled_from(["半年", "两年", "五年", ""]), use=st.sampled_from(["", "，利用率 5%", "，每天 9 小时", "，电费 0.7 元/度"]),
)  # fmt: skip
def test_any_combination_is_answered_and_traced(cards: int, card: str, years: str, use: str) -> None:
    text = ask(f"买 {cards} 张 {card} 还是租{f'，用{years}' if years else ''}{use}")
    assert ("更划算" in text.splitlines()[0]) or "购价" in text.splitlines()[0]


def test_english_and_chinese_give_the_same_figures() -> None:
    zh, en = ask("买还是租 4 张 B200，用两年，利用率 0.5"), ask("buy or rent 4 B200 for two years, utilisation 0.5")
    figures = [sorted(re.findall(r"\d[\d,]*\.\d\d(?= (?:美元|USD))", text)) for text in (zh, en)]
    assert figures[0] == figures[1]
    assert figures[0]


@pytest.mark.parametrize(
    "question", ["一年开300天每天10小时,8张A100,买还是租", "8张A100每天10小时，一年用300天，买还是租"]
)
def test_the_hours_of_a_year_are_priced_as_a_year_of_rent(question: str) -> None:
    assert "租一年（8 张 × 3,000 小时）" in ask(question)
    assert f"火山引擎 {amount(8 * 3000 * 40.39)} 元" in ask(question)


def test_the_rent_of_a_year_is_told_in_english() -> None:
    assert "Rent of one year (8 × 3,000 hours)" in ask("8 A100s run 300 days a year, 10 hours a day: buy or rent?")
