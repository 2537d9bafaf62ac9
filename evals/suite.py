"""One run: the chosen tasks through inspect-ai, then the report. Opens what the tasks need, once.

Errors: assistant.owner.IndexOwnedError, evals.engine.EngineError, CaseError, and those of the index and models.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from evals.answer_cases import TASK_FILES, AnswerCase, read_answer_cases
from evals.outcomes import BaselineAnswerer, ask_advisor, ask_baseline

if TYPE_CHECKING:
    from inspect_ai import Task as InspectTask

    from assistant.advisor import Advisor
    from evals.engine import Settled
    from evals.retrieval_scores import Outcome as SearchOutcome
    from knowledge.index import Embedder

Progress = Callable[[str], object]


class Task(StrEnum):
    """What can be measured."""

    ANSWERS = "answers"
    CONVERSATIONS = "conversations"
    HOSTILE = "hostile"
    CALCULATORS = "calculators"
    PARITY = "parity"
    FRESH = "fresh"
    RETRIEVAL = "retrieval"
    INTENTS = "intents"
    PLANNING = "planning"
    BASELINE = "baseline"


class Half(StrEnum):
    """Which retrieval cases are scored."""

    TUNE = "tune"
    ALL = "all"


class BaselineMode(StrEnum):
    """Where the baseline's answers come from: only those kept, or written where none is kept (20 to 40 s each)."""

    CACHED = "cached"
    RUN = "run"


@dataclass(frozen=True)
class Choice:
    """What to run. `cases`: one file in place of those of the answer tasks; `limit` 0: all cases of each task."""

    tasks: tuple[Task, ...]
    log_dir: Path
    html: Path
    limit: int = 0
    cases: Path | None = None
    half: Half = Half.TUNE
    baseline: BaselineMode = BaselineMode.CACHED
    prose: bool = True

    def case_sets(self) -> dict[str, list[AnswerCase]]:
        """The cases of each answer task by its name; the baseline alone takes those of all tasks. Raises CaseError."""
        if self.cases:
            return {self.cases.stem: read_answer_cases(self.cases, self.limit)}
        chosen = [task for task in self.tasks if task in TASK_FILES]
        if not chosen and Task.BASELINE in self.tasks:
            chosen = [Task(name) for name in TASK_FILES]
        return {task: read_answer_cases(TASK_FILES[task], self.limit) for task in chosen}


def run(choice: Choice, progress: Progress) -> Iterator[str]:
    """Run the tasks; yields the Markdown of each report as it is ready and writes the HTML page last."""
    from evals.engine import answer_task, run_tasks
    from evals.records import BASELINE, records_of
    from evals.report import report
    from evals.report_page import page

    case_sets = choice.case_sets()
    with opened(prose=choice.prose) as (advisor, embedder):
        for table, task in _settled(choice, advisor, embedder, progress):
            run_tasks([task], choice.log_dir)
            yield f"## {task.name}\n\n{table}"
        tasks = []
        if choice.cases or set(choice.tasks) & set(TASK_FILES):
            tasks = [answer_task(n, cases, partial(ask_advisor, advisor), progress) for n, cases in case_sets.items()]
        if Task.BASELINE in choice.tasks:
            cases = [case for cases in case_sets.values() for case in cases]
            answerer = _baseline_answerer(choice.baseline, embedder, advisor)
            tasks.append(answer_task(BASELINE, cases, partial(ask_baseline, answerer), lambda _: None))
        records = records_of(run_tasks(tasks, choice.log_dir))
    if records:
        yield report(records)
        choice.html.parent.mkdir(parents=True, exist_ok=True)
        choice.html.write_text(page(records, "gpu-advisor evals", datetime.now()), encoding="utf-8")
        yield f"The page: {choice.html}; the logs: `inspect view --log-dir {choice.log_dir}`"


@contextmanager
def opened_for_gate() -> Iterator[Advisor]:
    """The advisor over the built-in knowledge alone, without its language model: the reader's documents change nothing."""
    from filelock import FileLock

    from assistant.advisor import Advisor, open_advisor
    from knowledge.generation import IndexBrokenError

    folder = gate_folder()
    with FileLock(folder.with_suffix(".lock")):
        try:
            advisor = open_advisor(None, None, folder)
        except IndexBrokenError:  # nothing but built-in passages is lost
            shutil.rmtree(folder)
            advisor = open_advisor(None, None, folder)
        try:
            yield Advisor(replace(advisor._having, model=None), advisor.knowledge)
        finally:
            advisor.close()


def gate_folder() -> Path:
    """Where the index of the built-in knowledge alone stands; kept, since embedding all passages takes minutes."""
    from knowledge.weights import home

    folder = home() / "evals" / "gate"
    folder.parent.mkdir(parents=True, exist_ok=True)
    return folder


@contextmanager
def opened(*, prose: bool) -> Iterator[tuple[Advisor, Embedder]]:
    """The advisor, without its language model unless `prose`, and its embedding model; the index is held meanwhile."""
    from assistant.advisor import Advisor, open_advisor
    from assistant.owner import acquire
    from knowledge.embedding import load_embedder

    with acquire(command="python -m evals"):
        embedder = load_embedder()
        advisor = open_advisor(None, embedder)
        asked = advisor if prose else Advisor(replace(advisor._having, model=None), advisor.knowledge)
        try:
            yield asked, embedder
        finally:
            advisor.close()


def _settled(
    choice: Choice, advisor: Advisor, embedder: Embedder, progress: Progress
) -> Iterator[tuple[str, InspectTask]]:
    """The tables and tasks of what is measured without whole answers."""
    from evals import intents, planning, retrieval
    from evals.engine import settled_task
    from knowledge.weights import home

    if Task.INTENTS in choice.tasks:
        cases, guesses = intents.guess(advisor._having.classifier, choice.limit, progress)
        yield intents.report(cases, guesses), settled_task(Task.INTENTS, intents.settled(cases, guesses))
    if Task.PLANNING in choice.tasks:
        model = advisor.model if advisor._having.plans else None
        done = planning.read_all(advisor._having.classifier, model, choice.limit, progress)
        yield planning.report(done), settled_task(Task.PLANNING, planning.settled(done))
    if Task.RETRIEVAL in choice.tasks:
        folder = home() / "evals" / "retrieval-index"
        outcomes = retrieval.measure(embedder, folder, choice.limit, progress, choice.half.value)
        yield retrieval.report(outcomes), settled_task(Task.RETRIEVAL, _searches(outcomes[retrieval.LAST]))


def _searches(outcomes: Sequence[SearchOutcome]) -> list[Settled]:
    """The product's own search: right where the first hit is, unscored for questions without an answer."""
    from evals.engine import Settled

    return [
        Settled(
            id=outcome.case.id,
            question=outcome.case.question,
            wanted=" or ".join(outcome.case.labels) or "nothing",
            found=f"rank {outcome.rank}" if outcome.rank else "not among the first",
            right=outcome.rank == 1 if outcome.case.labels else None,
            category=outcome.case.kind,
            lang=outcome.case.language,
        )
        for outcome in outcomes
    ]


def _baseline_answerer(mode: BaselineMode, embedder: Embedder, advisor: Advisor) -> BaselineAnswerer:
    """Kept answers of the model in use (the embedded one where the advisor goes without), or the chain itself."""
    from evals import baseline
    from knowledge import weights

    if mode is BaselineMode.RUN and advisor.model:
        return baseline.Baseline(embedder, advisor.model).answer
    model = (advisor.model and advisor.model.name) or weights.LLM.name
    return partial(baseline.cached_answer, any_documents=True, model=model)
