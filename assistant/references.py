"""What a turn points at in earlier turns: "回到刚才的 A100", "第二个", "the former", "它", "这两个", "和腾讯比呢".

Takes one reading and the requests before it; gives the request that the turn goes on from, and the reading with the
names that it points at. It decides no intent, looks no row up and makes no name that nobody wrote.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol, TypeVar

from assistant.definitions import asks_what_it_is
from assistant.pointing_words import (
    ALSO_AT,
    CHOOSING,
    CLOUD_CHOSEN,
    DEARER,
    ONE,
    ORDINALS,
    RETURN,
    SEVERAL,
    VERSUS,
    points,
)
from assistant.reading import Reading, Slots

UNRELATED = frozenset({"smalltalk", "off_topic", "manipulation", "forecast"})
OR_ANOTHER = re.compile(
    r"[这那该]张?卡.{0,40}(?:还是|或者|要不要|得租|该租)|\b(?:this|that|my) (?:card|gpu)\b.{0,60}\bor\b", re.I
)
WORDED = {"a couple": 2, "a pair": 2, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8}
OF_THEM = re.compile(rf"(?<![\w.])(?P<count>[2-9]|1\d|{'|'.join(WORDED)}) of (?:them|those|these)(?![a-z])", re.I)
DIMENSIONS = ("gpus", "providers", "models")  # what a turn can point at, first come first


class Earlier(Protocol):
    """An earlier turn as understood: all slots of the conversation then, and what that turn said itself."""

    @property
    def question(self) -> str: ...
    @property
    def intent(self) -> str: ...
    @property
    def slots(self) -> Slots: ...
    @property
    def said(self) -> Slots: ...


E = TypeVar("E", bound=Earlier)


def goes_on_from(now: Reading, history: Sequence[E]) -> E | None:
    """The earlier turn that this one continues: the one it goes back to, else the last that was about something.

    None where it continues none: the first turn, and one that asks what a term is.
    """
    if asks_what_it_is(now.text):
        return None
    if RETURN.search(now.text):
        for request in reversed(history):
            if _has_all(request.slots, now.slots) and (_named(now.slots) or _is_other(request, history)):
                return request
    spoken = [request for request in history if request.intent not in UNRELATED]
    if now.leans and spoken and spoken[-1].intent == "document" and not _named(spoken[-1].slots):
        # A word explained in between leaves the sum that was talked about where it was.
        figures = _figures(now) or (asks_what_it_is(spoken[-1].question) and _named(now.slots))
        named = [request for request in spoken if _named(request.slots)]
        return named[-1] if figures and named else spoken[-1]
    if now.leans or points(now.text):
        return spoken[-1] if spoken else (history[-1] if history else None)
    if spoken and history[-1].intent in UNRELATED and not _named(now.slots):
        return spoken[-1]  # a word of thanks or of mischief in between leaves the talk where it was
    return history[-1] if history else None


def _figures(now: Reading) -> bool:
    """Whether a turn changes a figure of a sum."""
    s = now.slots
    return bool(s.count or s.periods or s.money or now.count_delta or s.paid_share or s.workload.precision or s.workload.context_tokens)  # fmt: skip


def returns(now: Reading) -> bool:
    """Whether the turn goes back to something said earlier, by words."""
    return RETURN.search(now.text) is not None


def pointed(now: Reading, before: Earlier | None, history: Sequence[Earlier]) -> Reading:
    """The reading with the names that its words point at; as it is where they point at nothing that was named."""
    if before is None:
        return now
    now = _counted_of_them(now, before)
    for at, words in ORDINALS:
        if words.search(now.text) and (chosen := _ordinal(at, before, history)):
            return replace(now, slots=_naming(now.slots, chosen))
    if any(words.search(now.text) for words in (VERSUS, DEARER, ALSO_AT)) and (
        both := _beside(now.slots, before.slots)
    ):
        return replace(now, slots=_naming(now.slots, both))
    chooses = bool(SEVERAL.search(now.text) or CHOOSING.search(now.text)) and not _named(now.slots)
    if chooses and (several := _chosen_among(now, before, history)):
        return replace(now, slots=_naming(now.slots, several))
    now = _beside_the_card(now, before)
    if not now.leans and (ONE.search(now.text) or SEVERAL.search(now.text)):  # a turn that leans inherits anyway
        return replace(now, slots=_filled(now, before.slots))
    return now


def _counted_of_them(now: Reading, before: Earlier) -> Reading:
    """ "Would two of them do?": so many of the one card that was talked about."""
    found, s = OF_THEM.search(now.text), now.slots
    if found is None or len(before.slots.gpus) != 1 or s.gpus or s.count or s.instances or now.count_delta:
        return now
    said = found["count"].lower()
    return replace(now, slots=replace(s, count=WORDED.get(said) or int(said)))


def _chosen_among(now: Reading, before: Earlier, history: Sequence[Earlier]) -> dict[str, tuple[str, ...]]:
    """The several things that a choice or a difference is about; a difference of cards stays at the cloud talked about."""
    several = _several(before, history, ("providers",) if CLOUD_CHOSEN.search(now.text) else DIMENSIONS)
    if several and "difference" in now.aspects and several.get("gpus") == before.slots.gpus:
        return several | {"providers": before.slots.providers}
    return several


def _beside_the_card(now: Reading, before: Earlier) -> Reading:
    """ "Is that card ok or should I rent an A100?" is about both cards."""
    s, had = now.slots, before.slots.gpus
    if not OR_ANOTHER.search(now.text) or len(had) != 1 or not s.gpus or had[0] in s.gpus:
        return now
    return replace(now, slots=replace(s, gpus=(*had, *s.gpus)))


def _ordinal(at: int, before: Earlier, history: Sequence[Earlier]) -> dict[str, object]:
    """The one of several things named together, or one after the other, that an ordinal means."""
    if before.slots.pairs and -len(before.slots.pairs) <= at < len(before.slots.pairs):
        provider, gpu = before.slots.pairs[at]
        return {"providers": (provider,), "gpus": (gpu,)}
    for name, values in _several(before, history).items():
        if at < len(values):
            return {name: (values[at],)}
    return {}


def _several(
    before: Earlier, history: Sequence[Earlier], wanted: Sequence[str] = DIMENSIONS
) -> dict[str, tuple[str, ...]]:
    """The things of one kind that were named together, else those named turn by turn up to now."""
    for name in wanted:
        if len(values := _values(before.slots, name)) > 1:
            return {name: values}
    for name in wanted:
        if len(values := tuple(dict.fromkeys(_turn_by_turn(name, history)))) > 1:
            return {name: values}
    return {}


def _turn_by_turn(name: str, history: Sequence[Earlier]) -> list[str]:
    """One value a turn, oldest first, as long as each turn put another of the kind in the place of the last."""
    found: list[str] = []
    latest = list(_latest_first(history))
    for at, request in enumerate(latest):
        values = _values(request.slots, name)
        if len(values) != 1:
            break
        found.append(values[0])
        if not _values(request.said, name):
            continue
        earlier = (
            latest[at + 1].slots if at + 1 < len(latest) else None
        )  # 腾讯 A100 呢 after 火山 A100 says the card again
        others = [
            other
            for other in DIMENSIONS
            if other != name
            and _values(request.said, other)
            and not (earlier and _values(earlier, other) == _values(request.said, other))
        ]
        if others and found:
            break  # a question of its own began here
    return found[::-1]


def _latest_first(history: Sequence[Earlier]) -> Iterator[Earlier]:
    return (request for request in reversed(history) if request.intent not in UNRELATED)


def _beside(now: Slots, before: Slots) -> dict[str, tuple[str, ...]]:
    """ "和腾讯比呢": the one named now beside the one talked about."""
    for name in DIMENSIONS:
        old, new = _values(before, name), _values(now, name)
        if len(old) == len(new) == 1 and old != new:
            return {name: (*old, *new)}
    return {}


def _filled(now: Reading, before: Slots) -> Slots:
    """ "它": the card, and the model where the turn names neither."""
    s = now.slots
    kept: dict[str, object] = {}
    if not (s.gpus or s.instances):
        kept |= {"gpus": before.gpus, "forms": before.forms, "memory_gb": s.memory_gb or before.memory_gb}
        if before.purchase_price and not s.purchase_price:
            kept |= {"purchase_price": before.purchase_price, "purchase_currency": before.purchase_currency}
    if not (s.models or s.parameters_b) and not (before.gpus and not s.gpus and "price" in now.aspects):
        kept |= {"models": before.models, "parameters_b": before.parameters_b}
    return s if s.unknown else replace(s, **kept)  # type: ignore[arg-type]


def _naming(slots: Slots, values: Mapping[str, object]) -> Slots:
    return replace(slots, **values)  # type: ignore[arg-type]


def _values(slots: Slots, name: str) -> tuple[str, ...]:
    values: tuple[str, ...] = getattr(slots, name)
    return values


def _named(slots: Slots) -> bool:
    return bool(slots.gpus or slots.providers or slots.models or slots.parameters_b or slots.workloads)


def _has_all(old: Slots, new: Slots) -> bool:
    """Whether an earlier turn was about all that is named now."""
    pairs = [(set(_values(new, name)), set(_values(old, name))) for name in DIMENSIONS]
    return _named(old) and all(named <= had for named, had in pairs) and set(new.parameters_b) <= set(old.parameters_b)


def _is_other(request: Earlier, history: Sequence[Earlier]) -> bool:
    """Whether a turn was about something else than the last one."""
    last = next(_latest_first(history), None)
    return last is not None and any(_values(request.slots, n) != _values(last.slots, n) for n in DIMENSIONS)
