"""A changed argument as if the reader had said it, so that the words of the card say the same as its calculations.

Knows which argument of which name is which slot of a question; it reads no text and computes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from assistant.changed_arguments import Change, same
from assistant.reading import Period, Slots
from assistant.understand import Request

MONTHS_PER_YEAR = 12
# Arguments that a question may state -> the field of the workload that holds them.
WORKLOAD = {
    "context_tokens": "context_tokens", "input_tokens": "input_tokens", "output_tokens": "output_tokens",
    "sequences": "concurrency", "users": "concurrency", "micro_batch": "batch_size", "lora_rank": "lora_rank",
    "precision": "precision", "weight_precision": "precision", "kv_precision": "kv_precision", "optimizer": "optimizer",
    "gpu_memory_utilization": "gpu_memory_utilization", "usable_share": "gpu_memory_utilization", "mfu": "mfu",
    "tensor_parallel": "tensor_parallel", "pipeline_parallel": "pipeline_parallel", "tokens": "training_tokens",
    "epochs": "epochs", "tokens_per_row": "tokens_per_row", "sequence_tokens": "context_tokens",
    "price_per_kwh": "electricity_price", "utilisation": "utilisation",
}  # fmt: skip
SLOTS = {"gpus": "count", "cards": "count", "budget": "money", "hours_per_day": "hours_per_day"}
WHOLE = {"context_tokens", "input_tokens", "output_tokens", "concurrency", "batch_size", "lora_rank", "count",
         "tensor_parallel", "pipeline_parallel", "training_tokens"}  # fmt: skip


def told(request: Request, changes: Sequence[Change]) -> Request:
    """The request with each change in the slot that held the old value, or held none because nobody had said it."""
    slots = request.slots
    for change in changes:
        slots = _told(slots, change)
    return replace(request, slots=slots)


def _told(slots: Slots, change: Change) -> Slots:
    if change.argument == "hours":
        return replace(slots, periods=tuple(_period(period, change) for period in slots.periods))
    if change.argument == "horizon_months":
        years = Decimal(str(change.after)) / MONTHS_PER_YEAR
        return replace(slots, workload=replace(slots.workload, horizon_years=years))
    if name := SLOTS.get(change.argument):
        return replace(slots, **_set(slots, name, change))
    if name := WORKLOAD.get(change.argument):
        return replace(slots, workload=replace(slots.workload, **_set(slots.workload, name, change)))
    return slots


def _set(holder: object, name: str, change: Change) -> dict[str, Any]:
    now = getattr(holder, name)
    if now is not None and not same(now, change.before):
        return {}
    return {name: _value(name, change.after)}


def _value(name: str, after: object) -> object:
    if isinstance(after, bool | str):
        return after
    return int(Decimal(str(after))) if name in WHOLE else Decimal(str(after))


def _period(period: Period, change: Change) -> Period:
    if not same(period.hours, change.before):
        return period
    hours = Decimal(str(change.after))
    return Period(hours, hours, "hour", f"{hours:,f} h")
