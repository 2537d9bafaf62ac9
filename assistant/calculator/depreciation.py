"""How a purchase loses its value: straight line and MACRS-5, year by year and as points in months.

Arithmetic on the numbers given; what cards fetch second-hand is an argument.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field, model_validator

from assistant.calculator.calculation import NO_TRUTH, Amount, Calculation, money, number
from assistant.calculator.energy import AmountOrNone
from assistant.calculator.magnitudes import significant
from assistant.evidence import Frozen

Method = Literal["at-once", "straight-line", "macrs-5"]
# IRS Publication 946, table A-1: 5-year property, half-year convention, share of the cost by year.
MACRS_5 = tuple(Decimal(rate) for rate in ("0.2", "0.32", "0.192", "0.1152", "0.1152", "0.0576"))
ZERO = Decimal(0)


class DepreciationInput(Frozen):
    """What was paid, what it fetches at the end (straight line only), the method, and the year asked about."""

    cost: Amount
    resale_value: AmountOrNone = ZERO
    life_years: Annotated[int, Field(ge=1, le=50), NO_TRUTH] = 5
    method: Literal["straight-line", "macrs-5"] = "straight-line"
    year: Annotated[int, Field(ge=1, le=100), NO_TRUTH] = 1

    @model_validator(mode="after")
    def _loses_value(self) -> DepreciationInput:
        if self.resale_value > self.cost:
            raise ValueError(f"resale_value {self.resale_value} is above cost {self.cost}: nothing depreciates")
        return self


def depreciation(given: DepreciationInput) -> Calculation:
    """Straight line: (cost - resale) / life each year; MACRS-5: 20, 32, 19.2, 11.52, 11.52, 5.76 % of the cost.

    The MACRS rates are those of IRS Publication 946, table A-1 (5 years, half-year convention): tax, not economics.
    """
    macrs = given.method == "macrs-5"
    straight = (given.cost - given.resale_value) / given.life_years
    yearly = [given.cost * rate for rate in MACRS_5] if macrs else [straight] * given.life_years
    rows: list[dict[str, Decimal | int | str]] = []
    book = given.cost
    for year, amount in enumerate(yearly, start=1):
        book -= amount
        rows.append({"year": year, "depreciation": money(amount), "book_value": money(book)})
    value = yearly[given.year - 1] if given.year <= len(yearly) else ZERO
    if given.year > len(yearly):
        formula = f"year {given.year} is after the {len(yearly)} years of the schedule: 0"
    elif macrs:
        formula = f"{number(given.cost)} × {number(MACRS_5[given.year - 1] * 100)} % = {money(value):,}"
    else:
        formula = f"({number(given.cost)} − {number(given.resale_value)}) ÷ {given.life_years} = {money(value):,}"
    return Calculation(
        value=significant(value, 12), unit="per year", formula=formula, rows=tuple(rows),
        outputs={"depreciation": money(value), "year": given.year, "method": given.method, "years": len(yearly)},
    )  # fmt: skip


def written_off_points(method: Method, at_risk: Decimal, life_months: int) -> tuple[tuple[Decimal, Decimal], ...]:
    """(month, value lost by then), straight between points and constant after the last; `at_risk` is purchase - resale."""
    if method == "at-once":
        return ((Decimal(0), at_risk),)
    if method == "straight-line":
        return ((Decimal(life_months), at_risk),)
    return tuple((Decimal(12 * year), at_risk * sum(MACRS_5[:year])) for year in range(1, len(MACRS_5) + 1))
