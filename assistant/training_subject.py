"""What a question about training is about: the models or sizes it names, and the cards it would run on.

Picks rows of models.csv and gpus.csv; it computes no memory, time or cost.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from assistant import render
from assistant.calculator.calculation import number
from assistant.calculator.shapes import GpuSpec, ModelShape
from assistant.ledger import Ledger
from assistant.shape_rows import gpu_spec, model_shape
from assistant.understand import Request
from knowledge.hardware import BILLION, Gpu, Model
from knowledge.names import model_name

NEAR_SIZE = Decimal("0.2")  # a row whose size is further off lends no shape
CLOSE_SIZE = Decimal("0.1")  # so near, the usual family stands before an older model of that name (30B: not MPT)
# Whose shape a bare size takes, first come first.
USUAL = ("Qwen2.5", "Llama-3.1", "Llama-2", "Qwen3", "Llama-3", "Yi", "ChatGLM3", "DeepSeek-V3")
DISTILLED = re.compile("Distill")
CARD_SIZES_GB = (Decimal(4), Decimal(300))  # of one card; other memory sizes said are not a card's
ON_NVLINK_BOARD = re.compile(r"SXM|NVL\b")


@dataclass(frozen=True)
class Trained:
    """A model to train; of a size without a name the `lender` is the row whose layers and width are taken."""

    label: str
    parameters: Decimal
    shape: ModelShape | None
    row: Model | None = None
    lender: str | None = None

    @property
    def arguments(self) -> dict[str, object]:
        """The model as calculators take it."""
        return {"model": self.shape} if self.shape else {"parameters": self.parameters}

    @property
    def active_parameters(self) -> Decimal:
        """What one token passes through."""
        return self.shape.active_parameters if self.shape else self.parameters

    @property
    def billions(self) -> str:
        """7, 7.616, 1000."""
        return _plain(self.parameters / BILLION)

    @property
    def is_mixture(self) -> bool:
        return self.active_parameters < self.parameters


@dataclass(frozen=True)
class CardAsked:
    """A card in question; `gpu` is its row, None where only a memory size was said."""

    label: str
    spec: GpuSpec
    gpu: Gpu | None


def trained(request: Request, book: Ledger) -> list[Trained]:
    """The models named, else the sizes said; empty where there is neither."""
    rows = [row for key in request.slots.models if (row := book.catalog.model(model_name(key) or ""))]
    named = [of_row(row) for row in dict.fromkeys(rows)]
    return named or [_of_size(size, book) for size in dict.fromkeys(request.slots.parameters_b)]


def of_row(row: Model) -> Trained:
    """A row of models.csv as a model to train."""
    return Trained(row.name, row.parameters, model_shape(row), row)


def _of_size(billions: Decimal, book: Ledger) -> Trained:
    """ "7B" on its own: exactly so many parameters, in the shape of the row that is called so."""
    parameters, label = billions * BILLION, f"{_plain(billions)}B"
    row = usual_row(parameters, book)
    mixture = row is not None and row.active_parameters < row.parameters
    if row is None or (mixture and not _is_size(row, parameters)):  # a bare size is dense unless it is that mixture's
        return Trained(label, parameters, None)
    active = (parameters * row.active_parameters / row.parameters).quantize(Decimal(1)) if mixture else parameters
    sized = model_shape(row).model_copy(update={"name": label, "parameters": parameters, "active_parameters": active})
    return Trained(label, parameters, sized, row, row.name)


def usual_row(parameters: Decimal, book: Ledger) -> Model | None:
    """The row whose shape a bare size takes: a dense model that is mostly run under it today, before any mixture."""
    dense = [m for m in book.catalog.models if m.active_parameters == m.parameters and not DISTILLED.search(m.name)]
    mixtures = [m for m in book.catalog.models if m.active_parameters < m.parameters]
    called = [m for m in dense if _is_called(m, parameters)]
    return (
        _usual_first(called, parameters)
        or _nearest([m for m in dense if m.name.startswith(f"{USUAL[0]}-")], parameters, CLOSE_SIZE)
        or next(iter(called), None)
        or _usual_first([m for m in mixtures if _is_size(m, parameters)], parameters)
        or next((m for m in mixtures if _is_size(m, parameters)), None)
        or _nearest(dense, parameters, NEAR_SIZE)
        or next((m for m in mixtures if _is_called(m, parameters)), None)
    )


def _usual_first(models: Sequence[Model], parameters: Decimal) -> Model | None:
    """Of several models of a size the one of the family that is run most; of that family the nearest in size."""
    for family in USUAL:
        if rows := [m for m in models if m.name.startswith(f"{family}-") or m.name == family]:
            return min(rows, key=lambda m: abs(m.parameters - parameters))
    return None


def _nearest(models: Sequence[Model], parameters: Decimal, share: Decimal) -> Model | None:
    near = [m for m in models if abs(m.parameters - parameters) <= share * parameters]
    return min(near, key=lambda m: abs(m.parameters - parameters), default=None)


def _is_called(model: Model, parameters: Decimal) -> bool:
    """Whether the name says this size, or it is this size."""
    said = re.search(rf"(?<![\d.x]){re.escape(_plain((parameters / BILLION).normalize()))}B(?![a-z0-9])", model.name, re.I)  # fmt: skip
    return bool(said) or _is_size(model, parameters)


def _is_size(model: Model, parameters: Decimal) -> bool:
    """To a hundredth: 671B is in no name."""
    return abs(model.parameters - parameters) <= parameters / 100


def _plain(value: Decimal) -> str:
    """Digits without thousands separators: 1000."""
    return number(value).replace(",", "")


def cards_by_memory(request: Request, book: Ledger) -> list[CardAsked]:
    """One entry for each memory size of the cards named, or for each size said without a card."""
    found = []
    for family in request.slots.gpus:
        first: dict[Decimal, CardAsked] = {}
        for gpu, spec in _meant(family, request, book):
            label = f"{_name(family, book)} {number(spec.memory_gib)} GB"
            first.setdefault(spec.memory_gib, CardAsked(label, spec, gpu))
        found += [first[size] for size in sorted(first)]
    if found:
        return found
    sizes = [size for size in request.slots.memory_gb if CARD_SIZES_GB[0] <= size <= CARD_SIZES_GB[1]]
    return [bare_card(size, book) for size in dict.fromkeys(sizes)]


def cards_by_speed(request: Request, book: Ledger) -> list[CardAsked]:
    """One entry for each dense 16-bit peak of the cards named, NVLink boards first; cards without a peak are left out."""
    found: list[CardAsked] = []
    for family in request.slots.gpus:
        first: dict[Decimal, CardAsked] = {}
        pairs = _meant(family, request, book)
        for gpu, spec in pairs:
            if rate := peak(spec):
                first.setdefault(rate, CardAsked(gpu.name, spec, gpu))
        alike = len(first) == 1 and len(pairs) > 1  # of 40 or 80 GB, the speed is the same
        found += [replace(card, label=_name(family, book)) if alike else card for card in first.values()]
    return found


def peak(spec: GpuSpec) -> Decimal | None:
    """Dense TFLOPS of 16-bit training: BF16, or FP16 where the card has no BF16."""
    return spec.bf16_tflops or spec.fp16_tflops


def bare_card(size: Decimal, book: Ledger) -> CardAsked:
    """Any card of so many GB."""
    gigabytes = f"{number(size)} GB"
    return CardAsked(book.say(f"{gigabytes} 的卡", f"{gigabytes} card"), GpuSpec(name=gigabytes, memory_gib=size), None)


def _meant(family: str, request: Request, book: Ledger) -> list[tuple[Gpu, GpuSpec]]:
    """The forms of a family that the question means, those on NVLink boards first."""
    s = request.slots
    forms = book.catalog.gpus_of(family)
    named = [gpu for gpu in forms if gpu.name in s.forms]
    sized = [gpu for gpu in forms if gpu.memory and gpu.memory.low in s.memory_gb]
    pairs = [(gpu, spec) for gpu in named or sized or forms if (spec := gpu_spec(gpu))]
    return sorted(pairs, key=lambda pair: not ON_NVLINK_BOARD.search(pair[0].name))


def _name(family: str, book: Ledger) -> str:
    return render.name("gpu", family, book.language)
