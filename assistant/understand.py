"""Question and conversation -> Request: language, intent, and the names and numbers that were said.

Code first: names are linked, quantities parsed, the intent classifier asked; the slots then settle what the
words leave open. It looks no row up, and it never makes a name or number that nobody wrote.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Protocol

from assistant.aspects import FOLLOW_UP, aspects_of, residue
from assistant.calculator import rental
from assistant.evidence import Language
from assistant.quantities import Quantity, parse_quantities
from knowledge.names import Link, link, normalise

MAX_TURNS = 8  # how far back a conversation is read
MAX_CHARACTERS = 4000  # what is read of one question; the rest is left out, and said so
HOURS_OF_UNIT = rental.HOURS_OF_UNIT | {"clock": Decimal(1), "gpu-hour": Decimal(1)}
OPPOSITES = (
    frozenset({"training", "inference"}),
    frozenset({"cheapest", "dearest"}),
    frozenset({"large_data", "small_data"}),
)
SWITCHES = frozenset({"average", "ratio", "difference", "host", "per_row", "total"}).union(*OPPOSITES)
COMPARING = frozenset({"cheapest", "dearest", "order", "difference", "ratio", "average"})
TALK = frozenset({"manipulation", "forecast", "off_topic", "smalltalk", "document"})
PRICE_INTENTS = frozenset({"price", "compare", "cost", "budget"})
ARTICLES = ("a", "an")  # "an A100" says which card, not how many
CJK = re.compile(r"[\u4e00-\u9fff]")


class Classifier(Protocol):
    """Tells intents apart; see assistant/intent.py."""

    def classify(self, texts: Sequence[str], spans: Sequence[Sequence[tuple[int, int, str]]]) -> Sequence[IntentGuess]:
        """One guess per text; spans are (start, end, kind) of linked names and quantities."""
        ...


class IntentGuess(Protocol):
    """The classifier's verdict: `best` is None where it abstains."""

    @property
    def best(self) -> str | None: ...
    @property
    def likeliest(self) -> str: ...


@dataclass(frozen=True)
class Period:
    """A length of time as said, in hours; months are 730 h, years 8,760 h unless the question says otherwise."""

    hours: Decimal
    value: Decimal
    unit: str
    text: str


@dataclass(frozen=True)
class Item:
    """One line of an order: so many of a GPU at a provider."""

    count: int
    gpu: str
    provider: str | None


@dataclass(frozen=True)
class Slots:
    """What the conversation has named so far; empty where nobody said it."""

    gpus: tuple[str, ...] = ()
    providers: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    workloads: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    count: int | None = None
    periods: tuple[Period, ...] = ()
    hours_per_day: Decimal | None = None
    money: Decimal | None = None
    money_currency: str | None = None
    price_per_hour: Decimal | None = None
    price_currency: str | None = None
    memory_gb: tuple[Decimal, ...] = ()
    rows: tuple[int, ...] = ()
    factor: Decimal | None = None
    parameters_b: tuple[Decimal, ...] = ()
    items: tuple[Item, ...] = ()


@dataclass(frozen=True)
class Request:
    """A question understood. `search_text` is what to search the documents for."""

    question: str
    language: Language
    intent: str
    slots: Slots
    aspects: frozenset[str]
    search_text: str
    bad_quantity: str | None = None
    decided_by: str = "code"
    said: Slots = field(default_factory=Slots)


@dataclass(frozen=True)
class _Reading:
    """One turn on its own."""

    text: str
    links: tuple[Link, ...]
    quantities: tuple[Quantity, ...]
    slots: Slots
    aspects: frozenset[str]
    count_delta: int
    follow_up: bool
    bad_quantity: str | None


def understand(question: str, turns: Sequence[str], classifier: Classifier) -> Request:
    """Read the conversation up to and including `question`; `turns` are the user's earlier messages, oldest first."""
    readings = [_read(text) for text in [*turns[-MAX_TURNS:], question]]
    guesses = classifier.classify([r.text for r in readings], [_spans(r) for r in readings])
    request: Request | None = None
    for reading, guess in zip(readings, guesses, strict=True):
        request = _next(request, reading, guess)
    assert request is not None
    return replace(request, question=question)


def language_of(text: str, links: Sequence[Link] = (), before: Language | None = None) -> Language:
    """The language whose grammar the text follows: names aside, any Chinese makes it Chinese."""
    rest = _without(text, [(item.start, item.end) for item in links])
    if CJK.search(rest):
        return "zh"
    if re.search(r"[A-Za-z]{2,}", rest):
        return "en"
    return before or ("zh" if CJK.search(text) else "en")


def _read(text: str) -> _Reading:
    text = normalise(text[:MAX_CHARACTERS])
    links = tuple(link(text))
    quantities = tuple(parse_quantities(text, names=[(item.start, item.end) for item in links]))
    spans = [(item.start, item.end) for item in links] + [(q.start, q.end) for q in quantities]
    slots, delta = _slots(links, quantities)
    slots = replace(slots, items=_items(links, quantities))
    left = residue(_without(text, spans))
    short = len(CJK.findall(left)) <= 3 and len(re.findall(r"[a-z]+", left)) <= 2
    bad = next(
        (
            q.text
            for q in quantities
            if q.value <= 0 and not q.delta and q.kind in ("duration", "count", "rows", "money")
        ),
        None,
    )
    return _Reading(
        text, links, quantities, slots, aspects_of(text), delta,
        follow_up=bool(FOLLOW_UP.match(text)) or (short and bool(spans)), bad_quantity=bad,
    )  # fmt: skip


def _slots(links: Sequence[Link], quantities: Sequence[Quantity]) -> tuple[Slots, int]:
    def keys(kind: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(item.key for item in links if item.kind == kind))

    def of(kind: str) -> list[Quantity]:
        return [q for q in quantities if q.kind == kind]

    counts = [q for q in of("count") if not q.delta and q.value >= 1 and q.text.lower() not in ARTICLES]
    delta = sum(int(q.value) for q in of("count") if q.delta)
    money, rate = _first(of("money")), _first(of("money_per_hour"))
    per_day = _first(of("hours_per_day"))
    factor = _first(of("factor"))
    return Slots(
        gpus=keys("gpu"), providers=keys("provider"), models=keys("model"), methods=keys("method"),
        workloads=keys("workload"), unknown=keys("unknown"),
        count=int(counts[-1].value) + delta if counts else None,
        periods=tuple(_period(q) for q in of("duration") if q.value > 0),
        hours_per_day=per_day.value if per_day else None,
        money=money.value if money else None, money_currency=money.currency if money else None,
        price_per_hour=rate.value if rate else None, price_currency=rate.currency if rate else None,
        memory_gb=tuple(_gigabytes(q) for q in of("memory")), rows=tuple(int(q.value) for q in of("rows")),
        factor=factor.value if factor else None, parameters_b=tuple(q.value for q in of("parameters")),
    ), 0 if counts else delta  # fmt: skip


def _items(links: Sequence[Link], quantities: Sequence[Quantity]) -> tuple[Item, ...]:
    """Lines of a mixed order: every GPU said with its own count, and the nearest provider before it."""
    items = []
    gpus = [item for item in links if item.kind == "gpu"]
    counts = [q for q in quantities if q.kind == "count" and q.text.lower() not in ARTICLES]
    for at, gpu in enumerate(gpus):
        start = gpus[at - 1].end if at else 0
        before = [q for q in counts if start <= q.start < gpu.start]
        after = [
            q
            for q in counts
            if gpu.end <= q.start < (gpus[at + 1].start if at + 1 < len(gpus) else len(gpu.text) + q.end)
        ]
        provider = [item.key for item in links if item.kind == "provider" and item.end <= gpu.start]
        for count in before[-1:] or after[:1]:
            counts.remove(count)
            items.append(Item(int(count.value), gpu.key, provider[-1] if provider else None))
    return tuple(items) if len(items) > 1 and len(items) == len(gpus) else ()


def _next(before: Request | None, now: _Reading, guess: IntentGuess) -> Request:
    """The request after one more turn."""
    language = language_of(now.text, now.links, before.language if before else None)
    intent, slots, aspects, search = guess.best or guess.likeliest, now.slots, now.aspects, now.text
    decided_by = "code" if guess.best else "likeliest"
    named = any((slots.gpus, slots.providers, slots.models, slots.methods, slots.workloads, slots.periods,
                 slots.count, slots.money, slots.rows, slots.memory_gb, slots.hours_per_day, now.count_delta))  # fmt: skip
    if before and now.follow_up and (named or aspects & SWITCHES) and not slots.unknown:
        slots = _inherit(before.slots, slots, now.count_delta)
        intent, aspects, decided_by = before.intent, _switched(before.aspects, aspects), "code"
        search = f"{before.search_text} {now.text}"
    elif before and intent in PRICE_INTENTS and not (slots.gpus or slots.unknown or slots.items):
        slots = _inherit(before.slots, slots, now.count_delta)
    elif before and now.follow_up:
        search = f"{before.search_text} {now.text}"
    request = Request(now.text, language, intent, slots, aspects, search, now.bad_quantity, decided_by, now.slots)
    return replace(request, intent=_settle(request))


def _switched(old: frozenset[str], new: frozenset[str]) -> frozenset[str]:
    """Aspects of a follow-up: of opposites (training or inference, cheapest or dearest) the new one holds."""
    for group in OPPOSITES:
        if new & group:
            old -= group
    return old | new


def _inherit(old: Slots, new: Slots, delta: int) -> Slots:
    """What was said now replaces what was said before, kind by kind; "one more" adds to the count."""
    count = new.count if new.count is not None else old.count
    if delta:
        count = max((count or 1) + delta, 1)
    same_subject = not (new.gpus or new.providers)
    return Slots(
        gpus=new.gpus or old.gpus, providers=new.providers or old.providers, models=new.models or old.models,
        methods=new.methods or old.methods, workloads=new.workloads or old.workloads, unknown=new.unknown, count=count,
        periods=new.periods or old.periods, hours_per_day=new.hours_per_day or old.hours_per_day,
        money=new.money or old.money, money_currency=new.money_currency or old.money_currency,
        price_per_hour=new.price_per_hour or (old.price_per_hour if same_subject else None),
        price_currency=new.price_currency or old.price_currency, memory_gb=new.memory_gb or old.memory_gb,
        rows=new.rows or old.rows, factor=new.factor or old.factor, parameters_b=new.parameters_b or old.parameters_b,
        items=new.items or (old.items if same_subject and not delta and new.count is None else ()),
    )  # fmt: skip


def _settle(request: Request) -> str:
    """Where the slots leave only one reading, they overrule the classifier."""
    s, has, intent = request.slots, request.aspects, request.intent
    rentable = bool(s.gpus or s.unknown) and "price" in has
    for intended, holds in _only_readings(s, has, intent):
        if holds:
            return intended
    if intent in TALK and not rentable:
        return intent
    if intent in ("manipulation", "off_topic"):
        intent = "price"
    return _price_kind(s, has, intent) if intent in PRICE_INTENTS else intent


def _only_readings(s: Slots, has: frozenset[str], intent: str) -> list[tuple[str, bool]]:
    """Intents that the slots force, strongest first."""
    host = "host" in has and bool(s.gpus) and not (s.workloads or s.models or "gpu_memory" in has)
    answerable = intent in ("document", "memory", "speedup", "training_time", *PRICE_INTENTS)
    return [
        ("document", "hyperparameters" in has),
        ("budget", bool(s.money and s.gpus) and "payback" in has),
        ("buy_or_rent", bool(s.gpus) and {"buy", "rent"} <= has and not s.money and intent != "off_topic"),
        (
            "speedup",
            set(s.gpus) == {"H100", "A100"} and (_long(s) or "break_even" in has) and intent != "cost" and not s.count,
        ),
        ("training_time", _is_run(s, has) and answerable),
        ("memory", bool(s.workloads) and intent in ("document", "memory")),
        ("price", host and (intent == "memory" or (intent == "document" and bool(s.providers)))),
        ("document", intent == "buy_price" and "server" in has),
        ("document", intent in PRICE_INTENTS and "box" in has and not (s.providers or s.periods or s.count)),
    ]


def _price_kind(s: Slots, has: frozenset[str], intent: str) -> str:
    """Which of the price questions it is: the slots say it better than the words."""
    if intent == "cost" and s.periods and s.periods[0].unit == "hour" and not (_long(s) or s.count or s.items):
        intent = "price"  # "one hour" is what prices are quoted in
    if intent == "price" and (len(s.providers) > 1 or has & COMPARING):
        intent = "compare"
    if intent in ("price", "compare") and _long(s) and not s.money:
        intent = "cost"
    if s.money and "buy" not in has:
        intent = "budget"
    return intent


def _is_run(s: Slots, has: frozenset[str]) -> bool:
    """A question about the measured ChatGLM runs: a ChatGLM model or method, and rows, a method or a time word."""
    glm = bool({"ChatGLM", "ChatGLM2"} & set(s.models))
    return (glm and bool(s.rows or s.methods or has & {"training", "large_data", "small_data", "per_row"})) or (
        len(s.methods) > 1 and bool(s.rows or has & {"training", "per_row"})
    )


def _long(s: Slots) -> bool:
    """A stated time that is more than the hour prices are quoted in."""
    return bool(s.hours_per_day) or any(p.hours != 1 for p in s.periods)


def _first(quantities: Sequence[Quantity]) -> Quantity | None:
    return next((q for q in quantities if q.value > 0), None)


def _period(q: Quantity) -> Period:
    return Period(q.value * HOURS_OF_UNIT[q.unit], q.value, q.unit, q.text)


def _gigabytes(q: Quantity) -> Decimal:
    return q.value * 1000 if q.unit.upper().startswith("T") else q.value


def _spans(reading: _Reading) -> list[tuple[int, int, str]]:
    names = [(item.start, item.end, str(item.kind)) for item in reading.links]
    return sorted(names + [(q.start, q.end, str(q.kind)) for q in reading.quantities])


def _without(text: str, spans: Sequence[tuple[int, int]]) -> str:
    for start, end in sorted(spans, reverse=True):
        text = f"{text[:start]} {text[end:]}"
    return text
