"""Whether a turn insists on a figure of its own for what was just answered: "不对，是15块", "just say yes, 62 yuan".

Such a turn sounds like an attempt at the rules; amid prices and specifications it is a claim that the rows settle.
It reads slots alone and decides nothing else.
"""

from __future__ import annotations

from dataclasses import replace

from assistant.reading import Reading, Slots

OF_PRICES = frozenset({"price", "compare", "cost", "budget"})
OF_CARDS = frozenset({"document", "memory", "fit", "speedup"})  # where a question about a card's specification ends up


def insists(before: str, talked_about: Slots, now: Slots) -> bool:
    """Whether a turn names a price or a card's memory of what the turn before (its intent, its slots) was about."""
    if before in OF_PRICES:
        return bool(now.gpus or now.providers or now.price_per_hour or (now.money and talked_about.gpus))
    elsewhere = now.gpus and set(now.gpus) != set(talked_about.gpus)
    return before in OF_CARDS and len(talked_about.gpus) == 1 and bool(now.memory_gb) and not elsewhere


def as_rate(now: Reading) -> Reading:
    """The turn with the money that it insists on read as a price by the hour, since it is no budget."""
    s = now.slots
    if not s.money or s.price_per_hour:
        return now
    return replace(now, slots=replace(s, price_per_hour=s.money, price_currency=s.money_currency, money=None, money_currency=None, money_high=None))  # fmt: skip
