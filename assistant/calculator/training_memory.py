"""What memory training or fine-tuning a model takes, per GPU and in all, part by part.

Full, LoRA, QLoRA, freeze and P-Tuning v2 (prefix) tuning under ZeRO, FSDP, tensor and pipeline parallelism and CPU offload.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field, model_validator

from assistant.calculator.calculation import NO_TRUTH, Assumption, Calculation, Count, Parameters, number
from assistant.calculator.kv_cache import ContextTokens, check_split
from assistant.calculator.lora import Rank, Targets, adapter_parameters
from assistant.calculator.model_memory import (
    counted,
    embedding_of,
    stage_share,
    typical_hidden_size,
    typical_layers,
    typical_shape_note,
    weight_bytes,
)
from assistant.calculator.precision import BINARY_UNITS, EFFECTIVE_BITS, GIB, WeightPrecision, gb, gib
from assistant.calculator.shapes import GpuSpec, ModelShape
from assistant.calculator.training_activations import Checkpointing, Step, activation_bytes, logit_bytes
from assistant.calculator.training_states import (
    STAGE,
    HeldStates,
    Offload,
    Optimizer,
    Sharding,
    StateBytes,
    TrainingPrecision,
    billions,
    communication_buckets,
    held_states,
    state_bytes,
)
from assistant.evidence import Bilingual, Frozen, JsonDecimal

Method = Literal["full", "lora", "qlora", "freeze", "p-tuning"]
BytesPerParameter = Annotated[JsonDecimal, Field(ge=0, le=64), NO_TRUTH]
OVERHEAD_GIB = ((Decimal("1.0"), Decimal("1.8")), (Decimal("1.5"), Decimal("2.5")))  # one GPU; each of several
FRAGMENTATION = Decimal("0.05")  # of the allocator, at the high end
LIVE_PARAMETERS = Decimal(10**9)  # DeepSpeed's default stage3_max_live_parameters
VISIBLE_SHARE = Decimal("0.98")  # of a card's nominal GiB
QLORA_KEPT: WeightPrecision = "fp32"  # k-bit preparation casts embedding, head and norms to 32 bits (peft)


class TrainingMemoryInput(Frozen):
    """One training job. Give `model`, or `parameters` when only the size is known.

    No `sequence_tokens` counts no activations. `checkpointing` defaults to full for QLoRA, none otherwise.
    `fused_cross_entropy`: logits are computed in chunks. `fused_optimizer`: gradients are consumed layer by layer.
    `base_precision` is that of the frozen weights of LoRA and QLoRA, `kept_precision` that of embedding and head where
    they are not quantised (32 bits under peft's QLoRA, 16 in torchtune and litgpt). The three `*_bytes` replace bytes per parameter.
    """

    model: ModelShape | None = None
    parameters: Parameters | None = None
    method: Method = "full"
    precision: TrainingPrecision = "bf16-mixed"
    optimizer: Optimizer = "adam"
    gradients_fp32: bool = False
    weight_bytes: BytesPerParameter | None = None
    gradient_bytes: BytesPerParameter | None = None
    optimizer_bytes: BytesPerParameter | None = None
    base_precision: WeightPrecision | None = None
    kept_precision: WeightPrecision | None = None
    lora_rank: Rank = 8
    lora_targets: Targets = ("q", "v")
    trainable_layers: Count = 2
    prefix_tokens: Count = 128
    sequence_tokens: ContextTokens | None = None
    micro_batch: Count = 1
    checkpointing: Checkpointing | None = None
    flash_attention: bool = True
    fused_cross_entropy: bool = False
    fused_optimizer: bool = False
    activation_offload: bool = False
    gpus: Count = 1
    tensor_parallel: Count = 1
    pipeline_parallel: Count = 1
    sequence_parallel: bool = True
    sharding: Sharding = "none"
    offload: Offload = "none"
    largest_layer_parameters: Parameters | None = None
    gpu: GpuSpec | None = None

    @model_validator(mode="after")
    def _possible(self) -> TrainingMemoryInput:
        parameters = counted(self.model, self.parameters)
        if self.gpus % (self.tensor_parallel * self.pipeline_parallel):
            raise ValueError(
                f"gpus {self.gpus} is no multiple of tensor_parallel {self.tensor_parallel} x pipeline_parallel "
                f"{self.pipeline_parallel}: the quotient is the data-parallel degree"
            )
        if self.model is not None:
            check_split(self.model, self.tensor_parallel, self.pipeline_parallel)
        layers = self.model.layers if self.model else typical_layers(parameters)
        if self.method == "freeze" and self.trainable_layers > layers:
            raise ValueError(f"trainable_layers {self.trainable_layers} exceed the model's {layers} layers")
        if self.largest_layer_parameters is not None and self.largest_layer_parameters > parameters:
            raise ValueError(
                f"largest_layer_parameters {self.largest_layer_parameters} exceed the model's {parameters}"
            )
        return self


@dataclass(frozen=True)
class _Parts:
    """Bytes on the fullest GPU."""

    states: HeldStates
    gathered: Decimal
    buckets: Decimal
    activations: Decimal
    logits: Decimal

    @property
    def total(self) -> Decimal:
        return self.states.on_gpu + self.gathered + self.buckets + self.activations + self.logits


def training_memory(given: TrainingMemoryInput) -> Calculation:
    """per GPU = states (sharded over D = gpus / (tp x pp) ranks) + gathered layer + buckets + activations + logits
    + overhead. The value is the middle of the overhead's range; the high end adds 5 % fragmentation."""
    parameters = counted(given.model, given.parameters)
    trained = _trained(given, parameters)
    each = _each(given)
    parts = _parts(given, parameters, trained, each)
    overhead_low, overhead_high = OVERHEAD_GIB[given.gpus > 1]
    low = parts.total + overhead_low * GIB
    high = (parts.total + overhead_high * GIB) * (1 + FRAGMENTATION)
    middle = parts.total + (overhead_low + overhead_high) / 2 * GIB
    states = parts.states.on_gpu
    ranks = given.gpus // (given.tensor_parallel * given.pipeline_parallel)
    outputs: dict[str, Decimal | int | str] = {
        "per_gpu_gib": gib(middle), "per_gpu_gb": gb(middle), "per_gpu_low_gib": gib(low), "per_gpu_high_gib": gib(high),
        "total_gib": gib(middle * given.gpus), "total_gb": gb(middle * given.gpus), "states_per_gpu_bytes": states,
        "states_gib": gib(states), "states_gb": gb(states), "gathered_bytes": parts.gathered,
        "gathered_gib": gib(parts.gathered), "activations_gib": gib(parts.activations), "logits_gib": gib(parts.logits),
        "buckets_gib": gib(parts.buckets), "host_gib": gib(parts.states.host * ranks), "trainable_parameters": trained,
        "bytes_per_parameter": each.total, "data_parallel": ranks, "gpus": given.gpus,
        "weights_gib": gib(parts.states.weights), "gradients_gib": gib(parts.states.gradients),
        "optimizer_gib": gib(parts.states.optimizer), "overhead_gib": gib(middle - parts.total),
    }  # fmt: skip
    if given.gpu is not None:
        usable = given.gpu.memory_gib * GIB * VISIBLE_SHARE
        outputs |= {"verdict": "fits" if high <= usable else "tight" if low <= usable else "no",
                    "usable_gib": gib(usable), "headroom_gib": gib(usable - high)}  # fmt: skip
    return Calculation(
        value=gib(middle), unit="GiB/GPU",
        formula=_formula(given, parameters, trained, each, parts, middle),
        outputs=outputs, assumptions=_notes(given, parameters), rows=_rows(parts, overhead_low, overhead_high),
        changes_most=_changes_most(parts),
    )  # fmt: skip


def _parts(given: TrainingMemoryInput, parameters: Decimal, trained: Decimal, each: StateBytes) -> _Parts:
    share = stage_share(given.model, given.pipeline_parallel) / given.tensor_parallel
    ranks = given.gpus // (given.tensor_parallel * given.pipeline_parallel)
    frozen = _frozen(given, parameters, trained) * share
    local = trained * share
    states = held_states(frozen, local, each, ranks, given.sharding, given.offload, given.fused_optimizer)
    gathered = buckets = Decimal(0)
    if STAGE[given.sharding] == 3 and (ranks > 1 or given.offload == "parameters"):
        gathered = _gathered(given, parameters, each) / given.tensor_parallel
    if ranks > 1:
        buckets = communication_buckets(local, given.sharding)
    step = _step(given, parameters)
    if step is None:
        return _Parts(states, gathered, buckets, Decimal(0), Decimal(0))
    logits = Decimal(0) if given.fused_cross_entropy else logit_bytes(step)
    return _Parts(states, gathered, buckets, activation_bytes(step), logits)


def _trained(given: TrainingMemoryInput, parameters: Decimal) -> Decimal:
    if given.method == "full":
        return parameters
    layers = given.model.layers if given.model is not None else typical_layers(parameters)
    if given.method == "freeze":
        return (parameters - embedding_of(given.model, parameters)) * given.trainable_layers / layers
    if given.method == "p-tuning":
        return min(parameters, 2 * layers * given.prefix_tokens * _prefix_width(given, parameters))
    if given.model is not None:
        return min(parameters, adapter_parameters(given.model, given.lora_rank, given.lora_targets))
    # Square projections for a model of unknown shape: each adapter has 2 x hidden size x rank parameters.
    return min(
        parameters, 2 * layers * given.lora_rank * len(set(given.lora_targets)) * typical_hidden_size(parameters)
    )


def _prefix_width(given: TrainingMemoryInput, parameters: Decimal) -> Decimal:
    """What one prefix token has of K, or of V, in a layer (Liu et al. 2021, without the reparameterisation)."""
    model = given.model
    if model is None:
        return typical_hidden_size(parameters)
    return Decimal(model.kv_heads * model.head_size if model.kv_heads and model.head_size else model.hidden_size)


def _frozen(given: TrainingMemoryInput, parameters: Decimal, trained: Decimal) -> Decimal:
    if given.method == "full":
        return Decimal(0)
    if given.method == "freeze":
        return (parameters - trained) * EFFECTIVE_BITS[given.base_precision or "bf16"] / 8
    kept = given.kept_precision or (QLORA_KEPT if given.method == "qlora" else "bf16")
    return weight_bytes(given.model, parameters, _base(given), kept)


def _base(given: TrainingMemoryInput) -> WeightPrecision:
    if given.base_precision is not None:
        return given.base_precision
    if given.method == "qlora":
        return "nf4-dq"
    return "fp32" if given.precision == "fp32" else "bf16"


def _each(given: TrainingMemoryInput) -> StateBytes:
    usual = state_bytes(given.precision, given.optimizer, given.gradients_fp32)
    stated = (given.weight_bytes, given.gradient_bytes, given.optimizer_bytes)
    defaults = (usual.weights, usual.gradients, usual.optimizer)
    return StateBytes(*(default if own is None else own for own, default in zip(stated, defaults, strict=True)))


def _largest_layer(given: TrainingMemoryInput, parameters: Decimal) -> Decimal:
    if given.largest_layer_parameters is not None:
        return given.largest_layer_parameters
    embedding = embedding_of(given.model, parameters)
    layers = given.model.layers if given.model is not None else typical_layers(parameters)
    tables = 1 if given.model is not None and given.model.tied_embeddings else 2
    return max((parameters - embedding) / layers, embedding / tables)


def _gathered(given: TrainingMemoryInput, parameters: Decimal, each: StateBytes) -> Decimal:
    """The largest layer's weights, with 16-bit gradients when they are trained (DeepSpeed's estimator: 4 bytes); unless
    that layer is stated, DeepSpeed's ZeRO-3 keeps up to 10^9 gathered weights alive."""
    weight, gradient = each.weights, min(each.gradients, Decimal(2))
    if given.method in ("lora", "qlora"):
        weight, gradient = EFFECTIVE_BITS[_base(given)] / 8, Decimal(0)
    layer = _largest_layer(given, parameters) * (weight + gradient)
    if given.sharding != "zero3" or given.largest_layer_parameters is not None:
        return layer
    return max(layer, min(LIVE_PARAMETERS, parameters) * weight)


def _step(given: TrainingMemoryInput, parameters: Decimal) -> Step | None:
    if given.sequence_tokens is None:
        return None
    model = given.model
    hidden = Decimal(model.hidden_size) if model is not None else typical_hidden_size(parameters)
    return Step(
        layers=model.layers if model is not None else typical_layers(parameters), hidden=hidden,
        heads=Decimal(model.attention_heads) if model is not None else hidden / 128,
        vocabulary=Decimal(model.vocabulary) if model is not None else embedding_of(None, parameters) / 2 / hidden,
        micro_batch=given.micro_batch, sequence=given.sequence_tokens, checkpointing=_checkpointing(given),
        flash_attention=given.flash_attention, tensor=given.tensor_parallel, pipeline=given.pipeline_parallel,
        sequence_parallel=given.sequence_parallel, in_fp32=given.precision == "fp32", offloaded=given.activation_offload,
    )  # fmt: skip


def _checkpointing(given: TrainingMemoryInput) -> Checkpointing:
    return given.checkpointing or ("full" if given.method == "qlora" else "none")


def _formula(
    given: TrainingMemoryInput, parameters: Decimal, trained: Decimal, each: StateBytes, parts: _Parts, middle: Decimal
) -> str:
    stage = f", {given.sharding} ÷ {given.gpus // (given.tensor_parallel * given.pipeline_parallel)}"
    states = f"{billions(trained)} × ({number(each.weights)} + {number(each.gradients)} + {number(each.optimizer)}) B"
    if given.method != "full":
        states = f"{billions(parameters)} {_base(given)} + {states}"
    overhead = middle - parts.total
    terms = (parts.states.on_gpu, parts.gathered + parts.buckets, parts.activations, parts.logits, overhead)
    return f"{states}{stage if given.gpus > 1 else ''}: {' + '.join(f'{gib(term):.2f}' for term in terms)} = {gib(middle):,} GiB/GPU"


def _rows(parts: _Parts, low: Decimal, high: Decimal) -> tuple[dict[str, Decimal | int | str], ...]:
    named = {
        "weights": parts.states.weights, "gradients": parts.states.gradients, "optimizer": parts.states.optimizer,
        "gathered_layer": parts.gathered, "buckets": parts.buckets, "activations": parts.activations, "logits": parts.logits,
    }  # fmt: skip
    rows: list[dict[str, Decimal | int | str]] = [
        {"part": name, "per_gpu_gib": gib(size)} for name, size in named.items()
    ]
    return (*rows, {"part": "overhead", "per_gpu_gib": low, "per_gpu_high_gib": high})


def _changes_most(parts: _Parts) -> Bilingual:
    if parts.states.on_gpu >= parts.activations + parts.logits:
        size = gib(parts.states.on_gpu)
        return Bilingual(
            zh=f"模型状态占比最大（每卡 {size:,} GiB）：改用 LoRA/QLoRA 或 ZeRO-3 最有效",
            en=f"model states weigh most ({size:,} GiB per GPU): LoRA, QLoRA or ZeRO-3 help most",
        )
    size = gib(parts.activations + parts.logits)
    return Bilingual(
        zh=f"激活与 logits 占比最大（每卡 {size:,} GiB）：缩短序列或开启重计算最有效",
        en=f"activations and logits weigh most ({size:,} GiB per GPU): a shorter sequence or checkpointing helps most",
    )


def _notes(given: TrainingMemoryInput, parameters: Decimal) -> tuple[Assumption, ...]:
    low, high = OVERHEAD_GIB[given.gpus > 1]
    notes = [
        Assumption(
            name="overhead_gib", value=f"{low}-{high}",
            text=Bilingual(
                zh=f"每卡运行时开销 {low}–{high} GiB，上限另加 5% 显存碎片",
                en=f"runtime overhead {low}–{high} GiB per GPU; the high end adds 5 % fragmentation",
            ),
        )
    ]  # fmt: skip
    if given.sequence_tokens is None:
        notes.append(
            Assumption(
                name="sequence_tokens", value="0",
                text=Bilingual(zh="未给出序列长度：未计入激活与 logits", en="no sequence length was given: activations and logits are not counted"),
            )
        )  # fmt: skip
    elif given.checkpointing is None:
        mode = _checkpointing(given)
        notes.append(
            Assumption(
                name="checkpointing", value=mode,
                text=Bilingual(zh=f"激活重计算按 {mode}", en=f"activation checkpointing is taken as {mode}"),
                source="peft" if given.method == "qlora" else "",
            )
        )  # fmt: skip
    if given.model is None:
        notes.append(typical_shape_note(parameters))
    return (*notes, BINARY_UNITS)
