"""Offers compared: cheapest, dearest, difference and percentage, ratio, average. All of one currency.

Sentences from calculators' results only; which rows are compared is decided in prices.py.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from assistant import render
from assistant.calculator.calculation import number
from assistant.ledger import Ledger
from assistant.price_tables import per_gpu
from assistant.understand import Request
from knowledge.catalog import Offer

FEW_PROVIDERS = 4  # up to which each is compared alone


def extremes(request: Request, offers: Sequence[Offer], book: Ledger) -> str:
    lang, rate = book.language, per(offers[0], book)
    low, high = offers[0], offers[-1]

    def text(offer: Offer, zh: str, en: str) -> str:
        who, price = (
            render.name("provider", offer.provider, lang),
            render.amount(per_gpu(offer), offer.currency, lang, "hour"),
        )
        return book.say(f"{zh}的是{who}（{price}）", f"{en}: {who} ({price})")

    ends = [text(low, f"{low.gpu} 最便宜", f"{low.gpu} cheapest"), text(high, "最贵", "dearest")]
    if "dearest" in request.aspects and "cheapest" not in request.aspects:
        ends.reverse()
    outputs = book.compute(
        "price_difference", dearer=per_gpu(high), cheaper=per_gpu(low), currency=low.currency
    ).outputs
    gap = book.say(f"两者相差 {number(Decimal(outputs['difference']))} {rate}（贵 {outputs['surplus_percent']} %，或便宜 {outputs['saving_percent']} %）",
                   f"apart by {number(Decimal(outputs['difference']))} {rate} ({outputs['surplus_percent']} % more, or {outputs['saving_percent']} % less)")  # fmt: skip
    head = book.say(f"**{ends[0]}**，{ends[1]}；{gap}。", f"**{ends[0]}**, {ends[1]}; {gap}.")
    return head if lang == "zh" else head[:2] + head[2].upper() + head[3:]


ORDINALS = {
    2: re.compile(r"第二(?:便宜|低|贵|高|名|的)|次低|second[- ](?:cheapest|lowest|most expensive|dearest|highest)|2nd[- ](?:cheapest|lowest|dearest)", re.I),
    3: re.compile(r"第三(?:便宜|低|贵|高|名|的)|third[- ](?:cheapest|lowest|most expensive|dearest|highest)|3rd[- ](?:cheapest|lowest|dearest)", re.I),
    4: re.compile(r"第四(?:便宜|低|贵|高|名|的)|fourth[- ](?:cheapest|lowest|most expensive|dearest)|4th[- ](?:cheapest|lowest|dearest)", re.I),
}  # fmt: skip
FIRST = re.compile(r"第一(?:便宜|低|贵|高|名|的)|\bfirst\b|1st", re.I)
FROM_DEAREST = re.compile(
    r"第.(?:贵|高)|(?:second|third|fourth|2nd|3rd|4th)[- ](?:most expensive|dearest|highest)", re.I
)


def placed(request: Request, offers: Sequence[Offer], book: Ledger) -> list[str]:
    """The second or third cheapest (or dearest) where one is asked for, one price for each cloud and card; and its gap to the first."""
    places = [place for place, words in ORDINALS.items() if words.search(request.question)]
    distinct = list({(o.provider, o.gpu): o for o in reversed(offers)}.values())[::-1]
    if not places or places[0] > len(distinct):
        return []
    dear = bool(FROM_DEAREST.search(request.question))
    ranked = distinct[::-1] if dear else distinct
    offer, first = ranked[places[0] - 1], ranked[places[1] - 1] if len(places) > 1 else ranked[0]
    lang = book.language
    who, price = (
        render.name("provider", offer.provider, lang),
        render.amount(per_gpu(offer), offer.currency, lang, "hour"),
    )
    zh, en = ("贵", "dearest") if dear else ("便宜", "cheapest")
    place = {2: ("二", "Second"), 3: ("三", "Third"), 4: ("四", "Fourth")}[places[0]]
    lines = [
        book.say(
            f"**第{place[0]}{zh}的是{who} {offer.gpu}：{price}**", f"**{place[1]} {en}: {offer.gpu} at {who}, {price}**"
        )
    ]
    low, high = sorted((offer, first), key=per_gpu)
    if (FIRST.search(request.question) or len(places) > 1 or request.aspects & {"difference", "percent"}) and per_gpu(
        low
    ) != per_gpu(high):
        out = book.compute(
            "price_difference", dearer=per_gpu(high), cheaper=per_gpu(low), currency=low.currency
        ).outputs
        a, b = (f"{render.name('provider', o.provider, lang)} {o.gpu}" for o in (high, low))
        lines.append(book.say(f"{a} 比 {b} 贵 {number(Decimal(out['difference']))} {per(low, book)}，贵 {out['surplus_percent']} %（反过来便宜 {out['saving_percent']} %）。",
                              f"{a} is {number(Decimal(out['difference']))} {per(low, book)} dearer than {b}: {out['surplus_percent']} % more (the other way round {out['saving_percent']} % less)."))  # fmt: skip
    return lines


def pair(request: Request, low: Offer, high: Offer, book: Ledger) -> str:
    """Two rows: how much dearer the one is, in money and percent, seen from both sides."""
    lang, rate = book.language, per(low, book)
    out = book.compute("price_difference", dearer=per_gpu(high), cheaper=per_gpu(low), currency=low.currency).outputs
    gap, more, less, ratio = (
        number(Decimal(out["difference"])), out["surplus_percent"], out["saving_percent"], out["ratio"],
    )  # fmt: skip
    card = "" if low.gpu == high.gpu else " "
    a, b = (render.name("provider", o.provider, lang) + (f"{card}{o.gpu}" if card else "") for o in (high, low))
    if (low.provider, low.gpu) == (high.provider, high.gpu):
        a, b = (machine(o, [low, high], book) for o in (high, low))
    lead = "" if card else book.say(f"{low.gpu}：", f"{low.gpu}: ")
    if low.gpu_count != high.gpu_count:
        lead += book.say("按每张卡算，", "per GPU, ")
    zh = (f"**{lead}{a}比{b}贵 {gap} {rate}，贵 {more} %**（{ratio} 倍；反过来{b}便宜 {less} %）。",
          f"**{lead}{b}比{a}便宜 {gap} {rate}，便宜 {less} %**（反过来{a}贵 {more} %，是 {ratio} 倍）。")  # fmt: skip
    en = (f"**{lead}{a} is {gap} {rate} dearer than {b}, {more} % more** ({ratio}x; the other way round, {b} is {less} % cheaper).",
          f"**{lead}{b} is {gap} {rate} cheaper than {a}, {less} % less** (the other way round, {a} is {more} % dearer, {ratio}x).")  # fmt: skip
    cheaper_asked = "cheapest" in request.aspects or any(w in request.question for w in ("便宜", "省", "低", "less"))
    return book.say(zh[cheaper_asked], en[cheaper_asked])


def machine(offer: Offer, beside: Sequence[Offer], book: Ledger) -> str:
    """A machine by what tells it from the others of its cloud and card: its number of cards, its cores and host memory."""
    who, parts = render.name("provider", offer.provider, book.language), []
    if len({o.gpu_count for o in beside}) > 1 or not offer.cpu_cores:
        parts.append(book.say(f"{offer.gpu_count} 卡机", f"{offer.gpu_count}-GPU machine"))
    if offer.cpu_cores and len(parts) == 0:
        parts += [render.cores(offer, book.language), f"{number(offer.host_memory_gib or Decimal(0))} GiB"]
    size = (
        " ".join(parts) if len(parts) == 1 else book.say(f"{' '.join(parts)} 的机型", f"machine of {', '.join(parts)}")
    )
    return book.say(f"{who} {size}", f"the {size} at {who}")


def largest_host(offers: Sequence[Offer], book: Ledger) -> str:
    """Which row has the most host memory and which the most cores, among rows that state both."""
    lang, gib = book.language, {o.id: o.host_memory_gib or Decimal(0) for o in offers}
    memory, most = max(offers, key=lambda o: gib[o.id]), max(o.cpu_cores or 0 for o in offers)
    with_most = [o for o in offers if o.cpu_cores == most]
    cores = render.joined((f"{render.name('provider', o.provider, lang)} {o.gpu}" for o in with_most), lang)
    who = f"{render.name('provider', memory.provider, lang)} {memory.gpu}"
    return book.say(
        f"**主机内存最大的是{who}（{number(gib[memory.id])} GiB）；CPU 最多的是{cores}（{render.cores(with_most[0], 'zh')}）**",
        f"**Most host memory: {who} ({number(gib[memory.id])} GiB); most CPU: {cores} ({render.cores(with_most[0], 'en')})**",
    )


def compare_gpus(offers: Sequence[Offer], book: Ledger) -> list[str]:
    """Several GPUs: the cheapest of all, and the ratio of the cheapest rows of each GPU, at each provider or overall."""
    lang, rate, lines = book.language, per(offers[0], book), []
    providers = [
        p for p in dict.fromkeys(o.provider for o in offers) if len({o.gpu for o in offers if o.provider == p}) > 1
    ]
    for provider in providers if len(providers) <= FEW_PROVIDERS else [None]:
        cheapest: dict[str, Offer] = {}
        for offer in offers:  # from low to high
            if provider in (None, offer.provider):
                cheapest.setdefault(offer.gpu, offer)
        low, high = next(iter(cheapest.values())), list(cheapest.values())[-1]
        outputs = book.compute(
            "price_difference", dearer=per_gpu(high), cheaper=per_gpu(low), currency=low.currency
        ).outputs
        who = render.name("provider", provider, lang) if provider else book.say("各取最低价", "lowest of each")
        ratio, whole, gap = outputs["ratio"], outputs["whole_cards"], number(Decimal(outputs["difference"]))
        lines.append(book.say(
            f"{who}：{high.gpu} 的时价是 {low.gpu} 的 **{ratio} 倍**（贵 {gap} {rate}；1 张 {high.gpu} 的钱够租 {whole} 张整卡 {low.gpu}）",
            f"{who}: an {high.gpu} hour costs **{ratio}x** a {low.gpu} hour ({gap} {rate} more; the money for one {high.gpu} rents {whole} whole {low.gpu} cards)"))  # fmt: skip
    best = offers[0]
    who, price = render.name("provider", best.provider, lang), render.amount(per_gpu(best), best.currency, lang, "hour")
    head = book.say(
        f"**每小时最便宜的是{who} {best.gpu}：{price}**", f"**Cheapest per hour: {best.gpu} at {who}, {price}**"
    )
    return [head, *lines]


def average(offers: Sequence[Offer], book: Ledger) -> str:
    rate = per(offers[0], book)
    result = book.compute("average_price", amounts=[per_gpu(o) for o in offers], currency=offers[0].currency)
    return book.say(f"**平均 {number(result.value)} {rate}**（{result.formula}）", f"**Average: {number(result.value)} {rate}** ({result.formula})")  # fmt: skip


def per(offer: Offer, book: Ledger) -> str:
    """元/小时, USD/hour: the unit of an offer's price."""
    return f"{render.unit(offer.currency, book.language)}/{render.period_name('hour', book.language)}"
