"""Is what an Answer shows held by its evidence? Figures, citation marks, and the calculator that was called. Pure.

Each function returns what is wrong, an empty list when all is well, and None where there is nothing to score: then the
case stays unscored, it is not right by default.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from assistant.evidence import Answer, Call, Citation, Figure
from evals.answer_cases import ToolCheck
from evals.answer_numbers import read_numbers
from evals.answer_text import normalise, segments

MARK = re.compile(r"\[(\d{1,3})\](?!\()")
SOURCE_LINE = re.compile(r"(?:来源|來源|sources?)\s*\[", re.IGNORECASE)
SENTENCE = re.compile(r"(?<=[。！？!?；;\n])|(?<=\.)\s(?=[A-Z])")


def untraced_figures(answer: Answer) -> list[str]:
    """Figures without evidence: those that the product itself could not trace, and references that lead nowhere."""
    found = [] if answer.verified else ["the answer is not verified"]
    cited = {citation.id for citation in answer.citations}
    for figure in answer.figures:
        if figure.evidence == "question":
            continue  # what the reader said himself
        kind, _, number = figure.evidence.partition(":")
        there = {"call": range(len(answer.calls)), "cite": cited}.get(kind, ())
        if not number.isdigit() or int(number) not in there:
            found.append(f"{figure.text}: no {figure.evidence}")
    return found


def unsupported_citations(answer: Answer) -> list[str] | None:
    """Marks that cite nothing, and figures of a marked sentence that only an excerpt it does not cite holds."""
    sentences = [sentence for sentence in SENTENCE.split(answer.text) if MARK.search(sentence)]
    if not sentences:
        return None
    by_id = {citation.id: citation for citation in answer.citations}
    found = []
    for sentence in sentences:
        marks = [int(mark) for mark in MARK.findall(sentence)]
        found += [f"[{mark}] is no citation" for mark in marks if mark not in by_id]
        cited = [by_id[mark] for mark in marks if mark in by_id]
        if not SOURCE_LINE.search(sentence):
            found += [f"{figure.text} is not in {marks}" for figure in _only_elsewhere(sentence, cited, answer)]
    return found


def tool_failures(wanted: ToolCheck | None, calls: Sequence[Call]) -> list[str] | None:
    """Whether the wanted calculator was called, with the wanted arguments among others."""
    if wanted is None:
        return None
    named = [call for call in calls if call.tool == wanted.name]
    if not named:
        return [f"{wanted.name} was not called, but {', '.join(call.tool for call in calls) or 'nothing'}"]
    if any(_holds(call.arguments, wanted.arguments) for call in named):
        return []
    return [f"{wanted.name} was called with {[dict(call.arguments) for call in named]}, wanted {wanted.arguments}"]


def _only_elsewhere(sentence: str, cited: Sequence[Citation], answer: Answer) -> list[Figure]:
    """Figures of the sentence traced to a citation it does not show, and neither held by those shown nor computed."""
    bare = MARK.sub("", sentence)
    in_sentence = [figure for figure in answer.figures if _contains(bare, figure.text)]
    elsewhere_too = {figure.text for figure in in_sentence if not figure.evidence.startswith("cite:")}
    shown = {f"cite:{citation.id}" for citation in cited}
    held = [value for citation in cited for value in _values(f"{citation.title}\n{citation.excerpt}")]
    given = (value for call in answer.calls for value in _values(json.dumps(call.arguments)))
    held += [value for value in given if value.is_integer()]  # a count or hours that went into a sum; prices are cited
    return [
        figure
        for figure in dict.fromkeys(in_sentence)
        if figure.text not in elsewhere_too
        and figure.evidence not in shown
        and not any(math.isclose(float(figure.value), value, rel_tol=1e-3) for value in held)
    ]


def _contains(sentence: str, text: str) -> bool:
    return bool(re.search(rf"(?<![A-Za-z\d.,]){re.escape(text)}(?![\d]|[.,]\d)", sentence))


def _values(text: str) -> list[float]:
    return [value for part in segments(normalise(text)) for number in read_numbers(part) for value in number.values]


def _holds(given: JsonValue | Mapping[str, JsonValue], wanted: JsonValue | Mapping[str, JsonValue]) -> bool:
    """Equal, with mappings allowed to hold more and numbers compared as numbers."""
    if isinstance(given, Mapping) and isinstance(wanted, Mapping):
        return all(key in given and _holds(given[key], value) for key, value in wanted.items())
    if isinstance(given, list) and isinstance(wanted, list):
        return len(given) == len(wanted) and all(map(_holds, given, wanted))
    left, right = _number(given), _number(wanted)
    if left is not None and right is not None:
        return math.isclose(left, right, rel_tol=1e-6)
    return given == wanted


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except ValueError:
        return None
