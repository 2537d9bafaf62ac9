"""Rows of gpus.csv and models.csv as the arguments that calculators take.

Converts and finds by name; it computes nothing. Of a disputed figure the cautious end is handed over: the least
memory, bandwidth and speed, the most power.
"""

from __future__ import annotations

import re
from decimal import Decimal
from difflib import get_close_matches

from assistant.calculator.shapes import GpuSpec, ModelShape
from knowledge.catalog import load_catalog
from knowledge.gpu_names import gpu_forms
from knowledge.hardware import Gpu, Model
from knowledge.names import link, model_name, normalise
from knowledge.table_rows import Span


def model_shape(model: Model) -> ModelShape:
    """A row of models.csv as an argument."""
    return ModelShape(
        name=model.name, parameters=model.parameters, active_parameters=model.active_parameters, layers=model.layers,
        hidden_size=model.hidden_size, attention_heads=model.attention_heads, kv_heads=model.kv_heads,
        head_size=model.head_size, mlp_size=model.mlp_size, vocabulary=model.vocabulary,
        context_tokens=model.context_tokens, cache=model.cache, mla_rank=model.mla_rank, mla_rope_size=model.mla_rope_size,
        windowed_layers=model.windowed_layers, window_tokens=model.window_tokens, experts=model.experts,
        experts_per_token=model.experts_per_token, tied_embeddings=model.tied_embeddings,
    )  # fmt: skip


def gpu_spec(gpu: Gpu) -> GpuSpec | None:
    """A row of gpus.csv as an argument; None for a card whose memory no source states."""
    if gpu.memory is None:
        return None
    capability = re.fullmatch(r"\d+\.\d+", gpu.compute_capability)
    return GpuSpec(
        name=gpu.name, memory_gib=gpu.memory.low, bandwidth_gb_per_s=_least(gpu.bandwidth_gb_per_s),
        fp32_tflops=_least(gpu.fp32_tflops), fp16_tflops=_least(gpu.fp16_tflops), bf16_tflops=_least(gpu.bf16_tflops),
        fp8_tflops=_least(gpu.fp8_tflops), int8_tops=_least(gpu.int8_tops), tdp_w=gpu.tdp_w.high if gpu.tdp_w else None,
        nvlink_gb_per_s=gpu.nvlink_gb_per_s, compute_capability=Decimal(capability.group()) if capability else None,
        export_status=gpu.export_status, export_rule=gpu.export_rule_en,
    )  # fmt: skip


def named_model(name: str) -> ModelShape | None:
    """The model of this name, as models.csv spells it or as people do; None where no row or more than one is meant."""
    catalog = load_catalog()
    if exact := catalog.model(name):
        return model_shape(exact)
    found = {key for item in link(normalise(name)) if item.kind == "model" and (key := model_name(item.key))}
    row = catalog.model(found.pop()) if len(found) == 1 else None
    return model_shape(row) if row else None


def named_gpu(name: str) -> GpuSpec | None:
    """The accelerator of this name, as gpus.csv spells it or as people do; None where no row or more than one is meant."""
    catalog = load_catalog()
    exact = catalog.gpu(name)
    if exact is None:
        resolution = gpu_forms(name)
        exact = catalog.gpu(resolution.forms[0]) if len(resolution.forms) == 1 else None
    return gpu_spec(exact) if exact else None


def candidates(kind: type[ModelShape] | type[GpuSpec], name: str) -> tuple[str, ...]:
    """Row names that an unclear name may mean: the forms of a GPU's family, the models spelt most like it."""
    if kind is GpuSpec:
        return gpu_forms(name).forms
    return tuple(get_close_matches(name, [model.name for model in load_catalog().models], n=3))


def _least(span: Span | None) -> Decimal | None:
    return span.low if span else None
