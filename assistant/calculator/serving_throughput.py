"""Tokens per second of a server that is kept full (offline, or many users), from its compute and its bandwidth.

Each output token costs its share of compute for prompt and answer, and its share of the steps' memory traffic; the two
times add up (a harmonic sum of the two limits). GB are 10^9 bytes, memory is GiB, FLOPS are dense, per GPU.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field

from assistant.calculator.calculation import NO_TRUTH, Amount, Assumption, Calculation, Count, Parameters, Share
from assistant.calculator.magnitudes import figure, significant
from assistant.calculator.precision import GIB
from assistant.calculator.prefill_decode import COMPUTE_SHARE, COMPUTE_TAKEN, GIGA, GbPerS, KvBytes
from assistant.calculator.training_compute import TERA, PeakTflops
from assistant.evidence import Bilingual, Frozen

BATCHED_BANDWIDTH_SHARE = Decimal("0.7")
PCIE_SHARE = Decimal(1) / 3
MEMORY_SHARE = Decimal("0.9")
Interconnect = Literal["nvlink", "pcie"]
RequestTokens = Annotated[int, Field(ge=1, le=10**7), NO_TRUTH]
PromptTokens = Annotated[int, Field(ge=0, le=10**7), NO_TRUTH]
CardGib = Annotated[Amount, Field(le=10_000)]

BATCHED = Assumption(
    name="bandwidth_share", value=str(BATCHED_BANDWIDTH_SHARE),
    source="with 0.5 of compute it lands within 60 % of TensorRT-LLM's published rows and of MLPerf v4.1 offline",
    text=Bilingual(zh="大批量时带宽达到峰值的 0.7", en="0.7 of the peak bandwidth is reached at large batches"),
)  # fmt: skip
PCIE = Assumption(
    name="interconnect", value="1/3", source="MLPerf v4.1, Llama-2-70B on 8 L40S: a third of the estimate",
    text=Bilingual(
        zh="经 PCIe 做张量并行，吞吐按三分之一计；若单卡放得下，各卡独立运行更快",
        en="tensor parallel over PCIe: a third of the throughput; if one card holds the model, separate replicas are faster",
    ),
)  # fmt: skip
MEMORY = Assumption(
    name="memory_share", value=str(MEMORY_SHARE), source="vLLM gpu_memory_utilization, default 0.9",
    text=Bilingual(
        zh="显存的 0.9 用于权重和 KV 缓存，其余留给激活与运行时", en="0.9 of the memory holds weights and KV cache, the rest activations and runtime",
    ),
)  # fmt: skip


class ServingThroughputInput(Frozen):
    """Requests of `input_tokens` + `output_tokens` on `gpus` GPUs that hold `weights_gb` of weights between them.

    `weights_gb` counts all experts, `active_parameters` those of one token; `kv_bytes_per_token` is the whole model's.
    `max_sequences` is the engine's limit on requests in flight, if it has one.
    """

    active_parameters: Parameters
    weights_gb: Amount
    kv_bytes_per_token: Annotated[KvBytes, Field(gt=0)]
    input_tokens: PromptTokens
    output_tokens: RequestTokens
    gpus: Count = 1
    memory_gib: CardGib
    bandwidth_gb_per_s: GbPerS
    peak_dense_tflops: PeakTflops
    memory_share: Share = MEMORY_SHARE
    compute_share: Share | None = None
    bandwidth_share: Share | None = None
    interconnect: Interconnect = "nvlink"
    max_sequences: Count | None = None


def serving_throughput(given: ServingThroughputInput) -> Calculation:
    """1 / output rate = 1 / compute limit + 1 / bandwidth limit.

    Compute limit = GPUs x peak x share / (2 x active parameters x (input + output) / output); bandwidth limit =
    sequences / step, where step = (weights + sequences x KV of input + output / 2) / (GPUs x bandwidth x share) and
    sequences = KV pool / KV of input + output.
    """
    compute_share = given.compute_share or COMPUTE_SHARE
    bandwidth_share = given.bandwidth_share or BATCHED_BANDWIDTH_SHARE
    full_compute = compute_limit(given)
    sequences = _sequences(given, given.memory_share)
    full_bandwidth = _bandwidth_limit(given, sequences)
    compute, bandwidth = full_compute * compute_share, full_bandwidth * bandwidth_share
    slowed = PCIE_SHARE if given.interconnect == "pcie" and given.gpus > 1 else Decimal(1)
    rate = slowed * compute * bandwidth / (compute + bandwidth)
    bound = min(full_compute, _bandwidth_limit(given, _sequences(given, Decimal(1))))
    both = rate * (given.input_tokens + given.output_tokens) / given.output_tokens
    return Calculation(
        value=significant(rate), unit="output token per second",
        formula=f"1 ÷ (1 ÷ {figure(compute)} + 1 ÷ {figure(bandwidth)}){' ÷ 3' if slowed != 1 else ''} = {figure(rate)}"
                f" output tokens/s with {sequences:,} sequences",
        outputs={"output_tokens_per_second": significant(rate), "input_and_output_tokens_per_second": significant(both),
                 "output_tokens_per_second_per_gpu": significant(rate / given.gpus), "sequences": sequences,
                 "compute_limit": significant(compute), "bandwidth_limit": significant(bandwidth),
                 "bound_tokens_per_second": significant(bound),
                 "limited_by": "compute" if compute < bandwidth else "bandwidth"},
        assumptions=_assumptions(given, slowed),
        changes_most=Bilingual(
            zh="算力受限时由提示长度决定，带宽受限时由能同时容纳的请求数决定",
            en="the prompt's length where compute limits, the requests that fit in memory where bandwidth does",
        ),
    )  # fmt: skip


class ComputeBoundInput(Frozen):
    """A model and the GPUs' compute alone: what no memory or batch can make faster."""

    active_parameters: Parameters
    input_tokens: PromptTokens = 0
    output_tokens: RequestTokens = 1
    gpus: Count = 1
    peak_dense_tflops: PeakTflops


def throughput_bound(given: ComputeBoundInput) -> Calculation:
    """output tokens/s <= GPUs x dense peak / (2 x active parameters x (input + output) / output)."""
    rate = compute_limit(given)
    return Calculation(
        value=significant(rate), unit="output token per second",
        formula=f"{given.gpus:,} × {figure(given.peak_dense_tflops)}e12 ÷ (2 × {figure(given.active_parameters)} ×"
                f" ({given.input_tokens:,} + {given.output_tokens:,}) ÷ {given.output_tokens:,}) = {figure(rate)} tokens/s",
        outputs={"bound_tokens_per_second": significant(rate)},
        changes_most=Bilingual(zh="与激活参数量成反比", en="inverse to the active parameters"),
    )  # fmt: skip


def compute_limit(given: ServingThroughputInput | ComputeBoundInput) -> Decimal:
    """Output tokens a second at 100 % of the dense peak."""
    per_output = 2 * given.active_parameters * (given.input_tokens + given.output_tokens) / given.output_tokens
    return given.gpus * given.peak_dense_tflops * TERA / per_output


def _sequences(given: ServingThroughputInput, memory_share: Decimal) -> int:
    usable_gb = given.gpus * given.memory_gib * GIB / GIGA * memory_share
    per_sequence_gb = given.kv_bytes_per_token * (given.input_tokens + given.output_tokens) / GIGA
    sequences = int((usable_gb - given.weights_gb) / per_sequence_gb)
    if sequences < 1:
        raise ValueError(
            f"{given.weights_gb} GB of weights and one request of {figure(per_sequence_gb)} GB exceed the usable"
            f" {figure(usable_gb)} GB of {given.gpus} GPU(s): give more gpus, fewer tokens or a smaller precision"
        )
    return min(sequences, given.max_sequences or sequences)


def _bandwidth_limit(given: ServingThroughputInput, sequences: int) -> Decimal:
    kept_tokens = given.input_tokens + Decimal(given.output_tokens) / 2  # on average, while the answer grows
    step_gb = given.weights_gb + sequences * given.kv_bytes_per_token * kept_tokens / GIGA
    return sequences * given.gpus * given.bandwidth_gb_per_s / step_gb


def _assumptions(given: ServingThroughputInput, slowed: Decimal) -> tuple[Assumption, ...]:
    notes = []
    if given.memory_share == MEMORY_SHARE:
        notes.append(MEMORY)
    if given.compute_share is None:
        notes.append(COMPUTE_TAKEN)
    if given.bandwidth_share is None:
        notes.append(BATCHED)
    if slowed != 1:
        notes.append(PCIE)
    return tuple(notes)
