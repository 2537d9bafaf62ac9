"""Comparing, committing and converting rents against sums done by hand: instances, slices, hours and currencies."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.tools import ToolError, calculate

PRICE = st.decimals(min_value="0.01", max_value="500", places=3)
COUNT = st.integers(1, 200)
RATES = [
    {"currency": "CNY", "per_usd": "7.2", "as_of": "2024-05-01", "source": "a bank"},
    {"currency": "EUR", "per_usd": "0.9", "as_of": "2024", "source": "yearly average"},
]


def offer(provider: str, price: Any, **more: Any) -> dict[str, Any]:
    return {"provider": provider, "price": price, **more}


def test_providers_stand_cheapest_first_with_every_period_and_the_spread() -> None:
    result = calculate("rental_comparison", offers=[offer("dear", "2.5"), offer("cheap", "2")], gpus=4)
    first, second = result.rows
    assert (first["provider"], second["provider"]) == ("cheap", "dear")
    # 4 x 2 = 8 an hour: x 24, x 168, x 730, x 8,760 (not 720 and 8,640)
    assert [first[f"per_{p}"] for p in ("hour", "day", "week", "month", "year")] == [8, 192, 1344, 5840, 70080]
    assert [result.value, result.outputs["spread_per_hour"], result.outputs["spread_percent"]] == [8, 2, 25]
    assert result.assumptions[0].name == "month"


@pytest.mark.parametrize(("gpus", "instances", "cost"), [(1, 1, "98.32"), (8, 1, "98.32"), (9, 2, "196.64")])
def test_an_eight_gpu_node_is_billed_whole_and_its_price_is_never_multiplied_by_eight(
    gpus: int, instances: int, cost: str
) -> None:
    row = calculate("rental_comparison", offers=[offer("aws", "98.32", gpus_per_instance=8)], gpus=gpus).rows[0]
    assert (row["instances"], row["gpus_billed"], row["per_hour"]) == (instances, instances * 8, Decimal(cost))


@pytest.mark.parametrize(
    ("fraction", "gpus", "instances"),
    [("0.25", "0.25", 1), ("0.25", 1, 4), ("0.1667", 1, 6), ("0.33", 1, 3), ("0.143", 2, 14), ("0.5", "0.6", 2)],
)
def test_slices_are_billed_by_the_slice_and_a_third_written_0_33_is_a_third(
    fraction: str, gpus: Any, instances: int
) -> None:
    row = calculate("rental_comparison", offers=[offer("x", 1, gpu_fraction=fraction)], gpus=gpus).rows[0]
    assert row["instances"] == instances


def test_a_monthly_price_is_spread_over_730_hours() -> None:
    assert calculate("rental_comparison", offers=[offer("x", 1460, per="instance-month")]).value == 2


def test_prices_in_two_currencies_are_never_compared() -> None:
    with pytest.raises(ToolError, match="CNY and USD cannot be compared: convert them first with currency_conversion"):
        calculate("rental_comparison", offers=[offer("a", 2), offer("b", 14, currency="USD")])


def test_a_card_to_buy_is_no_rent() -> None:
    with pytest.raises(ToolError, match="9000 CNY of 'shop' buys a card"):
        calculate("rental_comparison", offers=[offer("shop", 9000, per="card")])


def test_a_slice_of_several_gpus_makes_no_sense() -> None:
    with pytest.raises(ToolError, match=r"gpu_fraction 0\.5 with gpus_per_instance 8"):
        calculate("rental_comparison", offers=[offer("x", 1, gpu_fraction="0.5", gpus_per_instance=8)])


@pytest.mark.parametrize("value", [0, -3, 1e30, "nan", True])
def test_an_impossible_price_is_refused_and_named(value: object) -> None:
    with pytest.raises(ToolError) as refusal:
        calculate("rental_comparison", offers=[offer("x", value)])
    assert f"got {value!r}" in str(refusal.value)


def test_committed_hours_are_paid_unused_and_spot_hours_are_done_again() -> None:
    result = calculate(
        "rental_terms", hours=100, instances=2, on_demand_price=4, committed_price=2, committed_hours=730,
        spot_price="1.5", rework="0.2", currency="USD",
    )  # fmt: skip
    costs = {row["term"]: row["cost"] for row in result.rows}
    # 2 x 100 x 4; 2 x 730 x 2; 2 x 100 x 1.2 x 1.5
    assert costs == {"on-demand": 800, "committed": 2920, "spot": 360}
    assert [result.value, result.outputs["cheapest"], result.assumptions] == [360, "spot", ()]
    assert result.outputs["commitment_pays_from_hours"] == 365  # 2 x 730 / 4


def test_more_use_than_committed_is_billed_too() -> None:
    result = calculate("rental_terms", hours=1000, committed_price=2, committed_hours=730)
    assert result.value == 2000


def test_an_unstated_rework_share_is_an_assumption_in_both_languages() -> None:
    result = calculate("rental_terms", hours=100, spot_price=1)
    assert result.value == 110
    assert "10%" in result.assumptions[0].text["zh"]
    assert "10 %" in result.assumptions[0].text["en"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [({}, "no price: give"), ({"committed_price": 2}, "committed_price 2 and committed_hours None belong together")],
)
def test_terms_without_a_price_or_half_a_commitment_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ToolError, match=message):
        calculate("rental_terms", hours=1, **arguments)


def test_gpu_hours_and_the_price_of_one() -> None:
    parts = [{"gpus": 512, "hours": 1272}, {"hours": 8}]
    assert calculate("gpu_hours", parts=parts).value == 651_272  # 512 x 1,272 = 651,264
    result = calculate("price_per_gpu_hour", total_cost=672, gpus=8, hours=24, currency="USD")
    assert (result.value, result.unit) == (Decimal("3.5"), "USD/GPU-hour")


@pytest.mark.parametrize(
    ("amount", "source", "target", "expected"),
    [
        (100, "USD", "CNY", "720.00"),
        (720, "CNY", "USD", "100.00"),
        (72, "CNY", "EUR", "9.00"),  # 72 / 7.2 x 0.9
        (5, "EUR", "EUR", "5.00"),
        (1, "CNY", "USD", "0.14"),  # 0.1388... is rounded once, at the end
    ],
)
def test_conversion_goes_by_the_rates_that_are_handed_in(amount: int, source: str, target: str, expected: str) -> None:
    result = calculate("currency_conversion", amount=amount, from_currency=source, to_currency=target, rates=RATES)
    assert (result.value, result.unit) == (Decimal(expected), target)


def test_the_rate_its_date_and_its_source_are_shown() -> None:
    result = calculate("currency_conversion", amount=72, from_currency="CNY", to_currency="EUR", rates=RATES)
    assert result.formula == "72 CNY ÷ 7.2 CNY/USD × 0.9 EUR/USD = 9.00 EUR"
    assert result.outputs["rate_as_of"] == "CNY 2024-05-01; EUR 2024"
    assert [("a bank" in a.text["zh"], a.source) for a in result.assumptions] == [
        (True, "a bank"),
        (False, "yearly average"),
    ]


@pytest.mark.parametrize(
    ("rates", "message"),
    [
        ([], "no rate for CNY"),
        ([RATES[0], RATES[0] | {"as_of": "2023"}], r"2 rates for CNY \(2024-05-01, 2023\)"),
        ([RATES[0] | {"as_of": "lately"}], "as_of.*'lately'"),
        ([RATES[0] | {"source": ""}], "source"),
        ([RATES[0] | {"per_usd": 0}], "per_usd: .*got 0"),
    ],
)
def test_no_conversion_without_one_dated_rate(rates: list[dict[str, str]], message: str) -> None:
    with pytest.raises(ToolError, match=message):
        calculate("currency_conversion", amount=1, from_currency="CNY", to_currency="USD", rates=rates)


@pytest.mark.parametrize(
    ("limit", "kept"),
    [
        ({"field": "price", "maximum": "1.2"}, 1),
        ({"field": "price", "maximum": "1.19"}, 0),
        ({"field": "price", "minimum": "1.2"}, 1),
        ({"field": "total_gpu_memory_gib", "minimum": 80}, 1),  # 2 x 40
        ({"field": "gpu_memory_gib", "minimum": 80}, 0),
        ({"field": "gpus_per_instance", "maximum": 0}, 0),
        ({"field": "cpu_cores", "minimum": 1}, 0),  # not stated
    ],
)
def test_bounds_of_offers_are_included(limit: dict[str, Any], kept: int) -> None:
    row = offer("x", "1.2", gpu="A100", gpu_memory_gib=40, gpus_per_instance=2)
    result = calculate("offers_within", offers=[row], limits=[limit])
    assert result.value == kept
    assert all(bool(result.rows[0][reason]) is not bool(kept) for reason in ("reason_zh", "reason_en"))


@pytest.mark.parametrize(("name", "kept"), [("a100", 1), ("A10", 0)])
def test_gpu_names_match_whole_and_without_regard_to_case(name: str, kept: int) -> None:
    assert calculate("offers_within", offers=[offer("x", 1, gpu="A100")], gpus=[name]).value == kept


@pytest.mark.parametrize(
    ("mib", "known", "gb"),
    [(81559, [80, 94], 80), (95830, [80, 94], 94), (46068, [48], 48), (4096, [24], 4), ("8200.1", [], 8)],
)
def test_reported_memory_snaps_to_a_known_size_within_seven_percent(mib: Any, known: list[int], gb: int) -> None:
    assert calculate("memory_as_sold", reported_mib=mib, known_gb=known).value == gb


@settings(max_examples=50)
@given(PRICE, COUNT, st.integers(1, 50))
def test_cost_is_linear_in_the_number_of_whole_instances(price: Decimal, instances: int, size: int) -> None:
    offers = [offer("x", price, gpus_per_instance=size)]
    one = calculate("rental_comparison", offers=offers, gpus=size).value
    assert calculate("rental_comparison", offers=offers, gpus=size * instances).value == one * instances


@settings(max_examples=50)
@given(st.lists(PRICE, min_size=2, max_size=8, unique=True), st.randoms())
def test_the_order_of_providers_does_not_depend_on_the_order_of_rows(prices: list[Decimal], random: Any) -> None:
    offers = [offer(f"p{i}", price) for i, price in enumerate(prices)]
    first = calculate("rental_comparison", offers=offers, gpus=3).rows
    random.shuffle(offers)
    assert calculate("rental_comparison", offers=offers, gpus=3).rows == first
    assert [row["per_hour"] for row in first] == [3 * price for price in sorted(prices)]


@settings(max_examples=50)
@given(PRICE, st.decimals(min_value="0.01", max_value="200", places=3))
def test_converting_there_and_back_loses_no_more_than_the_cent(amount: Decimal, per_usd: Decimal) -> None:
    rates = [{"currency": "CNY", "per_usd": per_usd, "as_of": "2024", "source": "x"}]
    usd = Decimal("1000000") + amount
    there = calculate("currency_conversion", amount=usd, from_currency="USD", to_currency="CNY", rates=rates).value
    back = calculate("currency_conversion", amount=there, from_currency="CNY", to_currency="USD", rates=rates).value
    assert abs(back - usd) <= Decimal("0.01") + Decimal("0.005") / per_usd
