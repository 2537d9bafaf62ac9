"""What a search found: both scores of a passage, fused, and which passages are shown.

Arithmetic over candidates that knowledge/open_index.py found. Every constant was chosen on the tuning half of
evals/cases/retrieval.jsonl; evals/RESULTS.md has the figures, and what was tried and gave nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from knowledge.names import link, normalise
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
# Keywords weigh KEYWORD_WEIGHT at most, and less the less they can tell: "what is a graphics card" has one word, and
# a common one. Weights of 0.5 to 0.7, heading shares of 0.2 to 0.4 and halves of 4 to 10
# cost up to 0.023 of the MRR, which is noise for the most part.
KEYWORD_WEIGHT = 0.6
HEADING_SHARE = 0.3
HALF_INFORMATION = 6.0
# For a question that names cards or models: the table row of that very one comes before prose that mentions it, and a
# passage headed by another one (RTX 4090 D for RTX 4090) behind it. First hits right: 79 % without, 82 % with.
NAMED_ROW = 0.08
OTHER_NAME = 0.05
NAMES_READ = 40  # so many headings at most are searched for names, which costs up to a millisecond each
# The longer a question, the smaller the share of its words in the right passage. Without this, a least score that
# refuses 12 of 13 questions about something else refuses 24 % of the others too, and 13 %
# with it (few questions). The band keeps short questions as they are among themselves, and a page of text from passing for any passage.
PLAIN_INFORMATION = 28.0
LEAST_INFORMATION, MOST_INFORMATION = 12.0, 40.0
INFORMATION_POWER = 0.75
# A question written down for a passage lies nearer to a reader's question than any passage does: two questions about
# different things reach 0.90. Less 0.04 it is a passage's rival and not its better.
QUESTION_DISCOUNT = 0.04
LEAST_TEXTS = 20  # of each language; the means of fewer say more about their subjects than about the language
# Below this `certainty` nothing was found. On the tuning half that refuses 12 of 13 questions about something else and
# 5 % of the others, most of them with a wrong first hit; a least score alone that refuses 12 takes 10 % with it.
LEAST_CERTAINTY = 0.355
RIVALS = 4
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


@dataclass(frozen=True)
class LanguageMeans:
    """The mean vectors of the Chinese and the English twins of the same texts: all that sets them apart is language.

    A question lies nearer to any passage in its own language. Levelled, Recall@5 by meaning alone rises from 71 to 77 %.
    """

    zh: NDArray[np.float32]
    en: NDArray[np.float32]

    def excess(self, vector: NDArray[np.float32]) -> dict[Language, float]:
        """How much nearer a question's vector lies to passages in each language than to passages in either."""
        half = float(vector @ (self.zh - self.en)) / 2
        return {"zh": half, "en": -half}

    def without_language(self, vector: NDArray[np.float32]) -> NDArray[np.float32]:
        """The vector without its part along what sets the languages apart: it finds candidates in both.

        For finding only; as a score it is worse than `excess` (Recall@5 2 points lower).
        """
        apart = self.zh - self.en
        apart = apart / np.linalg.norm(apart)
        return np.asarray(vector - (vector @ apart) * apart, dtype=np.float32)


def language_means(texts: Sequence[Stored]) -> LanguageMeans | None:
    """From twins in both languages, rows left out; None where there are too few to tell."""
    zh, en = (
        [each.vector for each in texts if each.passage.language == language and each.passage.kind in ("text", "gap")]
        for language in ("zh", "en")
    )
    if min(len(zh), len(en)) < LEAST_TEXTS:
        return None
    return LanguageMeans(np.mean(zh, axis=0), np.mean(en, axis=0))


def scored(
    query: str,
    found: Sequence[Stored],
    vector: NDArray[np.float32],
    means: LanguageMeans | None,
    coverage: Coverage,
    bm25: Mapping[int, float],
    rank: Rank,
    questions: Mapping[int, float],
) -> list[Hit]:
    """The candidates as hits, best first; `rank` says by which side, and what the score is then.

    `questions` has the cosine of the nearest question written down for a passage, by the passage's number.
    """
    weight = KEYWORD_WEIGHT * coverage.information / (coverage.information + HALF_INFORMATION)
    weight = {"fused": weight, "dense": 0.0, "keyword": 1.0}[rank]
    asked = names_in(query) if rank == "fused" else frozenset()
    scale = _scale(coverage.information) if rank == "fused" else 1.0
    excess = means.excess(vector) if means else {"zh": 0.0, "en": 0.0}
    hits: list[tuple[float, float, Hit]] = []  # score, what decides between equals, hit
    for each in found:
        nearest = max(float(each.vector @ vector), questions.get(each.number, -1.0) - QUESTION_DISCOUNT)
        cosine = nearest - excess[each.passage.language]
        meaning = min(1.0, max(0.0, (cosine - UNRELATED_COSINE) / (CERTAIN_COSINE - UNRELATED_COSINE)))
        share = coverage.passage[each.number]
        matched = HEADING_SHARE * coverage.heading[each.number] + (1 - HEADING_SHARE) * share
        second = cosine if rank == "dense" else bm25.get(each.number, 0.0)
        hits.append(((1 - weight) * meaning + weight * matched, second, Hit(each.passage, 0.0, meaning, share)))
    hits.sort(key=_best_first)
    for place, (score, second, hit) in enumerate(hits):
        named = _by_name(asked, hit.passage) if place < NAMES_READ else 0.0
        final = min(1.0, max(0.0, scale * (score + named)))
        hits[place] = (score + named, second, replace(hit, score=final))
    return [hit for _, _, hit in sorted(hits, key=_best_first)]


def _best_first(scored_hit: tuple[float, float, Hit]) -> tuple[float, float, str]:
    score, second, hit = scored_hit
    return -score, -second, hit.passage.id


def _scale(information: float) -> float:
    told = min(MOST_INFORMATION, max(LEAST_INFORMATION, information))
    return float((told / PLAIN_INFORMATION) ** INFORMATION_POWER)


def _by_name(asked: frozenset[tuple[str, str]], passage: Passage) -> float:
    if not asked or not (named := names_in(passage.section)):
        return 0.0
    if named.isdisjoint(asked):
        return -OTHER_NAME
    return NAMED_ROW if passage.kind == "row" else 0.0


@lru_cache(maxsize=1 << 16)  # linking costs a millisecond, and a hundred candidates are looked at
def names_in(text: str) -> frozenset[tuple[str, str]]:
    """The cards and models that a text names, by (kind, key)."""
    if not any(character.isdigit() for character in text):
        return frozenset()  # nearly all names have a number, nearly all headings have none
    return frozenset((item.kind, item.key) for item in link(normalise(text)) if item.kind in ("gpu", "model"))


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


def certainty(hits: Sequence[Hit], best: Hit) -> float:
    """How sure it is that `best` answers: its score and its lead over the RIVALS next to it, 0..2.

    What a question about something else finds is found for the sake of a common word or two, and many passages have those.
    """
    rivals = [hit.score for hit in hits if hit is not best][:RIVALS]
    return 2 * best.score - sum(rivals) / RIVALS


def _saying(passage: Passage) -> tuple[str, str]:
    """What a passage says: equal for the rows and texts that two documents share."""
    alone = passage.kind == "row" or len(passage.text) >= OWN_WORDS
    return ("" if alone else passage.section, passage.text)
