"""The user's own purchase price and rent in a question about buying or renting, told apart by the words before them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from assistant.quantity import Quantity
from assistant.workload_words import OWNS

MOST_RENT = 1000  # of a GPU hour; more is a purchase price
LEAST_BUDGET = 500
LIMITED = re.compile(
    r"(?:不超过?|别超过?|低于|少于|不到|控制在|最多|上限|每[个]?月|每年|每天|预算|手[里头]有|total of|at most|no(?:t)? more than|up to|under|below|per month|a month|monthly)\s*(?:是|为|of|:|：)?\s*$"
)
LIMIT_BEHIND = re.compile(
    r"\s*(?:左右|上下)?\s*(?:以内|以下|之内|的?预算|[一每/]个?[月年]|per (?:month|year)|a (?:month|year)|in all|in total|能租|够租|可以租)"
)
# What may stand behind an amount without a unit; anything else is what is counted.
FREE = re.compile(
    r"\s*(?:$|[，,。.;；?？!！)）]|左右|上下|以内|以下|之内|内|的?预算|[一每/]个?[月年天周]|per |a |in (?:all|total)|total|over |for |to |能|够|可以|租|买)"
)
BOUGHT = re.compile(
    r"买价|购价|单价|卡价|购买价|售价|每张|一张|每块|单卡|整机|(?<![a-z])(?:buy(?:ing)?(?: price)?|purchase(?: price)?|price|each|per card|per gpu)(?![a-z])|买"
)
RENTED = re.compile(r"租金|租价|租|(?<![a-z])rent(?:al|ing|ed)?(?![a-z])")
EACH = re.compile(
    r"每[张块卡]|一[张块]|单卡|单价|卡价|(?<![a-z])(?:each|per (?:card|gpu)|apiece|a card)(?![a-z])|/\s*(?:card|gpu|张|卡)"
)


@dataclass(frozen=True)
class StatedDeal:
    """What buying was said to cost (one card's price where `per_card`), and the rent of a GPU hour where no hour was said."""

    price: Quantity | None = None
    per_card: bool = False
    rent: Quantity | None = None


def stated_deal(text: str, quantities: Sequence[Quantity]) -> StatedDeal:
    """Each amount goes to the nearest word before it; nothing where buying and renting are not both said."""
    lowered = text.lower()
    price = rent = None
    each = False
    for q in quantities if OWNS.search(lowered) else ():
        if q.kind != "money" or q.value <= 0:
            continue
        before = lowered[
            max((p.end for p in quantities if p.kind.startswith("money") and p.end <= q.start), default=0) : q.start
        ]
        bought = max((m.end() for m in BOUGHT.finditer(before)), default=0)
        rented = max((m.end() for m in RENTED.finditer(before)), default=0)
        if rented > bought and q.value < MOST_RENT:
            rent = rent or q
        elif bought > rented and q.value >= Decimal(100) and price is None:
            price, each = q, bool(EACH.search(before[-12:]) or EACH.match(lowered[q.end :].lstrip()))
    return StatedDeal(price, each, rent)


def with_budget(text: str, quantities: Sequence[Quantity]) -> list[Quantity]:
    """The quantities with a large bare number as money where only a budget can be meant: 不超过 5 万, 2 万一个月能租几张."""
    money = any(q.kind.startswith("money") for q in quantities)
    return list(quantities) if money else [_as_money(text, q) for q in quantities]


def _as_money(text: str, q: Quantity) -> Quantity:
    limited = LIMITED.search(text[: q.start].lower()) or LIMIT_BEHIND.match(text[q.end :].lower())
    free = FREE.match(text[q.end :].lower())
    meant = q.kind == "bare" and not q.unit and q.value >= LEAST_BUDGET and limited and free
    return replace(q, kind="money") if meant else q
