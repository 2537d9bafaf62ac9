"""Task `retrieval`: which way of searching finds the right passage? Questions of cases/retrieval.jsonl, no answers.

Five searches over the same passages, the built-in ones and the documents of distractors/ that stand in for a reader's
own: by meaning only, by keywords only, by keywords cut at white space (what an index that does not know Chinese has),
both fused, and fused with other forms of the names. Half of the cases are held out: they are scored with `half="all"`
only, and their misses are never shown, so that nothing is tuned on them. What is counted stands in retrieval_scores.py.

Errors of the index and the readers pass through; CaseError and FileRefusedError name the line or file.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from evals.case_files import FOLDER, read_cases
from evals.retrieval_scores import (
    DEPTH,
    WITHIN,
    Outcome,
    RetrievalCase,
    first_right,
    shares,
    threshold_shares,
)
from knowledge.hits import LEAST_CERTAINTY, certainty
from knowledge.index import Embedder, Hit, Index, Vectors
from knowledge.passage import Passage

CASES = FOLDER / "retrieval.jsonl"
DISTRACTORS = FOLDER.parent / "distractors"
LAST = "fused, with names"

Halves = Literal["tune", "all"]
Progress = Callable[[str], object]
# The passages for a question, best first, and how certain the best one is.
Search = Callable[[RetrievalCase], tuple[list[Passage], float | None]]


def run(embedder: Embedder, folder: Path, limit: int, progress: Progress, half: Halves = "tune") -> str:
    """What `measure` finds, as Markdown."""
    return report(measure(embedder, folder, limit, progress, half))


def measure(
    embedder: Embedder, folder: Path, limit: int, progress: Progress, half: Halves = "tune"
) -> dict[str, list[Outcome]]:
    """Build the index in `folder` (vectors already there are used again) and search in every way.

    `progress` gets a line per batch embedded and one per question of the tuning half whose first hit is wrong, or
    that has no answer and finds something above the least score.
    """
    cases = [
        case for case in read_cases(CASES, RetrievalCase, limit) if half == "all" or case.half == "tune"
    ]  # fmt: skip
    with build(_Remembering(embedder), folder, progress) as index:
        searches = searches_of(index)
        outcomes = {name: [outcome_of(case, search) for case in cases] for name, search in searches.items()}
        for outcome in outcomes[LAST]:
            if outcome.case.half == "tune" and _wrong(outcome):
                progress(_miss(outcome.case, index))
    return outcomes


def build(embedder: Embedder, folder: Path, progress: Progress) -> Index:
    """The index of the built-in passages and the distractors, open."""
    from ingest.builtin import builtin_passages
    from ingest.splitting import SPLITTER_VERSION
    from knowledge.index import build_index

    def embedded(done: int, of: int) -> None:
        progress(f"embedded {done} of {of}")

    return build_index(
        folder,
        builtin_passages(),
        embedder,
        documents=distractors(DISTRACTORS),
        splitter=SPLITTER_VERSION,
        progress=embedded,
    )


def distractors(folder: Path) -> list[tuple[str, list[Passage]]]:
    """Version and passages of every Markdown file of a folder, read and cut as a reader's own files are."""
    from ingest import read_markdown
    from ingest.passages import passages_of

    files = sorted(folder.glob("*.md"))
    return [
        (file.stem, passages_of(read_markdown.read(file.read_bytes(), file.name), document=file.stem, name=file.name))
        for file in files
    ]


def searches_of(index: Index) -> dict[str, Search]:
    """The searches compared, by name, the product's own last."""

    def of_index(rank: Literal["fused", "dense", "keyword"], expand: bool) -> Search:
        def search(case: RetrievalCase) -> tuple[list[Passage], float | None]:
            hits = index.search(case.question, language=case.language, limit=DEPTH, rank=rank, expand=expand)
            return [hit.passage for hit in hits], certainty(hits, hits[0]) if hits else None

        return search

    spaced = WhitespaceKeywords(list(index.passages()))
    return {
        "dense only": of_index("dense", False),
        "keyword only": of_index("keyword", False),
        "whitespace keyword": lambda case: (spaced.search(case.question), None),
        "fused": of_index("fused", False),
        LAST: of_index("fused", True),
    }


class WhitespaceKeywords:
    """bm25 over words as white space parts them, small letters, nothing else levelled. One hit per topic."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._passages = passages
        self._connection = sqlite3.connect(":memory:")
        self._connection.execute("CREATE VIRTUAL TABLE passages USING fts5(body)")
        rows = ((f"{each.title} {each.section} {each.text}",) for each in passages)
        self._connection.executemany(
            "INSERT INTO passages (body) VALUES (?)", ((" ".join(_spaced(text)),) for (text,) in rows)
        )

    def search(self, query: str, limit: int = DEPTH) -> list[Passage]:
        """The best passages that share a word with the query; none where no word is shared."""
        asked = sorted(set(_spaced(query)))
        if not asked:
            return []
        rows = self._connection.execute(
            "SELECT rowid FROM passages WHERE passages MATCH ? ORDER BY rank, rowid", (" OR ".join(asked),)
        )
        topics: dict[str, Passage] = {}
        for (number,) in rows:
            passage = self._passages[number - 1]
            topics.setdefault(passage.topic, passage)
            if len(topics) == limit:
                break
        return list(topics.values())


def _spaced(text: str) -> list[str]:
    """Words as letters that FTS5 keeps whole, whatever punctuation stands in them."""
    return ["w" + word.encode("utf-8", "replace").hex() for word in text.casefold().split()]


def outcome_of(case: RetrievalCase, search: Search) -> Outcome:
    """What one search makes of one case."""
    passages, best = search(case)
    return Outcome(case, first_right(passages[:DEPTH], case.labels), best)


def report(outcomes: Mapping[str, Sequence[Outcome]]) -> str:
    """The searches side by side, then the last one by language and kind, then what its least score does; Markdown."""
    last = list(outcomes.values())[-1]
    halves = sorted({outcome.case.half for outcome in last}, reverse=True)  # the tuning half first
    return "\n\n".join(
        (
            f"Recall@{WITHIN}: share of questions with a right passage among the first {WITHIN}; MRR: mean of 1/rank, "
            f"0 beyond the first {DEPTH}; unanswerable questions apart.",
            _side_by_side(outcomes, halves),
            f"{list(outcomes)[-1]}, by language and kind:",
            _by_group(last, halves),
            f"Least certainty {LEAST_CERTAINTY}:",
            _threshold(last, halves),
        )
    )


def _side_by_side(outcomes: Mapping[str, Sequence[Outcome]], halves: Sequence[str]) -> str:
    columns = [f"{half}: {measure}" for half in halves for measure in (f"Recall@{WITHIN}", "MRR", "hit@1")]
    lines = []
    for name, found in outcomes.items():
        cells = [name]
        for half in halves:
            counted = shares(outcome for outcome in found if outcome.case.half == half)
            cells += [_percent(counted.recall), f"{counted.mrr:.3f}", _percent(counted.hit_at_1)]
        lines.append(cells)
    return _table(["search", *columns], lines)


def _by_group(found: Sequence[Outcome], halves: Sequence[str]) -> str:
    groups: dict[str, Callable[[RetrievalCase], str]] = {"language": lambda c: c.language, "kind": lambda c: c.kind}
    lines = []
    for half in halves:
        mine = [outcome for outcome in found if outcome.case.half == half and outcome.case.labels]
        for of in groups.values():
            for name in dict.fromkeys(of(outcome.case) for outcome in mine):
                counted = shares(outcome for outcome in mine if of(outcome.case) == name)
                lines.append([half, name, str(counted.questions), _percent(counted.hit_at_1), _percent(counted.recall)])
    return _table(["half", "group", "questions", "hit@1", f"Recall@{WITHIN}"], lines)


def _threshold(found: Sequence[Outcome], halves: Sequence[str]) -> str:
    lines = []
    for half in halves:
        counted = threshold_shares((outcome for outcome in found if outcome.case.half == half), LEAST_CERTAINTY)
        refused, lost = _percent(counted.refused), _percent(counted.lost)
        lines.append([half, str(counted.unanswerable), refused, str(counted.answerable), lost])
    return _table(["half", "unanswerable", "nothing above it", "answerable", "wrongly below it"], lines)


def _table(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (header, ["---"] * len(header), *lines))


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _wrong(outcome: Outcome) -> bool:
    if outcome.case.labels:
        return outcome.rank != 1
    return outcome.best is not None and outcome.best >= LEAST_CERTAINTY


def _miss(case: RetrievalCase, index: Index) -> str:
    hits = index.search(case.question, language=case.language, limit=3, rank="fused", expand=True)
    return f"{case.id} [{case.kind}] {case.question}\n    wanted {' or '.join(case.labels) or 'nothing'}, found {_shown(hits)}"


def _shown(hits: Sequence[Hit]) -> str:
    return "; ".join(
        f"{hit.passage.locator if '§' in hit.passage.locator else hit.passage.topic} {hit.score:.2f}" for hit in hits
    )


class _Remembering:
    """An embedder that embeds a question once, although every search asks for it."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._queries: dict[str, Vectors] = {}

    @property
    def fingerprint(self) -> str:
        return self._embedder.fingerprint

    def embed_queries(self, texts: list[str]) -> Vectors:
        if new := [text for text in dict.fromkeys(texts) if text not in self._queries]:
            self._queries.update(zip(new, self._embedder.embed_queries(new), strict=True))
        return np.stack([self._queries[text] for text in texts])

    def embed_passages(self, texts: list[str]) -> Vectors:
        return self._embedder.embed_passages(texts)
