"""Rented offers compared by what they give: price per GiB of host memory, per core, per GB of GPU memory, TFLOPS per money.

Rows and calculators only; a row that does not state the thing is left out and named.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from assistant import price_gaps, prices, render
from assistant.calculator.calculation import Calculation, number
from assistant.evidence import Bilingual, Finding
from assistant.ledger import Ledger
from assistant.price_selection import comparable, select
from assistant.price_tables import caveats
from assistant.reading import read
from assistant.shape_rows import gpu_spec
from assistant.slot_readings import PRICE_INTENTS
from assistant.understand import Request
from knowledge.catalog import Offer
from knowledge.hardware import Gpu
from knowledge.names import normalise

PRICED = frozenset({"price", "cheapest", "dearest", "break_even", "order"})
UNIT_PRICED = PRICE_INTENTS | {"document", "memory", "choose", "speedup", "buy_price"}
LEAST_CARD_PRICE = 100  # of a card that is bought
GB_BOUGHT = re.compile(
    r"(?:显存|vram|memory)[^?？]{0,20}(?:买|购|buy)|(?:买|购|buy)[^?？]{0,20}(?:显存|vram|memory)", re.I
)
GIB = r"(?:gi?b|g(?![a-z])|吉)"
MEMORY = rf"(?:每|一|1)\s*个?\s*{GIB}|(?<![a-z])(?:per|each|a)\s*{GIB}|/\s*{GIB}|(?:price|cost|cheapest|value)[^,.]{{0,30}}per {GIB}|(?:host )?memory (?:per|for (?:each|every|a)) (?:yuan|dollar|cny|usd)|每[元块]钱?[^,，]{{0,8}}内存"
VRAM = re.compile(
    rf"(?:每|一|1)\s*个?\s*{GIB}\s*的?显存|显存(?:单价|性价比)|per {GIB} (?:of )?(?:vram|gpu memory|video memory|graphics memory)|(?:vram|gpu memory)[^,.]{{0,12}}per (?:dollar|yuan|cny|usd)|每[元块]钱?[^,，]{{0,8}}显存",
    re.I,
)
CORE = re.compile(
    r"每个?\s*(?:cpu\s*)?(?:核心?|线程|v?cpu)|(?<![a-z])(?:per|each|a)\s+(?:cpu[- ])?(?:core|vcpu)|/\s*(?:core|vcpu|核)",
    re.I,
)
FLOPS = re.compile(
    r"t?flops?[^,.]{0,14}(?:per|for (?:the|each|every|my)) (?:dollar|yuan|cny|usd|money|buck|\$)|(?<![a-z])(?:per|each|a)\s+t?flops?|/\s*tflops?|每\s*(?:个\s*)?t?flops|每[元块](?:钱|美元)?[^,，]{0,10}(?:算力|t?flops)|算力(?:单价|性价比|价格比)|单位算力|每单位算力",
    re.I,
)


@dataclass(frozen=True)
class _Unit:
    """What is paid for: its names, the unit, and how much of it a row gives beside one hour."""

    name: Bilingual
    unit: Bilingual
    of: Callable[[Offer, Ledger], tuple[Decimal, Gpu | None] | None]


def per_unit(request: Request, book: Ledger) -> Finding | None:
    """The offers by price per unit, lowest first; None where the question asks for no such price."""
    if bought := _bought_memory(request, book):
        return bought
    unit = _asked(normalise(request.question))
    priced = request.aspects & PRICED or request.intent in PRICE_INTENTS or FLOPS.search(request.question)
    if not priced:  # "what does a core do"
        return None
    if unit is None or request.slots.unknown or request.slots.price_per_hour or request.intent not in UNIT_PRICED:
        return None
    groups = comparable(request, select(request, book).offers, book)
    if not groups:
        return price_gaps.missing(request, book) if request.slots.gpus else None
    found = [(offer, given) for offer in groups[0] if (given := unit.of(offer, book))]
    if not found:
        names = render.joined(dict.fromkeys(offer.gpu for offer in groups[0]), book.language)
        return book.finding("not_in_knowledge", book.say(f"{names} 的价格行没有写明{unit.name.zh}，算不出单价。", f"The price rows of {names} do not state {unit.name.en}, so there is no unit price."))  # fmt: skip
    return _ranked(found, groups[0], unit, book)


def _bought_memory(request: Request, book: Ledger) -> Finding | None:
    """Cards at purchase prices that the reader states, by price per GB of their memory; None where no such prices are."""
    found = read(request.question)
    cards = [link for link in found.links if link.kind == "gpu"]
    if not VRAM.search(found.text) and not GB_BOUGHT.search(found.text):
        return None
    amounts = [
        q
        for q in found.quantities
        if q.kind in ("money", "bare") and q.value >= LEAST_CARD_PRICE and q.unit in ("", q.currency)
    ]
    if not cards or len(cards) != len(amounts) or len({q.currency for q in amounts}) > 1:
        return None
    currency = amounts[0].currency or ("CNY" if book.language == "zh" else "USD")
    rows = []
    for card, amount in zip(cards, amounts, strict=True):
        forms = [gpu for name in card.forms if (gpu := book.catalog.gpu(name))] or book.catalog.gpus_of(card.key)
        sizes = {spec.memory_gib: gpu for gpu in forms if (spec := gpu_spec(gpu)) and spec.memory_gib}
        if len(sizes) != 1:
            return None
        size, gpu = next(iter(sizes.items()))
        rows.append(
            (book.compute("price_per_unit", price=amount.value, quantity=size, unit="GB", currency=currency), gpu, size)
        )
    return _bought(rows, currency, book)


def _bought(rows: Sequence[tuple[Calculation, Gpu, Decimal]], currency: str, book: Ledger) -> Finding:
    money = render.unit(currency, book.language)
    ranked = sorted(rows, key=lambda row: row[0].value)
    marks = "".join(dict.fromkeys(book.cite_gpu(gpu) for _, gpu, _ in ranked))
    best, gpu, _ = ranked[0]
    price = render.cash(best.value, currency, book.language)
    head = book.say(f"**按每 GB 显存的购价，最划算的是 {gpu.name}：{price}/GB**{marks}", f"**Per GB of GPU memory bought, the cheapest is the {gpu.name}: {price}/GB** {marks}") \
        if len(ranked) > 1 else book.say(f"**{gpu.name} 每 GB 显存 {price}**{marks}", f"**{gpu.name}: {price} per GB of GPU memory** {marks}")  # fmt: skip
    lines = [f"{card.name}: {result.formula}" for result, card, _ in ranked]
    headings = [
        book.say("显卡", "Card"),
        book.say("显存（GB）", "GPU memory (GB)"),
        book.say(f"每 GB（{money}）", f"Per GB ({money})"),
    ]
    table = [[card.name, number(size), f"{result.value:,.2f}"] for result, card, size in ranked]
    return book.finding(
        "answered", head, render.table(headings, table) if len(ranked) > 1 else "", render.bullets(lines),
        book.say("购价是你给的，只是卡价。", "The purchase prices are yours, for the cards alone."),
    )  # fmt: skip


def _asked(text: str) -> _Unit | None:
    """What the price is asked per; GB alone is host memory, which the rows state."""
    if FLOPS.search(text):
        return _Unit(
            Bilingual(zh="BF16/FP16 稠密算力", en="dense BF16/FP16 speed"), Bilingual(zh="TFLOPS", en="TFLOPS"), _flops
        )
    if VRAM.search(text):
        return _Unit(Bilingual(zh="显存", en="GPU memory"), Bilingual(zh="GB", en="GB"), _gpu_memory)
    if CORE.search(text):
        return _Unit(Bilingual(zh="CPU", en="CPU"), Bilingual(zh="核", en="core"), _cores)
    if re.search(MEMORY, text, re.I):
        if re.search(r"显存|vram|gpu memory", text, re.I):
            return _Unit(Bilingual(zh="显存", en="GPU memory"), Bilingual(zh="GB", en="GB"), _gpu_memory)
        return _Unit(Bilingual(zh="主机内存", en="host memory"), Bilingual(zh="GiB", en="GiB"), _host_memory)
    return None


def _host_memory(offer: Offer, book: Ledger) -> tuple[Decimal, Gpu | None] | None:
    return (Decimal(offer.host_memory_gib), None) if offer.host_memory_gib else None


def _cores(offer: Offer, book: Ledger) -> tuple[Decimal, Gpu | None] | None:
    return (Decimal(offer.cpu_cores), None) if offer.cpu_cores else None


def _forms(offer: Offer, book: Ledger) -> list[Gpu]:
    exact = book.catalog.gpu(offer.gpu_form) if offer.gpu_form else None
    return [exact] if exact else book.catalog.gpus_of(offer.gpu)


def _gpu_memory(offer: Offer, book: Ledger) -> tuple[Decimal, Gpu | None] | None:
    """Of the row, else of the card where all its forms have the same."""
    if offer.gpu_memory_gb:
        return Decimal(offer.gpu_memory_gb) * offer.gpu_count, None
    forms = _forms(offer, book)
    sizes = {spec.memory_gib for gpu in forms if (spec := gpu_spec(gpu))}
    return (sizes.pop() * offer.gpu_count, forms[0]) if len(sizes) == 1 else None


def _flops(offer: Offer, book: Ledger) -> tuple[Decimal, Gpu | None] | None:
    """Dense 16-bit speed of the card where all its forms have the same."""
    forms = _forms(offer, book)
    speeds = {spec.bf16_tflops or spec.fp16_tflops for gpu in forms if (spec := gpu_spec(gpu))}
    speed = speeds.pop() if len(speeds) == 1 else None
    return (speed * offer.gpu_count, forms[0]) if speed else None


def _ranked(
    found: Sequence[tuple[Offer, tuple[Decimal, Gpu | None]]], offers: Sequence[Offer], unit: _Unit, book: Ledger
) -> Finding:
    lang, currency = book.language, found[0][0].currency
    priced = [(book.compute("price_per_unit", price=offer.price, quantity=amount, unit=unit.unit.en, currency=currency), offer, amount, gpu)
              for offer, (amount, gpu) in found]  # fmt: skip
    priced.sort(key=lambda line: line[0].value)
    shown = priced[: prices.MOST_ROWS]
    marks = book.cite_offers([offer for _, offer, _, _ in shown]) + "".join(
        dict.fromkeys(book.cite_gpu(gpu) for *_, gpu in shown if gpu)
    )
    best, first = shown[0][1], shown[0][0]
    money, name = render.unit(currency, lang), unit.unit[lang]
    who = render.name("provider", best.provider, lang)
    gpu, each = best.gpu_form or best.gpu, name if lang == "zh" and not name.isascii() else f" {name}"
    head = book.say(f"**按每{each}（{unit.name.zh}）算，最划算的是{who} {gpu}：{number(first.value)} {money}/{name}/小时**{marks}",
                    f"**Per {name} of {unit.name.en}, the cheapest is the {gpu} at {who}: {number(first.value)} {money}/{name} an hour** {marks}")  # fmt: skip
    headings = [book.say("云", "Cloud"), "GPU", book.say(f"价格（{money}/小时）", f"Price ({money}/hour)"), f"{unit.name[lang]}{book.say(f'（{name}）', f' ({name})')}",
                book.say(f"每{each}（{money}/小时）", f"Per {name} ({money}/hour)"), book.say(f"每{money}可得（{name}）", f"{name} per {money}")]  # fmt: skip
    rows = [[render.name("provider", offer.provider, lang), offer.gpu_form or offer.gpu, number(offer.price), number(amount), number(result.value),
             number(Decimal(result.outputs["units_per_price"]))] for result, offer, amount, _ in shown]  # fmt: skip
    left = len(offers) - len(found)
    note = (
        book.say(
            f"另有 {left} 行没有写明{unit.name.zh}，没有列出。",
            f"{left} more rows do not state {unit.name.en} and are left out.",
        )
        if left
        else ""
    )
    if left:
        book.count("offers.csv", len(offers), left)
    formula = render.formula(first.formula.replace(unit.unit.en, name) if lang == "zh" else first.formula, lang)
    return book.finding(
        "answered",
        head + "  \n" + formula,
        render.table(headings, rows),
        note,
        caveats([offer for _, offer, _, _ in shown], book),
    )
