"""Answers about prices that the reader states and no card is named for: over a time, per hour of a monthly price, two compared.

Arithmetic on the reader's figures; no row of the price tables is used.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from assistant import costs, render
from assistant.calculator.calculation import number
from assistant.evidence import Finding
from assistant.ledger import Ledger
from assistant.quantity import Quantity
from assistant.reading import read
from assistant.rental_terms import in_hours, month_note, periods_for, span, standard
from assistant.understand import PRICE_INTENTS, Request

HOURLY_ASKED = re.compile(
    r"(?:每|一|1|折合|合|等于)\s*个?(?:小时|钟头)(?:是|合|多少|几|要)|(?:每|一个?)小时\s*(?:多少|几|是)|(?:per|an|each) hour|hourly|/\s*h\b",
    re.I,
)
LONG = ("day", "week", "month", "quarter", "year")
LIKE = 10  # a price is less than so many times the other; more is a sum of money
APART = re.compile(r"差|省|贵|便宜|多花|少花|difference|save|cheaper|dearer|more|less|gap|versus|\bvs\b", re.I)


def own_rate(request: Request, book: Ledger) -> Finding | None:
    """What the reader's own price comes to; None where a card, a cloud or a model is named, or no price is."""
    s = request.slots
    if s.gpus or s.providers or s.models or s.workloads or s.parameters_b or s.unknown or s.instances or s.rows:
        return None
    if request.intent not in PRICE_INTENTS | {"document"} or s.workload.slo_tokens_per_s:
        return None
    found = read(request.question)
    rates = [q for q in found.quantities if q.kind == "money_per_hour" and q.value > 0]
    if len(rates) == 1:  # "$2 vs $2.5 an hour"
        alike = [
            q
            for q in found.quantities
            if q.kind == "money" and q.currency == rates[0].currency and 0 < q.value < LIKE * rates[0].value
        ]
        rates = [*alike, *rates] if len(alike) == 1 else rates
    if (
        len(rates) == 2
        and rates[0].currency == rates[1].currency
        and rates[0].value != rates[1].value
        and APART.search(found.text)
    ):
        return _two(request, rates, book)
    if len(rates) == 1 and not s.money and periods_for(request, book) and "limit" not in request.aspects:
        return costs.cost(request, book)
    amounts = [q for q in found.quantities if q.kind == "money" and q.value > 0]
    if not rates and len(amounts) == 1 and HOURLY_ASKED.search(found.text):
        return _per_hour(request, amounts[0], book)
    return None


def _per_hour(request: Request, paid: Quantity, book: Ledger) -> Finding | None:
    """The price of an hour where one of a day, a week, a month or a year is stated."""
    s = request.slots
    periods = [period for period in periods_for(request, book) if period.unit in LONG]
    if not periods:
        return None
    currency = paid.currency or ("CNY" if book.language == "zh" else "USD")
    gpus = s.count or 1
    result = book.compute(
        "price_per_gpu_hour", total_cost=paid.value, gpus=gpus, hours=periods[0].hours, currency=currency
    )
    price = render.amount(result.value.quantize(Decimal("0.0001")), currency, book.language, "hour")
    total, time = render.amount(paid.value, currency, book.language), span(periods[0], book)
    each = book.say("，每卡", " per card") if gpus > 1 else ""
    head = book.say(
        f"**{total}、{time}，合{each.removeprefix('，')} {price}**", f"**{total} for {time} is {price}{each}**"
    )
    return book.finding(
        "answered", head + "  \n" + render.formula(result.formula, book.language), month_note(periods, book)
    )


def _two(request: Request, rates: Sequence[Quantity], book: Ledger) -> Finding:
    """Two prices of the reader's over the same time, and how far they are apart."""
    lang, count = book.language, request.slots.count or 1
    currency = rates[0].currency or ("CNY" if lang == "zh" else "USD")
    said = periods_for(request, book)
    period = next((p for p in said if p.unit != "hour" or p.value != 1), None) or in_hours(
        standard("hour"), Decimal(24), book
    )
    low, high = sorted(rates, key=lambda rate: rate.value)
    bills = [
        book.compute("rental_cost", gpus=count, hours=period.hours, price_per_hour=q.value, currency=currency)
        for q in (high, low)
    ]
    out = book.compute("price_difference", dearer=bills[0].value, cheaper=bills[1].value, currency=currency)
    gap = render.cash(Decimal(out.outputs["difference"]), currency, lang)
    what = book.say(f"{count:,} 张卡，" if count > 1 else "", f"{render.cards(count, 'en')}, " if count > 1 else "")
    head = book.say(f"**{what}{span(period, book)}相差 {gap}**：{number(high.value)} 比 {number(low.value)} 贵 {out.outputs['surplus_percent']} %，反过来便宜 {out.outputs['saving_percent']} %。",
                    f"**{what}{span(period, book)}: {gap} apart**; {number(high.value)} is {out.outputs['surplus_percent']} % more than {number(low.value)}, or {out.outputs['saving_percent']} % less the other way round.")  # fmt: skip
    return book.finding(
        "answered",
        head + "  \n" + "  \n".join(render.formula(bill.formula, lang) for bill in bills),
        month_note([period], book),
    )
