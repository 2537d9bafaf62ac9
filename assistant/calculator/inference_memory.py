"""What memory serving a model takes, part by part, and how many cards hold a need that is stated outright.

`cards_needed` and `total_memory` take the need as given; `inference_memory` derives it from a model's shape.
Whether it fits a card is the business of inference_fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from pydantic import model_validator

from assistant.calculator.calculation import Amount, Assumption, Calculation, Count, Parameters, number, whole_times
from assistant.calculator.kv_cache import ContextTokens, cache_bytes_per_gpu, check_split
from assistant.calculator.model_memory import (
    counted,
    embedding_of,
    stage_share,
    typical_embedding,
    typical_hidden_size,
    typical_shape_note,
    weight_bytes,
)
from assistant.calculator.precision import (
    BINARY_UNITS,
    CACHE_BYTES,
    EFFECTIVE_BITS,
    GIB,
    BitsPerWeight,
    CachePrecision,
    WeightPrecision,
    gb,
    gib,
    keeps_embeddings,
)
from assistant.calculator.shapes import ModelShape
from assistant.evidence import Bilingual, Frozen

BY_MEMORY_ALONE = Assumption(
    name="overhead", value="0 GB",
    text=Bilingual(
        zh="只按显存容量相除，未留运行时余量，也未考虑张量并行能否均分",
        en="by memory alone: no runtime headroom, and whether tensor parallelism can split evenly is not checked",
    ),
)  # fmt: skip


class CardsNeededInput(Frozen):
    """A need of `memory_min_gb` to `memory_max_gb` GB, cards of `card_memory_gb` GB, and how many are at hand."""

    memory_min_gb: Amount
    memory_max_gb: Amount
    card_memory_gb: Amount
    cards: Count = 1

    @model_validator(mode="after")
    def _ordered(self) -> CardsNeededInput:
        if self.memory_max_gb < self.memory_min_gb:
            raise ValueError(f"memory_max_gb {self.memory_max_gb} is below memory_min_gb {self.memory_min_gb}")
        return self


def cards_needed(given: CardsNeededInput) -> Calculation:
    """cards = ceil(need / memory of one card), for both ends of the need; and what `cards` cards hold."""
    needs = dict.fromkeys((given.memory_min_gb, given.memory_max_gb))  # both ends, or the one if they are equal
    cards = [_cards(need, given.card_memory_gb) for need in needs]
    total = given.card_memory_gb * given.cards
    card = number(given.card_memory_gb)
    formula = "; ".join(f"ceil({number(need)} GB ÷ {card} GB) = {n}" for need, n in zip(needs, cards, strict=True))
    return Calculation(
        value=Decimal(cards[0]), unit="card", formula=formula,
        outputs={"cards_min": cards[0], "cards_max": cards[-1], "total_memory_gb": total, "cards": given.cards,
                 "headroom_gb": total - given.memory_min_gb,
                 "fits": _fits(total, given)},
        assumptions=(BY_MEMORY_ALONE,),
    )  # fmt: skip


def _cards(need: Decimal, card: Decimal) -> int:
    whole = whole_times(need, card)
    return whole if whole * card == need else whole + 1


def _fits(total: Decimal, given: CardsNeededInput) -> str:
    if total <= given.memory_min_gb:
        return "just" if total == given.memory_min_gb else "no"
    return "yes" if total >= given.memory_max_gb else "partly"


class TotalMemoryInput(Frozen):
    """`cards` cards of `card_memory_gb` GB each."""

    cards: Count
    card_memory_gb: Amount


def total_memory(given: TotalMemoryInput) -> Calculation:
    """total = cards x memory of one card."""
    total = given.card_memory_gb * given.cards
    return Calculation(
        value=total, unit="GB", formula=f"{given.cards:,} × {number(given.card_memory_gb)} GB = {number(total)} GB",
        outputs={"total_memory_gb": total, "cards": given.cards},
    )  # fmt: skip


Engine = Literal["vllm", "sglang", "tensorrt-llm", "transformers", "llama.cpp", "gpt-fast"]
# GiB per GPU besides weights, cache and activations: CUDA context, libraries, NCCL, graphs. (low, high) on one GPU
# and on several. Measured: context and libraries 0.4-0.5 on a 3090; vLLM 1.8 alone and 3.6 with two (its pull
# request 10511); ollama reserves 457 MiB.
SERVER = ((Decimal("1.0"), Decimal("1.8")), (Decimal("2.0"), Decimal("3.6")))
SCRIPT = ((Decimal("0.4"), Decimal("0.65")), (Decimal("0.8"), Decimal("1.6")))
LLAMA_CPP = ((Decimal("0.45"), Decimal("0.65")),) * 2
OVERHEAD_GIB = {
    "vllm": SERVER, "sglang": SERVER, "tensorrt-llm": SERVER, "transformers": SCRIPT, "gpt-fast": SCRIPT,
    "llama.cpp": LLAMA_CPP,
}  # fmt: skip
PREFILL_TOKENS = {"llama.cpp": 512}  # tokens computed at once; llama.cpp's n_ubatch
USUAL_PREFILL_TOKENS = 2048  # vLLM's max_num_batched_tokens
NO_CONTEXT = Assumption(
    name="context_tokens", value="0",
    text=Bilingual(
        zh="未给出上下文长度：未计入 KV 缓存与激活",
        en="no context length was given: KV cache and activations are not counted",
    ),
)  # fmt: skip


class InferenceMemoryInput(Frozen):
    """A model served to `sequences` concurrent requests of `context_tokens` tokens each (prompt and answer).

    Give `model`, or `parameters` when only the size is known; a context then needs `kv_bytes_per_token` as well.
    `weights_gib` replaces the computed weights by a known file size, `bits_per_weight` the format's bits.
    """

    model: ModelShape | None = None
    parameters: Parameters | None = None
    precision: WeightPrecision = "bf16"
    bits_per_weight: BitsPerWeight | None = None
    weights_gib: Amount | None = None
    context_tokens: ContextTokens | None = None
    sequences: Count = 1
    kv_precision: CachePrecision = "fp16"
    kv_bytes_per_token: Amount | None = None
    tensor_parallel: Count = 1
    pipeline_parallel: Count = 1
    engine: Engine = "vllm"

    @model_validator(mode="after")
    def _answerable(self) -> InferenceMemoryInput:
        if self.model is None and self.parameters is None and self.weights_gib is None:
            raise ValueError("give model, parameters or weights_gib")
        if self.model is not None and self.parameters is not None:
            raise ValueError(f"give either model or parameters ({self.parameters}), not both")
        if self.context_tokens and self.model is None and self.kv_bytes_per_token is None:
            raise ValueError(
                f"the cache of {self.context_tokens} tokens depends on the model's layers and KV heads, which the size "
                "does not tell: give model or kv_bytes_per_token"
            )
        if self.model is not None:
            check_split(self.model, self.tensor_parallel, self.pipeline_parallel)
        return self


@dataclass(frozen=True)
class GpuParts:
    """What lies on the fullest GPU, in bytes; the overhead is a range."""

    weights: Decimal
    cache: Decimal
    activations: Decimal
    overhead_low: Decimal
    overhead_high: Decimal

    @property
    def low(self) -> Decimal:
        return self.weights + self.cache + self.activations + self.overhead_low

    @property
    def high(self) -> Decimal:
        return self.weights + self.cache + self.activations + self.overhead_high


def inference_memory(given: InferenceMemoryInput) -> Calculation:
    """total = GPUs x (weights + KV cache + activations + overhead); the value is the middle of the overhead's range."""
    parts = gpu_parts(given, given.tensor_parallel, given.pipeline_parallel)
    gpus = given.tensor_parallel * given.pipeline_parallel
    low, high = parts.low * gpus, parts.high * gpus
    middle = (low + high) / 2
    each = f"{gib(parts.weights)} + {gib(parts.cache)} + {gib(parts.activations)}"
    overhead = f"({gib(parts.overhead_low):.2f} … {gib(parts.overhead_high):.2f})"
    times = f"{gpus} × " if gpus > 1 else ""
    return Calculation(
        value=gib(middle), unit="GiB",
        formula=f"{times}({each} + {overhead}) GiB = {gib(low):,} … {gib(high):,} GiB",
        outputs={"total_gib": gib(middle), "total_gb": gb(middle), "total_low_gib": gib(low), "total_high_gib": gib(high),
                 "per_gpu_low_gib": gib(parts.low), "per_gpu_high_gib": gib(parts.high),
                 "weights_gib": gib(parts.weights * gpus), "kv_cache_gib": gib(parts.cache * gpus),
                 "activations_gib": gib(parts.activations * gpus), "gpus": gpus},
        assumptions=inference_notes(given),
        rows=part_rows(parts),
        changes_most=changes_most(parts),
    )  # fmt: skip


def gpu_parts(given: InferenceMemoryInput, tensor: int, pipeline: int) -> GpuParts:
    """The parts on the fullest of tensor x pipeline GPUs."""
    low, high = OVERHEAD_GIB[given.engine][tensor * pipeline > 1]
    return GpuParts(
        weights=loaded_weights(given) / tensor * stage_share(given.model, pipeline),
        cache=cache_of_sequence(given, given.context_tokens, tensor, pipeline) * given.sequences,
        activations=_activations(given, tensor),
        overhead_low=low * GIB, overhead_high=high * GIB,
    )  # fmt: skip


def loaded_weights(given: InferenceMemoryInput) -> Decimal:
    """Bytes of weights that GPUs hold together. llama.cpp leaves an input embedding of its own in host memory."""
    if given.weights_gib is not None:
        size = given.weights_gib * GIB
    else:
        size = _computed_weights(given, counted(given.model, given.parameters))
    if given.engine == "llama.cpp" and given.model is not None and not given.model.tied_embeddings:
        size -= size * given.model.embedding_parameters / 2 / given.model.parameters
    return size


def _computed_weights(given: InferenceMemoryInput, parameters: Decimal) -> Decimal:
    if given.bits_per_weight is None:
        return weight_bytes(given.model, parameters, given.precision)
    quantised = given.bits_per_weight < 16 and (given.precision == "bf16" or keeps_embeddings(given.precision))
    kept = embedding_of(given.model, parameters) if quantised else Decimal(0)
    return ((parameters - kept) * given.bits_per_weight + kept * EFFECTIVE_BITS["bf16"]) / 8


def cache_of_sequence(given: InferenceMemoryInput, tokens: int | None, tensor: int, pipeline: int) -> Decimal:
    """Bytes of one sequence's cache on the fullest GPU; a stated size per token is one GPU's share of the model."""
    if tokens is None:
        return Decimal(0)
    if given.kv_bytes_per_token is not None:
        return given.kv_bytes_per_token * tokens / pipeline
    if given.model is None:
        raise ValueError(f"the cache of {tokens} tokens needs model or kv_bytes_per_token")
    return cache_bytes_per_gpu(given.model, tokens, CACHE_BYTES[given.kv_precision], tensor, pipeline)


def _activations(given: InferenceMemoryInput, tensor: int) -> Decimal:
    """tokens x (4 hidden + 3 MLP widths) x 2 bytes, and the logits: of every token of llama.cpp's batch in 32 bits,
    otherwise of one token per sequence in 16 and 32 bits. The MLP and the logits are split over tensor ranks."""
    if given.context_tokens is None:
        return Decimal(0)
    tokens = PREFILL_TOKENS.get(given.engine, USUAL_PREFILL_TOKENS)
    if given.model is not None:
        hidden, vocabulary = Decimal(given.model.hidden_size), Decimal(given.model.vocabulary)
        mlp = Decimal(given.model.mlp_size or 4 * given.model.hidden_size)
    else:
        parameters = (
            given.parameters or (given.weights_gib or Decimal(1)) * GIB / 2
        )  # a file of 16 bits, if nothing else
        hidden = typical_hidden_size(parameters)
        vocabulary, mlp = typical_embedding(parameters) / 2 / hidden, 4 * hidden
    logits = tokens * vocabulary * 4 if given.engine == "llama.cpp" else given.sequences * vocabulary * 6
    return tokens * 4 * hidden * 2 + (tokens * 3 * mlp * 2 + logits) / tensor


def inference_notes(given: InferenceMemoryInput) -> tuple[Assumption, ...]:
    """What was taken besides the question's numbers."""
    notes = [_overhead_note(given.engine)]
    if given.context_tokens is None:
        notes.append(NO_CONTEXT)
    if given.model is None and given.parameters is not None and keeps_embeddings(given.precision):
        notes.append(typical_shape_note(given.parameters))
    return (*notes, BINARY_UNITS)


def _overhead_note(engine: str) -> Assumption:
    (low, high), (low_of_many, high_of_many) = OVERHEAD_GIB[engine]
    return Assumption(
        name="overhead_gib", value=f"{low}-{high}",
        text=Bilingual(
            zh=f"{engine} 的运行时开销：单卡 {low}–{high} GiB，多卡时每卡 {low_of_many}–{high_of_many} GiB",
            en=f"runtime overhead of {engine}: {low}–{high} GiB on one GPU, {low_of_many}–{high_of_many} GiB on each of several",
        ),
        source="vLLM pull request 10511; ollama; measured on RTX 3090",
    )  # fmt: skip


def part_rows(parts: GpuParts) -> tuple[dict[str, Decimal | int | str], ...]:
    """The parts of one GPU as table rows."""
    named = {"weights": parts.weights, "kv_cache": parts.cache, "activations": parts.activations}
    rows: list[dict[str, Decimal | int | str]] = [
        {"part": name, "per_gpu_gib": gib(size)} for name, size in named.items()
    ]
    overhead: dict[str, Decimal | int | str] = {
        "part": "overhead", "per_gpu_gib": gib(parts.overhead_low), "per_gpu_high_gib": gib(parts.overhead_high)
    }  # fmt: skip
    return (*rows, overhead)


def changes_most(parts: GpuParts) -> Bilingual:
    """Which of precision and context moves the need more."""
    if parts.weights >= parts.cache:
        saved = gib(parts.weights / 2)
        return Bilingual(
            zh=f"精度影响最大：位数减半，每卡约省 {saved:,} GiB",
            en=f"precision: half the bits save about {saved:,} GiB per GPU",
        )
    saved = gib(parts.cache / 2)
    return Bilingual(
        zh=f"上下文与并发影响最大：减半，每卡约省 {saved:,} GiB",
        en=f"context and concurrency: half of either saves about {saved:,} GiB per GPU",
    )
