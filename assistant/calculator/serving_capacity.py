"""What one model on one kind of GPU serves: speed alone and together, waiting time, users within a target, cost, GPUs.

Every user asks again as soon as the last answer ends. Prompts and steps share the GPUs, so `users` users take
users x prefill + output x step(users) for one answer each. Needs the model's shape and the GPU's figures; guesses none.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Annotated

from pydantic import Field

from assistant.calculator.calculation import NO_TRUTH, Amount, Assumption, Calculation, Count, Currency, number
from assistant.calculator.inference_fit import InferenceFitInput, usable_bytes
from assistant.calculator.inference_memory import gpu_parts
from assistant.calculator.kv_cache import cache_bytes_per_gpu, check_split
from assistant.calculator.magnitudes import figure, significant
from assistant.calculator.model_memory import weight_bytes
from assistant.calculator.precision import (
    CACHE_BYTES,
    EFFECTIVE_BITS,
    GIB,
    CachePrecision,
    WeightPrecision,
    keeps_embeddings,
)
from assistant.calculator.prefill_decode import (
    BANDWIDTH_SHARES,
    COMMUNICATION_TAKEN,
    COMPUTE_SHARE,
    COMPUTE_TAKEN,
    GIGA,
    Decoder,
    DecodeRateInput,
    MemoryKind,
    decoder,
    memory_kind,
    prefill_flops,
)
from assistant.calculator.shapes import GpuSpec, ModelShape
from assistant.calculator.token_cost import CostPerMillionTokensInput, cost_per_million_tokens
from assistant.calculator.training_compute import TERA, TokenRate
from assistant.evidence import Bilingual, Frozen, JsonDecimal

RequestTokens = Annotated[int, Field(ge=1, le=10**7), NO_TRUTH]
Seconds = Annotated[JsonDecimal, Field(gt=0, le=10**6), NO_TRUTH]
PCIE_GB_PER_S = Decimal(25)  # in one direction
ACTIVATION_BYTES = 2
OVER_PCIE = Assumption(
    name="interconnect", value=f"{PCIE_GB_PER_S} GB/s", source="PCIe 4.0 x16, 32 GB/s less protocol (general knowledge)",
    text=Bilingual(
        zh=f"没有 NVLink 数据：张量并行按 PCIe {PCIE_GB_PER_S} GB/s 计，读提示会明显变慢",
        en=f"no NVLink figure: tensor parallelism is taken over PCIe at {PCIE_GB_PER_S} GB/s, which slows prompts markedly",
    ),
)  # fmt: skip
MOST_BATCHED = 256  # logits computed at once: vLLM's default max_num_seqs
SERIES = 8  # rows shown: 1, 2, 4 ... users

CLOSED_LOOP = Assumption(
    name="load", value="closed loop",
    text=Bilingual(
        zh="每位用户收到回答后立即再问；首字延迟含读取提示、排队（按泊松到达）和一步解码",
        en="each user asks again at once; time to first token is reading, queueing (Poisson arrivals) and one step",
    ),
    source="Pollaczek-Khinchine: mean wait = rho x service / (2 (1 - rho))",
)  # fmt: skip


class ServingCapacityInput(Frozen):
    """A model on `gpus` GPUs (one tensor-parallel replica), requests of `input_tokens` + `output_tokens`.

    The target: each user gets at least `min_tokens_per_second_per_user`, and the first token within
    `max_seconds_to_first_token`. `users` are asked for at the same time; `price_per_gpu_hour` is of one GPU.
    """

    input_tokens: RequestTokens
    output_tokens: RequestTokens
    model: ModelShape
    gpu: GpuSpec
    gpus: Count = 1
    weight_precision: WeightPrecision = "bf16"
    kv_precision: CachePrecision = "fp16"
    memory_kind: MemoryKind | None = None
    users: Count | None = None
    min_tokens_per_second_per_user: TokenRate | None = None
    max_seconds_to_first_token: Seconds | None = None
    price_per_gpu_hour: Amount | None = None
    currency: Currency = "USD"


@dataclass(frozen=True)
class Load:
    """What `users` users get: all together, each, and until the first token."""

    users: int
    step_seconds: Decimal
    tokens_per_second: Decimal
    tokens_per_second_per_user: Decimal
    seconds_to_first_token: Decimal

    def row(self) -> dict[str, JsonDecimal | int | str]:
        """One line of the table of users."""
        return {
            "users": self.users, "tokens_per_second": significant(self.tokens_per_second, 4),
            "tokens_per_second_per_user": significant(self.tokens_per_second_per_user, 4),
            "seconds_to_first_token": significant(self.seconds_to_first_token, 4),
        }  # fmt: skip


@dataclass(frozen=True)
class Replica:
    """One copy of the model: how long a prompt and a step take, and how many sequences its cache holds."""

    decoder: Decoder
    prefill_seconds: Decimal
    kv_gb: Decimal  # of one sequence, read per step over all GPUs, half the answer written
    output_tokens: int
    most_sequences: int

    def under(self, users: int) -> Load:
        """What so many users get. One's own prompt is read before one's answer starts; the others' interrupt it."""
        step = self.decoder.step_seconds(users, self.kv_gb)
        writing = self.output_tokens * step
        others = (users - 1) * self.prefill_seconds
        waiting = self.prefill_seconds * others / writing / 2  # rho / (1 - rho) = others / writing
        return Load(
            users=users, step_seconds=step,
            tokens_per_second=users * self.output_tokens / (self.prefill_seconds + others + writing),
            tokens_per_second_per_user=self.output_tokens / (others + writing),
            seconds_to_first_token=self.prefill_seconds + waiting + step,
        )  # fmt: skip

    def meets(self, users: int, given: ServingCapacityInput) -> bool:
        """Whether so many users are within the target. More users never get more, so one bisection finds the limit."""
        slow, late, load = given.min_tokens_per_second_per_user, given.max_seconds_to_first_token, self.under(users)
        return (slow is None or load.tokens_per_second_per_user >= slow) and (
            late is None or load.seconds_to_first_token <= late
        )


def serving_capacity(given: ServingCapacityInput) -> Calculation:
    """users = most B with output / ((B-1) x prefill + output x step(B)) >= target, within memory and first-token time."""
    replica = _replica(given)
    within = _most_users(replica, given)
    alone, shown = replica.under(1), replica.under(min(given.users or within, replica.most_sequences) or 1)
    bound = shown.users / replica.decoder.bound_seconds(shown.users, replica.kv_gb)  # prompts in no time at all
    outputs: dict[str, JsonDecimal | int | str] = {
        "users_within_target": within, "users_in_memory": replica.most_sequences,
        "tokens_per_second_alone": significant(alone.tokens_per_second_per_user),
        "seconds_to_first_token_alone": significant(alone.seconds_to_first_token),
        "users_shown": shown.users, "tokens_per_second": significant(shown.tokens_per_second),
        "tokens_per_second_per_user": significant(shown.tokens_per_second_per_user),
        "seconds_to_first_token": significant(shown.seconds_to_first_token),
        "bound_tokens_per_second": significant(bound), "gpus_per_replica": given.gpus,
    }  # fmt: skip
    if given.users is not None:
        outputs |= _gpus_needed(given.users, within, given.gpus)
    if given.price_per_gpu_hour is not None:
        bill = CostPerMillionTokensInput(
            price_per_hour=given.price_per_gpu_hour * given.gpus, tokens_per_second=shown.tokens_per_second,
            currency=given.currency,
        )  # fmt: skip
        outputs |= {"cost_per_million_tokens": cost_per_million_tokens(bill).value, "currency": given.currency}
    formula = (
        f"{shown.users:,} × {given.output_tokens:,} ÷ ({shown.users:,} × {figure(replica.prefill_seconds, 4)} s +"
        f" {given.output_tokens:,} × {figure(shown.step_seconds, 4)} s) = {figure(shown.tokens_per_second)} tokens/s"
    )
    return Calculation(
        value=Decimal(within), unit="user", formula=formula, outputs=outputs, assumptions=_assumptions(given),
        rows=tuple(replica.under(users).row() for users in _series(within, replica.most_sequences)),
        changes_most=Bilingual(
            zh=f"提示与回答的长度：KV 缓存最多容纳 {replica.most_sequences} 个请求，更多用户只能排队",
            en=f"the lengths of prompt and answer: beyond the {replica.most_sequences} requests the cache holds, users queue",
        ),
    )  # fmt: skip


def _replica(given: ServingCapacityInput) -> Replica:
    model, gpu, gpus = given.model, given.gpu, given.gpus
    check_split(model, gpus, 1)
    if gpu.bandwidth_gb_per_s is None:
        raise ValueError(f"{gpu.name} has no bandwidth_gb_per_s: its speed cannot be computed")
    peak = _peak_tflops(gpu, given.weight_precision)
    element = CACHE_BYTES[given.kv_precision]
    whole = given.input_tokens + given.output_tokens
    if model.context_tokens is not None and whole > model.context_tokens:
        raise ValueError(
            f"input_tokens + output_tokens {whole:,} exceed {model.name}'s context of {model.context_tokens:,}"
        )
    weights = weight_bytes(model, model.parameters, given.weight_precision)
    half_written = given.input_tokens + -(-given.output_tokens // 2)
    tokens_flops = prefill_flops(model.active_parameters, Decimal(given.input_tokens), model.layers, model.hidden_size)
    transfer = _transfer_seconds(model, gpu, gpus)
    step = decoder(_decode_input(given, peak))
    return Replica(
        decoder=replace(step, transfer_seconds=transfer),
        prefill_seconds=tokens_flops / (gpus * peak * TERA * COMPUTE_SHARE) + given.input_tokens * transfer,
        kv_gb=cache_bytes_per_gpu(model, half_written, element, gpus, 1) * gpus / GIGA,
        output_tokens=given.output_tokens,
        most_sequences=_most_sequences(given, weights, whole),
    )


def _decode_input(given: ServingCapacityInput, peak: Decimal) -> DecodeRateInput:
    model = given.model
    # The input embedding is looked up, not read; a tied one is read as the head.
    kept = keeps_embeddings(given.weight_precision)
    bits = EFFECTIVE_BITS["bf16"] if kept else EFFECTIVE_BITS[given.weight_precision]
    lookup = Decimal(0) if model.tied_embeddings else model.vocabulary * model.hidden_size * bits / 8
    every = (weight_bytes(model, model.parameters, given.weight_precision) - lookup) / GIGA
    active = (weight_bytes(model, model.active_parameters, given.weight_precision) - lookup) / GIGA
    mixture = bool(model.experts and model.experts_per_token)
    return DecodeRateInput(
        weights_read_gb=active, total_weights_gb=every if mixture else None,
        experts=model.experts if mixture else None, experts_per_token=model.experts_per_token if mixture else None,
        weight_bits=EFFECTIVE_BITS[given.weight_precision], bandwidth_gb_per_s=given.gpu.bandwidth_gb_per_s or Decimal(0),
        gpus=given.gpus, layers=model.layers, memory_kind=given.memory_kind,
        active_parameters=model.active_parameters, peak_dense_tflops=peak,
    )  # fmt: skip


def _peak_tflops(gpu: GpuSpec, precision: WeightPrecision) -> Decimal:
    """FP8 computes in FP8 where the card can; every other format is expanded to 16 bits first."""
    sixteen_bit = gpu.bf16_tflops or gpu.fp16_tflops
    peak = gpu.fp8_tflops or sixteen_bit if precision == "fp8" else sixteen_bit
    if peak is None:
        raise ValueError(f"{gpu.name} has neither bf16_tflops nor fp16_tflops: its speed cannot be computed")
    return peak


def _transfer_seconds(model: ModelShape, gpu: GpuSpec, gpus: int) -> Decimal:
    """Link time of one token: two ring all-reduces a layer of hidden x 2 bytes, each moving 2 (n - 1) / n of it."""
    if gpus == 1:
        return Decimal(0)
    link = gpu.nvlink_gb_per_s / 2 if gpu.nvlink_gb_per_s else PCIE_GB_PER_S  # NVLink is stated for both directions
    moved = Decimal(2 * model.layers * model.hidden_size * ACTIVATION_BYTES) * 2 * (gpus - 1) / gpus
    return moved / (link * GIGA)


def _most_sequences(given: ServingCapacityInput, weights: Decimal, tokens: int) -> int:
    """floor((usable - weights - activations - overhead) / cache of one request), per GPU; the high end of the overhead,
    as inference_fit counts its largest_batch."""
    need = InferenceFitInput(
        model=given.model, precision=given.weight_precision, kv_precision=given.kv_precision, gpu=given.gpu,
        context_tokens=tokens, sequences=min(given.users or 1, MOST_BATCHED),
    )  # fmt: skip
    parts = gpu_parts(need, given.gpus, 1)
    free = usable_bytes(need) - parts.weights - parts.activations - parts.overhead_high
    kv_bytes_per_gpu = parts.cache / need.sequences
    sequences = int(free // kv_bytes_per_gpu)
    if sequences < 1:
        raise ValueError(
            f"{given.model.name} in {given.weight_precision} ({figure(weights / GIB)} GiB) and one request of"
            f" {figure(kv_bytes_per_gpu / GIB)} GiB per GPU do not fit {given.gpus} x {given.gpu.name}"
            f" ({number(given.gpu.memory_gib)} GiB): give more gpus, fewer tokens or a smaller weight_precision"
        )
    return sequences


def _most_users(replica: Replica, given: ServingCapacityInput) -> int:
    low, high = 0, replica.most_sequences
    if replica.meets(high, given):
        return high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if replica.meets(middle, given) else (low, middle)
    return low


def _gpus_needed(users: int, within: int, gpus: int) -> dict[str, JsonDecimal | int | str]:
    if within == 0:
        return {"target_met": "no", "gpus_needed": 0}
    replicas = -(-users // within)
    return {
        "target_met": "yes" if replicas == 1 else "with replicas",
        "replicas_needed": replicas,
        "gpus_needed": replicas * gpus,
    }


def _series(within: int, most: int) -> list[int]:
    doubled = [2**power for power in range(most.bit_length()) if 2**power < most]
    return sorted({*doubled[:: -(-len(doubled) // SERIES) or 1], *([within] if within else []), most})


def _assumptions(given: ServingCapacityInput) -> tuple[Assumption, ...]:
    kind = memory_kind(given.memory_kind, given.gpu.bandwidth_gb_per_s or Decimal(0))
    share, source = BANDWIDTH_SHARES[kind, EFFECTIVE_BITS[given.weight_precision] < 8]
    reached = Assumption(
        name="bandwidth_share", value=str(share), source=source,
        text=Bilingual(zh=f"实际带宽取峰值的 {share}", en=f"{share} of the peak bandwidth is reached"),
    )  # fmt: skip
    notes = (COMPUTE_TAKEN, reached, CLOSED_LOOP)
    if given.gpus == 1:
        return notes
    return (*notes, COMMUNICATION_TAKEN) if given.gpu.nvlink_gb_per_s else (*notes, COMMUNICATION_TAKEN, OVER_PCIE)
