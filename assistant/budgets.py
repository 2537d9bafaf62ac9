"""Answers about budgets: what an amount of money rents, for how long, and whether it is enough.

Sums come from the calculators; prices from rows, or from the user where the user gives a price of his own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from assistant import price_gaps, render, working_hours
from assistant.aspects import WORDS
from assistant.calculator.calculation import number
from assistant.conversion import convert
from assistant.costs import cost
from assistant.evidence import Finding
from assistant.ledger import Ledger
from assistant.price_tables import per_hour
from assistant.reading import Period
from assistant.rental_terms import Rate, discount_note, month_note, periods_for, rates_for, span, stop
from assistant.understand import Request

PRICED_IN = ("CNY", "USD")  # an amount in another currency is asked back for
PAYBACK = re.compile(WORDS["payback"], re.I)
# "12,000 a month: how many hours is that": the time is asked for, a month only says how often the money is spent.
HOURS_ASKED = re.compile(r"(?:多少|几)个?(?:小时|钟头|卡时|机时)|how many (?:gpu[- ]|card[- ]|machine[- ])?hours", re.I)

# "How long would 5,000 last": the same, in any unit.
MOST_IN_DOLLARS = 6
LASTING = re.compile(
    r"多久|多长时间|(?:多少|几)(?:天|个?(?:小时|钟头|卡时|机时|星期|礼拜|月)|周)|how long|how much (?:\w+[- ])?time|how many (?:\w+[- ])?(?:hours|days|weeks|months)",
    re.I,
)
# Hours that money buys are rented: "10,000 yuan buys how many hours of A100".
TIME_BOUGHT = re.compile(
    r"买(?:到|得到?|来)?\s*(?:多少|几)个?(?:小时|钟头|卡时|机时|天)|买(?:到|得到?|来)?\s*多(?:久|长时间)|(?:小时|卡时|机时|时长|算力)[^,，。?？]{0,6}能买(?:多少|几)|"
    r"(?<![a-z])(?:buys?|bought|get|purchase)s?(?: me| us| you)?(?: an? \w+ for)? (?:how (?:many (?:\w+[- ])?(?:hours|days|weeks)|much (?:\w+[- ])?time|long))|"
    r"how (?:many (?:\w+[- ])*(?:hours|days|weeks)|much (?:\w+[- ])*time|long)[^.?]{0,40}(?<![a-z])(?:buy|purchase|get)(?![a-z])",
    re.I,
)


def buys_time(question: str) -> bool:
    """Whether hours of a card are what the money is to buy, and no card."""
    return TIME_BOUGHT.search(question) is not None and not PAYBACK.search(question)


def budget(request: Request, book: Ledger) -> Finding:
    """What an amount of money rents: hours, or for a stated period the number of cards and whether it is enough."""
    s = request.slots
    if s.money is None:
        return cost(request, book)
    stopped = stop(request, book, need_gpu=False)
    if stopped:
        return stopped
    found = rates_for(request, book)
    found = [rate for rate in found if rate.currency == found[0].currency]
    rates = [rate for rate in found if rate.gpus_per_instance == 1] or found  # money buys whole instances
    if not rates:
        return price_gaps.missing(request, book)
    lead = ""
    if s.money_currency not in (None, rates[0].currency):
        known = s.money_currency in PRICED_IN and rates[0].currency in PRICED_IN
        changed = convert(s.money, str(s.money_currency), rates[0].currency, request, book) if known else None
        if changed is None:
            return _not_converted(request, rates[0].currency, book)
        lead, s = changed.line, replace(s, money=changed.value, money_currency=rates[0].currency)
        request = replace(request, slots=s)
    periods = [] if _asks_time(request) else periods_for(request, book)
    if periods and "payback" not in request.aspects:
        return _cards_for(request, rates, periods[0], book, lead)
    return _hours_for(request, rates, book, lead)


def _asks_time(request: Request) -> bool:
    """Whether the time is what is asked, so that none that was said is the time of the rent."""
    s, text = request.slots, request.question
    if s.hours_per_day and not s.periods and "how_many" not in request.aspects:  # "8 hours a day, for how long?"
        return True
    if LASTING.search(text) and all(period.hours == 1 for period in request.said.periods):  # "per hour" is of a price
        return True
    return bool(HOURS_ASKED.search(text)) and "enough" not in request.aspects and len(s.periods) < 2


def _not_converted(request: Request, currency: str, book: Ledger) -> Finding:
    said = request.slots.money_currency or ""
    given = render.CURRENCY_ZH.get(said, said)
    return book.finding("needs_detail", book.say(
        f"预算是{given}，而价格是{render.unit(currency, 'zh')}；没有约定汇率不能换算。请给出汇率，或直接给{render.unit(currency, 'zh')}预算。",
        f"The budget is in {said} but the prices are in {currency}, and without an agreed rate they are not converted. Please give an exchange rate or the budget in {currency}."))  # fmt: skip


def _cards_for(request: Request, rates: Sequence[Rate], period: Period, book: Ledger, lead: str) -> Finding:
    s, lang, rows, heads = request.slots, book.language, [], []
    count = s.count or 1
    unit = render.unit(rates[0].currency, lang)
    assert s.money is not None
    for rate in rates:
        result = book.compute(
            "budget_cards",
            budget=s.money,
            hours=period.hours,
            price_per_hour=rate.price_per_gpu,
            currency=rate.currency,
            gpus=count,
        )
        out = result.outputs
        cost_text, cards = render.cash(Decimal(out["cost"]), rate.currency, lang), int(out["cards"])
        rows.append(
            [
                rate.label,
                rate.gpu,
                number(rate.price_per_gpu),
                f"{Decimal(out['cost_of_one']):,.2f}",
                render.cards(cards, lang),
            ]
        )
        left = Decimal(out["left_over"])
        what = render.gpus_text(count, rate.gpu, lang)
        if left >= 0:
            heads.append(book.say(f"**够**：{rate.label} {what}，{span(period, book)}要 {cost_text}，剩 {left:,.2f} {unit}；最多可租 {cards} 张{rate.mark}",
                                  f"**Enough**: {what} at {rate.label}, {span(period, book)}, costs {cost_text}, leaving {left:,.2f} {unit}; at most {cards} {'card' if cards == 1 else 'cards'} {rate.mark}"))  # fmt: skip
        else:
            heads.append(book.say(f"**不够**：{rate.label} {what}，{span(period, book)}要 {cost_text}，超出预算，还差 {-left:,.2f} {unit}{rate.mark}",
                                  f"**Not enough**: {what} at {rate.label}, {span(period, book)}, costs {cost_text}: over the budget, {-left:,.2f} {unit} short {rate.mark}"))  # fmt: skip
    money = render.amount(s.money, rates[0].currency, lang)
    intro = book.say(f"预算 {money}：", f"With a budget of {money}:")
    body = ""
    if len(rates) > 1:
        headings = [book.say("云", "Cloud"), "GPU", per_hour(rates[0].currency, book),
                    book.say(f"1 张，{span(period, book)}（{unit}）", f"1 card, {span(period, book)} ({unit})"), book.say("预算内可租（张）", "Cards within budget")]  # fmt: skip
        body = render.table(headings, rows)
        heads = heads[:1] if s.gpus and len(s.gpus) == 1 else _within(rates, period, s.money, book)
    worked = working_hours.told(request, book)
    on = book.say("", "") if worked or s.hours_per_day else book.say("全天开机", ", always on")
    note = "" if s.count else book.say(f"按 1 张卡{on}计算。", f"Reckoned for 1 card{on}.")
    note += book.say("；", "; ").join(worked)
    return book.finding(
        "answered",
        lead,
        intro + ("  \n" + "  \n".join(heads) if heads else ""),
        body,
        *_in_dollars(request, rates, period, book),
        " ".join(x for x in (note, discount_note(request, rates[0], book), month_note([period], book)) if x),
    )


def _within(rates: Sequence[Rate], period: Period, money: Decimal, book: Ledger) -> list[str]:
    """Where no card was named: how far the money goes for one card, at each card's cheapest cloud."""
    fitting = [rate for rate in rates if rate.price_per_gpu * period.hours <= money]
    if not fitting:
        least = min(rates, key=lambda rate: rate.price_per_gpu)
        return [book.say(f"**这笔钱一张也租不满 {span(period, book)}**：最便宜的是{least.label} {least.gpu}{least.mark}",
                         f"**The money rents none for {span(period, book)}**: the cheapest is {least.gpu} at {least.label} {least.mark}")]  # fmt: skip
    cheapest = {
        rate.gpu: rate for rate in sorted(fitting, key=lambda rate: -rate.price_per_gpu)
    }  # the last of each card
    best = max(cheapest.values(), key=lambda rate: rate.price_per_gpu)
    return [book.say(f"**单卡租满 {span(period, book)}，预算内价位最高的是{best.label} {best.gpu}**{best.mark}",
                     f"**For {span(period, book)} the dearest single card within it is the {best.gpu} at {best.label}** {best.mark}")]  # fmt: skip


def _in_dollars(request: Request, rates: Sequence[Rate], period: Period, book: Ledger) -> list[str]:
    """Beside the few cards priced in yuan the best that the money rents at dollar prices, at a rate that is said."""
    s = request.slots
    if s.gpus or s.providers or rates[0].currency != "CNY" or s.money is None:
        return []
    changed = convert(s.money, "CNY", "USD", request, book)
    offers = [o for o in book.catalog.find_offers(currency="USD") if not o.is_slice and o.gpu_count == 1]
    if changed is None:
        return []
    cheapest = {o.gpu: o for o in sorted(offers, key=lambda o: -o.price)}  # the last of each card is its cheapest
    fitting = sorted((o for o in cheapest.values() if o.price * period.hours <= changed.value), key=lambda o: -o.price)
    shown = fitting[:MOST_IN_DOLLARS]
    if not shown:
        return []
    mark, rows = book.cite_offers(shown), []
    for offer in shown:
        out = book.compute("budget_cards", budget=changed.value, hours=period.hours, price_per_hour=offer.price, currency="USD").outputs  # fmt: skip
        rows.append([render.name("provider", offer.provider, book.language), offer.gpu_form or offer.gpu, number(offer.price), f"{Decimal(out['cost_of_one']):,.2f}"])  # fmt: skip
    head = book.say(
        f"按美元报价，同样的钱能租到的，价位从高到低{mark}：",
        f"At prices in dollars the same money rents these, dearest first {mark}:",
    )
    headings = [book.say("云", "Cloud"), "GPU", per_hour("USD", book), book.say(f"1 张，{span(period, book)}（美元）", f"1 card, {span(period, book)} (USD)")]  # fmt: skip
    return [changed.line, head, render.table(headings, rows)]


def _hours_for(request: Request, rates: Sequence[Rate], book: Ledger, lead: str) -> Finding:
    s, lang, rows, heads = request.slots, book.language, [], []
    count = s.count or 1
    assert s.money is not None
    for rate in rates:
        result = book.compute("budget_hours", budget=s.money, price_per_hour=rate.price_per_gpu, gpus=count, currency=rate.currency, hours_per_day=s.hours_per_day or 24)  # fmt: skip
        hours, days = result.outputs["hours"], result.outputs["days"]
        a_day_zh = f"每天 {number(s.hours_per_day)} 小时，约" if s.hours_per_day else "约"
        a_day_en = f"at {number(s.hours_per_day)} hours a day about" if s.hours_per_day else "about"
        what = render.gpus_text(count, rate.gpu, lang)
        rows.append([rate.label, rate.gpu, number(rate.price_per_gpu), f"{hours:,}", f"{days:,}"])
        heads.append(book.say(f"**{render.amount(s.money, rate.currency, lang)}在{rate.label}可租 {what} {hours:,} 小时**（{a_day_zh} {days:,} 天）{rate.mark}  \n",
                              f"**{render.amount(s.money, rate.currency, lang)} rents {what} at {rate.label} for {hours:,} hours** ({a_day_en} {days:,} days) {rate.mark}  \n") + render.formula(result.formula, lang))  # fmt: skip
    table = (
        render.table(
            [
                book.say("云", "Cloud"),
                "GPU",
                per_hour(rates[0].currency, book),
                book.say("可租（小时）", "Time (hours)"),
                book.say("约合（天）", "About (days)"),
            ],
            rows,
        )
        if len(rows) > 1
        else ""
    )
    if len(rates) > 1:
        heads = heads[:1]
    note = book.say("若这是买卡的价钱：租满上面的时长就等于卡价；未计电费、机房、服务器和残值。",
                    "If this is the price of buying the card: renting for that long costs as much as the card; power, hosting, the server and resale are left out.") if request.aspects & {"buy", "payback"} and not buys_time(request.question) else ""  # fmt: skip
    return book.finding("answered", lead, *heads, table, discount_note(request, rates[0], book), note)
