"""The panel of an answer's assumptions without its looks: what each box holds, what typed text means, and keeping it.

It renders nothing; what may be changed and what a change does is decided in assumption_changes.py and revised_answer.py.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from pydantic import JsonValue

from assistant.assumption_changes import ChangeRefusedError, Input, Wanted, Worked, calculations, worded
from assistant.calculator_forms import FormError
from assistant.calculator_links import query_of
from assistant.conversations import AdviceFailedError, Conversations, UnknownTurnError
from assistant.evidence import Answer
from assistant.typed_numbers import typed_number

# Shown at once, besides what the calculator itself says it assumed; the rest is folded away.
LEADING = {
    "budget", "cards", "checkpointing", "context_tokens", "efficiency", "engine", "epochs", "gpu_memory_utilization", "gpus",
    "horizon_months", "hours", "hours_per_day", "input_tokens", "kv_precision", "lora_rank", "method", "mfu", "micro_batch",
    "optimizer", "output_tokens", "people", "price_per_hour", "price_per_kwh", "rows", "sequence_tokens", "sequences", "tokens",
    "tokens_per_row", "usable_share", "users", "utilisation", "utilization",
}  # fmt: skip
MOST_TYPED = 400
LONG_NUMBER = 9  # digits
_log = logging.getLogger(__name__)


@runtime_checkable
class Reviser(Protocol):
    """What the panel needs of the advisor."""

    def revised(self, original: Answer, turns: tuple[str, ...], changes: Wanted) -> Answer: ...


@dataclass(frozen=True)
class Sheet:
    """One calculation of the panel: what is shown at once, what is folded away, and the calculator's link ("" for none)."""

    worked: Worked
    leading: tuple[Input, ...]
    rest: tuple[Input, ...]
    query: str


def sheets(answer: Answer) -> tuple[Sheet, ...]:
    """The calculations of an answer with what may be changed; what several have in common stands in the first."""
    seen: set[tuple[str, str]] = set()
    found = []
    for worked in calculations(answer):
        inputs = [given for given in worked.inputs if (given.argument, str(given.before)) not in seen]
        seen |= {(given.argument, str(given.before)) for given in inputs}
        if inputs:
            leading = tuple(given for given in inputs if given.note or given.changed or given.argument in LEADING)
            rest = tuple(given for given in inputs if given not in leading)
            found.append(Sheet(worked, leading or rest, rest if leading else (), _query(worked)))
    return tuple(found)


def text_of(given: Input) -> str:
    """What stands in the box of an input: the value in force, "" where a default has no number."""
    if isinstance(given.now, bool):
        return "yes" if given.now else "no"
    if given.now is None:
        return given.taken if typed_number(given.taken) is not None and "%" not in given.taken else ""
    return _short(worded(given.now))


def _short(text: str) -> str:
    """A large round number as 1e12: thirteen digits do not fit into a box."""
    digits = text.replace(",", "")
    power = len(digits) - len(digits.rstrip("0"))
    if not digits.isdecimal() or len(digits) < LONG_NUMBER or len(digits) - power > 1:
        return text
    return f"{digits[0]}e{power}"


def wanted_of(answer: Answer, typed: Mapping[str, str]) -> Wanted:
    """All changes that are wanted after typing: boxes by "calculator.argument"; what was not touched stays as it is.

    An emptied box, or one with the first value, takes its change back. Raises ChangeRefusedError for a box there is not.
    """
    every = {f"{given.tool}.{given.argument}": given for worked in calculations(answer) for given in worked.inputs}
    for name in list(typed)[:MOST_TYPED]:
        if name not in every:
            raise ChangeRefusedError(f"没有可以改的“{name[:80]}”。", f"There is no {name[:80]!r} that can be changed.")
    edited = {name: given for name, given in every.items() if name in typed and typed[name] != text_of(given)}
    touched = {(given.argument, str(given.before)) for given in edited.values()}
    kept = [given for given in every.values() if given.changed and (given.argument, str(given.before)) not in touched]
    wanted: dict[str, dict[str, JsonValue]] = {}
    for name, given in edited.items():
        wanted.setdefault(given.tool, {})[given.argument] = _value(given, typed[name])
    for given in kept:
        wanted.setdefault(given.tool, {})[given.argument] = given.now
    return wanted


def revise(advisor: Reviser, conversations: Conversations, turn: int, wanted: Wanted, owner: str) -> Answer:
    """Answer a turn anew with changes and keep that in its place.

    Raises ChangeRefusedError, UnknownTurnError, and AdviceFailedError (logged) for all that breaks.
    """
    try:
        original = conversations.turn(turn, owner).answer
        if original is None:
            raise UnknownTurnError(turn)
        again = advisor.revised(original, conversations.before(turn, owner), wanted)
        conversations.revise(turn, again, owner)
    except (ChangeRefusedError, UnknownTurnError):
        raise
    except Exception as error:
        _log.exception("turn %s was not revised with %r", turn, wanted)
        raise AdviceFailedError from error
    return again


def _value(given: Input, text: str) -> JsonValue:
    if given.kind == "yes_no" and text in ("yes", "no"):
        return text == "yes"
    return text.strip()


def _query(worked: Worked) -> str:
    """The calculator's link with this calculation's inputs; "" where one of them cannot be typed."""
    typed: dict[str, str] = {}
    for name, value in worked.arguments.items():
        if value is None or value == []:
            continue
        if isinstance(value, list) and any(not isinstance(part, str) for part in value):
            return ""
        typed[name] = _typed(value)
    try:
        return query_of(worked.tool, typed)
    except FormError:
        return ""


def _typed(value: JsonValue) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ",".join(map(str, value))
    return str(value.get("name", "")) if isinstance(value, dict) else str(value)
