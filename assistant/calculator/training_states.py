"""Bytes of weights, gradients and optimiser states per parameter, and what sharding leaves of them on one GPU.

Knows bytes per parameter and ranks, no model.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from assistant.calculator.precision import GB

TrainingPrecision = Literal["bf16-mixed", "fp16-mixed", "fp8", "bf16", "fp32"]
Optimizer = Literal["adam", "adam-8bit", "adafactor", "sgd", "sgd-momentum"]
Sharding = Literal["none", "zero1", "zero2", "zero3", "fsdp-full", "fsdp-grad-op"]
Offload = Literal["none", "optimizer", "parameters"]
STAGE: dict[Sharding, int] = {"none": 0, "zero1": 1, "zero2": 2, "fsdp-grad-op": 2, "zero3": 3, "fsdp-full": 3}
# weights, gradients, master copy. fp8 keeps 16-bit weights and a cast of them (Transformer Engine, torchtitan).
WEIGHTS_GRADIENTS_MASTER: dict[TrainingPrecision, tuple[int, int, int]] = {
    "bf16-mixed": (2, 2, 4), "fp16-mixed": (2, 2, 4), "fp8": (3, 2, 4), "bf16": (2, 2, 0), "fp32": (4, 4, 0)
}  # fmt: skip
# Bytes of the moments, in 32 bits and in pure 16-bit training. Adafactor's factored moment is row and column sums.
MOMENTS: dict[Optimizer, tuple[Decimal, Decimal]] = {
    "adam": (Decimal(8), Decimal(4)), "adam-8bit": (Decimal(2), Decimal(2)), "sgd": (Decimal(0), Decimal(0)),
    "adafactor": (Decimal("0.01"), Decimal("0.01")), "sgd-momentum": (Decimal(4), Decimal(2)),
}  # fmt: skip
BUCKET_PARAMETERS = Decimal(5 * 10**8)  # DeepSpeed's default reduce and allgather bucket sizes


@dataclass(frozen=True)
class StateBytes:
    """Bytes per trained parameter."""

    weights: Decimal
    gradients: Decimal
    optimizer: Decimal

    @property
    def total(self) -> Decimal:
        return self.weights + self.gradients + self.optimizer


@dataclass(frozen=True)
class HeldStates:
    """Bytes on one GPU, and those that offloading moves from it into host memory."""

    weights: Decimal
    gradients: Decimal
    optimizer: Decimal
    host: Decimal

    @property
    def on_gpu(self) -> Decimal:
        return self.weights + self.gradients + self.optimizer


def state_bytes(precision: TrainingPrecision, optimizer: Optimizer, gradients_fp32: bool) -> StateBytes:
    """Mixed precision Adam: 2 + 2 + (4 + 8) = 16, with 32-bit gradients 18; pure bf16 8; fp32 16 (ZeRO, 1910.02054)."""
    weights, gradients, master = WEIGHTS_GRADIENTS_MASTER[precision]
    moments = MOMENTS[optimizer][precision == "bf16"]
    return StateBytes(Decimal(weights), Decimal(4 if gradients_fp32 else gradients), master + moments)


def held_states(
    frozen: Decimal, trained: Decimal, each: StateBytes, ranks: int, sharding: Sharding, offload: Offload,
    fused_optimizer: bool = False,
) -> HeldStates:  # fmt: skip
    """What one of `ranks` data-parallel ranks holds: stage 1 shards the optimiser, 2 gradients too, 3 weights too.

    `frozen` are bytes of untrained weights, `trained` the parameters trained. With the optimiser fused into the
    backward pass no gradient outlives its layer; with the optimiser offloaded gradients stream to the host.
    """
    stage = STAGE[sharding]
    weights = (frozen + trained * each.weights) / (ranks if stage == 3 else 1)
    gradients = trained * each.gradients / (ranks if stage >= 2 else 1)
    optimizer = trained * each.optimizer / (ranks if stage >= 1 else 1)
    if fused_optimizer:
        gradients = Decimal(0)
    if offload == "none":
        return HeldStates(weights, gradients, optimizer, Decimal(0))
    host = gradients + optimizer
    if offload == "parameters":
        return HeldStates(Decimal(0), Decimal(0), Decimal(0), host + weights)
    return HeldStates(weights, Decimal(0), Decimal(0), host)


def communication_buckets(trained: Decimal, sharding: Sharding) -> Decimal:
    """Bytes of DeepSpeed's two 16-bit buckets; FSDP and plain data parallelism have none of that kind."""
    return 2 * 2 * min(BUCKET_PARAMETERS, trained) if sharding in ("zero1", "zero2", "zero3") else Decimal(0)


def billions(parameters: Decimal) -> str:
    """7.72B"""
    return f"{(parameters / GB).quantize(Decimal('0.001')).normalize():f}B"
