"""Question and conversation -> Request: language, intent, and the names and numbers that were said.

Code first: each turn is read (reading.py), the intent classifier asked; the slots then settle what the words leave
open. It looks no row up, and it never makes a name or number that nobody wrote.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from assistant.bare_figures import counted, placed
from assistant.carried import inherit, switched
from assistant.evidence import Language
from assistant.kind_words import kind_by_words, without_tested_card
from assistant.reading import Reading, Slots, language_of, read
from assistant.references import UNRELATED, goes_on_from, pointed, returns

MAX_TURNS = 8  # how far back a conversation is read
COMPARING = frozenset({"cheapest", "dearest", "order", "difference", "ratio", "average"})
TALK = frozenset({"manipulation", "forecast", "off_topic", "smalltalk", "document"})
PRICE_INTENTS = frozenset({"price", "compare", "cost", "budget"})
MODEL_INTENTS = frozenset({"fit", "finetune_memory", "train_cost", "serving", "choose"})
KEEPING = MODEL_INTENTS | {"buy_or_rent", "power"}
MODEL_ASKS = frozenset({"fits", "needs_memory", "serves", "how_many"})
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
    @property
    def probabilities(self) -> Mapping[str, float]: ...


@dataclass(frozen=True)
class Request:
    """A question understood. `search_text` is what to search the documents for.

    `earlier_search`: what the turn before searched for, in whose light a question may have to be read that alone finds nothing.
    """

    question: str
    language: Language
    intent: str
    slots: Slots
    aspects: frozenset[str]
    search_text: str
    bad_quantity: str | None = None
    decided_by: str = "code"
    said: Slots = field(default_factory=Slots)
    earlier_search: str = ""


def understand(question: str, turns: Sequence[str], classifier: Classifier) -> Request:
    """Read the conversation up to and including `question`; `turns` are the user's earlier messages, oldest first."""
    return replace(understand_each([question], turns, classifier)[0], question=question)


def understand_each(parts: Sequence[str], turns: Sequence[str], classifier: Classifier) -> list[Request]:
    """The parts of one message as requests, each read in the light of the turns and of the parts before it."""
    readings = [without_tested_card(read(text)) for text in [*turns[-MAX_TURNS:], *parts]]
    guesses = classifier.classify([r.text for r in readings], [r.spans for r in readings])
    history: list[Request] = []
    for reading, guess in zip(readings, guesses, strict=True):
        before = goes_on_from(reading, history)
        history.append(_next(before, pointed(reading, before, history), guess))
    return history[-len(parts) :]


def _next(before: Request | None, now: Reading, guess: IntentGuess) -> Request:
    """The request after one more turn."""
    language = language_of(now.text, now.links, before.language if before else None)
    own = Request(
        now.text, language, guess.best or guess.likeliest, now.slots, now.aspects, now.text, now.bad_quantity,
        "code" if guess.best else "likeliest", now.slots,
    )  # fmt: skip
    request = (_timed(before, own, now) or _continued(before, own, now, guess)) if before else own
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
    if own.slots.unknown or _stands_alone(now, own, before):
        return own
    search = f"{before.search_text} {now.text}"
    unsure = now.opens_like_follow_up and (guess.best is None or guess.best == before.intent)
    # "no, it is T4" or an insistence on another price sounds like an attempt at the rules; amid prices it is not.
    corrects = (
        own.intent == "manipulation" and before.intent in PRICE_INTENTS and bool(now.slots.gpus or now.slots.providers)
    )
    if (now.leans or unsure or corrects) and before.intent not in UNRELATED:
        return _follows(before, own, now, search)
    if own.intent in PRICE_INTENTS and not (own.slots.gpus or own.slots.items):
        return replace(own, slots=inherit(before.slots, now))
    unnamed = not (own.slots.models or own.slots.parameters_b)
    if {own.intent, before.intent} <= MODEL_INTENTS and (unnamed or now.opens_like_follow_up):
        return replace(own, slots=inherit(before.slots, now))
    if returns(now) and own.intent in (before.intent, "document"):
        return replace(own, intent=before.intent, slots=inherit(before.slots, now), search_text=search)
    return _beside(before, own, now, search)


def _beside(before: Request, own: Request, now: Reading, search: str) -> Request:
    """A question of its own that opens like a follow-up: it takes over what it searches for, or the slots of a sum."""
    if own.intent == "document" == before.intent:
        if now.opens_like_follow_up:
            return replace(own, search_text=search)
        return replace(own, earlier_search=before.search_text)
    if now.opens_like_follow_up and own.intent in PRICE_INTENTS and before.intent in PRICE_INTENTS:
        return replace(own, slots=inherit(before.slots, now))
    return own


def _timed(before: Request, own: Request, now: Reading) -> Request | None:
    """A run's time, said in the turn before, asked for on another card or another number of cards; None where it is not."""
    moved = (own.intent == "speedup" and now.opens_like_follow_up) or "scales" in now.aspects
    if now.slots.periods or not before.slots.periods or not moved or own.slots.unknown:
        return None
    aspects, search = switched(before.aspects, now.aspects), f"{before.search_text} {now.text}"
    return replace(own, slots=inherit(before.slots, now), aspects=aspects, search_text=search)


def _follows(before: Request, own: Request, now: Reading, search: str) -> Request:
    """A turn that leans on the one before it: its intent with what is said now, unless the turn asks something else."""
    intent, has = _turned(before, now), now.aspects
    if intent == before.intent and intent in KEEPING:
        now = replace(now, slots=placed(now, intent, before.slots, before.aspects | has))
    elif intent in PRICE_INTENTS or intent == "buy_price":
        now = replace(now, slots=counted(now, before.said, before.slots))
    slots = inherit(before.slots, now)
    if intent == "price" and (now.slots.count or now.count_delta) and (slots.count or 1) > 1:
        return replace(own, intent="cost", slots=slots, aspects=switched(before.aspects, has), decided_by="code")
    if intent == before.intent:
        aspects = switched(before.aspects, has)
        return replace(own, intent=intent, slots=slots, aspects=aspects, search_text=search, decided_by="code")
    if intent not in MODEL_INTENTS:
        slots = replace(slots, models=(), parameters_b=(), workloads=())
    return replace(own, intent=intent, slots=slots, decided_by="code")


def _turned(before: Request, now: Reading) -> str:
    """The intent of a turn that leans: it may ask the price of what was talked about, or to rent what was to be bought."""
    s, has, intent = now.slots, now.aspects, before.intent
    named = s.models or s.parameters_b
    money = s.money or before.slots.money
    rented, bought = bool(has & {"rent"} or s.providers or s.periods), "buy" in has
    compares = "price" in has and bool(has & COMPARING)
    turns = (
        ("price", intent in MODEL_INTENTS and _asks_price(before, now)),
        ("fit", intent in PRICE_INTENTS | {"buy_price", "document"} and bool(named and has & MODEL_ASKS)),
        ("price", intent == "buy_price" and not bought and rented),
        ("buy_price", intent in PRICE_INTENTS and bought and not (rented or money or "enough" in has)),
        ("compare", intent in ("document", "memory", "speedup") and compares and len(s.gpus or before.slots.gpus) > 1),
        ("price", intent == "document" and _fills_rent(before, now)),
    )
    return next((turned for turned, holds in turns if holds), intent)


def _stands_alone(now: Reading, own: Request, before: Request) -> bool:
    """ "H100 功耗多少", "腾讯 T4 跑三天多少钱" amid questions of models: a figure or a price of a card that it names itself."""
    s, has = now.slots, now.aspects
    if before.intent not in MODEL_INTENTS or not s.gpus or now.opens_like_follow_up:
        return False
    figure = "spec" in has and not has & {"gpu_memory", "fits", "needs_memory"} and not s.workload.precision
    rented = own.intent in PRICE_INTENTS and "price" in has and bool(s.periods) and not has & {"limit", "chooses"}
    return figure or rented


def _asks_price(before: Request, now: Reading) -> bool:
    """ "那它多少钱一小时" amid questions of memory: a price of the card, and no limit of what may be spent."""
    s, has = now.slots, now.aspects
    named = s.models or s.parameters_b or s.workload.method or s.workload.precision or s.money
    return "price" in has and not has & {"fits", "limit", "chooses"} and bool(before.slots.gpus) and not named


def _fills_rent(before: Request, now: Reading) -> bool:
    """ "T4", "Tencent", "3 days" after "I want to rent GPUs"."""
    s = now.slots
    renting = (before.aspects | now.aspects) & {"rent", "price"}
    return bool((before.slots.gpus or s.gpus) and renting and (s.periods or s.count or s.providers))


def _settle(request: Request) -> str:
    """Where the slots leave only one reading, they overrule the classifier."""
    s, has, intent = request.slots, request.aspects, request.intent
    if kind := kind_by_words(request.question, s, has, intent):
        return kind
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
        (_price_kind(s, has, "price"), _rents(s, has) and intent == "document"),
        ("price", host and (intent == "memory" or (intent == "document" and bool(s.providers)))),
        ("document", {"buy", "rent"} <= has and not (s.gpus or s.money) and intent in PRICE_INTENTS),
        ("document", "ranking" in has and "price" not in has and intent in PRICE_INTENTS),
        ("document", intent == "buy_price" and "server" in has),
        ("document", intent in PRICE_INTENTS and "box" in has and not (s.providers or s.periods or s.count)),
    ]


def _rents(s: Slots, has: frozenset[str]) -> bool:
    """A card and a cloud named with a word about prices: what the rows hold, unless a reason or a use is asked for."""
    return bool(s.gpus and s.providers) and "price" in has and not has & {"why", "use", "export", "training"}


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
