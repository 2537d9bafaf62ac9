"""What every rental sum starts from: whose price, how many hours, and what keeps a sum from being made.

Reads the request and picks rows; the sums themselves are made in costs.py and budgets.py.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from assistant import price_gaps, price_selection, prices, render
from assistant.calculator import time_lengths
from assistant.calculator.calculation import number
from assistant.evidence import Finding
from assistant.ledger import Ledger
from assistant.quantity import MONTH_DAYS
from assistant.reading import Period
from assistant.understand import Request
from assistant.working_hours import working_time
from knowledge.catalog import Offer

BILLED = re.compile(r"(?:按|以)(?:小时|时)|按钟点", re.I)  # how it is billed, beside a time for which it is rented
MOST_CARDS = 1_000_000  # of one sum; the calculators take no more


@dataclass(frozen=True)
class Rate:
    """What one instance costs an hour, and whose price that is."""

    label: str
    gpu: str
    price: Decimal
    currency: str
    mark: str
    gpus_per_instance: int = 1
    dated: bool = False
    list_price: Decimal | None = None
    model: str = ""  # the card without its form
    pricing_model: str = "on-demand"

    @property
    def price_per_gpu(self) -> Decimal:
        """What one GPU of the instance costs an hour."""
        return self.price / self.gpus_per_instance


def stop(request: Request, book: Ledger, *, need_gpu: bool = True) -> Finding | None:
    """What keeps a sum from being made: a senseless quantity, an unknown name, nothing named."""
    s = request.slots
    if request.bad_quantity and not price_selection.sized_offers(request, book):  # half a card is a machine size
        return book.finding("needs_detail", book.say(
            f"“{request.bad_quantity}”不是有效的数量：时长、张数和金额必须是正数，张数要是整数（表里没有这种切片的价格），请重新给出。",
            f"“{request.bad_quantity}” cannot be used: time, number of cards and money must be positive, and cards whole (no such slice is priced). Please give another value."))  # fmt: skip
    if refusal := price_gaps.refuse_unknown(request, book):
        return refusal
    if (s.count or 0) > MOST_CARDS:
        return book.finding("needs_detail", book.say(
            "没有哪家云租得出这么多卡，这个数也就不算了。实际要几张？", "No cloud has that many cards to rent, so no sum is made of it. How many do you really need?"))  # fmt: skip
    if need_gpu and not (s.gpus or s.providers or s.workloads):
        return price_gaps.ask_which(book)
    return None


def rates_for(request: Request, book: Ledger) -> list[Rate]:
    """The user's own price if he gave one, else the rows, cheapest first; of named clouds also those in another currency.

    Each is what is paid after a discount that the user states.
    """
    share = request.slots.discount
    return [_discounted(rate, share, book) if share else rate for rate in _undiscounted(request, book)]


def _discounted(rate: Rate, share: Decimal, book: Ledger) -> Rate:
    result = book.compute("discounted_price", list_price=rate.price, paid_share=share, currency=rate.currency)
    return replace(rate, price=result.value, list_price=rate.price)


def discount_note(request: Request, rate: Rate, book: Ledger) -> str:
    """That a discount is the user's, and what the listed price comes to with it; "" without one."""
    share = request.slots.discount
    if not share or rate.list_price is None:
        return ""
    unit = render.unit(rate.currency, book.language)
    listed, paid = number(rate.list_price), number(rate.price)
    return book.say(
        f"折扣是你说的，价格表里没有：原价 {listed} {unit}/小时 × {number(share)} = {paid} {unit}/小时。",
        f"The discount is yours, no row states it: the price of {listed} {unit}/hour × {number(share)} = {paid} {unit}/hour.",
    )


def _undiscounted(request: Request, book: Ledger) -> list[Rate]:
    s, lang = request.slots, book.language
    if s.price_per_hour and (not s.providers or "mine" in request.aspects):
        gpu = s.gpus[0] if s.gpus else "GPU"
        return [Rate(book.say("你给的价格", "your price"), gpu, s.price_per_hour, s.price_currency or "CNY", "")]
    if s.workloads or s.models:
        request = replace(request, slots=replace(s, gpus=s.gpus or ("A100",)))
    groups = price_selection.comparable(request, price_selection.offers_for(request, book), book)
    if not groups:
        return []
    offers = groups[0]
    if s.money_currency and s.money_currency != offers[0].currency:
        offers = next((group for group in groups if group[0].currency == s.money_currency), offers)
    elsewhere = [o for group in groups for o in group[: prices.MOST_ROWS] if group is not offers] if s.providers else []
    offers = [*offers[: prices.MOST_ROWS], *elsewhere]
    mark = book.cite_offers(offers)
    return [
        Rate(render.name("provider", o.provider, lang), _card(o, book), o.price, o.currency, mark, o.gpu_count, bool(o.as_of), model=o.gpu, pricing_model=o.pricing_model)
        for o in offers
    ]  # fmt: skip


def dollars(request: Request, rates: Sequence[Rate], book: Ledger) -> list[Rate]:
    """Beside rates in yuan of no named cloud, the cheapest dollar rate for as many cards."""
    s = request.slots
    if s.providers or not s.gpus or not rates or not rates[0].mark or rates[0].currency != "CNY":
        return []
    found = price_selection.find(request, book, currency="USD")
    if not found:
        return []
    offer = found[0]
    mark, share = book.cite_offers([offer]), request.slots.discount
    label = render.name("provider", offer.provider, book.language)
    rate = Rate(
        label,
        _card(offer, book),
        offer.price,
        "USD",
        mark,
        offer.gpu_count,
        bool(offer.as_of),
        pricing_model=offer.pricing_model,
    )
    return [_discounted(rate, share, book) if share else rate]


def _card(offer: Offer, book: Ledger) -> str:
    """The card, and how many of them are rented together where that is not one."""
    gpu = offer.gpu_form or offer.gpu
    if offer.is_slice:
        return gpu + book.say(f"（{render.part_of_card(offer, 'zh')}）", f" ({render.part_of_card(offer, 'en')})")
    return (
        gpu
        if offer.gpu_count == 1
        else gpu + book.say(f"（{offer.gpu_count} 卡整机）", f" ({offer.gpu_count}-GPU instance)")
    )


def periods_for(request: Request, book: Ledger) -> list[Period]:
    """The times asked for, in hours really used: 22 days of 8 hours are 176 h."""
    s = request.slots
    if worked := working_time(request):
        result = worked.compute(book)
        days = Decimal(result.outputs["days"])
        return [Period(result.value, days, "day", "")]
    per_day = s.hours_per_day or Decimal(24)
    said = list({(period.hours, period.unit): period for period in s.periods}.values())  # 一个季度13周 is one time
    if any(size.part for size in price_selection.sizes_of(request)):
        said = [period for period in said if "quarter" not in period.text.lower()]  # a quarter of a card is no time
    said = [period for period in said if not BILLED.fullmatch(period.text)] or said
    if any(period.unit == "day" and period.value in MONTH_DAYS for period in said):  # "monthly (30 days)" is 30 days
        said = [period for period in said if period.unit != "month" or period.value != 1]
    if not said and s.hours_per_day:
        said = [standard("month" if per_day == 24 and s.money else "day")]
    return [in_hours(period, per_day, book) for period in said]


def in_hours(period: Period, per_day: Decimal, book: Ledger) -> Period:
    """The period with its hours computed on the record; hours and GPU-hours are what they are."""
    if period.unit in ("hour", "gpu-hour", "clock"):
        return period
    result = book.compute("period_hours", value=period.value, unit=period.unit, hours_per_day=per_day)
    return Period(result.value, period.value, period.unit, period.text)


def standard(unit: str) -> Period:
    return Period(time_lengths.HOURS_OF_UNIT[unit], Decimal(1), unit, unit)


def gpus_in(period: Period, count: int) -> int:
    """GPU-hours already count the cards: 250 GPU-hours are 250 h of one card."""
    return 1 if period.unit == "gpu-hour" else count


def span(period: Period, book: Ledger) -> str:
    """72 小时; 1 个月（730 小时）."""
    hours = (
        number(period.hours.quantize(Decimal("0.01")).normalize())
        if period.hours != period.hours.to_integral()
        else number(period.hours)
    )
    if period.unit in ("hour", "gpu-hour"):
        return book.say(
            f"{hours} {'卡时' if period.unit == 'gpu-hour' else '小时'}",
            f"{hours} {'GPU-hour' if period.unit == 'gpu-hour' else 'hour'}{'' if period.hours == 1 else 's'}",
        )
    if period.unit in ("minute", "clock"):
        return book.say(f"{hours} 小时", f"{hours} hours")
    if period.text and period.value != period.value.quantize(Decimal("0.0001")):  # 一个月零5天 is no number of months
        return book.say(f"{period.text}（{hours} 小时）", f"{period.text} ({hours} hours)")
    value, name = number(period.value.quantize(Decimal("0.01"))), render.period_name(period.unit, book.language)
    zh_name = f"个{name}" if period.unit == "month" else f"个{name}" if period.unit == "quarter" else name
    en_name = period.unit if period.value == 1 else f"{period.unit}s"
    return book.say(f"{value} {zh_name}（{hours} 小时）", f"{value} {en_name} ({hours} hours)")


def month_note(periods: Sequence[Period], book: Ledger) -> str:
    """How long a month was taken to be, if one was."""
    if not any(period.unit in ("month", "quarter") for period in periods):
        return ""
    return time_lengths.MONTH.text[book.language] + book.say("。", ".")
