"""A price that the question takes for granted: none at all, or one that the rows do not have. The answer says so first.

The claim itself is never a figure of the answer: the rows are.
"""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal

from assistant.ledger import Ledger
from assistant.price_selection import LEARNING_PLATFORMS, select
from assistant.references import UNRELATED
from assistant.understand import PRICE_INTENTS, Request
from knowledge.names import normalise

NOTHING = r"(?:0+(?:\.0+)?|零)\s*(?:元|块钱?|美元|美金|人民币|yuan|cny|rmb|usd|dollars?|cents?)|[$¥]\s*0+(?:\.0+)?(?![\d.])|zero (?:yuan|dollars?|cost)"
FREE = re.compile(
    rf"(?<![\d.,])(?:{NOTHING})|免费|不要钱|不用钱|不花钱|不收费|不收钱|白送|白用|(?<![a-z-])free(?: of charge)?(?=\s*(?:,|\?|right|now|to use|isn|correct|for (?:us|me|all|everyone|a|the)|$|\.)|[,?.])|costs? nothing|no cost|for nothing",
    re.I,
)
ASSERTS = re.compile(
    r"对吧|对吗|对不对|是吧|是吗|是不是|没错吧|吧[?？。]?$|right\s*[?.]?$|correct\s*[?.]?$|isn't (?:it|that)|aren't they|(?<![a-z])yes\?|明明|所以|(?:是|都|全)免费|听说|据说|i (?:heard|read)|so (?:it|that|the)|\bis free\b|\bare free\b|costs? (?:nothing|0|zero)",
    re.I,
)


def claims_nothing(request: Request) -> bool:
    """Whether the question takes it that renting a priced card costs nothing."""
    s, text = request.slots, normalise(request.question)
    if (
        not (s.gpus or s.providers)
        or set(s.providers) & LEARNING_PLATFORMS
        or request.intent in UNRELATED - {"manipulation"}
    ):
        return False
    return bool(FREE.search(text) and (ASSERTS.search(text) or request.bad_quantity))


def without_claim(request: Request) -> Request:
    """The question as one about the price: nothing is no quantity to compute with."""
    intent = request.intent if request.intent in PRICE_INTENTS - {"budget"} else "price"
    if intent in ("price", "compare") and request.slots.periods and any(p.hours != 1 for p in request.slots.periods):
        intent = "cost"
    slots = replace(request.slots, money=None, money_currency=None, price_per_hour=None, price_currency=None)
    return replace(request, intent=intent, bad_quantity=None, slots=slots)


def not_free(book: Ledger) -> str:
    return book.say("**不对，不是免费的**：下面是表里的价格。", "**No, it is not free**: these are the prices on file.")


def mismatch(request: Request, book: Ledger) -> str:
    """That the price stated as a fact is not the row's, or is; empty where none is stated so, or no one row is meant."""
    s, text = request.slots, normalise(request.question)
    if not (s.price_per_hour and s.gpus and s.providers and ASSERTS.search(text)) or "mine" in request.aspects:
        return ""
    prices: set[Decimal] = {
        offer.price_per_gpu_hour for offer in select(request, book).offers if s.price_currency in (None, offer.currency)
    }
    if not prices or s.items or s.pairs:
        return ""
    if s.price_per_hour in prices:
        return book.say("**对，和表里的价格一致。**", "**Yes, that is the price on file.**")
    return book.say("**不对，和表里的价格不符**，以表为准：", "**No, that is not the price on file**, which is:")
