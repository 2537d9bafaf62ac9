"""Whether a model can be served from given cards, how many it takes, and the largest context and batch that fit.

Memory only: speed and interconnect are not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from pydantic import model_validator

from assistant.calculator.calculation import Assumption, Calculation, Count, Share
from assistant.calculator.inference_memory import (
    GpuParts,
    InferenceMemoryInput,
    cache_of_sequence,
    changes_most,
    gpu_parts,
    inference_notes,
    part_rows,
)
from assistant.calculator.kv_cache import check_split
from assistant.calculator.precision import GIB, gib
from assistant.calculator.shapes import GpuSpec
from assistant.evidence import Bilingual

VISIBLE_SHARE = Decimal("0.98")  # of a card's nominal GiB; torch sees 23.58 of 24 (3090) and 79.15 of 80 (A100)
RESERVING_ENGINES = ("vllm", "sglang", "tensorrt-llm")  # take a set share of the card at the start
LARGEST_TENSOR_PARALLEL = 8  # one node; beyond it stages are the usual split
MOST_CARDS = 1024
LONGEST_CONTEXT = 10_000_000  # tokens; searched up to here when the model states no limit


class InferenceFitInput(InferenceMemoryInput):
    """A model, how it is served, and one kind of GPU; `cards` is how many there are, none asks how many it takes.

    The split over cards is chosen (tensor parallel within 8, stages beyond; llama.cpp only stages).
    """

    gpu: GpuSpec
    cards: Count | None = None
    gpu_memory_utilization: Share = Decimal("0.9")

    @model_validator(mode="after")
    def _split_is_chosen(self) -> InferenceFitInput:
        if self.tensor_parallel * self.pipeline_parallel > 1:
            raise ValueError(
                f"the split is chosen here: leave tensor_parallel {self.tensor_parallel} and pipeline_parallel "
                f"{self.pipeline_parallel} at 1 and give cards"
            )
        if self.cards is not None and self.cards > MOST_CARDS:
            raise ValueError(f"cards {self.cards} is more than the {MOST_CARDS} that one model is split over")
        return self


@dataclass(frozen=True)
class _Split:
    tensor: int
    pipeline: int
    parts: GpuParts

    @property
    def cards(self) -> int:
        return self.tensor * self.pipeline


def inference_fit(given: InferenceFitInput) -> Calculation:
    """fits: the high end of the need is within the usable memory; tight: only the low end is; no: neither.

    usable = memory x utilisation for engines that reserve a share (vLLM 0.9), memory x 0.98 for others.
    """
    usable = usable_bytes(given)
    least = next((s for s in _splits(given) if s.parts.high <= usable), None)
    split = _split(given, given.cards or (least.cards if least else 1))
    assert split is not None  # one card is always a split, and _split raises for a stated number that is none
    parts = split.parts
    verdict = "fits" if parts.high <= usable else "tight" if parts.low <= usable else "no"
    free = usable - parts.weights - parts.activations - parts.overhead_high
    outputs: dict[str, Decimal | int | str] = {
        "verdict": verdict, "cards": split.cards, "tensor_parallel": split.tensor, "pipeline_parallel": split.pipeline,
        "cards_needed": least.cards if least else 0, "need_low_gib": gib(parts.low), "need_high_gib": gib(parts.high),
        "usable_gib": gib(usable), "headroom_gib": gib(usable - parts.high), "weights_gib": gib(parts.weights),
        "kv_cache_gib": gib(parts.cache), "largest_context_tokens": _largest_context(given, split, free),
        "largest_batch": _largest_batch(given, split, free),
    }  # fmt: skip
    return Calculation(
        value=gib(usable - parts.high), unit="GiB",
        formula=f"{gib(parts.low)} … {gib(parts.high)} GiB/GPU ÷ {gib(usable)} GiB ({split.cards} × {given.gpu.name},"
                f" TP {split.tensor} × PP {split.pipeline}): {verdict}",
        outputs=outputs,
        assumptions=(*inference_notes(given), _usable_note(given)),
        rows=part_rows(parts),
        changes_most=changes_most(parts),
    )  # fmt: skip


def usable_bytes(given: InferenceFitInput) -> Decimal:
    """What the engine may fill of one card."""
    share = given.gpu_memory_utilization if given.engine in RESERVING_ENGINES else VISIBLE_SHARE
    return given.gpu.memory_gib * GIB * share


def _splits(given: InferenceFitInput) -> Iterator[_Split]:
    """Splits over more and more cards: powers of two, and divisors of the number of heads within a node."""
    heads = given.model.attention_heads if given.model else 1
    powers = {2**power for power in range(MOST_CARDS.bit_length())}
    divisors = {n for n in range(1, LARGEST_TENSOR_PARALLEL + 1) if heads % n == 0}
    for cards in sorted(powers | divisors):
        split = _split(given, cards, strict=False)
        if split is not None:
            yield split


def _split(given: InferenceFitInput, cards: int, strict: bool = True) -> _Split | None:
    """The split of exactly `cards` cards with the most tensor parallelism. Raises ValueError if strict and none is."""
    largest = 1 if given.engine == "llama.cpp" else min(cards, LARGEST_TENSOR_PARALLEL)
    refusal: ValueError | None = None
    for tensor in range(largest, 0, -1):
        if cards % tensor:
            continue
        try:
            if given.model is not None:
                check_split(given.model, tensor, cards // tensor)
        except ValueError as error:
            refusal = refusal or error
            continue
        return _Split(tensor, cards // tensor, gpu_parts(given, tensor, cards // tensor))
    if strict:
        raise ValueError(f"no split of the model over {cards} cards: {refusal}")
    return None


def _largest_context(given: InferenceFitInput, split: _Split, free: Decimal) -> int:
    """Tokens per sequence at the asked number of sequences; -1 where the cache layout is not known."""
    if given.model is None and given.kv_bytes_per_token is None:
        return -1
    fit, too_long = 0, ((given.model and given.model.context_tokens) or LONGEST_CONTEXT) + 1
    while too_long - fit > 1:
        middle = (fit + too_long) // 2
        if cache_of_sequence(given, middle, split.tensor, split.pipeline) * given.sequences <= free:
            fit = middle
        else:
            too_long = middle
    return fit


def _largest_batch(given: InferenceFitInput, split: _Split, free: Decimal) -> int:
    """Sequences of the asked context; -1 where no context was asked."""
    one = cache_of_sequence(given, given.context_tokens, split.tensor, split.pipeline)
    return max(0, int(free // one)) if one else -1


def _usable_note(given: InferenceFitInput) -> Assumption:
    reserving = given.engine in RESERVING_ENGINES
    share = given.gpu_memory_utilization if reserving else VISIBLE_SHARE
    percent = f"{share * 100:.0f} %"
    return Assumption(
        name="usable_share", value=str(share),
        text=Bilingual(
            zh=f"每张卡可用 {percent}" + ("（gpu_memory_utilization）" if reserving else "（其余由驱动保留）"),
            en=f"{percent} of each card is usable" + (" (gpu_memory_utilization)" if reserving else "; the driver keeps the rest"),
        ),
        source="vLLM" if reserving else "torch on RTX 3090 and A100",
    )  # fmt: skip
