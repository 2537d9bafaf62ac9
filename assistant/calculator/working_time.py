"""Hours of use where only some days, and some hours of each, are worked.

Knows no holidays: how many days are worked is given.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field

from assistant.calculator.calculation import HOURS_PER_YEAR, Amount, Calculation, HoursPerDay, number
from assistant.calculator.magnitudes import significant
from assistant.evidence import Frozen, JsonDecimal

HOURS_OF = {"week": Decimal(168), "month": HOURS_PER_YEAR / 12, "quarter": HOURS_PER_YEAR / 4, "year": HOURS_PER_YEAR}
DIGITS = 8


class WorkingHoursInput(Frozen):
    """So many hours on each of `days` days of every week, month, quarter or year, over `periods` of these."""

    hours_per_day: HoursPerDay
    days: Annotated[JsonDecimal, Field(gt=0, le=366)]
    per: Literal["week", "month", "quarter", "year"] = "month"
    periods: Amount = Decimal(1)


def working_hours(given: WorkingHoursInput) -> Calculation:
    """hours = hours per day x days x periods; the share of all hours (month 730, year 8,760) is the utilisation."""
    hours = significant(given.hours_per_day * given.days * given.periods, DIGITS)
    times = "" if given.periods == 1 else f" × {number(significant(given.periods))} {given.per}"
    share = significant(given.hours_per_day * given.days / HOURS_OF[given.per])
    return Calculation(
        value=hours, unit="hour",
        formula=f"{number(given.hours_per_day)} h × {number(significant(given.days))} days{times} = {number(hours)} h",
        outputs={"hours": hours, "hours_per_period": given.hours_per_day * given.days, "days": given.days * given.periods,
                 "utilisation": share},
    )  # fmt: skip
