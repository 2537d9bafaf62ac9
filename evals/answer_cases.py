"""The form of a question with a checkable answer: one JSON line, one AnswerCase. Grades nothing.

A case says what any good answer fulfils: its status, figures with unit and tolerance, words, forbidden expressions and
language. scoring.py holds the rules. `checks` null: only a person or a model can judge it, so it stays unscored.
"""

from __future__ import annotations

import re
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, JsonValue, field_validator, model_validator

from assistant.evidence import Language, Status
from evals.case_files import FOLDER, Case, read_cases
from evals.phrases import PHRASES

TASK_FILES = {
    name: FOLDER / f"{name}.jsonl" for name in ("answers", "conversations", "hostile", "calculators", "parity", "fresh")
}
GATE = FOLDER / "gate.txt"


class Strict(BaseModel):
    """A part of a case: immutable, and a misspelt key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class WantedFigure(Strict):
    """A figure: `value` (a number, or a duration such as "5:45:08") within `tol_pct` percent, or `min` to `max`."""

    value: float | str | None = None
    min: float | None = None
    max: float | None = None
    unit: str = ""
    tol_pct: float = Field(default=0.5, ge=0)

    @model_validator(mode="after")
    def _one_kind(self) -> WantedFigure:
        ranged = self.min is not None and self.max is not None
        if ranged == (self.value is not None):
            raise ValueError("a figure has either value or min and max")
        if isinstance(self.value, str) and not re.fullmatch(r"\d+(?::[0-5]\d){1,2}", self.value):
            raise ValueError(f"{self.value!r} is no duration such as 5:45:08; give numbers without quotes")
        return self

    def __str__(self) -> str:
        shown = f"{self.min:g} to {self.max:g}" if self.value is None else f"{self.value}"
        return f"{shown} {self.unit}".strip()


class Wanted(Strict):
    """What must be in a text and what must not."""

    figures: tuple[WantedFigure, ...] = ()
    any_figures: tuple[tuple[WantedFigure, ...], ...] = ()
    all_of: tuple[tuple[str, ...], ...] = ()
    none_of: tuple[str, ...] = ()

    @field_validator("all_of")
    @classmethod
    def _words_can_be_searched(cls, groups: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
        for word in (word for group in groups for word in group):
            if word.startswith("@") and word not in PHRASES:
                raise ValueError(f"no phrase group {word}; there are {', '.join(PHRASES)}")
            if word.startswith("re:"):
                _compiled(word[3:])
        return groups

    @field_validator("none_of")
    @classmethod
    def _patterns_compile(cls, patterns: tuple[str, ...]) -> tuple[str, ...]:
        for pattern in patterns:
            _compiled(pattern)
        return patterns


class Checks(Wanted):
    """All that a good answer fulfils; `when` adds demands by status."""

    status: tuple[Status, ...] = ()
    lang: Language | None = None
    when: dict[Status, Wanted] = Field(default_factory=dict)


class ToolCheck(Strict):
    """The calculator that must have been called, with these arguments among others."""

    name: str
    arguments: dict[str, JsonValue] = Field(default_factory=dict)


class AnswerCase(Case):
    """One question. `pair`: the id that this question and its twin in the other language share (parity)."""

    id: str
    category: str
    lang: Language
    question: str
    turns: tuple[str, ...] = ()
    checks: Checks | None
    note: str = ""
    judge: JsonValue = None
    tool: ToolCheck | None = None
    pair: str | None = None


def read_answer_cases(file: Path, limit: int = 0) -> list[AnswerCase]:
    """The cases of a file, all or `limit` of them spread over it. Raises CaseError."""
    return read_cases(file, AnswerCase, limit)


def gate_cases() -> list[AnswerCase]:
    """The cases named in cases/gate.txt, in its order. Raises KeyError for an id that no case has."""
    every = {case.id: case for file in TASK_FILES.values() for case in read_answer_cases(file)}
    lines = (line.split("#")[0].strip() for line in GATE.read_text(encoding="utf-8").splitlines())
    return [every[line] for line in lines if line]


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern, re.IGNORECASE)
    except re.error as error:
        raise ValueError(f"{pattern!r} is no regular expression: {error}") from error
