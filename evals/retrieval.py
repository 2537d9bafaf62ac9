"""Task `retrieval`: does the search put the right passage first? Questions of cases/retrieval.jsonl, no answers.

A hit is any passage of a topic that the case names; a topic is shared by the Chinese and the English twin.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from assistant.evidence import Language
from evals.case_files import FOLDER, Case, read_cases
from knowledge.index import Index

CASES = FOLDER / "retrieval.jsonl"
DEPTH = 3


class RetrievalCase(Case):
    """A question and the topics any of which answers it."""

    question: str
    language: Language
    topics: tuple[str, ...]


@dataclass(frozen=True)
class Outcome:
    """A case and the rank of the first right passage; None below DEPTH."""

    case: RetrievalCase
    rank: int | None


def run(index: Index, limit: int, progress: Callable[[str], object]) -> str:
    """Search for every case and report; `progress` gets a line per question whose first hit is wrong."""
    outcomes = []
    for case in read_cases(CASES, RetrievalCase, limit):
        hits = index.search(case.question, language=case.language, limit=DEPTH)
        found = [hit.passage.topic for hit in hits]
        rank = next((i for i, topic in enumerate(found, start=1) if topic in case.topics), None)
        outcomes.append(Outcome(case, rank))
        if rank != 1:
            scores = ", ".join(f"{hit.passage.topic} {hit.score:.2f}" for hit in hits)
            progress(f"{case.question}\n    wanted {' or '.join(case.topics)}, found {scores}")
    return report(outcomes)


def report(outcomes: Sequence[Outcome]) -> str:
    """hit@1 and hit@3 by language, as Markdown."""
    lines = ["| questions | number | hit@1 | hit@3 |", "|---|---|---|---|"]
    for name in ("zh", "en", "all"):
        chosen = [o for o in outcomes if name in (o.case.language, "all")]
        first, near = sum(o.rank == 1 for o in chosen), sum(o.rank is not None for o in chosen)
        lines.append(f"| {name} | {len(chosen)} | {first} | {near} |")
    return "\n".join(lines)
