"""Question and conversation -> Request: language, intent, and the names and numbers that were said.

Code first: each turn is read (reading.py), the intent classifier asked; the slots then settle what the words leave
open. It looks no row up, and it never makes a name or number that nobody wrote.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Protocol

from assistant.bare_figures import placed
from assistant.evidence import Language
from assistant.reading import Reading, Slots, language_of, read
from assistant.workload import merged

MAX_TURNS = 8  # how far back a conversation is read
OPPOSITES = (
    frozenset({"training", "inference"}),
    frozenset({"cheapest", "dearest"}),
    frozenset({"large_data", "small_data"}),
)
UNRELATED = frozenset({"smalltalk", "off_topic", "manipulation", "forecast"})
KEPT = ("gpus", "providers", "models", "methods", "workloads", "periods", "hours_per_day", "money", "money_currency",
        "price_per_hour", "price_currency", "memory_gb", "forms", "instances", "rows", "factor", "parameters_b",
        "purchase_price", "purchase_currency", "purchase_per_card")  # fmt: skip
COMPARING = frozenset({"cheapest", "dearest", "order", "difference", "ratio", "average"})
TALK = frozenset({"manipulation", "forecast", "off_topic", "smalltalk", "document"})
PRICE_INTENTS = frozenset({"price", "compare", "cost", "budget"})
MODEL_INTENTS = frozenset({"fit", "finetune_memory", "train_cost", "serving", "choose"})
KEEPING = MODEL_INTENTS | {"buy_or_rent", "power"}
ASKING = frozenset({"price", "fits", "needs_memory", "serves", "chooses", "how_long", "how_many", "buy", "rent", "fast", "electricity"})  # fmt: skip
TABLE_MODELS = frozenset({"Falcon-40B", "MPT-30B"})  # what running them needs stands in the articles' table
TABLE_TRAINED = frozenset({"Falcon-40B", "LLaMA-65B"})


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


def understand(question: str, turns: Sequence[str], classifier: Classifier) -> Request:
    """Read the conversation up to and including `question`; `turns` are the user's earlier messages, oldest first."""
    readings = [read(text) for text in [*turns[-MAX_TURNS:], question]]
    guesses = classifier.classify([r.text for r in readings], [r.spans for r in readings])
    request: Request | None = None
    for reading, guess in zip(readings, guesses, strict=True):
        request = _next(request, reading, guess)
    assert request is not None
    return replace(request, question=question)


def _next(before: Request | None, now: Reading, guess: IntentGuess) -> Request:
    """The request after one more turn."""
    language = language_of(now.text, now.links, before.language if before else None)
    own = Request(
        now.text, language, guess.best or guess.likeliest, now.slots, now.aspects, now.text, now.bad_quantity,
        "code" if guess.best else "likeliest", now.slots,
    )  # fmt: skip
    request = _continued(before, own, now, guess) if before else own
    if before and request.decided_by == "code" and request.intent == before.intent and _only_changes(before, now):
        return request
    return replace(request, intent=_settle(request))


def _only_changes(before: Request, now: Reading) -> bool:
    """A follow-up that changes a figure of a question about a model or owned cards, and asks nothing else."""
    s = now.slots
    named = s.gpus or s.models or s.providers or s.parameters_b or s.money or s.workload.method or s.workload.purpose
    return before.intent in KEEPING and now.leans and not named and not now.aspects & ASKING


def _continued(before: Request, own: Request, now: Reading, guess: IntentGuess) -> Request:
    """The turn in the light of the one before it: a follow-up, the missing half of a question, or a new subject."""
    if own.slots.unknown:
        return own
    search = f"{before.search_text} {now.text}"
    unsure = now.opens_like_follow_up and (guess.best is None or guess.best == before.intent)
    # "no, it is T4" or an insistence on another price sounds like an attempt at the rules; amid prices it is not.
    corrects = (
        own.intent == "manipulation" and before.intent in PRICE_INTENTS and bool(now.slots.gpus or now.slots.providers)
    )
    if (now.leans or unsure or corrects) and before.intent not in UNRELATED:
        if before.intent in KEEPING:
            slots = placed(now, before.intent, before.slots, before.aspects | now.aspects)
            now = replace(now, slots=slots)
        return replace(
            own, intent=before.intent, slots=_inherit(before.slots, now), aspects=_switched(before.aspects, now.aspects),
            search_text=search, decided_by="code",
        )  # fmt: skip
    if own.intent in PRICE_INTENTS and not (own.slots.gpus or own.slots.items):
        return replace(own, slots=_inherit(before.slots, now))
    unnamed = not (own.slots.models or own.slots.parameters_b)
    if {own.intent, before.intent} <= MODEL_INTENTS and (unnamed or now.opens_like_follow_up):
        return replace(own, slots=_inherit(before.slots, now))
    if now.opens_like_follow_up and own.intent == "document" == before.intent:
        return replace(own, search_text=search)
    if now.opens_like_follow_up and own.intent in PRICE_INTENTS and before.intent in PRICE_INTENTS:
        return replace(own, slots=_inherit(before.slots, now))
    return own


def _switched(old: frozenset[str], new: frozenset[str]) -> frozenset[str]:
    """Aspects of a follow-up: of opposites (training or inference, cheapest or dearest) the new one holds."""
    for group in OPPOSITES:
        if new & group:
            old -= group
    return old | new


def _inherit(old: Slots, now: Reading) -> Slots:
    """What was said now replaces what was said before, kind by kind; "one more" adds to the count."""
    new = now.slots
    kept = {name: getattr(new, name) or getattr(old, name) for name in KEPT}
    same_subject = not (new.gpus or new.providers)
    count = new.count if new.count is not None else old.count
    if now.count_delta:
        count = max((count or 1) + now.count_delta, 1)
    if not same_subject:  # another card or cloud is not what the user's own price was for
        kept["price_per_hour"] = new.price_per_hour
    if now.all_clouds or (now.aspects & {"cheapest", "dearest"} and not new.providers):
        kept["providers"] = ()  # "anything cheaper?" looks beyond the cloud talked about
    items = new.items or (old.items if same_subject and not now.count_delta and new.count is None else ())
    kept["workload"] = merged(old.workload, new.workload)
    slots = replace(new, **kept, count=count, items=items, pairs=new.pairs or (old.pairs if same_subject else ()))
    return _scaled(slots, now)


def _scaled(slots: Slots, now: Reading) -> Slots:
    """ "时间翻倍呢", "half that time", "double the cards": twice or half of what the conversation has."""
    times = Decimal(2) if "double" in now.aspects else Decimal("0.5") if "halve" in now.aspects else None
    if times is None or now.slots.periods or now.slots.count:
        return slots
    if "cards" in now.aspects:
        return replace(slots, count=max(int((slots.count or 1) * times), 1))
    return replace(
        slots, periods=tuple(replace(p, hours=p.hours * times, value=p.value * times) for p in slots.periods)
    )


def _settle(request: Request) -> str:
    """Where the slots leave only one reading, they overrule the classifier."""
    s, has, intent = request.slots, request.aspects, request.intent
    rentable = bool(s.gpus or s.unknown) and ("price" in has or (intent == "manipulation" and bool(s.providers)))
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
    answerable = intent in (
        "document",
        "memory",
        "speedup",
        "training_time",
        "buy_price",
        *PRICE_INTENTS,
        *MODEL_INTENTS,
    )
    return [
        (
            "document",
            "hyperparameters" in has and intent not in MODEL_INTENTS and not any(h for _, h in _model_readings(s, has)),
        ),
        (
            "history",
            _asks_history(s, has)
            and bool(s.models)
            and intent in ("train_cost", "memory", "finetune_memory", "training_time"),
        ),
        ("power", bool(s.gpus) and "electricity" in has and not has & {"buy", "rent"}),
        ("budget", bool(s.money and s.gpus) and "payback" in has),
        ("buy_or_rent", bool(s.gpus) and {"buy", "rent"} <= has and not s.money and intent != "off_topic"),
        (
            "speedup",
            set(s.gpus) == {"H100", "A100"} and (_long(s) or "break_even" in has) and intent != "cost" and not s.count,
        ),
        ("speedup", set(s.gpus) == {"H100", "A100"} and "fast" in has and "price" not in has),
        ("training_time", _is_run(s, has) and answerable and not (intent == "finetune_memory" and not s.rows)),
        ("memory", _of_table(s, has) and intent in ("document", "memory", *MODEL_INTENTS)),
        ("memory", intent == "memory" and s.workload.purpose == "training" and not s.workload.method),
        *((intended, holds and answerable) for intended, holds in _model_readings(s, has)),
        ("cost", "price" in has and _long(s) and bool(s.gpus or s.workloads) and intent in ("document", "memory")),
        ("document", "use" in has and "price" not in has and intent in PRICE_INTENTS),
        ("price", host and (intent == "memory" or (intent == "document" and bool(s.providers)))),
        ("document", {"buy", "rent"} <= has and not (s.gpus or s.money) and intent in PRICE_INTENTS),
        ("document", "ranking" in has and "price" not in has and intent in PRICE_INTENTS),
        ("document", intent == "buy_price" and "server" in has),
        ("document", intent in PRICE_INTENTS and "box" in has and not (s.providers or s.periods or s.count)),
    ]


def _asks_history(s: Slots, has: frozenset[str]) -> bool:
    """How long or how dear somebody's training was: a fact of the past, which no estimate answers."""
    return "past" in has and not (s.gpus or s.count or s.rows or s.methods or s.workload.training_tokens)


def _of_table(s: Slots, has: frozenset[str]) -> bool:
    """A workload of the articles' table, with nothing said that the table does not know; its rental price is a price."""
    work = s.workload
    beyond = bool(
        work.precision
        or work.method
        or work.context_tokens
        or work.concurrency
        or work.training_tokens
        or s.parameters_b
    )
    table = TABLE_TRAINED if work.purpose == "training" else TABLE_MODELS
    asked = bool(has & {"fits", "needs_memory", "how_many", "chooses"})
    return bool(s.workloads) or (bool(table & set(s.models)) and not beyond and asked and "price" not in has)


def _model_readings(s: Slots, has: frozenset[str]) -> list[tuple[str, bool]]:
    """Intents that a model with what is to be done with it forces, strongest first."""
    work = s.workload
    model = bool(s.models or s.parameters_b)
    plain = "price" not in has and not s.money
    trains = bool(work.method) or work.zero_stage is not None or work.purpose in ("training", "finetuning")
    memory = "needs_memory" in has or ("fits" in has and bool(s.gpus or s.memory_gb))
    loaded = bool(
        work.concurrency or work.requests_per_s or work.slo_tokens_per_s or work.slo_ttft_s or "serves" in has
    )
    trained_on = bool(work.training_tokens) or (trains and bool(s.rows or work.rows or work.tokens_per_row))
    return [
        ("train_cost", bool(work.training_tokens) and (model or trains or bool(s.gpus))),
        ("choose", model and "chooses" in has and not (s.gpus or s.memory_gb)),
        ("train_cost", model and trained_on and bool(has & {"how_long", "price"})),
        ("finetune_memory", model and trains and plain and (memory or "how_many" in has)),
        (
            "finetune_memory",
            model
            and bool(work.method or work.zero_stage is not None)
            and plain
            and bool(s.gpus or s.memory_gb or s.count)
            and not (trained_on or loaded or has & {"how_long", "fast"}),
        ),
        ("serving", model and loaded and not trains and "needs_memory" not in has),
        ("fit", model and plain and not trains and (memory or ("how_many" in has and bool(s.gpus or s.memory_gb)))),
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
