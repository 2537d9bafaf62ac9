"""Which card a name in a table means, and whether the figures of a new card can be true.

The bounds are those that the rows of gpus.csv keep, with room above and below for cards to come.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from ingest.spec_columns import UNIT_OF, Figure
from knowledge.card_forms import ANYWHERE, all_forms
from knowledge.gpu_names import gpu_forms
from knowledge.hardware_cells import figure
from knowledge.names import link, normalise
from knowledge.own_cards import own_cards
from knowledge.spellings import fold, squeeze

LONGEST_NAME, SHORTEST_NAME = 60, 3
BOUNDS: dict[str, tuple[Decimal | int, int]] = {
    "memory": (1, 2_048), "bandwidth_gb_per_s": (20, 50_000), "fp32_tflops": (Decimal("0.5"), 5_000), "fp16_tflops": (1, 50_000),
    "bf16_tflops": (1, 50_000), "fp8_tflops": (2, 100_000), "int8_tops": (2, 100_000), "tdp_w": (5, 5_000),
}  # fmt: skip
FIRST_YEAR = 2006
# FP8 runs at once to twice the 16-bit rate; a sparse figure in one of the columns makes it half or four times.
EIGHT_TO_SIXTEEN_BITS = (Decimal("0.9"), Decimal("2.3"))
# What tensor cores of an architecture cannot do.
CANNOT = {
    "bf16_tflops": ("pascal", "volta", "turing"), "fp16_tflops": ("pascal",), "fp8_tflops": ("pascal", "volta", "turing", "ampere"),
}  # fmt: skip
# Words with digits that are no card: precisions, sizes, interfaces, software.
NO_CARD = re.compile(
    r"(?:fp|bf|tf|int|uint|hbm|gddr|lpddr|ddr|pcie|nvlink|nvl|sxm|cuda|rocm|usb|gen|top|no|v|q|table|表)[ .-]?\d+(?:[. ]\d+)?\w?"
    r"|[\d.,\s]+(?:gi?b|mi?b|tb|w|tflops|tops|x|%)?|\d{4}[年/.-].*",
    re.I,
)  # fmt: skip
WRITABLE = re.compile(r"[\w .+()/-]+")


@dataclass(frozen=True)
class CardName:
    """A name of a table: `known` are the forms we have of it, else `family` is how a new card is called.

    `problem` (zh, en) says why it can be neither.
    """

    name: str
    known: tuple[str, ...] = ()
    family: str = ""
    problem: tuple[str, str] | None = None


def card_name(written: str, document_id: str) -> CardName:
    """What a cell names. A card that this document itself brought is new again, so that it can be corrected."""
    name = " ".join(normalise(written).split())
    own = {squeeze(card.name): card for card in own_cards()}
    if card := own.get(squeeze(name)):
        return CardName(name, family=card.family) if card.document_id == document_id else CardName(name, (card.name,))
    meant = gpu_forms(name)
    if meant.forms:
        return CardName(name, meant.forms)
    if meant.family and meant.kind == "unknown":
        family = meant.family
        return CardName(name, problem=(f"{name!r}：{family} 没有这种形态，没有收下", f"{name!r} is no form of the {family} that we have; not taken"))  # fmt: skip
    if meant.family:
        return CardName(name, family=meant.family)
    problem = _problem(name)
    return CardName(name, problem=problem) if problem else CardName(name, family=_family(name))


def implausible(name: str, figures: Mapping[str, Figure], texts: Mapping[str, str]) -> tuple[str, str] | None:
    """Why the figures of a new card cannot be true (zh, en); None if nothing speaks against them."""
    for column, value in figures.items():
        low, high = BOUNDS[column]
        if not low <= value.value <= high:
            unit = UNIT_OF.get(column, "TFLOPS")
            said = f"{name} {column} = {figure(value.value)} {unit}"
            return f"{said}：不在 {low}–{high:,} 之内，没有收下", f"{said} is not within {low}-{high:,}; not taken"
    return _ratio(name, figures) or _architecture(name, figures, texts) or _year(name, texts)


def _ratio(name: str, figures: Mapping[str, Figure]) -> tuple[str, str] | None:
    eight, sixteen = figures.get("fp8_tflops"), figures.get("bf16_tflops") or figures.get("fp16_tflops")
    if not eight or not sixteen:
        return None
    low, high = EIGHT_TO_SIXTEEN_BITS
    ratio = eight.value / sixteen.value
    if low <= ratio <= high:
        return None
    return (
        f"{name}：FP8 是 16 位算力的 {figure(round(ratio, 2))} 倍，有一个是带稀疏的值，没有收下",
        f"{name}: FP8 is {figure(round(ratio, 2))} times the 16-bit rate, so one of them is with sparsity; not taken",
    )


def _architecture(name: str, figures: Mapping[str, Figure], texts: Mapping[str, str]) -> tuple[str, str] | None:
    architecture = texts.get("architecture", "").lower()
    for column, those in CANNOT.items():
        if column in figures and any(word in architecture for word in those):
            return (f"{name}：{texts['architecture']} 架构没有 {column}，没有收下", f"{name}: {texts['architecture']} has no {column}; not taken")  # fmt: skip
    return None


def _year(name: str, texts: Mapping[str, str]) -> tuple[str, str] | None:
    year = texts.get("release_year", "")
    if not year or FIRST_YEAR <= int(year) <= date.today().year + 2:
        return None
    return f"{name}：发布年份 {year} 不合理，没有收下", f"{name}: release year {year} is not plausible; not taken"


def _problem(name: str) -> tuple[str, str] | None:
    """Why a name that no table has cannot be that of a new card."""
    links = link(name)
    if any(item.kind == "gpu" for item in links):
        return f"{name!r} 不止一款显卡", f"{name!r} names more than one card"
    whole = [item for item in links if item.text == name and item.kind in ("model", "provider", "method", "workload")]
    fits = SHORTEST_NAME <= len(name) <= LONGEST_NAME and WRITABLE.fullmatch(name)
    coded = re.search(r"\d", name) and re.search(r"[^\W\d_]", name)
    if whole or any(item.kind == "model" for item in links) or not fits or not coded or NO_CARD.fullmatch(name):
        return f"{name!r} 不像显卡的型号", f"{name!r} does not look like the name of a card"
    return None


def _family(name: str) -> str:
    """The name without sizes and sockets, as people ask for it: MTT S4000 of "MTT S4000 48GB"."""
    parts, at = [], 0
    for match in ANYWHERE.finditer(fold(name)):
        parts.append(name[at : match.start()])
        at = match.end()
    short = " ".join("".join([*parts, name[at:]]).replace("()", " ").split()).strip(" -/")
    taken = any(squeeze(form.name) == squeeze(short) for form in all_forms())
    return short if not taken and not _problem(short) else name
