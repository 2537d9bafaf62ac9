"""What the words of a question settle about its kind that names and numbers leave open: a reference server, buying or
renting in general, training from scratch, a choice among clouds, a card that was only tested on.

Word lists only; it answers nothing. The order of the rules is that of their strength.
"""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal

from assistant.reading import Reading, Slots
from knowledge.names import link, normalise

REFERENCE_SERVER = re.compile(
    r"参考(?:服务器|配置|机)|样板(?:服务器|机)|(?<![a-z0-9])(?:821ge|420gp)(?![a-z0-9])|reference (?:server|machine|box|config|build)|sample server",
    re.I,
)
FUTURE = re.compile(
    r"明年|后年|以后|将来|未来|会不会|会[涨降跌]|[涨降跌]价|下一代|next (?:year|month|generation)|in the future|\bwill\b.{0,40}\b(?:drop|fall|rise|go|get)\b|price (?:drop|cut)",
    re.I,
)
# What the articles recommend for training a whole model of this size (memory_advice.csv), by thousand million parameters.
TRAINED_FROM_SCRATCH = {Decimal(40): "Falcon-40B", Decimal(65): "LLaMA-65B"}
MACHINE = re.compile(r"机器|硬件|卡|集群|服务器|gpu|machine|hardware|card|cluster|server|setup", re.I)
CHOICE = re.compile(r"怎么[选挑]|如何[选挑]|选哪|挑哪|哪[家个款张]|\bwhich\b|\bpick\b|\bchoose\b|recommend", re.I)
TESTED_ON = re.compile(
    r"(?:之前|以前|此前|原来|先前|早先|一直)[^,，。;；?？]{0,10}(?:测试|试[用跑]?|试验|demo)[^,，。;；?？]*|(?:测试|试跑|试验)(?:的时候|时)?用的?(?:是)?[^,，。;；?？]*|"
    r"\b(?:so far|until now|previously|before)[^,.;?]{0,30}\btest[^,.;?]*|\btest(?:ed|s|ing)\b[^,.;?]{0,30}\b(?:on|with|used)\b[^,.;?]*",
    re.I,
)
NOT_OURS = frozenset({"manipulation", "off_topic", "forecast", "smalltalk"})
OF_MONEY = frozenset({"price", "compare", "cost", "budget", "buy_price"})


def without_tested_card(reading: Reading) -> Reading:
    """The reading without a card that was only tested on, where a model is to be served on clouds that are named."""
    s = reading.slots
    if not (s.gpus and s.providers and (s.parameters_b or s.models)):
        return reading
    tested = {item.key for clause in TESTED_ON.finditer(reading.text) for item in link(normalise(clause.group())) if item.kind == "gpu"}  # fmt: skip
    left = tuple(gpu for gpu in s.gpus if gpu not in tested)
    if len(left) == len(s.gpus):
        return reading
    return replace(reading, slots=replace(s, gpus=left, forms=() if not left else s.forms, count=s.count if left else None))  # fmt: skip


def trained_from_scratch(slots: Slots) -> str | None:
    """The model of the articles' table whose training recommendation answers for a bare size; None where none does."""
    if slots.workload.purpose != "training" or slots.workload.method or slots.models or len(slots.parameters_b) != 1:
        return None
    return TRAINED_FROM_SCRATCH.get(slots.parameters_b[0])


def kind_by_words(question: str, slots: Slots, aspects: frozenset[str], intent: str) -> str | None:
    """The intent that the words leave as the only reading; None where they leave it open."""
    rented = bool(aspects & {"rent"} or slots.providers or slots.periods or slots.price_per_hour)
    work, sized = slots.workload, bool(slots.parameters_b or slots.models)
    rules = (
        ("document", REFERENCE_SERVER.search(question) is not None and not (rented or sized) and intent != "document"),
        ("document", {"buy", "rent"} <= aspects and intent in NOT_OURS and not (slots.gpus or slots.money or sized or FUTURE.search(question))),
        ("memory", trained_from_scratch(slots) is not None and intent in ("document", "memory", "choose", "speedup", *NOT_OURS)
            and MACHINE.search(question) is not None and not (slots.gpus or slots.money or work.training_tokens or "how_long" in aspects)),
        ("choose", sized and len(slots.providers) > 1 and bool(slots.money) and not slots.gpus and intent in OF_MONEY and CHOICE.search(question) is not None),
    )  # fmt: skip
    return next((kind for kind, holds in rules if holds), None)
