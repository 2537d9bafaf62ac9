"""What the retrieval eval counts: when a passage is the right one, and the shares over many questions.

Pure functions over ranks and scores. Searches nothing and reads no file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from pydantic import model_validator

from evals.case_files import Case
from knowledge.passage import Language, Passage

Half = Literal["tune", "held-out"]
Kind = Literal[
    "plain", "paraphrase", "mixed", "typo", "unspaced", "cell", "names", "cross-lingual", "unanswerable"
]  # fmt: skip
DEPTH = 10
WITHIN = 5
Value = TypeVar("Value")
# After "costs.md § Power" may follow ", row 3" or " § Prices", but not " supplies": that is another section.
SECTION_ENDS = re.compile(r"(?!\s*\w)")


class RetrievalCase(Case):
    """A question and the labels of the passages any of which answers it; none for kind "unanswerable".

    A label is a topic ("gpu-and-nvidia#3") or a section of a document ("costs.md § Power").
    """

    id: str
    question: str
    language: Language
    kind: Kind
    labels: tuple[str, ...]
    half: Half

    @model_validator(mode="after")
    def _labelled(self) -> RetrievalCase:
        if (self.kind == "unanswerable") == bool(self.labels):
            raise ValueError(f"kind {self.kind!r} with labels {list(self.labels)}: only 'unanswerable' has none")
        return self


@dataclass(frozen=True)
class Outcome:
    """A case and what one search made of it.

    `rank` counts from 1 and is that of the first right passage, None below DEPTH; `best` is the score of the first
    hit, None where there was no hit or the search has no score that can be compared across questions.
    """

    case: RetrievalCase
    rank: int | None
    best: float | None


@dataclass(frozen=True)
class Shares:
    """Over a number of answerable questions, each 0..1."""

    questions: int
    hit_at_1: float
    recall: float
    mrr: float


@dataclass(frozen=True)
class ThresholdShares:
    """What a least score does: `refused` of the unanswerable questions, `lost` of the answerable ones; each 0..1."""

    unanswerable: int
    refused: float
    answerable: int
    lost: float


def right(passage: Passage, labels: Iterable[str]) -> bool:
    """Whether the passage is one that a label names: by its topic, or by the beginning of its locator."""
    return any(label == passage.topic or _in_section(passage.locator, label) for label in labels)


def first_right(passages: Sequence[Passage], labels: Sequence[str]) -> int | None:
    """The rank, from 1, of the first right passage; None where there is none."""
    return next((rank for rank, passage in enumerate(passages, start=1) if right(passage, labels)), None)


def shares(outcomes: Iterable[Outcome]) -> Shares:
    """hit@1, Recall@WITHIN and MRR of the answerable questions among `outcomes`; all 0 where there are none.

    Recall@5 is the share of questions with at least one right passage among the first five; a question with three
    right passages does not need all of them. MRR is the mean of 1/rank, 0 where no right passage is in the first ten.
    """
    ranks = [outcome.rank for outcome in outcomes if outcome.case.labels]
    if not ranks:
        return Shares(0, 0.0, 0.0, 0.0)
    return Shares(
        len(ranks),
        _share(ranks, lambda rank: rank == 1),
        _share(ranks, lambda rank: rank is not None and rank <= WITHIN),
        sum(1 / rank for rank in ranks if rank is not None and rank <= DEPTH) / len(ranks),
    )


def threshold_shares(outcomes: Iterable[Outcome], least: float) -> ThresholdShares:
    """How many questions stay below a least score, which counts as enough itself; no hit at all is below it."""
    below = [(bool(outcome.case.labels), outcome.best is None or outcome.best < least) for outcome in outcomes]
    answerable = [low for has_answer, low in below if has_answer]
    unanswerable = [low for has_answer, low in below if not has_answer]
    return ThresholdShares(len(unanswerable), _share(unanswerable, bool), len(answerable), _share(answerable, bool))


def _in_section(locator: str, label: str) -> bool:
    return "§" in label and locator.startswith(label) and bool(SECTION_ENDS.match(locator, len(label)))


def _share(values: Sequence[Value], holds: Callable[[Value], bool]) -> float:
    return sum(map(holds, values)) / len(values) if values else 0.0
