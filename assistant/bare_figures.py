"""The bare figure of a follow-up in the light of the question before it: "and with 8 of them?", "32k 呢", "int8 呢".

Takes one turn and what it follows; gives the turn's slots with the figure in the place that the question has for it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal

from assistant.numerals import fold
from assistant.quantity import MONTHS
from assistant.reading import Reading, Slots
from assistant.workload import Workload
from assistant.workload_figures import Figure, figures
from assistant.workload_rules import CACHE_PRECISIONS
from assistant.workload_values import value_of

LEAST_CONTEXT = 512  # tokens: a bare number below it counts cards or people
MOST_CARDS = 16  # a larger bare number in a question of users counts users
LEAST_MONEY = 1000
MOST_A_KWH = 5  # yuan or dollars; more is no price of electricity
CORRECTION = re.compile(r"不对|不是|错|应该是|我是说|^\W*(?:no|not|sorry)\b|i mean|should be|actually", re.I)
RUNS = frozenset({"train_cost", "finetune_memory"})
OWNED = frozenset({"buy_or_rent", "power"})
WEIGHTS = re.compile(r"权重|模型|weights?|model", re.I)


def placed(now: Reading, intent: str, before: Slots, aspects: frozenset[str]) -> Slots:
    """The slots of a turn that leans on a question of `intent` about a model or about owned cards."""
    s, work = now.slots, now.slots.workload
    if "kv_cache" in aspects and work.precision in CACHE_PRECISIONS and not WEIGHTS.search(now.text):
        work = replace(work, kv_precision=work.precision, precision=None)
    work = _owned(now, intent, work)
    if work != s.workload or s.count or work.context_tokens or work.concurrency or s.models or s.parameters_b:
        return replace(s, workload=work)
    for q in now.quantities:
        if q.kind == "percent" and not (work.mfu or work.utilisation or work.gpu_memory_utilization):
            share = q.value / 100
            name = "mfu" if intent == "train_cost" else "utilisation" if intent in OWNED else None
            if name and 0 < share <= 1:
                work = replace(work, **{name: share})  # type: ignore[arg-type]
        if q.kind == "bare" and not q.unit and q.value == q.value.to_integral_value() and q.value > 0:
            if intent == "serving" and before.workload.concurrency and q.value > MOST_CARDS and not s.gpus:
                return replace(s, workload=replace(work, concurrency=int(q.value)))  # "make it 100": users
            return _counted(s, fold(q.text).text, q.value, intent, before)
    return replace(s, workload=work)


def counted(now: Reading, said: Slots, before: Slots) -> Slots:
    """The slots of a turn that leans on a question of rent or price: a bare number corrects the last one, else counts cards.

    `said` is what the turn before said itself, `before` what the conversation had: "不对，是 27" after "72 小时" is 27 hours.
    """
    s = now.slots
    bare = [q for q in now.quantities if q.kind == "bare" and not q.unit and q.value == q.value.to_integral_value() > 0]
    if len(bare) != 1 or s.count or s.periods or s.money or now.count_delta:
        return s
    value = bare[0].value
    if CORRECTION.search(now.text):
        if len(said.periods) == 1 and not (said.count or said.money):
            old = said.periods[0]
            return replace(
                s, periods=(replace(old, hours=old.hours / old.value * value, value=value, text=bare[0].text),)
            )
        if said.money and not said.count:
            return replace(s, money=value, money_currency=said.money_currency)
    if value >= LEAST_MONEY and before.money:
        return replace(s, money=value, money_currency=before.money_currency)
    return replace(s, count=int(value)) if value <= LEAST_CONTEXT and (before.gpus or s.gpus) else s


def _owned(now: Reading, intent: str, work: Workload) -> Workload:
    """Of cards that are bought or powered: a bare price is that of electricity, a bare time how long they are kept."""
    s = now.slots
    if intent not in OWNED:
        return work
    if s.money and s.money < MOST_A_KWH and not work.electricity_price:
        work = replace(work, electricity_price=s.money, electricity_currency=s.money_currency)
    months = [p for p in s.periods if p.unit in MONTHS]
    if intent == "buy_or_rent" and len(months) == 1 and not work.horizon_years:
        work = replace(work, horizon_years=months[0].value * MONTHS[months[0].unit] / MONTHS["year"])
    return work


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
