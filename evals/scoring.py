"""Does a text fulfil what its case demands? Status, language, figures, words, and what must not be said.

Pure: it reads texts and cases, calls no product code and knows no expected value. evidence_scoring.py looks at the rest
of an Answer.
"""

from __future__ import annotations

import re
from functools import cached_property

from assistant.evidence import Language
from evals.answer_cases import Checks, Wanted, WantedFigure
from evals.answer_language import written_in
from evals.answer_numbers import Number, read_clocks, read_numbers
from evals.answer_text import normalise, segments
from evals.answer_units import SECONDS, declared_currencies, durations, has_money, has_unit, is_money
from evals.phrases import PHRASES

SHOWN = 6  # alternatives of a group that are named in a failure


class GradedText:
    """A text with its numbers and durations, read once."""

    def __init__(self, text: str) -> None:
        self.text = normalise(text)

    @cached_property
    def numbers(self) -> list[list[Number]]:
        """The numbers of each segment."""
        return [read_numbers(segment) for segment in segments(self.text)]

    @cached_property
    def durations(self) -> list[float]:
        """Every duration, in seconds."""
        return [*read_clocks(self.text), *(seconds for numbers in self.numbers for seconds in durations(numbers))]

    @cached_property
    def declared(self) -> set[str]:
        """Currencies that a sentence declares for the whole text."""
        return declared_currencies(self.text)

    def has_figure(self, wanted: WantedFigure) -> bool:
        """Whether the figure stands in the text with its unit."""
        low, high, unit = _bounds(wanted)
        if unit in SECONDS:
            return any(low * SECONDS[unit] <= seconds <= high * SECONDS[unit] for seconds in self.durations)
        return any(
            any(low <= value <= high for value in number.values) and self._fits(number, unit)
            for numbers in self.numbers
            for number in numbers
        )

    def has_word(self, word: str) -> bool:
        """Whether a plain string, `re:` expression or phrase group of a case is in the text."""
        if word.startswith("@"):
            return bool(PHRASES[word].search(self.text))
        if word.startswith("re:"):
            return bool(re.search(word[3:], self.text, re.IGNORECASE))
        return normalise(word).casefold() in self.text.casefold()

    def _fits(self, number: Number, unit: str) -> bool:
        if not unit:
            return True
        return has_money(number, unit, self.declared) if is_money(unit) else has_unit(number, unit)


def failures(checks: Checks, text: str, status: str | None) -> list[str]:
    """What is wrong with an answer but its language, one line each; empty when it is right.

    `status` None: the answer has none (the baseline), and nothing that hangs on it is asked.
    """
    graded = GradedText(text)
    if not graded.text.strip():
        return ["empty text"]
    found = []
    if checks.status and status is not None and status not in checks.status:
        found.append(f"status {status}, wanted {' or '.join(checks.status)}")
    found += _missing(checks, graded)
    for wanted_status, more in checks.when.items():
        if wanted_status == status:
            found += _missing(more, graded)
    return found


def language_failures(wanted: Language, text: str, language: str | None) -> list[str]:
    """Whether the prose is in the wanted language and `language`, unless None, says so."""
    if language not in (None, wanted):
        return [f"says that it is in {language}, not {wanted}"]
    return [] if written_in(normalise(text), wanted) else [f"not written in {wanted}"]


def _missing(wanted: Wanted, graded: GradedText) -> list[str]:
    found = [f"lacks {figure}" for figure in wanted.figures if not graded.has_figure(figure)]
    for group in wanted.any_figures:
        if not any(map(graded.has_figure, group)):
            found.append(f"lacks any of {', '.join(map(str, group[:SHOWN]))}")
    for words in wanted.all_of:
        if not any(map(graded.has_word, words)):
            found.append(f"lacks {' or '.join(words[:SHOWN])}")
    said = (re.search(pattern, graded.text, re.IGNORECASE) for pattern in wanted.none_of)
    return [*found, *(f"says {match[0][:60]!r}" for match in said if match)]


def _bounds(wanted: WantedFigure) -> tuple[float, float, str]:
    if wanted.min is not None and wanted.max is not None:
        return wanted.min, wanted.max, wanted.unit
    value, unit = wanted.value, wanted.unit
    if isinstance(value, str):
        parts = [int(part) for part in value.split(":")]
        value, unit = float(sum(part * 60**power for power, part in enumerate(reversed(parts)))), "second"
    slack = abs(value or 0) * wanted.tol_pct / 100 + 1e-9
    return (value or 0) - slack, (value or 0) + slack, unit
