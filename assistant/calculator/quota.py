"""Free hours of every week in a time, the weeks that a job of so many hours takes, and subscriptions of several people.

Arithmetic on the numbers given: which platform gives how much, no line here knows.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_HALF_UP, Decimal

from assistant.calculator.calculation import Amount, Calculation, Count, Currency, money, number
from assistant.evidence import Frozen


class QuotaHoursInput(Frozen):
    """`hours_per_week` free hours a week for each of `people`, over `weeks`."""

    hours_per_week: Amount
    weeks: Amount
    people: Count = 1


def quota_hours(given: QuotaHoursInput) -> Calculation:
    """hours = hours per week x weeks x people."""
    total = given.hours_per_week * given.weeks * given.people
    each = f" × {given.people:,}" if given.people > 1 else ""
    return Calculation(
        value=total, unit="hour",
        formula=f"{number(given.hours_per_week)} h × {number(given.weeks)}{each} = {number(total)} h",
        outputs={"hours": total, "weeks": given.weeks, "people": given.people},
    )  # fmt: skip


class QuotaWeeksInput(Frozen):
    """`hours` of work, and `hours_per_week` free hours a week for each of `people` who share it."""

    hours: Amount
    hours_per_week: Amount
    people: Count = 1


def quota_weeks(given: QuotaWeeksInput) -> Calculation:
    """weeks = hours / (hours per week x people), and the whole weeks that this begins."""
    weeks = given.hours / (given.hours_per_week * given.people)
    whole = int(weeks.to_integral_value(ROUND_CEILING))
    shown = weeks.quantize(Decimal("0.01"), rounding=ROUND_HALF_UP)
    weekly = number(given.hours_per_week) + " h"
    divisor = f"({weekly} × {given.people:,})" if given.people > 1 else weekly
    return Calculation(
        value=shown, unit="week", formula=f"{number(given.hours)} h ÷ {divisor} = {number(shown)}",
        outputs={"weeks": shown, "whole_weeks": whole, "people": given.people},
    )  # fmt: skip


class SubscriptionsInput(Frozen):
    """One subscription for each of `people` at `price`, over as many `periods` as the price is said to be of."""

    people: Count
    price: Amount
    periods: Count = 1
    currency: Currency = "USD"


def subscriptions(given: SubscriptionsInput) -> Calculation:
    """cost = people x price x periods."""
    cost = money(given.price * given.people * given.periods)
    long = f" × {given.periods:,}" if given.periods > 1 else ""
    return Calculation(
        value=cost, unit=given.currency,
        formula=f"{given.people:,} × {number(given.price)} {given.currency}{long} = {number(cost)} {given.currency}",
        outputs={"cost": cost, "people": given.people, "periods": given.periods, "currency": given.currency},
    )  # fmt: skip
