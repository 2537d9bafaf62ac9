"""How many parameters a low-rank adapter trains. Knows projections of a transformer block, no memory."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field

from assistant.calculator.calculation import NO_TRUTH, Calculation
from assistant.calculator.shapes import ModelShape
from assistant.evidence import Frozen

Target = Literal["q", "k", "v", "o", "gate", "up", "down"]
Targets = Annotated[tuple[Target, ...], Field(min_length=1, max_length=7)]
Rank = Annotated[int, Field(ge=1, le=65_536), NO_TRUTH]
ATTENTION_TARGETS: tuple[Target, ...] = ("q", "k", "v", "o")
MLP_TARGETS: tuple[Target, ...] = ("gate", "up", "down")
ALL_TARGETS: tuple[Target, ...] = (*ATTENTION_TARGETS, *MLP_TARGETS)


class LoraParametersInput(Frozen):
    """A model and an adapter of `rank` on the `targets` of every layer (q, k, v, o; gate, up, down of the MLP)."""

    model: ModelShape
    rank: Rank = 8
    targets: Targets = ("q", "v")


def lora_parameters(given: LoraParametersInput) -> Calculation:
    """trainable = layers x sum over targets of rank x (inputs + outputs), Hu et al. 2021."""
    trainable = adapter_parameters(given.model, given.rank, given.targets)
    terms = " + ".join("({} + {})".format(*_sides(given.model, target)) for target in dict.fromkeys(given.targets))
    share = trainable / given.model.parameters * 100
    return Calculation(
        value=trainable, unit="parameter",
        formula=f"{given.model.layers} × {given.rank} × ({terms}) = {trainable:,}",
        outputs={"trainable_parameters": trainable, "share_percent": share.quantize(Decimal("0.0001")),
                 "rank": given.rank, "targets": ", ".join(dict.fromkeys(given.targets))},
    )  # fmt: skip


def adapter_parameters(model: ModelShape, rank: int, targets: tuple[Target, ...]) -> Decimal:
    """Parameters of the adapter matrices over all layers; a target named twice counts once."""
    copies = {target: model.experts or 1 if target in MLP_TARGETS else 1 for target in targets}
    return Decimal(model.layers * rank * sum(sum(_sides(model, target)) * copies[target] for target in copies))


def _sides(model: ModelShape, target: Target) -> tuple[int, int]:
    """Inputs and outputs of a projection; without a known head size the heads share the hidden size."""
    hidden = model.hidden_size
    if target in ("q", "o"):
        width = model.attention_heads * model.head_size if model.head_size else hidden
        return (hidden, width) if target == "q" else (width, hidden)
    if target in ("k", "v"):
        if not model.kv_heads or not model.head_size:
            raise ValueError(f"{model.name} has no separate {target} projection that is known: take 'q' or 'o'")
        return hidden, model.kv_heads * model.head_size
    width = model.mlp_size or 4 * hidden
    return (width, hidden) if target == "down" else (hidden, width)
