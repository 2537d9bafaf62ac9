"""What a run found, case by case, read back from its inspect logs. Scores nothing anew.

Only tasks of whole answers are read; `intents` and `retrieval` have their own tables.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from evals.answer_cases import AnswerCase
from evals.outcomes import Outcome

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog

BASELINE = "baseline"


class LogError(ValueError):
    """A path that holds no log of ours; the message names it."""


@dataclass(frozen=True)
class Record:
    """A case of a task, what came back, and each scorer's verdict (None: unscored)."""

    task: str
    case: AnswerCase
    outcome: Outcome
    wrong: dict[str, tuple[str, ...] | None]

    @property
    def right(self) -> bool | None:
        """Whether the case is right; None where it could not be scored or was not run."""
        verdict = self.wrong.get("right")
        return None if verdict is None else not verdict


def read_records(path: Path) -> list[Record]:
    """The records of a log file, or of the newest log of each task in a folder. Raises LogError."""
    from inspect_ai.log import list_eval_logs, read_eval_log

    if path.is_dir():
        newest = {info.task: info.name for info in sorted(list_eval_logs(str(path)), key=lambda info: info.mtime or 0)}
        files = list(newest.values())
    else:
        files = [str(path)] if path.exists() else []
    if not files:
        raise LogError(f"no log in {path}; give a log file or the --log-dir of a run")
    return records_of(read_eval_log(file) for file in files)


def records_of(logs: Iterable[EvalLog]) -> list[Record]:
    """The records of logs that are in memory."""
    return [record for log in logs for record in _records(log)]


def _records(log: EvalLog) -> Iterable[Record]:
    for sample in log.samples or []:
        if "outcome" not in sample.metadata:
            continue
        wrong = {
            name: tuple(score.metadata["wrong"]) if score.metadata and "wrong" in score.metadata else None
            for name, score in (sample.scores or {}).items()
        }
        case = AnswerCase.model_validate(sample.metadata["case"])
        outcome = Outcome.model_validate(sample.metadata["outcome"])
        yield Record(log.eval.task, case, outcome, wrong)
