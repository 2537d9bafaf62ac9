"""Reads case files: JSON lines in evals/cases, one model per kind of case. Scores nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

FOLDER = Path(__file__).parent / "cases"


class Case(BaseModel):
    """Base of the cases of a task: immutable, and a misspelt field is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


AnyCase = TypeVar("AnyCase", bound=Case)


class CaseError(ValueError):
    """A line that is no case; the message names file, line and field."""


def read_cases(file: Path, kind: type[AnyCase], limit: int = 0) -> list[AnyCase]:
    """All cases of a file, or `limit` of them spread evenly over it (0: all). Raises CaseError."""
    cases = []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            cases.append(kind.model_validate_json(line))
        except ValidationError as error:
            fault = error.errors()[0]
            raise CaseError(f"{file.name}, line {number}: {fault['loc']!r}: {fault['msg']}; mend the line") from error
    if not 0 < limit < len(cases):
        return cases
    return [cases[i * len(cases) // limit] for i in range(limit)]
