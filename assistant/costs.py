"""Answers about rental cost and budgets: GPUs x time x price, and what an amount of money rents.

Sums come from the calculators; prices from rows, or from the user where the user gives a price of his own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from assistant import memory, prices, render
from assistant.calculator import rental
from assistant.calculator.calculation import number
from assistant.evidence import Finding
from assistant.ledger import Ledger
from assistant.reading import Item, Period
from assistant.understand import COMPARING, Request
from knowledge.catalog import MemoryAdvice, Offer

STANDARD_PERIODS = ("hour", "day", "week", "month", "year")


@dataclass(frozen=True)
class Rate:
    """What one instance costs an hour, and whose price that is."""

    label: str
    gpu: str
    price: Decimal
    currency: str
    mark: str
    gpus_per_instance: int = 1


def cost(request: Request, book: Ledger) -> Finding:
    """What renting the GPUs for the time costs, at every provider in question, cheapest first."""
    kinds = {(item.gpu, item.provider) for item in request.slots.items}
    if len(kinds) > 1 and not request.aspects & {"each", *COMPARING}:
        return _order(request, book)
    stopped = _stop(request, book)
    if stopped:
        return stopped
    rates = _rates(request, book)
    if not rates:
        return prices.missing(request, book)
    count, count_note = _count(request, book)
    periods = _periods(request, book)
    if not periods:
        return _standard_periods(request, rates, count, count_note, book)
    if len(rates) == 1:
        return _single(request, rates[0], count, count_note, periods, book)
    return _several(request, rates, count, count_note, periods, book)


def budget(request: Request, book: Ledger) -> Finding:
    """What an amount of money rents: hours, or for a stated period the number of cards and whether it is enough."""
    s = request.slots
    if s.money is None:
        return cost(request, book)
    stopped = _stop(request, book, need_gpu=False)
    if stopped:
        return stopped
    rates = _rates(request, book)
    if not rates:
        return prices.missing(request, book)
    if s.money_currency not in (None, rates[0].currency):
        given = render.CURRENCY_ZH.get(s.money_currency or "", s.money_currency or "")
        return book.finding("needs_detail", book.say(
            f"预算是{given}，而价格是人民币；没有约定汇率不能换算。请给出汇率，或直接给人民币预算。",
            f"The budget is in {s.money_currency} but the prices are in CNY, and without an agreed rate they are not converted. Please give an exchange rate or the budget in CNY."))  # fmt: skip
    periods = _periods(request, book)
    if periods and "payback" not in request.aspects:
        return _cards_for(request, rates, periods[0], book)
    return _hours_for(request, rates, book)


def _stop(request: Request, book: Ledger, *, need_gpu: bool = True) -> Finding | None:
    """What keeps a sum from being made: a senseless quantity, an unknown name, nothing named."""
    s = request.slots
    if request.bad_quantity:
        return book.finding("needs_detail", book.say(
            f"“{request.bad_quantity}”不是有效的数量：时长、张数和金额必须是正数，张数要是整数（表里没有切片的价格），请重新给出。",
            f"“{request.bad_quantity}” cannot be used: time, number of cards and money must be positive, and cards whole (no slices are priced). Please give another value."))  # fmt: skip
    if refusal := prices.refuse_unknown(request, book):
        return refusal
    if need_gpu and not (s.gpus or s.providers or s.workloads):
        return prices.ask_which(book)
    return None


def _rates(request: Request, book: Ledger) -> list[Rate]:
    """The user's own price if he gave one, else the rows; cheapest first."""
    s, lang = request.slots, book.language
    if s.price_per_hour and (not s.providers or "mine" in request.aspects):
        gpu = s.gpus[0] if s.gpus else "GPU"
        return [Rate(book.say("你给的价格", "your price"), gpu, s.price_per_hour, s.price_currency or "CNY", "")]
    if s.workloads or s.models:
        request = replace(request, slots=replace(s, gpus=s.gpus or ("A100",)))
    offers = prices.offers_for(request, book)
    if not offers:
        return []
    mark = book.cite_offers(offers)
    return [
        Rate(render.name("provider", o.provider, lang), o.gpu, o.price, o.currency, mark, o.gpu_count) for o in offers
    ]


def _count(request: Request, book: Ledger) -> tuple[int, str]:
    """How many GPUs, and the sentence that says where the number comes from if nobody said it."""
    if request.slots.count:
        return request.slots.count, ""
    for workload in memory.workloads(request):
        advice = book.catalog.find_advice(workload)
        if advice and advice.card_count:
            mark = book.cite_advice(advice)
            size = f"{number(advice.card_memory_gb)} GB " if advice.card_memory_gb else ""
            return advice.card_count, book.say(
                f"张数取文章的建议：{advice.card_count} 张 {size}{advice.card}{mark}（价格表没有写明 A100 的显存）。",
                f"The number of cards is the articles' advice: {advice.card_count}× {size}{advice.card} {mark} (the price table does not state the A100's memory).")  # fmt: skip
        if advice and advice.memory_min_gb:
            return _cards_for_need(request, advice, book)
    return 1, book.say("按 1 张卡计算。", "Reckoned for 1 card.")


def _cards_for_need(request: Request, advice: MemoryAdvice, book: Ledger) -> tuple[int, str]:
    """The least number of cards whose memory holds the need; the smallest size a card is sold with where none is said."""
    sizes = request.slots.memory_gb or book.catalog.gpu_memory_gb.get(
        (request.slots.gpus or ("A100",))[0], (Decimal(40),)
    )
    result = book.compute(
        "cards_needed", memory_min_gb=advice.memory_min_gb, memory_max_gb=advice.memory_max_gb, card_memory_gb=sizes[0]
    )
    mark, cards = book.cite_advice(advice), int(result.outputs["cards_min"])
    return cards, book.say(
        f"张数按显存推算：单卡 {number(sizes[0])} GB，{result.formula}{mark}，取下限 {cards} 张。",
        f"Cards by memory: {number(sizes[0])} GB each, {result.formula} {mark}; the lower bound of {cards} is used.")  # fmt: skip


def _periods(request: Request, book: Ledger) -> list[Period]:
    """The times asked for, in hours really used: 22 days of 8 hours are 176 h."""
    s = request.slots
    per_day = s.hours_per_day or Decimal(24)
    said = list(s.periods)
    if not said and s.hours_per_day:
        said = [_standard("month" if per_day == 24 and s.money else "day")]
    return [_in_hours(period, per_day, book) for period in said]


def _in_hours(period: Period, per_day: Decimal, book: Ledger) -> Period:
    """The period with its hours computed on the record; hours and GPU-hours are what they are."""
    if period.unit in ("hour", "gpu-hour", "clock"):
        return period
    result = book.compute("period_hours", value=period.value, unit=period.unit, hours_per_day=per_day)
    return Period(result.value, period.value, period.unit, period.text)


def _standard(unit: str) -> Period:
    return Period(rental.HOURS_OF_UNIT[unit], Decimal(1), unit, unit)


def _single(request: Request, rate: Rate, count: int, note: str, periods: Sequence[Period], book: Ledger) -> Finding:
    lines = []
    for period in periods:
        result = book.compute("rental_cost", gpus=_gpus(period, count), hours=period.hours, price_per_hour=rate.price,
                              currency=rate.currency, gpus_per_instance=rate.gpus_per_instance)  # fmt: skip
        total = render.cash(result.value, rate.currency, book.language)
        what = render.gpus_text(_gpus(period, count), rate.gpu, book.language)
        lines.append(
            book.say(
                f"**{rate.label} {what}，{_span(period, book)}：{total}**{rate.mark}",
                f"**{what} at {rate.label}, {_span(period, book)}: {total}** {rate.mark}",
            )
        )
        lines.append(render.formula(result.formula, book.language))
    return book.finding(
        "answered",
        "  \n".join(lines),
        _assumptions(request, rate, note, periods, book),
        _wan(request, rate, count, periods, book),
    )


def _several(
    request: Request, rates: Sequence[Rate], count: int, note: str, periods: Sequence[Period], book: Ledger
) -> Finding:
    period, rows = periods[0], []
    headings = [book.say("云", "Cloud"), "GPU", book.say("价格（元/小时）", "Price (CNY/hour)")]
    headings += [
        book.say(f"{_gpus(p, count)} 张，{_span(p, book)}（元）", f"{_gpus(p, count)}×, {_span(p, book)} (CNY)")
        for p in periods
    ]
    best = None
    for rate in rates:
        results = [
            book.compute(
                "rental_cost", gpus=_gpus(p, count), hours=p.hours, price_per_hour=rate.price, currency=rate.currency
            )
            for p in periods
        ]
        best = best or (rate, results[0])
        rows.append([rate.label, rate.gpu, number(rate.price), *(f"{r.value:,.2f}" for r in results)])
    assert best is not None
    rate, result = best
    total, what = (
        render.cash(result.value, rate.currency, book.language),
        render.gpus_text(_gpus(period, count), rate.gpu, book.language),
    )
    head = book.say(
        f"**最便宜：{rate.label} {what}，{_span(period, book)}，{total}**{rate.mark}",
        f"**Cheapest: {what} at {rate.label}, {_span(period, book)}: {total}** {rate.mark}",
    )
    return book.finding(
        "answered", head + "  \n" + render.formula(result.formula, book.language), render.table(headings, rows),
        _assumptions(request, rate, note, periods, book), _apart(request, rates, count, period, book),
    )  # fmt: skip


def _standard_periods(request: Request, rates: Sequence[Rate], count: int, note: str, book: Ledger) -> Finding:
    """No time was said: the cost per hour, day, week, month and year."""
    lang, rows = book.language, []
    periods = [_in_hours(_standard(unit), Decimal(24), book) for unit in STANDARD_PERIODS]
    for rate in rates:
        totals = [
            book.compute(
                "rental_cost", gpus=count, hours=p.hours, price_per_hour=rate.price, currency=rate.currency
            ).value
            for p in periods
        ]
        rows.append([rate.label, rate.gpu, *(f"{t:,.2f}" for t in totals)])
    names = [book.say(f"每{render.period_name(p.unit, lang)}（元）", f"Per {p.unit} (CNY)") for p in periods]
    head = book.say(
        f"没有说租多久，下面是 {count} 张卡各时长的费用{rates[0].mark}：",
        f"No time was given; this is what {count} {'card costs' if count == 1 else 'cards cost'} per period {rates[0].mark}:",
    )
    return book.finding(
        "answered",
        head,
        render.table([book.say("云", "Cloud"), "GPU", *names], rows),
        _assumptions(request, rates[0], note, periods, book),
    )


def _order(request: Request, book: Ledger) -> Finding:
    """A mixed order, such as two T4 at one cloud and one at another: the sum of its lines."""
    periods = _periods(request, book) or [_in_hours(_standard("month"), Decimal(24), book)]
    each = len(periods) == len(request.slots.items) > 1  # "2 for 5 hours and 4 for 10 hours"
    lines, lang = [], book.language
    offers = []
    for i, item in enumerate(request.slots.items):
        period = periods[i] if each else periods[0]
        offer = _cheapest(item, request, book)
        if offer is None:
            return prices.missing(request, book)
        offers.append(offer)
        result = book.compute(
            "rental_cost", gpus=item.count, hours=period.hours, price_per_hour=offer.price, currency=offer.currency
        )
        who = render.name("provider", offer.provider, lang)
        lines.append(
            [
                who,
                render.gpus_text(item.count, offer.gpu, lang),
                number(offer.price),
                _span(period, book),
                f"{result.value:,.2f}",
            ]
        )
    mark = book.cite_offers(list(dict.fromkeys(offers)))
    sum_of = book.compute(
        "sum_of_costs", amounts=[Decimal(line[-1].replace(",", "")) for line in lines], currency="CNY"
    )
    span = "" if each else _span(periods[0], book)
    head = book.say(
        f"**合计{'，' if span else ''}{span}：{render.cash(sum_of.value, 'CNY', lang)}**{mark}",
        f"**Altogether{', ' if span else ''}{span}: {render.cash(sum_of.value, 'CNY', lang)}** {mark}",
    )
    headings = [
        book.say("云", "Cloud"),
        book.say("卡", "Cards"),
        book.say("价格（元/小时）", "Price (CNY/hour)"),
        book.say("时长", "Time"),
        book.say("费用（元）", "Cost (CNY)"),
    ]
    return book.finding(
        "answered",
        head + "  \n" + render.formula(sum_of.formula, lang),
        render.table(headings, lines),
        _month_note(periods, book),
    )


def _cheapest(item: Item, request: Request, book: Ledger) -> Offer | None:
    providers = [item.provider] if item.provider else request.slots.providers[:1]
    return next(iter(book.catalog.find_offers([item.gpu], providers)), None)


def _cards_for(request: Request, rates: Sequence[Rate], period: Period, book: Ledger) -> Finding:
    s, lang, rows, heads = request.slots, book.language, [], []
    count = s.count or 1
    assert s.money is not None
    for rate in rates:
        result = book.compute(
            "budget_cards",
            budget=s.money,
            hours=period.hours,
            price_per_hour=rate.price,
            currency=rate.currency,
            gpus=count,
        )
        out = result.outputs
        cost_text, cards = render.cash(Decimal(out["cost"]), rate.currency, lang), int(out["cards"])
        rows.append([rate.label, rate.gpu, number(rate.price), f"{Decimal(out['cost_of_one']):,.2f}", str(cards)])
        left = Decimal(out["left_over"])
        what = render.gpus_text(count, rate.gpu, lang)
        if left >= 0:
            heads.append(book.say(f"**够**：{rate.label} {what}，{_span(period, book)}要 {cost_text}，剩 {left:,.2f} 元；最多可租 {cards} 张{rate.mark}",
                                  f"**Enough**: {what} at {rate.label}, {_span(period, book)}, costs {cost_text}, leaving {left:,.2f} CNY; at most {cards} {'card' if cards == 1 else 'cards'} {rate.mark}"))  # fmt: skip
        else:
            heads.append(book.say(f"**不够**：{rate.label} {what}，{_span(period, book)}要 {cost_text}，超出预算，还差 {-left:,.2f} 元{rate.mark}",
                                  f"**Not enough**: {what} at {rate.label}, {_span(period, book)}, costs {cost_text}: over the budget, {-left:,.2f} CNY short {rate.mark}"))  # fmt: skip
    money = render.amount(s.money, "CNY", lang)
    intro = book.say(f"预算 {money}：", f"With a budget of {money}:")
    body = ""
    if len(rates) > 1:
        headings = [book.say("云", "Cloud"), "GPU", book.say("价格（元/小时）", "Price (CNY/hour)"),
                    book.say(f"1 张，{_span(period, book)}（元）", f"1 card, {_span(period, book)} (CNY)"), book.say("预算内可租（张）", "Cards within budget")]  # fmt: skip
        body = render.table(headings, rows)
        heads = heads[:1] if s.gpus and len(s.gpus) == 1 else []
    note = "" if s.count else book.say("按 1 张卡全天开机计算。", "Reckoned for 1 card, always on.")
    return book.finding(
        "answered",
        intro + ("  \n" + "  \n".join(heads) if heads else ""),
        body,
        " ".join(x for x in (note, _month_note([period], book)) if x),
    )


def _hours_for(request: Request, rates: Sequence[Rate], book: Ledger) -> Finding:
    s, lang, rows, heads = request.slots, book.language, [], []
    count = s.count or 1
    assert s.money is not None
    for rate in rates:
        result = book.compute("budget_hours", budget=s.money, price_per_hour=rate.price, gpus=count, currency=rate.currency, hours_per_day=s.hours_per_day or 24)  # fmt: skip
        hours, days = result.outputs["hours"], result.outputs["days"]
        a_day_zh = f"每天 {number(s.hours_per_day)} 小时，约" if s.hours_per_day else "约"
        a_day_en = f"at {number(s.hours_per_day)} hours a day about" if s.hours_per_day else "about"
        what = render.gpus_text(count, rate.gpu, lang)
        rows.append([rate.label, rate.gpu, number(rate.price), f"{hours:,}", f"{days:,}"])
        heads.append(book.say(f"**{render.amount(s.money, 'CNY', lang)}在{rate.label}可租 {what} {hours:,} 小时**（{a_day_zh} {days:,} 天）{rate.mark}  \n",
                              f"**{render.amount(s.money, 'CNY', lang)} rents {what} at {rate.label} for {hours:,} hours** ({a_day_en} {days:,} days) {rate.mark}  \n") + render.formula(result.formula, lang))  # fmt: skip
    table = (
        render.table(
            [
                book.say("云", "Cloud"),
                "GPU",
                book.say("价格（元/小时）", "Price (CNY/hour)"),
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
                    "If this is the price of buying the card: renting for that long costs as much as the card; power, hosting, the server and resale are left out.") if request.aspects & {"buy", "payback"} else ""  # fmt: skip
    return book.finding("answered", *heads, table, note)


def _gpus(period: Period, count: int) -> int:
    """GPU-hours already count the cards: 250 GPU-hours are 250 h of one card."""
    return 1 if period.unit == "gpu-hour" else count


def _span(period: Period, book: Ledger) -> str:
    """72 小时; 1 个月（730 小时）."""
    hours = (
        number(period.hours.quantize(Decimal("0.01")).normalize())
        if period.hours != period.hours.to_integral()
        else number(period.hours)
    )
    if period.unit in ("hour", "gpu-hour"):
        return book.say(
            f"{hours} {'卡时' if period.unit == 'gpu-hour' else '小时'}",
            f"{hours} {'GPU-hours' if period.unit == 'gpu-hour' else 'hours'}",
        )
    if period.unit in ("minute", "clock"):
        return book.say(f"{hours} 小时", f"{hours} hours")
    value, name = number(period.value), render.period_name(period.unit, book.language)
    zh_name = f"个{name}" if period.unit == "month" else f"个{name}" if period.unit == "quarter" else name
    en_name = period.unit if period.value == 1 else f"{period.unit}s"
    return book.say(f"{value} {zh_name}（{hours} 小时）", f"{value} {en_name} ({hours} hours)")


def _assumptions(request: Request, rate: Rate, note: str, periods: Sequence[Period], book: Ledger) -> str:
    own = book.say(f"用的是你给的价格 {render.amount(rate.price, rate.currency, 'zh', 'hour')}，不是表里的价格。", f"Uses your price of {render.amount(rate.price, rate.currency, 'en', 'hour')}, not a row of the table.") if not rate.mark else ""  # fmt: skip
    claimed = request.slots.price_per_hour if rate.mark else None
    ignored = (
        book.say(
            "价格以表中的行为准，没有采用问题里的价格。",
            "Prices are the table's; the price in the question was not used.",
        )
        if claimed
        else ""
    )
    undated = (
        book.say(
            "价格未注明日期和地域，按需计费，不含存储和网络。",
            "The prices state neither date nor region; on demand, without storage and network.",
        )
        if rate.mark
        else ""
    )
    return " ".join(
        part
        for part in (
            prices.terms_note(request, book),
            note,
            prices.form_note(request, book),
            own,
            ignored,
            _month_note(periods, book),
            undated,
        )
        if part
    )


def _month_note(periods: Sequence[Period], book: Ledger) -> str:
    """How long a month was taken to be, if one was."""
    if not any(period.unit in ("month", "quarter") for period in periods):
        return ""
    return rental.MONTH.text[book.language] + book.say("。", ".")


def _wan(request: Request, rate: Rate, count: int, periods: Sequence[Period], book: Ledger) -> str:
    """In 万元 where the question asks for it; the calculator's own sum, moved four places."""
    if "万" not in request.question:
        return ""
    result = book.compute("rental_cost", gpus=_gpus(periods[0], count), hours=periods[0].hours, price_per_hour=rate.price, currency=rate.currency, gpus_per_instance=rate.gpus_per_instance)  # fmt: skip
    return f"= {number((result.value / 10000).quantize(Decimal('0.0001')).normalize())} 万元"


def _apart(request: Request, rates: Sequence[Rate], count: int, period: Period, book: Ledger) -> str:
    """How far the dearest is above the cheapest, for the whole job."""
    low, high = rates[0], rates[-1]
    if low.price == high.price or len({r.gpu for r in rates}) > 1:
        return ""
    factor = period.hours * _gpus(period, count)
    outputs = book.compute(
        "price_difference", dearer=high.price * factor, cheaper=low.price * factor, currency=low.currency
    ).outputs
    return book.say(f"最贵与最便宜相差 {render.cash(Decimal(outputs['difference']), low.currency, 'zh')}（贵 {outputs['surplus_percent']} %）。",
                    f"Dearest and cheapest are {render.cash(Decimal(outputs['difference']), low.currency, 'en')} apart ({outputs['surplus_percent']} % more).")  # fmt: skip
