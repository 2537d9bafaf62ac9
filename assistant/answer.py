"""One question -> a stream of events that ends in an Answer: understand, gather, card, write, verify.

The whole loop stands here. It holds no state and knows no surface: the page, Slack, HTTP and the command line
all read the same events.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from assistant import (
    budgets,
    choosing,
    costs,
    documents,
    finetuning,
    fit,
    memory,
    owning,
    power,
    pretraining,
    price_selection,
    prices,
    purchases,
    render,
    runs,
    serving,
    small_talk,
    specs,
    speedups,
)
from assistant.evidence import Answer, Card, Done, Event, Finding, Language, Prose, Timings, Working
from assistant.ledger import Ledger
from assistant.llm import LanguageModel, ModelUnavailableError
from assistant.reading import HEAD_CHARACTERS, TAIL_CHARACTERS
from assistant.sentences import MARK_OR_CODE, split_sentences
from assistant.tools import ToolError
from assistant.understand import KEEPING, PRICE_INTENTS, Classifier, Request, understand
from assistant.verify import check_prose, normalise_marks, trace
from knowledge.catalog import Catalog
from knowledge.index import Index
from knowledge.keywords import tokenize
from knowledge.names import all_names, link, normalise

PROSE_TOKENS = 220
READ_CHARACTERS = HEAD_CHARACTERS + TAIL_CHARACTERS
SENTENCES = 5
IDENTIFIERS = frozenset(alias for name in all_names() for alias in name.aliases if alias.isdigit()) | {"8358", "8468"}


@dataclass(frozen=True)
class Resources:
    """What answering needs, opened once per process. `model` None: answers without prose."""

    catalog: Catalog
    index: Index
    classifier: Classifier
    model: LanguageModel | None


def answer(question: str, turns: Sequence[str], having: Resources) -> Iterator[Event]:
    """Answer one question; `turns` are the user's earlier messages, oldest first.

    Raises IndexBrokenError when the index cannot be read. A model that fails costs the prose, never the card.
    """
    clock = _Clock()
    request = understand(question, turns, having.classifier)
    clock.mark("understand")
    finding = gather(request, having) if question.strip() else _empty(having)
    if len(question) > READ_CHARACTERS:
        finding = finding.model_copy(
            update={"markdown": render.paragraphs(finding.markdown, _cut_note(request.language))}
        )
    clock.mark("retrieve" if finding.wants_prose else "tools")
    prose = bool(finding.wants_prose and having.model)
    card = finding.markdown if prose else render.paragraphs(finding.markdown, finding.sources)
    yield Card(markdown=card, calls=finding.calls, citations=finding.citations)
    clock.mark("first_event", since_start=True)
    status, written, note, model = finding.status, "", "", None
    dropped: list[str] = []
    if prose and having.model:
        yield Working(message="正在组织语言……" if request.language == "zh" else "Writing ...")
        try:
            for sentence in write(request, finding, having.model, dropped):
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
        _without_sizes(claims),
        finding.calls,
        finding.citations,
        question=_conversation(question, turns),
        names=IDENTIFIERS,
    )
    yield Done(answer=Answer(
        question=question, language=request.language, status=status, text=render.paragraphs(claims, finding.sources),
        calls=finding.calls, citations=finding.citations, figures=traced.figures, verified=not traced.untraced,
        dropped=tuple(dropped), model=model, timings_ms=clock.timings(),
    ))  # fmt: skip


def gather(request: Request, having: Resources) -> Finding:
    """Call what the question needs; every figure comes from here. What no row answers goes to the documents."""
    book = Ledger(having.catalog, request.language)
    try:
        found = _from_rows(request, book, having)
    except ToolError as error:
        return book.finding("needs_detail", book.say(f"这个数算不了：{error}", f"This cannot be computed: {error}"))
    if found is None:
        return documents.look_up(request, book, having.index)
    return documents.with_own(request, book, found, having.index) if having.index.has_documents else found


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
    if request.bad_quantity and intent in KEEPING:
        return book.finding("needs_detail", book.say(
            f"“{request.bad_quantity}”不能用来计算：张数要是正整数，用户、条数、token、显存、上下文和价格都要是正数，MFU 和利用率不能超过百分之百。请换一个数。",
            f"“{request.bad_quantity}” cannot be computed with: cards must be whole and positive; users, rows, tokens, memory, context and prices positive; MFU and utilisation no more than the whole. Please give another value."))  # fmt: skip
    if found := specs.specs(request, book):
        return found
    if intent in small_talk.REPLIES:
        return small_talk.reply(intent, request.question, book)
    if intent in PRICE_INTENTS and _stands_in_documents(request):
        return None
    intent = _by_prices(request, having)
    if intent in HANDLERS and (found := HANDLERS[intent](request, book)):
        return found
    if s.parameters_b and not (s.models or s.workloads):  # a model's size is no name that a passage could be about
        return documents.not_found(request, book)
    return None


def _by_prices(request: Request, having: Resources) -> str:
    """The intent, corrected by what there are prices of: an instance is rented, dollars to buy with are no rent."""
    intent, has = request.intent, request.aspects
    if request.slots.instances and intent == "buy_price":
        return "price"
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


def write(request: Request, finding: Finding, model: LanguageModel, dropped: list[str]) -> Iterator[str]:
    """The model's sentences that hold only what the evidence says; the others go to `dropped`."""
    language = request.language
    user = (
        f"{documents.evidence_text(finding.citations)}\n\n"
        + ("问题：" if language == "zh" else "Question: ")
        + request.question
    )
    buffer, shown = "", 0
    for delta in model.stream(prompt(language), user, max_tokens=PROSE_TOKENS):
        sentences, buffer = split_sentences(buffer + delta)
        for sentence in sentences:
            if kept := _kept(sentence, request, finding, dropped):
                yield kept
                shown += 1
        if shown >= SENTENCES:
            return
    if kept := _kept(buffer, request, finding, dropped):
        yield kept


def _kept(sentence: str, request: Request, finding: Finding, dropped: list[str]) -> str:
    if not sentence.strip():
        return ""
    marks = normalise_marks(sentence, [citation.id for citation in finding.citations])
    verdict = check_prose(
        marks.text,
        finding.calls,
        finding.citations,
        question=request.question,
        names=IDENTIFIERS,
        tokenize=tokenize,
        names_in=_named,
    )
    dropped.extend([*marks.dropped, *(verdict.dropped or (() if verdict.ok else (sentence.strip(),)))])
    return _cited(marks.text, finding) if verdict.ok else ""


def _cited(sentence: str, finding: Finding) -> str:
    """The sentence with a mark: a small model often forgets it, so the passage that holds most of its words is named."""
    if not finding.citations or MARK_OR_CODE.search(sentence):
        return sentence
    words = set(tokenize(sentence))
    best = max(
        finding.citations, key=lambda citation: len(words & set(tokenize(f"{citation.title} {citation.excerpt}")))
    )
    body = sentence.rstrip()
    return f"{body} [{best.id}]{sentence[len(body) :]}"


@lru_cache(maxsize=512)
def _named(text: str) -> frozenset[str]:
    return frozenset(f"{item.kind}:{item.key}" for item in link(normalise(text)))


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


def prompt(language: Language) -> str:
    """The system prompt of a language."""
    return files("assistant").joinpath("prompts", f"answer.{language}.md").read_text(encoding="utf-8")


def _empty(having: Resources) -> Finding:
    return Ledger(having.catalog, "zh").finding(
        "needs_detail", "问题是空的，请写下想问的内容。 / The question is empty; please type one."
    )


def _cut_note(language: Language) -> str:
    if language == "zh":
        return "（问题太长，只读了开头和结尾两部分；请把要问的写短一些。）"
    return "(The question is very long: only its beginning and its end were read. Please make it shorter.)"


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
        self._last = now

    def timings(self) -> Timings:
        """All stages so far."""
        marks = {stage: round(value, 1) for stage, value in self._marks.items()}
        return Timings(total=round((time.perf_counter() - self._start) * 1000, 1), **marks)
