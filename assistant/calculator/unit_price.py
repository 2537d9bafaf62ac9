"""What one unit of something costs, how much of it one unit of money pays for, and what parts cost an hour together.

Arithmetic on the numbers given: it knows no cards and reads no table.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

from pydantic import Field

from assistant.calculator.calculation import Amount, Calculation, Count, Currency, Share, money, number
from assistant.calculator.magnitudes import significant
from assistant.evidence import Frozen

DIGITS = 5
LARGE = 100


class PricePerUnitInput(Frozen):
    """A price and the quantity that it pays for: an hour and its 60 minutes, a GPU-hour and the 245 GiB beside it."""

    price: Amount
    quantity: Amount
    unit: Annotated[str, Field(min_length=1, max_length=40)]
    currency: Currency = "CNY"


def price_per_unit(given: PricePerUnitInput) -> Calculation:
    """price per unit = price / quantity; units per unit of money = quantity / price."""
    price, units = (_shown(x) for x in (given.price / given.quantity, given.quantity / given.price))
    return Calculation(
        value=price, unit=f"{given.currency}/{given.unit}",
        formula=f"{number(given.price)} {given.currency} ÷ {number(given.quantity)} {given.unit}"
                f" = {number(price)} {given.currency}/{given.unit}",
        outputs={"price_per_unit": price, "units_per_price": units, "unit": given.unit, "currency": given.currency},
    )  # fmt: skip


def _shown(value: Decimal) -> Decimal:
    """Five digits, and no fewer than the cents of a large price."""
    return money(value) if value >= LARGE else significant(value, DIGITS)


class DiscountedPriceInput(Frozen):
    """A listed price, and the share of it that is paid: 0.85 where 15 % are taken off."""

    list_price: Amount
    paid_share: Share
    currency: Currency = "CNY"


def discounted_price(given: DiscountedPriceInput) -> Calculation:
    """price paid = listed price x share paid, unrounded as the prices are."""
    price = given.list_price * given.paid_share
    return Calculation(
        value=price, unit=f"{given.currency}/hour",
        formula=f"{number(given.list_price)} × {number(given.paid_share)} = {number(price)} {given.currency}/h",
        outputs={"price": price, "saved": given.list_price - price, "currency": given.currency},
    )  # fmt: skip


class RatedPart(Frozen):
    """So many instances at one price per hour."""

    instances: Count = 1
    price_per_hour: Amount


class CombinedRateInput(Frozen):
    """The parts of an order, all in one currency."""

    parts: Annotated[tuple[RatedPart, ...], Field(min_length=1)]
    currency: Currency = "CNY"


def combined_rate(given: CombinedRateInput) -> Calculation:
    """rate = sum of instances x price per hour, unrounded as the prices are."""
    rate = sum((part.instances * part.price_per_hour for part in given.parts), Decimal(0))
    terms = " + ".join(f"{part.instances:,} × {number(part.price_per_hour)}" for part in given.parts)
    return Calculation(
        value=rate, unit=f"{given.currency}/hour", formula=f"{terms} = {number(rate)} {given.currency}/h",
        outputs={"rate_per_hour": rate, "parts": len(given.parts), "currency": given.currency},
    )  # fmt: skip
