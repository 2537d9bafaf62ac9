"""What a choice of cards keeps to, as the question has it: bought or rented, currency, budget, country, order; and who is ranked.

Reads the request and calls the ranking; it writes nothing.
"""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal

from assistant.deployments import Load, precisions_of
from assistant.gpu_ranking import Bounds, Ranking, ranking
from assistant.ledger import Ledger
from assistant.offer_prices import CardPrice, bought, currency_of, rented
from assistant.served_model import Served, Use
from assistant.understand import Request

PER_MILLION = re.compile(r"百万|100\s*万|per\s*(?:1\s*)?m(?:illion)?(?![a-z])|/\s*(?:1\s*)?m(?:illion)?\s*tok", re.I)
SPARE = re.compile(
    r"主备|备机|备用|冗余|高可用|双机|坏了|宕机|挂了|顶上|容灾|redundan|fail[- ]?over|high availability|(?<![a-z])ha(?![a-z])|spare|n\+1",
    re.I,
)
SINGLE = re.compile(r"单[张块]?[卡显]|[一1][张块][^，。,]{0,6}卡|\bone (?:\w+ )?(?:card|gpu)|\bsingle\b|just one", re.I)
CHINA = "CN"


def ways_of(request: Request, bounds: Bounds) -> list[Bounds]:
    """The bounds as asked; without the export rules that nobody spoke of; and in the other currency, if no sum is given."""
    said = bounds.destination if request.slots.workload.country else ""
    ways = [bounds, replace(bounds, destination=said)]
    if bounds.budget is None:
        other = "USD" if bounds.currency == "CNY" else "CNY"
        ways += [replace(bounds, currency=other, destination=said)]
    return ways


def bounds_of(request: Request, book: Ledger) -> Bounds:
    s, has = request.slots, request.aspects
    in_all = bool(s.money) and not s.periods  # a sum without a time buys cards
    buys = "rent" not in has and not s.price_per_hour and ("buy" in has or in_all) and not s.providers
    currency, hours = (
        currency_of(request, book),
        s.periods[0].hours if s.periods and s.money and not buys else Decimal(1),
    )
    budget = s.price_per_hour or (s.money if buys or s.periods else None)
    in_china = s.workload.country == CHINA or (buys and currency == "CNY")
    per_million = PER_MILLION.search(request.question) is not None and not buys
    order = "cost_per_million_tokens" if per_million else "speed" if "fast" in has and "cheapest" not in has else "cost"
    return Bounds(
        buys,
        currency,
        hours,
        budget,
        CHINA if in_china else "",
        order,
        _most_cards(request),
        SPARE.search(request.question) is not None,
    )


def _most_cards(request: Request) -> int | None:
    """The number of cards where it is said as one: "rent a GPU" and "if one fails" set no limit."""
    count = request.slots.count
    if SPARE.search(request.question):
        return None
    return count if count and (count > 1 or SINGLE.search(request.question)) else None


def rankings_of(request: Request, model: Served, use: Use, load: Load, bounds: Bounds, book: Ledger) -> list[Ranking]:
    """One ranking for each precision; empty where no card in question has a price in the currency."""
    cards, precisions = cards_of(request, bounds, book), precisions_of(model, request.slots.workload)
    return [ranking(model, use, precision, load, cards, bounds, book) for precision in precisions] if cards else []


def cards_of(request: Request, bounds: Bounds, book: Ledger) -> list[CardPrice]:
    found = bought(bounds.currency, book) if bounds.buys else rented(bounds.currency, request.slots.providers, book)
    families = set(book.catalog.members(request.slots.gpus))
    named = [card for card in found if card.gpu.family in families]
    # A card that the clouds named do not rent out was said of something else (what one has, or tested on).
    return named if named or (families and not request.slots.providers) else found
