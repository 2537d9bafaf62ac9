"""What a follow-up takes over from the conversation before it, kind by kind, and what the new words put in its place.

Works on slots and aspects alone; it reads no text and decides no intent.
"""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal

from assistant.aspects import WORDS
from assistant.reading import Item, Period, Reading, Slots
from assistant.workload import merged
from knowledge.names import link

OPPOSITES = (
    frozenset({"training", "inference"}),
    frozenset({"cheapest", "dearest"}),
    frozenset({"large_data", "small_data"}),
    frozenset({"yuan", "dollars"}),
)
KEPT = ("gpus", "providers", "models", "methods", "workloads", "periods", "hours_per_day", "money", "money_currency",
        "money_high", "price_per_hour", "price_currency", "memory_gb", "forms", "instances", "rows", "factor",
        "parameters_b", "purchase_price", "purchase_currency", "purchase_per_card", "about", "paid_share")  # fmt: skip
# What is said together and so replaced together: a new figure drops what belonged to the old one.
TOGETHER = (("money", "money_currency", "money_high"), ("models", "parameters_b"), ("gpus", "forms"))
CLAUSES = re.compile(r"[,，;；、。]|\b(?:and|but|while)\b|而且|同时|但是?")
DOUBLED, HALVED = re.compile(WORDS["double"]), re.compile(WORDS["halve"])
MACHINES = re.compile(r"张|卡|台|机器|服务器|实例|cards?\b|gpus?\b|machines?\b|nodes?\b|servers?\b|instances?\b", re.I)
TIME = re.compile(r"时间|小时|时长|天数?|时数|hours?\b|time\b|days?\b|duration|weeks?\b|months?\b")
SIZE = re.compile(r"\d+(?:\.\d+)?B\b", re.I)


def switched(old: frozenset[str], new: frozenset[str]) -> frozenset[str]:
    """Aspects of a follow-up: of opposites (training or inference, cheapest or dearest) the new one holds."""
    for group in OPPOSITES:
        if new & group:
            old -= group
    return old | new


def inherit(old: Slots, now: Reading) -> Slots:
    """What was said now replaces what was said before, kind by kind; "one more" adds to the count."""
    new = _sized(now.slots, old)
    kept = _kept(old, new)
    same_subject = not (new.gpus or new.providers)
    counted = new.count is not None
    count, high = (new.count, new.count_high) if counted else (old.count, old.count_high)
    added = _added(old, now)
    if now.count_delta and not added:
        count = max((count or 1) + now.count_delta, 1)
    if (
        new.gpus and new.gpus != old.gpus
    ) or new.providers:  # another card or cloud is not what the user's own price was for
        kept["price_per_hour"] = new.price_per_hour
    if now.all_clouds or (now.aspects & {"cheapest", "dearest"} and not new.providers):
        kept["providers"] = ()  # "anything cheaper?" looks beyond the cloud talked about
    items = new.items or (old.items if same_subject and not now.count_delta and new.count is None else ())
    if old.providers and new.providers and set(new.providers) - set(old.providers):  # another cloud did not give it
        kept["paid_share"] = new.paid_share
    if new.paid_share:
        items = tuple(replace(item, paid_share=None) for item in items)
    kept["workload"] = merged(old.workload, new.workload)
    kept |= {"count": count, "count_high": high, "items": items}
    slots = replace(new, **kept, pairs=new.pairs or (old.pairs if same_subject else ()))  # type: ignore[arg-type]
    if added:
        gpus = tuple(dict.fromkeys(item.gpu for item in added))
        slots = replace(slots, items=added, gpus=gpus, providers=old.providers, count=None, forms=())
    return _scaled(slots, now)


def _kept(old: Slots, new: Slots) -> dict[str, object]:
    """What is said now, else what was said before, with what belongs together kept together."""
    kept = {name: getattr(new, name) or getattr(old, name) for name in KEPT}
    for group in TOGETHER:
        if any(getattr(new, name) for name in group):
            kept |= {name: getattr(new, name) for name in group}
    if new.money and not new.money_currency:
        kept["money_currency"] = old.money_currency  # "3 万呢" is in the currency talked about
    if _hours_a_day(old, new):
        kept |= {"hours_per_day": new.periods[0].hours, "periods": old.periods}
    return kept


def _added(old: Slots, now: Reading) -> tuple[Item, ...]:
    """ "再加两张 T4" to an order of other cards, or of another cloud: the lines of both; nothing where it is more of the same."""
    new = now.slots
    elsewhere = len(new.providers) == len(old.providers) == 1 and new.providers != old.providers
    more = now.count_delta or _restated(old, now)
    if more <= 0 or len(new.gpus) != 1 or not old.gpus or (new.gpus == old.gpus and not elsewhere):
        return ()
    provider = old.providers[0] if len(old.providers) == 1 else None
    before = old.items or (tuple(Item(old.count or 1, gpu, provider) for gpu in old.gpus) if len(old.gpus) == 1 else ())
    line = Item(more, new.gpus[0], new.providers[0] if new.providers else provider)
    return (*before, line) if before else ()


def _restated(old: Slots, now: Reading) -> int:
    """How many more are said where the new total is said again: of "再加一台阿里T4, 三台一共多少" after two machines, one."""
    counts = [q for q in now.quantities if q.kind == "count"]
    more = sum(int(q.value) for q in counts if q.delta)
    before = sum(item.count for item in old.items) or old.count or 1
    totals = {int(q.value) for q in counts if not q.delta}
    return more if totals == {before + more} else 0


def _hours_a_day(old: Slots, new: Slots) -> bool:
    """ "改成 10 小时" after "8 hours a day for 22 days" changes the hours of the day, not the length of the job."""
    hours = len(new.periods) == 1 and new.periods[0].unit == "hour" and new.periods[0].hours <= 24
    return bool(old.hours_per_day and old.periods) and hours and not new.hours_per_day


def _sized(new: Slots, old: Slots) -> Slots:
    """ "那 70B 呢" after Llama-3.1-8B: the model of that family and size, if there is one; else the bare size."""
    if new.models or len(new.parameters_b) != 1 or len(old.models) != 1 or not SIZE.search(old.models[0]):
        return new
    wanted = SIZE.sub(f"{new.parameters_b[0].normalize():f}B", old.models[0], count=1)
    found = [item.key for item in link(wanted) if item.kind == "model" and item.end - item.start == len(wanted)]
    return replace(new, models=(found[0],), parameters_b=()) if found else new


def _scaled(slots: Slots, now: Reading) -> Slots:
    """ "时间翻倍呢", "half that time", "double the cards": twice or half of what the conversation has."""
    times = Decimal(2) if "double" in now.aspects else Decimal("0.5") if "halve" in now.aspects else None
    if times is None or now.slots.periods or now.slots.count:
        return slots
    if {"double", "halve"} <= now.aspects:
        return _scaled_apart(slots, now.text)
    if "cards" in now.aspects or MACHINES.search(now.text):
        return replace(slots, count=max(int((slots.count or 1) * times), 1))
    return replace(slots, periods=tuple(_longer(period, times) for period in slots.periods))


def _scaled_apart(slots: Slots, text: str) -> Slots:
    """ "Double the machines and halve the hours": each by the word of its own clause; as it was where one names neither."""
    for clause in CLAUSES.split(text.lower()):
        times = Decimal(2) if DOUBLED.search(clause) else Decimal("0.5") if HALVED.search(clause) else None
        if times and MACHINES.search(clause):
            slots = replace(slots, count=max(int((slots.count or 1) * times), 1))
        elif times and TIME.search(clause):
            slots = replace(slots, periods=tuple(_longer(period, times) for period in slots.periods))
    return slots


def _longer(period: Period, times: Decimal) -> Period:
    return replace(period, hours=period.hours * times, value=period.value * times, text="")
