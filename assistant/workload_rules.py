"""What the words of a whole turn settle about its workload: whose precision, what for, which bare figure is a length.

Each rule works on folded text and on the fields found so far; none knows an earlier turn.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, MutableMapping, Sequence
from typing import get_args

from assistant.calculator.precision import CachePrecision
from assistant.quantity import MONTHS, Quantity
from assistant.workload_figures import Figure
from assistant.workload_words import (
    CACHE,
    LOAD_AT,
    NOT_CACHE_ALONE,
    NOT_MEANT,
    OWNS,
    POWER,
    SERVES,
    SHARE_BEHIND,
    TRAINERS,
    WEIGHTS_BEHIND,
    WEIGHTS_NEAR,
)

CACHE_PRECISIONS = frozenset(get_args(CachePrecision))
REPLICATED = re.compile(r"(?<![a-z])ddp(?![a-z])|(?<!sharded )data[\s-]parallel|数据并行")
SIZE = re.compile(r"\d\s*b(?![a-z])")  # of a model
LASTS = ("for ", "over ", "用", "跑", "开", "租", "卡 ", "张 ", "in ", "within ")


def trains(text: str) -> bool:
    """FSDP, DDP, ZeRO and the like train, unless serving is said beside them."""
    return TRAINERS.search(text) is not None and SERVES.search(text) is None


def is_meant(words: re.Pattern[str], text: str) -> bool:
    """Whether one of the words stands without a "not": 先别折腾训练, "no training, only serving"."""
    return any(not NOT_MEANT.search(text, 0, match.start()) for match in words.finditer(text))


def note_trainer(text: str, found: MutableMapping[str, object]) -> None:
    """ "FSDP 13B fits?" is about full training, not about serving; "ZeRO-3 呢" alone keeps the method talked about."""
    if trains(text) and found.get("purpose") in (None, "inference"):
        found["purpose"] = "training"
        if REPLICATED.search(text):  # DDP keeps every state on every card
            found.setdefault("zero_stage", 0)
        if SIZE.search(text):
            found.setdefault("method", "full")


def give_precision_to_cache(text: str, found: MutableMapping[str, object], start: int, end: int) -> None:
    """In a question about the KV cache alone the precision at [start:end] is the cache's, not the weights'."""
    if "kv_precision" in found or found.get("precision") not in CACHE_PRECISIONS or not CACHE.search(text):
        return
    weights = WEIGHTS_NEAR.search(text, 0, start) or WEIGHTS_BEHIND.match(text, end)
    if not weights and not NOT_CACHE_ALONE.search(text):
        found["kv_precision"] = found.pop("precision")


def bare_share(text: str, figure: Figure, used: int, found: MutableMapping[str, object]) -> str | None:
    """ "at 70%" of an electricity bill is the utilisation, of a training run the MFU."""
    if not SHARE_BEHIND.match(text, figure.end) or not LOAD_AT.search(text, max(used, figure.start - 16), figure.start):
        return None
    if POWER.search(text) or OWNS.search(text):
        return "utilisation"
    return "mfu" if found.get("purpose") == "training" else None


def plain(text: str, quantities: Sequence[Quantity]) -> Iterator[tuple[str, object, bool]]:
    """Rows and the years something is kept, which the quantity grammar reads already: field, value, whether a range."""
    for q in quantities:
        top = q.high or q.value
        if q.kind == "rows" and top >= 1:
            yield "rows", int(top), q.high is not None
    for q in reversed(quantities):
        if q.kind == "duration" and q.unit in MONTHS and q.value > 0 and (not q.rate or _lasts(text, q)):
            top = q.high or q.value
            yield "horizon_years", top * MONTHS[q.unit] / MONTHS["year"], q.high is not None


def _lasts(text: str, q: Quantity) -> bool:
    """用一年, for a year, 一年电费: a length of time although it is written as rates are; 每年, per year and 10 元一年 are not."""
    before = text[: q.start].lower().rstrip()
    if q.text.lower().startswith(("每", "per", "/")):
        return False
    return before.endswith(tuple(word.rstrip() for word in LASTS)) or bool(POWER.search(text.lower()))
