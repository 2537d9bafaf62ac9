"""The key-value cache of a transformer: MHA, GQA, MQA, MLA and sliding windows.

A cache layout that is none of these is refused; it is never approximated by another.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field, model_validator

from assistant.calculator.calculation import NO_TRUTH, Amount, Assumption, Calculation, Count, number
from assistant.calculator.precision import CACHE_BYTES, CachePrecision, both_units, gb, gib
from assistant.calculator.shapes import ModelShape, Natural
from assistant.evidence import Bilingual, Frozen

ContextTokens = Annotated[int, Field(ge=1, le=1_000_000_000), NO_TRUTH]
WHOLE_CACHE_ON_EACH = Assumption(
    name="mla_split", value="1",
    text=Bilingual(
        zh="MLA 的压缩缓存不随张量并行切分：每张卡各存一份完整缓存",
        en="the compressed MLA cache is not divided by tensor parallelism: each card keeps a whole copy",
    ),
    source="DeepSeek-V3, arXiv 2505.09343",
)  # fmt: skip
REPLICATED_HEADS = Assumption(
    name="kv_replication", value="kv_heads < tensor_parallel",
    text=Bilingual(
        zh="KV 头数少于张量并行度：每张卡至少保存 1 个 KV 头，因此有重复",
        en="there are fewer KV heads than tensor-parallel ranks: each card keeps at least one, so some are replicated",
    ),
    source="vLLM",
)  # fmt: skip


class CacheShape(Frozen):
    """The part of a model's shape that its cache depends on, for when nothing else of it is known.

    "full": `kv_heads` x `head_size` keys and as many values per layer and token; "mla": one vector of
    `mla_rank` + `mla_rope_size` values shared by keys and values.
    """

    layers: Count
    cache: Literal["full", "mla"]
    kv_heads: Count | None = None
    head_size: Count | None = None
    value_head_size: Count | None = None
    mla_rank: Count | None = None
    mla_rope_size: Natural = 0
    windowed_layers: Natural = 0
    window_tokens: Count | None = None

    @model_validator(mode="after")
    def _whole(self) -> CacheShape:
        if self.cache == "full" and not (self.kv_heads and self.head_size):
            raise ValueError("cache 'full' needs kv_heads and head_size")
        if self.cache == "mla" and not self.mla_rank:
            raise ValueError("cache 'mla' needs mla_rank")
        if self.windowed_layers > self.layers:
            raise ValueError(f"{self.windowed_layers} windowed layers of {self.layers}")
        if self.windowed_layers and not self.window_tokens:
            raise ValueError("windowed_layers need window_tokens")
        return self


class KvCacheInput(Frozen):
    """A model's cache for `sequences` concurrent sequences of `context_tokens` tokens each (prompt and answer).

    Give `model`, or `kv_bytes_per_token` as one GPU's log states it. `window_slack_tokens` are cells an engine
    allocates beyond the window, `block_tokens` the size of a cache block (vLLM 16).
    """

    model: ModelShape | CacheShape | None = None
    kv_bytes_per_token: Amount | None = None
    context_tokens: ContextTokens
    sequences: Count = 1
    kv_precision: CachePrecision = "fp16"
    tensor_parallel: Count = 1
    pipeline_parallel: Count = 1
    window_slack_tokens: Natural = 0
    block_tokens: Count = 1

    @model_validator(mode="after")
    def _one_source(self) -> KvCacheInput:
        if (self.model is None) == (self.kv_bytes_per_token is None):
            raise ValueError(
                "give either model (its cache layout) or kv_bytes_per_token; a cache layout is never guessed"
            )
        if self.model is not None:
            check_split(self.model, self.tensor_parallel, self.pipeline_parallel)
        elif self.tensor_parallel * self.pipeline_parallel > 1:
            raise ValueError(
                f"kv_bytes_per_token {self.kv_bytes_per_token} is taken as one GPU's: it cannot be split over "
                f"{self.tensor_parallel} x {self.pipeline_parallel} GPUs; give model instead"
            )
        return self


def kv_cache(given: KvCacheInput) -> Calculation:
    """bytes = 2 x layers x kv heads x head size x bytes x tokens x sequences; MLA: layers x (rank + rope) instead of
    the 2 x heads; windowed layers hold at most their window (Korthikanti/vLLM and DeepSeek-V2 papers)."""
    tokens = -(-given.context_tokens // given.block_tokens) * given.block_tokens
    if given.model is None:
        assert given.kv_bytes_per_token is not None  # the validator saw to it
        per_token = given.kv_bytes_per_token
        per_gpu = whole = per_token * tokens * given.sequences
        per_layer = Decimal(0)
        formula = f"{number(per_token)} B × {tokens:,}"
        assumptions: tuple[Assumption, ...] = ()
    else:
        element = CACHE_BYTES[given.kv_precision]
        per_layer = layer_values(given.model) * element
        per_token = per_layer * given.model.layers
        whole = cache_bytes(given.model, tokens, element, given.window_slack_tokens) * given.sequences
        per_gpu = cache_bytes_per_gpu(
            given.model, tokens, element, given.tensor_parallel, given.pipeline_parallel, given.window_slack_tokens
        ) * given.sequences  # fmt: skip
        formula = _terms(given.model, element, tokens, given.window_slack_tokens)
        assumptions = _split_notes(given.model, given.tensor_parallel)
    gpus = given.tensor_parallel * given.pipeline_parallel
    shown = f"{formula} × {given.sequences}" if given.sequences > 1 else formula
    return Calculation(
        value=gib(whole), unit="GiB", formula=f"{shown} = {both_units(whole)}",
        outputs={"total_bytes": whole, "total_gib": gib(whole), "total_gb": gb(whole),
                 "per_gpu_bytes": per_gpu, "per_gpu_gib": gib(per_gpu), "per_gpu_gb": gb(per_gpu),
                 "sum_over_gpus_gib": gib(per_gpu * gpus), "bytes_per_token": per_token,
                 "bytes_per_token_and_layer": per_layer, "per_sequence_gib": gib(whole / given.sequences),
                 "cells": tokens},
        assumptions=assumptions,
        changes_most=Bilingual(
            zh=f"上下文长度或并发数加倍，缓存最多加倍（另增 {gib(whole):,} GiB）",
            en=f"twice the context or twice the sequences at most doubles the cache (another {gib(whole):,} GiB)",
        ),
    )  # fmt: skip


def layer_values(model: ModelShape | CacheShape) -> Decimal:
    """Cached values per layer and token."""
    if model.cache == "mla":
        return Decimal((model.mla_rank or 0) + (model.mla_rope_size or 0))
    key_size = model.head_size or 0
    value_size = (isinstance(model, CacheShape) and model.value_head_size) or key_size
    return Decimal((model.kv_heads or 0) * (key_size + value_size))


def cache_bytes(model: ModelShape | CacheShape, tokens: int, element: Decimal, slack: int = 0) -> Decimal:
    """Bytes of one sequence over all layers."""
    return layer_values(model) * element * _layer_cells(model, tokens, slack)


def cache_bytes_per_gpu(
    model: ModelShape | CacheShape, tokens: int, element: Decimal, tensor: int, pipeline: int, slack: int = 0
) -> Decimal:
    """Bytes of one sequence on the fullest GPU: heads over tensor ranks (at least one each), layers over stages."""
    share = Decimal(1)
    if model.cache == "full":
        share = Decimal(-(-(model.kv_heads or 1) // tensor)) / (model.kv_heads or 1)
    # Windowed and full layers alternate, so a stage holds its share of both; the longest stage counts.
    cells = _layer_cells(model, tokens, slack) * -(-model.layers // pipeline) / model.layers
    return layer_values(model) * element * cells * share


def check_split(model: ModelShape | CacheShape, tensor: int, pipeline: int) -> None:
    """Raises ValueError, naming the values, for a split that no engine can make."""
    if isinstance(model, ModelShape) and model.attention_heads % tensor:
        raise ValueError(
            f"{model.attention_heads} attention heads of {model.name} cannot be split over tensor_parallel {tensor}: "
            f"take a divisor of {model.attention_heads}"
        )
    heads = model.kv_heads if model.cache == "full" else None
    if heads and heads % tensor and tensor % heads:
        raise ValueError(
            f"{heads} KV heads can neither be split over nor replicated on tensor_parallel {tensor}: take a divisor or a "
            f"multiple of {heads}"
        )
    if pipeline > model.layers:
        raise ValueError(
            f"pipeline_parallel {pipeline} exceeds the {model.layers} layers: take at most one stage per layer"
        )


def _layer_cells(model: ModelShape | CacheShape, tokens: int, slack: int) -> Decimal:
    windowed = model.windowed_layers * min(tokens, (model.window_tokens or 0) + slack)
    return Decimal((model.layers - model.windowed_layers) * tokens + windowed)


def _terms(model: ModelShape | CacheShape, element: Decimal, tokens: int, slack: int) -> str:
    size = number(element.normalize())
    if model.cache == "mla":
        values = f"({model.mla_rank} + {model.mla_rope_size})"
    elif isinstance(model, CacheShape) and model.value_head_size not in (None, model.head_size):
        values = f"{model.kv_heads} × ({model.head_size} + {model.value_head_size})"
    else:
        values = f"2 × {model.kv_heads} × {model.head_size}"
    if not model.windowed_layers:
        return f"{model.layers} × {values} × {size} B × {tokens:,}"
    kept = min(tokens, (model.window_tokens or 0) + slack)
    full = model.layers - model.windowed_layers
    return f"({full} × {tokens:,} + {model.windowed_layers} × {kept:,}) × {values} × {size} B"


def _split_notes(model: ModelShape | CacheShape, tensor: int) -> tuple[Assumption, ...]:
    if tensor == 1:
        return ()
    if model.cache == "mla":
        return (WHOLE_CACHE_ON_EACH,)
    return (REPLICATED_HEADS,) if (model.kv_heads or 1) < tensor else ()
