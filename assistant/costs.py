"""Answers about rental cost and budgets: GPUs x time x price, and what an amount of money rents.

Sums come from the calculators; prices from rows, or from the user where the user gives a price of his own.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from assistant import (
    memory,
    orders,
    price_gaps,
    price_selection,
    price_tables,
    render,
    short_times,
    size_notes,
    subscriptions,
    working_hours,
)
from assistant.calculator.calculation import number
from assistant.conversion import converted
from assistant.cost_differences import differences
from assistant.evidence import Finding
from assistant.ledger import Ledger
from assistant.price_tables import per_hour
from assistant.reading import Period, read
from assistant.rental_terms import (
    Rate,
    discount_note,
    dollars,
    gpus_in,
    in_hours,
    month_note,
    periods_for,
    rates_for,
    span,
    standard,
    stop,
)
from assistant.shared_bills import share_of
from assistant.understand import Request
from knowledge.catalog import MemoryAdvice
from knowledge.instances import find_instances
from knowledge.names import normalise

STANDARD_PERIODS = ("hour", "day", "week", "month", "year")


def cost(request: Request, book: Ledger) -> Finding:
    """What renting the GPUs for the time costs, at every provider in question, cheapest first."""
    if mixed := orders.order(request, book):
        return mixed
    stopped = stop(request, book, need_gpu=not request.slots.price_per_hour)  # a price of one's own needs no card
    return stopped or subscriptions.leading(request, book, _by_the_hour)


def _by_the_hour(request: Request, book: Ledger) -> Finding:
    """The sum at the prices per hour."""
    rates = rates_for(request, book)
    if not rates:
        return price_gaps.missing(request, book)
    count, count_note = _count(request, book)
    periods = periods_for(request, book)
    if short := short_times.per_minute(request, rates, count, periods, book):
        return short
    if not periods:
        return _standard_periods(request, rates, count, count_note, book)
    main = [rate for rate in rates if rate.currency == rates[0].currency]
    others = [
        _line(rate, count, periods[0], book) for rate in [*rates, *dollars(request, rates, book)] if rate not in main
    ]
    if len(main) == 1:
        return _single(request, main[0], count, count_note, periods, book, others)
    return _several(request, main, count, count_note, periods, book, others)


def _line(rate: Rate, count: int, period: Period, book: Ledger) -> str:
    """One cloud in another currency than the table: its cost in its own."""
    result = book.compute("rental_cost", gpus=gpus_in(period, count), hours=period.hours, price_per_hour=rate.price,
                          currency=rate.currency, gpus_per_instance=rate.gpus_per_instance)  # fmt: skip
    total, what = render.cash(result.value, rate.currency, book.language), render.gpus_text(gpus_in(period, count), rate.gpu, book.language)  # fmt: skip
    return book.say(f"**{rate.label} {what}，{span(period, book)}：{total}**（{result.formula}）", f"**{what} at {rate.label}, {span(period, book)}: {total}** ({result.formula})")  # fmt: skip


def _subscriptions(request: Request, rates: Sequence[Rate], periods: Sequence[Period], book: Ledger) -> list[str]:
    """What the clouds ask for a month's subscription, where months are asked for and such rows exist."""
    by_month = any(period.unit in ("month", "quarter", "year") for period in periods)
    return (
        subscriptions.monthly(request, book) if by_month and rates[0].mark and not request.slots.hours_per_day else []
    )


def _count(request: Request, book: Ledger) -> tuple[int, str]:
    """How many GPUs, and the sentence that says where the number comes from if nobody said it."""
    if named := [i for i in find_instances(normalise(request.question)) if i.gpu_count and i.gpu_count >= 1]:
        each, machines = int(named[0].gpu_count or 1), request.slots.count or 1
        return each * machines, book.say(f"{machines:,} 台 {named[0].text}，每台 {each} 张卡。", f"{machines:,}× {named[0].text} with {render.cards(each, 'en')} each.")  # fmt: skip
    if found := _of_size(request, book):
        return found
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
    if any(offer.is_slice for offer in price_selection.sized_offers(request, book)):
        return 1, book.say("按 1 个切片计算。", "Reckoned for 1 slice.")
    return 1, book.say("按 1 张卡计算。", "Reckoned for 1 card.")


def _of_size(request: Request, book: Ledger) -> tuple[int, str] | None:
    """Cards of a machine size named with several of them each, where no number of cards or one of machines is said."""
    each = {offer.gpu_count for offer in price_selection.sized_offers(request, book)}
    if len(each) != 1 or each == {1}:
        return None
    (cards,), count = each, request.slots.count
    in_machines = any(
        q.kind == "count" and q.unit == "machine" and q.value == count for q in read(request.question).quantities
    )
    if count and not in_machines:
        return None
    return cards * (count or 1), book.say(f"每台 {cards} 张卡。", f"{cards} cards in each machine.")


def _cards_for_need(request: Request, advice: MemoryAdvice, book: Ledger) -> tuple[int, str]:
    """The least number of cards whose memory holds the need; the smallest size a card is sold with where none is said."""
    sizes = (
        request.slots.memory_gb or book.catalog.memory_sizes_gb((request.slots.gpus or ("A100",))[0]) or (Decimal(40),)
    )
    result = book.compute(
        "cards_needed", memory_min_gb=advice.memory_min_gb, memory_max_gb=advice.memory_max_gb, card_memory_gb=sizes[0]
    )
    mark, cards = book.cite_advice(advice), int(result.outputs["cards_min"])
    return cards, book.say(
        f"张数按显存推算：单卡 {number(sizes[0])} GB，{result.formula}{mark}，取下限 {cards} 张。",
        f"Cards by memory: {number(sizes[0])} GB each, {result.formula} {mark}; the lower bound of {cards} is used.")  # fmt: skip


def _single(
    request: Request,
    rate: Rate,
    count: int,
    note: str,
    periods: Sequence[Period],
    book: Ledger,
    others: Sequence[str] = (),
) -> Finding:
    lines = []
    for period in periods:
        result = book.compute("rental_cost", gpus=gpus_in(period, count), hours=period.hours, price_per_hour=rate.price,
                              currency=rate.currency, gpus_per_instance=rate.gpus_per_instance)  # fmt: skip
        total = render.cash(result.value, rate.currency, book.language)
        what = render.gpus_text(gpus_in(period, count), rate.gpu, book.language)
        lines.append(
            book.say(
                f"**{rate.label} {what}，{span(period, book)}：{total}**{rate.mark}",
                f"**{what} at {rate.label}, {span(period, book)}: {total}** {rate.mark}",
            )
        )
        lines.append(render.formula(result.formula, book.language))
        lines += [line for line in (share_of(result.value, rate.currency, request, book), converted(result.value, rate.currency, request, book)) if line]  # fmt: skip
    return book.finding(
        "answered",
        "  \n".join(lines),
        *others,
        _assumptions(request, rate, note, periods, book),
        *_subscriptions(request, [rate], periods, book),
        _wan(request, rate, count, periods, book),
    )


def _several(
    request: Request,
    rates: Sequence[Rate],
    count: int,
    note: str,
    periods: Sequence[Period],
    book: Ledger,
    others: Sequence[str] = (),
) -> Finding:
    period, unit = periods[0], render.unit(rates[0].currency, book.language)
    headings = [book.say("云", "Cloud"), "GPU", per_hour(rates[0].currency, book)]
    headings += [
        book.say(
            f"{gpus_in(p, count)} 张，{span(p, book)}（{unit}）",
            f"{render.cards(gpus_in(p, count), 'en')}, {span(p, book)} ({unit})",
        )
        for p in periods
    ]
    priced = []
    for rate in rates:
        results = [
            book.compute(
                "rental_cost", gpus=gpus_in(p, count), hours=p.hours, price_per_hour=rate.price, currency=rate.currency,
                gpus_per_instance=rate.gpus_per_instance,
            )
            for p in periods
        ]  # fmt: skip
        priced.append((rate, results))
    priced.sort(key=lambda pair: pair[1][0].value)  # whole instances may cost more than their price per GPU says
    rows = [
        [rate.label, rate.gpu, number(rate.price), *(f"{r.value:,.2f}" for r in results)] for rate, results in priced
    ]
    rate, result = priced[0][0], priced[0][1][0]
    total, what = (
        render.cash(result.value, rate.currency, book.language),
        render.gpus_text(gpus_in(period, count), rate.gpu, book.language),
    )
    head = book.say(
        f"**最便宜：{rate.label} {what}，{span(period, book)}，{total}**{rate.mark}",
        f"**Cheapest: {what} at {rate.label}, {span(period, book)}: {total}** {rate.mark}",
    )
    apart = differences(priced, count, periods, book) if "difference" in request.aspects else ""
    return book.finding(
        "answered", apart or head + "  \n" + render.formula(result.formula, book.language), share_of(result.value, rate.currency, request, book), converted(result.value, rate.currency, request, book), render.table(headings, rows),
        *others, _assumptions(request, rate, note, periods, book), "" if apart else _apart(request, rates, count, period, book),
        *_subscriptions(request, rates, periods, book),
    )  # fmt: skip


def _standard_periods(request: Request, rates: Sequence[Rate], count: int, note: str, book: Ledger) -> Finding:
    """No time was said: the cost per hour, day, week, month and year."""
    lang, rows = book.language, []
    unit = render.unit(rates[0].currency, lang)
    periods = [in_hours(standard(unit), Decimal(24), book) for unit in STANDARD_PERIODS]
    for rate in rates:
        totals = [
            book.compute(
                "rental_cost",
                gpus=count,
                hours=p.hours,
                price_per_hour=rate.price,
                currency=rate.currency,
                gpus_per_instance=rate.gpus_per_instance,
            ).value
            for p in periods
        ]
        rows.append([rate.label, rate.gpu, *(f"{t:,.2f}" for t in totals)])
    names = [book.say(f"每{render.period_name(p.unit, lang)}（{unit}）", f"Per {p.unit} ({unit})") for p in periods]
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


def _assumptions(request: Request, rate: Rate, note: str, periods: Sequence[Period], book: Ledger) -> str:
    own = book.say(f"用的是你给的价格 {render.amount(rate.list_price or rate.price, rate.currency, 'zh', 'hour')}，不是表里的价格。", f"Uses your price of {render.amount(rate.list_price or rate.price, rate.currency, 'en', 'hour')}, not a row of the table.") if not rate.mark else ""  # fmt: skip
    claimed = request.slots.price_per_hour if rate.mark else None
    ignored = (
        book.say(
            "价格以表中的行为准，没有采用问题里的价格。",
            "Prices are the table's; the price in the question was not used.",
        )
        if claimed
        else ""
    )
    billed_zh, billed_en = price_tables.PRICING_MODELS.get(rate.pricing_model, (rate.pricing_model, rate.pricing_model))
    undated = (
        book.say(
            f"价格未注明日期和地域，{billed_zh}计费，不含存储和网络。",
            f"The prices state neither date nor region; {billed_en}, without storage and network.",
        )
        if rate.mark and not rate.dated
        else book.say(
            f"{billed_zh}计费，不含存储和网络；日期见来源，下单前请核实。",
            f"{billed_en.capitalize()}, without storage and network; dates stand in the sources, check before ordering.",
        )
        if rate.mark
        else ""
    )
    return " ".join(
        part
        for part in (
            price_tables.terms_note(price_selection.select(request, book).unmet - {"dollars"}, book)
            if rate.mark
            else "",
            note,
            size_notes.no_such_size(request, book) if rate.mark else "",
            discount_note(request, rate, book),
            price_tables.form_note(request, price_selection.offers_for(request, book), book) if rate.mark else "",
            own,
            ignored,
            _worked(request, book) or month_note(periods, book),
            _community(request, book) if rate.mark else "",
            undated,
        )
        if part
    )


def _community(request: Request, book: Ledger) -> str:
    """That a price is of a community cloud, where a cloud has no other of the card."""
    rows = [o for o in price_selection.offers_for(request, book) if o.pricing_model == "community"]
    names = render.joined(
        dict.fromkeys(render.name("provider", o.provider, book.language) for o in rows), book.language
    )
    return (
        book.say(f"{names} 的是社区云价格。", f"The price of {names} is that of its community cloud.") if rows else ""
    )


def _worked(request: Request, book: Ledger) -> str:
    """The hours that were worked out of days and working times."""
    lines = working_hours.told(request, book)
    return book.say("；", "; ").join(lines) + book.say("。", ".") if lines else ""


def _wan(request: Request, rate: Rate, count: int, periods: Sequence[Period], book: Ledger) -> str:
    """In 万元 where the question asks for it; the calculator's own sum, moved four places."""
    if "万" not in request.question:
        return ""
    result = book.compute("rental_cost", gpus=gpus_in(periods[0], count), hours=periods[0].hours, price_per_hour=rate.price, currency=rate.currency, gpus_per_instance=rate.gpus_per_instance)  # fmt: skip
    return f"= {number((result.value / 10000).quantize(Decimal('0.0001')).normalize())} 万元"


def _apart(request: Request, rates: Sequence[Rate], count: int, period: Period, book: Ledger) -> str:
    """How far the dearest is above the cheapest, for the whole job."""
    low, high = rates[0], rates[-1]
    if low.price == high.price or len({(r.gpu, r.gpus_per_instance) for r in rates}) > 1:
        return ""
    factor = period.hours * gpus_in(period, count)
    outputs = book.compute(
        "price_difference", dearer=high.price * factor, cheaper=low.price * factor, currency=low.currency
    ).outputs
    return book.say(f"最贵与最便宜相差 {render.cash(Decimal(outputs['difference']), low.currency, 'zh')}（贵 {outputs['surplus_percent']} %）。",
                    f"Dearest and cheapest are {render.cash(Decimal(outputs['difference']), low.currency, 'en')} apart ({outputs['surplus_percent']} % more).")  # fmt: skip
