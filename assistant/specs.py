"""Answers about specifications of cards: memory, bandwidth, dense TFLOPS, power, links, launch, export status.

Says what gpus.csv holds, form by form, and which figure no source gives; what a workload needs is memory.py's question.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from assistant import render
from assistant.evidence import Finding
from assistant.figures import extract_figures
from assistant.ledger import Ledger
from assistant.model_specs import model_specs
from assistant.passage_questions import below_rated, evades, terms_told_apart
from assistant.reading import Slots
from assistant.remembered import linked
from assistant.served_model import closed_models, not_on_file
from assistant.spec_totals import Named, asks_total, totals
from assistant.spec_words import EVERYTHING, NOT_KEPT, PRECISIONS, gpu_columns
from assistant.understand import Request
from knowledge.card_forms import Marks, matching
from knowledge.hardware import Gpu
from knowledge.hardware_cells import gpu_cells
from knowledge.names import normalise
from knowledge.table_rows import Span
from knowledge.unknown_names import is_model

INTENTS = frozenset(
    {"document", "memory", "price", "compare", "speedup", "training_time", "off_topic", "fit", "serving", "choose"}
)
BILL = re.compile(r"电[费钱价]|用电|度电|多少[度电]|kwh|kilowatt|千瓦时|electric|energy|bill|cost", re.I)
SUMMING = frozenset({"cost", "budget", "buy_price", "power", "finetune_memory"})  # what "total" may have been taken for
# What asks for money, a reason or a meaning is no question about a row of specifications.
MONEY = re.compile(
    r"价|多少钱|几块|贵|便宜|费用|成本|预算|租|[购买](?!到)|电费|每小时|/小时|\bprice|\bcost|cheap|expensive|\brent|\bbuy|\bpay|budget|"
    r"per hour|hourly|how much (?:is|are|for|does .{0,30}cost)\b"
)
LAUNCH = re.compile(
    r"发售价|首发价|发布价|发布时的?价格?|官方(?:定|售|指导|建议)价|建议零售价|launch price|price at launch|msrp"
)
OTHER_QUESTION = re.compile(
    r"为什么|为何|原因|怎么来|由来|什么意思|有什么用|干什么|做什么|解释|\bwhy\b|\bmean\b|explain|used for|"
    r"[最多][大高]的?(?:能|可以|可)?.{0,8}模型|(?:biggest|largest|max(?:imum)?|how (?:big|large)) .{0,12}\b(?:model|llm)"  # what it holds, no figure of its own
)
SINCE_WHEN = re.compile(
    r"(?<![a-z])(?:since|when (?:was|were|did)|how long (?:has|have)|what year|which year)(?![a-z])|哪一?年|什么时候|何时|几时|多久了"
)
STILL_TO_COME = re.compile(
    r"解禁|放开|取消|恢复|松绑|才[能会]|[还再]会|会不会|以后|将|明年|今后|(?<![a-z])(?:will|lift\w*|again|end|ends|ease\w*|next|going to|future)(?![a-z])"
)
FEW_COLUMNS = 3
# What a note of a row speaks of; one that speaks of none of these concerns every answer.
NOTE_ABOUT = {
    "memory": r"\d (?:GB|MiB)\b|memory|VRAM", "bandwidth_gb_per_s": r"[GT]i?B/s|bandwidth", "tdp_w": r"\d W\b|[Pp]ower|TDP",
    "nvlink_gb_per_s": r"NVLink", "launch_price_usd": r"price|USD", "flops": r"FLOPS|FP\d|BF16|INT8|sparse|tensor|rate|clock",
}  # fmt: skip
SPARSE_TOLERANCE = Decimal("0.01")  # makers round the sparse figure apart from the dense one: 1,979 and 2 x 989


@dataclass(frozen=True)
class Card:
    """A card of the question: how readers call it, its forms in question, and whether the question left them open."""

    label: str
    forms: tuple[Gpu, ...]
    left_open: bool


def specs(request: Request, book: Ledger) -> Finding | None:
    """The specifications asked for, of cards or of an open model; None = not such a question."""
    text = request.question.lower()
    held = SINCE_WHEN.search(text) and not STILL_TO_COME.search(text)
    ruled = bool(held) and "export_status" in asked_columns(request) and not evades(text)
    known = request.intent == "forecast" and bool(LAUNCH.search(text))  # of a card that is out
    known = known or (ruled and request.intent in ("forecast", "manipulation"))  # a rule that holds
    summed = request.intent in SUMMING and (request.slots.count or 1) > 1 and asks_total(request)
    rated = request.intent == "power" and not BILL.search(request.question)  # a power, no energy and no bill
    if request.intent not in INTENTS and not (known or summed or rated):
        return None
    if found := model_specs(request, book):
        return found
    if asked_columns(request) and not is_of_cards(request):
        return not_on_file(request, book)  # FP16 of a card is not what "Qwen2.5-8B FP16 on 4090" asks for
    return _gpu_specs(request, book)


def is_of_cards(request: Request) -> bool:
    """Whether no model is spoken of that no table knows."""
    return not closed_models(request) and not any(is_model(name) for name in request.slots.unknown)


def _gpu_specs(request: Request, book: Ledger) -> Finding | None:
    columns = asked_columns(request)
    if not columns:
        return None
    cards = [_card(gpu, request, book) for gpu in request.slots.gpus]
    rows = [card for card in cards if card.forms]
    forms = list(dict.fromkeys(form for card in rows for form in card.forms))
    wanted = _expanded(columns)
    shown = [column for column in wanted if any(value(form, column, book) for form in forms)]
    named = {key: Named(card.label, card.forms) for key, card in zip(request.slots.gpus, cards, strict=True)}
    summed = totals(request, named, wanted, book)
    first = bool(summed) and asks_total(request)
    parts = [*_sparse(request, forms, wanted, book), *([summed] if first else [])]
    by_line = len(wanted) <= FEW_COLUMNS or (len(forms) == 1 and EVERYTHING not in columns)
    if by_line:
        parts.append("  \n".join(_heads(rows, wanted, book)))
    if shown and not (by_line and (len(forms) == 1 or (len(rows) == 1 and not _differ(rows[0], shown, book)))):
        parts.append(_table(forms, shown, book))
    parts += [summed] if summed and not first else []
    if wanted:
        parts.append(render.bullets(_remarks(request, rows, wanted, book, summed=bool(summed))))
    return book.finding("answered" if shown else "not_in_knowledge", *parts, _gaps(request, cards, columns, book))


def asked_columns(request: Request) -> tuple[str, ...]:
    """The columns that a question about cards alone asks for; empty where something else is asked."""
    text = normalise(request.question).lower()
    columns = gpu_columns(text) or gpu_columns(request.search_text)
    s = request.slots
    if (
        not (columns and s.gpus)
        or _has_workload(s)
        or OTHER_QUESTION.search(text)
        or terms_told_apart(text)
        or below_rated(text)
    ):
        return ()
    if MONEY.search(LAUNCH.sub(" ", text)) or request.aspects & {"server", "hyperparameters"}:
        return ()
    by_size = bool(s.memory_gb and not s.forms)
    if columns == ("memory",) and (by_size or "enough" in request.aspects):
        return ()
    return columns


def _has_workload(s: Slots) -> bool:
    """Whether something is to be run, rented or paid: then a card's figure is not what is asked."""
    return bool(
        s.models
        or s.workloads
        or s.methods
        or s.parameters_b
        or s.rows
        or s.money
        or s.price_per_hour
        or s.periods
        or s.hours_per_day
        or s.providers
    )


def value(gpu: Gpu, column: str, book: Ledger) -> str:
    """A cell in the reader's words; empty where no source gives it or nobody verified it."""
    if column == "export_status" and gpu.export_status == "unknown":
        return ""
    return next(book.say(*cell.value) for cell in gpu_cells(gpu) if cell.column == column)


def _label(column: str, book: Ledger, gpu: Gpu) -> str:
    return next(book.say(*cell.label) for cell in gpu_cells(gpu) if cell.column == column)


def _card(key: str, request: Request, book: Ledger) -> Card:
    all_forms = book.catalog.gpus_of(key)
    named = [gpu for name in request.slots.forms if (gpu := book.catalog.gpu(name)) and key in gpu.families]
    sized = matching(key, Marks(sizes=request.slots.memory_gb)) if request.slots.memory_gb and not named else ()
    forms = tuple(named or [gpu for gpu in book.catalog.gpus if gpu.name in sized] or all_forms)
    label = (
        forms[0].name
        if len(forms) == 1 and (len(all_forms) > 1 or forms[0].variant)
        else render.name("gpu", key, book.language)
    )
    return Card(label, forms, len(forms) > 1 and not named)


def _expanded(columns: Sequence[str]) -> tuple[str, ...]:
    """The table's columns behind what was asked: everything, or NVLink with the kind of link."""
    if EVERYTHING in columns:
        return ("architecture", "release_year", "form_factor", "memory", "bandwidth_gb_per_s", *PRECISIONS, "tdp_w",
                "interconnect", "nvlink_gb_per_s", "launch_price_usd", "compute_capability", "export_status")  # fmt: skip
    wanted = [column for column in columns if column != NOT_KEPT]
    if "interconnect" in wanted:
        wanted.insert(wanted.index("interconnect") + 1, "nvlink_gb_per_s")
    return tuple(wanted)


def _differ(card: Card, columns: Sequence[str], book: Ledger) -> bool:
    """Whether the forms of a card differ in one of the columns."""
    return any(len({value(form, column, book) for form in card.forms}) > 1 for column in columns)


def _heads(cards: Sequence[Card], wanted: Sequence[str], book: Ledger) -> list[str]:
    """One line for each card and column: its value, the values of its forms, or that no source gives it."""
    lines = []
    for card in cards:
        mark = "".join(book.cite_gpu(form) for form in card.forms)
        for column in wanted:
            found = list(dict.fromkeys(v for form in card.forms if (v := value(form, column, book))))
            label = _label(column, book, card.forms[0])
            if found:
                by_form = book.say("（随形态不同）", " (by form)") if len(found) > 1 else ""
                between = book.say("、", ", ")
                lines.append(book.say(f"**{card.label} {label}：{between.join(found)}**{by_form}{mark}",
                                      f"**{card.label} {label}: {between.join(found)}**{by_form} {mark}"))  # fmt: skip
            elif column == "export_status":
                lines.append(book.say(f"**{card.label} 对华出口：未核实**，没有来源说明它的状态{mark}。",
                                      f"**{card.label} export to China: not verified**; no source states it {mark}."))  # fmt: skip
            elif column != "nvlink_gb_per_s":
                lines.append(book.say(f"**知识库没有 {card.label} 的 {label}**，没有来源给出{mark}。",
                                      f"**{card.label} {label}: not known**; no source gives it {mark}."))  # fmt: skip
    return lines


def _table(forms: Sequence[Gpu], shown: Sequence[str], book: Ledger) -> str:
    """Forms as lines where few columns are asked, as columns where all are; each form with its source."""
    missing = book.say("未知", "not known")
    labels = [_label(column, book, forms[0]) for column in shown]
    names = [f"{form.name} {book.cite_gpu(form)}" for form in forms]
    cells = [[value(form, column, book) or missing for column in shown] for form in forms]
    if len(shown) <= FEW_COLUMNS + len(PRECISIONS):
        rows = [[name, *row] for name, row in zip(names, cells, strict=True)]
        return render.table([book.say("形态", "Form"), *labels], rows)
    turned = [[label, *column] for label, column in zip(labels, zip(*cells, strict=True), strict=True)]
    return render.table([book.say("规格", "Specification"), *names], turned)


def _remarks(
    request: Request, cards: Sequence[Card], wanted: Sequence[str], book: Ledger, *, summed: bool = False
) -> list[str]:
    """What the figures mean: dense, per card, which form, disputed, dated."""
    lines = []
    forms = list(dict.fromkeys(form for card in cards for form in card.forms))
    if any(column in PRECISIONS[1:] and value(form, column, book) for column in wanted for form in forms):
        lines.append(book.say("TFLOPS 和 TOPS 都是稠密值；厂商宣传页常印带稀疏的值，高得多。",
                              "TFLOPS and TOPS are dense; makers often print the much higher figures with sparsity."))  # fmt: skip
    if opened := [card.label for card in cards if card.left_open and _differ(card, wanted, book)]:
        names = render.joined(opened, book.language)
        lines.append(book.say(f"{names} 有不止一种形态，问题没有说是哪一种，所以各形态都列出。",
                              f"The {names} comes in more than one form and the question does not say which, so every form is listed."))  # fmt: skip
    lines += [book.say(*i.assumed) for i in linked(request.question) if i.kind == "gpu" and i.assumed]
    if (request.slots.count or 0) > 1:
        lines.append(
            book.say("除合计外，数字都按单张卡。", "All figures but the sums are per card.")
            if summed
            else book.say("数字都按单张卡。", "All figures are per card.")
        )
    if "export_status" in wanted and (
        named := dict.fromkeys(filter(None, (value(form, "export_source", book) for form in forms)))
    ):
        lines.append(book.say(f"出口规则会变：以上是来源所写的规则和日期，不是法律意见。规则的来源：{'；'.join(named)}。",
                              f"Export rules change: this is what the sources say of the rule and its date, no legal advice. Sources of the rule: {'; '.join(named)}."))  # fmt: skip
    return lines + [book.say(f"{form.name}：{form.note_zh}。", f"{form.name}: {form.note_en}.") for form in forms if _concerns(form.note_en, wanted)]  # fmt: skip


def _concerns(note: str, wanted: Sequence[str]) -> bool:
    """Whether a row's note speaks of one of the columns, or of the card as a whole."""
    about = {column for column, words in NOTE_ABOUT.items() if re.search(words, note)}
    asked = {"flops" if column in PRECISIONS else column for column in wanted}
    return bool(note) and (not about or bool(about & asked))


def _sparse(request: Request, forms: Sequence[Gpu], wanted: Sequence[str], book: Ledger) -> list[str]:
    """The reader's number where it is the sparse figure of a card in question, with the dense one beside it."""
    said = [p for p in extract_figures(normalise(request.question)) if p.unit in ("TFLOPS", "TOPS", "")]
    asked = [column for column in PRECISIONS[1:] if column in wanted]
    lines = []
    for form in forms:
        for number in said:
            spans = [(column, found) for column in asked if (found := _span(form, column))]
            sparse = [column for column, found in spans if _is_about(number.value, 2 * found.high)]
            dense = [column for column, found in spans if _is_about(number.value, found.high)]
            if sparse:
                name, precise = form.name, _precisions(sparse, book)
                lines.append(book.say(
                    f"**{number.text} 是 {name} {precise} 的稀疏值**，不是稠密值；稠密值是 {value(form, sparse[0], book)}{book.cite_gpu(form)}。",
                    f"**{number.text} is the sparse {precise} figure of the {name}**, not the dense one, which is {value(form, sparse[0], book)} {book.cite_gpu(form)}."))  # fmt: skip
                if dense:
                    lines[-1] += book.say(f"它也是 {_precisions(dense, book)} 的稠密值。", f" It is also the dense figure for {_precisions(dense, book)}.")  # fmt: skip
    return lines


def _span(gpu: Gpu, column: str) -> Span | None:
    found: Span | None = getattr(gpu, column)
    return found


def _precisions(columns: Sequence[str], book: Ledger) -> str:
    """FP16、BF16 of fp16_tflops and bf16_tflops."""
    return render.joined((column.partition("_")[0].upper() for column in columns), book.language)


def _is_about(said: Decimal, printed: Decimal) -> bool:
    return abs(said / printed - 1) <= SPARSE_TOLERANCE


def _gaps(request: Request, cards: Sequence[Card], columns: Sequence[str], book: Ledger) -> str:
    """Cards without a row, and kinds of figures that the table does not keep."""
    lines = []
    names = [card.label for card in cards if not card.forms] + list(request.slots.unknown)
    if names:
        lines.append(book.say(f"知识库里没有 {render.joined(names, 'zh')} 的规格，不编造数字。",
                              f"The knowledge base has no specifications of the {render.joined(names, 'en')}."))  # fmt: skip
    if NOT_KEPT in columns:
        named = render.joined((card.label for card in cards), book.language)
        lines.append(book.say(f"知识库不收录核心数、频率、位宽和制程，所以没有 {named} 的这项规格，不编造数字。",
                              f"The knowledge base keeps no core counts, clocks, bus widths or process nodes, so it has no such specification for the {named}."))  # fmt: skip
    return "  \n".join(lines)
