"""Answers about the price of a minute or a second: a fraction of an hour's price, with more digits than a bill has.

Prices are rows or the reader's own; how many minutes are billed at least, no row says.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from assistant import render
from assistant.calculator.calculation import number
from assistant.evidence import Finding
from assistant.ledger import Ledger
from assistant.reading import Period
from assistant.rental_terms import Rate
from assistant.understand import Request

SECOND = re.compile(r"每秒|一秒|per second|a second|/\s*s(?:ec)?\b", re.I)
MINUTE = re.compile(r"每分钟|一分钟|per minute|a minute|each minute|/\s*min", re.I)


def per_minute(
    request: Request, rates: Sequence[Rate], count: int, periods: Sequence[Period], book: Ledger
) -> Finding | None:
    """What one minute or second of each rate costs; None where another time is asked."""
    if not periods or any(period.unit != "minute" or period.value > 1 for period in periods):
        return None
    in_seconds = bool(SECOND.search(request.question))
    if not (in_seconds or MINUTE.search(request.question)):
        return None
    unit, quantity = ("second", 3600) if in_seconds else ("minute", 60)
    what = book.say("秒" if in_seconds else "分钟", unit)
    lines, lang = [], book.language
    for rate in rates:
        result = book.compute(
            "price_per_unit", price=rate.price_per_gpu * count, quantity=quantity, unit=unit, currency=rate.currency
        )
        price = number(Decimal(result.outputs["price_per_unit"]))
        cards = render.gpus_text(count, rate.gpu, lang) if rate.mark or count > 1 else ""
        who = book.say(
            f"{rate.label} {cards}".strip(),
            f"{cards} at {rate.label}" if rate.mark else f"{cards} {rate.label}".strip(),
        )
        lines.append(f"**{who}{book.say('：', ': ')}{price} {render.unit(rate.currency, lang)}/{what}**{book.say('', ' ')}{rate.mark}  \n"
                     + render.formula(_worded(result.formula, what, unit, book), lang))  # fmt: skip
    return book.finding(
        "answered",
        "  \n".join(lines),
        book.say("最短计费时长没有数据。", "How short a time is billed at least is not on file.")
        if rates[0].mark
        else "",
    )


def _worded(formula: str, what: str, unit: str, book: Ledger) -> str:
    return formula if book.language == "en" else formula.replace(unit, what)
