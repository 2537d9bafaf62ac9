"""What several cards have in all: memory, bandwidth, peak speed, rated power.

Arithmetic on the numbers given: it knows no card, and says nothing of how much of a sum a job can use.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field

from assistant.calculator.calculation import Amount, Calculation, Count, number
from assistant.evidence import Frozen

SummedUnit = Literal["GB", "GiB", "GB/s", "TFLOPS", "TOPS", "W"]


class CardsOfAKind(Frozen):
    """So many cards, and what each of them has."""

    cards: Count = 1
    each: Amount


class CardTotalInput(Frozen):
    """The kinds of cards, and the unit of what is added up."""

    parts: Annotated[tuple[CardsOfAKind, ...], Field(min_length=1)]
    unit: SummedUnit


def card_total(given: CardTotalInput) -> Calculation:
    """total = sum of cards x what one card has."""
    total = sum((part.cards * part.each for part in given.parts), Decimal(0))
    terms = " + ".join(f"{part.cards:,} × {number(part.each)} {given.unit}" for part in given.parts)
    return Calculation(
        value=total, unit=given.unit, formula=f"{terms} = {number(total)} {given.unit}",
        outputs={"total": total, "cards": sum(part.cards for part in given.parts), "unit": given.unit},
    )  # fmt: skip
