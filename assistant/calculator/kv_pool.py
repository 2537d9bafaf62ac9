"""What a serving engine has left for its cache on one GPU, and how many tokens and sequences that holds."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

from pydantic import Field, model_validator

from assistant.calculator.calculation import NO_TRUTH, Amount, Calculation, Count, Share, number
from assistant.calculator.kv_cache import ContextTokens
from assistant.calculator.precision import GIB
from assistant.evidence import Frozen, JsonDecimal

Gibibytes = Annotated[JsonDecimal, Field(ge=0, le=1_000_000), NO_TRUTH]


class KvPoolInput(Frozen):
    """What vLLM reserves for the cache on one GPU, or a pool it has logged already (`pool_gib` or `pool_tokens`).

    Gives the tokens the pool holds with `kv_bytes_per_token` (of one GPU), and how many sequences of
    `max_model_len` tokens run at the same time.
    """

    total_gib: Amount | None = None
    gpu_memory_utilization: Share = Decimal("0.9")
    weights_gib: Amount | None = None
    non_torch_gib: Gibibytes = Decimal("0.5")
    activation_gib: Gibibytes = Decimal("1.3")
    pool_gib: Amount | None = None
    pool_tokens: ContextTokens | None = None
    kv_bytes_per_token: Amount | None = None
    max_model_len: ContextTokens | None = None
    block_tokens: Count = 16

    @model_validator(mode="after")
    def _known(self) -> KvPoolInput:
        if self.pool_tokens is None and self.pool_gib is None and not (self.total_gib and self.weights_gib):
            raise ValueError("give total_gib and weights_gib, or pool_gib, or pool_tokens")
        return self


def kv_pool(given: KvPoolInput) -> Calculation:
    """pool = utilisation x total - weights - non-torch - peak activation; tokens = pool / bytes per token in whole
    blocks; concurrency = tokens / max_model_len (vLLM's start-up profile, pull request 10511)."""
    outputs: dict[str, Decimal | int | str] = {}
    steps = []
    pool = given.pool_gib
    if pool is None and given.pool_tokens is None:
        assert given.total_gib is not None and given.weights_gib is not None  # noqa: PT018 (the validator saw to both)
        taken = given.weights_gib + given.non_torch_gib + given.activation_gib
        pool = given.total_gib * given.gpu_memory_utilization - taken
        steps.append(
            f"{number(given.total_gib)} × {number(given.gpu_memory_utilization)} − {number(given.weights_gib)} − "
            f"{number(given.non_torch_gib)} − {number(given.activation_gib)} = {pool:.3f} GiB"
        )
    if pool is not None:
        outputs["pool_gib"] = pool
    tokens = given.pool_tokens
    if tokens is None and pool is not None and given.kv_bytes_per_token:
        blocks = max(0, int(pool * GIB // (given.kv_bytes_per_token * given.block_tokens)))
        tokens = blocks * given.block_tokens
        steps.append(
            f"floor({pool:.3f} GiB ÷ {number(given.kv_bytes_per_token)} B ÷ {given.block_tokens}) = {blocks:,} blocks"
        )
        outputs |= {"blocks": blocks}
    if tokens is not None:
        outputs["tokens"] = tokens
    if tokens is not None and given.max_model_len:
        concurrency = Decimal(tokens) / given.max_model_len
        steps.append(f"{tokens:,} ÷ {given.max_model_len:,} = {concurrency:.2f}")
        outputs |= {"max_concurrency": concurrency, "verdict": "fits" if concurrency >= 1 else "no"}
    value, unit = (Decimal(tokens), "token") if tokens is not None else (pool or Decimal(0), "GiB")
    return Calculation(value=value, unit=unit, formula="; ".join(steps) or f"{number(value)} {unit}", outputs=outputs)
