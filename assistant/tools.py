"""The menu of calculators, and what turns one of their results into a Call that an answer can show.

Everything that may compute a figure of an answer is named here; nothing here renders.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from assistant.calculator import inference_memory, purchase, rental, training_time
from assistant.calculator.calculation import Calculation
from assistant.evidence import Call, Language

FAULTS_SHOWN = 3  # of a call that has many
LONGEST_VALUE_SHOWN = 200  # characters of a refused value


class ToolError(Exception):
    """A calculator was asked for something it cannot compute; the message names the value and the way out."""


@dataclass(frozen=True)
class Calculator:
    """A calculator: its input model, whose schema documents it, and its function."""

    given: type[BaseModel]
    compute: Callable[[Any], Calculation]


CALCULATORS: dict[str, Calculator] = {
    "period_hours": Calculator(rental.PeriodHoursInput, rental.period_hours),
    "rental_cost": Calculator(rental.RentalCostInput, rental.rental_cost),
    "budget_hours": Calculator(rental.BudgetHoursInput, rental.budget_hours),
    "budget_cards": Calculator(rental.BudgetCardsInput, rental.budget_cards),
    "price_difference": Calculator(rental.ComparisonInput, rental.price_difference),
    "average_price": Calculator(rental.AmountsInput, rental.average_price),
    "sum_of_costs": Calculator(rental.AmountsInput, rental.sum_of_costs),
    "purchase_cost": Calculator(purchase.PurchaseCostInput, purchase.purchase_cost),
    "purchasable_cards": Calculator(purchase.PurchasableCardsInput, purchase.purchasable_cards),
    "run_difference": Calculator(training_time.RunDifferenceInput, training_time.run_difference),
    "run_total": Calculator(training_time.RunTotalInput, training_time.run_total),
    "run_speed": Calculator(training_time.RunSpeedInput, training_time.run_speed),
    "run_estimate": Calculator(training_time.RunEstimateInput, training_time.run_estimate),
    "run_cost": Calculator(training_time.RunCostInput, training_time.run_cost),
    "faster_card_time": Calculator(training_time.FasterCardInput, training_time.faster_card_time),
    "break_even_price": Calculator(training_time.BreakEvenPriceInput, training_time.break_even_price),
    "cards_needed": Calculator(inference_memory.CardsNeededInput, inference_memory.cards_needed),
    "total_memory": Calculator(inference_memory.TotalMemoryInput, inference_memory.total_memory),
}


def calculate(tool: str, **arguments: object) -> Calculation:
    """Run one calculator by name. Raises ToolError for an unknown name or arguments it refuses."""
    return calculate_json(tool, arguments)[1]


def calculate_json(tool: str, arguments: dict[str, Any]) -> tuple[BaseModel, Calculation]:
    """The validated input and the result of one calculator."""
    if tool not in CALCULATORS:
        raise ToolError(f"no calculator is called {tool!r}; there are {', '.join(CALCULATORS)}")
    calculator = CALCULATORS[tool]
    try:
        given = calculator.given.model_validate(arguments)
        return given, calculator.compute(given)
    except ValidationError as error:
        faults = "; ".join(_fault(fault) for fault in error.errors()[:FAULTS_SHOWN])
        raise ToolError(f"{tool}: {faults}; see `gpu-advisor calc {tool} --schema`") from error
    except ValueError as error:
        raise ToolError(f"{tool}: {error}") from error
    except ArithmeticError as error:  # more digits than decimal arithmetic keeps
        raise ToolError(
            f"{tool}: the result is beyond what can be computed exactly, got {_short(arguments)}"
        ) from error


def call(tool: str, language: Language, **arguments: object) -> tuple[Call, Calculation]:
    """Run a calculator and keep the record that goes into the answer."""
    given, result = calculate_json(tool, dict(arguments))
    record = Call(
        tool=tool, arguments=given.model_dump(mode="json"), result=result.model_dump(mode="json", include={"value", "unit", "outputs"}),
        formula=result.formula, assumptions=tuple(a.text[language] for a in result.assumptions),
    )  # fmt: skip
    return record, result


def _fault(fault: ErrorDetails) -> str:
    where = ".".join(map(str, fault["loc"]))
    return f"{where + ': ' if where else ''}{fault['msg'].removeprefix('Value error, ')}, got {_short(fault['input'])}"


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= LONGEST_VALUE_SHOWN else f"{text[:LONGEST_VALUE_SHOWN]}…"
