"""Answers about rental and purchase prices: look-up and comparison.

Rows and calculators only. A price that no row holds is refused, and never replaced by a neighbour's.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from assistant import render
from assistant.calculator.calculation import number
from assistant.evidence import Finding
from assistant.ledger import Ledger
from assistant.understand import Request
from knowledge.catalog import Offer

LEARNING_PLATFORMS = frozenset({"colab", "kaggle", "autodl"})


def look_up(request: Request, book: Ledger) -> Finding:
    """Hourly prices of the GPUs and providers named, each with its host and source."""
    if refusal := refuse_unknown(request, book):
        return refusal
    if not (request.slots.gpus or request.slots.providers or request.aspects & {"limit", "cheapest", "order"}):
        return ask_which(book)
    offers = offers_for(request, book)
    stated = request.slots.price_per_hour
    if stated and "limit" in request.aspects:
        return _below(request, book, offers, stated)
    if stated and "which" in request.aspects and (same := [o for o in offers if o.price == stated]):
        offers = same  # "which one is 11.63 an hour?"
    if not offers:
        return missing(request, book)
    mark = book.cite_offers(offers)
    if len(offers) == 1:
        head = _one(offers[0], book, mark)
        body = ""
    else:
        head = book.say(
            f"{_subject(request, book)} 每小时价格（元，低到高）{mark}：",
            f"Hourly prices of {_subject(request, book)} (CNY, low to high) {mark}:",
        )
        body = price_table(offers, book)
    terms = terms_note(request, book)
    return book.finding(
        "not_in_knowledge" if terms else "answered",
        terms,
        form_note(request, book),
        head,
        body,
        _not_listed(request, book, offers),
        *_purchase_too(request, book),
        caveats(offers, book),
    )


def compare(request: Request, book: Ledger) -> Finding:
    """The same rows compared: cheapest, dearest, difference and percentage, ratio, average."""
    if refusal := refuse_unknown(request, book):
        return refusal
    offers = offers_for(request, book)
    if not offers:
        return missing(request, book)
    if len(offers) == 1:
        return look_up(request, book)
    mark = book.cite_offers(offers)
    several = len({o.gpu for o in offers}) > 1
    if len(offers) == 2 and (not several or request.slots.pairs):
        heads = [_pair(request, offers[0], offers[1], book)]
    else:
        heads = _compare_gpus(offers, book) if several else [_extremes(request, offers, book)]
    if "average" in request.aspects:
        heads.insert(0, _average(offers, book))
    if {"host", "most"} <= request.aspects:
        heads.insert(0, _largest_host(offers, book))
    shown = offers[::-1] if "descending" in request.aspects else offers
    return book.finding(
        "answered", terms_note(request, book), form_note(request, book), "  \n".join(f"{head}{mark}" if i == 0 else head for i, head in enumerate(heads)),
        price_table(shown, book, differences=not several), _not_listed(request, book, offers), caveats(offers, book),
    )  # fmt: skip


def offers_for(request: Request, book: Ledger) -> list[Offer]:
    """Offers of the named GPUs and providers; a learning platform beside a priced cloud is no price source."""
    s = request.slots
    providers = [p for p in s.providers if p not in LEARNING_PLATFORMS] or list(s.providers)
    offers = book.catalog.find_offers(s.gpus, providers)
    return [o for o in offers if not s.pairs or (o.provider, o.gpu) in s.pairs]


def refuse_unknown(request: Request, book: Ledger) -> Finding | None:
    """A name that no table knows has no price: say so, and offer no other's."""
    if not request.slots.unknown:
        return None
    names = render.joined(request.slots.unknown, book.language)
    return book.finding("not_in_knowledge", book.say(f"知识库里没有 {names}，给不出它的价格或参数。", f"The knowledge base does not know {names}, so there is no price or specification to give."), _known(book))  # fmt: skip


def missing(request: Request, book: Ledger) -> Finding:
    """No row for what was asked. Purchase prices may exist where rents do not; they are named as such."""
    s, lang = request.slots, book.language
    gpus = render.joined((render.name("gpu", g, lang) for g in s.gpus), lang)
    providers = render.joined((render.name("provider", p, lang) for p in s.providers), lang)
    subject = (
        " ".join(part for part in (providers, gpus) if part)
        if lang == "zh"
        else " ".join(part for part in (gpus, f"at {providers}" if providers else "") if part)
    )
    bought = book.catalog.find_purchases(s.gpus) if s.gpus and not s.providers else []
    what = book.say("租用价格", "rental price")
    text = book.say(f"知识库里没有{_spaced(subject)}的{what}。", f"The knowledge base has no {what} for {subject}.")
    if bought and "rent" not in request.aspects:
        mark = book.cite_purchases(bought)
        lines = [
            book.say(
                f"{p.gpu} 的购卡价：**{number(p.price)} 元/张**{mark}",
                f"buying one {p.gpu}: **{number(p.price)} CNY**{mark}",
            )
            for p in bought
        ]
        return book.finding("answered", render.bullets(lines), text)
    return book.finding("not_in_knowledge", text, _elsewhere(request, book) or _known(book))


def _spaced(name: str) -> str:
    """Blanks between Chinese and Latin letters only."""
    return (" " if name[:1].isascii() else "") + name + (" " if name[-1:].isascii() else "")


def ask_which(book: Ledger) -> Finding:
    """Nothing was named: ask for the card, with the choices there are."""
    gpus = render.joined(dict.fromkeys(o.gpu for o in book.catalog.find_offers()), book.language)
    providers = render.joined(
        (
            render.name("provider", p, book.language)
            for p in dict.fromkeys(o.provider for o in book.catalog.find_offers())
        ),
        book.language,
    )
    return book.finding("needs_detail", book.say(
        f"请问是哪款 GPU、哪家云、几张卡、租多久？目前有时价的 GPU：{gpus}；云：{providers}。",
        f"Which GPU, which cloud, how many cards and for how long? Hourly prices are known for: {gpus}; clouds: {providers}."))  # fmt: skip


def form_note(request: Request, book: Ledger) -> str:
    """The question names a memory size, but no row of that card says which size it is."""
    sizes = [number(size) for size in request.slots.memory_gb if size in (40, 80)]
    if not sizes or "A100" not in request.slots.gpus:
        return ""
    size = "/".join(sizes)
    return book.say(f"价格表没有写明 A100 是 40 GB 还是 80 GB，所以无法确定哪一行是 {size} GB；下面是表里的 A100 价格。",
                    f"The price table does not say whether an A100 has 40 or 80 GB, so no row can be called the {size} GB one; these are its A100 prices.")  # fmt: skip


def terms_note(request: Request, book: Ledger) -> str:
    """What the question asks of the price that no row states: spot, reserved, stock, dollars."""
    has = request.aspects
    zh = [
        text for aspect, text in (("plan", "包月、包年或折扣价"), ("spot", "竞价（抢占式）价格"), ("stock", "库存情况"), ("dollars", "美元价格或汇率"))
        if aspect in has
    ]  # fmt: skip
    en = [
        text for aspect, text in (("plan", "monthly, reserved or discount price"), ("spot", "spot price"), ("stock", "stock information"), ("dollars", "US dollar price or exchange rate"))
        if aspect in has
    ]  # fmt: skip
    if not zh:
        return ""
    return book.say(
        f"知识库里没有{'、'.join(zh)}，只有按需的每小时价格（元）：",
        f"The knowledge base has no {' and no '.join(en)}, only on-demand hourly prices in CNY:",
    )


def price_table(offers: Sequence[Offer], book: Ledger, *, differences: bool = False) -> str:
    """One row per offer, cheapest first; `differences` adds how much each is above the cheapest of its GPU."""
    lang = book.language
    headings = [
        book.say("云", "Cloud"),
        "GPU",
        book.say("价格（元/小时）", "Price (CNY/hour)"),
        "CPU",
        book.say("主机内存", "Host memory"),
    ]
    if differences:
        headings.append(book.say("比最低价贵", "Above lowest"))
    rows = []
    for offer in offers:
        row = [
            render.name("provider", offer.provider, lang),
            offer.gpu,
            number(offer.price),
            render.cores(offer, lang),
            f"{number(offer.host_memory_gib)} GiB",
        ]
        if differences:
            row.append(_above(offer, offers, book))
        rows.append(row)
    return render.table(headings, rows)


def caveats(offers: Sequence[Offer], book: Ledger) -> str:
    """What the rows do not say, once per answer."""
    undated = any(not o.as_of for o in offers)
    forms = sorted({o.gpu for o in offers if not o.gpu_form and len(book.catalog.gpu_memory_gb.get(o.gpu, ())) > 1})
    several = len(offers) > 1
    zh = (
        (["价格未注明日期和地域"] if undated else [])
        + [f"{g} 的形态与显存未注明{'，各家可能不是同一种卡' if several else ''}" for g in forms]
        + ["内存列是主机内存，不是显存"]
    )
    en = (["the prices state neither date nor region"] if undated else []) + [
        f"the form and memory of the {g} are not stated{', so the rows may be different cards' if several else ''}" for g in forms] + ["the memory column is host memory, not GPU memory"]  # fmt: skip
    return book.say(f"注意：{'；'.join(zh)}。", f"Note: {'; '.join(en)}.")


def _one(offer: Offer, book: Ledger, mark: str) -> str:
    provider, price = (
        render.name("provider", offer.provider, book.language),
        render.amount(offer.price, offer.currency, book.language, "hour"),
    )
    memory = f"{number(offer.host_memory_gib)} GiB"
    return book.say(f"**{provider} {offer.gpu}：{price}**（按需，1 张卡，CPU {render.cores(offer, 'zh')}，主机内存 {memory}）{mark}",
                    f"**{offer.gpu} at {provider}: {price}** (on demand, 1 card, {render.cores(offer, 'en')}, {memory} host memory) {mark}")  # fmt: skip


def _subject(request: Request, book: Ledger) -> str:
    s, lang = request.slots, book.language
    names = [render.name("provider", p, lang) for p in s.providers] + [render.name("gpu", g, lang) for g in s.gpus]
    return " ".join(names) or book.say("各 GPU", "all GPUs")


def _below(request: Request, book: Ledger, offers: Sequence[Offer], limit: Decimal) -> Finding:
    fitting = [o for o in offers if o.price <= limit and (request.slots.price_currency or o.currency) == o.currency]
    if (request.slots.price_currency or "CNY") != "CNY":
        return book.finding("needs_detail", book.say(
            "预算是美元，而表里的价格是元；请给出汇率或人民币预算。", "The limit is not in CNY but the prices are; please give an exchange rate or the limit in CNY."))  # fmt: skip
    shown = render.amount(limit, "CNY", book.language, "hour")
    if not fitting:
        book.cite_offers(offers[:1], max_price_cny_per_hour=float(limit))
        return book.finding(
            "answered",
            book.say(
                f"表里没有不高于 {shown} 的 GPU 实例；最便宜的是：",
                f"No row of the table is at or below {shown}; the cheapest is:",
            ),
            _one(offers[0], book, "[1]"),
        )
    mark = book.cite_offers(fitting, max_price_cny_per_hour=float(limit))
    best = fitting[0]
    head = book.say(f"不高于 {shown} 的有 {len(fitting)} 个，最便宜的是{render.name('provider', best.provider, 'zh')} {best.gpu}：**{render.amount(best.price, 'CNY', 'zh', 'hour')}**{mark}",
                    f"{len(fitting)} at or below {shown}; the cheapest is the {best.gpu} at {render.name('provider', best.provider, 'en')}: **{render.amount(best.price, 'CNY', 'en', 'hour')}** {mark}")  # fmt: skip
    return book.finding("answered", head, price_table(fitting, book), caveats(fitting, book))


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
    gaps = [(p, g) for p, g in asked if not any(g == gpu and p in (None, provider) for provider, gpu in have)]
    names = [f"{render.name('provider', p, lang)} {g}" if p else render.name("gpu", g, lang) for p, g in gaps]
    return (
        book.say(f"没有价格的：{render.joined(names, lang)}。", f"No price is known for: {render.joined(names, lang)}.")
        if names
        else ""
    )


def _elsewhere(request: Request, book: Ledger) -> str:
    """Who does list the GPU; names only, since another's price is no answer."""
    offers = book.catalog.find_offers(request.slots.gpus) if request.slots.gpus else []
    if not offers:
        return ""
    who = render.joined(
        (render.name("provider", p, book.language) for p in dict.fromkeys(o.provider for o in offers)), book.language
    )
    gpus = render.joined(dict.fromkeys(o.gpu for o in offers), book.language)
    return book.say(
        f"有 {gpus} 时价的云是：{who}。要看这几家的价格吗？",
        f"Clouds with an hourly price for {gpus}: {who}. Shall I show those?",
    )


def _known(book: Ledger) -> str:
    gpus = render.joined(dict.fromkeys(o.gpu for o in book.catalog.find_offers()), book.language)
    providers = render.joined(
        (
            render.name("provider", p, book.language)
            for p in dict.fromkeys(o.provider for o in book.catalog.find_offers())
        ),
        book.language,
    )
    return book.say(f"目前有租用时价的是{providers}的 {gpus}。", f"Rental prices are known for {gpus} at {providers}.")


def _above(offer: Offer, offers: Sequence[Offer], book: Ledger) -> str:
    lowest = min(o.price for o in offers if o.gpu == offer.gpu)
    if offer.price == lowest:
        return book.say("最低", "lowest")
    outputs = book.compute("price_difference", dearer=offer.price, cheaper=lowest, currency=offer.currency).outputs
    more = render.amount(Decimal(outputs["difference"]), offer.currency, book.language)
    return f"+{more} (+{outputs['surplus_percent']} %)"


def _extremes(request: Request, offers: Sequence[Offer], book: Ledger) -> str:
    lang = book.language
    low, high = offers[0], offers[-1]

    def text(offer: Offer, zh: str, en: str) -> str:
        who, price = (
            render.name("provider", offer.provider, lang),
            render.amount(offer.price, offer.currency, lang, "hour"),
        )
        return book.say(f"{zh}的是{who}（{price}）", f"{en}: {who} ({price})")

    ends = [text(low, f"{low.gpu} 最便宜", f"{low.gpu} cheapest"), text(high, "最贵", "dearest")]
    if "dearest" in request.aspects and "cheapest" not in request.aspects:
        ends.reverse()
    outputs = book.compute("price_difference", dearer=high.price, cheaper=low.price, currency=low.currency).outputs
    gap = book.say(f"两者相差 {number(Decimal(outputs['difference']))} 元/小时（贵 {outputs['surplus_percent']} %，或便宜 {outputs['saving_percent']} %）",
                   f"apart by {number(Decimal(outputs['difference']))} CNY/hour ({outputs['surplus_percent']} % more, or {outputs['saving_percent']} % less)")  # fmt: skip
    head = book.say(f"**{ends[0]}**，{ends[1]}；{gap}。", f"**{ends[0]}**, {ends[1]}; {gap}.")
    return head if lang == "zh" else head[:2] + head[2].upper() + head[3:]


def _pair(request: Request, low: Offer, high: Offer, book: Ledger) -> str:
    """Two rows: how much dearer the one is, in money and percent, seen from both sides."""
    lang = book.language
    out = book.compute("price_difference", dearer=high.price, cheaper=low.price, currency=low.currency).outputs
    gap, more, less, ratio = (
        number(Decimal(out["difference"])), out["surplus_percent"], out["saving_percent"], out["ratio"],
    )  # fmt: skip
    card = "" if low.gpu == high.gpu else " "
    a, b = (render.name("provider", o.provider, lang) + (f"{card}{o.gpu}" if card else "") for o in (high, low))
    lead = "" if card else book.say(f"{low.gpu}：", f"{low.gpu}: ")
    zh = (f"**{lead}{a}比{b}贵 {gap} 元/小时，贵 {more} %**（{ratio} 倍；反过来{b}便宜 {less} %）。",
          f"**{lead}{b}比{a}便宜 {gap} 元/小时，便宜 {less} %**（反过来{a}贵 {more} %，是 {ratio} 倍）。")  # fmt: skip
    en = (f"**{lead}{a} is {gap} CNY/hour dearer than {b}, {more} % more** ({ratio}x; the other way round, {b} is {less} % cheaper).",
          f"**{lead}{b} is {gap} CNY/hour cheaper than {a}, {less} % less** (the other way round, {a} is {more} % dearer, {ratio}x).")  # fmt: skip
    cheaper_asked = "cheapest" in request.aspects or any(w in request.question for w in ("便宜", "省", "低", "less"))
    return book.say(zh[cheaper_asked], en[cheaper_asked])


def _largest_host(offers: Sequence[Offer], book: Ledger) -> str:
    """Which row has the most host memory and which the most cores."""
    lang = book.language
    memory, cpu = max(offers, key=lambda o: o.host_memory_gib), max(offers, key=lambda o: o.cpu_cores)
    cores = render.joined(
        (f"{render.name('provider', o.provider, lang)} {o.gpu}" for o in offers if o.cpu_cores == cpu.cpu_cores), lang
    )
    who = f"{render.name('provider', memory.provider, lang)} {memory.gpu}"
    return book.say(
        f"**主机内存最大的是{who}（{number(memory.host_memory_gib)} GiB）；CPU 最多的是{cores}（{render.cores(cpu, 'zh')}）**",
        f"**Most host memory: {who} ({number(memory.host_memory_gib)} GiB); most CPU: {cores} ({render.cores(cpu, 'en')})**",
    )


def _compare_gpus(offers: Sequence[Offer], book: Ledger) -> list[str]:
    """Several GPUs: the ratio at each provider that has more than one of them, and the cheapest of each."""
    lang, lines = book.language, []
    for provider in dict.fromkeys(o.provider for o in offers):
        mine = [o for o in offers if o.provider == provider]
        if len(mine) < 2:
            continue
        low, high = mine[0], mine[-1]
        outputs = book.compute("price_difference", dearer=high.price, cheaper=low.price, currency=low.currency).outputs
        who, ratio, whole = render.name("provider", provider, lang), outputs["ratio"], outputs["whole_cards"]
        gap = number(Decimal(outputs["difference"]))
        lines.append(book.say(
            f"{who}：{high.gpu} 的时价是 {low.gpu} 的 **{ratio} 倍**（贵 {gap} 元/小时；1 张 {high.gpu} 的钱够租 {whole} 张整卡 {low.gpu}）",
            f"{who}: an {high.gpu} hour costs **{ratio}x** a {low.gpu} hour ({gap} CNY/hour more; the money for one {high.gpu} rents {whole} whole {low.gpu} cards)"))  # fmt: skip
    best = offers[0]
    who, price = render.name("provider", best.provider, lang), render.amount(best.price, best.currency, lang, "hour")
    lines.insert(
        0,
        book.say(
            f"**每小时最便宜的是{who} {best.gpu}：{price}**", f"**Cheapest per hour: {best.gpu} at {who}, {price}**"
        ),
    )
    return lines


def _average(offers: Sequence[Offer], book: Ledger) -> str:
    result = book.compute("average_price", amounts=[o.price for o in offers], currency=offers[0].currency)
    return book.say(f"**平均 {number(result.value)} 元/小时**（{result.formula}）", f"**Average: {number(result.value)} CNY/hour** ({result.formula})")  # fmt: skip
