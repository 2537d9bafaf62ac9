"""Buying against renting, energy and depreciation: sums done by hand, what never breaks even, and what must always hold."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.calculator.calculation import Calculation
from assistant.tools import ToolError, calculate

# 8 cards of 700 W for 30,000 each, server 60,000; busy 60 % of the time, 10 % of the power while idle, 1.4 kW of host:
# 5.6 x (0.6 + 0.4 x 0.1) + 1.4 = 4.984 kW; x 1.5 x 730 h x 0.1 = 545.748 a month. Rent 8 x 2.5 x 730 x 0.6 = 8,760.
NODE: dict[str, Any] = {
    "cards": 8, "price_per_card": 30000, "server_price": 60000, "rent_per_gpu_hour": "2.5", "currency": "USD",
    "utilisation": "0.6", "tdp_w": 700, "load": 1, "idle_load": "0.1", "host_kw": "1.4", "pue": "1.5",
    "price_per_kwh": "0.1", "hosting_per_month": 0, "staff_per_month": 0, "capital_rate": 0, "resale_share": 0,
    "horizon_months": 36,
}  # fmt: skip


def decide(**changes: Any) -> Calculation:
    return calculate("buy_or_rent", **NODE | changes)


def test_both_totals_and_the_break_even_of_a_node() -> None:
    result = decide()
    outputs = result.outputs
    assert outputs["own_total"] == Decimal("319646.93")  # 300,000 + 36 x 545.748
    assert (outputs["rent_total"], outputs["cheaper"]) == (315360, "rent")
    assert result.value == outputs["saving_by_owning"] == Decimal("-4286.93")
    assert outputs["break_even_months"] == Decimal("36.5")  # 300,000 / (8,760 - 545.748) = 36.522
    assert outputs["break_even_hours_used"] == Decimal("15996.6")  # 36.5219 x 730 x 0.6
    assert not result.assumptions


def test_owning_costs_power_while_idle_and_rent_does_not() -> None:
    busy, half = decide(utilisation=1).outputs, decide(utilisation="0.5").outputs
    # 1: (5.6 + 1.4) x 1.5 x 73 = 766.50; 0.5: (2.8 + 0.28 + 1.4) x 1.5 x 73 = 490.56
    assert (busy["power_per_month"], half["power_per_month"]) == (Decimal("766.50"), Decimal("490.56"))
    assert Decimal(half["rent_per_month"]) * 2 == busy["rent_per_month"]


def test_break_even_utilisation_makes_both_totals_equal() -> None:
    # (300,000 / 36 + (0.56 + 1.4) x 109.5) / (8 x 2.5 x 730 - 5.04 x 109.5) = 8,547.953 / 14,048.12 = 60.85 %
    assert decide().outputs["break_even_utilisation_percent"] == Decimal("60.85")
    at_even = decide(utilisation="0.6085").outputs
    assert abs(Decimal(at_even["saving_by_owning"])) < 20  # of 320,000


def test_hosting_staff_capital_and_resale_enter_the_sum() -> None:
    outputs = decide(hosting_per_month=1000, staff_per_month=500, capital_rate="0.06", resale_share="0.2").outputs
    # capital (300,000 + 60,000) / 2 x 0.06 / 12 = 900; 240,000 + 36 x (545.748 + 2,400)
    assert outputs["own_total"] == Decimal("346046.93")


@pytest.mark.parametrize(
    ("depreciation", "lost"),
    [("at-once", 300_000), ("straight-line", 180_000), ("macrs-5", 213_600)],  # 36/60; 20 + 32 + 19.2 % = 71.2 %
)
def test_what_is_lost_by_the_horizon_follows_the_method(depreciation: str, lost: int) -> None:
    rows = decide(depreciation=depreciation, life_months=60).rows
    assert next(row["amount"] for row in rows if row.get("item") == "purchase_less_residual") == lost
    end = next(row for row in rows if row.get("month") == 36)
    assert end["residual"] == 300_000 - lost


def test_straight_line_breaks_even_at_once_or_after_the_cards_are_written_off() -> None:
    # lost 5,000 a month: rent of 8,760 exceeds 5,545.75 from the first day on
    assert decide(depreciation="straight-line").outputs["break_even_months"] == 0
    # rent 1.0: 3,504 a month is below 5,545.75 until month 60, then gains 2,958.252 a month: 300,000 / 2,958.252
    outputs = decide(depreciation="straight-line", rent_per_gpu_hour=1).outputs
    assert (outputs["break_even_months"], outputs["pays_back_within_life"]) == (Decimal("101.4"), "no")


def test_where_renting_is_never_dearer_the_answer_says_so() -> None:
    result = decide(rent_per_gpu_hour="0.1")  # 350.40 a month is below the power alone
    outputs = result.outputs
    assert outputs["break_even_months"] == outputs["break_even_hours_used"] == "never"
    assert outputs["break_even_utilisation_percent"] == "never"
    assert outputs["cheaper"] == "rent"
    assert "renting is never dearer" in result.formula


def test_the_series_starts_at_the_purchase_and_ends_at_the_totals() -> None:
    result = decide()
    series = [row for row in result.rows if row["part"] == "month"]
    assert [row["month"] for row in series] == list(range(37))
    assert (series[0]["own"], series[0]["rent"]) == (300_000, 0)
    assert (series[-1]["own"], series[-1]["rent"]) == (result.outputs["own_total"], result.outputs["rent_total"])


def test_the_widest_swing_is_named_in_both_languages() -> None:
    result = decide()
    swings = {row["input"]: row["swing"] for row in result.rows if row["part"] == "sensitivity"}
    # 20 % of the rent's 315,360; 20 % of the power's 19,646.93
    assert swings["rent_per_gpu_hour"] == 63_072
    assert abs(Decimal(swings["price_per_kwh"]) - Decimal("3929.39")) <= Decimal("0.01")
    assert result.changes_most is not None
    assert result.changes_most["zh"].startswith("租金单价影响最大")
    assert result.changes_most["en"].startswith("the rent changes the result most")


def test_utilisation_is_never_shifted_above_one() -> None:
    rows = decide(utilisation="0.9").rows
    assert next(row["high"] for row in rows if row.get("input") == "utilisation") == 1


def test_every_default_is_stated_with_where_it_comes_from() -> None:
    result = calculate("buy_or_rent", cards=1, price_per_card=10000, rent_per_gpu_hour=10, tdp_w=400)
    stated = {a.name: a for a in result.assumptions}
    assert {"server_price", "load", "idle_load", "host_kw", "pue", "price_per_kwh"} <= stated.keys()
    assert {"hosting_per_month", "staff_per_month", "capital_rate", "resale_share"} <= stated.keys()
    assert all(stated[name].source for name in ("server_price", "load", "idle_load", "host_kw", "pue", "price_per_kwh"))
    assert all(a.text["zh"] and a.text["en"] for a in result.assumptions)


def test_a_gpu_row_gives_the_rated_power() -> None:
    gpu = {"name": "H100", "memory_gib": 80, "tdp_w": 700}
    assert decide(tdp_w=None, gpu=gpu).value == decide().value


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tdp_w": None}, "rated power is not known: give tdp_w"),
        ({"tdp_w": None, "gpu": {"name": "X", "memory_gib": 1}}, "rated power is not known"),
        ({"price_per_kwh": None, "currency": "EUR"}, "no electricity price is known in EUR: give price_per_kwh"),
        ({"idle_load": "0.9", "load": "0.5"}, r"idle_load 0\.9 is above load 0\.5"),
        ({"rent_per_gpu_hour": 0}, "rent_per_gpu_hour: .*got 0"),
        ({"price_per_card": -1}, "price_per_card: .*got -1"),
        ({"price_per_card": 1e30}, "price_per_card: .*got 1e\\+30"),
        ({"pue": "0.9"}, "pue: .*got '0.9'"),
        ({"utilisation": 60}, "utilisation: .*got 60"),
    ],
)
def test_what_makes_no_sense_is_refused_and_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ToolError, match=message):
        decide(**changes)


@pytest.mark.parametrize(
    ("arguments", "value", "years"),
    [
        ({"purchase": 833806, "rent": "98.32", "own": "0.87", "hours_per_day": 4}, "8556.24", "5.86"),
        ({"purchase": 1500, "rent": "42.75", "per": "month"}, "35.09", "2.92"),
        ({"purchase": 1500, "rent": "42.75", "own": "8.4", "per": "month"}, "43.67", "3.64"),
        ({"purchase": 1000, "resale_value": 400, "rent": 2, "own": 1}, "600.00", "0.07"),
        # 12 idle hours at 0.5 are borne by 12 used ones: 1,000 / (2 - 1 - 0.5)
        ({"purchase": 1000, "rent": 2, "own": 1, "hours_per_day": 12, "idle_own_per_hour": "0.5"}, "2000.00", "0.46"),
    ],
)
def test_payback(arguments: dict[str, Any], value: str, years: str) -> None:
    result = calculate("payback", **arguments)
    assert round(result.value, 2) == Decimal(value)
    assert round(Decimal(result.outputs["years"]), 2) == Decimal(years)


def test_a_payback_that_never_comes_is_an_answer() -> None:
    result = calculate("payback", purchase=1000, rent=1, own=2, currency="USD")
    assert [result.value, result.unit, result.outputs["break_even"]] == [-1, "USD/hour", "never"]


def test_energy_cost_and_carbon() -> None:
    # Llama-2-70B: 1,720,320 GPU-h x 0.4 kW x 1.1 = 756,940.8 kWh; x 0.385 kg = 291.42 t
    result = calculate(
        "energy", hours=1720320, gpu_watts=400, load=1, pue="1.1", kg_co2_per_kwh="0.385", price_per_kwh="0.1"
    )
    assert (result.value, result.outputs["mwh"]) == (Decimal("756940.8"), Decimal("756.9408"))
    assert (round(Decimal(result.outputs["co2_t"]), 2), result.outputs["cost"]) == (
        Decimal("291.42"),
        Decimal("75694.08"),
    )
    assert not result.assumptions


def test_unstated_pue_and_load_are_assumptions() -> None:
    result = calculate("energy", hours=1, gpu_watts=1000, host_kw=1)
    assert result.value == Decimal("3.12")  # (1 + 1) x 1.56
    assert [a.name for a in result.assumptions] == ["load", "pue"]


def test_colocation_and_api_costs() -> None:
    assert calculate("colocation_cost", kw=8, price_per_kw_month=300, months=12).value == 28800
    # 30 M in at 0.15 and 60 M out at 0.60
    api = calculate(
        "api_cost", million_tokens=90, input_share="0.25", price_per_million_input=1, price_per_million_output=2
    )
    assert api.value == Decimal("157.50")  # 22.5 + 67.5 x 2


def test_macrs_writes_off_everything_in_six_years_and_straight_line_stops_at_the_resale_value() -> None:
    macrs = calculate("depreciation", cost=250000, method="macrs-5", year=4)
    assert macrs.value == 28800
    assert [row["depreciation"] for row in macrs.rows] == [50000, 80000, 48000, 28800, 28800, 14400]
    assert macrs.rows[-1]["book_value"] == 0
    assert calculate("depreciation", cost=250000, method="macrs-5", year=7).value == 0
    straight = calculate("depreciation", cost=1000, resale_value=100, life_years=3, year=2)
    assert [straight.value, straight.rows[-1]["book_value"]] == [300, 100]


MONEY = st.decimals(min_value="0.05", max_value="20", places=2)


@settings(max_examples=80)
@given(MONEY, MONEY, st.sampled_from(["at-once", "straight-line", "macrs-5"]), st.decimals("0.05", "1", places=2))
def test_a_cheaper_rent_never_gives_an_earlier_break_even(a: Decimal, b: Decimal, method: str, use: Decimal) -> None:
    cheap, dear = (
        decide(rent_per_gpu_hour=rent, depreciation=method, utilisation=use).outputs["break_even_months"]
        for rent in sorted((a, b))
    )
    assert cheap == "never" or (dear != "never" and Decimal(dear) <= Decimal(cheap))


@settings(max_examples=50)
@given(MONEY, st.integers(1, 100), st.sampled_from(["at-once", "straight-line", "macrs-5"]))
def test_totals_are_linear_in_the_number_of_cards(rent: Decimal, times: int, method: str) -> None:
    one = decide(rent_per_gpu_hour=rent, depreciation=method)
    many = decide(
        rent_per_gpu_hour=rent, depreciation=method, cards=8 * times, server_price=60000 * times,
        host_kw=Decimal("1.4") * times,
    )  # fmt: skip
    assert abs(many.value - one.value * times) <= Decimal("0.02") * times
    assert many.outputs["break_even_months"] == one.outputs["break_even_months"]


@settings(max_examples=50)
@given(MONEY, st.decimals("0.05", "1", places=2), st.integers(1, 120))
def test_owning_is_cheaper_exactly_from_the_break_even_on(rent: Decimal, use: Decimal, horizon: int) -> None:
    outputs = decide(rent_per_gpu_hour=rent, utilisation=use, horizon_months=horizon).outputs
    months = outputs["break_even_months"]
    if months == "never" or horizon < Decimal(months) - Decimal("0.06"):
        assert outputs["cheaper"] == "rent"
    elif horizon > Decimal(months) + Decimal("0.06"):
        assert outputs["cheaper"] == "own"
