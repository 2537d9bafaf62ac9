"""Answers about owning cards against renting them: the simple break-even, and the full comparison over a horizon.

Prices are rows or the user's own, in one currency; a cost that nobody stated is named, not guessed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from assistant import render, working_hours
from assistant.calculator.calculation import Calculation, number
from assistant.calculator.ownership_defaults import NOT_COUNTED, PRICE_PER_KWH
from assistant.evidence import Bilingual, Finding
from assistant.ledger import Ledger
from assistant.price_tables import per_gpu
from assistant.shape_rows import gpu_spec
from assistant.understand import Request
from knowledge.catalog import Offer, Purchase
from knowledge.hardware import Gpu

HORIZON_MONTHS, LONGEST_MONTHS = 36, 240
NODE = 8  # from so many cards on, SXM modules on a board are what one buys
SHIFTS = (Decimal("0.8"), Decimal("1.2"))
MOST_SHIFTED = 3
MARKET_RANK = {"street": 1, "street-estimate": 2, "launch-price": 3, "launch-price-approximate": 4}  # the handout's: 0
MARKETS = {
    "street": Bilingual(zh="街价", en="street price"), "street-estimate": Bilingual(zh="街价估计", en="estimated street price"),
    "launch-price": Bilingual(zh="发售价", en="launch price"), "launch-price-approximate": Bilingual(zh="发售价约数", en="launch price, rounded"),
}  # fmt: skip
SHIFTED = {
    "rent_per_gpu_hour": Bilingual(zh="租价", en="Rent"), "utilisation": Bilingual(zh="利用率", en="Utilisation"),
    "price_per_card": Bilingual(zh="卡价", en="Card price"), "price_per_kwh": Bilingual(zh="电价", en="Power price"),
}  # fmt: skip


@dataclass(frozen=True)
class Rent:
    """What one GPU costs an hour, and whose price that is."""

    label: str
    per_gpu_hour: Decimal


@dataclass(frozen=True)
class Deal:
    """Both sides in one currency: the cards to buy, the rents to compare with, and what had to be said about either."""

    gpu: Gpu
    tdp_w: Decimal
    cards: int
    price_per_card: Decimal
    currency: str
    rents: tuple[Rent, ...]
    price_words: str
    marks: str
    notes: tuple[str, ...] = ()
    server_price: Decimal | None = None


def buy_or_rent(request: Request, book: Ledger) -> Finding | None:
    """Owning against renting: the full comparison where more than the break-even of one card is asked; None without prices."""
    if not request.slots.gpus or request.slots.unknown:
        return None
    if not _asks_comparison(request) and (found := _simple(request, book)):
        return found
    if deal := _deal(request, book):
        if (s := request.slots).purchase_price and s.purchase_currency in (None, deal.currency):
            each = s.purchase_price if s.purchase_per_card else s.purchase_price / deal.cards
            deal = replace(deal, price_per_card=each, price_words=book.say("你给的价", "your price"))
        return _compared(request, deal, book)
    return _simple(request, book) or _unpriced(request, book)


def _asks_comparison(request: Request) -> bool:
    """Cards, a horizon, a utilisation, electricity or a server: more than one card's price against its rent."""
    s, work = request.slots, request.slots.workload
    return bool(
        (s.count or 1) > 1 or _horizon(request) or work.utilisation or work.electricity_price or "server" in request.aspects
    )  # fmt: skip


def _horizon(request: Request) -> int | None:
    """Months of the comparison as said: two years, 18 months."""
    years = request.slots.workload.horizon_years
    return min(max(round(years * 12), 1), LONGEST_MONTHS) if years else None


def _simple(request: Request, book: Ledger) -> Finding | None:
    """Purchase price against hourly rent in yuan: after how many hours the rent has cost as much."""
    gpu, own = request.slots.gpus[0], request.slots.price_per_hour
    purchases = book.catalog.find_purchases([gpu])
    offers = [] if own else book.catalog.find_offers([gpu], request.slots.providers, currency="CNY")
    if not purchases or not (own or offers) or (own and request.slots.price_currency not in (None, "CNY")):
        return None
    bought = purchases[0]
    mark = book.cite_purchases(purchases)
    card = book.say(f"{gpu} 单卡购价 {number(bought.price)} 元{mark}", f"one {gpu} card costs {number(bought.price)} CNY {mark}")  # fmt: skip
    rates = [(book.say("你给的租价", "your rent"), own)] if own else [(render.name("provider", o.provider, book.language), o.price) for o in offers]  # fmt: skip
    return book.finding("answered", *_paid_for(request, bought, rates, card, book.cite_offers(offers) if offers else "", book))  # fmt: skip


def _paid_for(
    request: Request, bought: Purchase, rates: Sequence[tuple[str, Decimal]], card: str, mark: str, book: Ledger
) -> list[str]:
    """After how many hours of each rent the card is paid for."""
    a_day = request.slots.hours_per_day or Decimal(24)
    rows = []
    for label, price in rates:
        out = book.compute("budget_hours", budget=bought.price, price_per_hour=price, hours_per_day=a_day).outputs
        rows.append([label, number(price), f"{out['hours']:,}", f"{out['days']:,}"])
    used = book.say(f"，每天用 {number(a_day)} 小时要 {rows[0][3]} 天", f", {rows[0][3]} days at {number(a_day)} hours a day") if request.slots.hours_per_day else ""  # fmt: skip
    head = book.say(f"**租满 {rows[0][2]} 小时（{rows[0][0]}，{rows[0][1]} 元/小时）就等于一张卡的购价{used}**{mark}；{card}。用得比这少，租更省；长期天天用，买更省。",
                    f"**After {rows[0][2]} hours of rent ({rows[0][0]}, {rows[0][1]} CNY/hour) the card is paid for{used}** {mark}; {card}. For less use rent, for steady use over years buy.")  # fmt: skip
    headings = [book.say("租自", "Rent from"), book.say("租价（元/小时）", "Rent (CNY/hour)"), book.say("等于购价的小时数", "Until paid for (hours)"),
                book.say(f"天数（每天 {number(a_day)} 小时）", f"At {number(a_day)} hours a day (days)")]  # fmt: skip
    note = book.say(
        "只比较卡价与租价：未计服务器、电费、机房、运维和残值；两边价格都未注明日期。说出卡数、用几年和利用率，可以算全部成本。",
        "Card price against rent only: server, power, hosting, staff and resale are left out; neither price is dated. With the number of cards, the years and the utilisation I can compare all costs.",
    )
    return [head, render.table(headings, rows), note]


def _unpriced(request: Request, book: Ledger) -> Finding | None:
    """A purchase price without any rent: what is missing."""
    gpu = request.slots.gpus[0]
    purchases = book.catalog.find_purchases([gpu]) or book.catalog.find_purchases([gpu], currency="USD")
    if not purchases:
        return None
    price = render.amount(purchases[0].price, purchases[0].currency, book.language)
    mark = book.cite_purchases(purchases[:1])
    return book.finding("needs_detail", book.say(
        f"{gpu} 单卡购价 {price}{mark}；知识库里没有 {gpu} 的租用时价，无法比较。请告诉我租价（每小时）和每天用几小时。",
        f"One {gpu} card costs {price} {mark}; no hourly rent is known for the {gpu}, so the two cannot be compared. What rent per hour do you pay, and how many hours a day?"))  # fmt: skip


def _deal(request: Request, book: Ledger) -> Deal | None:
    """Purchase and rent in one currency, the reader's own first; converted only where there is no such pair."""
    s, family = request.slots, request.slots.gpus[0]
    own_currency = (s.price_currency or "CNY") if s.price_per_hour else None
    yuan_first = book.language == "zh" or s.workload.electricity_currency == "CNY"
    order = [own_currency] if own_currency else ["CNY", "USD"] if yuan_first else ["USD", "CNY"]
    sides = []
    for currency in order:
        bought = _bought(request, book.catalog.find_purchases([family], currency=currency))
        offers = [] if own_currency else book.catalog.find_offers([family], s.providers, currency=currency, gpu_count=s.count or 1)  # fmt: skip
        if bought and (own_currency or offers):
            return _made(request, bought, bought.price, currency, offers, (), book)
        sides.append((currency, offers))
    for currency, offers in sides:
        for other in ("CNY", "USD"):
            bought = _bought(request, book.catalog.find_purchases([family], currency=other))
            if bought and other != currency and (own_currency or offers):
                price, note = _converted(bought.price, other, currency, book)
                return _made(request, bought, price, currency, offers, (note,), book)
    return None


def _bought(request: Request, purchases: Sequence[Purchase]) -> Purchase | None:
    """The price to count with: of the form named, by market; SXM modules only for whole boards."""
    s = request.slots
    board = (s.count or 1) >= NODE
    meant = [p for p in purchases if p.gpu_form in s.forms] or list(purchases)
    return min(meant, key=lambda p: (MARKET_RANK.get(p.market, 0), ("SXM" in (p.gpu_form or "")) != board, p.price), default=None)  # fmt: skip


def _converted(amount: Decimal, source: str, target: str, book: Ledger) -> tuple[Decimal, str]:
    """An amount in another currency at the newest rate of the table, and the words for it."""
    foreign = book.catalog.rate(source if target == "USD" else target)
    assert foreign
    named = render.source_title(book.catalog.sources[foreign.source], book.language)
    mark = book.cite_rate(foreign)
    result = book.compute(
        "currency_conversion", amount=amount, from_currency=source, to_currency=target,
        rates=[{"currency": foreign.currency, "per_usd": foreign.units_per_usd, "as_of": str(foreign.year), "source": named}],
    )  # fmt: skip
    return result.value, book.say(f"按 {foreign.year} 年平均汇率换算{mark}：{result.formula}", f"converted at the average rate of {foreign.year} {mark}: {result.formula}")  # fmt: skip


def _made(
    request: Request, bought: Purchase, price: Decimal, currency: str, offers: Sequence[Offer], notes: tuple[str, ...],
    book: Ledger,
) -> Deal | None:  # fmt: skip
    s = request.slots
    forms = [form for form in (book.catalog.gpu(bought.gpu_form or ""), *book.catalog.gpus_of(bought.gpu)) if form]
    powered = [(gpu, spec.tdp_w) for gpu in forms if (spec := gpu_spec(gpu)) and spec.tdp_w]
    if not powered:
        return None
    gpu, watts = powered[0]
    marks = book.cite_purchases([bought]) + book.cite_gpu(gpu)
    same = [o for o in offers if o.gpu_form == bought.gpu_form] or list(offers)
    chosen = list(dict.fromkeys([*same[:1], *same[len(same) // 2 :][:1], *same[-1:]]))
    if s.price_per_hour:
        rents = [Rent(book.say("你给的租价", "your rent"), s.price_per_hour)]
    else:
        rents = [Rent(_offered(o, book), per_gpu(o)) for o in chosen]
        marks += book.cite_offers(chosen, gpu=bought.gpu, currency=currency)
    kind = MARKETS.get(bought.market)
    dated = bought.as_of or book.say("2023 年讲义，未注明日期" if bought.currency == "CNY" else "", "handout of 2023, undated" if bought.currency == "CNY" else "")  # fmt: skip
    words = render.joined(filter(None, (bought.gpu_form or bought.gpu, kind[book.language] if kind else "", dated)), book.language)  # fmt: skip
    return Deal(gpu, watts, s.count or 1, price, currency, tuple(rents), words, marks, notes)


def _offered(offer: Offer, book: Ledger) -> str:
    name = render.name("provider", offer.provider, book.language)
    return name + (book.say("，", ", ") + offer.as_of if offer.as_of else "")


def _compared(request: Request, deal: Deal, book: Ledger) -> Finding:
    """Both ways over the horizon at each rent, the break-even, and what moves the result most."""
    given, notes = _given(request, deal, book)
    results = [book.compute("buy_or_rent", **given, rent_per_gpu_hour=rent.per_gpu_hour) for rent in deal.rents]
    first = results[0]
    return book.finding(
        "answered", _verdict(request, deal, results, book), _break_even(deal, first, book), _table(deal, results, book),
        working_hours.year_rents(request, deal.cards, [(rent.label, rent.per_gpu_hour) for rent in deal.rents], deal.currency, book),
        _parts(deal, first, book), render.formula(_worded(first.formula, book), book.language), _moved(given, deal, first, book),
        render.bullets([*notes, *_taken(request, deal, first, book)]),
    )  # fmt: skip


def _given(request: Request, deal: Deal, book: Ledger) -> tuple[dict[str, object], list[str]]:
    """The calculator's arguments without the rent, and what was converted for them."""
    s, work, notes = request.slots, request.slots.workload, list(deal.notes)
    notes += working_hours.told(request, book)
    given: dict[str, object] = {
        "cards": deal.cards, "price_per_card": deal.price_per_card, "currency": deal.currency, "tdp_w": deal.tdp_w,
        "utilisation": work.utilisation or working_hours.share(request, book) or (s.hours_per_day / 24 if s.hours_per_day else Decimal(1)),
        "horizon_months": _horizon(request) or HORIZON_MONTHS,
    }  # fmt: skip
    if work.electricity_price:
        price, source = work.electricity_price, work.electricity_currency or deal.currency
        if source != deal.currency:
            megawatt_hour, note = _converted(
                price * 1000, source, deal.currency, book
            )  # cents per kWh would be rounded
            price = megawatt_hour / 1000
            notes.append(book.say(f"电价每兆瓦时{note}", f"power per MWh {note}"))
        given["price_per_kwh"] = price
    return given, notes


def _verdict(request: Request, deal: Deal, results: Sequence[Calculation], book: Ledger) -> str:
    """Which is cheaper over the horizon, and whether that hangs on the rent."""
    out, rent = results[0].outputs, deal.rents[0]
    what = render.gpus_text(deal.cards, deal.gpu.name, book.language) + book.say(" ", "")
    months = out["horizon_months"]
    own, rented = (render.cash(Decimal(out[key]), deal.currency, book.language) for key in ("own_total", "rent_total"))
    gap = render.cash(abs(Decimal(out["saving_by_owning"])), deal.currency, book.language)
    owning = out["cheaper"] == "own"
    mixed = len({result.outputs["cheaper"] for result in results}) > 1
    zh, en = ("买更划算", "buying is cheaper") if owning else ("租更划算", "renting is cheaper")
    price = render.amount(rent.per_gpu_hour, deal.currency, book.language, "hour")
    hangs = book.say("；租价更高时结论会反过来，见下表" if mixed else "", "; at higher rents it turns round, see the table" if mixed else "")  # fmt: skip
    return book.say(
        f"**{what}用 {months} 个月：{zh}**。买共 {own}，租共 {rented}（{rent.label}，每卡 {price}），{'买' if owning else '租'}省 {gap}{hangs}。{deal.marks}",
        f"**{what} for {months} months: {en}.** Buying costs {own}, renting {rented} ({rent.label}, {price} per GPU): {'buying' if owning else 'renting'} saves {gap}{hangs}. {deal.marks}")  # fmt: skip


def _break_even(deal: Deal, result: Calculation, book: Ledger) -> str:
    """When the purchase has paid for itself, and from which utilisation on it does within the horizon."""
    out = result.outputs
    months, hours, share = out["break_even_months"], out["break_even_hours_used"], out["break_even_utilisation_percent"]
    if months == "never":
        line = book.say("按这个租价和利用率，买不回本", "At this rent and utilisation buying never pays back")
    else:
        line = book.say(f"买的话 {Decimal(months):,} 个月后回本（每张卡用满 {Decimal(hours):,} 小时）", f"Buying pays back after {Decimal(months):,} months ({Decimal(hours):,} hours of use per card)")  # fmt: skip
    if share == "never":
        return line + book.say(
            "；在这段时间里，全天满负荷也不回本。", "; within this time it does not even at full use."
        )
    return line + book.say(f"；利用率高于 {share} % 时，这段时间内买更省。", f"; over this time buying is cheaper above {share} % utilisation.")  # fmt: skip


def _table(deal: Deal, results: Sequence[Calculation], book: Ledger) -> str:
    """One line per rent."""
    if len(results) < 2:
        return ""
    rows = []
    for rent, result in zip(deal.rents, results, strict=True):
        out = result.outputs
        months = book.say("不回本", "never") if out["break_even_months"] == "never" else f"{Decimal(out['break_even_months']):,}"  # fmt: skip
        rows.append([rent.label, render.amount(rent.per_gpu_hour, deal.currency, book.language, "hour"),
                     render.cash(Decimal(out["rent_total"]), deal.currency, book.language), _saved(result, deal, book), months])  # fmt: skip
    headings = [book.say("租自", "Rented from"), book.say("每卡租价", "Rent per GPU"), book.say("租共", "Rent in all"), book.say("更省的", "Cheaper"), book.say("回本（个月）", "Break-even (months)")]  # fmt: skip
    return render.table(headings, rows)


def _saved(result: Calculation, deal: Deal, book: Ledger) -> str:
    gap = Decimal(result.outputs["saving_by_owning"])
    cash = render.cash(abs(gap), deal.currency, book.language)
    return book.say(f"{'买' if gap > 0 else '租'}，省 {cash}", f"{'buying' if gap > 0 else 'renting'}, by {cash}")


def _parts(deal: Deal, result: Calculation, book: Ledger) -> str:
    """What buying is made of."""
    cash = {key: render.cash(Decimal(result.outputs[key]), deal.currency, book.language) for key in ("purchase", "power_per_month")}  # fmt: skip
    each = render.amount(deal.price_per_card, deal.currency, book.language)
    return book.say(f"买的成本：卡与服务器 {cash['purchase']}（每张卡 {each}，{deal.price_words}），电费每月 {cash['power_per_month']}。",
                    f"Buying is made of: cards and servers {cash['purchase']} ({each} per card, {deal.price_words}) and {cash['power_per_month']} of power a month.")  # fmt: skip


def _worded(formula: str, book: Ledger) -> str:
    """The formula's few English words in the reader's language."""
    if book.language == "en":
        return formula
    for en, zh in (("rent − own", "租 − 买"), ("own: ", "买："), ("rent: ", "租："), ("break-even at month", "回本的月份"), ("renting is never dearer", "租始终不比买贵")):  # fmt: skip
        formula = formula.replace(en, zh)
    return formula


def _moved(given: Mapping[str, object], deal: Deal, now: Calculation, book: Ledger) -> str:
    """The result with one input a fifth lower and higher, what moves it most first."""
    base: dict[str, Decimal] = {
        "rent_per_gpu_hour": deal.rents[0].per_gpu_hour, "price_per_card": deal.price_per_card,
        "utilisation": Decimal(str(given["utilisation"])),
        "price_per_kwh": Decimal(str(given.get("price_per_kwh", PRICE_PER_KWH[deal.currency]))),
    }  # fmt: skip
    found = []
    for name, value in base.items():
        ends = [(value * shift).quantize(Decimal("0.0001")).normalize() for shift in SHIFTS]
        if name == "utilisation":
            ends = [end for end in ends if end <= 1]
        each = [book.compute("buy_or_rent", **{**given, "rent_per_gpu_hour": deal.rents[0].per_gpu_hour, name: end}) for end in ends]  # fmt: skip
        swing = max(abs(result.value - now.value) for result in each)
        found.append((swing, name, ends, each))
    found.sort(key=lambda item: -item[0])
    rows = [[SHIFTED[name][book.language], number(end), _saved(result, deal, book)]
            for _, name, ends, each in found[:MOST_SHIFTED] for end, result in zip(ends, each, strict=True)]  # fmt: skip
    most = SHIFTED[found[0][1]]
    head = book.say(
        f"影响最大的是{most.zh}；各自上下变动时：", f"{most.en} changes it most; with each moved down and up:"
    )
    return f"{head}\n\n{render.table([book.say('改动', 'Changed'), book.say('改为', 'To'), book.say('更省的', 'Cheaper')], rows)}"  # fmt: skip


def _taken(request: Request, deal: Deal, result: Calculation, book: Ledger) -> list[str]:
    """What was taken where nobody said it, what is left out, and the export rule for buyers in China."""
    s, work, lines = request.slots, request.slots.workload, []
    if not (work.utilisation or s.hours_per_day or working_hours.working_time(request)):
        lines.append(book.say("没说利用率，按全天满负荷", "utilisation is not said: always in full use"))
    if not _horizon(request):
        lines.append(book.say(f"没说用多久，按 {HORIZON_MONTHS} 个月", f"the time is not said: {HORIZON_MONTHS} months"))  # fmt: skip
    lines += [a.text[book.language] for a in result.assumptions if a.name not in NOT_COUNTED]
    left_out = [a.text[book.language] for a in result.assumptions if a.name in NOT_COUNTED]
    lines += [book.say("；", "; ").join(left_out)] if left_out else []
    if deal.gpu.export_status in ("barred", "licence") and (book.language == "zh" or work.country == "CN"):
        lines.append(book.say(f"在中国购买：{deal.gpu.name}，{deal.gpu.export_rule_zh}", f"for buyers in China: {deal.gpu.name}, {deal.gpu.export_rule_en}"))  # fmt: skip
    return lines
