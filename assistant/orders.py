"""Answers about mixed orders: several lines, each with its own card, cloud, number and time, and their sum.

Prices are rows; lines in different currencies are not added.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise

from assistant import price_gaps, price_selection, render
from assistant.calculator.calculation import number
from assistant.evidence import Finding
from assistant.ledger import Ledger
from assistant.price_comparison import per
from assistant.price_tables import per_hour
from assistant.quantity import Quantity
from assistant.reading import HOURS_OF_UNIT, Period, Reading, read
from assistant.rental_terms import in_hours, month_note, periods_for, span, standard
from assistant.slot_readings import COMPARING
from assistant.stated_deal import shares_of_lines
from assistant.understand import Request
from knowledge.catalog import Offer
from knowledge.names import Link

SUM = re.compile(
    r"合计|一共|总共|总价|总费用|加起来|总计|共多少|together|combined|altogether|in total|total|in all|\bsum\b", re.I
)
JOINS = re.compile(r"\s*(?:(?:再|外)?加上?|和|与|跟|以?及|还有|外加|另外?|然后|plus|and|then|\+|&)", re.I)
EITHER = re.compile(r"还是|对比|相比|哪个|哪家|哪种|vs\b|versus|\bor\b|compared?|which", re.I)
BREAK = re.compile(
    r"[,，;；、]|plus|\b(?:and|then|or|vs|versus|against)\b|\+|加|和|与|跟|及|还有|还是|对比|另|然后|再", re.I
)
SAME_CLOUD = re.compile(r"\bits\b|their|它的|他家|同一?家|该云|那家", re.I)
HOURLY = re.compile(r"每小时|一小时|小时价|hourly|per hour|an hour|/\s*h", re.I)
PER = re.compile(r"^(?:per|each|every|每|/)", re.I)


@dataclass(frozen=True)
class _Line:
    """One line as said; no provider and no time where none is said of it."""

    gpu: str
    count: int
    provider: str | None
    time: Quantity | None
    paid_share: Decimal | None = None


def order(request: Request, book: Ledger) -> Finding | None:
    """The sum of the lines; None where the question is of one card, or compares."""
    found = read(request.question)
    lines = _lines(found)
    if len(lines) < 2 or not _adds(request, found, lines):
        against = found.slots.items and EITHER.search(found.text) and not SUM.search(found.text)
        lines = [] if against else _kept(request)
        if not lines:
            return None
    priced = _priced(lines, request, book)
    if request.slots.unknown or len(priced) < len(lines):
        return price_gaps.refuse_unknown(request, book) or price_gaps.missing(request, book)
    if len({offer.currency for offer in priced}) > 1:
        return book.finding("needs_detail", book.say(
            "这几行的价格货币不同，没有约定汇率不能相加；请给出汇率，或分开问。",
            "The prices of these lines are in different currencies and cannot be added without an agreed rate. Please give a rate, or ask for each alone."))  # fmt: skip
    return _summed(request, lines, priced, _periods(request, found, lines, book), book)


def order_difference(request: Request, book: Ledger) -> Finding | None:
    """Which of two lots of cards costs less and by how much ("three T4s or one A100"); None where no numbers set them apart.

    An hour is compared where no time is said. Lots in different currencies are left to the tables of prices.
    """
    found, s = read(request.question), request.slots
    asked = request.aspects & {"cheapest", "dearest", "difference"} or (
        EITHER.search(found.text) and request.aspects & {"price", "rent"}
    )
    if request.intent not in ("price", "compare", "cost") or not asked:
        return None
    if SUM.search(found.text) or request.aspects & {"buy", "separately", "order"} or s.unknown or s.models or s.money:
        return None
    if len(s.providers) > 2:  # one cloud for each lot at most
        return None
    lines = _lines(found)
    if len(lines) != 2 or lines[0].count == lines[1].count or len({(line.gpu, line.provider) for line in lines}) < 2:
        return None
    priced = _priced(lines, request, book)
    if len(priced) < 2 or priced[0].currency != priced[1].currency:
        return None
    timed = any(line.time for line in lines) or periods_for(request, book)
    periods = _periods(request, found, lines, book) if timed else [standard("hour")] * 2
    return _apart(request, lines, priced, periods, book)


def _apart(
    request: Request, lines: Sequence[_Line], offers: Sequence[Offer], periods: Sequence[Period], book: Ledger
) -> Finding:
    """Both bills in a table below the difference of the two."""
    lang, currency = book.language, offers[0].currency
    shares = [line.paid_share or request.slots.paid_share or Decimal(1) for line in lines]
    rates = [_paid(offer, share, book) for offer, share in zip(offers, shares, strict=True)]
    bills = []
    for line, offer, period, rate in zip(lines, offers, periods, rates, strict=True):
        result = book.compute("rental_cost", gpus=line.count, hours=period.hours, price_per_hour=rate,
                              currency=currency, gpus_per_instance=offer.gpu_count)  # fmt: skip
        where, what = (
            render.name("provider", offer.provider, lang),
            render.gpus_text(line.count, offer.gpu_form or offer.gpu, lang),
        )
        bills.append((result, f"{where} {what}" if lang == "zh" else f"{what} at {where}", [where, what, number(rate), span(period, book)]))  # fmt: skip
    (cheap, low, _), (dear, high, _) = sorted(bills, key=lambda bill: bill[0].value)
    mark = book.cite_offers(list(dict.fromkeys(offers)))
    result = book.compute("price_difference", dearer=dear.value, cheaper=cheap.value, currency=currency)
    gap, less = render.cash(result.value, currency, lang), render.cash(cheap.value, currency, lang)
    more = render.cash(dear.value, currency, lang)
    time = span(periods[0], book) if periods[0] == periods[1] else ""
    if not result.value:
        head = book.say(
            f"**{low} 与 {high} 一样贵：{less}**{mark}", f"**{low} and {high} cost the same: {less}** {mark}"
        )
    else:
        head = book.say(f"**{low} 更便宜，{time + '，' if time else ''}少 {gap}**：{less} 对 {more}（{high}）{mark}",
                        f"**{low} cost{'s' if low.startswith('1×') else ''} less, by {gap}{' in ' + time if time else ''}**: {less} against {more} for {high} {mark}")  # fmt: skip
    headings = [book.say("云", "Cloud"), book.say("卡", "Cards"), per_hour(currency, book), book.say("时长", "Time"),
                book.say(f"费用（{render.unit(currency, lang)}）", f"Cost ({currency})")]  # fmt: skip
    rows = [[*cells, f"{bill.value:,.2f}"] for bill, _, cells in bills]
    formulas = "  \n".join(render.formula(one, lang) for one in (*(bill.formula for bill, _, _ in bills), result.formula.split(";")[0]))  # fmt: skip
    return book.finding(
        "answered",
        head + "  \n" + formulas,
        render.table(headings, rows),
        _unsaid(request, lines, book),
        _discounts(offers, rates, shares, book),
        month_note(periods, book),
    )


def _unsaid(request: Request, lines: Sequence[_Line], book: Ledger) -> str:
    """That the cheapest cloud stands in where none was said of a line."""
    if request.slots.providers or all(line.provider for line in lines):
        return ""
    return book.say("没说哪家云的，取最低的价格。", "Where no cloud was said the lowest price is taken.")


def _kept(request: Request) -> list[_Line]:
    """The lines of an order said in an earlier turn or told apart by their numbers of cards."""
    items = request.slots.items
    if len({(item.gpu, item.provider) for item in items}) < 2 or request.aspects & {"separately", *COMPARING}:
        return []
    return [_Line(item.gpu, item.count, item.provider, None, item.paid_share) for item in items]


def _adds(request: Request, found: Reading, lines: Sequence[_Line]) -> bool:
    """Whether the lines are to be added: a word for a sum, lines with counts or times of their own, "10 hours each"."""
    gpus = [link for link in found.links if link.kind == "gpu"]
    if len({(line.gpu, line.provider) for line in lines}) < 2 or EITHER.search(found.text):
        return False
    if "cheapest" in found.aspects and len({line.gpu for line in lines}) == 1:  # which of the clouds, not all of them
        return False
    joined = all(JOINS.search(found.text[a.end : b.start]) for a, b in pairwise(gpus))
    own = all(line.time for line in lines) or bool(found.slots.items)
    if SUM.search(found.text):
        return joined or own
    timed = any(line.time for line in lines) and not request.aspects & COMPARING
    return timed and (own or (joined and "each" in request.aspects) or (joined and bool(found.slots.items)))


def _lines(found: Reading) -> list[_Line]:
    """Every card said with the count, cloud and time of its own part of the sentence."""
    gpus = [link for link in found.links if link.kind == "gpu"]
    if len(gpus) < 2:
        return _of_one_card(found, gpus)
    cuts = [0, *(_cut(found, a, b) for a, b in pairwise(gpus)), len(found.text)]
    parts = [(gpu, cuts[i], cuts[i + 1]) for i, gpu in enumerate(gpus)]
    clouds = [_cloud(found, start, end) for _, start, end in parts]
    shares = shares_of_lines(found.text, [(gpu.start, gpu.end) for gpu in gpus])
    shared = set(clouds) - {None}
    lines: list[_Line] = []
    for (gpu, start, end), cloud, share in zip(parts, clouds, shares, strict=True):
        if cloud is None and lines and SAME_CLOUD.search(found.text[start:end]):
            cloud = lines[-1].provider
        if cloud is None and len(shared) == 1 and len([c for c in clouds if c]) == 1:
            cloud = next(iter(shared))  # one cloud named once is that of all lines
        counts = [
            q for q in found.quantities if q.kind == "count" and start <= q.start < end and q.value >= 1 and not q.delta
        ]
        times = [q for q in found.quantities if _is_time(q) and start <= q.start < end]
        lines.append(_Line(gpu.key, int(counts[0].value) if counts else 1, cloud, times[-1] if times else None, share))
    return lines


def _of_one_card(found: Reading, gpus: Sequence[Link]) -> list[_Line]:
    """One card at several clouds: "1 A100 at Tencent and 2 at Volcengine"."""
    clouds = list(dict.fromkeys(link.key for link in found.links if link.kind == "provider"))
    if len(gpus) != 1 or len(clouds) < 2 or not SUM.search(found.text):
        return []
    counts = [q for q in found.quantities if not q.delta and q.value >= 1 and q.value == int(q.value)
              and (q.kind == "count" or (q.kind == "bare" and q.unit == ""))]  # fmt: skip
    each = [int(q.value) for q in counts] if len(counts) == len(clouds) else [found.slots.count or 1] * len(clouds)
    times = [q for q in found.quantities if _is_time(q)]
    own = times if len(times) == len(clouds) else [None] * len(clouds)
    return [_Line(gpus[0].key, count, cloud, time) for count, cloud, time in zip(each, clouds, own, strict=True)]


def _cut(found: Reading, a: Link, b: Link) -> int:
    """Where the part of the second card begins: at the last joint before what is said of it."""
    joints = list(BREAK.finditer(found.text, a.end, b.start))
    return joints[0].start() if joints else b.start


def _cloud(found: Reading, start: int, end: int) -> str | None:
    return next((link.key for link in found.links if link.kind == "provider" and start <= link.start < end), None)


def _is_time(q: Quantity) -> bool:
    return q.kind == "duration" and q.value > 0 and q.unit in HOURS_OF_UNIT and not (q.rate and PER.match(q.text)) and not HOURLY.fullmatch(q.text)  # fmt: skip


def _priced(lines: Sequence[_Line], request: Request, book: Ledger) -> list[Offer]:
    """The cheapest row of each line that has one; all in one currency where the lines have one in common."""
    cheapest = [found for line in lines if (found := _row(line, request, book))]
    wanted = [request.slots.money_currency or ""] if request.slots.money_currency else []
    wanted += ["USD"] if "dollars" in request.aspects else []
    if len(cheapest) == len(lines) and (wanted or len({offer.currency for offer in cheapest}) > 1):
        for currency in dict.fromkeys([*wanted, *(offer.currency for offer in cheapest)]):
            alike = [found for line in lines if (found := _row(line, request, book, currency))]
            if len(alike) == len(lines):
                return alike
    return cheapest


def _row(line: _Line, request: Request, book: Ledger, currency: str | None = None) -> Offer | None:
    """The cheapest row for as many cards as the line has, of the form that was said where the card has rows of it."""
    s = request.slots
    providers = (line.provider,) if line.provider else s.providers[:1]
    own = replace(s, gpus=(line.gpu,), providers=providers, count=line.count, pairs=(), instances=())
    for forms in dict.fromkeys((s.forms, ())):
        if found := price_selection.find(replace(request, slots=replace(own, forms=forms)), book, currency=currency):
            return found[0]
    return None


def _periods(request: Request, found: Reading, lines: Sequence[_Line], book: Ledger) -> list[Period]:
    """The time of each line: its own, else that of all; an hour where a rate per hour is asked, else a month."""
    per_day = request.slots.hours_per_day or Decimal(24)
    said = [line.time for line in lines if line.time]
    if len(said) == len(lines) or (said and not periods_for(request, book)):
        own = [in_hours(_period(line.time or said[-1]), per_day, book) for line in lines]
        return own
    if said:
        return [in_hours(_period(said[-1]), per_day, book)] * len(lines)
    shared = periods_for(request, book)
    if not shared and HOURLY.search(found.text):
        shared = [standard("hour")]
    return [(shared or [in_hours(standard("month"), Decimal(24), book)])[0]] * len(lines)


def _period(q: Quantity) -> Period:
    return Period(q.value * HOURS_OF_UNIT[q.unit], q.value, q.unit, q.text)


def _summed(
    request: Request, lines: Sequence[_Line], offers: Sequence[Offer], periods: Sequence[Period], book: Ledger
) -> Finding:
    lang, currency = book.language, offers[0].currency
    shares = [line.paid_share or request.slots.paid_share or Decimal(1) for line in lines]
    rates = [_paid(offer, share, book) for offer, share in zip(offers, shares, strict=True)]
    rows, amounts = [], []
    hourly = all(period.unit == "hour" and period.value == 1 for period in periods)
    for line, offer, period, rate in zip(lines, offers, periods, rates, strict=True):
        result = book.compute("rental_cost", gpus=line.count, hours=period.hours, price_per_hour=rate,
                              currency=offer.currency, gpus_per_instance=offer.gpu_count)  # fmt: skip
        exact = rate * int(result.outputs["instances"]) if hourly else result.value  # rates keep their thousandths
        amounts.append(exact)
        rows.append([render.name("provider", offer.provider, lang), render.gpus_text(line.count, offer.gpu_form or offer.gpu, lang), number(rate),
                     span(period, book), number(exact) if hourly else f"{exact:,.2f}"])  # fmt: skip
    mark = book.cite_offers(list(dict.fromkeys(offers)))
    total, formula = _total(amounts, lines, offers, rates, hourly, book)
    alike = len({(period.hours, period.unit) for period in periods}) == 1
    time = span(periods[0], book) if alike and not hourly else ""
    head = book.say(
        f"**合计{'，' if time else ''}{time}：{total}**{mark}",
        f"**Altogether{', ' if time else ''}{time}: {total}** {mark}",
    )
    headings = [book.say("云", "Cloud"), book.say("卡", "Cards"), per_hour(currency, book), book.say("时长", "Time"),
                book.say(f"费用（{render.unit(currency, lang)}）", f"Cost ({currency})")]  # fmt: skip
    return book.finding(
        "answered",
        head + "  \n" + render.formula(formula, lang),
        render.table(headings, rows),
        _unsaid(request, lines, book),
        _discounts(offers, rates, shares, book),
        month_note(periods, book),
    )


def _paid(offer: Offer, share: Decimal, book: Ledger) -> Decimal:
    """What an hour of the row costs after the discount that the user states."""
    if share >= 1:
        return offer.price
    return book.compute("discounted_price", list_price=offer.price, paid_share=share, currency=offer.currency).value


def _discounts(offers: Sequence[Offer], rates: Sequence[Decimal], shares: Sequence[Decimal], book: Ledger) -> str:
    """That the discounts are the user's, and what each listed price comes to; "" without one."""
    parts = [f"{offer.gpu} {number(offer.price)} × {number(share)} = {number(rate)} {per(offer, book)}"
             for offer, rate, share in zip(offers, rates, shares, strict=True) if share < 1]  # fmt: skip
    if not parts:
        return ""
    return book.say(f"折扣是你说的，价格表里没有：{'；'.join(parts)}。", f"The discount is yours, no row states it: {'; '.join(parts)}.")  # fmt: skip


def _total(
    amounts: Sequence[Decimal],
    lines: Sequence[_Line],
    offers: Sequence[Offer],
    rates: Sequence[Decimal],
    hourly: bool,
    book: Ledger,
) -> tuple[str, str]:
    """The sum as it is printed, and its formula; a rate per hour is not rounded to hundredths."""
    currency = offers[0].currency
    if not hourly:
        result = book.compute("sum_of_costs", amounts=list(amounts), currency=currency)
        return render.cash(result.value, currency, book.language), result.formula
    result = book.compute("combined_rate", parts=[{"instances": -(-line.count // offer.gpu_count), "price_per_hour": rate}
                                                  for line, offer, rate in zip(lines, offers, rates, strict=True)], currency=currency)  # fmt: skip
    return render.amount(result.value, currency, book.language, "hour"), result.formula
