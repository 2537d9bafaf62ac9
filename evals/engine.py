"""inspect-ai as the engine: cases become samples, the advisor is the solver, our pure functions are the scorers.

No inspect model is used, nothing is sent anywhere and no terminal is taken over; the logs are read with records.py or
`inspect view`. Every import of inspect-ai stands inside a function: it takes seconds and warns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from evals.answer_cases import AnswerCase
from evals.outcomes import Outcome
from evals.verdicts import SCORERS, Scorer

if TYPE_CHECKING:
    from inspect_ai import Task
    from inspect_ai.log import EvalLog
    from inspect_ai.scorer import Score
    from inspect_ai.scorer import Scorer as InspectScorer
    from inspect_ai.solver import Solver, TaskState

Ask = Callable[[AnswerCase], Outcome]


class EngineError(RuntimeError):
    """inspect-ai could not finish a task; the message has its reason."""


@dataclass(frozen=True)
class Settled:
    """A sample whose result is already known, such as a search or a guess. `right` None: unscored."""

    id: str
    question: str
    wanted: str
    found: str
    right: bool | None
    category: str
    lang: str


def answer_task(name: str, cases: Sequence[AnswerCase], ask: Ask, progress: Callable[[str], object]) -> Task:
    """Cases that are asked one by one; `progress` gets a line per wrong answer while it runs."""
    from inspect_ai import Task
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ChatMessageUser

    samples = [
        Sample(
            id=case.id,
            input=[ChatMessageUser(content=text) for text in (*case.turns, case.question)],
            target=case.note or "see the checks",
            metadata={"case": case.model_dump(mode="json"), "category": case.category, "lang": case.lang},
        )
        for case in cases
    ]
    return Task(
        name=name,
        dataset=MemoryDataset(samples, name=name),
        solver=_asking(ask, progress),
        scorer=[_scored(scorer, verdict) for scorer, verdict in SCORERS.items()],
    )


def settled_task(name: str, rows: Sequence[Settled]) -> Task:
    """Results found elsewhere, put on record."""
    from inspect_ai import Task
    from inspect_ai.dataset import MemoryDataset, Sample

    samples = [
        Sample(
            id=row.id,
            input=row.question,
            target=row.wanted,
            metadata={"found": row.found, "right": row.right, "category": row.category, "lang": row.lang},
        )
        for row in rows
    ]
    return Task(name=name, dataset=MemoryDataset(samples, name=name), solver=_shown(), scorer=_settled())


def run_tasks(tasks: Sequence[Task], log_dir: Path) -> list[EvalLog]:
    """Run tasks one after the other, one sample at a time (times are measured). Raises EngineError."""
    from inspect_ai import eval as run

    log_dir.mkdir(parents=True, exist_ok=True)
    logs = []
    for task in tasks:
        (log,) = run(
            task, model=None, display="none", log_dir=str(log_dir), log_format="eval", log_level="warning",
            max_samples=1, max_tasks=1, ctl_server=False, acp_server=False, notification=False,
        )  # fmt: skip
        if log.status != "success":
            reason = log.error.message if log.error else log.status
            raise EngineError(f"task {task.name} ended early: {reason}; its log is {log.location}")
        logs.append(log)
    return logs


def _asking(ask: Ask, progress: Callable[[str], object]) -> Solver:
    from inspect_ai.model import ModelOutput
    from inspect_ai.solver import Generate, solver

    @solver(name="ask")
    def build() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            case = _case(state)
            outcome = ask(case)
            state.metadata["outcome"] = outcome.model_dump(mode="json")
            state.output = ModelOutput.from_content("advisor", outcome.text or outcome.crash or "not run")
            if wrong := SCORERS["right"](case, outcome):
                progress(f"{case.id}: {' > '.join([*case.turns, case.question])}\n    {'; '.join(wrong)}")
            return state

        return solve

    return build()


def _shown() -> Solver:
    from inspect_ai.model import ModelOutput
    from inspect_ai.solver import Generate, solver

    @solver(name="settled")
    def build() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            state.output = ModelOutput.from_content("settled", state.metadata["found"])
            return state

        return solve

    return build()


def _scored(name: str, verdict: Scorer) -> InspectScorer:
    from inspect_ai.scorer import Metric, Target, accuracy, grouped, scorer

    by = [grouped(accuracy(), key, all=False) for key in ("category", "lang")] if name == "right" else []
    metrics: list[Metric] = [accuracy(), *by]

    @scorer(metrics=metrics, name=name)
    def build() -> InspectScorer:
        async def score(state: TaskState, target: Target) -> Score:
            wrong = verdict(_case(state), Outcome.model_validate(state.metadata["outcome"]))
            return _score(wrong)

        return score

    return build()


def _settled() -> InspectScorer:
    from inspect_ai.scorer import Target, accuracy, grouped, scorer

    @scorer(metrics=[accuracy(), grouped(accuracy(), "category", all=False)], name="right")
    def build() -> InspectScorer:
        async def score(state: TaskState, target: Target) -> Score:
            right = state.metadata["right"]
            return _score(None if right is None else [] if right else [f"found {state.metadata['found']}"])

        return score

    return build()


def _score(wrong: list[str] | None) -> Score:
    from inspect_ai.scorer import CORRECT, INCORRECT, Score

    if wrong is None:
        return Score.unscored(explanation="nothing to score")
    return Score(value=INCORRECT if wrong else CORRECT, explanation="; ".join(wrong), metadata={"wrong": wrong})


def _case(state: TaskState) -> AnswerCase:
    return AnswerCase.model_validate(state.metadata["case"])
