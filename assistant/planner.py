"""What a question asks where code cannot decide: the model chooses among the readings that code found possible.

A reading is a Request that understand.py made, one for each intent the classifier holds possible. The model sees the
question and picks one of them, and of several names of a kind those that are meant; its reply must obey a JSON Schema
whose enums hold nothing else, and is checked again here. It does NOT find names or numbers, and answers nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files
from typing import Any, Protocol

from assistant.evidence import Language
from assistant.llm import ModelUnavailableError
from assistant.reading import Slots
from assistant.understand import Classifier, IntentGuess, Request, understand

LIKELIEST = 4  # intents offered, by the classifier's probability: see evals/RESULTS.md
ALWAYS = ("document", "off_topic")  # "none of these"
REPLY_TOKENS = 60
HEAD_CHARACTERS, TAIL_CHARACTERS = 80, 120  # of the question; its end says what is asked. About 120 tokens in all
TURN_CHARACTERS = 40  # of the end of the question before
CHOSEN_FROM = ("gpus", "providers", "models")  # kinds of which a question may name more than it is about

log = logging.getLogger(__name__)


class Chooser(Protocol):
    """The part of llm.LanguageModel that is used here."""

    def choose(self, system: str, user: str, schema: dict[str, Any], *, max_tokens: int = ...) -> dict[str, Any]:
        """A JSON object that obeys the schema; raises ModelUnavailableError."""
        ...


class PlanError(ValueError):
    """The model's proposal is none that was offered; the message says what it was."""


@dataclass(frozen=True)
class _Decided:
    """A verdict that leaves nothing open."""

    best: str
    likeliest: str
    probabilities: Mapping[str, float]


@dataclass(frozen=True)
class _Verdicts:
    """A classifier whose verdicts are known."""

    guesses: tuple[IntentGuess, ...]

    def classify(self, texts: Sequence[str], spans: Sequence[Sequence[tuple[int, int, str]]]) -> Sequence[IntentGuess]:
        return self.guesses


@dataclass
class _Kept:
    """A classifier that passes questions on and keeps the verdicts."""

    classifier: Classifier
    guesses: tuple[IntentGuess, ...] = ()

    def classify(self, texts: Sequence[str], spans: Sequence[Sequence[tuple[int, int, str]]]) -> Sequence[IntentGuess]:
        self.guesses = tuple(self.classifier.classify(texts, spans))
        return self.guesses


def readings(question: str, turns: Sequence[str], classifier: Classifier) -> tuple[Request, ...]:
    """The readings of a question, likeliest first; only one where code decides, or where all intents come to the same.

    The first one is what understand() returns.
    """
    kept = _Kept(classifier)
    first = understand(question, turns, kept)
    if first.decided_by != "likeliest":
        return (first,)
    found = {first.intent: first}
    *before, last = kept.guesses
    ranked = sorted(last.probabilities, key=lambda intent: last.probabilities[intent], reverse=True)
    for offered in (ranked[:LIKELIEST], ALWAYS):
        for intent in offered:
            verdicts = _Verdicts((*before, _Decided(intent, intent, last.probabilities)))
            request = understand(question, turns, verdicts)
            found.setdefault(request.intent, request)
        if len(found) == 1:  # the slots leave nothing open
            break
    return tuple(found.values())


def planned(among: Sequence[Request], turns: Sequence[str], model: Chooser) -> Request:
    """The reading that the model picks; the likeliest, and a line in the log, where no valid choice can be had."""
    try:
        return chosen(among, turns, model)
    except (ModelUnavailableError, PlanError) as error:
        log.warning("no plan for %r, the likeliest is taken (%s): %s", among[0].question, among[0].intent, error)
        return among[0]


def chosen(among: Sequence[Request], turns: Sequence[str], model: Chooser) -> Request:
    """The reading that the model picks, `decided_by` "model".

    Raises ModelUnavailableError where the model cannot be asked, PlanError where it picks what was not offered.
    """
    first = among[0]
    reply = model.choose(
        system_prompt(first.language), user_prompt(first, turns), schema(among), max_tokens=REPLY_TOKENS
    )
    picked = next((request for request in among if request.intent == reply.get("intent")), None)
    if picked is None:
        raise PlanError(f"intent {reply.get('intent')!r} is none of {', '.join(r.intent for r in among)}")
    slots = picked.slots
    for kind, offered in _open_names(first.slots).items():
        slots = _narrowed(slots, kind, offered, reply.get(kind))
    log.info("the model reads %r as %s, code as %s", first.question, picked.intent, first.intent)
    return replace(picked, slots=slots, decided_by="model")


def schema(among: Sequence[Request]) -> dict[str, Any]:
    """What the model may reply: intents of the readings, and names that the question holds; nothing else."""
    properties: dict[str, Any] = {"intent": {"enum": [request.intent for request in among]}}
    for kind, names in _open_names(among[0].slots).items():
        properties[kind] = {
            "type": "array", "items": {"enum": list(names)}, "minItems": 1, "maxItems": len(names),
        }  # fmt: skip
    return {
        "type": "object", "properties": properties, "required": list(properties), "additionalProperties": False,
    }  # fmt: skip


@lru_cache(maxsize=2)
def system_prompt(language: Language) -> str:
    """The same for every question of a language, so that a server reads it once."""
    return files("assistant").joinpath("prompts", f"plan.{language}.md").read_text(encoding="utf-8").strip()


def user_prompt(request: Request, turns: Sequence[str]) -> str:
    """The question, and the end of the one before it."""
    zh, text = request.language == "zh", request.question
    if len(text) > HEAD_CHARACTERS + TAIL_CHARACTERS:
        text = f"{text[:HEAD_CHARACTERS]} ... {text[-TAIL_CHARACTERS:]}"
    before = [f"{'上一个问题：' if zh else 'Question before: '}{turns[-1][-TURN_CHARACTERS:]}"] if turns else []
    return "\n".join([*before, f"{'问题：' if zh else 'Question: '}{text}"])


def _open_names(slots: Slots) -> dict[str, tuple[str, ...]]:
    """Kinds of which the question names more than one: only there is something to choose."""
    named: dict[str, tuple[str, ...]] = {kind: getattr(slots, kind) for kind in CHOSEN_FROM}
    return {kind: names for kind, names in named.items() if len(names) > 1}


def _narrowed(slots: Slots, kind: str, offered: Sequence[str], said: object) -> Slots:
    """The slots with only those names of a kind that the model holds meant, in the question's order."""
    if not isinstance(said, list) or not said or any(name not in offered for name in said):
        raise PlanError(f"{kind} {said!r} are none of {', '.join(offered)}")
    meant: dict[str, Any] = {kind: tuple(name for name in getattr(slots, kind) if name in said)}
    if not meant[kind]:  # another reading may have dropped them itself
        return slots
    slots = replace(slots, **meant)
    clouds = (None, *slots.providers)
    return replace(
        slots,
        items=tuple(item for item in slots.items if item.gpu in slots.gpus and item.provider in clouds),
        pairs=tuple(pair for pair in slots.pairs if pair[0] in clouds and pair[1] in slots.gpus),
    )
