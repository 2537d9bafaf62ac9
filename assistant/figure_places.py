"""Where the figures of an answer stand in its text, each with the evidence it was traced to.

Finds places only: it traces nothing (verify.py did), changes no figure and writes no HTML.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from assistant.evidence import Answer, Call, Figure
from assistant.figures import NUMBER, Printed, extract_figures
from assistant.prose_names import IDENTIFIERS

# Code, links and addresses keep their text untouched: markup within them would be shown or break them.
UNTOUCHED = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|!?\[[^\]\n]*\]\([^)\n]*\)|(?:https?://|www\.)[^\s)|]+", re.DOTALL)
MARKUP = re.compile(
    r"\s*[*|`\[\]<>\n]"
)  # a figure is wrapped up to here: "4** cards" must not tear the bold type apart
OPERATORS = re.compile("[×÷*/+−]")
FORMULA_SHARE = 0.6  # of a line's numbers that a call's formula must hold, to be that line's formula


@dataclass(frozen=True)
class Place:
    """A figure at text[start:end], and the line it stands in."""

    start: int
    end: int
    figure: Figure
    line: str


def figure_places(answer: Answer) -> tuple[Place, ...]:
    """The places of the figures of `answer` in its text, in order; a figure that stands in code has none.

    The text is read as the verifier read it, so the second 0.526 of a text is the second 0.526 of the list.
    """
    if not answer.figures:
        return ()
    text = answer.text
    untouched = [match.span() for match in UNTOUCHED.finditer(text)]
    places = []
    for printed, figure in _aligned(extract_figures(text, IDENTIFIERS, share_words=True), answer.figures):
        if any(start < printed.end and printed.start < end for start, end in untouched):
            continue
        cut = MARKUP.search(text, printed.start, printed.end)
        end = cut.start() if cut else printed.end
        if end > printed.start:
            line = _line(text, printed.start)
            places.append(Place(printed.start, end, _of_formula(figure, line, answer.calls), line))
    return tuple(places)


def _aligned(printed: Sequence[Printed], figures: Sequence[Figure]) -> list[tuple[Printed, Figure]]:
    """The printed figures with those of the list: by their text, or by their value where that finds more."""
    by_text = _matched([p.text for p in printed], [f.text for f in figures])
    if len(by_text) < len(figures):
        by_text = max(by_text, _matched([p.value for p in printed], [f.value for f in figures]), key=len)
    return [(printed[one], figures[other]) for one, other in by_text]


def _matched(printed: Sequence[object], listed: Sequence[object]) -> list[tuple[int, int]]:
    blocks = SequenceMatcher(None, printed, listed, autojunk=False).get_matching_blocks()
    return [(block.a + offset, block.b + offset) for block in blocks for offset in range(block.size)]


def _line(text: str, place: int) -> str:
    start = text.rfind("\n", 0, place) + 1
    end = text.find("\n", place)
    return text[start : end if end >= 0 else len(text)]


def _of_formula(figure: Figure, line: str, calls: Sequence[Call]) -> Figure:
    """The figure with the calculation as its evidence, where it is a bare number in the line of that formula.

    The 8 of "÷ 8 bit" equals some cell of a row too; what it comes from is the formula.
    """
    if figure.unit or figure.evidence.startswith("call:") or "=" not in line or not OPERATORS.search(line):
        return figure
    of_line = set(NUMBER.findall(line))
    best, share = None, FORMULA_SHARE
    for number, call in enumerate(calls):
        of_call = set(NUMBER.findall(call.formula or ""))
        held = len(of_line & of_call) / max(1, len(of_line))
        if figure.text in of_call and held >= share:
            best, share = number, held
    return figure if best is None else figure.model_copy(update={"evidence": f"call:{best}"})
