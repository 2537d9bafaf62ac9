"""Task `answers`: whole answers to the questions of cases/answers.jsonl, graded by grading.py.

It computes no expected value: those stand in the cases, with their arithmetic in `note`.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Protocol

from assistant.evidence import Answer, Language, Status
from evals.case_files import FOLDER, Case, read_cases
from evals.grading import failures

CASES = FOLDER / "answers.jsonl"
log = logging.getLogger(__name__)


class Answerer(Protocol):
    """The part of assistant.advisor.Advisor that is used here."""

    def answer(self, question: str, turns: Sequence[str] = ()) -> Answer: ...


class AnswerCase(Case):
    """A question and what any good answer to it fulfils; `contains` and `absent` as grading.py reads them."""

    id: str
    category: str
    language: Language
    question: str
    turns: tuple[str, ...] = ()
    status: tuple[Status, ...]
    contains: tuple[str | tuple[str, ...], ...]
    absent: tuple[str, ...] = ()
    note: str


@dataclass(frozen=True)
class Outcome:
    """A case, its answer (None: the advisor crashed), and what was wrong with it."""

    case: AnswerCase
    answer: Answer | None
    failures: tuple[str, ...]


def run(advisor: Answerer, limit: int, progress: Callable[[str], object]) -> str:
    """Ask every case and report; `progress` gets a line per wrong answer while it runs."""
    outcomes = []
    for case in read_cases(CASES, AnswerCase, limit):
        outcome = ask(advisor, case)
        outcomes.append(outcome)
        if outcome.failures:
            progress(f"{case.id}: {' > '.join([*case.turns, case.question])}\n    {'; '.join(outcome.failures)}")
    return report(outcomes)


def ask(advisor: Answerer, case: AnswerCase) -> Outcome:
    """One case. A crash is a wrong answer and not the end of the measurement; its traceback is logged."""
    try:
        answer = advisor.answer(case.question, case.turns)
    except Exception as error:
        log.exception("%s", case.id)
        return Outcome(case, None, (f"crash: {error!r}",))
    wrong = failures(answer, status=case.status, language=case.language, contains=case.contains, absent=case.absent)
    return Outcome(case, answer, tuple(wrong if answer.verified else [*wrong, "a figure is untraced"]))


def report(outcomes: Sequence[Outcome]) -> str:
    """Tables by category and language, then latency, model calls and untraced figures, as Markdown."""
    lines = ["| category | zh | en | all |", "|---|---|---|---|"]
    for category in [*dict.fromkeys(o.case.category for o in outcomes), "**all**"]:
        chosen = [o for o in outcomes if category in (o.case.category, "**all**")]
        parts = [[o for o in chosen if o.case.language == language] for language in ("zh", "en")]
        lines.append(f"| {category} | {' | '.join(map(_right, [*parts, chosen]))} |")
    answers = [o.answer for o in outcomes if o.answer]
    # documents are read only where prose would help: then a model is called if there is one
    by_code = [a for a in answers if a.timings_ms.retrieve is None]
    prose = len(answers) - len(by_code)
    return "\n".join([
        *lines, "",
        f"- crashes: {len(outcomes) - len(answers)}; answers with an untraced figure: {sum(not a.verified for a in answers)}",
        f"- decided by code: {len(by_code)} of {len(answers)}; {_latency([a.timings_ms.total for a in by_code])}",
        f"- call the model: {prose} of {len(answers)} ({prose / max(len(answers), 1):.0%}); it wrote in "
        f"{sum(a.model is not None for a in answers)}, and {sum(len(a.dropped) for a in answers)} pieces were dropped",
        f"- first event, all: {_latency([a.timings_ms.first_event for a in answers])}",
        f"- whole answer, all: {_latency([a.timings_ms.total for a in answers])}",
    ])  # fmt: skip


def percentile(values: Iterable[float], share: float) -> float:
    """The nearest-rank percentile: the least value that `share` of all values do not exceed. Values must not be empty."""
    ordered = sorted(values)
    return ordered[math.ceil(share * len(ordered)) - 1]


def _latency(milliseconds: Sequence[float]) -> str:
    if not milliseconds:
        return "no latency"
    return f"median {median(milliseconds):.0f} ms, p95 {percentile(milliseconds, 0.95):.0f} ms"


def _right(outcomes: Sequence[Outcome]) -> str:
    return f"{sum(not o.failures for o in outcomes)} of {len(outcomes)}" if outcomes else "–"
