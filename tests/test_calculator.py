"""The calculators against sums done by hand, their traps, and what must hold for any numbers."""

from __future__ import annotations

import contextlib
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.calculator.calculation import HOURS_PER_MONTH, HOURS_PER_YEAR, Calculation, money, number
from assistant.calculator.training_time import clock
from assistant.tools import CALCULATORS, ToolError, calculate, calculate_json

MONEY = st.decimals(min_value="0.01", max_value="1000000", places=2)
HOURS = st.integers(1, 10_000)
COUNTS = st.integers(1, 1000)
# (rows, seconds) of ChatGLM2 with LoRA: 1:29:08 = 5,348 s and 5:45:08 = 20,708 s.
LORA2 = {"small_rows": 9999, "small_seconds": 5348, "large_rows": 39333, "large_seconds": 20708}


def cost(hours: Any, price: Any, gpus: Any = 1, **more: Any) -> Calculation:
    return calculate("rental_cost", hours=hours, price_per_hour=price, gpus=gpus, **more)


@pytest.mark.parametrize(
    ("gpus", "hours", "price", "expected"),
    [
        (4, 72, "28.64", "8248.32"),  # 4 x 72 = 288; 288 x 28.64
        (1, 24, "28.64", "687.36"),
        (1, 720, "28.64", "20620.80"),  # a month of 30 days
        (1, 730, "28.64", "20907.20"),  # a month of 8,760 / 12 hours
        (1, 8760, "28.64", "250886.40"),  # a year
        (1, 1, "34.742", "34.74"),  # the third decimal is rounded in the total only
        (8, 24, "40.39", "7754.88"),
        (1, 3, "0.005", "0.02"),  # 0.015 is rounded up, not to the even digit
        (1, 5, "0.005", "0.03"),  # 0.025 too
        (1, "2.5", "11.28", "28.20"),
    ],
)
def test_rental_cost_is_count_times_hours_times_price(gpus: int, hours: Any, price: str, expected: str) -> None:
    assert cost(hours, price, gpus).value == Decimal(expected)


def test_rental_cost_shows_its_formula_with_the_numbers_put_in() -> None:
    result = cost(72, "28.64", 4)
    assert result.formula == "4 × 72 h × 28.64 CNY/h = 8,248.32 CNY"
    assert (result.unit, result.outputs["instances"], result.outputs["gpus_billed"]) == ("CNY", 4, 4)


@pytest.mark.parametrize(("gpus", "instances"), [(1, 1), (8, 1), (9, 2), (16, 2), (17, 3)])
def test_an_instance_of_eight_gpus_is_billed_whole_and_its_price_is_not_multiplied_by_eight(
    gpus: int, instances: int
) -> None:
    result = cost(1, "98.32", gpus, gpus_per_instance=8, currency="USD")
    assert result.value == instances * Decimal("98.32")
    assert (result.outputs["instances"], result.outputs["gpus_billed"]) == (instances, instances * 8)


def test_a_month_is_730_hours_and_a_year_8760() -> None:
    assert HOURS_PER_MONTH == 730
    assert HOURS_PER_YEAR == 8760


@pytest.mark.parametrize(
    ("value", "unit", "hours_per_day", "hours", "formula"),
    [
        (1, "month", 24, "730", "1 month × 730 h = 730 h"),
        (1, "year", 24, "8760", "1 year × 8,760 h = 8,760 h"),
        (3, "quarter", 24, "6570", "3 quarter × 2,190 h = 6,570 h"),
        (2, "week", 24, "336", "2 week × 168 h = 336 h"),
        (22, "day", 8, "176", "22 day × 24 h × 8/24 = 176 h"),
        (90, "minute", 24, "1.5", "90 minute ÷ 60 = 1.5 h"),
        (20, "minute", 24, "0.3333", "20 minute ÷ 60 = 0.3333 h"),
    ],
)
def test_period_hours(value: int, unit: str, hours_per_day: int, hours: str, formula: str) -> None:
    result = calculate("period_hours", value=value, unit=unit, hours_per_day=hours_per_day)
    assert (result.value, result.formula) == (Decimal(hours), formula)
    assert bool(result.assumptions) == (unit in ("month", "quarter"))  # how long a month is taken to be


def test_budget_hours_5000_at_11_28_is_443_26_hours_rounded_down() -> None:
    result = calculate("budget_hours", budget=5000, price_per_hour="11.28")  # 443.2624...
    assert (result.value, result.outputs["days"]) == (Decimal("443.26"), Decimal("18.46"))  # / 24 = 18.469...
    assert result.formula == "5,000 CNY ÷ (11.28 CNY/h) = 443.26 h"


def test_budget_hours_are_shared_by_the_gpus_and_spread_over_the_hours_of_a_day() -> None:
    result = calculate("budget_hours", budget=1000, price_per_hour=10, gpus=4, hours_per_day=5)
    assert [result.value, result.outputs["days"]] == [Decimal(25), 5]  # 1000 / (10 x 4); 25 / 5
    assert result.formula == "1,000 CNY ÷ (10 CNY/h × 4) = 25.00 h"


def test_budget_cards_25000_a_month_of_730_hours_does_not_pay_alibabas_a100() -> None:
    result = calculate("budget_cards", budget=25000, hours=730, price_per_hour="34.742")  # 730 x 34.742 = 25,361.66
    assert result.value == 0
    assert (result.outputs["cost_of_one"], result.outputs["short_by"]) == (Decimal("25361.66"), Decimal("361.66"))


def test_budget_cards_20000_a_month_of_720_hours_pays_three_tencent_t4() -> None:
    result = calculate("budget_cards", budget=20000, hours=720, price_per_hour="8.68", gpus=2)  # one: 6,249.60
    assert result.value == 3
    assert (result.outputs["cost"], result.outputs["left_over"]) == (Decimal("12499.20"), Decimal("7500.80"))
    assert result.outputs["short_by"] == 0


def test_budget_cards_never_rounds_up_to_a_card_that_the_money_does_not_pay() -> None:
    budget = "2.99999999999999999999999999999999"  # / 1 rounds to 3 in 28 digits
    assert calculate("budget_cards", budget=budget, hours=1, price_per_hour=1).value == 2


def test_difference_of_40_39_and_28_64() -> None:
    result = calculate("price_difference", dearer="40.39", cheaper="28.64")
    assert result.value == Decimal("11.75")
    assert result.outputs["surplus_percent"] == Decimal("41.03")  # 11.75 / 28.64
    assert result.outputs["saving_percent"] == Decimal("29.09")  # 11.75 / 40.39
    assert result.outputs["ratio"] == Decimal("1.41")


def test_difference_of_equal_prices_is_nothing() -> None:
    result = calculate("price_difference", dearer=5, cheaper=5)
    assert [result.value, result.outputs["surplus_percent"], result.outputs["ratio"]] == [0, 0, 1]


def test_average_and_sum_of_the_three_a100_prices() -> None:
    amounts = ["40.39", "34.742", "28.64"]  # sum 103.772
    assert calculate("average_price", amounts=amounts).value == Decimal("34.5907")
    assert calculate("sum_of_costs", amounts=amounts).value == Decimal("103.77")


def test_pt2_against_lora_on_chatglm2_saves_1_41_17_and_22_69_percent() -> None:
    # 7:26:25 = 26,785 s; 5:45:08 = 20,708 s; 6,077 s = 1:41:17; 6,077 / 26,785 = 0.22688; 26,785 / 20,708 = 1.2935
    result = calculate("run_difference", slower_seconds=26785, faster_seconds=20708)
    assert (result.value, result.outputs["saved"]) == (Decimal(6077), "1:41:17")
    assert result.outputs["saved_percent"] == Decimal("22.69")
    assert result.outputs["speedup_factor"] == Decimal("1.29")
    assert result.formula.startswith("7:26:25 − 5:45:08 = 1:41:17")


def test_run_speed_of_20708_seconds_for_39333_rows() -> None:
    result = calculate("run_speed", rows=39333, seconds=20708)
    assert result.value == Decimal("0.5265")  # 20,708 / 39,333 = 0.52648
    assert result.outputs["rows_per_hour"] == 6838  # 39,333 x 3,600 / 20,708 = 6,837.9


@pytest.mark.parametrize(
    ("rows", "duration", "kind"),
    [
        (20_000, "2:56:25", "interpolation"),  # 5,348 + 10,001 x 15,360 / 29,334 = 10,584.8 s
        (100_000, "14:34:35", "extrapolation"),  # 5,348 + 90,001 x 15,360 / 29,334 = 52,474.6 s
        (9_999, "1:29:08", "interpolation"),
        (39_333, "5:45:08", "interpolation"),
        (5_000, "0:45:30", "extrapolation"),  # 5,348 - 4,999 x 15,360 / 29,334 = 2,730.4 s
    ],
)
def test_estimate_is_the_straight_line_through_both_runs(rows: int, duration: str, kind: str) -> None:
    outputs = calculate("run_estimate", rows=rows, **LORA2).outputs
    assert (outputs["duration"], outputs["kind"]) == (duration, kind)


def test_run_cost_of_5_45_08_at_2_2_an_hour() -> None:
    result = calculate("run_cost", seconds=20708, price_per_hour="2.2")  # 5.75222 h x 2.2 = 12.6549
    assert (result.value, result.outputs["hours"]) == (Decimal("12.65"), Decimal("5.7522"))


def test_23_hours_on_an_a100_are_10_hours_at_2_3_times_the_speed() -> None:
    assert calculate("faster_card_time", hours=23, factor="2.3").value == 10


def test_break_even_price_of_28_64_and_2_3_is_65_872() -> None:
    result = calculate("break_even_price", price_per_hour="28.64", factor="2.3")
    assert (result.value, result.unit) == (Decimal("65.872"), "CNY/hour")
    assert result.formula == "28.64 CNY/h × 2.3 = 65.872 CNY/h"


@pytest.mark.parametrize(
    ("low", "high", "card", "cards", "fits"),
    [
        (85, 100, 24, (4, 5), "no"),  # ceil(3.54), ceil(4.17)
        (85, 100, 80, (2, 2), "no"),
        (80, 80, 80, (1, 1), "just"),
        (80, 80, 40, (2, 2), "no"),
        (80, 90, 85, (1, 2), "partly"),
        (80, 90, 90, (1, 1), "yes"),
    ],
)
def test_cards_needed_rounds_up_at_both_ends(low: int, high: int, card: int, cards: tuple[int, int], fits: str) -> None:
    outputs = calculate("cards_needed", memory_min_gb=low, memory_max_gb=high, card_memory_gb=card).outputs
    assert (outputs["cards_min"], outputs["cards_max"], outputs["fits"]) == (*cards, fits)


def test_cards_needed_says_that_it_goes_by_memory_alone() -> None:
    result = calculate("cards_needed", memory_min_gb=85, memory_max_gb=100, card_memory_gb=24)
    assert result.formula == "ceil(85 GB ÷ 24 GB) = 4; ceil(100 GB ÷ 24 GB) = 5"
    assert "只按显存" in result.assumptions[0].text["zh"]
    assert "by memory alone" in result.assumptions[0].text["en"]


def test_64_cards_of_40_gb_hold_2560_gb() -> None:
    assert calculate("total_memory", cards=64, card_memory_gb=40).formula == "64 × 40 GB = 2,560 GB"


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0:00:00"), (59, "0:00:59"), (4817, "1:20:17"), (360_000, "100:00:00")]
)
def test_clock(seconds: int, text: str) -> None:
    assert clock(seconds) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [("28.640", "28.64"), ("72", "72"), ("20620.80", "20,620.8"), ("1E+3", "1,000"), ("100", "100"), ("0.50", "0.5")],
)
def test_numbers_are_plain_digits_without_idle_zeros(value: str, text: str) -> None:
    assert number(Decimal(value)) == text


RENTAL = {"hours": 72, "price_per_hour": "28.64"}


@pytest.mark.parametrize(
    "value", [0, -5, "-28.64", 1e30, "1e13", float("nan"), "NaN", float("inf"), "-Infinity", "abc", "", None, True, [1]]
)
@pytest.mark.parametrize("field", ["hours", "price_per_hour"])
def test_an_impossible_amount_is_refused_and_named(field: str, value: object) -> None:
    with pytest.raises(ToolError) as refusal:
        calculate_json("rental_cost", RENTAL | {field: value})
    assert f"{field}: " in str(refusal.value)
    assert f"got {value!r}" in str(refusal.value)


@pytest.mark.parametrize("value", [0, -1, 2.5, "four", 1_000_001, True, None, float("nan")])
def test_an_impossible_count_is_refused_and_named(value: object) -> None:
    with pytest.raises(ToolError) as refusal:
        calculate_json("rental_cost", RENTAL | {"gpus": value})
    assert "gpus: " in str(refusal.value)
    assert f"got {value!r}" in str(refusal.value)


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("price_difference", {"dearer": 1, "cheaper": 2}, "dearer 1 is below cheaper 2: swap"),
        ("run_difference", {"slower_seconds": 10, "faster_seconds": 20}, "slower_seconds 10 is below 20: swap"),
        ("cards_needed", {"memory_min_gb": 100, "memory_max_gb": 85, "card_memory_gb": 24}, "85 is below .* 100"),
        ("run_estimate", LORA2 | {"rows": 5, "small_rows": 39333}, "small_rows 39333 must be below large_rows 39333"),
        ("run_estimate", LORA2 | {"rows": 5, "small_seconds": 30000}, "30000 must be below large_seconds 20708"),
        ("run_estimate", LORA2 | {"rows": 5, "small_seconds": 100}, "5 rows are too few"),
        ("faster_card_time", {"hours": 7, "factor": "0.5"}, "factor 0.5 is below 1"),
        ("budget_hours", {"budget": 1, "price_per_hour": 1, "hours_per_day": 25}, "hours_per_day: .* 24, got 25"),
        ("period_hours", {"value": 3, "unit": "fortnight"}, "unit: .*got 'fortnight'"),
        ("average_price", {"amounts": []}, r"amounts: .*got \[\]"),
        ("sum_of_costs", {"amounts": [1, -2]}, r"amounts.1: .*got -2"),
        ("rental_cost", RENTAL | {"currency": "yuan"}, "currency: .*got 'yuan'"),
        ("rental_cost", RENTAL | {"gpu": "A100"}, "gpu: Extra .*got 'A100'"),
        ("rental_cost", {"hours": 1}, "price_per_hour: Field required"),
        ("rental_cost", {"hours": "1e12", "price_per_hour": "1e12", "gpus": 10**6}, "beyond what can be computed"),
        ("budget_hours", {"budget": 1, "price_per_hour": "1e-40"}, "beyond what can be computed.*1e-40"),
        ("budget_cards", {"budget": 1, "price_per_hour": "1e-40", "hours": 1}, "beyond what can be computed.*1e-40"),
        ("cards_needed", {"memory_min_gb": 1, "memory_max_gb": 1, "card_memory_gb": "1e-40"}, "beyond .*1e-40"),
    ],
)
def test_what_makes_no_sense_is_refused_with_the_value_and_the_way_out(
    tool: str, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(ToolError, match=message):
        calculate_json(tool, arguments)


@given(MONEY, HOURS, COUNTS, COUNTS)
def test_cost_is_linear_in_count_and_in_hours(price: Decimal, hours: int, gpus: int, times: int) -> None:
    one = cost(hours, price, gpus).value
    assert cost(hours, price, gpus * times).value == one * times
    assert cost(hours * times, price, gpus).value == one * times


@given(MONEY, MONEY, COUNTS)
def test_the_hours_that_a_budget_buys_cost_no_more_than_the_budget(budget: Decimal, price: Decimal, gpus: int) -> None:
    hours = calculate("budget_hours", budget=budget, price_per_hour=price, gpus=gpus).value
    assert hours * price * gpus <= budget < (hours + Decimal("0.01")) * price * gpus


@given(MONEY, MONEY, HOURS)
def test_a_budget_pays_its_cards_and_not_one_more(budget: Decimal, price: Decimal, hours: int) -> None:
    cards = calculate("budget_cards", budget=budget, price_per_hour=price, hours=hours).value
    assert cards * price * hours <= budget < (cards + 1) * price * hours


@given(MONEY, MONEY)
def test_difference_and_percentages_agree(a: Decimal, b: Decimal) -> None:
    dearer, cheaper = max(a, b), min(a, b)
    result = calculate("price_difference", dearer=dearer, cheaper=cheaper)
    assert cheaper + result.value == dearer
    assert result.outputs["surplus_percent"] == money((dearer / cheaper - 1) * 100)
    assert 0 <= Decimal(result.outputs["saving_percent"]) <= 100
    assert Decimal(result.outputs["saving_percent"]) <= Decimal(result.outputs["surplus_percent"])


@given(MONEY, MONEY, MONEY, MONEY)
def test_more_memory_per_card_never_needs_more_cards(
    need: Decimal, more: Decimal, card: Decimal, bigger: Decimal
) -> None:
    def needed(memory: Decimal) -> tuple[int, int]:
        outputs = calculate(
            "cards_needed", memory_min_gb=need, memory_max_gb=need + more, card_memory_gb=memory
        ).outputs
        return int(outputs["cards_min"]), int(outputs["cards_max"])

    (low, high), (low_of_bigger, high_of_bigger) = needed(card), needed(card + bigger)
    assert low_of_bigger <= low <= high
    assert high_of_bigger <= high
    assert (low - 1) * card < need <= low * card


@given(st.integers(1, 10**6), st.integers(1, 10**6))
def test_the_time_saved_and_the_faster_run_make_the_slower_run(a: int, b: int) -> None:
    result = calculate("run_difference", slower_seconds=max(a, b), faster_seconds=min(a, b))
    hours, minutes, seconds = map(int, str(result.outputs["saved"]).split(":"))
    assert min(a, b) + hours * 3600 + minutes * 60 + seconds == max(a, b)


@given(st.integers(9999, 10**7), st.integers(1, 10**6))
def test_more_rows_never_take_less_time(rows: int, more: int) -> None:
    fewer, larger = (calculate("run_estimate", rows=n, **LORA2).value for n in (rows, rows + more))
    assert fewer <= larger


ANY_ARGUMENT = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8), st.decimals(), st.lists(st.integers(), max_size=3)
)  # fmt: skip


@settings(deadline=None)  # the first draw that names a model loads the tables
@given(st.data(), st.sampled_from(sorted(CALCULATORS)))
def test_no_argument_whatever_makes_a_calculator_fail_with_anything_but_a_tool_error(data: Any, tool: str) -> None:
    fields = sorted(CALCULATORS[tool].given.model_fields)
    arguments = data.draw(st.fixed_dictionaries({}, optional=dict.fromkeys(fields, ANY_ARGUMENT)))
    with contextlib.suppress(ToolError):
        assert calculate_json(tool, arguments)[1].value.is_finite()
