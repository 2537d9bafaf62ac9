"""What the cards of a question have together: memory, bandwidth, peak speed and power of all of them, with the formula.

Sums figures of gpus.csv, form by form where the forms differ; which columns are asked is the matter of specs.py.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from assistant import render
from assistant.calculator.calculation import Calculation, number
from assistant.ledger import Ledger
from assistant.understand import Request
from knowledge.hardware import Gpu
from knowledge.hardware_cells import gpu_cells
from knowledge.table_rows import Span

# columns that add up over cards, and their units; a year, a licence or a link does not
SUMMED = {"memory": "GB", "bandwidth_gb_per_s": "GB/s", "fp32_tflops": "TFLOPS", "fp16_tflops": "TFLOPS",
          "bf16_tflops": "TFLOPS", "fp8_tflops": "TFLOPS", "int8_tops": "TOPS", "tdp_w": "W"}  # fmt: skip
TOGETHER = re.compile(
    r"总(?!线)|一共|共(?:有|计|是|多)|合计|加起来|加在一起|合起来|拢共|"
    r"(?<![a-z])(?:total|together|combined|altogether|aggregate|overall|in all|summed)(?![a-z])",
    re.I,
)
ALONE = re.compile(
    r"每[张块片个]|每卡|单[张卡块]|各自|各(?:是|有)?多|(?<![a-z])(?:per (?:card|gpu)|each|a card|apiece)(?![a-z])", re.I
)
MOST_LINES = 4  # more sums than these stand in a table


@dataclass(frozen=True)
class Named:
    """A card of the question: how it is called, and its forms in question."""

    label: str
    forms: tuple[Gpu, ...]


@dataclass(frozen=True)
class _Sum:
    """One sum: of what, the column's name, the total as printed, and its formula."""

    what: str
    column: str
    total: str
    formula: str
    mark: str


def asks_total(request: Request) -> bool:
    """Whether the figures of all cards together are what is asked."""
    return bool(TOGETHER.search(request.question)) and not ALONE.search(request.question)


def totals(request: Request, cards: Mapping[str, Named], columns: Sequence[str], book: Ledger) -> str:
    """What the cards have together, per column that adds up; "" for one card, and where each card alone is asked."""
    if ALONE.search(request.question) and not TOGETHER.search(request.question):
        return ""
    groups = _groups(request, cards)
    sums = [one for column in columns if column in SUMMED for group in groups for one in _sums(group, column, book)]
    if not sums:
        return ""
    notes = render.bullets(_notes([column for column in columns if column in SUMMED], book))
    return render.paragraphs(_lines(sums, book) if len(sums) <= MOST_LINES else _table(sums, book), notes)


def _groups(request: Request, cards: Mapping[str, Named]) -> list[list[tuple[int, Named]]]:
    """What is added up: all lines of a mixed order together, else so many of each card."""
    s = request.slots
    if s.items:
        order = [(item.count, cards[item.gpu]) for item in s.items if item.gpu in cards]
        return [order] if len(order) == len(s.items) and all(card.forms for _, card in order) else []
    count = s.count or 1
    return [[(count, card)] for card in cards.values() if card.forms] if count > 1 else []


def _sums(group: Sequence[tuple[int, Named]], column: str, book: Ledger) -> list[_Sum]:
    if len(group) > 1:
        return _of_order(group, column, book)
    count, card = group[0]
    values: dict[tuple[Span, str], list[Gpu]] = {}
    for form in card.forms:
        if span := _span(form, column):
            values.setdefault((span, _unit(form, column)), []).append(form)
    found = []
    for (span, unit), forms in values.items():
        names = [card.label] if len(values) == 1 else [form.name for form in forms]
        what = book.say("、", ", ").join(render.gpus_text(count, name, book.language) for name in names)
        found.append(_sum([(count, span)], unit, what, column, forms, book))
    return found


def _of_order(group: Sequence[tuple[int, Named]], column: str, book: Ledger) -> list[_Sum]:
    """Of several kinds of cards one sum, from the least to the most where forms or sources differ; none with a gap."""
    forms = [form for _, card in group for form in card.forms]
    units = {_unit(form, column) for form in forms}
    parts = []
    for count, card in group:
        spans = [span for form in card.forms if (span := _span(form, column))]
        if len(spans) < len(card.forms):
            return []
        parts.append((count, Span(min(span.low for span in spans), max(span.high for span in spans))))
    what = " + ".join(render.gpus_text(count, card.label, book.language) for count, card in group)
    return [_sum(parts, units.pop(), what, column, forms, book)] if len(units) == 1 else []


def _sum(
    parts: Sequence[tuple[int, Span]], unit: str, what: str, column: str, forms: Sequence[Gpu], book: Ledger
) -> _Sum:
    ends: list[list[dict[str, Decimal | int]]] = [
        [{"cards": count, "each": getattr(span, end)} for count, span in parts] for end in ("low", "high")
    ]
    results = [_total(end, unit, book) for end in (ends if ends[0] != ends[1] else ends[:1])]
    total = "–".join(number(result.value) for result in results)
    mark = "".join(dict.fromkeys(book.cite_gpu(form) for form in forms))
    return _Sum(what, _label(forms[0], column, book), f"{total} {unit}", "; ".join(r.formula for r in results), mark)


def _lines(sums: Sequence[_Sum], book: Ledger) -> str:
    return "  \n".join(
        book.say(f"**{one.what} {one.column}：合计 {one.total}**（{one.formula}）{one.mark}",
                 f"**{one.what}, {one.column}: {one.total} in total** ({one.formula}) {one.mark}")
        for one in sums
    )  # fmt: skip


def _table(sums: Sequence[_Sum], book: Ledger) -> str:
    """One line for each kind of cards, one column for each figure, and the first formula as the pattern of all."""
    kinds = list(dict.fromkeys(one.what for one in sums))
    columns = list(dict.fromkeys(one.column for one in sums))
    cells = {(one.what, one.column): one.total for one in sums}
    missing = book.say("未知", "not known")
    marks = {one.what: one.mark for one in sums}
    rows = [[f"{kind} {marks[kind]}", *(cells.get((kind, column), missing) for column in columns)] for kind in kinds]
    head = book.say("**合计**", "**In total**")
    table = render.table([book.say("合计", "In total"), *columns], rows)
    return render.paragraphs(head + "  \n" + render.formula(sums[0].formula, book.language), table)


def _notes(columns: Sequence[str], book: Ledger) -> list[str]:
    """What a sum over cards does not mean."""
    says = (
        (("memory",), "显存分在各张卡上，不是连成一块：一个模型要切开才能用到全部。",
         "The memory lies on separate cards and is no single block: a model has to be split to use all of it."),
        (("bandwidth_gb_per_s",), "每张卡只以自己的带宽读自己的显存，合计只在各卡同时读时成立。",
         "Each card reads its own memory at its own bandwidth; the sum holds while all of them read at once."),
        (tuple(name for name in SUMMED if name.endswith(("tflops", "tops"))), "合计是峰值之和，多卡的实际速度达不到。",
         "The sum is one of peaks; several cards together do not reach it."),
        (("tdp_w",), "只是各卡的标称功率，不含 CPU、风扇等主机功率。", "The rated power of the cards alone, without the host."),
    )  # fmt: skip
    return [book.say(zh, en) for about, zh, en in says if set(about) & set(columns)]


def _span(gpu: Gpu, column: str) -> Span | None:
    found: Span | None = getattr(gpu, column)
    return found


def _unit(gpu: Gpu, column: str) -> str:
    return gpu.memory_unit if column == "memory" and gpu.memory_unit else SUMMED[column]


def _label(gpu: Gpu, column: str, book: Ledger) -> str:
    return next(book.say(*cell.label) for cell in gpu_cells(gpu) if cell.column == column)


def _total(parts: Sequence[Mapping[str, Decimal | int]], unit: str, book: Ledger) -> Calculation:
    """Memory of cards of one kind has a calculator of its own."""
    if len(parts) == 1 and unit == "GB":
        return book.compute("total_memory", cards=parts[0]["cards"], card_memory_gb=parts[0]["each"])
    return book.compute("card_total", parts=parts, unit=unit)
