"""An answer once more with assumptions that the reader changed: the same path of code, without any language model.

The card is taken only where each of its figures is traced, the changes reached its calculations and no old value is left
in it; else it is made of the changed calculations alone. Which changes are allowed is decided in assumption_changes.py.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation

from assistant import render
from assistant.answer import Resources, answer
from assistant.assumption_changes import (
    CHANGE_RECORD,
    Wanted,
    calculations,
    changes_for,
    shown,
    tool_name,
    with_change,
    worded,
)
from assistant.calculator.calculation import number
from assistant.calculator_words import field_label, unit_words
from assistant.changed_arguments import Change, changed, same
from assistant.evidence import Answer, Call, Done, Language, Timings
from assistant.evidence_facts import facts_of
from assistant.figures import extract_figures
from assistant.prose_names import IDENTIFIERS
from assistant.tools import CALCULATORS, call
from assistant.traditional import is_traditional, traditional
from assistant.units import read_label
from assistant.verify import trace

SOURCE_LINE = re.compile(r"^(?:来源|來源|Source) \[[0-9]+\].*$", re.M)
# Lines that may speak of an argument whose value is a word that others have too.
TOPICS = {"kv_precision": "KV", "kept_precision": "仍为|stay in|不量化"}
# What a card says of an argument without its number.
SAID_IN_WORDS = {"utilization": re.compile("一直满载|always busy|at full load|always in full use")}
MOST_ALONE = 4  # calculations shown where the card as a whole cannot be


def revised(original: Answer, turns: Sequence[str], wanted: Wanted, having: Resources) -> Answer:
    """The answer to the same question with `wanted` ({tool: {argument: value}}) in force, all that is to be changed.

    An empty `wanted` gives the answer without changes. Raises ChangeRefusedError before anything is computed.
    """
    changes = changes_for(original, wanted)
    alone = replace(having, model=None, plans=False)
    if not changes:
        return _run(original.question, turns, alone)
    records = _records(original, changes)
    for told in (changes, ()):
        if any(change.argument in ("gpu", "model") for change in changes):
            break  # a card names its cards and models in more ways than could be looked for
        with changed(changes):
            found = _run(original.question, turns, replace(alone, changes=told))
        if _is_whole(found, original, changes, records):
            return _with_banner(found, original, records)
    return _calculations_alone(original, changes, records)


def _run(question: str, turns: Sequence[str], having: Resources) -> Answer:
    *_, last = answer(question, turns, having)
    if not isinstance(last, Done):
        raise TypeError(f"answering {question!r} ended with {type(last).__name__}, not with an answer")
    return last.answer


def _records(original: Answer, changes: Sequence[Change]) -> tuple[Call, ...]:
    """The changes as calls of the answer: they say what the answer stands on, and the words about them are traced to them."""
    inputs = {(given.tool, given.argument): given for worked in calculations(original) for given in worked.inputs}
    return tuple(
        Call(
            tool=CHANGE_RECORD, arguments=change.model_dump(mode="json"),
            result={"before": _plainly(shown(inputs[change.tool, change.argument])), "after": worded(change.after)},
        )
        for change in changes
    )  # fmt: skip


def _is_whole(found: Answer, original: Answer, changes: Sequence[Change], records: Sequence[Call]) -> bool:
    """Whether the card stands: answered, traced, every change in its calculations, no old value in its words."""
    if found.status != original.status or not found.verified:
        return False
    if not all(_has_effect(found, change) for change in changes):
        return False
    return not any(_is_stale(found, original, change, record) for change, record in zip(changes, records, strict=True))


def _has_effect(found: Answer, change: Change) -> bool:
    return any(
        call.tool == change.tool and same(call.arguments.get(change.argument), change.after) for call in found.calls
    )


def _is_stale(found: Answer, original: Answer, change: Change, record: Call) -> bool:
    """Whether the card still says the old value, and no calculation of it has that value for another reason."""
    words = SOURCE_LINE.sub("", found.text)
    before, _ = _before_after(record)
    if (said := SAID_IN_WORDS.get(change.argument)) and said.search(words):
        return True
    value = _value(before)
    if value is not None:
        return _prints_old(words, value, change, found)
    if isinstance(change.after, bool):
        return False
    kept = set(SOURCE_LINE.sub("", original.text).splitlines())
    old = re.compile(rf"(?<![\w-]){re.escape(before)}(?![\w-])", re.I)
    topic = re.compile(TOPICS.get(change.argument, ""), re.I)
    return any(line in kept and old.search(line) and topic.search(line) for line in words.splitlines())


def _prints_old(words: str, value: Decimal, change: Change, found: Answer) -> bool:
    unit = read_label(change.argument).unit
    if not unit and value in (0, 1):  # printed for so much else that nothing follows
        return False
    calls = [call for call in found.calls if call.tool in CALCULATORS]
    facts = facts_of(calls, (), "", IDENTIFIERS)
    for printed in extract_figures(words, IDENTIFIERS):
        is_old = printed.value == value or (printed.unit == "%" and printed.value == value * 100)
        counted = printed.unit == unit if unit else printed.unit in ("", "%", "x") or bool(printed.currency)
        if is_old and counted and not any(f.value == printed.value and f.measure == printed.measure for f in facts):
            return True
    return False


def _before_after(record: Call) -> tuple[str, str]:
    """What a record says the value was and is."""
    result = record.result if isinstance(record.result, dict) else {}
    return str(result.get("before", "")), str(result.get("after", ""))


def _plainly(text: str) -> str:
    """A default as its number alone, where it has a currency: 0.63 CNY."""
    return re.sub(r" [A-Z]{3}$", "", text)


def _value(text: str) -> Decimal | None:
    """The number that a value starts with: 0.4, 25 %, 0.63 CNY."""
    match = re.match(r"-?[0-9][0-9,]*(?:\.[0-9]+)?", text)
    if not match:
        return None
    try:
        value = Decimal(match.group().replace(",", ""))
    except InvalidOperation:
        return None
    return value / 100 if "%" in text else value


def _with_banner(found: Answer, original: Answer, records: Sequence[Call]) -> Answer:
    """The answer with what was changed at its top, traced to the records."""
    banner = _banner(records, found.language)
    if is_traditional(original.question):
        banner = traditional(banner)
    values = "\n".join(str(value) for record in records for value in _before_after(record))
    traced = trace(values, records, (), names=IDENTIFIERS)
    at = len(found.calls)
    figures = [
        figure.model_copy(update={"evidence": f"call:{at + int(figure.evidence.split(':')[1])}"})
        for figure in traced.figures
    ]
    return found.model_copy(
        update={
            "text": render.paragraphs(banner, found.text), "calls": (*found.calls, *records),
            "figures": (*figures, *found.figures), "verified": found.verified and not traced.untraced,
        }
    )  # fmt: skip


def _banner(records: Sequence[Call], language: Language) -> str:
    lines = []
    for record in records:
        label = field_label(str(record.arguments["tool"]), str(record.arguments["argument"]))[language]
        before, after = _before_after(record)
        lines.append(
            render.say(language, f"{label}：由 {before} 改为 **{after}**", f"{label}: from {before} to **{after}**")
        )
    head = render.say(language, "**已按你改的假设重新计算**", "**Computed anew with the assumptions you changed**")
    return f"{head}\n{render.bullets(lines)}"


def _calculations_alone(original: Answer, changes: Sequence[Change], records: Sequence[Call]) -> Answer:
    """A card of the changed calculations and nothing else: result, formula, assumptions."""
    start = time.perf_counter()
    language = original.language
    calls: list[Call] = []
    parts = []
    for made in original.calls:
        if made.tool not in CALCULATORS or not any(made.tool in change.tools for change in changes):
            continue
        record, result = call(made.tool, language, **with_change(made, changes))
        if record in calls or len(calls) == MOST_ALONE:
            continue
        calls.append(record)
        colon, unit = render.say(language, "：", ": "), unit_words(result.unit)[language]
        head = f"**{tool_name(made.tool)[language]}{colon}{number(result.value)} {unit}**"
        parts += [
            head,
            render.formula(result.formula, language),
            render.bullets(a.text[language] for a in result.assumptions),
        ]
    markdown = render.paragraphs(
        render.say(language, "整张卡片不能按这个值重写，下面只有计算本身：", "The card as a whole cannot be rewritten with this value; here are the calculations themselves:"),
        *parts,
    )  # fmt: skip
    if is_traditional(original.question):
        markdown = traditional(markdown)
    traced = trace(markdown, calls, (), question=original.question, names=IDENTIFIERS)
    spent = round((time.perf_counter() - start) * 1000, 1)
    alone = Answer(
        question=original.question, language=language, status="answered", text=markdown, calls=tuple(calls),
        figures=traced.figures, verified=not traced.untraced,
        timings_ms=Timings(understand=0, tools=spent, first_event=spent, total=spent),
    )  # fmt: skip
    return _with_banner(alone, original, records)
