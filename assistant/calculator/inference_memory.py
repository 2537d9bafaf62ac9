"""How many cards of a given memory a stated need takes, by memory alone.

Takes the need as given; it derives none from a model's architecture, and it checks no tensor-parallel split.
"""

from __future__ import annotations

from decimal import Decimal

from pydantic import model_validator

from assistant.calculator.calculation import Amount, Assumption, Calculation, Count, number, whole_times
from assistant.evidence import Bilingual, Frozen

BY_MEMORY_ALONE = Assumption(
    name="overhead", value="0 GB",
    text=Bilingual(
        zh="只按显存容量相除，未留运行时余量，也未考虑张量并行能否均分",
        en="by memory alone: no runtime headroom, and whether tensor parallelism can split evenly is not checked",
    ),
)  # fmt: skip


class CardsNeededInput(Frozen):
    """A need of `memory_min_gb` to `memory_max_gb` GB, cards of `card_memory_gb` GB, and how many are at hand."""

    memory_min_gb: Amount
    memory_max_gb: Amount
    card_memory_gb: Amount
    cards: Count = 1

    @model_validator(mode="after")
    def _ordered(self) -> CardsNeededInput:
        if self.memory_max_gb < self.memory_min_gb:
            raise ValueError(f"memory_max_gb {self.memory_max_gb} is below memory_min_gb {self.memory_min_gb}")
        return self


def cards_needed(given: CardsNeededInput) -> Calculation:
    """cards = ceil(need / memory of one card), for both ends of the need; and what `cards` cards hold."""
    needs = dict.fromkeys((given.memory_min_gb, given.memory_max_gb))  # both ends, or the one if they are equal
    cards = [_cards(need, given.card_memory_gb) for need in needs]
    total = given.card_memory_gb * given.cards
    card = number(given.card_memory_gb)
    formula = "; ".join(f"ceil({number(need)} GB ÷ {card} GB) = {n}" for need, n in zip(needs, cards, strict=True))
    return Calculation(
        value=Decimal(cards[0]), unit="card", formula=formula,
        outputs={"cards_min": cards[0], "cards_max": cards[-1], "total_memory_gb": total, "cards": given.cards,
                 "headroom_gb": total - given.memory_min_gb,
                 "fits": _fits(total, given)},
        assumptions=(BY_MEMORY_ALONE,),
    )  # fmt: skip


def _cards(need: Decimal, card: Decimal) -> int:
    whole = whole_times(need, card)
    return whole if whole * card == need else whole + 1


def _fits(total: Decimal, given: CardsNeededInput) -> str:
    if total <= given.memory_min_gb:
        return "just" if total == given.memory_min_gb else "no"
    return "yes" if total >= given.memory_max_gb else "partly"


class TotalMemoryInput(Frozen):
    """`cards` cards of `card_memory_gb` GB each."""

    cards: Count
    card_memory_gb: Amount


def total_memory(given: TotalMemoryInput) -> Calculation:
    """total = cards x memory of one card."""
    total = given.card_memory_gb * given.cards
    return Calculation(
        value=total, unit="GB", formula=f"{given.cards:,} × {number(given.card_memory_gb)} GB = {number(total)} GB",
        outputs={"total_memory_gb": total, "cards": given.cards},
    )  # fmt: skip
