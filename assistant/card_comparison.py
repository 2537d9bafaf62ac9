"""Answers about which of several cards: memory, bandwidth, speed, power, links and prices side by side, and what follows.

Rows and calculators only. It knows no benchmark: what follows is read off ratios of printed figures, and says so.
A single figure that is asked for is specs.py's business, a comparison of prices alone prices.py's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from assistant import render
from assistant.calculator.calculation import number
from assistant.evidence import Finding
from assistant.ledger import Ledger
from assistant.price_tables import per_gpu
from assistant.reading import Slots
from assistant.specs import OTHER_QUESTION
from assistant.understand import Request
from knowledge.catalog import Offer
from knowledge.hardware import Gpu
from knowledge.hardware_cells import EXPORT_WORDS, gpu_cells, range_of
from knowledge.names import normalise
from knowledge.table_rows import Span

INTENTS = frozenset(
    {
        "buy_price",
        "forecast",
        "buy_or_rent",
        "document",
        "compare",
        "speedup",
        "choose",
        "memory",
        "price",
        "off_topic",
        "serving",
        "fit",
    }
)
WHICH = re.compile(
    r"区别|差别|差异|不同|不一样|对比|相比|比一比|比较|怎么选|选[哪谁]|[哪谁]个?[张款块]?卡?(?:更|最)?[好强值]|还是|怎么样|值不值|升级"
    r"|\bvs\b|versus|differ|compar|better|which (?:one|card|gpu|is)|should i (?:get|pick|choose|take|go)|upgrad|worth|\bor\b",
    re.I,
)
CHOICE = re.compile(r"还是|怎么选|选[哪谁]|[哪谁]个?[张款块]?卡?(?:更|最)?[好强值]|better|which|should i|\bor\b", re.I)
DIFFERENCE = re.compile(r"\bdifferences? between|\bdifferent\b|区别|差别|差异")  # and not "how much dearer"
PRICES = frozenset({
    "price", "rent", "cheapest", "dearest", "percent", "ratio", "average", "plan", "spot", "mine",
    "limit", "how_many", "total", "server", "hyperparameters", "why", "stock", "enough", "order",
})  # fmt: skip
PURCHASES = frozenset({"buy_price", "buy_or_rent"})
MOST_CARDS = 5
NEARLY_EQUAL = Decimal("1.02")
QUANTITIES = ("memory", "bandwidth", "compute")


@dataclass(frozen=True)
class Side:
    """One side of the comparison: so many cards of one form, and the other forms that the question left open."""

    key: str
    form: Gpu
    count: int
    others: tuple[Gpu, ...]

    @property
    def label(self) -> str:
        return self.form.name if self.count == 1 else f"{self.count} × {self.form.name}"


def cards_compared(request: Request, book: Ledger) -> Finding | None:
    """The cards named side by side; None where something else is asked, or fewer than two have a row."""
    if not _asks(request, book):
        return None
    sides = [side for key in request.slots.gpus if (side := _side(key, request, book))]
    if len(sides) < 2:
        return None
    marks = {side.key: book.cite_gpu(side.form) for side in sides}
    rents = {side.key: _rents(side, book) for side in sides}
    return book.finding(
        "answered",
        "  \n".join(_heads(sides, marks, rents, book)),
        _table(sides, marks, rents, book),
        _reading(sides, rents, book),
        render.bullets(_remarks(sides, book)),
    )


def _asks(request: Request, book: Ledger) -> bool:
    s, text = request.slots, normalise(request.question).lower()
    if not (request.intent in INTENTS and 2 <= len(s.gpus) <= MOST_CARDS) or _has_more(s) or s.unknown:
        return False
    if request.aspects & PRICES or OTHER_QUESTION.search(text):
        return False
    if (request.intent in PURCHASES or "buy" in request.aspects) and not CHOICE.search(text):
        return False
    if "difference" in request.aspects and not DIFFERENCE.search(text):
        return False
    if request.aspects & {"fast", "break_even"}:  # measured factors come before ratios of printed peaks
        return not any({row.faster, row.slower} == set(s.gpus) for row in book.catalog.speedups)
    return bool(WHICH.search(text))


def _has_more(s: Slots) -> bool:
    """Whether the question is of a model, a time, money or a cloud: then a row of the card is not what is asked."""
    return bool(
        s.models or s.methods or s.parameters_b or s.rows or s.money or s.price_per_hour or s.periods
        or s.hours_per_day or s.providers or s.instances or s.purchase_price or s.workload.concurrency
    )  # fmt: skip


def _side(key: str, request: Request, book: Ledger) -> Side | None:
    """The form that was named, else the fastest with the most memory."""
    named = [gpu for name in request.slots.forms if (gpu := book.catalog.gpu(name)) and key in gpu.families]
    forms = named or book.catalog.gpus_of(key)
    if not forms:
        return None
    best = max(forms, key=lambda gpu: (_high(_compute(gpu)), _high(gpu.memory), _high(gpu.bandwidth_gb_per_s)))
    count = next((item.count for item in request.slots.items if item.gpu == key), 1)
    return Side(key, best, count, tuple(form for form in forms if form is not best))


def _high(span: Span | None) -> Decimal:
    return span.high if span else Decimal(0)


def _compute(gpu: Gpu) -> Span | None:
    """Dense 16-bit TFLOPS."""
    return gpu.bf16_tflops or gpu.fp16_tflops


READERS: dict[str, tuple[tuple[str, str], str, Callable[[Gpu], Span | None]]] = {
    "memory": (("显存", "GPU memory"), "GB", lambda gpu: gpu.memory),
    "bandwidth": (("显存带宽", "memory bandwidth"), "GB/s", lambda gpu: gpu.bandwidth_gb_per_s),
    "compute": (("16 位稠密算力", "dense 16-bit peak"), "TFLOPS", _compute),
}  # fmt: skip


def _amount(side: Side, quantity: str, book: Ledger) -> Decimal | None:
    """What the side has of it in all; of a disputed figure the higher end."""
    _, unit, read = READERS[quantity]
    span = read(side.form)
    if span is None:
        return None
    if side.count == 1:
        return span.high
    return book.compute("card_total", parts=[{"cards": side.count, "each": span.high}], unit=unit).value


def _heads(sides: Sequence[Side], marks: dict[str, str], rents: dict[str, list[Offer]], book: Ledger) -> list[str]:
    """Of each quantity the side that has most, and how many times the least it is."""
    lines = []
    for quantity in QUANTITIES:
        (zh, en), unit, _ = READERS[quantity]
        have = [(amount, side) for side in sides if (amount := _amount(side, quantity, book))]
        if len(have) < 2:
            continue
        (low, least), (high, most) = min(have, key=lambda pair: pair[0]), max(have, key=lambda pair: pair[0])
        if high <= low * NEARLY_EQUAL:
            both = number(high) if low == high else f"{number(high)}{book.say(' 与 ', ' and ')}{number(low)}"
            lines.append(book.say(f"**{zh}**：{'都是' if low == high else '几乎一样，'}{' ' if low == high else ''}{both} {unit}",
                                  f"**{en[0].upper()}{en[1:]}**: {both} {unit}{' each' if low == high else ', nearly the same'}"))  # fmt: skip
            continue
        ratio = number(book.compute("card_ratio", larger=high, smaller=low, unit=unit).value)
        lines.append(book.say(
            f"**{zh}**：{most.label} {number(high)} {unit}，是 {least.label}（{number(low)} {unit}）的 **{ratio} 倍**",
            f"**{en[0].upper()}{en[1:]}**: {most.label} {number(high)} {unit}, **{ratio}x** the {least.label} ({number(low)} {unit})"))  # fmt: skip
    if lines:
        lines[0] += book.say("", " ") + "".join(marks[side.key] for side in sides)
    return [*lines, *_rent_head(sides, rents, book), *_measured(sides, book)]


def _rents(side: Side, book: Ledger) -> list[Offer]:
    """The cheapest rent by the hour on demand, one for each currency; of the very form where one is on offer."""
    found = [book.catalog.find_offers([side.key], currency=currency) for currency in ("CNY", "USD")]
    return [next((o for o in offers if o.gpu_form == side.form.name), offers[0]) for offers in found if offers]


def _rent_head(sides: Sequence[Side], rents: dict[str, list[Offer]], book: Ledger) -> list[str]:
    """Two sides' cheapest rents against each other, in the first currency that both have."""
    pair = _rented_alike(sides, rents)
    if not pair or any(side.count > 1 for side in sides):
        return []
    low, high = sorted(pair, key=per_gpu)
    if per_gpu(low) == per_gpu(high):
        return []
    ratio = book.compute("price_difference", dearer=per_gpu(high), cheaper=per_gpu(low), currency=low.currency).outputs["ratio"]  # fmt: skip
    mark, lang = book.cite_offers(pair), book.language
    (a, dear), (b, cheap) = (
        (o.gpu_form or o.gpu, render.amount(per_gpu(o), o.currency, lang, "hour")) for o in (high, low)
    )
    return [book.say(f"**最低租价**：{a} {dear}，是 {b}（{cheap}）的 **{ratio} 倍**{mark}", f"**Lowest rent**: {a} {dear}, **{ratio}x** the {b} ({cheap}) {mark}")]  # fmt: skip


def _rented_alike(sides: Sequence[Side], rents: dict[str, list[Offer]]) -> list[Offer]:
    for currency in ("CNY", "USD"):
        pair = [offer for side in sides for offer in rents[side.key] if offer.currency == currency]
        if len(pair) == len(sides) == 2:
            return pair
    return []


def _measured(sides: Sequence[Side], book: Ledger) -> list[str]:
    """The factors that somebody measured for these two cards."""
    rows = [row for row in book.catalog.speedups if {row.faster, row.slower} == {side.key for side in sides}]
    if not rows:
        return []
    factors = [(row, number(row.factor)) for row in rows]
    zh = "，".join(f"{row.precision} {'训练' if row.task == 'training' else '推理'}约 **{f} 倍**" for row, f in factors)
    en = ", ".join(f"{row.precision} {row.task} about **{f}x**" for row, f in factors)
    mark = book.cite_speedups(rows)
    return [book.say(f"**实际快多少**（{rows[0].faster} 比 {rows[0].slower}，引自选卡指南的约数）：{zh}{mark}",
                     f"**Speed in use** ({rows[0].faster} against {rows[0].slower}, approximate, from a buyer's guide): {en} {mark}")]  # fmt: skip


def _table(sides: Sequence[Side], marks: dict[str, str], rents: dict[str, list[Offer]], book: Ledger) -> str:
    """One line for each figure, one column for each card; figures are of one card."""
    rows = []
    for column in ("architecture", "memory", "bandwidth_gb_per_s", "fp8_tflops", "tdp_w", "interconnect", "nvlink_gb_per_s"):  # fmt: skip
        if column == "fp8_tflops":
            label, unit, read = READERS["compute"]
            rows.append([book.say(*label), *(range_of(read(side.form), unit) or "—" for side in sides)])
        cells = [next(cell for cell in gpu_cells(side.form) if cell.column == column) for side in sides]
        if any(cell.value[0] for cell in cells):
            rows.append([book.say(*cells[0].label), *(book.say(*cell.value) or "—" for cell in cells)])
    rows.append([book.say("对华出口", "Export to China"), *(book.say(*EXPORT_WORDS[side.form.export_status]) for side in sides)])  # fmt: skip
    if any(rents.values()):
        rows.append([book.say("最低租价（每卡）", "Lowest rent (per card)"), *(_rent_cell(rents[s.key], book) for s in sides)])  # fmt: skip
    bought = [_bought(side, book) for side in sides]
    if any(bought):
        rows.append([book.say("购卡价", "Purchase price"), *(cell or "—" for cell in bought)])
    return render.table([book.say("每张卡", "Per card"), *(f"{s.form.name} {marks[s.key]}" for s in sides)], rows)


def _rent_cell(offers: Sequence[Offer], book: Ledger) -> str:
    if not offers:
        return "—"
    lang = book.language
    return book.say("；", "; ").join(
        f"{render.amount(per_gpu(o), o.currency, lang, 'hour')}{book.say('（', ' (')}{render.name('provider', o.provider, lang)}"
        f"{book.say('，', ', ') + o.as_of if o.as_of else ''}{book.say('）', ')')} {book.cite_offers([o])}"
        for o in offers
    )


def _bought(side: Side, book: Ledger) -> str:
    """The handout's price in yuan, else the cheapest in dollars for this form."""
    rows = book.catalog.find_purchases([side.key]) or [
        p for p in book.catalog.find_purchases([side.key], currency="USD") if p.gpu_form in (None, side.form.name)
    ]
    if not rows:
        return ""
    unit = render.unit(rows[0].currency, book.language)
    return f"{number(rows[0].price)} {unit} {book.cite_purchases(rows[:1])}"


def _reading(sides: Sequence[Side], rents: dict[str, list[Offer]], book: Ledger) -> str:
    """Which of two cards does more for its rent: where speed decides, where bandwidth decides, and where memory does."""
    pair = _rented_alike(sides, rents)
    if len(pair) != 2 or any(side.count > 1 for side in sides):
        return ""
    lines = []
    for quantity, zh, en in (
        (
            "compute",
            "训练、微调和长提示词（受算力限制）",
            "training, fine-tuning and long prompts (limited by compute)",
        ),
        ("bandwidth", "逐字生成（受显存带宽限制）", "writing token by token (limited by memory bandwidth)"),
    ):
        unit, read = READERS[quantity][1:]
        have = [(read(book.catalog.gpu(o.gpu_form or "") or side.form), o) for side, o in zip(sides, pair, strict=True)]
        per_money = [(_per_money(span.high, unit, offer, book), offer.gpu_form or offer.gpu) for span, offer in have if span]  # fmt: skip
        if len(per_money) < 2:
            continue
        (more, best), (less, other) = sorted(per_money, reverse=True)
        if more > less:
            money = render.unit(pair[0].currency, book.language)
            lines.append(book.say(
                f"{zh}：同样的租金 **{best}** 给得更多，每{money}时租得 {number(more)} {unit}，{other} 得 {number(less)} {unit}。",
                f"For {en} the **{best}** gives more for the rent: {number(more)} {unit} per {money} an hour, the {other} {number(less)} {unit}."))  # fmt: skip
    return render.bullets(lines)


def _per_money(amount: Decimal, unit: str, offer: Offer, book: Ledger) -> Decimal:
    result = book.compute("price_per_unit", price=per_gpu(offer), quantity=amount, unit=unit, currency=offer.currency)
    return Decimal(result.outputs["units_per_price"])


def _remarks(sides: Sequence[Side], book: Ledger) -> list[str]:
    lines = [book.say("算力是稠密值，是峰值而不是实测；放不放得下先看显存，请说出模型再问。",
                      "Speeds are dense peaks, not measurements; memory decides first whether a model fits: name the model to have that worked out.")]  # fmt: skip
    if any(side.count > 1 for side in sides):
        lines.append(book.say("几张卡的合计要靠张量并行或数据并行才用得上，卡间通信会损失一部分。",
                              "A sum over several cards is usable only by parallel running, and traffic between the cards takes some of it."))  # fmt: skip
    for side in sides:
        own = _without_size(side.form.name)
        names = [name for name in dict.fromkeys(_without_size(form.name) for form in side.others) if name != own]
        if side.others:
            lines.append(book.say(
                f"{side.key} 按 {side.form.name} 算" + (f"；它还有 {render.joined(names, 'zh')}" if names else "，它还有别的显存大小") + "。",
                f"The {side.key} is taken as {side.form.name}" + (f"; there is also {render.joined(names, 'en')}" if names else "; there are other memory sizes") + "."))  # fmt: skip
    return lines


def _without_size(name: str) -> str:
    """H100 NVL of "H100 NVL 94GB": a size in passing would be a figure without a source."""
    return re.sub(r"\s*[0-9]+ ?GB\b", "", name)
