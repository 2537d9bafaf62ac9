"""What came back when a case was asked: the advisor's Answer, the baseline's text, or a crash. Grades nothing.

A crash is an outcome like any other, so that one broken question does not end the measurement.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from assistant.evidence import Answer
from evals.answer_cases import AnswerCase, Strict
from evals.baseline import BaselineAnswer

log = logging.getLogger(__name__)

# The baseline's answer to a question after these turns; None: there is none and none may be written now.
BaselineAnswerer = Callable[[str, Sequence[str]], BaselineAnswer | None]


class Answerer(Protocol):
    """The part of assistant.advisor.Advisor that is used here."""

    def answer(self, question: str, turns: Sequence[str] = ()) -> Answer: ...


class Outcome(Strict):
    """`answer`: the advisor's; None where it crashed and for the baseline. `ran` False: nobody was asked."""

    text: str = ""
    answer: Answer | None = None
    crash: str | None = None
    seconds: float = 0.0
    ran: bool = True
    older_documents: bool = False  # a kept baseline answer from documents that have changed since

    @property
    def by_code(self) -> bool:
        """Whether code alone decided the answer: documents are read only where prose would help."""
        return self.answer is not None and self.answer.timings_ms.retrieve is None

    @property
    def model_calls(self) -> int:
        """Language-model requests that show in the Answer: one where the model wrote."""
        return int(self.answer is not None and self.answer.model is not None)


def ask_advisor(advisor: Answerer, case: AnswerCase) -> Outcome:
    """The advisor's answer to a case; the traceback of a crash is logged."""
    start = time.perf_counter()
    try:
        answer = advisor.answer(case.question, case.turns)
    except Exception as error:
        log.exception("%s", case.id)
        return Outcome(crash=repr(error), seconds=time.perf_counter() - start)
    return Outcome(text=answer.text, answer=answer, seconds=time.perf_counter() - start)


def ask_baseline(answerer: BaselineAnswerer, case: AnswerCase) -> Outcome:
    """The baseline's text, graded later by the text alone; errors of its model and its cache pass through."""
    answer = answerer(case.question, case.turns)
    if answer is None:
        return Outcome(ran=False)
    return Outcome(text=answer.text, seconds=answer.seconds, older_documents=answer.older_documents)
