"""Operations of a training run, and what a GPU's peak makes of them: FLOPs, tokens per second, MFU, one iteration.

Rule: 6 operations per active parameter and token (2 forward, 4 backward; Kaplan et al. 2020), 8 when the forward pass
is run again (Narayanan et al. 2021, Megatron). MFU counts the 6, a hardware rate counts the 8. Peaks are dense, per GPU.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field, model_validator

from assistant.calculator.calculation import (
    NO_TRUTH,
    Assumption,
    Calculation,
    Count,
    Parameters,
    Share,
    Tokens,
)
from assistant.calculator.magnitudes import figure, significant
from assistant.evidence import Bilingual, Frozen, JsonDecimal

TERA = Decimal(10**12)
HIGHEST_TFLOPS = 20_000  # of one GPU, dense; a node's sum or a sparse FP4 figure is refused above it
PeakTflops = Annotated[JsonDecimal, Field(gt=0, le=HIGHEST_TFLOPS), NO_TRUTH]
TokenRate = Annotated[JsonDecimal, Field(gt=0, le=10**8), NO_TRUTH]  # tokens a second
Recompute = Literal["none", "selective", "full"]

MFU_CLUSTER, MFU_RESTARTS, MFU_ONE_CARD = Decimal("0.40"), Decimal("0.30"), Decimal("0.30")
MFU_RANGE, MFU_RANGE_ONE_CARD = (Decimal("0.25"), Decimal("0.50")), (Decimal("0.20"), Decimal("0.35"))
MFU_SOURCE = (
    "Llama 2 38-43 %, LLaMA 43-51 %, Falcon-180B 48 %, DeepSeek-V3 35 % (6ND over published GPU-hours); "
    "llm-foundry 38-46 % H100, 44-56 % A100; torchtitan 36-41 %"
)
ONE_CARD_SOURCE = "general practice for fine-tuning on one card, 20-35 %; no published series"


class TrainingWork(Frozen):
    """A model to train: `active_parameters` are those one token passes through (all, when the model is dense).

    With `layers` and `sequence_tokens` the attention scores are counted too; their width is `hidden_size`, or
    `attention_heads` x (`key_size` + `value_size`) / 2. `causal` counts only the half below the diagonal.
    """

    active_parameters: Parameters
    layers: Count | None = None
    hidden_size: Count | None = None
    attention_heads: Count | None = None
    key_size: Count | None = None
    value_size: Count | None = None
    sequence_tokens: Count | None = None
    causal: bool = False
    recompute: Recompute = "none"

    @model_validator(mode="after")
    def _attention_whole(self) -> TrainingWork:
        heads = (self.attention_heads, self.key_size, self.value_size)
        if any(heads) and not all(heads):
            raise ValueError("attention_heads, key_size and value_size go together: give all three, or hidden_size")
        if any((self.layers, self.sequence_tokens)) and not (self.layers and self.sequence_tokens and self._width):
            raise ValueError(
                "the attention term needs layers, sequence_tokens and hidden_size (or the three head sizes)"
            )
        return self

    @property
    def _width(self) -> Decimal | None:
        if self.attention_heads and self.key_size and self.value_size:
            return Decimal(self.attention_heads * (self.key_size + self.value_size)) / 2
        return Decimal(self.hidden_size) if self.hidden_size else None

    @property
    def attention_flops_per_token(self) -> Decimal:
        """12 x layers x width x sequence (forward and backward; Chowdhery et al. 2022, PaLM), half when causal."""
        if not (self.layers and self.sequence_tokens and self._width):
            return Decimal(0)
        return (6 if self.causal else 12) * self.layers * self._width * self.sequence_tokens

    @property
    def model_flops_per_token(self) -> Decimal:
        """6 x parameters + attention: what the training needs, whatever is computed twice."""
        return 6 * self.active_parameters + self.attention_flops_per_token

    @property
    def executed_flops_per_token(self) -> Decimal:
        """With the forward pass (full) or the attention scores alone (selective) computed a second time."""
        weights = (8 if self.recompute == "full" else 6) * self.active_parameters
        again = Decimal(1) if self.recompute == "none" else Decimal(4) / 3
        return weights + again * self.attention_flops_per_token


class TrainingSpeed(TrainingWork):
    """How fast `gpus` GPUs work, by one of: `tokens_per_second_per_gpu` measured; `achieved_tflops` per GPU, recomputation
    included; `mfu` or `hardware_share` of `peak_dense_tflops`; or that peak alone, with the default MFU of the scale.

    `restarts` takes the lower default that covers failures and lost work.
    """

    gpus: Count = 1
    peak_dense_tflops: PeakTflops | None = None
    mfu: Share | None = None
    hardware_share: Share | None = None
    achieved_tflops: PeakTflops | None = None
    tokens_per_second_per_gpu: TokenRate | None = None
    restarts: bool = False

    @model_validator(mode="after")
    def _one_speed(self) -> TrainingSpeed:
        named = {"mfu": self.mfu, "hardware_share": self.hardware_share, "achieved_tflops": self.achieved_tflops,
                 "tokens_per_second_per_gpu": self.tokens_per_second_per_gpu}  # fmt: skip
        stated = [name for name, value in named.items() if value is not None]
        if len(stated) > 1:
            raise ValueError(f"{' and '.join(stated)} both state the speed: give one of them")
        if self.peak_dense_tflops is None and stated not in (["achieved_tflops"], ["tokens_per_second_per_gpu"]):
            raise ValueError("no speed: give peak_dense_tflops, achieved_tflops or tokens_per_second_per_gpu")
        if self.peak_dense_tflops is not None and self.achieved_share > 1:
            raise ValueError(
                f"{stated[0]} {named[stated[0]]} would be {figure(self.achieved_share * 100, 3)} % of the peak of"
                f" {self.peak_dense_tflops} TFLOPS: is it the rate of a whole node, or are the parameters those of all experts?"
            )
        return self

    @property
    def default_mfu(self) -> Decimal:
        """What is taken when nothing was measured; recomputation costs 2 of 8 operations of the same hardware rate."""
        base = MFU_ONE_CARD if self.gpus == 1 else MFU_RESTARTS if self.restarts else MFU_CLUSTER
        return base * 6 / 8 if self.recompute == "full" else base

    @property
    def token_rate(self) -> Decimal:
        """Tokens a second of one GPU."""
        if self.tokens_per_second_per_gpu is not None:
            return self.tokens_per_second_per_gpu
        if self.achieved_tflops is not None:
            return self.achieved_tflops * TERA / self.executed_flops_per_token
        peak = self.peak_dense_tflops or Decimal(0)  # the validator has seen that it is there
        if self.hardware_share is not None:
            return peak * TERA * self.hardware_share / self.executed_flops_per_token
        return peak * TERA * (self.mfu or self.default_mfu) / self.model_flops_per_token

    @property
    def achieved_share(self) -> Decimal:
        """Executed operations a second as a share of the dense peak; 0 without a peak."""
        if self.peak_dense_tflops is None:
            return Decimal(0)
        return self.token_rate * self.executed_flops_per_token / (self.peak_dense_tflops * TERA)

    @property
    def model_share(self) -> Decimal:
        """MFU: needed operations a second as a share of the dense peak; 0 without a peak."""
        if self.peak_dense_tflops is None:
            return Decimal(0)
        return self.token_rate * self.model_flops_per_token / (self.peak_dense_tflops * TERA)

    @property
    def guessed(self) -> bool:
        """Whether the speed rests on the default MFU."""
        return not (self.mfu or self.hardware_share or self.achieved_tflops or self.tokens_per_second_per_gpu)

    @property
    def speed_formula(self) -> str:
        """The token rate of one GPU with the numbers put in."""
        rate = figure(self.token_rate)
        if self.tokens_per_second_per_gpu is not None:
            return f"{rate} tokens/s per GPU (measured)"
        if self.achieved_tflops is not None:
            return (
                f"{figure(self.achieved_tflops)}e12 ÷ {figure(self.executed_flops_per_token)} = {rate} tokens/s per GPU"
            )
        peak = figure(self.peak_dense_tflops or Decimal(0))
        if self.hardware_share is not None:
            share, per_token = self.hardware_share, self.executed_flops_per_token
        else:
            share, per_token = self.mfu or self.default_mfu, self.model_flops_per_token
        return f"{peak}e12 × {figure(share)} ÷ {figure(per_token)} = {rate} tokens/s per GPU"


def speed_assumptions(given: TrainingSpeed) -> tuple[Assumption, ...]:
    """What the speed rests on beyond the numbers given."""
    notes = [] if given.tokens_per_second_per_gpu is not None else [_attention(given)]
    if given.guessed:
        one_card = given.gpus == 1
        low, high = MFU_RANGE_ONE_CARD if one_card else MFU_RANGE
        mfu = figure(given.default_mfu)
        text = Bilingual(
            zh=f"没有实测速度，MFU 取 {mfu}（常见范围 {low}–{high}）；峰值是单卡稠密算力",
            en=f"no measured speed, MFU taken as {mfu} (usual range {low}-{high}); the peak is one GPU's dense one",
        )
        source = ONE_CARD_SOURCE if one_card else MFU_SOURCE
        notes.append(Assumption(name="mfu", value=mfu, text=text, source=source))
    return tuple(notes)


def _attention(given: TrainingWork) -> Assumption:
    counted = given.attention_flops_per_token > 0
    term = f"{6 if given.causal else 12}·L·h·s" if counted else "0"
    return Assumption(
        name="attention", value=term, source="PaLM (Chowdhery et al. 2022), appendix B",
        text=Bilingual(
            zh=f"注意力分数按 {term} 计入" if counted else "未计注意力分数的运算（给出 layers、hidden_size、sequence_tokens 即计入）",
            en=f"attention scores counted as {term} per token" if counted
            else "attention scores not counted (give layers, hidden_size and sequence_tokens to count them)",
        ),
    )  # fmt: skip


class TrainingFlopsInput(TrainingWork):
    """A model and the tokens it is trained on."""

    tokens: Tokens


def training_flops(given: TrainingFlopsInput) -> Calculation:
    """FLOP = (6 x active parameters + attention) x tokens; executed: 8 instead of 6 with full recomputation."""
    needed, executed = given.model_flops_per_token * given.tokens, given.executed_flops_per_token * given.tokens
    attention = f" + {figure(given.attention_flops_per_token)}" if given.attention_flops_per_token else ""
    return Calculation(
        value=significant(needed), unit="FLOP",
        formula=f"(6 × {figure(given.active_parameters)}{attention}) × {figure(given.tokens)} = {figure(needed)} FLOP",
        outputs={"flops": significant(needed), "executed_flops": significant(executed),
                 "flops_per_token": significant(given.model_flops_per_token),
                 "executed_flops_per_token": significant(given.executed_flops_per_token),
                 "attention_percent": significant(given.attention_flops_per_token / given.model_flops_per_token * 100, 3)},
        assumptions=(_attention(given),),
        changes_most=Bilingual(zh="与参数量和词元数成正比", en="proportional to parameters and to tokens"),
    )  # fmt: skip


class IterationTimeInput(TrainingSpeed):
    """One optimiser step over `tokens_per_iteration` tokens (global batch x sequence), spread over all `gpus` GPUs."""

    tokens_per_iteration: Tokens


def iteration_time(given: IterationTimeInput) -> Calculation:
    """seconds = tokens per iteration / (tokens per second per GPU x GPUs)."""
    rate = given.token_rate * given.gpus
    seconds = given.tokens_per_iteration / rate
    return Calculation(
        value=significant(seconds), unit="second",
        formula=f"{given.speed_formula}; {figure(given.tokens_per_iteration)} ÷ ({figure(given.token_rate)} ×"
                f" {given.gpus:,}) = {figure(seconds)} s",
        outputs={"seconds": significant(seconds), "tokens_per_second": significant(rate), "gpus": given.gpus},
        assumptions=speed_assumptions(given),
        changes_most=Bilingual(zh="与每次迭代的词元数成正比，与 GPU 数成反比", en="proportional to the tokens, inverse to the GPUs"),
    )  # fmt: skip


def training_rate(given: TrainingSpeed) -> Calculation:
    """tokens/s per GPU = dense peak x MFU / FLOPs per token; and MFU the other way round from a measured rate."""
    outputs: dict[str, Decimal | int | str] = {
        "tokens_per_second_per_gpu": significant(given.token_rate),
        "tokens_per_second": significant(given.token_rate * given.gpus), "gpus": given.gpus,
        "flops_per_token": significant(given.model_flops_per_token),
        "achieved_tflops": significant(given.token_rate * given.executed_flops_per_token / TERA),
    }  # fmt: skip
    formula = given.speed_formula
    if given.peak_dense_tflops is not None:
        percent = given.model_share * 100
        outputs |= {"mfu_percent": significant(percent), "hardware_percent": significant(given.achieved_share * 100)}
        formula += (
            f"; {figure(given.token_rate)} × {figure(given.model_flops_per_token)} ÷"
            f" {figure(given.peak_dense_tflops)}e12 = {figure(percent, 4)} % MFU"
        )
    return Calculation(
        value=significant(given.token_rate), unit="token per second per GPU", formula=formula, outputs=outputs,
        assumptions=(*speed_assumptions(given), *((_attention(given),) if given.tokens_per_second_per_gpu else ())),
        changes_most=Bilingual(zh="与参数量成反比，与 MFU 成正比", en="inverse to the parameters, proportional to the MFU"),
    )  # fmt: skip
