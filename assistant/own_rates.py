"""Answers about prices that the reader states: over a time, per hour of a monthly price, two compared, an hour of owning.

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
from assistant.slot_readings import PRICE_INTENTS
from assistant.stated_deal import EACH
from assistant.understand import Request

HOURLY_ASKED = re.compile(
    r"(?:每|一|1|折合|合|等于)\s*个?(?:小时|钟头)(?:是|合|多少|几|要)|(?:每|一个?)小时\s*(?:多少|几|是)|(?:per|an|each) hour|hourly|/\s*h\b",
    re.I,
)
LONG = ("day", "week", "month", "quarter", "year")
LIKE = 10  # a price is less than so many times the other; more is a sum of money
APART = re.compile(r"差|省|贵|便宜|多花|少花|difference|save|cheaper|dearer|more|less|gap|versus|\bvs\b", re.I)

LEAST_MACHINE_PRICE = 1000
OWNED = re.compile(
    r"自有|自建|自购|买|购|摊|折旧|(?<![a-z])(?:own(?:ed|ing)?|bought|buy|purchas\w*|depreciat\w*|amorti[sz]\w*|straight.line)",
    re.I,
)
RENTED = re.compile(r"租|(?<![a-z])rent|残值|转卖|residual|resale|salvage", re.I)
AN_HOUR = re.compile(
    r"(?:每|一|1)\s*个?(?:卡时|小时|钟头|GPU\s*时)|卡时|小时成本|hourly|(?:per|an|each|a) (?:gpu[- ]|card[- ])?hour|/\s*(?:gpu-?)?h(?:our|r)?(?![a-z])",
    re.I,
)


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


def owned_hour(request: Request, book: Ledger) -> Finding | None:
    """What an hour of a machine's cards costs over the years it is written off in; None where price or years are not said."""
    s, found = request.slots, read(request.question)
    if not (OWNED.search(found.text) and AN_HOUR.search(found.text)) or RENTED.search(found.text) or s.models:
        return None
    prices = [
        q
        for q in found.quantities
        if (q.kind == "money" or (q.kind == "bare" and not q.unit)) and q.value >= LEAST_MACHINE_PRICE
    ]
    years = next((p.value for p in s.periods if p.unit == "year"), s.workload.horizon_years)
    if len(prices) != 1 or not years or s.price_per_hour:
        return None
    price, cards, share = prices[0], s.count or 1, s.workload.utilisation or Decimal(1)
    currency = price.currency or ("CNY" if book.language == "zh" else "USD")
    each = EACH.search(found.text[max(0, price.start - 12) : price.start]) or EACH.match(
        found.text[price.end :].lstrip()
    )
    cost = price.value * cards if each else price.value
    hours = book.compute(
        "period_hours", value=years, unit="year", hours_per_day=(s.hours_per_day or Decimal(24)) * share
    )
    result = book.compute("price_per_gpu_hour", total_cost=cost, gpus=cards, hours=hours.value, currency=currency)
    shown = render.amount(result.value.quantize(Decimal("0.0001")), currency, book.language, "hour")
    head = book.say(f"**每张卡每小时的购置成本：{shown}**", f"**Each card costs {shown} of the purchase**")
    idle = (
        book.say("没说利用率，按全天满负荷；", "utilisation is not said: always in use; ")
        if share == 1 and not s.hours_per_day
        else ""
    )
    note = book.say(
        f"按直线法摊销，残值为零；{idle}只算购置价，未计电费、机房、网络和运维。",
        f"Straight line down to nothing; {idle}the purchase alone: power, hosting, network and staff are left out.",
    )
    formulas = [calculation.formula for calculation in (hours, result)]
    if book.language == "zh":
        formulas = [formula.replace(" year ×", " 年 ×").replace("GPU-h", "卡时") for formula in formulas]
    lines = [render.formula(formula, book.language) for formula in formulas]
    return book.finding("answered", "  \n".join([head, *lines]), note)


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
