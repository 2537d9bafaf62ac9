"""What a month's subscription costs, and how it compares with paying by the hour: 包月多少, 包月 vs 按小时开满 30 天能省多少.

Rows and calculators only: a subscription that no row holds is not made from a price per hour.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from decimal import Decimal

from assistant import price_selection, render
from assistant.calculator.calculation import number
from assistant.evidence import Finding
from assistant.ledger import Ledger
from assistant.quantity import MONTH_DAYS
from assistant.reading import Period
from assistant.understand import Request
from knowledge.catalog import Offer

SUBSCRIBED = re.compile(
    r"包(?:\s*[一两二三四五六半\d]+\s*个?)?月|月付|月租|按月(?:付|租|买|计费|订)|(?:monthly|month-to-month) (?:plan|subscription|contract|package|deal|rental|prepaid|billing|fee|rate|price)|"
    r"(?<![a-z])(?:subscri\w+|prepaid|by the month)(?![a-z])",
    re.I,
)
METERED = re.compile(
    r"按(?:小)?时|按量|按需|按钟|小时(?:付|计费|制)|hourly|by the hour|per hour|on[- ]demand|pay[- ]as[- ]you[- ]go|metered",
    re.I,
)
SAVES = re.compile(r"省|划算|便宜|哪个|哪种|对比|相比|差|vs|save|saving|cheaper|worth|better|compare|difference", re.I)
MONTHS_OF_UNIT = {"month": Decimal(1), "quarter": Decimal(3), "year": Decimal(12)}
MOST_LISTED = 12


def leading(request: Request, book: Ledger, by_the_hour: Callable[[Request, Ledger], Finding]) -> Finding:
    """The answer by the hour, with the subscription before it; of one named cloud the subscriptions alone."""
    if not (lead := subscribed(request, book)):
        return by_the_hour(request, book)
    if len(request.slots.providers) == 1:
        others = len(price_selection.monthly_offers(request, book)) > 1
        return book.finding("answered", *lead, *(monthly(request, book) if others else []))
    found = by_the_hour(request, book)
    return found.model_copy(update={"markdown": render.paragraphs(*lead, found.markdown)})


def subscribed(request: Request, book: Ledger) -> list[str]:
    """The subscription asked for, first of an answer, with what the same machine costs by the hour where that is weighed.

    Empty where no subscription is asked for or no row holds one, and beside a price or a discount of the reader's own.
    """
    s = request.slots
    own = s.discount or (s.price_per_hour and not s.providers)
    if not SUBSCRIBED.search(request.question) or own or s.unknown or s.items:
        return []
    count = s.count or 1
    rows = price_selection.monthly_offers(request, book)
    if not rows:
        return []
    best = min(rows, key=lambda row: (-(-count // row.gpu_count) * row.price, row.row))
    machines, months = -(-count // best.gpu_count), _months(s.periods)
    mark, lang = book.cite_offers(list(dict.fromkeys([best, *rows[:MOST_LISTED]]))), book.language
    price = render.amount(best.price, best.currency, lang, "month")
    lines = [book.say(f"**{_machine(best, book)} 包月：{price}**{mark}", f"**Monthly subscription, {_machine(best, book)}: {price}** {mark}")]  # fmt: skip
    total = best.price
    if machines * months != 1:
        result = book.compute(
            "purchase_cost", cards=int(machines * months), price_per_card=best.price, currency=best.currency
        )
        total = result.value
        paid = render.cash(total, best.currency, lang)
        lines += [book.say(f"**{machines} 台包 {months} 个月：{paid}**", f"**{machines} machine{'' if machines == 1 else 's'} for {months} month{'' if months == 1 else 's'}: {paid}**"),
                  render.formula(result.formula, lang)]  # fmt: skip
    if twin := _by_the_hour(best, request, book):
        lines += _against(total, best, twin, machines, months, request, book)
    return ["  \n".join(lines), book.say("包月价只是计算部分，未注明日期。", "The monthly price is of the computing part alone, undated.")]  # fmt: skip


def monthly(request: Request, book: Ledger) -> list[str]:
    """Monthly subscriptions of the GPUs named, if there are any."""
    offers = price_selection.monthly_offers(request, book)[:MOST_LISTED]
    if not offers:
        return []
    mark, lang = book.cite_offers(offers), book.language
    unit = render.unit(offers[0].currency, lang)
    rows = [[render.name("provider", o.provider, lang), o.gpu_form or o.gpu, render.joined([render.part_of_card(o, lang), o.instance or ""], lang), number(o.price)] for o in offers]  # fmt: skip
    headings = [book.say("云", "Cloud"), "GPU", book.say("实例", "Instance"), book.say(f"价格（{unit}/月）", f"Price ({unit}/month)")]  # fmt: skip
    return [book.say(f"包月价{mark}：", f"Monthly subscriptions {mark}:"), render.table(headings, rows)]


def _months(periods: Sequence[Period]) -> int:
    """How many whole months are to be paid; one where none is said."""
    months = [period.value * MONTHS_OF_UNIT[period.unit] for period in periods if period.unit in MONTHS_OF_UNIT]
    return max(1, -(-int(max(months, default=Decimal(1)) * 100) // 100))


def _by_the_hour(subscription: Offer, request: Request, book: Ledger) -> Offer | None:
    """The row of the same machine by the hour, where both ways of paying are weighed."""
    if not (METERED.search(request.question) or SAVES.search(request.question)):
        return None
    rows = price_selection.every_size(request, book, currency=subscription.currency)
    return next((o for o in rows if (o.provider, o.instance) == (subscription.provider, subscription.instance)), None)


def _against(
    total: Decimal, subscription: Offer, hourly: Offer, machines: int, months: int, request: Request, book: Ledger
) -> list[str]:
    """By the hour for the time said (else whole months), the difference, and from how many hours the subscription pays."""
    lang, currency = book.language, subscription.currency
    hours = _hours(request, months, book)
    result = book.compute("rental_cost", gpus=machines, hours=hours, price_per_hour=hourly.price, currency=currency)
    mark, by_hour = book.cite_offers([hourly]), render.cash(result.value, currency, lang)
    lines = [book.say(f"按小时开 {number(round(hours, 2))} 小时：{by_hour}{mark}", f"By the hour for {number(round(hours, 2))} hours: {by_hour} {mark}"),
             render.formula(result.formula, lang)]  # fmt: skip
    low, high = sorted((total, result.value))
    if low == high:
        return lines
    out = book.compute("price_difference", dearer=high, cheaper=low, currency=currency).outputs
    gap = render.cash(Decimal(out["difference"]), currency, lang)
    cheaper = book.say("包月", "The subscription") if total == low else book.say("按小时", "Paying by the hour")
    break_even = book.compute("budget_hours", budget=subscription.price, price_per_hour=hourly.price, currency=currency)
    lines.append(book.say(
        f"**{cheaper}省 {gap}（{out['saving_percent']} %）**；每月开满约 {number(break_even.value)} 小时两者持平，用得更多包月省，更少按小时省。",
        f"**{cheaper} saves {gap} ({out['saving_percent']} %)**; at about {number(break_even.value)} hours a month both cost the same: above that the subscription is cheaper, below it the hour."))  # fmt: skip
    lines.append(render.formula(break_even.formula, lang))
    return lines


def _hours(request: Request, months: int, book: Ledger) -> Decimal:
    """Hours of use: those said in days or hours, else whole months of 730 hours; by so many hours a day where said."""
    s = request.slots
    said = next((p for p in s.periods if p.unit in ("hour", "gpu-hour") and p.hours > 1), None)
    if said:
        return said.hours
    days = next((p for p in s.periods if p.unit == "day" and p.value in MONTH_DAYS), None)
    value, unit = (days.value, "day") if days else (Decimal(months), "month")
    return book.compute("period_hours", value=value, unit=unit, hours_per_day=s.hours_per_day or Decimal(24)).value


def _machine(offer: Offer, book: Ledger) -> str:
    """腾讯云 Tesla T4（1 张卡，8 核 32 GiB，GN7.2XLARGE32)."""
    lang, who = book.language, render.name("provider", offer.provider, book.language)
    parts = [render.part_of_card(offer, lang)]
    if offer.cpu_cores and offer.host_memory_gib:
        parts.append(f"{render.cores(offer, lang)} {number(offer.host_memory_gib)} GiB")
    parts += [offer.instance] if offer.instance else []
    gpu = offer.gpu_form or offer.gpu
    return book.say(f"{who} {gpu}（{'，'.join(parts)}）", f"{gpu} at {who} ({', '.join(parts)})")
