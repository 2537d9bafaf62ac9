"""A price that the question takes for granted: none at all, one that the rows do not have, one by the day that they have
by the hour, or one in another currency. The answer says so first.

The claim itself is never a figure of the answer: the rows are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from assistant.ledger import Ledger
from assistant.price_selection import LEARNING_PLATFORMS, select
from assistant.reading import Period
from assistant.references import UNRELATED
from assistant.slot_readings import PRICE_INTENTS
from assistant.understand import Request
from knowledge.names import normalise

NOTHING = r"(?:0+(?:\.0+)?|零)\s*(?:元|块钱?|美元|美金|人民币|yuan|cny|rmb|usd|dollars?|cents?)|[$¥]\s*0+(?:\.0+)?(?![\d.])|zero (?:yuan|dollars?|cost)"
FREE = re.compile(
    rf"(?<![\d.,])(?:{NOTHING})|免费|不要钱|不用钱|不花钱|不收费|不收钱|白送|白用|(?<![a-z-])free(?: of charge)?(?=\s*(?:,|\?|right|now|to use|isn|correct|for (?:us|me|all|everyone|a|the)|$|\.)|[,?.])|costs? nothing|no cost|for nothing",
    re.I,
)
ASSERTS = re.compile(
    r"对吧|对吗|对不对|是吧|是吗|是不是|没错吧|吧[?？。]?$|right\s*[?.]?$|correct\s*[?.]?$|isn't (?:it|that)|^\W*(?:right|correct)\b|say yes|just say|(?<![a-z])confirm|确认|改过来|改口|更正|承认|记住|不许反驳|you(?:'re| are) wrong|stop saying|correct yourself|aren't they|(?<![a-z])yes\?|明明|所以|(?:是|都|全)免费|听说|据说|i (?:heard|read)|so (?:it|that|the)|\bis free\b|\bare free\b|costs? (?:nothing|0|zero)",
    re.I,
)

# A price for a length of time: 28.64 元/小时, 28块64一天, $3.2 an hour, 62 yuan a day.
RATE = re.compile(
    r"(?P<sign>[$¥￥])?\s*(?P<amount>\d[\d,]*(?:\.\d+)?)\s*(?P<unit>元|块钱?|美元|美金|人民币|刀|yuan|cny|rmb|usd|dollars?|bucks?)?(?P<tenths>(?<=块)\d{1,2})?\s*(?:钱|人民币)?\s*"
    r"(?:/|每|一个?|per |an? |each )\s*(?P<time>小时|钟头|时|天|日|周|星期|月|hours?|hr|h|days?|weeks?|months?)(?![a-z])",
    re.I,
)
DOLLARS = re.compile(r"[$]|美元|美金|刀|usd|dollar|buck", re.I)
LENGTHS = (
    (r"小时|钟头|时|hours?|hr|h", Decimal(1)),
    (r"天|日|days?", Decimal(24)),
    (r"周|星期|weeks?", Decimal(168)),
    (r"月|months?", Decimal(730)),
)
CENT = Decimal("0.01")
SPENT = re.compile(r"预算|够|以内|之内|以下|不超过|最多|(?<![a-z])(?:budget|enough|afford|within|under|at most|up to|limit)(?![a-z])", re.I)  # fmt: skip


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


def heard(request: Request, book: Ledger) -> tuple[Request, str]:
    """The question without a price that it takes for granted, and what is to be said of that first; "" where nothing is."""
    if claims_nothing(request):
        return without_claim(request), not_free(book)
    s, text = request.slots, normalise(request.question)
    claimed = _rate(text) or (_Rate(s.price_per_hour, Decimal(1), s.price_currency, "") if s.price_per_hour else None)
    if claimed is None or not (s.gpus and s.providers) or s.items or s.pairs or "mine" in request.aspects:
        return request, ""
    if request.intent in UNRELATED - {"manipulation"} or not ASSERTS.search(text) or SPENT.search(text):
        return request, ""
    left = tuple(period for period in s.periods if period.text not in claimed.words)
    aspects = request.aspects - {"dollars", "yuan", "limit"}
    asked = without_claim(replace(request, aspects=aspects, slots=replace(s, periods=left)))
    prices = {(offer.price_per_gpu_hour, offer.currency) for offer in select(asked, book).offers}
    if not prices or (_computes(request, left) and not _is_of_the_hour(claimed, prices)):
        return request, ""  # with a price of the reader's own a sum is computed
    return asked, _verdict(claimed, prices, book)


def _computes(request: Request, left: Sequence[Period]) -> bool:
    longer = any(period.hours != 1 for period in left)  # an hour is what prices are quoted in
    return bool(longer or request.slots.count or request.slots.hours_per_day)


@dataclass(frozen=True)
class _Rate:
    """A price as claimed: so much for a length of time (hours), and its words."""

    amount: Decimal
    hours: Decimal
    currency: str | None
    words: str


def _rate(text: str) -> _Rate | None:
    """The first price by the hour, day, week or month in a text; None without one."""
    match = RATE.search(text)
    if match is None:
        return None
    amount = Decimal(match["amount"].replace(",", ""))
    if tenths := match["tenths"]:  # 28 块 64
        amount += Decimal(tenths) / 10 ** len(tenths)
    said = f"{match['sign'] or ''}{match['unit'] or ''}".lower()
    currency = "USD" if DOLLARS.search(said) or (not said and DOLLARS.search(text)) else "CNY" if said else None
    hours = next(hours for words, hours in LENGTHS if re.fullmatch(words, match["time"], re.I))
    return _Rate(amount, hours, currency, match.group())


def _is_of_the_hour(claimed: _Rate, prices: set[tuple[Decimal, str]]) -> bool:
    """Whether what is claimed for a longer time is just what the rows have for an hour."""
    return claimed.hours != 1 and any(amount == claimed.amount and claimed.currency in (None, currency) for amount, currency in prices)  # fmt: skip


def _verdict(claimed: _Rate, prices: set[tuple[Decimal, str]], book: Ledger) -> str:
    """Whether the rows have the price that is claimed; if only its time or its currency is wrong, that."""
    hourly = {amount for amount, _ in prices}
    in_currency = {amount for amount, currency in prices if claimed.currency in (None, currency)}
    if any(abs(claimed.amount - amount * claimed.hours) < CENT for amount in in_currency):
        return book.say("**对，和表里的价格一致。**", "**Yes, that is the price on file.**")
    if _is_of_the_hour(claimed, prices):
        return book.say("**不对，表里的这个价格是每小时的**，不是更长时间的：", "**No, that price is per hour**, not for a longer time:")  # fmt: skip
    if claimed.amount in hourly:
        return book.say("**不对，数目对，货币不对**，以表为准：", "**No: the amount is right, the currency is not**; on file is:")  # fmt: skip
    return book.say("**不对，和表里的价格不符**，以表为准：", "**No, that is not the price on file**, which is:")


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
