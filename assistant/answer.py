"""One question -> a stream of events that ends in an Answer: understand, gather, card, write, verify.

The whole loop stands here. It holds no state and knows no surface: the page, Slack, HTTP and the command line
all read the same events.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from assistant import (
    asking_back,
    budgets,
    card_comparison,
    card_hours,
    card_introductions,
    card_options,
    choosing,
    claimed_prices,
    claimed_specs,
    conversion,
    costs,
    documents,
    finetuning,
    fit,
    memory,
    open_choice,
    owning,
    planner,
    power,
    pretraining,
    price_selection,
    prices,
    purchases,
    quotas,
    render,
    runs,
    servers,
    serving,
    small_talk,
    specs,
    speedups,
    stated_figures,
    trainable_tokens,
)
from assistant.assumption_slots import told
from assistant.changed_arguments import Change
from assistant.evidence import Answer, Card, Done, Event, Finding, Language, Prose, Timings, Working
from assistant.ledger import Ledger
from assistant.llm import LanguageModel, ModelUnavailableError
from assistant.passage_questions import for_documents
from assistant.prose import Draft, prompt, write
from assistant.prose_names import IDENTIFIERS
from assistant.ranges import with_about
from assistant.several import Message, joined, understand_message
from assistant.slot_readings import KEEPING, PRICE_INTENTS
from assistant.standing_notes import echoing_briefly, with_notes
from assistant.tool_rounds import gather_more
from assistant.tools import ToolError
from assistant.traditional import in_the_script_of
from assistant.understand import Classifier, Request, understand
from assistant.verify import trace
from knowledge.catalog import Catalog
from knowledge.index import Index
from knowledge.names import all_names


@dataclass(frozen=True)
class Resources:
    """What answering needs, opened once per process. `model` None: answers without prose.

    `plans`: where code cannot decide what a question asks, the model is asked (planner.py).
    `changes`: assumptions that the reader changed, taken as if said.
    """

    catalog: Catalog
    index: Index
    classifier: Classifier
    model: LanguageModel | None
    plans: bool = False
    changes: tuple[Change, ...] = ()


def answer(question: str, turns: Sequence[str], having: Resources) -> Iterator[Event]:
    """Answer one question; `turns` are the user's earlier messages, oldest first.

    Raises IndexBrokenError when the index cannot be read. A model that fails costs the prose, never the card. A question
    in traditional Chinese is answered in it.
    """
    return in_the_script_of(question, _answered(question, turns, having))


def _answered(question: str, turns: Sequence[str], having: Resources) -> Iterator[Event]:
    """The events of one answer."""
    clock = _Clock()
    message = _of_one_sum(question, turns, having, understand_message(question, turns, having.classifier))
    request = message.parts[0].request
    if (
        len(message.parts) == 1
        and request.decided_by == "likeliest"
        and question.strip()
        and having.model
        and having.plans
    ):
        among = planner.readings(question, turns, having.classifier)
        if len(among) > 1:
            yield Working(message="正在理解问题……" if request.language == "zh" else "Reading the question ...")
            clock.mark("first_event", since_start=True)
            request = planner.planned(among, turns, having.model)
    clock.mark("understand")
    request = echoing_briefly(request)
    found = _gather_each(message, having) if len(message.parts) > 1 else with_about(request, gather(request, having))
    finding = with_notes(question, request.language, found) if question.strip() else _empty(having)
    clock.mark("retrieve" if finding.wants_prose else "tools")
    prose = bool(finding.wants_prose and having.model)
    card = finding.markdown if prose else render.paragraphs(finding.markdown, finding.sources)
    yield Card(markdown=card, calls=finding.calls, citations=finding.citations)
    clock.mark("first_event", since_start=True)
    status, written, note, model = finding.status, "", "", None
    draft = Draft()
    if prose and having.model:
        yield Working(message="正在组织语言……" if request.language == "zh" else "Writing ...")
        try:
            finding = gather_more(request, finding, having, turns, IDENTIFIERS)
            for sentence in write(request, finding, having.model, draft):
                clock.mark("first_token", since_start=True)
                written += sentence
                yield Prose(markdown=sentence)
            model = having.model.name
        except ModelUnavailableError as error:
            status = status if written else "unavailable"
            note = _model_note(error, request.language)
        yield Prose(markdown="\n\n" + render.paragraphs(note, finding.sources))
    claims = render.paragraphs(finding.markdown, written.strip(), note)
    traced = trace(
        _without_sizes(finding.markdown),
        finding.calls,
        finding.citations,
        question=_conversation(question, turns),
        names=IDENTIFIERS,
    )
    yield Done(answer=Answer(
        question=question, language=request.language, status=status, text=render.paragraphs(claims, finding.sources),
        calls=finding.calls, citations=finding.citations, figures=(*traced.figures, *draft.figures), verified=not traced.untraced,
        dropped=tuple(draft.dropped), model=model, timings_ms=clock.timings(),
    ))  # fmt: skip


def _of_one_sum(question: str, turns: Sequence[str], having: Resources, message: Message) -> Message:
    """The message unparted where its figures make one sum only together: a price, a rent, and "break-even hours?"."""
    if len(message.parts) < 2:
        return message

    def sums(request: Request) -> bool:
        return stated_figures.own_sum(request, Ledger(having.catalog, request.language)) is not None

    whole = understand(question, turns, having.classifier)
    if not sums(whole) or any(sums(part.request) for part in message.parts):
        return message
    return Message((replace(message.parts[0], request=whole),))


def _gather_each(message: Message, having: Resources) -> Finding:
    """Every question of a message answered by itself, under a heading each; the model is not asked to write of several."""
    requests = [echoing_briefly(part.request) for part in message.parts]
    findings = [with_about(request, gather(request, having)) for request in requests]
    return joined(message.parts, findings, message.left, requests[0].language)


def gather(request: Request, having: Resources) -> Finding:
    """Call what the question needs; every figure comes from here. What no row answers goes to the documents."""
    book = Ledger(having.catalog, request.language)
    request = told(request, having.changes)
    request, claim = claimed_prices.heard(request, book)
    try:
        found = _from_rows(request, book, having)
    except ToolError as error:
        return book.finding("needs_detail", book.say(f"这个数算不了：{error}", f"This cannot be computed: {error}"))
    if found is None:
        return documents.look_up(request, book, having.index)
    if claim and found.status == "answered":
        found = found.model_copy(update={"markdown": render.paragraphs(claim, found.markdown)})
    return documents.with_own(request, book, found, having.index) if having.index.has_documents else found


__all__ = ["IDENTIFIERS", "Resources", "answer", "gather", "prompt"]
HANDLERS: dict[str, Callable[[Request, Ledger], Finding | None]] = {
    "price": prices.look_up,
    "compare": prices.compare,
    "cost": costs.cost,
    "budget": budgets.budget,
    "buy_price": purchases.buy,
    "buy_or_rent": owning.buy_or_rent,
    "power": power.power,
    "training_time": runs.training_time,
    "speedup": speedups.speedup,
    "finetune_memory": finetuning.finetune_memory,
    "train_cost": pretraining.train_cost,
    "history": pretraining.history,
    "memory": memory.memory,
    "fit": fit.fit,
    "serving": serving.serving,
    "choose": choosing.choose,
}


def _from_rows(request: Request, book: Ledger, having: Resources) -> Finding | None:
    """The answer of code alone; None where the documents have to answer."""
    intent, s = request.intent, request.slots
    if found := stated_figures.own_sum(request, book):
        return found
    if request.bad_quantity and intent in KEEPING:
        return book.finding("needs_detail", book.say(
            f"“{request.bad_quantity}”不能用来计算：张数要是正整数，用户、条数、token、显存、上下文和价格都要是正数，MFU 和利用率不能超过百分之百。请换一个数。",
            f"“{request.bad_quantity}” cannot be computed with: cards must be whole and positive; users, rows, tokens, memory, context and prices positive; MFU and utilisation no more than the whole. Please give another value."))  # fmt: skip
    if found := _by_words(request, book, having):
        return found
    if intent in small_talk.REPLIES:
        return documents.mistaken_for_chat(request, book, having.index) or small_talk.reply(
            intent, request.question, book
        )
    if intent in PRICE_INTENTS and _stands_in_documents(request):
        return None
    intent = _by_prices(request, having)
    if intent in HANDLERS and (found := HANDLERS[intent](request, book)):
        return found
    if s.parameters_b and not (s.models or s.workloads or for_documents(request.question, s)):
        return documents.not_found(request, book)  # a model's size is no name that a passage could be about
    return None


def _by_words(request: Request, book: Ledger, having: Resources) -> Finding | None:
    """What the words alone settle, whatever the intent: a rate of exchange, a card only hinted at, figures of cards."""
    looks = (
        conversion.rate_question,
        quotas.quota,
        card_hours.card_hours,
        servers.servers,
        trainable_tokens.trainable_tokens,
        claimed_specs.claimed_memory,
        specs.specs,
        open_choice.choose_openly,
        card_options.card_options,
        asking_back.asked_about_nothing,
        asking_back.which_card,
    )
    if found := next((found for look in looks if (found := look(request, book))), None):
        return found
    if found := card_introductions.introduced(request, book, having.index):
        return found
    compared = card_comparison.cards_compared(request, book)
    return documents.with_passage(request, book, compared, having.index) if compared else None


def _by_prices(request: Request, having: Resources) -> str:
    """The intent, corrected by what there are prices of: an instance is rented, dollars to buy with are no rent."""
    intent, has = request.intent, request.aspects
    if request.slots.instances and intent == "buy_price":
        return "price"
    if intent == "document" and price_selection.only_clouds_named(request):
        return "compare"
    if intent in ("budget", "buy_price") and budgets.buys_time(request.question) and request.slots.money:
        return "budget"
    if intent == "budget" and {"buy", "how_many"} <= has and "rent" not in has:
        return "buy_price"
    return "speedup" if intent == "compare" and _one_card_unpriced(request, having) else intent


def _stands_in_documents(request: Request) -> bool:
    """Price questions that the rental table cannot answer: learning platforms, plans, dates and regions of prices."""
    s = request.slots
    if s.unknown or s.money:
        return False
    if s.providers and set(s.providers) <= price_selection.LEARNING_PLATFORMS:
        return not ("autodl" in s.providers and s.gpus)
    named = s.gpus or s.providers or s.workloads or s.periods
    return (
        not named and bool(request.aspects & {"plan", "rent"}) and not request.aspects & {"limit", "cheapest", "order"}
    )


@lru_cache(maxsize=1)
def _sized_names() -> re.Pattern[str]:
    """Names whose digits are part of the name: ChatGLM3-6B, A100 SXM4 80GB."""
    models = {shown for name in all_names() if name.kind == "model" for shown in (name.zh, name.en, name.key)}
    return re.compile("|".join(re.escape(name) for name in sorted(models, key=len, reverse=True)))


def _without_sizes(text: str) -> str:
    """The text with each model's name blanked letter by letter: the 6B of ChatGLM3-6B claims nothing."""
    return _sized_names().sub(lambda match: "x" * len(match.group()), text)


def _conversation(question: str, turns: Sequence[str]) -> str:
    return "\n".join([*turns, question])


def _one_card_unpriced(request: Request, having: Resources) -> bool:
    """Two cards compared of which one has no rent: only their relative speed can be used."""
    gpus = request.slots.gpus
    priced = {g for g in gpus if having.catalog.find_offers([g])}
    return (
        len(gpus) == 2 and len(priced) == 1 and any({s.faster, s.slower} == set(gpus) for s in having.catalog.speedups)
    )


def _empty(having: Resources) -> Finding:
    return Ledger(having.catalog, "zh").finding(
        "needs_detail", "问题是空的，请写下想问的内容。 / The question is empty; please type one."
    )


def _model_note(error: ModelUnavailableError, language: Language) -> str:
    if language == "zh":
        return f"（语言模型暂不可用：{error.reason.zh} 上面引用的资料不受影响。）"
    return f"(The language model is not available: {error.reason.en} The passages above are not affected.)"


class _Clock:
    """Milliseconds per stage."""

    def __init__(self) -> None:
        self._start = self._last = time.perf_counter()
        self._marks: dict[str, float] = {}

    def mark(self, stage: str, *, since_start: bool = False) -> None:
        """Keep the first time a stage ends."""
        now = time.perf_counter()
        self._marks.setdefault(stage, (now - (self._start if since_start else self._last)) * 1000)
        if not since_start:
            self._last = now

    def timings(self) -> Timings:
        """All stages so far."""
        marks = {stage: round(value, 1) for stage, value in self._marks.items()}
        return Timings(total=round((time.perf_counter() - self._start) * 1000, 1), **marks)
