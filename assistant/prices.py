"""Answers about rental prices: look-up and comparison.

Rows and calculators only. A price that no row holds is refused, and never replaced by a neighbour's; prices of
two currencies are shown apart and never compared without a stated rate.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from assistant import claimed_prices, render, size_notes, subscriptions
from assistant.agreed_rate import agreed_rate
from assistant.calculator.calculation import number
from assistant.evidence import Finding
from assistant.exchange import side_by_side
from assistant.ledger import Ledger
from assistant.price_comparison import average, compare_gpus, extremes, largest_host, pair, placed
from assistant.price_gaps import ask_which, missing, refuse_unknown
from assistant.price_selection import LEARNING_PLATFORMS, comparable, find, select, sizes_of
from assistant.price_tables import caveats, form_note, in_currencies, more_note, per_gpu, price_table, terms_note
from assistant.understand import Request
from knowledge.catalog import Offer
from knowledge.offers import OfferFilter

MOST_ROWS = 12  # of one table; more are counted, not listed
MOST_ABROAD = 4  # dollar rows beside a table in yuan


def look_up(request: Request, book: Ledger) -> Finding:
    """Prices of the GPUs and providers named: of a month's subscription first where one is asked for."""
    return subscriptions.leading(request, book, _by_the_hour)


def _by_the_hour(request: Request, book: Ledger) -> Finding:
    """Hourly prices of the GPUs and providers named, each with its host or date, and its source."""
    if refusal := refuse_unknown(request, book) or _nothing_named(request, book):
        return refusal
    selection = select(request, book)
    if len(sizes_of(request)) > 1 and len(selection.offers) > 1:
        return _compared(request, book)  # two machine sizes are named to be weighed
    offers, stated = selection.offers, request.slots.price_per_hour
    if stated and "limit" in request.aspects and offers:
        return _below(request, book, offers, stated)
    if stated and "which" in request.aspects and (same := [o for o in offers if o.price == stated]):
        offers = same  # "which one is 11.63 an hour?"
    if not offers:
        return missing(request, book)
    wanted = (
        "CNY"
        if "yuan" in request.aspects and offers[0].currency == "USD"
        else "USD"
        if "dollars" in selection.unmet
        else ""
    )
    if wanted and (parts := side_by_side(request, offers[:MOST_ROWS], book, wanted)):
        mark = book.cite_offers(offers[:MOST_ROWS])
        return book.finding("answered", parts[0] + mark, *parts[1:], caveats(offers, book))
    terms = terms_note(selection.unmet, book, offers[0].currency)
    return book.finding(
        "not_in_knowledge" if terms else "answered",
        claimed_prices.mismatch(request, book),
        terms,
        form_note(request, offers, book),
        size_notes.no_such_size(request, book),
        *(part for group in in_currencies(offers) for part in listed(request, group, book)),
        _not_listed(request, book, offers),
        *_purchase_too(request, book),
        *(subscriptions.monthly(request, book) if "plan" in request.aspects else []),
        *_abroad(request, offers, book),
        caveats(offers, book),
    )


def compare(request: Request, book: Ledger) -> Finding:
    """The same rows compared, below a month's subscription where one is asked for."""
    return subscriptions.leading(request, book, _compared)


def _compared(request: Request, book: Ledger) -> Finding:
    """The same rows compared: cheapest, dearest, difference and percentage, ratio, average."""
    if refusal := refuse_unknown(request, book):
        return refusal
    selection = select(request, book)
    if not selection.offers:
        return missing(request, book)
    groups = comparable(request, selection.offers, book)
    offers = groups[0]
    if found := _across(request, groups, book):
        return found
    if len(offers) == 1:
        return _by_the_hour(request, book)
    mark = book.cite_offers(list(dict.fromkeys([*offers[:MOST_ROWS], *_least_of_each(offers), offers[-1]])))
    several = len({o.gpu for o in offers}) > 1
    if len(offers) == 2 and (not several or request.slots.pairs):
        heads = [pair(request, offers[0], offers[1], book)]
    else:
        heads = compare_gpus(offers, book) if several else [extremes(request, offers, book)]
    heads[:0] = [*([average(offers, book)] if "average" in request.aspects else []), *placed(request, offers, book)]
    if {"host", "most"} <= request.aspects and all(o.host_memory_gib and o.cpu_cores for o in offers):
        heads.insert(0, largest_host(offers, book))
    shown = offers[:MOST_ROWS][::-1] if "descending" in request.aspects else offers
    table, more = _cut(shown, book, differences=not several)
    return book.finding(
        "answered", terms_note(selection.unmet, book, offers[0].currency), form_note(request, offers, book),
        "  \n".join(f"{head}{mark}" if i == 0 else head for i, head in enumerate(heads)), table, more,
        _not_listed(request, book, selection.offers), *_others(request, groups[1:], book),
        *([] if groups[1:] else _abroad(request, offers, book)), caveats(selection.offers, book),
    )  # fmt: skip


def _across(request: Request, groups: Sequence[Sequence[Offer]], book: Ledger) -> Finding | None:
    """Named providers whose prices are in different currencies, compared at a stated rate; None where there is no need."""
    if len(groups) < 2 or not (request.slots.providers or agreed_rate(request.question)):
        return None
    shown = [offer for group in groups for offer in group[:MOST_ROWS]]
    mark = book.cite_offers(shown)
    parts = side_by_side(request, shown, book, "USD" if "dollars" in request.aspects else "CNY")
    return book.finding("answered", parts[0] + mark, *parts[1:], caveats(shown, book)) if parts else None


def listed(request: Request, offers: Sequence[Offer], book: Ledger) -> list[str]:
    """The rows of one currency: one sentence for one row, else a table from low to high."""
    mark = book.cite_offers(offers[:MOST_ROWS])
    if len(offers) == 1:
        return [one(offers[0], book, mark)]
    unit = render.unit(offers[0].currency, book.language)
    head = book.say(
        f"{_subject(request, book)} 每小时价格（{unit}，低到高）{mark}：",
        f"Hourly prices of {_subject(request, book)} ({unit}, low to high) {mark}:",
    )
    table, more = _cut(offers, book)
    return [head, table, more]


def _cut(offers: Sequence[Offer], book: Ledger, *, differences: bool = False) -> tuple[str, str]:
    """The table of at most MOST_ROWS rows, and how many more there are."""
    table = price_table(offers[:MOST_ROWS], book, differences=differences)
    return table, more_note(MOST_ROWS, len(offers), book)


def _abroad(request: Request, offers: Sequence[Offer], book: Ledger) -> list[str]:
    """Beside rows in yuan, the cheapest fresh dollar rows of each form, as rows of their own."""
    s = request.slots
    if s.providers or not s.gpus or any(o.currency != "CNY" for o in offers):
        return []
    found = [o for o in find(request, book, currency="USD") if o.gpu in {offer.gpu for offer in offers}]
    if not found:
        return []
    shown = found[:MOST_ABROAD]
    mark = book.cite_offers(shown)
    result = book.catalog.offers.query(
        OfferFilter(gpus=book.catalog.members(s.gpus), currencies=("USD",), whole_cards=False), limit=1
    )
    book.count("offers.csv", result.matched, len(shown))
    total = f"{result.matched:,}"
    return [
        book.say(f"另有美元价目（最低的 {len(shown)} 行，不与人民币价直接比较）{mark}：",
                 f"There are prices in US dollars too (the {len(shown)} lowest, not compared with those in CNY) {mark}:"),
        price_table(shown, book),
        book.say(f"美元行共 {total} 行，含竞价、切片和较贵的云，价格表里都查得到。",
                 f"There are {total} rows in USD, spot, slices and dearer clouds included; the price list has them all."),
    ]  # fmt: skip


def _least_of_each(offers: Sequence[Offer]) -> list[Offer]:
    """The first row of each GPU."""
    return [next(o for o in offers if o.gpu == gpu) for gpu in dict.fromkeys(o.gpu for o in offers)]


def _others(request: Request, groups: Sequence[Sequence[Offer]], book: Ledger) -> list[str]:
    """Rows in another currency, shown and not compared."""
    parts = []
    for group in groups:
        mark, unit = book.cite_offers(group[:MOST_ROWS]), render.unit(group[0].currency, book.language)
        parts += [book.say(f"以{unit}计价的行（没有约定汇率，不直接比较）{mark}：", f"Rows in {unit} (not compared, since no rate was agreed) {mark}:"),
                  *_cut(group, book)]  # fmt: skip
    return parts


def _nothing_named(request: Request, book: Ledger) -> Finding | None:
    """Which card is meant, asked back where none is named and none is asked for."""
    named = request.slots.gpus or request.slots.providers or request.aspects & {"limit", "cheapest", "order"}
    return None if named else ask_which(book)


def one(offer: Offer, book: Ledger, mark: str) -> str:
    """One row as a sentence."""
    lang = book.language
    provider, price = (
        render.name("provider", offer.provider, lang),
        render.amount(offer.price, offer.currency, lang, "hour"),
    )
    billing = {
        "on-demand": ("按需", "on demand"),
        "spot": ("竞价", "spot"),
        "community": ("社区云", "community cloud"),
    }.get(offer.pricing_model, (offer.pricing_model,) * 2)
    zh, en = [billing[0], render.part_of_card(offer, "zh")], [billing[1], render.part_of_card(offer, "en")]
    if offer.instance:
        zh.append(f"实例 {offer.instance}")
        en.append(f"instance {offer.instance}")
    if offer.region:
        zh.append(f"地域 {offer.region}")
        en.append(offer.region)
    if offer.gpu_count > 1:
        zh.append(f"每卡 {render.amount(per_gpu(offer), offer.currency, 'zh', 'hour')}")
        en.append(f"{render.amount(per_gpu(offer), offer.currency, 'en', 'hour')} per GPU")
    if offer.cpu_cores is not None:
        zh.append(f"CPU {render.cores(offer, 'zh')}")
        en.append(render.cores(offer, "en"))
    if offer.host_memory_gib is not None:
        zh.append(f"主机内存 {number(offer.host_memory_gib)} GiB")
        en.append(f"{number(offer.host_memory_gib)} GiB host memory")
    if offer.as_of:
        zh.append(f"日期 {offer.as_of}")
        en.append(f"as of {offer.as_of}")
    gpu = offer.gpu_form or offer.gpu
    return book.say(f"**{provider} {gpu}：{price}**（{'，'.join(zh)}）{mark}", f"**{gpu} at {provider}: {price}** ({', '.join(en)}) {mark}")  # fmt: skip


def _subject(request: Request, book: Ledger) -> str:
    s, lang = request.slots, book.language
    names = [render.name("provider", p, lang) for p in s.providers] + [render.name("gpu", g, lang) for g in s.gpus]
    return " ".join(names) or book.say("各 GPU", "all GPUs")


def _below(request: Request, book: Ledger, offers: Sequence[Offer], limit: Decimal) -> Finding:
    """What rents for at most so much an hour, in the currency of the limit (CNY where none was said)."""
    currency = request.slots.price_currency or offers[0].currency
    rows = [o for o in offers if o.currency == currency] or find(request, book, currency=currency)
    if not rows:
        return book.finding("needs_detail", book.say(
            f"上限是{render.unit(currency, 'zh')}，而表里没有这种货币的价格；请给出汇率或另一种货币的上限。", f"The limit is in {currency} but no price is; please give an exchange rate or the limit in another currency."))  # fmt: skip
    shown = render.amount(limit, currency, book.language, "hour")
    fitting = [o for o in rows if o.price <= limit]
    book.count("offers.csv", len(rows), len(fitting))
    if not fitting:
        book.cite_offers(rows[:1], max_price_per_hour=float(limit), currency=currency)
        return book.finding("answered", book.say(
            f"表里没有不高于 {shown} 的 GPU 实例；最便宜的是：", f"No row of the table is at or below {shown}; the cheapest is:"), one(rows[0], book, "[1]"))  # fmt: skip
    mark = book.cite_offers(fitting[:MOST_ROWS], max_price_per_hour=float(limit), currency=currency)
    best = fitting[0]
    head = book.say(f"不高于 {shown} 的有 {len(fitting)} 个，最便宜的是{render.name('provider', best.provider, 'zh')} {best.gpu_form or best.gpu}：**{render.amount(best.price, currency, 'zh', 'hour')}**{mark}",
                    f"{len(fitting)} at or below {shown}; the cheapest is the {best.gpu_form or best.gpu} at {render.name('provider', best.provider, 'en')}: **{render.amount(best.price, currency, 'en', 'hour')}** {mark}")  # fmt: skip
    return book.finding("answered", head, *_cut(fitting, book), caveats(fitting, book))


def _purchase_too(request: Request, book: Ledger) -> list[str]:
    """Who asks for "the price" without saying rent may mean buying: add the purchase price."""
    s = request.slots
    if s.providers or "rent" in request.aspects or request.aspects & {"host"} or not s.gpus:
        return []
    purchases = book.catalog.find_purchases(s.gpus)
    if not purchases:
        return []
    mark = book.cite_purchases(purchases)
    return [
        book.say(
            f"若是买卡：{p.gpu} 单卡 {number(p.price)} 元{mark}。",
            f"To buy instead: one {p.gpu} card, {number(p.price)} CNY {mark}.",
        )
        for p in purchases
    ]


def _not_listed(request: Request, book: Ledger, offers: Sequence[Offer]) -> str:
    """Pairs that were asked for and have no row."""
    s, lang, have = request.slots, book.language, {(o.provider, o.gpu) for o in offers}
    clouds: list[str | None] = [p for p in s.providers if p not in LEARNING_PLATFORMS]
    asked = [(p, g) for p in clouds or [None] for g in s.gpus or (sorted({o.gpu for o in offers}) if clouds else [])]
    gaps = [(p, g) for p, g in asked
            if not any(gpu in book.catalog.members([g]) and p in (None, provider) for provider, gpu in have)]  # fmt: skip
    if not s.gpus:  # several clouds and no card: only a cloud without any row is a gap
        gaps = [(p, g) for p, g in gaps if not any(provider == p for provider, _ in have)]
    names = [f"{render.name('provider', p, lang)} {g}" if p else render.name("gpu", g, lang) for p, g in gaps]
    return (
        book.say(f"没有价格的：{render.joined(names, lang)}。", f"No price is known for: {render.joined(names, lang)}.")
        if names
        else ""
    )
