"""How many times one card's figure is another's: memory, bandwidth, peak speed, power.

Arithmetic on the numbers given: it knows no card, and no job that runs as much faster.
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from typing import Self

from pydantic import model_validator

from assistant.calculator.calculation import Amount, Calculation, number
from assistant.calculator.card_totals import SummedUnit
from assistant.evidence import Frozen


class CardRatioInput(Frozen):
    """Two figures of one unit; the larger one is divided by the other."""

    larger: Amount
    smaller: Amount
    unit: SummedUnit

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.larger < self.smaller:
            raise ValueError(f"larger ({number(self.larger)}) is below smaller ({number(self.smaller)}): swap them")
        return self


def card_ratio(given: CardRatioInput) -> Calculation:
    """ratio = larger / smaller."""
    ratio = (given.larger / given.smaller).quantize(Decimal("0.01"), rounding=ROUND_HALF_UP)
    return Calculation(
        value=ratio, unit="x", outputs={"ratio": ratio},
        formula=f"{number(given.larger)} {given.unit} ÷ {number(given.smaller)} {given.unit} = {number(ratio)}",
    )  # fmt: skip
