"""What a search found: both scores of a passage, fused, and which passages are shown.

Arithmetic only; knowledge/index.py finds the candidates.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from knowledge.passage import Language, Passage
from knowledge.passage_store import Stored
from knowledge.word_matching import Coverage

Rank = Literal["fused", "dense", "keyword"]

# Cosines of e5 lie close together. Over 96 questions and all built-in passages, half of all pairs were above
# 0.79, the best passage for a question about something else at most 0.90, and the right passage between 0.84 and
# 0.96 (median 0.91). Stretching this band to 0..1 makes the cosine comparable with the keyword share. Another
# family of models (EMBEDDING_MODEL) may use another band: ranking survives that, absolute scores may not.
UNRELATED_COSINE = 0.80
CERTAIN_COSINE = 0.95
# Weights by measurement, see evals/RESULTS.md. A heading counts as much as the whole passage does. Keywords weigh
# half at most, and less the less they can tell: "what is a graphics card" has one word, and a common one.
KEYWORD_WEIGHT = 0.5
HEADING_SHARE = 0.5
HALF_INFORMATION = 6.0
ROWS_PER_TABLE = 2  # rows alike crowd out the text that explains them; all rows are for the catalogue to list
OWN_WORDS = 40  # characters from which a text says the same under any heading; "24 GB" does not


@dataclass(frozen=True)
class Hit:
    """A passage found; all three scores lie in 0..1 and higher is better.

    `dense` is closeness of meaning, `keyword` the share of the question's words that the passage
    holds. When the best hits are low in both, the corpus has nothing about the question.
    """

    passage: Passage
    score: float
    dense: float
    keyword: float


def scored(
    found: Sequence[Stored],
    vector: NDArray[np.float32],
    coverage: Coverage,
    bm25: Mapping[int, float],
    rank: Rank,
) -> list[Hit]:
    """The candidates as hits, best first; `rank` says by which side, and what the score is then."""
    weight = KEYWORD_WEIGHT * coverage.information / (coverage.information + HALF_INFORMATION)
    weight = {"fused": weight, "dense": 0.0, "keyword": 1.0}[rank]
    ordered: list[tuple[tuple[float, float, str], Hit]] = []
    for each in found:
        cosine = float(each.vector @ vector)
        meaning = min(1.0, max(0.0, (cosine - UNRELATED_COSINE) / (CERTAIN_COSINE - UNRELATED_COSINE)))
        share = coverage.passage[each.number]
        matched = HEADING_SHARE * coverage.heading[each.number] + (1 - HEADING_SHARE) * share
        hit = Hit(each.passage, (1 - weight) * meaning + weight * matched, meaning, share)
        second = cosine if rank == "dense" else bm25.get(each.number, 0.0)
        ordered.append(((-hit.score, -second, each.passage.id), hit))
    return [hit for _, hit in sorted(ordered, key=lambda item: item[0])]


def shown(hits: Sequence[Hit], language: Language) -> list[Hit]:
    """The best hit of each topic, by its twin in the reader's language if that was found; each text once, few rows."""
    topics: dict[str, list[Hit]] = {}
    for hit in hits:
        topics.setdefault(hit.passage.topic, []).append(hit)
    chosen: list[Hit] = []
    rows: Counter[str] = Counter()
    said: set[tuple[str, str]] = set()
    for topic, group in topics.items():
        readable = [hit.passage for hit in group if hit.passage.language == language]
        hit = replace(group[0], passage=readable[0]) if readable else group[0]
        if _saying(hit.passage) in said:
            continue
        table = topic.partition("#")[0]
        if group[0].passage.kind == "row" and rows[table] == ROWS_PER_TABLE:
            continue
        rows[table] += group[0].passage.kind == "row"
        said.add(_saying(hit.passage))
        chosen.append(hit)
    return chosen


def _saying(passage: Passage) -> tuple[str, str]:
    """What a passage says: equal for the rows and texts that two documents share."""
    alone = passage.kind == "row" or len(passage.text) >= OWN_WORDS
    return ("" if alone else passage.section, passage.text)
