"""Answers about the smallest single card that holds a model: by its memory, with a cache kept free where one is stated.

Looks at NVIDIA cards of gpus.csv one by one with inference_fit; it knows no prices and no several cards.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from assistant import render, tools
from assistant.calculator.calculation import Calculation, number
from assistant.calculator.shapes import GpuSpec
from assistant.evidence import Finding
from assistant.fit_cases import RAISED_SHARE
from assistant.fit_words import (
    both,
    family_note,
    gib,
    mixture_note,
    notes_list,
    precision_name,
    shape_note,
    span,
    taken_notes,
    told,
)
from assistant.ledger import Ledger
from assistant.served_model import Served, Use, use_asked
from assistant.shape_rows import gpu_spec
from assistant.understand import Request
from knowledge.hardware import Gpu

_SIZE = r"(?P<{0}>\d+(?:\.\d+)?)\s*(?:个\s*)?g(?:i?b|igs?|igabytes?)?(?![a-z0-9])"
_CACHE = r"(?:kv|cache|缓存|上下文|context)"
# A cache that is to be kept free, as a size: "20 gigs free for kv cache", "KV 缓存留 20G".
RESERVED = re.compile(
    rf"{_SIZE.format('a')}[^,，。;；\d]{{0,24}}?{_CACHE}|{_CACHE}[^,，。;；\d]{{0,12}}?(?:留|给|预留|占|要|需要|reserve\w*|leave|keep|of|at|takes?)[^,，。;；\d]{{0,6}}{_SIZE.format('b')}",
    re.I,
)
_CARD = r"(?:gpu|(?:graphics |video )?card)s?(?![a-z])"
_BIG = r"(?:big|large) enough|fits?(?![a-z])|holds?(?![a-z])|runs?(?![a-z])|smallest|enough (?:v?ram|memory)"
SMALLEST = re.compile(
    rf"(?:smallest|minimum|lowest[- ]end|least)\b.{{0,24}}{_CARD}|{_CARD}.{{0,80}}\bsmallest\b|(?:which|what) (?:one |is the )?single\b.{{0,20}}{_CARD}|"
    rf"(?:one|single) {_CARD}.{{0,24}}(?:{_BIG})|which {_CARD}.{{0,12}}(?:big|large) enough|"
    r"最[小低].{0,8}(?:卡|显卡|gpu)|(?:卡|显卡|gpu).{0,12}最[小低]|单卡.{0,24}(?:哪[张款种块]|什么卡|啥卡|多大的?(?:卡|显存))|"
    r"哪[张款种块]?(?:单)?卡.{0,10}(?:单卡|一张).{0,6}(?:够|放得下|装得下|塞得下|能跑)|(?:一张|单张)(?:什么|啥|哪种|多大的?)(?:卡|显卡|gpu)",
    re.I,
)
NVIDIA = "nvidia"
OLDEST_CAPABILITY = Decimal("7.0")  # vLLM's lowest (docs.vllm.ai, installation)
MOST_NAMES = 4
GIGABYTE = 10**9


@dataclass(frozen=True)
class _Step:
    """One size of memory: the cards that have it, and how the model fits it."""

    size: Decimal
    cards: tuple[Gpu, ...]
    spec: GpuSpec
    given: Mapping[str, object]
    share: Decimal

    def result(self, book: Ledger) -> Calculation:
        """The fit, kept as a call."""
        return book.compute("inference_fit", **self.given, gpu=self.spec, cards=1, gpu_memory_utilization=self.share)

    @property
    def fits(self) -> bool:
        """Tried on the side: most sizes tried do not belong to the answer."""
        found = tools.calculate(
            "inference_fit", **self.given, gpu=self.spec, cards=1, gpu_memory_utilization=self.share
        )
        return found.outputs["verdict"] == "fits"


def asks_smallest(request: Request) -> bool:
    """Whether the smallest card that holds a model is asked, and no card is named."""
    return SMALLEST.search(request.question) is not None and not request.slots.gpus and not request.slots.money


def smallest_card(request: Request, models: Sequence[Served], book: Ledger) -> Finding:
    """The smallest memory of one card for each precision in question, and the size below where a larger share does."""
    model = models[0]
    use = use_asked(model, request)
    reserved = reserved_gb(request.question)
    heads, formulas, marks, notes = [], [], "", list[str]()
    for precision in use.precisions:
        given = _given(model, use, precision, reserved)
        steps = _steps(precision, use, given, book)
        name = f"{model.label} {precision_name(precision, use, book)}"
        sure = next((step for step in steps if step.fits), None)
        below = next((step for step in steps if (sure is None or step.size < sure.size) and _raised(step).fits), None)
        heads.append(_head(name, sure, below, book))
        for step in (sure, below):
            marks += "".join(book.cite_gpu(gpu) for gpu in _shown(step.cards, book)) if step else ""
        weights = book.compute("model_weights", **model.arguments, precision=precision)
        total = book.compute("inference_memory", **given)
        formulas += [book.say("权重 = ", "weights = ") + weights.formula,
                     book.say("权重 + KV + 激活 + 开销 = ", "weights + KV + activations + overhead = ") + total.formula]  # fmt: skip
        heads.append(_parts(weights, total, reserved, book))
        notes = told(total, ("overhead_gib",), book)
    marks += book.cite_model(model.row) if model.row else ""
    marks = "".join(dict.fromkeys(re.findall(r"\[\d+\]", marks)))
    heads[-1] += marks if book.language == "zh" else f" {marks}"
    lines = [render.formula(line, book.language) for line in formulas[:2]]
    said = taken_notes(model, use, book)
    said = said[:-1] if reserved else said
    return book.finding("answered", "  \n".join(heads), "  \n".join(lines), notes_list(
        [family_note(request, book), mixture_note(model, book), shape_note(model, book), *said, *notes,
         book.say(f"只看 NVIDIA 的单卡，按显存从小到大；每卡用 {use.memory_percent} %", f"NVIDIA cards alone, one card, by memory; {use.memory_percent} % of a card is used")], book))  # fmt: skip


def reserved_gb(question: str) -> Decimal | None:
    """The size of a cache that is to be kept free, in GB."""
    found = RESERVED.search(question)
    return Decimal(found["a"] or found["b"]) if found else None


def _given(model: Served, use: Use, precision: str, reserved: Decimal | None) -> dict[str, object]:
    """The run as inference_fit takes it; a stated cache is one token of that size."""
    if reserved:
        cache: dict[str, object] = {"kv_bytes_per_token": reserved * GIGABYTE, "context_tokens": 1}
    else:
        cache = {"context_tokens": use.context_tokens if model.shape else None, "sequences": use.sequences, "kv_precision": use.kv_precision}  # fmt: skip
    return {**model.arguments, "precision": precision, "engine": use.engine, **cache}


def _steps(precision: str, use: Use, given: Mapping[str, object], book: Ledger) -> list[_Step]:
    """The sizes of memory that NVIDIA cards are sold with, smallest first."""
    sizes: dict[Decimal, list[tuple[Gpu, GpuSpec]]] = {}
    for gpu in book.catalog.gpus:
        spec = gpu_spec(gpu)
        if spec and _is_card(gpu, spec) and (spec.fp8_tflops or precision != "fp8"):
            sizes.setdefault(spec.memory_gib, []).append((gpu, spec))
    return [
        _Step(size, tuple(gpu for gpu, _ in sizes[size]), sizes[size][0][1], given, use.memory_share) for size in sorted(sizes)
    ]  # fmt: skip


def _is_card(gpu: Gpu, spec: GpuSpec) -> bool:
    """A stock NVIDIA card with memory of its own that serving engines still support."""
    old = spec.compute_capability is not None and spec.compute_capability < OLDEST_CAPABILITY
    return gpu.vendor.casefold() == NVIDIA and not gpu.variant and not old and "lpddr" not in gpu.memory_type.casefold()


def _raised(step: _Step) -> _Step:
    return _Step(step.size, step.cards, step.spec, step.given, RAISED_SHARE)


def _rows(gpu: Gpu, book: Ledger) -> int:
    """How many prices there are of its family: what is sold and rented most stands first."""
    return len(book.catalog.find_offers([gpu.family])) + len(book.catalog.find_purchases([gpu.family]))


def _shown(cards: Sequence[Gpu], book: Ledger) -> list[Gpu]:
    """One form of each family, those with most prices first, then the newest."""
    families: dict[str, Gpu] = {}
    for gpu in sorted(cards, key=lambda gpu: (-_rows(gpu, book), -(gpu.release_year or 0))):
        families.setdefault(gpu.family, gpu)
    return list(families.values())[:MOST_NAMES]


def _names(step: _Step, book: Ledger) -> str:
    return render.joined(
        [render.name("gpu", gpu.family, book.language) for gpu in _shown(step.cards, book)], book.language
    )


def _head(name: str, sure: _Step | None, below: _Step | None, book: Ledger) -> str:
    if sure is None and below is None:
        return book.say(f"**{name}：没有一张 NVIDIA 卡单卡放得下**", f"**{name}: no single NVIDIA card holds it**")
    lines = []
    if sure:
        out, size = sure.result(book).outputs, number(sure.size)
        need, usable = span(out["need_low_gib"], out["need_high_gib"]), gib(out["usable_gib"])
        lines.append(book.say(f"**{name}：单卡最小要 {size} GB 的卡（{_names(sure, book)}）**，需要 {need}，可用 {usable} GiB",
                              f"**{name}: the smallest single card has {size} GB ({_names(sure, book)})**: it needs {need} of {usable} GiB usable"))  # fmt: skip
    if below:
        step = _raised(below)
        out, size = step.result(book).outputs, number(step.size)
        share, usable = number(RAISED_SHARE * 100), gib(out["usable_gib"])
        lines.append(book.say(f"{size} GB 的卡（{_names(step, book)}）要把 gpu_memory_utilization 调到 {share} % 才放得下（可用 {usable} GiB，很紧）",
                              f"a card of {size} GB ({_names(step, book)}) holds it only with gpu_memory_utilization at {share} % ({usable} GiB usable, tight)"))  # fmt: skip
    return book.say("；", "; ").join(lines) + book.say("。", ".")


def _parts(weights: Calculation, total: Calculation, reserved: Decimal | None, book: Ledger) -> str:
    size = both(weights.outputs["total_gib"], weights.outputs["total_gb"], book)
    whole = span(total.outputs["total_low_gib"], total.outputs["total_high_gib"])
    kept = ""
    if reserved:
        out = book.compute("kv_cache", kv_bytes_per_token=reserved * GIGABYTE, context_tokens=1).outputs
        cache = both(out["total_gib"], out["total_gb"], book)
        kept = book.say(f"加上留给 KV 缓存的 {cache}，", f"with {cache} kept for the KV cache ")
    return book.say(f"权重 {size}，{kept}合计约 {whole}。", f"Weights {size}; {kept}about {whole} in all.")
