"""The scorers by name: each says what is wrong with an outcome, or None where there is nothing to score. Pure.

`right` is all of them together: a case is right when every scorer that can score it finds nothing wrong.
"""

from __future__ import annotations

from collections.abc import Callable

from evals.answer_cases import AnswerCase
from evals.evidence_scoring import tool_failures, unsupported_citations, untraced_figures
from evals.outcomes import Outcome
from evals.scoring import failures, language_failures

Verdict = list[str] | None
Scorer = Callable[[AnswerCase, Outcome], Verdict]


def demands(case: AnswerCase, outcome: Outcome) -> Verdict:
    """Status, figures, words and what must not be said; the baseline has no status and is not asked for one."""
    if case.checks is None or not outcome.ran:
        return None
    if outcome.crash is not None:
        return [f"crash: {outcome.crash}"]
    status = outcome.answer.status if outcome.answer else None
    return failures(case.checks, outcome.text, status)


def language(case: AnswerCase, outcome: Outcome) -> Verdict:
    """The language of the prose and the one that the answer says it is in."""
    if case.checks is None or case.checks.lang is None or not outcome.ran or outcome.crash is not None:
        return None
    return language_failures(case.checks.lang, outcome.text, outcome.answer.language if outcome.answer else None)


def figures(case: AnswerCase, outcome: Outcome) -> Verdict:
    """Every figure shown has evidence. The baseline names none, so it is unscored."""
    return untraced_figures(outcome.answer) if outcome.answer else None


def citations(case: AnswerCase, outcome: Outcome) -> Verdict:
    """Every mark cites something, and it holds the figures of its sentence."""
    return unsupported_citations(outcome.answer) if outcome.answer else None


def tool(case: AnswerCase, outcome: Outcome) -> Verdict:
    """The calculator that the case names was called with its arguments."""
    return tool_failures(case.tool, outcome.answer.calls) if outcome.answer else None


PARTS: dict[str, Scorer] = {
    "demands": demands, "language": language, "figures": figures, "citations": citations, "tool": tool,
}  # fmt: skip


def right(case: AnswerCase, outcome: Outcome) -> Verdict:
    """What is wrong by any scorer; None where the demands of the case cannot be scored."""
    if demands(case, outcome) is None:
        return None
    return [line for scorer in PARTS.values() for line in scorer(case, outcome) or ()]


SCORERS: dict[str, Scorer] = {"right": right, **PARTS}
