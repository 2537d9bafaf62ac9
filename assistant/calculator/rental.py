"""What renting costs, what an amount of money rents, and how prices compare.

Pure arithmetic on the numbers given: no table is read, no currency is converted.
"""

from __future__ import annotations

from decimal import ROUND_FLOOR, ROUND_HALF_UP, Decimal
from typing import Annotated, Literal

from pydantic import Field

from assistant.calculator.calculation import (
    HOURS_PER_MONTH,
    HOURS_PER_WEEK,
    HOURS_PER_YEAR,
    Amount,
    Assumption,
    Calculation,
    Count,
    Currency,
    HoursPerDay,
    money,
    number,
    whole_times,
)
from assistant.evidence import Bilingual, Frozen

HOURS_OF_UNIT = {
    "minute": Decimal(1) / 60, "hour": Decimal(1), "day": Decimal(24), "week": HOURS_PER_WEEK,
    "month": HOURS_PER_MONTH, "quarter": HOURS_PER_MONTH * 3, "year": HOURS_PER_YEAR,
}  # fmt: skip
MONTH = Assumption(
    name="month", value="730 h",
    text=Bilingual(
        zh="1 个月按 730 小时计（8,760 小时 ÷ 12；按 30 天则是 720 小时）",
        en="1 month is taken as 730 hours (8,760 hours ÷ 12; 30 days would be 720 hours)",
    ),
)  # fmt: skip


class PeriodHoursInput(Frozen):
    """A length of time and how many hours of each day of it are used."""

    value: Amount
    unit: Literal["minute", "hour", "day", "week", "month", "quarter", "year"]
    hours_per_day: HoursPerDay = Decimal(24)


def period_hours(given: PeriodHoursInput) -> Calculation:
    """hours = value x hours of the unit (month 730, year 8,760) x hours per day / 24."""
    hours = given.value * HOURS_OF_UNIT[given.unit] * given.hours_per_day / 24
    shown = hours if hours == hours.to_integral() else hours.quantize(Decimal("0.0001"), rounding=ROUND_HALF_UP)
    part = "" if given.hours_per_day == 24 else f" × {number(given.hours_per_day)}/24"
    each = "÷ 60" if given.unit == "minute" else f"× {number(HOURS_OF_UNIT[given.unit])} h"
    formula = f"{number(given.value)} {given.unit} {each}{part} = {number(shown)} h"
    return Calculation(
        value=shown, unit="hour", formula=formula, outputs={"hours": shown},
        assumptions=(MONTH,) if given.unit in ("month", "quarter") else (),
    )  # fmt: skip


class RentalCostInput(Frozen):
    """N instances for some hours. `price_per_hour` is the price of one instance of `gpus_per_instance` GPUs."""

    gpus: Count = 1
    hours: Amount
    price_per_hour: Amount
    currency: Currency = "CNY"
    gpus_per_instance: Count = 1


def rental_cost(given: RentalCostInput) -> Calculation:
    """cost = ceil(gpus / gpus_per_instance) x hours x price of one instance-hour."""
    instances = -(-given.gpus // given.gpus_per_instance)
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
    cards = whole_times(given.budget, one)
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
                 "whole_cards": whole_times(given.dearer, given.cheaper),
                 "currency": given.currency},
    )  # fmt: skip


class AmountsInput(Frozen):
    """Amounts in one currency and unit."""

    amounts: Annotated[tuple[Amount, ...], Field(min_length=1)]
    currency: Currency = "CNY"


def average_price(given: AmountsInput) -> Calculation:
    """Arithmetic mean of the amounts."""
    mean = (sum(given.amounts, Decimal(0)) / len(given.amounts)).quantize(Decimal("0.0001"), rounding=ROUND_HALF_UP)
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
