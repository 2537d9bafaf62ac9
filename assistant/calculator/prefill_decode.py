"""Time of the two phases of an answer: reading the prompt (compute-bound) and writing token by token (bandwidth-bound).

A roofline with measured shares of the peaks. `bound` outputs are the same at 100 %, without launch floor or
communication: nothing real is faster. FLOPS are dense and per GPU, bandwidth is per GPU, GB are 10^9 bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field, model_validator

from assistant.calculator.calculation import NO_TRUTH, Amount, Assumption, Calculation, Count, Parameters, Share, Tokens
from assistant.calculator.magnitudes import figure, significant
from assistant.calculator.training_compute import TERA, PeakTflops
from assistant.evidence import Bilingual, Frozen, JsonDecimal

GIGA = Decimal(10**9)
GbPerS = Annotated[JsonDecimal, Field(gt=0, le=50_000), NO_TRUTH]
KvBytes = Annotated[JsonDecimal, Field(ge=0, le=10**9), NO_TRUTH]  # of one token
ContextTokens = Annotated[int, Field(ge=0, le=10**8), NO_TRUTH]
MemoryKind = Literal["hbm", "gddr"]
Split = Literal["tensor", "layers"]

COMPUTE_SHARE = Decimal("0.5")
COMPUTE_SOURCE = "0.67 FasterTransformer 13B on A100; 0.22-0.96 llama.cpp by card; llm-analysis recommends 0.7"
HBM_FROM_GB_PER_S = 1500  # when the kind is not given; GDDR7 cards of 1,792 GB/s must say so
# Share of the peak bandwidth reached at batch 1, by memory kind and whether weights have fewer than 8 bits.
BANDWIDTH_SHARES: dict[tuple[MemoryKind, bool], tuple[Decimal, str]] = {
    ("hbm", False): (Decimal("0.65"), "gpt-fast on A100: 7B bf16 68 %, 70B int8 64 %, 7B int8 50 %"),
    ("hbm", True): (Decimal("0.45"), "gpt-fast on A100: 70B int4 53 %, 7B int4 40 %; llama.cpp Q4_K_M 30-33 %"),
    ("gddr", False): (Decimal("0.80"), "llama.cpp F16 on GDDR cards 73-84 %"),
    ("gddr", True): (Decimal("0.65"), "llama.cpp Q4_K_M 8B on GDDR cards 55-68 %"),
}
FLOOR_MS = {"hbm": Decimal(3), "gddr": Decimal(2)}
FLOOR_SOURCE = "kernel launches, 2-4 ms a token (general knowledge); gpt-fast's fastest 7B run, 8 A100, took 3.0 ms"
ALL_REDUCE_US = Decimal(25)
ALL_REDUCES_PER_LAYER = 2  # after attention and after the MLP (Shoeybi et al. 2019)
ALL_REDUCE_SOURCE = "gpt-fast, Llama-2-7B on 1/2/4/8 A100 with NVLink: 104.9/168.8/254.0/328.4 tokens/s"

COMPUTE_TAKEN = Assumption(
    name="compute_share", value=str(COMPUTE_SHARE), source=COMPUTE_SOURCE,
    text=Bilingual(zh=f"实际算力取稠密峰值的 {COMPUTE_SHARE}", en=f"{COMPUTE_SHARE} of the dense peak is reached"),
)  # fmt: skip
COMMUNICATION_TAKEN = Assumption(
    name="communication", value=f"{ALL_REDUCE_US} us", source=ALL_REDUCE_SOURCE,
    text=Bilingual(
        zh=f"张量并行：每层两次全归约，每次 {ALL_REDUCE_US} 微秒（NVLink）",
        en=f"tensor parallelism: two all-reduces a layer of {ALL_REDUCE_US} µs each (NVLink)",
    ),
)  # fmt: skip
NO_COMMUNICATION = Assumption(
    name="communication", value="0",
    text=Bilingual(
        zh="未计张量并行的通信时间（给出 layers 即计入）", en="communication of tensor parallelism not counted (give layers)",
    ),
)  # fmt: skip


class PrefillTimeInput(Frozen):
    """`sequences` prompts of `prompt_tokens` tokens read at once on `gpus` GPUs that share the work evenly."""

    active_parameters: Parameters
    prompt_tokens: Tokens
    sequences: Count = 1
    peak_dense_tflops: PeakTflops
    gpus: Count = 1
    compute_share: Share | None = None
    layers: Count | None = None
    hidden_size: Count | None = None

    @model_validator(mode="after")
    def _both(self) -> PrefillTimeInput:
        if (self.layers is None) != (self.hidden_size is None):
            raise ValueError("layers and hidden_size go together: give both to count the attention scores")
        return self


def prefill_flops(
    active_parameters: Decimal, prompt_tokens: Decimal, layers: int | None, hidden_size: int | None
) -> Decimal:
    """2 x active parameters x tokens + 4 x layers x hidden x tokens^2 / 2: each token attends to those before it."""
    attention = Decimal(2 * (layers or 0) * (hidden_size or 0)) * prompt_tokens**2
    return 2 * active_parameters * prompt_tokens + attention


def prefill_time(given: PrefillTimeInput) -> Calculation:
    """ms = (2 x active parameters x tokens + attention) x sequences / (GPUs x dense peak x share reached)."""
    share = given.compute_share or COMPUTE_SHARE
    flops = given.sequences * prefill_flops(
        given.active_parameters, given.prompt_tokens, given.layers, given.hidden_size
    )
    bound_seconds = flops / (given.gpus * given.peak_dense_tflops * TERA)
    seconds = bound_seconds / share
    tokens = given.prompt_tokens * given.sequences
    return Calculation(
        value=significant(seconds * 1000), unit="ms",
        formula=f"{figure(flops)} FLOP ÷ ({given.gpus:,} × {figure(given.peak_dense_tflops)}e12 × {figure(share)})"
                f" = {figure(seconds * 1000)} ms; {figure(tokens)} ÷ {figure(seconds)} s ="
                f" {figure(tokens / seconds)} tokens/s",
        outputs={"milliseconds": significant(seconds * 1000), "tokens_per_second": significant(tokens / seconds),
                 "bound_milliseconds": significant(bound_seconds * 1000),
                 "bound_tokens_per_second": significant(tokens / bound_seconds), "flops": significant(flops)},
        assumptions=() if given.compute_share else (COMPUTE_TAKEN,),
        changes_most=Bilingual(
            zh=f"实际达到的算力比例：0.25 时 {figure(bound_seconds * 4000)} 毫秒，0.7 时 {figure(bound_seconds / Decimal('0.0007'))} 毫秒",
            en=f"the share of the peak reached: {figure(bound_seconds * 4000)} ms at 0.25,"
               f" {figure(bound_seconds / Decimal('0.0007'))} ms at 0.7",
        ),
    )  # fmt: skip


class DecodeRateInput(Frozen):
    """Writing for `batch` sequences at once. `weights_read_gb` is what one token reads: of an MoE the active experts,
    then `total_weights_gb`, `experts` and `experts_per_token` tell how much more a batch reads.

    `split` "layers" puts layers on one GPU after the other (llama.cpp's default): one card's bandwidth at a time.
    """

    weights_read_gb: Amount
    total_weights_gb: Amount | None = None
    experts: Count | None = None
    experts_per_token: Count | None = None
    weight_bits: Annotated[JsonDecimal, Field(ge=1, le=32), NO_TRUTH] = Decimal(16)
    batch: Count = 1
    kv_bytes_per_token: KvBytes = Decimal(0)
    context_tokens: ContextTokens = 0
    bandwidth_gb_per_s: GbPerS
    gpus: Count = 1
    split: Split = "tensor"
    layers: Count | None = None
    memory_kind: MemoryKind | None = None
    bandwidth_share: Share | None = None
    active_parameters: Parameters | None = None
    peak_dense_tflops: PeakTflops | None = None
    compute_share: Share | None = None

    @model_validator(mode="after")
    def _experts_whole(self) -> DecodeRateInput:
        stated = (self.total_weights_gb, self.experts, self.experts_per_token)
        if any(stated) and not all(stated):
            raise ValueError("an MoE needs total_weights_gb, experts and experts_per_token together")
        if self.total_weights_gb is not None and self.total_weights_gb < self.weights_read_gb:
            raise ValueError(
                f"weights_read_gb {self.weights_read_gb} exceeds total_weights_gb {self.total_weights_gb}: give the"
                " bytes of the active parameters"
            )
        if self.experts and self.experts_per_token and self.experts_per_token > self.experts:
            raise ValueError(f"experts_per_token {self.experts_per_token} exceeds experts {self.experts}")
        if (self.active_parameters is None) != (self.peak_dense_tflops is None):
            raise ValueError("active_parameters and peak_dense_tflops go together: give both for the compute limit")
        return self


@dataclass(frozen=True)
class Decoder:
    """What a step of `decode` does, apart from how many sequences it serves.

    `expert_gb` is what all experts weigh, `missed` the chance that a token leaves a given expert alone.
    """

    dense_gb: Decimal
    expert_gb: Decimal
    missed: Decimal
    gb_per_s: Decimal  # of all GPUs that read at the same time
    bandwidth_share: Decimal
    flops_per_second: Decimal  # of the same GPUs at 100 %; 0: not known, no compute limit
    compute_share: Decimal
    flops_per_token: Decimal
    floor_seconds: Decimal
    communication_seconds: Decimal  # of a step, whatever the batch
    transfer_seconds: Decimal = Decimal(0)  # of each sequence, where the link's bandwidth counts

    def weights_gb(self, batch: int) -> Decimal:
        """Weights one step reads: an expert is read when any of the tokens chooses it, 1 - (1 - K/E)^B of them."""
        return self.dense_gb + self.expert_gb * (1 - self.missed**batch if self.expert_gb else Decimal(0))

    def bound_seconds(self, batch: int, kv_gb_per_sequence: Decimal) -> Decimal:
        """A step at 100 % of bandwidth and compute."""
        reading = (self.weights_gb(batch) + batch * kv_gb_per_sequence) / self.gb_per_s
        return max(reading, self._computing(batch))

    def step_seconds(self, batch: int, kv_gb_per_sequence: Decimal) -> Decimal:
        """A step at the shares reached plus communication, no shorter than the launch floor."""
        reading = (self.weights_gb(batch) + batch * kv_gb_per_sequence) / (self.gb_per_s * self.bandwidth_share)
        computing = self._computing(batch) / self.compute_share
        talking = self.communication_seconds + batch * self.transfer_seconds
        return max(max(reading, computing) + talking, self.floor_seconds)

    def limited_by(self, batch: int, kv_gb_per_sequence: Decimal) -> str:
        """Which of the three is longest."""
        reading = (self.weights_gb(batch) + batch * kv_gb_per_sequence) / (self.gb_per_s * self.bandwidth_share)
        computing = self._computing(batch) / self.compute_share
        if self.floor_seconds >= max(reading, computing):
            return "launch floor"
        return "bandwidth" if reading >= computing else "compute"

    def _computing(self, batch: int) -> Decimal:
        return batch * self.flops_per_token / self.flops_per_second if self.flops_per_second else Decimal(0)


def memory_kind(given: MemoryKind | None, bandwidth_gb_per_s: Decimal) -> MemoryKind:
    """The kind given, else HBM from 1,500 GB/s."""
    return given or ("hbm" if bandwidth_gb_per_s >= HBM_FROM_GB_PER_S else "gddr")


def decoder(given: DecodeRateInput) -> Decoder:
    """The step model of an input. Expert weights follow from total - active = experts x (1 - K/E)."""
    kind = memory_kind(given.memory_kind, given.bandwidth_gb_per_s)
    reading_gpus = given.gpus if given.split == "tensor" else 1
    missed, expert_gb = Decimal(0), Decimal(0)
    if given.total_weights_gb and given.experts and given.experts_per_token:
        missed = 1 - Decimal(given.experts_per_token) / given.experts
        expert_gb = (given.total_weights_gb - given.weights_read_gb) / missed if missed else Decimal(0)
        if expert_gb * (1 - missed) > given.weights_read_gb:
            raise ValueError(
                f"weights_read_gb {given.weights_read_gb} is less than {given.experts_per_token} of {given.experts}"
                f" experts of {given.total_weights_gb} GB weigh"
            )
    communicates = given.layers is not None and given.gpus > 1 and given.split == "tensor"
    return Decoder(
        dense_gb=given.weights_read_gb - expert_gb * (1 - missed), expert_gb=expert_gb, missed=missed,
        gb_per_s=given.bandwidth_gb_per_s * reading_gpus,
        bandwidth_share=given.bandwidth_share or BANDWIDTH_SHARES[kind, given.weight_bits < 8][0],
        flops_per_second=(given.peak_dense_tflops or Decimal(0)) * TERA * reading_gpus,
        compute_share=given.compute_share or COMPUTE_SHARE,
        flops_per_token=2 * (given.active_parameters or Decimal(0)),
        floor_seconds=FLOOR_MS[kind] / 1000,
        communication_seconds=ALL_REDUCES_PER_LAYER * (given.layers or 0) * ALL_REDUCE_US / 10**6
        if communicates else Decimal(0),
    )  # fmt: skip


def decode_rate(given: DecodeRateInput) -> Calculation:
    """tokens/s = batch / max((weights + batch x KV) / (bandwidth x share), compute, floor) ; + all-reduces."""
    model, kv_gb = decoder(given), given.kv_bytes_per_token * given.context_tokens / GIGA
    step, bound = model.step_seconds(given.batch, kv_gb), model.bound_seconds(given.batch, kv_gb)
    read = model.weights_gb(given.batch) + given.batch * kv_gb
    limit = model.limited_by(given.batch, kv_gb)
    formula = f"{figure(read)} GB ÷ ({figure(model.gb_per_s)} GB/s × {figure(model.bandwidth_share)})"
    if limit != "bandwidth":
        formula = f"max({formula}, {limit})"
    if model.communication_seconds:
        formula += f" + {figure(model.communication_seconds * 1000)} ms"
    return Calculation(
        value=significant(given.batch / step), unit="token per second",
        formula=f"{formula} = {figure(step * 1000)} ms; {given.batch:,} ÷ {figure(step * 1000)} ms ="
                f" {figure(given.batch / step)} tokens/s",
        outputs={"tokens_per_second": significant(given.batch / step), "tokens_per_second_per_user": significant(1 / step),
                 "milliseconds_per_token": significant(step * 1000),
                 "bound_tokens_per_second": significant(given.batch / bound),
                 "bound_milliseconds_per_token": significant(bound * 1000),
                 "read_gb_per_step": significant(read), "limited_by": limit},
        assumptions=_decode_assumptions(given, model),
        changes_most=Bilingual(
            zh="单个用户：与读取的字节数成反比、与带宽成正比；批量增大时总吞吐上升",
            en="alone: inverse to the bytes read, proportional to bandwidth; a larger batch raises the total",
        ),
    )  # fmt: skip


def _decode_assumptions(given: DecodeRateInput, model: Decoder) -> tuple[Assumption, ...]:
    kind = memory_kind(given.memory_kind, given.bandwidth_gb_per_s)
    notes = [
        Assumption(name="floor", value=f"{FLOOR_MS[kind]} ms", source=FLOOR_SOURCE, text=Bilingual(
            zh=f"每个词元至少 {FLOOR_MS[kind]} 毫秒（内核启动）", en=f"at least {FLOOR_MS[kind]} ms a token (kernel launches)",
        )),
    ]  # fmt: skip
    if given.bandwidth_share is None:
        share, source = BANDWIDTH_SHARES[kind, given.weight_bits < 8]
        notes.append(
            Assumption(name="bandwidth_share", value=str(share), source=source, text=Bilingual(
                zh=f"实际带宽取峰值的 {share}（{kind.upper()} 显存）", en=f"{share} of the peak bandwidth is reached ({kind.upper()} memory)",
            ))
        )  # fmt: skip
    if given.gpus > 1 and given.split == "tensor":
        notes.append(COMMUNICATION_TAKEN if model.communication_seconds else NO_COMMUNICATION)
    return tuple(notes)
