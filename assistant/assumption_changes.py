"""Which arguments behind an answer a reader may change, and what was asked to be changed, checked.

Everything is read from the calculations that the answer keeps. Nothing is answered anew here (revised_answer.py does),
and no argument is offered that another calculation of the answer worked out, or that is not the same in all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from pydantic import JsonValue
from pydantic.fields import FieldInfo

from assistant.argument_types import Kind, choices_of, kind_of
from assistant.calculator.calculation import Assumption, number
from assistant.calculator_faults import faults_of, sentences
from assistant.calculator_words import calculators, field_label
from assistant.changed_arguments import Change, same
from assistant.evidence import Answer, Bilingual, Call
from assistant.shape_rows import named_gpu, named_model
from assistant.tools import CALCULATORS, ToolError, calculate
from assistant.typed_numbers import typed_number

CHANGE_RECORD = "changed_assumption"  # the Call that keeps a change in its answer
Wanted = Mapping[str, Mapping[str, JsonValue]]
# Not values of a calculation: what it is counted in, and of when and for whom a price is.
NEVER = {
    "currency", "unit", "from_currency", "to_currency", "today", "destination", "counted", "per", "order", "ownership",
    "gpus_per_instance", "memory_kind", "window_slack_tokens", "block_tokens", "dearer", "cheaper",
}  # fmt: skip
OF_RANKING = {"usable_share"}  # the rest of a ranking follows from the question
NAMED_OTHERWISE = {"gpu_memory_utilization": "usable_share"}  # in the assumption that speaks of it
COUNTS = {"gpus", "cards"}  # small numbers, equal to others by chance
CALLS_READ = 8  # of one calculator, for what they assumed


class ChangeRefusedError(Exception):
    """A change that cannot be computed with, or of something that may not be changed; `sentence` is for the reader."""

    def __init__(self, zh: str, en: str) -> None:
        self.sentence = Bilingual(zh=zh, en=en)
        super().__init__(f"{zh} / {en}")


@dataclass(frozen=True)
class Input:
    """An argument that may be changed. `now` is None where the calculator's own default holds: `taken` says which.

    `note` and `source` say what was assumed and whence; `assumed` is False for what the question or a row states.
    """

    tool: str
    argument: str
    label: Bilingual
    kind: Kind
    now: JsonValue
    before: JsonValue
    taken: str
    choices: tuple[str, ...]
    note: Bilingual | None
    source: str
    assumed: bool

    @property
    def changed(self) -> bool:
        """Whether the reader changed it."""
        return not same(self.now, self.before)


@dataclass(frozen=True)
class Worked:
    """One kind of calculation of an answer: its first result (the first with a change in it), what may be changed, and what else was assumed."""

    tool: str
    label: Bilingual
    value: Decimal
    unit: str
    formula: str
    inputs: tuple[Input, ...]
    notes: tuple[Bilingual, ...]
    arguments: Mapping[str, JsonValue]


def calculations(answer: Answer) -> tuple[Worked, ...]:
    """The calculations of an answer of which something may be changed, in their order, those with assumptions first."""
    earlier = {(change.tool, change.argument): change for change in changes_made(answer)}
    by_tool: dict[str, list[Call]] = {}
    for call in answer.calls:
        if call.tool in CALCULATORS:
            by_tool.setdefault(call.tool, []).append(call)
    found = [_worked(tool, calls, answer.calls, earlier) for tool, calls in by_tool.items()]
    some = [worked for worked in found if worked and worked.inputs]
    return tuple(sorted(some, key=lambda worked: not any(given.note or given.changed for given in worked.inputs)))


def changes_made(answer: Answer) -> tuple[Change, ...]:
    """What a reader changed in this answer already."""
    return tuple(Change.model_validate(call.arguments) for call in answer.calls if call.tool == CHANGE_RECORD)


def changes_for(answer: Answer, wanted: Wanted) -> tuple[Change, ...]:
    """The changes that `wanted` ({tool: {argument: value}}) means, all of them, not only the new ones.

    Raises ChangeRefusedError for a calculator or argument that is not offered, or a value that cannot be computed with.
    """
    offered = {(given.tool, given.argument): given for worked in calculations(answer) for given in worked.inputs}
    changes: dict[tuple[str, JsonValue], Change] = {}
    for tool, arguments in wanted.items():
        for argument, value in arguments.items():
            given = offered.get((tool, argument))
            if given is None:
                raise _not_offered(tool, argument)
            change = _change(given, value, answer)
            if change and (argument, str(given.before)) not in changes:
                changes[argument, str(given.before)] = change
    _check(answer, tuple(changes.values()))
    return tuple(changes.values())


def tool_name(tool: str) -> Bilingual:
    """What a calculator is called."""
    words = calculators().get(tool)
    return words.name if words else Bilingual(zh=tool, en=tool)


def shown(given: Input) -> str:
    """The value that held before any change, as words."""
    return worded(given.before) if given.before is not None else given.taken or "—"


def worded(value: JsonValue) -> str:
    """A value as it is printed: 0.45, 1,000, fp16."""
    if isinstance(value, bool) or value is None or isinstance(value, str | list | dict):
        return str(value.get("name", "")) if isinstance(value, dict) else str(value)
    return number(Decimal(str(value)))


def with_change(call: Call, changes: Sequence[Change]) -> dict[str, Any]:
    """The arguments of a call of the answer with the changes put in that concern it."""
    arguments: dict[str, Any] = dict(call.arguments)
    for change in changes:
        held = arguments.get(change.argument)
        if call.tool in change.tools and (same(held, change.before) or _is_earlier(held, change)):
            arguments[change.argument] = change.after
    return arguments


def _is_earlier(held: object, change: Change) -> bool:
    return same(held, change.after)


def _worked(
    tool: str, calls: Sequence[Call], every: Sequence[Call], earlier: Mapping[tuple[str, str], Change]
) -> Worked | None:
    try:
        results = [calculate(tool, **call.arguments) for call in calls[: 1 if tool == "rank_gpus" else CALLS_READ]]
    except ToolError:  # an answer kept from before the calculator was changed
        return None
    main = next((place for place, call in enumerate(calls[: len(results)]) if _has_change(call, earlier.values())), 0)
    first = results[main]
    assumptions = {a.name: a for result in reversed(results) for a in result.assumptions}
    inputs = tuple(_inputs(tool, calls, every, assumptions, earlier))
    named = {given.argument for given in inputs if given.note} | {"usable_share"}
    notes = tuple(a.text for a in first.assumptions if a.name not in named)
    return Worked(
        tool, tool_name(tool), first.value, first.unit, first.formula,
        tuple(sorted(inputs, key=lambda given: (given.note is None and not given.changed, not given.assumed))), notes, calls[main].arguments,
    )  # fmt: skip


def _has_change(call: Call, changes: Iterable[Change]) -> bool:
    return any(call.tool in c.tools and same(call.arguments.get(c.argument), c.after) for c in changes)


def _inputs(
    tool: str, calls: Sequence[Call], every: Sequence[Call], assumptions: Mapping[str, Assumption],
    earlier: Mapping[tuple[str, str], Change],
) -> Iterator[Input]:  # fmt: skip
    computed = _numbers_of_others(tool, every)
    for argument, field in CALCULATORS[tool].given.model_fields.items():
        kind = kind_of(field.annotation)
        if kind is None or argument in NEVER or (tool == "rank_gpus" and argument not in OF_RANKING):
            continue
        values = [call.arguments.get(argument) for call in calls]
        assumption = assumptions.get(NAMED_OTHERWISE.get(argument, argument))
        change = earlier.get((tool, argument)) or next(
            (c for c in earlier.values() if tool in c.tools and c.argument == argument and same(values[0], c.after)),
            None,
        )
        now = change.after if change else _held(values, field, assumption)
        if now is _NOTHING or (change is None and argument not in COUNTS and _is_computed(now, field, computed)):
            continue
        yield Input(
            tool, argument, field_label(tool, argument), kind, worded(now) if kind in ("gpu", "model") else now,
            change.before if change else now, _taken(tool, argument, every, assumption), choices_of(field.annotation),
            assumption.text if assumption else None, assumption.source if assumption else "",
            assumption is not None or _is_default(now, field),
        )  # fmt: skip


def _taken(tool: str, argument: str, every: Sequence[Call], assumption: Assumption | None) -> str:
    """What was taken where nothing was stated; after a change the record of it still says."""
    if assumption:
        return assumption.value
    records = (call for call in every if call.tool == CHANGE_RECORD and call.arguments["argument"] == argument)
    found = next((c.result for c in records if tool in str(c.arguments["tools"]) and isinstance(c.result, dict)), {})
    return str(found.get("before", ""))


class _Nothing:
    """Marks an argument that is not offered."""


_NOTHING: Any = _Nothing()


def _held(values: Sequence[JsonValue], field: FieldInfo, assumption: Assumption | None) -> Any:
    """The value that all calls share, else the default that some assumed, else the one value that some have; or _NOTHING."""
    if all(same(value, values[0]) for value in values):
        return values[0] if values[0] is not None or assumption else _NOTHING
    given = [value for value in values if value is not None]
    if len(given) == len(values):
        return _NOTHING
    if assumption and assumption.value != "0":
        return None
    return given[0] if all(same(value, given[0]) for value in given) else _NOTHING


def _is_default(value: JsonValue, field: FieldInfo) -> bool:
    return not field.is_required() and same(value, field.default)


def _is_computed(value: JsonValue, field: FieldInfo, computed: frozenset[Decimal]) -> bool:
    """Whether another calculation of the answer gave this value: it is changed there."""
    if isinstance(value, bool | str | dict) or value is None or _is_default(value, field):
        return False
    return Decimal(str(value)) in computed


def _numbers_of_others(tool: str, calls: Sequence[Call]) -> frozenset[Decimal]:
    results = [call.result for call in calls if call.tool != tool and call.tool in CALCULATORS]
    return frozenset(number for result in results for number in _numbers(result))


def _numbers(node: JsonValue) -> Iterator[Decimal]:
    if isinstance(node, dict):
        for child in node.values():
            yield from _numbers(child)
    elif isinstance(node, int | float) and not isinstance(node, bool):
        yield Decimal(str(node))


def _change(given: Input, value: JsonValue, answer: Answer) -> Change | None:
    """The change of one argument; None where the value is what it was."""
    after = _read(given, value)
    if after is None or same(after, given.before) or (given.before is None and same(after, typed_number(given.taken))):
        return None
    tools = [call.tool for call in answer.calls if call.tool in CALCULATORS and given.argument in call.arguments
             and (same(call.arguments[given.argument], given.before) or same(call.arguments[given.argument], given.now))]  # fmt: skip
    return Change(tool=given.tool, argument=given.argument, before=given.before, after=after,
                  tools=tuple(dict.fromkeys((given.tool, *tools))))  # fmt: skip


def _read(given: Input, value: JsonValue) -> JsonValue:
    """A value as the reader gave it, as the argument takes it; None for an empty one."""
    if value is None or value == "":
        return None
    if given.kind == "number":
        return _number(given, value)
    if given.kind == "yes_no":
        if not isinstance(value, bool):
            raise _refused(given, value, "要选是或否", "it is yes or no")
        return value
    text = str(value)
    if given.kind == "choice" and text not in given.choices:
        raise _refused(given, value, f"可选 {'、'.join(given.choices)}", f"it is one of {', '.join(given.choices)}")
    if (given.kind == "gpu" and named_gpu(text) is None) or (given.kind == "model" and named_model(text) is None):
        raise _refused(given, value, "没有唯一叫这个名字的一行", "no single row is called so")
    return text


def _number(given: Input, value: JsonValue) -> JsonValue:
    read = None if isinstance(value, bool) else typed_number(str(value))
    if read is None:
        raise _refused(given, value, "要填一个数", "it has to be a number")
    return int(read) if read == read.to_integral_value() else float(read)


def _check(answer: Answer, changes: Sequence[Change]) -> None:
    """Compute one calculation of each kind that the changes concern. Raises ChangeRefusedError."""
    seen: set[str] = set()
    for call in answer.calls:
        if call.tool not in CALCULATORS or call.tool in seen or with_change(call, changes) == call.arguments:
            continue
        seen.add(call.tool)
        try:
            calculate(call.tool, **with_change(call, changes))
        except ToolError as error:
            raise _cannot(call.tool, changes, error) from error


def _cannot(tool: str, changes: Sequence[Change], error: ToolError) -> ChangeRefusedError:
    """What the calculator's own form says of it, led by what was changed."""
    concerned = [change for change in changes if tool in change.tools]
    faults = faults_of(tool, error)
    tried = [(field_label(c.tool, c.argument), worded(c.after)) for c in concerned]
    zh = "、".join(f"{label.zh} = {after}" for label, after in tried)
    en = ", ".join(f"{label.en} = {after}" for label, after in tried)
    return ChangeRefusedError(
        f"按“{zh}”算不了：{''.join(sentences(tool, faults, 'zh'))}",
        f"With {en} nothing can be computed: {' '.join(sentences(tool, faults, 'en'))}",
    )


def _refused(given: Input, value: JsonValue, zh: str, en: str) -> ChangeRefusedError:
    text = str(value)[:60]
    return ChangeRefusedError(
        f"“{given.label.zh}”不能是“{text}”：{zh}。", f"{given.label.en} cannot be {text!r}: {en}."
    )


def _not_offered(tool: str, argument: str) -> ChangeRefusedError:
    name = f"{tool[:60]}.{argument[:60]}"
    return ChangeRefusedError(f"这条回答里没有可以改的“{name}”。", f"This answer has no {name!r} that can be changed.")
