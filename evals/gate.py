"""The gate: a fixed set of cases that must all be right, answered by code alone, without a language model.

cases/gate.txt names them. A case that is known to be wrong does not belong there. No inspect log is written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from evals.answer_cases import AnswerCase
from evals.outcomes import Answerer, ask_advisor
from evals.verdicts import right


def misses(advisor: Answerer, cases: Sequence[AnswerCase], progress: Callable[[str], object]) -> int:
    """How many of the cases are not right; `progress` gets a line for each. A case that cannot be scored is a miss."""
    count = 0
    for case in cases:
        wrong = right(case, ask_advisor(advisor, case))
        if wrong is None or wrong:
            count += 1
            reasons = "; ".join(wrong) if wrong else "it cannot be scored"
            progress(f"{case.id}: {' > '.join([*case.turns, case.question])}\n    {reasons}")
    return count
