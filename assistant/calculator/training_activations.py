"""What a training step keeps between forward and backward pass on one GPU: activations and logits.

Korthikanti et al. 2022 (arXiv 2205.05198), 16-bit. Width and depth are given; nothing is looked up.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

Checkpointing = Literal["none", "selective", "full"]
BYTES_PER_VALUE_OF_LAYER = Decimal(34)  # s·b·h·34 per layer, without the attention matrix
OUTSIDE_TENSOR_PARALLEL = Decimal(10)  # of those 34, what tensor parallelism leaves whole without sequence parallelism
BYTES_PER_ATTENTION_SCORE = Decimal(5)
LAYER_INPUT_BYTES = Decimal(2)  # all that full recomputation keeps per value
LOGIT_BYTES = Decimal(10)  # 16-bit logit, its 32-bit copy and the gradient


@dataclass(frozen=True)
class Step:
    """One micro-batch through one model on one GPU of `tensor` x `pipeline`."""

    layers: int
    hidden: Decimal
    heads: Decimal
    vocabulary: Decimal
    micro_batch: int
    sequence: int
    checkpointing: Checkpointing
    flash_attention: bool
    tensor: int
    pipeline: int
    sequence_parallel: bool
    in_fp32: bool
    offloaded: bool

    @property
    def tokens(self) -> int:
        return self.micro_batch * self.sequence


def activation_bytes(step: Step) -> Decimal:
    """Activations kept. The first of p stages holds p micro-batches in flight (1F1B), so stages save nothing."""
    in_flight = -(-step.layers // step.pipeline) * step.pipeline
    layer = _layer_bytes(step)
    if step.offloaded:
        kept = layer
    elif step.checkpointing == "full":
        kept = _layer_input(step) * in_flight + layer
    else:
        kept = layer * in_flight
    return kept * (2 if step.in_fp32 else 1)


def logit_bytes(step: Step) -> Decimal:
    """tokens x vocabulary x 10 bytes, the vocabulary split over tensor ranks; 12 in 32-bit training."""
    return step.tokens * step.vocabulary * (LOGIT_BYTES + (2 if step.in_fp32 else 0)) / step.tensor


def _layer_bytes(step: Step) -> Decimal:
    inside = BYTES_PER_VALUE_OF_LAYER - OUTSIDE_TENSOR_PARALLEL
    outside = OUTSIDE_TENSOR_PARALLEL / (step.tensor if step.sequence_parallel else 1)
    size = step.tokens * step.hidden * (outside + inside / step.tensor)
    if not step.flash_attention and step.checkpointing != "selective":
        size += BYTES_PER_ATTENTION_SCORE * step.heads * step.sequence * step.tokens / step.tensor
    return size


def _layer_input(step: Step) -> Decimal:
    size = LAYER_INPUT_BYTES * step.tokens * step.hidden
    return size / step.tensor if step.sequence_parallel else size
