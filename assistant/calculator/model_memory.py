"""How much memory a model's weights take, and what can be said of a model whose size alone is known.

Takes a ModelShape or a parameter count; it reads no checkpoint. All experts of a mixture count.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

from pydantic import Field, model_validator

from assistant.calculator.calculation import NO_TRUTH, Assumption, Calculation, Count, Parameters, number
from assistant.calculator.kv_cache import check_split
from assistant.calculator.precision import (
    BINARY_UNITS,
    EFFECTIVE_BITS,
    BitsPerWeight,
    WeightPrecision,
    both_units,
    gb,
    gib,
    keeps_embeddings,
)
from assistant.calculator.shapes import ModelShape
from assistant.evidence import Bilingual, Frozen, JsonDecimal

KeptParameters = Annotated[JsonDecimal, Field(ge=0, le=10**14), NO_TRUTH]
HIDDEN_PER_LAYER = 128  # hidden size / layers of dense models: Llama 7B 128, 13B 128, 70B 102, 405B 130
PARAMETERS_PER_LAYER_AND_HIDDEN_SQUARED = 12  # 4 in attention, 8 in the MLP (Megatron-LM, arXiv 2104.04473)
TYPICAL_VOCABULARY = 65_536  # between 32,000 (Llama 2) and 152,064 (Qwen2.5)
MOST_IN_EMBEDDINGS = Decimal("0.25")  # of a model of unknown shape


def typical_hidden_size(parameters: Decimal) -> Decimal:
    """Hidden size h of a dense model: N = 12 L h^2 with L = h / 128."""
    cube = float(parameters) * HIDDEN_PER_LAYER / PARAMETERS_PER_LAYER_AND_HIDDEN_SQUARED
    return Decimal(max(1, round(cube ** (1 / 3))))


def typical_layers(parameters: Decimal) -> int:
    """Layers of a dense model of that many parameters."""
    return max(1, round(typical_hidden_size(parameters) / HIDDEN_PER_LAYER))


def typical_embedding(parameters: Decimal) -> Decimal:
    """Parameters in embedding and head of a model of unknown shape."""
    return min(2 * TYPICAL_VOCABULARY * typical_hidden_size(parameters), parameters * MOST_IN_EMBEDDINGS)


def typical_shape_note(parameters: Decimal) -> Assumption:
    """Says that layers and width were taken from the size alone."""
    layers, hidden = typical_layers(parameters), typical_hidden_size(parameters)
    return Assumption(
        name="shape", value=f"{layers} x {hidden}",
        text=Bilingual(
            zh=f"只知道参数量：按常见稠密模型取 {layers} 层、隐藏维度 {hidden}、词表 {TYPICAL_VOCABULARY:,}",
            en=f"only the parameter count is known: {layers} layers, hidden size {hidden} and a vocabulary of "
               f"{TYPICAL_VOCABULARY:,} are taken, as is usual for a dense model",
        ),
        source="N = 12·L·h², L = h/128; arXiv 2104.04473",
    )  # fmt: skip


class ModelWeightsInput(Frozen):
    """A model's weights in one format. Give `model` or `parameters` (all experts counted).

    `kept_parameters` stay in `kept_precision`: by default embedding and head (and attention for MXFP4) of formats
    that leave them. `bits_per_weight` replaces the format's bits.
    """

    model: ModelShape | None = None
    parameters: Parameters | None = None
    precision: WeightPrecision = "bf16"
    bits_per_weight: BitsPerWeight | None = None
    kept_parameters: KeptParameters | None = None
    kept_precision: WeightPrecision = "bf16"
    tensor_parallel: Count = 1
    pipeline_parallel: Count = 1

    @model_validator(mode="after")
    def _consistent(self) -> ModelWeightsInput:
        parameters = counted(self.model, self.parameters)
        if self.kept_parameters is not None and self.kept_parameters > parameters:
            raise ValueError(f"kept_parameters {self.kept_parameters} exceed the model's {parameters}")
        if self.model is not None:
            check_split(self.model, self.tensor_parallel, self.pipeline_parallel)
        return self


def model_weights(given: ModelWeightsInput) -> Calculation:
    """bytes = (parameters - kept) x bits / 8 + kept x kept bits / 8, split over tensor ranks and pipeline stages."""
    parameters = counted(given.model, given.parameters)
    kept, notes = _kept(given, parameters)
    bits = given.bits_per_weight or EFFECTIVE_BITS[given.precision]
    kept_bits = EFFECTIVE_BITS[given.kept_precision]
    size = ((parameters - kept) * bits + kept * kept_bits) / 8
    per_gpu = size / given.tensor_parallel * stage_share(given.model, given.pipeline_parallel)
    formula = f"{number(parameters / 10**9)}e9 × {number(bits)} bit ÷ 8"
    if kept:
        formula = (
            f"{number((parameters - kept) / 10**9)}e9 × {number(bits)} bit ÷ 8 + {number(kept / 10**9)}e9 × "
            f"{number(kept_bits)} bit ÷ 8"
        )
    gpus = given.tensor_parallel * given.pipeline_parallel
    return Calculation(
        value=gib(size), unit="GiB",
        formula=f"{formula} = {both_units(size)}" + (f"; ÷ {gpus} = {gib(per_gpu)} GiB/GPU" if gpus > 1 else ""),
        outputs={"total_bytes": size, "total_gib": gib(size), "total_gb": gb(size), "per_gpu_bytes": per_gpu,
                 "per_gpu_gib": gib(per_gpu), "per_gpu_gb": gb(per_gpu), "parameters": parameters,
                 "kept_parameters": kept, "effective_bits": size * 8 / parameters},
        assumptions=(*notes, BINARY_UNITS),
        changes_most=Bilingual(
            zh=f"权重随位数成正比：每参数 1 字节为 {gib(parameters):,} GiB",
            en=f"weights grow with the bits: at one byte per parameter they take {gib(parameters):,} GiB",
        ),
    )  # fmt: skip


def counted(model: ModelShape | None, parameters: Decimal | None) -> Decimal:
    """The parameters of a model given one way or the other. Raises ValueError for none and for both."""
    if (model is None) == (parameters is None):
        raise ValueError("give either model or parameters (the total, with all experts)")
    return model.parameters if model is not None else parameters or Decimal(0)


def stage_share(model: ModelShape | None, pipeline: int) -> Decimal:
    """The share of a model that its fullest pipeline stage holds: whole layers, where their number is known; stages
    with embedding or head get fewer layers."""
    even = Decimal(1) / pipeline
    if model is None:
        return even
    in_layers = 1 - embedding_of(model, model.parameters) / model.parameters
    return max(even, in_layers * -(-model.layers // pipeline) / model.layers)


def weight_bytes(
    model: ModelShape | None, parameters: Decimal, precision: WeightPrecision, kept_precision: WeightPrecision = "bf16"
) -> Decimal:
    """Bytes of all weights, the parts that the format leaves as they are in `kept_precision`."""
    kept = kept_of(model, parameters, precision)
    return ((parameters - kept) * EFFECTIVE_BITS[precision] + kept * EFFECTIVE_BITS[kept_precision]) / 8


def kept_of(model: ModelShape | None, parameters: Decimal, precision: WeightPrecision) -> Decimal:
    """Parameters that checkpoints of this format leave in 16 bits: embedding and head, under MXFP4 attention too."""
    if not keeps_embeddings(precision):
        return Decimal(0)
    kept = embedding_of(model, parameters)
    if precision == "mxfp4" and model is not None:  # gpt-oss: only the experts are in MXFP4
        kept = min(kept + attention_of(model), parameters)
    return kept


def embedding_of(model: ModelShape | None, parameters: Decimal) -> Decimal:
    """Parameters in embedding and head, known or typical; never more than the model has."""
    return min(model.embedding_parameters, parameters) if model is not None else typical_embedding(parameters)


def attention_of(model: ModelShape) -> Decimal:
    """Parameters of the attention projections: h·H·d + 2·h·k·d + H·d·h per layer. MLA: not derived, 0."""
    if not model.head_size or not model.kv_heads:
        return Decimal(0)
    width = 2 * model.attention_heads * model.head_size + 2 * model.kv_heads * model.head_size
    return Decimal(model.layers * model.hidden_size * width)


def _kept(given: ModelWeightsInput, parameters: Decimal) -> tuple[Decimal, tuple[Assumption, ...]]:
    if given.kept_parameters is not None:
        return given.kept_parameters, ()
    kept = kept_of(given.model, parameters, given.precision)
    if not kept:
        return kept, ()
    notes = () if given.model is not None else (typical_shape_note(parameters),)
    return kept, (*notes, _kept_note(kept, given.kept_precision))


def _kept_note(kept: Decimal, precision: WeightPrecision) -> Assumption:
    billions = number((kept / 10**9).quantize(Decimal("0.001")))
    return Assumption(
        name="kept_parameters", value=str(kept),
        text=Bilingual(
            zh=f"量化权重中词嵌入与输出层等 {billions}B 参数仍为 {precision}",
            en=f"{billions}B parameters (embedding, output head) of the quantised checkpoint stay in {precision}",
        ),
        source="Qwen3 and Qwen2.5 speed benchmarks",
    )  # fmt: skip
