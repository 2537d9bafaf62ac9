"""What renting costs, what an amount of money rents, and how prices compare.

Pure arithmetic on the numbers given: no table is read, no currency is converted.
"""

from __future__ import annotations

import math
from decimal import ROUND_FLOOR, Decimal
from typing import Annotated

from pydantic import Field

from assistant.calculator.calculation import Amount, Calculation, Count, Currency, HoursPerDay, money, number
from assistant.evidence import Frozen


class RentalCostInput(Frozen):
    """N instances for some hours. `price_per_hour` is the price of one instance of `gpus_per_instance` GPUs."""

    gpus: Count = 1
    hours: Amount
    price_per_hour: Amount
    currency: Currency = "CNY"
    gpus_per_instance: Count = 1


def rental_cost(given: RentalCostInput) -> Calculation:
    """cost = ceil(gpus / gpus_per_instance) x hours x price of one instance-hour."""
    instances = math.ceil(given.gpus / given.gpus_per_instance)
    cost = money(instances * given.hours * given.price_per_hour)
    formula = (
        f"{instances} × {number(given.hours)} h × {number(given.price_per_hour)} {given.currency}/h"
        f" = {cost:,} {given.currency}"
    )
    return Calculation(
        value=cost, unit=given.currency, formula=formula,
        outputs={"cost": cost, "instances": instances, "gpus_billed": instances * given.gpus_per_instance,
                 "hours": given.hours, "currency": given.currency},
    )  # fmt: skip


class BudgetHoursInput(Frozen):
    """An amount of money, what `gpus` GPUs cost an hour each, and how many hours a day they run."""

    budget: Amount
    price_per_hour: Amount
    gpus: Count = 1
    hours_per_day: HoursPerDay = Decimal(24)
    currency: Currency = "CNY"


def budget_hours(given: BudgetHoursInput) -> Calculation:
    """hours = budget / (price per hour x gpus); days = hours / hours per day."""
    hours = given.budget / (given.price_per_hour * given.gpus)
    shown = hours.quantize(Decimal("0.01"), rounding=ROUND_FLOOR)
    days = (hours / given.hours_per_day).quantize(Decimal("0.01"), rounding=ROUND_FLOOR)
    divisor = f"{number(given.price_per_hour)} {given.currency}/h" + (f" × {given.gpus}" if given.gpus > 1 else "")
    return Calculation(
        value=shown, unit="hour",
        formula=f"{number(given.budget)} {given.currency} ÷ ({divisor}) = {shown:,} h",
        outputs={"hours": shown, "days": days, "gpus": given.gpus, "hours_per_day": given.hours_per_day},
    )  # fmt: skip


class BudgetCardsInput(Frozen):
    """An amount of money for a period of `hours`, and the price of one GPU-hour."""

    budget: Amount
    hours: Amount
    price_per_hour: Amount
    currency: Currency = "CNY"
    gpus: Count = 1


def budget_cards(given: BudgetCardsInput) -> Calculation:
    """cards = floor(budget / (price per hour x hours)); also what `gpus` cards would cost and leave over."""
    one = given.price_per_hour * given.hours
    cards = int(given.budget / one)
    cost = money(one * given.gpus)
    left = money(given.budget - one * given.gpus)
    return Calculation(
        value=Decimal(cards), unit="card",
        formula=f"floor({number(given.budget)} {given.currency} ÷ ({number(given.price_per_hour)} {given.currency}/h"
                f" × {number(given.hours)} h)) = {cards}",
        outputs={"cards": cards, "gpus": given.gpus, "cost": cost, "left_over": left, "short_by": max(-left, Decimal(0)),
                 "cost_of_one": money(one), "hours": given.hours, "currency": given.currency},
    )  # fmt: skip


class ComparisonInput(Frozen):
    """Two amounts in one currency and unit: `dearer` is the larger one."""

    dearer: Amount
    cheaper: Amount
    currency: Currency = "CNY"


def price_difference(given: ComparisonInput) -> Calculation:
    """Difference, surplus in percent of the cheaper, saving in percent of the dearer, and the ratio."""
    if given.dearer < given.cheaper:
        raise ValueError(f"dearer {given.dearer} is below cheaper {given.cheaper}: swap the two")
    difference = given.dearer - given.cheaper
    surplus = money(difference / given.cheaper * 100)
    saving = money(difference / given.dearer * 100)
    ratio = money(given.dearer / given.cheaper)
    return Calculation(
        value=difference, unit=given.currency,
        formula=f"{number(given.dearer)} − {number(given.cheaper)} = {number(difference)};"
                f" ÷ {number(given.cheaper)} = {surplus} %; ÷ {number(given.dearer)} = {saving} %",
        outputs={"difference": difference, "surplus_percent": surplus, "saving_percent": saving, "ratio": ratio,
                 "currency": given.currency},
    )  # fmt: skip


class AmountsInput(Frozen):
    """Amounts in one currency and unit."""

    amounts: Annotated[tuple[Amount, ...], Field(min_length=1)]
    currency: Currency = "CNY"


def average_price(given: AmountsInput) -> Calculation:
    """Arithmetic mean of the amounts."""
    mean = (sum(given.amounts, Decimal(0)) / len(given.amounts)).quantize(Decimal("0.0001"))
    terms = " + ".join(number(a) for a in given.amounts)
    return Calculation(
        value=mean, unit=given.currency, formula=f"({terms}) ÷ {len(given.amounts)} = {number(mean)}",
        outputs={"average": mean, "count": len(given.amounts), "currency": given.currency},
    )  # fmt: skip


def sum_of_costs(given: AmountsInput) -> Calculation:
    """Sum of amounts in one currency."""
    total = money(sum(given.amounts, Decimal(0)))
    terms = " + ".join(number(a) for a in given.amounts)
    return Calculation(
        value=total, unit=given.currency, formula=f"{terms} = {total:,} {given.currency}",
        outputs={"total": total, "count": len(given.amounts), "currency": given.currency},
    )  # fmt: skip
