"""What a question about running a model is about: the model or size, its precisions, and how long and how many requests.

Fills in what an expert would take and keeps what was taken, so that the answer can say so; it computes nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import get_args

from assistant.calculator.calculation import number
from assistant.calculator.precision import CachePrecision, WeightPrecision
from assistant.ledger import Ledger
from assistant.shape_rows import gpu_spec, model_shape
from assistant.training_subject import NEAR_SIZE, CardAsked, Trained, cards_by_memory, of_row, trained
from assistant.understand import Request
from assistant.workload import Workload
from knowledge.hardware import BILLION, Model

Served = Trained  # named or of a size, with the row whose shape is taken
CONTEXT_TOKENS = 4096
INPUT_TOKENS, OUTPUT_TOKENS = 1024, 512
UNSAID = ("bf16", "int8", "int4")
# Whose shape a bare size takes, first come first: what is mostly run under that size today.
TYPICAL = ("Qwen2.5", "Llama-3.1", "Llama-2", "Qwen3", "Llama-3", "Yi", "ChatGLM3", "DeepSeek-V3")
# Checkpoints that are published in fewer bits than 16 (DeepSeek-V3, arXiv 2412.19437; gpt-oss model card).
PUBLISHED_IN = (("DeepSeek-V3", "fp8"), ("DeepSeek-R1", "fp8"), ("gpt-oss", "mxfp4"))
# What most people mean by the name alone.
BARE_FAMILIES = ((re.compile("mixtral", re.I), "Mixtral-8x7B"), (re.compile(r"deepseek[\s-]*r1(?![\w-])|满血", re.I), "DeepSeek-R1"),
                 (re.compile(r"deepseek[\s-]*v3(?!\w)", re.I), "DeepSeek-V3"))  # fmt: skip
DISTILLED = re.compile("Distill")
GGUF = {"q2": "q2_k", "q3": "q3_k_m", "q4": "q4_k_m", "q5": "q5_k_m", "q6": "q6_k", "q8": "q8_0"}
CACHE_NAMES = {"int4": "q4_0", "q4_k_m": "q4_0", "int3": "q4_0", "nf4": "q4_0"}
LATE_TOKENS = 4  # of a stated context without lengths, one part in so many is the answer


@dataclass(frozen=True)
class Use:
    """How a model is run. `precisions` are the ones to compare, `native` the one it is published in if below 16 bits."""

    precisions: tuple[str, ...]
    kv_precision: str
    context_tokens: int
    sequences: int
    engine: str
    memory_share: Decimal
    precision_taken: bool
    context_taken: bool
    native: str | None = None

    @property
    def main(self) -> str:
        """The precision that stands for the model where one has to."""
        return self.precisions[0]


@dataclass(frozen=True)
class Lengths:
    """Tokens of one request; `taken` where nobody said them."""

    input_tokens: int
    output_tokens: int
    taken: bool


def served(request: Request, book: Ledger) -> list[Served]:
    """The models named, else the sizes said in the shape that is usual for them today; empty where there is neither."""
    named = trained(request, book)
    if not named and (row := book.catalog.model(bare_family(request) or "")):
        return [of_row(row)]
    return [_usual(model, book) if model.label != (model.row.name if model.row else "") else model for model in named]


def cards_asked(request: Request, book: Ledger) -> list[CardAsked]:
    """The cards in question, one for each memory size; a modified card that was named stands for its family."""
    modified = [gpu for form in request.slots.forms if (gpu := book.catalog.gpu(form)) and gpu.variant]
    named = [CardAsked(gpu.name, spec, gpu) for gpu in modified if (spec := gpu_spec(gpu))]
    families = {family for gpu in modified for family in gpu.families}
    others = tuple(gpu for gpu in request.slots.gpus if gpu not in families)
    if named and not others:
        return named
    return named + cards_by_memory(replace(request, slots=replace(request.slots, gpus=others)), book)


def bare_family(request: Request) -> str | None:
    """The model that is meant by a family's name alone, if no model or size was said."""
    if request.slots.models or request.slots.parameters_b:
        return None
    return next((model for words, model in BARE_FAMILIES if words.search(request.search_text)), None)


def use_of(model: Served, work: Workload) -> Use:
    """What was said of the run, and the usual where nothing was."""
    native = next((bits for name, bits in PUBLISHED_IN if model.label.startswith(name) and not DISTILLED.search(model.label)), None)  # fmt: skip
    precisions = _precisions(work, native)
    lengths = (work.input_tokens or 0) + (work.output_tokens or 0)
    context = work.context_tokens or lengths or _default_context(model)
    return Use(
        precisions=precisions, kv_precision=_cache_precision(work.kv_precision), context_tokens=context,
        sequences=work.concurrency or work.batch_size or 1,
        engine="llama.cpp" if precisions[0] in GGUF_FORMATS else "vllm",
        memory_share=work.gpu_memory_utilization or Decimal("0.9"),
        precision_taken=work.precision is None and work.quantised is None,
        context_taken=not (work.context_tokens or lengths), native=native,
    )  # fmt: skip


def lengths_of(model: Served, work: Workload) -> Lengths:
    """Prompt and answer of one request, within what the model can read."""
    said_in, said_out, context = work.input_tokens, work.output_tokens, work.context_tokens
    limit = model.shape.context_tokens if model.shape and model.shape.context_tokens else None
    if said_in or said_out:
        output = said_out or OUTPUT_TOKENS
        return Lengths(
            said_in or max(1, (context or INPUT_TOKENS + output) - output), output, not (said_in and said_out)
        )
    if context:
        output = min(OUTPUT_TOKENS, max(1, context // LATE_TOKENS))
        return Lengths(max(1, context - output), output, True)
    if limit and limit < INPUT_TOKENS + OUTPUT_TOKENS:
        return Lengths(limit // 2, limit // 2, True)
    return Lengths(INPUT_TOKENS, OUTPUT_TOKENS, True)


def weight_precision(said: str) -> str:
    """The calculators' name of a precision: GGUF variants are read as the common one of their bits."""
    if said in get_args(WeightPrecision):
        return said
    return GGUF.get(said[:2], "q4_k_m")


def models_of_size(model: Served, book: Ledger) -> list[Model]:
    """All dense models that are called by this size, in the order of the table."""
    return [m for m in book.catalog.models if m.active_parameters == m.parameters and _called(m, model.parameters)]


GGUF_FORMATS = frozenset(GGUF.values()) | {"q4_0"}


def _precisions(work: Workload, native: str | None) -> tuple[str, ...]:
    if work.precision:
        return (weight_precision(work.precision),)
    if work.quantised is not None:
        return ("int8", "int4") if work.quantised else ("bf16",)
    if native == "mxfp4":
        return (native, "bf16")
    return (native, "bf16", "int4") if native else UNSAID


def _cache_precision(said: str | None) -> str:
    if said is None or said in get_args(CachePrecision):
        return said or "fp16"
    return CACHE_NAMES.get(said, "fp16")


def _default_context(model: Served) -> int:
    limit = model.shape.context_tokens if model.shape else None
    return min(CONTEXT_TOKENS, limit or CONTEXT_TOKENS)


def _usual(model: Served, book: Ledger) -> Served:
    """A bare size in the shape of the model that is mostly run under it."""
    row = _typical(model.parameters, book)
    if row is None:
        return model
    active = model.parameters * row.active_parameters / row.parameters
    shape = model_shape(row).model_copy(
        update={"name": model.label, "parameters": model.parameters, "active_parameters": active.quantize(Decimal(1))}
    )
    return Served(model.label, model.parameters, shape, row, row.name)


def _typical(parameters: Decimal, book: Ledger) -> Model | None:
    called = [m for m in book.catalog.models if _called(m, parameters) and not DISTILLED.search(m.name)]
    for family in TYPICAL:
        if row := next((m for m in called if m.name.startswith(f"{family}-") or m.name == family), None):
            return row
    if called:
        return called[0]
    near = [m for m in book.catalog.models if abs(m.parameters - parameters) <= NEAR_SIZE * parameters]
    return min(near, key=lambda m: (m.active_parameters < m.parameters, abs(m.parameters - parameters)), default=None)


def _called(model: Model, parameters: Decimal) -> bool:
    """Whether the name says this size, or it is the size to a hundredth (671B is in no name)."""
    billions = number((parameters / BILLION).normalize())
    said = re.search(rf"(?<![\d.x]){re.escape(billions)}B(?![a-z0-9])", model.name, re.I)
    return bool(said) or abs(model.parameters - parameters) <= parameters / 100
