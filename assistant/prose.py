"""Prose of a language model, sentence by sentence: what is not borne by the evidence is rewritten once, else dropped.

Asks the model and checks what it says (verify.py, sentence_form.py); it finds no evidence and renders no card.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files

from assistant import documents
from assistant.evidence import Bilingual, Figure, Finding, Language
from assistant.llm import ContextTooLongError, LanguageModel, estimated_tokens
from assistant.prose_names import IDENTIFIERS, named
from assistant.sentence_form import fault_of_form
from assistant.sentences import MARK_OR_CODE, split_sentences
from assistant.tool_rounds import computed_text
from assistant.understand import Request
from assistant.verify import Verdict, check_prose, normalise_marks
from knowledge import weights
from knowledge.keywords import tokenize
from knowledge.names import INVISIBLE, UNWRITABLE

PROSE_TOKENS = 220
REWRITE_TOKENS = 80
REWRITES = 2  # in one answer
SENTENCES = 5
MOST_CHARACTERS = 3_000  # read of a model that will not stop
# Question and passages, by the cautious estimate (1.3 times the true count): the embedded model reads 25 to 40 a second
# on two cores, and the system prompt it has read before.
PROMPT_TOKENS = 430
PROMPT_TOKENS_OF_SERVERS = 3_000
LEAST_EVIDENCE_TOKENS = 160  # whatever the question's length
QUESTION_CHARACTERS = (900, 300)  # of a very long question: its beginning and its end
REWRITTEN = {"figure", "identifier", "name", "claim", "link", "citation"}  # what a model may put right when told
FAULTS = {
    "figure": Bilingual(zh="资料里没有这个数，或它不是说这个对象的：{what}", en="the passages do not hold this figure, or not of this thing: {what}"),
    "identifier": Bilingual(zh="资料里没有这个名称：{what}", en="the passages do not name {what}"),
    "name": Bilingual(zh="资料里没有提到：{what}", en="the passages do not mention {what}"),
    "link": Bilingual(zh="资料里没有这个网址：{what}", en="the passages do not hold this address: {what}"),
    "citation": Bilingual(zh="没有这个编号的资料：{what}", en="there is no passage {what}"),
    "claim": Bilingual(zh="与资料所说的相反，或资料没有这样比较：{what}", en="the passages say the opposite, or do not compare so: {what}"),
}  # fmt: skip


@dataclass
class Draft:
    """What the model has written so far: sentences shown, their figures, and what was dropped."""

    dropped: list[str] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Fault:
    """A sentence that may not be shown, and why."""

    sentence: str
    reason: str
    what: tuple[str, ...] = ()


def write(request: Request, finding: Finding, model: LanguageModel, draft: Draft) -> Iterator[str]:
    """The model's sentences that hold only what the evidence says; the others go to `draft.dropped`.

    Raises ModelUnavailableError, also half-way. A prompt too long for the model is asked again with less evidence.
    """
    limit = PROMPT_TOKENS if model.name == weights.LLM.name else PROMPT_TOKENS_OF_SERVERS
    for tokens in (limit, limit // 2, limit // 4):
        try:
            yield from _written(request, finding, model, draft, prompt_of(request, finding, tokens))
            return
        except ContextTooLongError:
            if draft.shown or tokens == limit // 4:
                raise


def rewrites_of(model: LanguageModel) -> int:
    """How many sentences of an answer are sent back."""
    return 0 if model.name == weights.LLM.name else REWRITES


def prompt_of(request: Request, finding: Finding, limit_tokens: int = PROMPT_TOKENS) -> str:
    """What the model is asked: the passages, trimmed to what bears on the question, and the whole question."""
    question = UNWRITABLE.sub("", INVISIBLE.sub("", request.question)).strip()
    head, tail = QUESTION_CHARACTERS
    if len(question) > head + tail:
        question = f"{question[:head]} …… {question[-tail:]}"
    left = max(LEAST_EVIDENCE_TOKENS, limit_tokens - estimated_tokens(question))
    evidence = documents.evidence_text(finding.citations, question, left)
    asked = ("问题：" if request.language == "zh" else "Question: ") + question
    return "\n\n".join(part for part in (evidence, computed_text(finding.calls), asked) if part)


def prompt(language: Language) -> str:
    """The system prompt of a language."""
    return _file(f"answer.{language}.md")


def _written(request: Request, finding: Finding, model: LanguageModel, draft: Draft, user: str) -> Iterator[str]:
    system = prompt(request.language)
    faults: list[Fault] = []
    for sentence in _sentences(model, system, user):
        found = _checked(sentence, request, finding, draft)
        if isinstance(found, Fault):
            faults.append(found)
        elif found:
            yield found
        if len(draft.shown) >= SENTENCES:
            break
    for fault in [f for f in faults if f.reason in REWRITTEN][: rewrites_of(model)]:
        if len(draft.shown) >= SENTENCES:
            break
        yield from _rewritten(fault, request, finding, model, draft, user)
    draft.dropped.extend(item for fault in faults for item in (fault.what or (fault.sentence,)))


def _sentences(model: LanguageModel, system: str, user: str) -> Iterator[str]:
    """The sentences of one reply, no more than MOST_CHARACTERS of it."""
    buffer, seen = "", 0
    for delta in model.stream(system, user, max_tokens=PROSE_TOKENS):
        seen += len(delta)
        sentences, buffer = split_sentences(buffer + delta[:MOST_CHARACTERS])
        yield from sentences
        if seen > MOST_CHARACTERS:
            break
    if buffer.strip():
        yield buffer


def _rewritten(
    fault: Fault, request: Request, finding: Finding, model: LanguageModel, draft: Draft, user: str
) -> Iterator[str]:
    """The sentence as the model puts it once its fault is named, if that may be shown."""
    told = FAULTS[fault.reason][request.language].replace("{what}", "、".join(fault.what))
    asked = _file(f"rewrite.{request.language}.md").replace("{sentence}", fault.sentence).replace("{fault}", told)
    text = "".join(model.stream(prompt(request.language), f"{user}\n\n{asked}", max_tokens=REWRITE_TOKENS))
    sentences, rest = split_sentences(text[:MOST_CHARACTERS].strip().strip('“”"'))
    found = _checked(next(iter([*sentences, rest])), request, finding, draft)
    if isinstance(found, str) and found:
        yield found


def _checked(sentence: str, request: Request, finding: Finding, draft: Draft) -> str | Fault:
    """The sentence as it may be shown ("" where it was said before), or what is wrong with it."""
    body = sentence.strip()
    if not body or _key(body) in {_key(said) for said in draft.shown}:
        return ""
    if reason := fault_of_form(body, request.language, prompt(request.language)):
        return Fault(body, reason)
    marks = normalise_marks(sentence, [citation.id for citation in finding.citations])
    draft.dropped.extend(marks.dropped)
    shown = _cited(marks.text, finding)
    verdict = _verdict(shown, request, finding)
    if not verdict.ok and MARK_OR_CODE.search(marks.text):  # a small model often cites the wrong passage
        moved = _moved(marks.text, finding)
        if (second := _verdict(moved, request, finding)).ok:
            shown, verdict = moved, second
    if not verdict.ok:
        return Fault(body, verdict.reason, verdict.dropped)
    draft.shown.append(body)
    draft.figures.extend(verdict.figures)
    return shown


def _verdict(sentence: str, request: Request, finding: Finding) -> Verdict:
    return check_prose(
        sentence,
        finding.calls,
        finding.citations,
        question=request.question,
        names=IDENTIFIERS,
        tokenize=tokenize,
        names_in=named,
    )


def _cited(sentence: str, finding: Finding) -> str:
    """The sentence with a mark: a small model often forgets it."""
    if not finding.citations or MARK_OR_CODE.search(sentence):
        return sentence
    body = sentence.rstrip()
    return f"{body} [{_nearest(sentence, finding)}]{sentence[len(body) :]}"


def _moved(sentence: str, finding: Finding) -> str:
    """The sentence with its first mark put right, and no other."""
    place = MARK_OR_CODE.search(sentence)
    plain = MARK_OR_CODE.sub("", sentence)
    if not (place and finding.citations):
        return plain
    return f"{sentence[: place.start()]}[{_nearest(plain, finding)}]{MARK_OR_CODE.sub('', sentence[place.end() :])}"


def _nearest(sentence: str, finding: Finding) -> int:
    """The id of the passage that holds most of the sentence's words."""
    words = set(tokenize(sentence))
    return max(finding.citations, key=lambda c: len(words & set(tokenize(f"{c.title} {c.excerpt}")))).id


def _key(sentence: str) -> str:
    """What makes two sentences the same to a reader."""
    return "".join(character for character in MARK_OR_CODE.sub("", sentence).casefold() if character.isalnum())


@lru_cache(maxsize=8)
def _file(name: str) -> str:
    return files("assistant").joinpath("prompts", name).read_text(encoding="utf-8")
