"""A rate between two currencies, and a sum in another currency beside its own: each with the year and source of the rate.

Rates are those of rates.csv (averages of a year), or the reader's own. Prices side by side are made in exchange.py.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from assistant import render
from assistant.agreed_rate import agreed_rate
from assistant.calculator.calculation import number
from assistant.evidence import Finding
from assistant.ledger import Ledger
from assistant.understand import Request
from knowledge.names import normalise

WORDS = {
    "CNY": r"人民币|元|rmb|cny|yuan|块",
    "USD": r"美元|美金|美刀|刀|usd|us dollars?|dollars?|\$",
    "EUR": r"欧元|euros?|eur|€",
    "GBP": r"英镑|pounds?|gbp|£",
    "JPY": r"日元|日币|yen|jpy",
}
RATE_ASKED = re.compile(
    r"汇率|等于(?:多少|几)|(?:兑|换|折合|合|是)(?:成|算)?(?:多少|几)|exchange rate|convert|how (?:much|many) .{0,24}(?:in|is|per|for|to)|worth",
    re.I,
)
AMOUNT = re.compile(r"(?P<value>\d[\d,]*(?:\.\d+)?)\s*(?P<scale>万|亿|k(?![a-z]))?\s*$", re.I)
DOLLARS = re.compile(r"美元|美金|美刀|\busd\b|dollars?", re.I)
SCALES = {"万": Decimal(10**4), "亿": Decimal(10**8), "k": Decimal(1000)}


def rate_question(request: Request, book: Ledger) -> Finding | None:
    """ "1 美元等于多少元": the rate of rates.csv with its year and source; None where something else is asked."""
    text = normalise(request.question).lower()
    s = request.slots
    if s.gpus or s.providers or s.models or s.unknown or s.workloads or not RATE_ASKED.search(text):
        return None
    named = _currencies(text)
    if not named or len(named) > 2 or (len(named) == 1 and "汇率" not in text and "rate" not in text):
        return None
    (start, source), target = named[0], (named[1][1] if len(named) == 2 else _other(named[0][1]))
    found = AMOUNT.search(text[:start])
    amount = (
        Decimal(found["value"].replace(",", "")) * SCALES.get(found["scale"] or "", Decimal(1)) if found else Decimal(1)
    )
    line = in_currency(amount, source, target, request, book)
    return book.finding("answered", line) if line else None


@dataclass(frozen=True)
class Converted:
    """An amount in another currency, and the line that says it with the rate, its year and its source."""

    value: Decimal
    line: str


def in_currency(amount: Decimal, source: str, target: str, request: Request, book: Ledger) -> str:
    """An amount in another currency, with the rate, its year and its source; empty where no rate is known."""
    found = convert(amount, source, target, request, book)
    return found.line if found else ""


def convert(amount: Decimal, source: str, target: str, request: Request, book: Ledger) -> Converted | None:
    """An amount in another currency at the reader's rate or that of rates.csv; None where no rate is known."""
    own, rates, mark, years = agreed_rate(request.question), [], "", []
    for currency in dict.fromkeys((source, target)):
        row = book.catalog.rate(currency)
        if currency == "USD":
            continue
        if own and currency == "CNY":
            rates.append({"currency": "CNY", "per_usd": own, "as_of": str(row.year) if row else "", "source": book.say("你给的汇率", "your rate")})  # fmt: skip
        elif row:
            rates.append({"currency": currency, "per_usd": row.units_per_usd, "as_of": str(row.year), "source": row.source})  # fmt: skip
            mark += book.cite_rate(row)
            years.append(str(row.year))
        else:
            return None
    result = book.compute("currency_conversion", amount=amount, from_currency=source, to_currency=target, rates=rates)
    lang = book.language
    before, after = render.amount(amount, source, lang), render.cash(result.value, target, lang)
    if amount == 1:  # a rate, not a sum: all its digits
        after = render.amount(result.value, target, lang)
    per_usd = "; ".join(f"1 USD = {number(Decimal(str(rate['per_usd'])))} {rate['currency']}" for rate in rates)
    whose = (
        book.say("你给的汇率", "your rate")
        if not years
        else book.say(f"{years[0]} 年平均汇率", f"average rate of {years[0]}")
    )
    line = book.say(f"**{before} = {after}**（按 {whose}：{per_usd}）{mark}。这是年平均，不是今天的汇率。" if years else f"**{before} = {after}**（按{whose}：{per_usd}）。",
                    f"**{before} = {after}** ({whose}: {per_usd}) {mark}. This is a year's average, not today's rate." if years else f"**{before} = {after}** ({whose}: {per_usd}).")  # fmt: skip
    return Converted(result.value, line)


def converted(total: Decimal, currency: str, request: Request, book: Ledger) -> str:
    """A sum in the currency that the reader wants it in; empty where that is its own."""
    wanted = "USD" if "dollars" in request.aspects else "CNY" if "yuan" in request.aspects else currency
    if wanted == currency == "CNY" and agreed_rate(request.question) and DOLLARS.search(request.question):
        wanted = "USD"  # both are asked for, at the reader's rate
    return in_currency(total, currency, wanted, request, book) if wanted != currency else ""


def _currencies(text: str) -> list[tuple[int, str]]:
    """(place, code) of each currency named, in order, each once."""
    taken = [
        (match.start(), match.end(), code)
        for code, words in WORDS.items()
        for match in re.finditer(rf"(?<![a-z])(?:{words})(?![a-z])" if code != "CNY" else rf"(?<![美欧日a-z])(?:{words})(?![a-z])", text)
    ]  # fmt: skip
    first: dict[str, int] = {}
    for start, _, code in sorted(taken):
        first.setdefault(code, start)
    return [(start, code) for code, start in first.items()]


def _other(currency: str) -> str:
    return "CNY" if currency != "CNY" else "USD"
