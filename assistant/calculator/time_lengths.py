"""A length of time in hours: the hours of each unit, those used of each day, and the formula as the length was said.

Pure arithmetic: it reads no words and knows no calendar, so that a month is the twelfth part of a year.
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from typing import Literal

from assistant.calculator.calculation import (
    HOURS_PER_MONTH,
    HOURS_PER_WEEK,
    HOURS_PER_YEAR,
    Amount,
    Assumption,
    Calculation,
    HoursPerDay,
    number,
)
from assistant.calculator.magnitudes import significant
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
SHORT = 6  # decimals of a length that is written as it is
SMALLER = ("year", "quarter", "month", "week", "day", "hour", "minute")


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
    said = _as_said(given.value, given.unit)
    length = " + ".join(
        f"{number(value)} {unit} {'÷ 60' if unit == 'minute' else f'× {number(HOURS_OF_UNIT[unit])} h'}"
        for value, unit in said
    )
    formula = f"{f'({length})' if part and len(said) > 1 else length}{part} = {number(shown)} h"
    return Calculation(
        value=shown, unit="hour", formula=formula, outputs={"hours": shown},
        assumptions=(MONTH,) if given.unit in ("month", "quarter") else (),
    )  # fmt: skip


def _as_said(value: Decimal, unit: str) -> list[tuple[Decimal, str]]:
    """1.1643835616... months as 1 month and 5 days: a length that is no short decimal in the units it is made of."""
    if value == round(value, SHORT):
        return [(value, unit)]
    whole = Decimal(int(value))
    hours = (value - whole) * HOURS_OF_UNIT[unit]
    for smaller in SMALLER[SMALLER.index(unit) + 1 :] if unit in SMALLER else ():
        rest = round(hours / HOURS_OF_UNIT[smaller], SHORT)
        if rest == rest.to_integral() and rest:
            return [*([(whole, unit)] if whole else []), (rest.to_integral(), smaller)]
    return [(significant(value), unit)]
