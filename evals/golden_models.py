"""What a row of published values leaves unsaid about its model or card, from our own tables: shapes, memory, formats.

Computes no memory. What neither row nor table says stays unknown (None).
"""

from __future__ import annotations

import re
from decimal import Decimal
from functools import cache

from assistant.calculator.precision import EFFECTIVE_BITS
from assistant.calculator.shapes import ModelShape
from knowledge.catalog import load_catalog
from knowledge.hardware import Model

SHAPE_FIELDS = (
    "name", "parameters", "active_parameters", "layers", "hidden_size", "attention_heads", "kv_heads", "head_size",
    "mlp_size", "vocabulary", "context_tokens", "cache", "mla_rank", "mla_rope_size", "windowed_layers", "window_tokens",
    "experts", "experts_per_token", "tied_embeddings",
)  # fmt: skip
USUAL_HEAD_SIZE = 128
OTHER_SPELLINGS = {
    "w8a8": "int8", "8bit": "int8", "8-bit": "int8", "4bit": "int4", "4-bit": "int4", "f16": "fp16", "float16": "fp16",
    "bfloat16": "bf16", "f32": "fp32", "float32": "fp32", "gptq": "gptq-int4", "awq": "awq-int4",
}  # fmt: skip


@cache
def known_shape(name: str) -> ModelShape | None:
    """The shape of the model whose name this is or begins with, as models.csv has it."""
    wanted = _letters(name)
    rows = [row for row in load_catalog().models if wanted == _letters(row.name)]
    if not rows:  # "Llama-3-8B Q4_K_M", "Qwen1.5-7B (chat)": the longest name it begins with
        rows = [
            row for row in load_catalog().models if re.match(rf"{re.escape(row.name)}(?![\w.])", name, re.IGNORECASE)
        ]
    return shape(max(rows, key=lambda row: len(row.name))) if rows else None


def shape(row: Model) -> ModelShape:
    """A table row as calculators take it. Of a mixture the width is one expert's."""
    fields: dict[str, object] = {field: getattr(row, field) for field in SHAPE_FIELDS}
    return ModelShape.model_validate(fields | {"mlp_size": row.expert_mlp_size or row.mlp_size})


def resized(known: ModelShape, parameters: Decimal) -> ModelShape:
    """A known shape with a row's own parameter count."""
    dense = known.active_parameters == known.parameters
    active = parameters if dense else min(parameters, known.active_parameters)
    return known.model_copy(update={"parameters": parameters, "active_parameters": active})


def shape_like(
    name: str, parameters: Decimal, layers: int | None, hidden: int | None, vocabulary: int | None
) -> ModelShape | None:
    """The known shape with the row's numbers in it, or a plain one made of them; None where they do not suffice."""
    stated = {"layers": layers, "hidden_size": hidden, "vocabulary": vocabulary}
    stated = {field: value for field, value in stated.items() if value is not None}
    known = known_shape(name)
    if known is not None:
        return resized(known, parameters).model_copy(update=stated)
    if not layers or not hidden:
        return None
    heads = max(1, hidden // USUAL_HEAD_SIZE)
    plain = {
        "name": name,
        "parameters": parameters,
        "active_parameters": parameters,
        "attention_heads": heads,
        "kv_heads": heads,
        "head_size": USUAL_HEAD_SIZE,
        "vocabulary": 32_000,
    }
    return ModelShape.model_validate(plain | stated)


def parameters_in_name(name: str) -> Decimal | None:
    """70e9 of "LLaMA-70B", 46.7e9 is not guessed from "8x7B"."""
    found = re.search(r"(?<![\dx.])(\d+(?:\.\d+)?) ?B\b", name, re.IGNORECASE)
    return Decimal(found.group(1)) * 10**9 if found else None


def precision_in(text: str, default: str = "bf16") -> str:
    """The weight format that a phrase such as "mxfp4 experts (4.25 b) + bf16 rest" names first."""
    names: dict[str, str] = {str(name): str(name) for name in EFFECTIVE_BITS} | OTHER_SPELLINGS
    found = {name: place for name in names if (place := _place(name, text.lower())) >= 0}
    first = min(found, key=lambda name: (found[name], -len(name)), default=None)
    return default if first is None else names[first]


def card_memory_gib(card: str) -> Decimal | None:
    """Memory of one card: as its name states it ("A100-40", "RTX 3090 23.58 GiB"), or as gpus.csv has it."""
    stated = re.search(r"(\d+(?:\.\d+)?) ?Gi?B\b", card, re.IGNORECASE) or re.search(r"-(\d{2,3})(?:G|GB)?\b", card)
    if stated:
        return Decimal(stated.group(1))
    bare = _letters(re.sub(r"^\d+ ?[x×] ?", "", card))
    sizes = [gpu.memory.low for gpu in load_catalog().gpus if gpu.memory and bare and bare in _letters(gpu.name)]
    return min(sizes, default=None)


def cards_in(card: str) -> int | None:
    """6 of "6x RTX 3090"."""
    found = re.match(r"(\d+) ?[x×*] ?", card)
    return int(found.group(1)) if found else None


def _place(name: str, text: str) -> int:
    found = re.search(rf"(?<![a-z0-9]){re.escape(name)}(?![a-z0-9])", text)
    return found.start() if found else -1


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9.]", "", name.lower())
