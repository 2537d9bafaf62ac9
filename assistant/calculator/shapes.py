"""What calculators are told about a model and a GPU: numbers from table rows, handed in as arguments.

Nothing is looked up here, and no number is guessed: a shape whose cache layout is not known cannot be built.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field, model_validator

from assistant.calculator.calculation import NO_TRUTH, Amount, Count, Parameters
from assistant.evidence import Frozen, JsonDecimal

CacheLayout = Literal["full", "mla"]
Natural = Annotated[int, Field(ge=0, le=1_000_000), NO_TRUTH]


class ModelShape(Frozen):
    """A transformer's shape, as its configuration file states it.

    `parameters` counts all experts, `active_parameters` those one token passes through (equal when dense), both
    with embedding and head. `cache` "full": K and V of `kv_heads` x `head_size` per layer and token (MHA, GQA and
    MQA are this); "mla": one compressed vector of `mla_rank` + `mla_rope_size` values. `windowed_layers` of the
    `layers` keep only `window_tokens` tokens. `mlp_size` is the width of a dense MLP (of one expert in `expert_mlp_size`).
    """

    name: str
    parameters: Parameters
    active_parameters: Parameters
    layers: Count
    hidden_size: Count
    attention_heads: Count
    kv_heads: Count | None = None
    head_size: Count | None = None
    mlp_size: Count | None = None
    vocabulary: Count
    context_tokens: Annotated[int, Field(ge=1, le=10**8), NO_TRUTH] | None = None
    cache: CacheLayout = "full"
    mla_rank: Count | None = None
    mla_rope_size: Count | None = None
    windowed_layers: Natural = 0
    window_tokens: Count | None = None
    experts: Count | None = None
    experts_per_token: Count | None = None
    tied_embeddings: bool = False

    @model_validator(mode="after")
    def _whole(self) -> ModelShape:
        if self.active_parameters > self.parameters:
            raise ValueError(
                f"{self.name}: active_parameters {self.active_parameters} exceed parameters {self.parameters}"
            )
        if self.cache == "full" and not (self.kv_heads and self.head_size):
            raise ValueError(f"{self.name}: cache 'full' needs kv_heads and head_size")
        if self.cache == "mla" and not (self.mla_rank and self.mla_rope_size):
            raise ValueError(f"{self.name}: cache 'mla' needs mla_rank and mla_rope_size")
        if self.windowed_layers > self.layers:
            raise ValueError(f"{self.name}: {self.windowed_layers} windowed layers of {self.layers}")
        if self.windowed_layers and not self.window_tokens:
            raise ValueError(f"{self.name}: windowed_layers need window_tokens")
        return self

    @property
    def embedding_parameters(self) -> Decimal:
        """vocabulary x hidden size, once when tied, twice (input and output) otherwise."""
        return Decimal(self.vocabulary * self.hidden_size * (1 if self.tied_embeddings else 2))


class GpuSpec(Frozen):
    """One accelerator. `memory_gib` is what the card is sold as (an "80 GB" card has 80 GiB less a reserve);
    TFLOPS are dense, and None where the card or the source has no figure."""

    name: str
    memory_gib: Amount
    bandwidth_gb_per_s: Amount | None = None
    fp32_tflops: Amount | None = None
    fp16_tflops: Amount | None = None
    bf16_tflops: Amount | None = None
    fp8_tflops: Amount | None = None
    int8_tops: Amount | None = None
    tdp_w: Amount | None = None
    nvlink_gb_per_s: Amount | None = None
    compute_capability: JsonDecimal | None = None
    export_status: str = "unknown"
    export_rule: str = ""
