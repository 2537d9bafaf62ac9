"""Task `planning`: unusual questions of cases/planning.jsonl: how often code cannot decide, and who then guesses better.

It measures understanding alone, not the answers: what code decides, what the likeliest intent would give where it does
not, and, with a model, what the planner makes of these.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assistant import planner
from assistant.understand import Classifier, Request
from evals.case_files import FOLDER, Case, read_cases

if TYPE_CHECKING:
    from evals.engine import Settled

CASES = FOLDER / "planning.jsonl"


class PlanningCase(Case):
    """A question after earlier turns, and the intent that it has once everything said is taken into account."""

    id: str
    question: str
    turns: tuple[str, ...]
    intent: str
    note: str


@dataclass(frozen=True)
class Planned:
    """A case, the readings that code found possible (the likeliest first), and the one taken."""

    case: PlanningCase
    among: tuple[Request, ...]
    taken: Request

    @property
    def right(self) -> bool:
        """Whether the reading taken has the case's intent."""
        return self.taken.intent == self.case.intent


def read_all(
    classifier: Classifier, model: planner.Chooser | None, limit: int, progress: Callable[[str], object]
) -> list[Planned]:
    """Understand every case; `progress` gets a line per wrong reading."""
    done: list[Planned] = []
    for case in read_cases(CASES, PlanningCase, limit):
        among = planner.readings(case.question, case.turns, classifier)
        asks = model is not None and len(among) > 1
        taken = planner.planned(among, case.turns, model) if model and asks else among[0]
        done.append(Planned(case, among, taken))
        if not done[-1].right:
            progress(f"{case.intent}, not {taken.intent} ({taken.decided_by}): {case.question}")
    return done


def report(done: Sequence[Planned]) -> str:
    """How many each way decides, and how many of these are right."""
    open_ones = [planned for planned in done if len(planned.among) > 1]
    asked = [planned for planned in open_ones if planned.taken.decided_by == "model"]
    decided = [planned for planned in done if len(planned.among) == 1]
    rows = [
        ("decided by code", len(decided), sum(planned.right for planned in decided)),
        ("left open: the likeliest", len(open_ones), sum(_likeliest_right(planned) for planned in open_ones)),
        ("left open: the right one is offered", len(open_ones), sum(_offered(planned) for planned in open_ones)),
        ("left open: the likeliest, where the model replied", len(asked), sum(_likeliest_right(p) for p in asked)),
        ("left open: the model", len(asked), sum(planned.right for planned in asked)),
    ]
    lines = [f"| {len(done)} questions | number | right |", "|---|---|---|"]
    return "\n".join([*lines, *(f"| {name} | {number} | {right} |" for name, number, right in rows)])


def _likeliest_right(planned: Planned) -> bool:
    return planned.among[0].intent == planned.case.intent


def _offered(planned: Planned) -> bool:
    return planned.case.intent in {request.intent for request in planned.among}


def settled(done: Sequence[Planned]) -> list[Settled]:
    """For the log of a run."""
    from evals.engine import Settled

    return [
        Settled(
            id=planned.case.id,
            question=planned.case.question,
            wanted=planned.case.intent,
            found=f"{planned.taken.intent} ({planned.taken.decided_by})",
            right=planned.right,
            category=planned.case.intent,
            lang=planned.taken.language,
        )
        for planned in done
    ]
