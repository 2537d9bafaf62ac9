"""Arguments of calculators that a reader changed, put in the place of what the question's handlers chose.

A change holds for the calculations that run inside `changed(...)`, in this thread only, whichever part of the advisor
asks for them: a verdict tried on the side and the one that is printed must not disagree. It validates nothing
(assumption_changes.py does) and computes nothing.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from decimal import Decimal, InvalidOperation
from enum import Enum

from pydantic import BaseModel, JsonValue

from assistant.evidence import Frozen


class Change(Frozen):
    """An argument of a calculator and what it becomes wherever it was `before`; None is the calculator's own default.

    `tools`: all calculators of the answer whose argument of that name was the same, so that no two of them disagree.
    """

    tool: str
    argument: str
    before: JsonValue
    after: JsonValue
    tools: tuple[str, ...]


_CHANGES: ContextVar[tuple[Change, ...]] = ContextVar("changes", default=())


@contextlib.contextmanager
def changed(changes: Sequence[Change]) -> Iterator[None]:
    """Let the changes hold for every calculation of this thread until the block ends."""
    token = _CHANGES.set(tuple(changes))
    try:
        yield
    finally:
        _CHANGES.reset(token)


def with_changes(tool: str, given: type[BaseModel], arguments: Mapping[str, object]) -> dict[str, object]:
    """The arguments with those replaced that a change in force names and that are what it was made from."""
    arguments = dict(arguments)
    for change in _CHANGES.get():
        if tool not in change.tools or change.argument not in given.model_fields:
            continue
        now = arguments.get(change.argument)
        default = given.model_fields[change.argument].default
        if same(now, change.before) or (now is None and same(default, change.before)):
            arguments[change.argument] = change.after
    return arguments


def same(one: object, other: object) -> bool:
    """Whether two values of an argument mean the same: 1 and Decimal("1.0"), a row and its name."""
    return _plain(one) == _plain(other)


def _plain(value: object) -> object:
    if isinstance(value, BaseModel):
        value = getattr(value, "name", value)
    elif isinstance(value, dict):
        value = value.get("name", str(value))
    elif isinstance(value, Enum):
        value = value.value
    if isinstance(value, bool) or value is None:
        return value
    try:
        return Decimal(str(value))
    except InvalidOperation:
        return str(value)
