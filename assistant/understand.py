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
from assistant.deadlines import deadline_of
from assistant.definitions import searched
from assistant.evidence import Language
from assistant.insistence import as_rate, insists
from assistant.kind_words import kind_by_words, without_tested_card
from assistant.market_words import markets_asked, without_shop
from assistant.reading import Reading, Slots, language_of, read
from assistant.references import UNRELATED, goes_on_from, pointed, returns
from assistant.server_words import goes_on_about_server
from assistant.short_names import spelled_out_each
from assistant.slot_readings import COMPARING, KEEPING, MODEL_INTENTS, PRICE_INTENTS, only_readings, price_kind

MAX_TURNS = 8  # how far back a conversation is read
TALK = frozenset({"manipulation", "forecast", "off_topic", "smalltalk", "document"})
OF_CARD_PRICES = PRICE_INTENTS | {"buy_price", "buy_or_rent", "document"}
MODEL_ASKS = frozenset({"fits", "needs_memory", "serves", "how_many"})
ASKING = frozenset({"price", "fits", "needs_memory", "serves", "chooses", "how_long", "how_many", "buy", "rent", "fast", "electricity"})  # fmt: skip


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
    `earlier`: the turn before as it was written.
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
    earlier: str = ""


def understand(question: str, turns: Sequence[str], classifier: Classifier) -> Request:
    """Read the conversation up to and including `question`; `turns` are the user's earlier messages, oldest first."""
    return replace(understand_each([question], turns, classifier)[0], question=question)


def understand_each(parts: Sequence[str], turns: Sequence[str], classifier: Classifier) -> list[Request]:
    """The parts of one message as requests, each read in the light of the turns and of the parts before it."""
    texts = spelled_out_each([*turns[-MAX_TURNS:], *parts])
    readings = [without_shop(without_tested_card(read(text))) for text in texts]
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
        now.text, language, guess.best or guess.likeliest, now.slots, now.aspects, searched(now.text), now.bad_quantity,
        "code" if guess.best else "likeliest", now.slots, earlier=before.question if before else "",
    )  # fmt: skip
    if before and goes_on_about_server(before.search_text, now):
        return replace(own, intent="document", search_text=f"{before.search_text} {now.text}", decided_by="code")
    request = (_timed(before, own, now) or _continued(before, own, now, guess)) if before else own
    if before and request.decided_by == "code" and request.intent == before.intent and _only_changes(before, now):
        return request
    intent = _settle(request)
    if before and intent == "document" == before.intent and before.search_text not in request.search_text:
        request = replace(request, earlier_search=before.search_text)
    return replace(request, intent=intent)


def _only_changes(before: Request, now: Reading) -> bool:
    """A follow-up that changes a figure of a question about a model or owned cards, and asks nothing else."""
    s = now.slots
    named = s.gpus or s.models or s.providers or s.parameters_b or s.money or s.workload.method or s.workload.purpose
    return before.intent in KEEPING and now.leans and not named and not now.aspects & ASKING


def _continued(before: Request, own: Request, now: Reading, guess: IntentGuess) -> Request:
    """The turn in the light of the one before it: a follow-up, the missing half of a question, or a new subject."""
    if own.slots.unknown or _stands_alone(now, own, before):
        return own
    if billed := _bill_of_each(before, own, now):
        return billed
    search = f"{before.search_text} {now.text}"
    unsure = now.opens_like_follow_up and (guess.best is None or guess.best == before.intent)
    # "no, it is T4" or an insistence on another price sounds like an attempt at the rules; amid prices it is not.
    corrects = own.intent in ("manipulation", "off_topic") and insists(before.intent, before.slots, now.slots)
    if (now.leans or unsure or corrects) and before.intent not in UNRELATED:
        return _follows(before, own, as_rate(now) if corrects else now, search)
    if own.intent in PRICE_INTENTS and not (own.slots.gpus or own.slots.items):
        return replace(own, slots=inherit(before.slots, now))
    if turned := _of_another_price(before, own, now):
        return turned
    unnamed = not (own.slots.models or own.slots.parameters_b)
    if {own.intent, before.intent} <= MODEL_INTENTS and (unnamed or now.opens_like_follow_up):
        return replace(own, slots=inherit(before.slots, now))
    if returns(now) and own.intent in (before.intent, "document"):
        return replace(own, intent=before.intent, slots=inherit(before.slots, now), search_text=search)
    return _beside(before, own, now, search)


def _of_another_price(before: Request, own: Request, now: Reading) -> Request | None:
    """After a price of a card "and at launch?" asks its price of then, "when does it pay back?" what was said of buying it."""
    same = before.slots.gpus and own.slots.gpus in ((), before.slots.gpus)
    if not same or before.intent not in OF_CARD_PRICES:
        return None
    if markets_asked(now.text):
        return replace(own, intent="buy_price", slots=inherit(replace(before.slots, providers=()), now))
    return replace(own, intent="buy_or_rent", slots=inherit(before.slots, now)) if "payback" in now.aspects else None


def _bill_of_each(before: Request, own: Request, now: Reading) -> Request | None:
    """Amid questions of a model "Tencent's T4 or its A100, which is cheaper over 30 days" asks for two bills, no speed."""
    s = now.slots
    asked = s.periods and s.providers and len(s.gpus) > 1 and now.aspects & COMPARING
    if before.intent not in MODEL_INTENTS or not asked or s.models or s.parameters_b or s.workload.concurrency:
        return None
    slots = replace(inherit(before.slots, now), models=(), parameters_b=(), workloads=())
    return replace(own, intent="cost", slots=slots, decided_by="code")


def _beside(before: Request, own: Request, now: Reading, search: str) -> Request:
    """A question of its own that opens like a follow-up: it takes over what it searches for, or the slots of a sum."""
    if before.intent == "document" and own.intent in ("document", "manipulation", "off_topic"):
        if now.opens_like_follow_up and own.intent == "document":
            return replace(own, search_text=search)
        return replace(own, earlier_search=before.search_text)
    if now.opens_like_follow_up and own.intent in PRICE_INTENTS and before.intent in PRICE_INTENTS:
        return replace(own, slots=inherit(before.slots, now))
    return own


def _timed(before: Request, own: Request, now: Reading) -> Request | None:
    """A run's time, said in the turn before, asked for on another card or another number of cards; None where it is not."""
    moved = (own.intent == "speedup" and now.opens_like_follow_up) or "scales" in now.aspects
    if before.slots.periods and now.slots.periods and not own.slots.unknown and deadline_of(now.text):
        slots = inherit(before.slots, now)
        if {*before.slots.gpus, *slots.gpus} == {"H100", "A100"}:  # the run's own time, and the one it is to be done in
            slots = replace(slots, gpus=("A100", "H100"), periods=(*before.slots.periods, *now.slots.periods))
            return replace(own, intent="speedup", slots=slots, search_text=f"{before.search_text} {now.text}")
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
    for intended, holds in only_readings(s, has, intent):
        if holds:
            return intended
    if intent in TALK and not rentable:
        return intent
    if intent in ("manipulation", "off_topic"):
        intent = "price"
    return price_kind(s, has, intent) if intent in PRICE_INTENTS else intent
