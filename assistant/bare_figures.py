"""The bare figure of a follow-up in the light of the question before it: "and with 8 of them?", "32k 呢", "int8 呢".

Takes one turn and what it follows; gives the turn's slots with the figure in the place that the question has for it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal

from assistant.numerals import fold
from assistant.reading import Reading, Slots
from assistant.workload_figures import Figure, figures
from assistant.workload_rules import CACHE_PRECISIONS
from assistant.workload_values import value_of

LEAST_CONTEXT = 512  # tokens: a bare number below it counts cards or people
RUNS = frozenset({"train_cost", "finetune_memory"})
OWNED = frozenset({"buy_or_rent", "power"})
WEIGHTS = re.compile(r"权重|模型|weights?|model", re.I)


def placed(now: Reading, intent: str, before: Slots, aspects: frozenset[str]) -> Slots:
    """The slots of a turn that leans on a question of `intent` about a model or about owned cards."""
    s, work = now.slots, now.slots.workload
    if "kv_cache" in aspects and work.precision in CACHE_PRECISIONS and not WEIGHTS.search(now.text):
        work = replace(work, kv_precision=work.precision, precision=None)
    if work != s.workload or s.count or work.context_tokens or work.concurrency or s.models or s.parameters_b:
        return replace(s, workload=work)
    for q in now.quantities:
        if q.kind == "percent" and not (work.mfu or work.utilisation or work.gpu_memory_utilization):
            share = q.value / 100
            name = "mfu" if intent == "train_cost" else "utilisation" if intent in OWNED else None
            if name and 0 < share <= 1:
                work = replace(work, **{name: share})  # type: ignore[arg-type]
        if q.kind == "bare" and not q.unit and q.value == q.value.to_integral_value() and q.value > 0:
            return _counted(s, fold(q.text).text, q.value, intent, before)
    return replace(s, workload=work)


def _counted(s: Slots, written: str, value: Decimal, intent: str, before: Slots) -> Slots:
    """A length where it is written as one or too large for anything else, else so many cards."""
    found = next(iter(figures(written)), None)
    long = found is not None and (found.number.suffix == "k" or value >= LEAST_CONTEXT)
    if found and long and intent not in OWNED and (found.number.suffix or intent not in RUNS):
        return replace(s, workload=replace(s.workload, context_tokens=_tokens(found)))
    return replace(s, count=int(value)) if before.gpus or before.count else s


def _tokens(figure: Figure) -> int | None:
    value = value_of("context_tokens", figure, {})
    return value if isinstance(value, int) else None
