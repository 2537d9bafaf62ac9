"""What a question about running a model is about: the model or size, its precisions, and how long and how many requests.

Fills in what an expert would take and keeps what was taken, so that the answer can say so; it computes nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import get_args

from assistant import price_gaps, render
from assistant.calculator.calculation import number
from assistant.calculator.precision import CachePrecision, WeightPrecision
from assistant.evidence import Finding
from assistant.ledger import Ledger
from assistant.shape_rows import gpu_spec, model_shape
from assistant.training_subject import CardAsked, Trained, cards_by_memory, of_row, trained, usual_row
from assistant.understand import Request
from assistant.workload import Workload
from assistant.workload_words import KV_PRECISIONS, PRECISIONS, WITHDRAWN
from knowledge.hardware import BILLION, Model
from knowledge.unknown_names import CLOSED_MODEL, is_model

Served = Trained  # named or of a size, with the row whose shape is taken
CONTEXT_TOKENS = 4096
INPUT_TOKENS, OUTPUT_TOKENS = 1024, 512
UNSAID = ("bf16", "int8", "int4")
# Checkpoints that are published in fewer bits than 16 (DeepSeek-V3, arXiv 2412.19437; gpt-oss model card).
PUBLISHED_IN = (("DeepSeek-V3", "fp8"), ("DeepSeek-R1", "fp8"), ("gpt-oss", "mxfp4"))
# What most people mean by the name alone.
BARE_FAMILIES = ((re.compile("mixtral", re.I), "Mixtral-8x7B"), (re.compile(r"deepseek[\s-]*r1(?![\w-])|满血", re.I), "DeepSeek-R1"),
                 (re.compile(r"deepseek[\s-]*v3(?!\w)", re.I), "DeepSeek-V3"))  # fmt: skip
DISTILLED = re.compile("Distill")
GGUF = {"q2": "q2_k", "q3": "q3_k_m", "q4": "q4_k_m", "q5": "q5_k_m", "q6": "q6_k", "q8": "q8_0"}
CACHE_NAMES = {"int4": "q4_0", "q4_k_m": "q4_0", "int3": "q4_0", "nf4": "q4_0"}
# A context written as "32k" and nothing else, and users beside it: 32k 并发 8, 32k 4 users.
BARE_LENGTH = re.compile(r"(?<![\w.])(?P<kilo>[248]|16|32|64|128|256|512|1024)\s?k(?![a-z0-9])(?!\s*(?:[元块条人张]|个?(?:用户|并发(?!\s*\d))|users?|rows?|usd|rmb|dollars?|samples?|hours?))", re.I)  # fmt: skip
BARE_USERS = re.compile(r"(?:并发|用户数?|concurrency)\D{0,4}?(?P<behind>\d+)(?![\d.]*\s*k)|(?P<before>(?<![\d.])\d+)\s*(?:个|路)?\s*(?:并发|用户|人|users?|requests?)", re.I)  # fmt: skip
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
    share_taken: bool = True  # nobody said how much of a card the engine takes

    @property
    def memory_percent(self) -> str:
        """The usable share of a card, as printed: 90."""
        return number(self.memory_share * 100)

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


def not_on_file(request: Request, book: Ledger) -> Finding | None:
    """A model, card or cloud that no table knows is not answered with another. Closed models count if nothing else is named."""
    s = request.slots
    open_models = [name for name in s.unknown if is_model(name)]
    if s.unknown and not open_models:
        return price_gaps.refuse_unknown(request, book)
    closed = [] if s.models or s.parameters_b else closed_models(request)
    if not open_models and not closed:
        return None
    names = render.joined(open_models or closed, book.language)
    if open_models:
        why = book.say(f"**模型表里没有 {names}**，不拿别的模型代替，也不编造它的参数和结构。",
                       f"**{names} is not in the table of models**: no other model is put in its place and no shape is made up.")  # fmt: skip
    else:
        why = book.say(f"**{names} 是闭源模型**：权重、参数量和结构都没有公布，不能自己部署，也算不出它要多少显存。",
                       f"**{names} is a closed model**: its weights, size and shape are not published, so it cannot be run on one's own cards and its memory cannot be computed.")  # fmt: skip
    how = book.say("知道参数量、层数、KV 头数和每头维度的话，可以用 `calc` 命令或在问题里给出这些数来算；只给出参数量（例如直接说多少 B）能算权重和大致的显存。",
                   "With its parameters, layers, KV heads and head size it can be computed (`calc`); the number of parameters alone, asked as a bare size, gives the weights and the memory roughly.")  # fmt: skip
    return book.finding("not_in_knowledge", why, how)


def closed_models(request: Request) -> list[str]:
    """Closed models that the question names, as it writes them."""
    return list(dict.fromkeys(match.group().strip() for match in CLOSED_MODEL.finditer(request.question)))


def with_lengths(request: Request) -> Request:
    """The request with a bare "32k" as its context where no length was said; a "32k 并发 8" has 8 users, not 32,000."""
    work = request.slots.workload
    found = BARE_LENGTH.search(request.question)
    if found is None or work.context_tokens or work.input_tokens or work.output_tokens:
        return request
    kilo, users = int(found["kilo"]), work.concurrency
    if users in (None, kilo * 1000, kilo * 1024):
        beside = BARE_USERS.search(BARE_LENGTH.sub(" ", request.question))
        users = int(beside["behind"] or beside["before"]) or None if beside else None
    said = replace(work, context_tokens=kilo * 1024, concurrency=users)
    return replace(request, slots=replace(request.slots, workload=said))


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
        share_taken=work.gpu_memory_utilization is None,
    )  # fmt: skip


def use_asked(model: Served, request: Request) -> Use:
    """use_of, with every precision that the question names of the weights, in its order."""
    use, named = use_of(model, request.slots.workload), precisions_named(request.question)
    if use.precision_taken or use.precisions[0] not in named or len(named) < 2:
        return use
    return replace(use, precisions=named)


def precisions_named(question: str) -> tuple[str, ...]:
    """Weight precisions of a question, without the cache's and those withdrawn; in the order of the text."""
    text = question.lower()
    for words in KV_PRECISIONS:
        text = words.sub(" ", text)
    places: dict[str, int] = {}
    for name, words in PRECISIONS:
        for match in words.finditer(text):
            if name != "gguf" and not WITHDRAWN.search(text[: match.start()]):
                places.setdefault(weight_precision(name), match.start())
            text = text[: match.start()] + " " * len(match.group()) + text[match.end() :]
    return tuple(sorted(places, key=places.__getitem__))


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
    """As in questions of training: a bare size is dense unless it is exactly that of a mixture."""
    row = usual_row(parameters, book)
    mixture = row is not None and row.active_parameters < row.parameters
    return None if row is None or (mixture and not _called(row, parameters)) else row


def _called(model: Model, parameters: Decimal) -> bool:
    """Whether the name says this size, or it is the size to a hundredth (671B is in no name)."""
    billions = number((parameters / BILLION).normalize())
    said = re.search(rf"(?<![\d.x]){re.escape(billions)}B(?![a-z0-9])", model.name, re.I)
    return bool(said) or abs(model.parameters - parameters) <= parameters / 100
