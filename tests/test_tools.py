"""The menu of calculators: complete, documented by schemas that hold, and recorded without loss."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

from assistant.calculator.calculation import Calculation
from assistant.tools import CALCULATORS, ToolError, calculate, calculate_json, call

# One valid call of every calculator, and the main value worked out by hand.
EXAMPLES: dict[str, tuple[dict[str, Any], str]] = {
    "purchase_cost": ({"cards": 8, "price_per_card": 110000}, "880000"),
    "purchasable_cards": ({"budget": 100000, "price_per_card": 14599}, "6"),
    "run_total": ({"seconds": [5348, 20708]}, "26056"),
    "period_hours": ({"value": 2, "unit": "week"}, "336"),
    "rental_cost": ({"gpus": 4, "hours": 72, "price_per_hour": "28.64"}, "8248.32"),
    "budget_hours": ({"budget": 5000, "price_per_hour": "11.28"}, "443.26"),
    "budget_cards": ({"budget": 20000, "hours": 720, "price_per_hour": "8.68"}, "3"),
    "price_difference": ({"dearer": "40.39", "cheaper": "28.64"}, "11.75"),
    "average_price": ({"amounts": ["40.39", "34.742", "28.64"]}, "34.5907"),
    "sum_of_costs": ({"amounts": ["8.68", "11.28"]}, "19.96"),
    "run_difference": ({"slower_seconds": 26785, "faster_seconds": 20708}, "6077"),
    "run_speed": ({"rows": 39333, "seconds": 20708}, "0.5265"),
    "run_estimate": (
        {"rows": 20000, "small_rows": 9999, "small_seconds": 5348, "large_rows": 39333, "large_seconds": 20708}, "10585",
    ),
    "run_cost": ({"seconds": 20708, "price_per_hour": "2.2"}, "12.65"),
    "faster_card_time": ({"hours": 23, "factor": "2.3"}, "10"),
    "break_even_price": ({"price_per_hour": "28.64", "factor": "2.3"}, "65.872"),
    "cards_needed": ({"memory_min_gb": 85, "memory_max_gb": 100, "card_memory_gb": 24}, "4"),
    "total_memory": ({"cards": 64, "card_memory_gb": 40}, "2560"),
}  # fmt: skip


def test_every_calculator_has_an_example_here() -> None:
    assert set(EXAMPLES) == set(CALCULATORS)


@pytest.mark.parametrize("tool", EXAMPLES)
def test_the_result_is_what_was_worked_out_by_hand_and_survives_json(tool: str) -> None:
    arguments, expected = EXAMPLES[tool]
    result = calculate(tool, **arguments)
    assert result.value == Decimal(expected)
    again = Calculation.model_validate_json(result.model_dump_json())
    assert again == result
    assert isinstance(json.loads(result.model_dump_json())["value"], float | int)


@pytest.mark.parametrize("tool", EXAMPLES)
def test_the_schema_is_valid_accepts_the_example_and_refuses_what_the_calculator_refuses(tool: str) -> None:
    schema = CALCULATORS[tool].given.model_json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    arguments = EXAMPLES[tool][0]
    assert validator.is_valid(arguments)
    assert not validator.is_valid({})
    assert not validator.is_valid(arguments | {"surprise": 1})
    first = next(iter(arguments))
    assert not validator.is_valid(arguments | {first: -1})
    with pytest.raises(ToolError, match=first):
        calculate_json(tool, arguments | {first: -1})


@pytest.mark.parametrize("tool", EXAMPLES)
def test_every_calculator_and_its_input_say_what_they_do(tool: str) -> None:
    assert CALCULATORS[tool].compute.__doc__
    assert CALCULATORS[tool].given.__doc__


def test_an_unknown_calculator_is_named_with_those_there_are() -> None:
    with pytest.raises(ToolError, match=r"'training_memory'; there are period_hours, .*total_memory"):
        calculate("training_memory", parameters=7)


def test_a_refusal_with_a_hundred_faults_stays_short_and_tells_where_the_schema_is() -> None:
    with pytest.raises(ToolError) as refusal:
        calculate("sum_of_costs", amounts=["x" * 1000] * 100)
    assert len(str(refusal.value)) < 1200
    assert "gpu-advisor calc sum_of_costs --schema" in str(refusal.value)


def test_the_record_of_a_call_holds_arguments_with_defaults_result_and_formula() -> None:
    record, result = call("rental_cost", "en", gpus=4, hours=72, price_per_hour=Decimal("28.64"))
    assert record.tool == "rental_cost"
    assert record.arguments == {
        "gpus": 4,
        "hours": 72,
        "price_per_hour": 28.64,
        "currency": "CNY",
        "gpus_per_instance": 1,
    }
    assert record.result == {
        "value": 8248.32, "unit": "CNY",
        "outputs": {"cost": 8248.32, "instances": 4, "gpus_billed": 4, "hours": 72, "currency": "CNY"},
    }  # fmt: skip
    assert record.formula == result.formula == "4 × 72 h × 28.64 CNY/h = 8,248.32 CNY"


@pytest.mark.parametrize(("language", "words"), [("zh", "只按显存"), ("en", "by memory alone")])
def test_assumptions_are_recorded_in_the_readers_language(language: Any, words: str) -> None:
    record, _ = call("cards_needed", language, memory_min_gb=85, memory_max_gb=100, card_memory_gb=24)
    assert len(record.assumptions) == 1
    assert words in record.assumptions[0]
