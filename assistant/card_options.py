"""Answers which cards meet conditions of their specification: hardware FP8, at least 48 GB, a PCIe slot, under 300 W.

Filters rows of gpus.csv where no card and no model is named; what a model needs is choosing.py's question.
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
from assistant.numerals import fold
from assistant.specs import value
from assistant.understand import Request
from knowledge.hardware import Gpu
from knowledge.hardware_cells import gpu_cells

LISTS = re.compile(
    r"哪些|哪几[款张种]|哪[款张种]|有(?:什么|啥)|什么卡|啥卡|可选|选择|列(?:出|一下)|推荐|(?<![a-z])(?:options?|choices?|which|what (?:cards?|gpus?)|any (?:cards?|gpus?)|list|recommend|suggest|candidates?)(?![a-z])",
    re.I,
)
CARDS = re.compile(r"卡|gpu|加速器|cards?(?![a-z])|accelerators?", re.I)
# What is to be run, rented or paid makes it another question; a price may be shown of what is asked, not filtered by.
OTHER = re.compile(
    r"模型|跑|训|微调|推理|并发|租|云|服务器|多少钱|价格|预算|便宜|性价比|内存条|(?<![a-z])(?:models?|llms?|runs?|running|train\w*|fine-?tun\w*|infer\w*|serv\w+|rent\w*|clouds?|price\w*|cost\w*|budget|cheap\w*|\d+b)(?![a-z])",
    re.I,
)
PRECISIONS = {"fp8": "fp8_tflops", "bf16": "bf16_tflops", "int8": "int8_tops"}
# NVIDIA's first architectures with the format in their tensor cores: Ada, Ampere, Turing.
LEAST_CAPABILITY = {"fp8_tflops": Decimal("8.9"), "bf16_tflops": Decimal("8.0"), "int8_tops": Decimal("7.5")}
NO_SXM = re.compile(r"(?:not|no|non|isn't|without|不要|不用|不是|别|非|而不是)[ -]*(?:an? )?sxm\d?")
PCIE = re.compile(r"pci-?e(?!\s*(?:switch|带宽|bandwidth))|插槽|(?<![a-z])slots?(?![a-z])")
SXM = re.compile(r"(?<![a-z])sxm\d?(?![a-z])")
NVLINK = re.compile(r"nv-?link|卡间高速互[联连]")
NO_NVLINK = re.compile(r"(?:no|without|不要|不需要|没有|无)\s*nv-?link")
AT_LEAST = re.compile(
    r"至少|不低于|不少于|起步?|以上|最少|或更多|大于|超过|(?<![a-z])(?:at least|min(?:imum)?|or more|or better|plus|over|more than|no less than|upwards?)(?![a-z])|\d ?gb?\+|>=?|≥"
)
WATTS = re.compile(
    r"(?:under|below|less than|at most|up to|max(?:imum)?|no more than|<=?|≤|不超过|低于|小于|最多|上限)\s*(?:tdp\s*)?(?P<a>\d{2,4})\s*(?:w|瓦)|(?P<b>\d{2,4})\s*(?:w(?:atts?)?|瓦)\s*(?:以内|以下|之内|内|or less|max|tops)"
)
VENDORS = {"NVIDIA": re.compile(r"nvidia|英伟达|n ?卡"), "AMD": re.compile(r"(?<![a-z])amd(?![a-z])|a ?卡(?!00)")}  # fmt: skip
MOST_ROWS = 20
COLUMNS = ("memory", "bandwidth_gb_per_s", "form_factor", "tdp_w", "launch_price_usd")
REMOTE = ("Google",)  # cards that cannot be bought


@dataclass(frozen=True)
class _Condition:
    """One thing asked of a card, in words, and the test of a row; `column` is shown in the table."""

    zh: str
    en: str
    holds: Callable[[Gpu], bool]
    column: str = ""


def card_options(request: Request, book: Ledger) -> Finding | None:
    """The cards that meet every condition said; None where none is said or something else is asked."""
    s, text = request.slots, fold(request.question).text
    named = s.gpus or s.models or s.parameters_b or s.providers or s.workloads or s.unknown or s.periods or s.money
    if named or OTHER.search(text) or not (LISTS.search(text) and CARDS.search(text)):
        return None
    conditions = _conditions(request, text)
    if not conditions or all(c.column == "vendor" for c in conditions):
        return None
    asked_zh, asked_en = "、".join(c.zh for c in conditions), ", ".join(c.en for c in conditions)
    found = [gpu for gpu in book.catalog.gpus if _for_sale(gpu) and all(c.holds(gpu) for c in conditions)]
    found.sort(key=lambda gpu: (gpu.memory.low if gpu.memory else Decimal(0), gpu.name))
    if not found:
        return book.finding("not_in_knowledge", book.say(
            f"**规格表里没有同时满足这些条件的卡**（{asked_zh}）。放宽一条可以再查。",
            f"**No card on file meets all of this** ({asked_en}). Give up one of the conditions and ask again."))  # fmt: skip
    shown = found[:MOST_ROWS]
    names = book.say("、", ", ").join(gpu.name for gpu in shown)
    more = book.say(f"（共 {len(found)} 种，列出显存最小的 {MOST_ROWS} 种）", f" ({len(found)} in all, the {MOST_ROWS} of the least memory)") if len(found) > MOST_ROWS else ""  # fmt: skip
    return book.finding(
        "answered",
        book.say(f"**满足条件的卡：{names}**{more}", f"**Cards that meet this: {names}**{more}"),
        book.say(f"条件：{asked_zh}。", f"Conditions: {asked_en}."),
        _table(shown, [c.column for c in conditions], book),
        render.bullets(_notes(conditions, book)),
    )


def _for_sale(gpu: Gpu) -> bool:
    return not gpu.variant and gpu.vendor not in REMOTE and "only" not in gpu.form_factor


def _conditions(request: Request, text: str) -> list[_Condition]:
    found = [
        _Condition(f"硬件支持 {name.upper()}", f"{name.upper()} in hardware", _has(column), column)
        for name, column in PRECISIONS.items()
        if re.search(rf"(?<![a-z0-9]){name}(?![a-z0-9])", text)
    ]
    found += _memory(request, text)
    no_sxm = NO_SXM.search(text)
    if PCIE.search(text) or no_sxm:
        found.append(
            _Condition("PCIe 卡", "a PCIe card", lambda gpu: gpu.form_factor.startswith("PCIe"), "form_factor")
        )
    elif SXM.search(text):
        found.append(_Condition("SXM", "SXM", lambda gpu: gpu.form_factor.startswith("SXM"), "form_factor"))
    if NVLINK.search(text) and not NO_NVLINK.search(text):
        found.append(_Condition("有 NVLink", "NVLink", lambda gpu: gpu.nvlink_gb_per_s is not None, "nvlink_gb_per_s"))
    if watts := WATTS.search(text):
        most = Decimal(watts["a"] or watts["b"])
        found.append(_Condition(f"不超过 {most} W", f"at most {most} W", lambda gpu: gpu.tdp_w is not None and gpu.tdp_w.high <= most, "tdp_w"))  # fmt: skip
    if found:
        found += [
            _Condition(vendor, vendor, lambda gpu, vendor=vendor: gpu.vendor == vendor, "vendor")  # type: ignore[misc]
            for vendor, words in VENDORS.items()
            if words.search(text)
        ]
    return found


def _has(column: str) -> Callable[[Gpu], bool]:
    """Whether a row gives the figure, or its compute capability is one that has the format (RTX PRO 5000: no figure, 12.0)."""
    least = LEAST_CAPABILITY[column]
    return lambda gpu: (
        getattr(gpu, column) is not None
        or (gpu.vendor == "NVIDIA" and bool(gpu.compute_capability) and Decimal(gpu.compute_capability) >= least)
    )


def _memory(request: Request, text: str) -> list[_Condition]:
    """At least so many GB; exactly so many where no word says that more will do and nothing else is asked."""
    sizes = request.slots.memory_gb
    if len(sizes) != 1:
        return []
    size, shown = sizes[0], number(sizes[0])
    if AT_LEAST.search(text):
        return [_Condition(f"显存至少 {shown} GB", f"at least {shown} GB", lambda gpu: gpu.memory is not None and gpu.memory.low >= size, "memory")]  # fmt: skip
    return [_Condition(f"显存 {shown} GB", f"{shown} GB", lambda gpu: gpu.memory is not None and gpu.memory.low == size, "memory")]  # fmt: skip


def _table(gpus: Sequence[Gpu], asked: Sequence[str], book: Ledger) -> str:
    known = {cell.column for cell in gpu_cells(gpus[0])}
    columns = list(dict.fromkeys([*(c for c in asked if c in known), *COLUMNS]))
    labels = {cell.column: book.say(*cell.label) for cell in gpu_cells(gpus[0])}
    missing = book.say("未知", "not known")
    rows = [[f"{gpu.name} {book.cite_gpu(gpu)}", *(value(gpu, column, book) or missing for column in columns)] for gpu in gpus]  # fmt: skip
    return render.table([book.say("卡", "Card"), *(labels[column] for column in columns)], rows)


def _notes(conditions: Sequence[_Condition], book: Ledger) -> list[str]:
    lines = [book.say("只按规格筛选，没有看价格、供货和驱动支持；改装卡没有列入。",
                      "Filtered by specification alone: prices, supply and drivers were not looked at, and modified cards are left out.")]  # fmt: skip
    if any(c.column in PRECISIONS.values() for c in conditions):
        lines.append(book.say("没有算力数字的卡按计算能力判断是否支持这种精度；算力都是稠密值。",
                              "Where no figure is on file, the compute capability tells whether the card has this precision; figures are dense."))  # fmt: skip
    return lines
