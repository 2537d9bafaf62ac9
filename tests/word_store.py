"""The passage store as tests of words want it: passages by id as (id, heading, text), questions as text, no vectors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from knowledge.keywords import words
from knowledge.passage import Passage
from knowledge.passage_store import PassageStore
from knowledge.word_matching import Coverage


class WordStore:
    """Passages of one version by their ids."""

    def __init__(self, file: Path) -> None:
        self.store = PassageStore(file, create=True)
        self._number_of: dict[str, int] = {}

    def close(self) -> None:
        self.store.close()

    def add(self, passages: Iterable[tuple[str, str, str]]) -> None:
        some = [
            Passage(each, each, "zh", "", heading, text, "s", "l", None, "text") for each, heading, text in passages
        ]
        vectors = np.zeros((len(some), 4), dtype=np.float32)
        numbers = self.store.add("v", some, [each.id.encode() for each in some], vectors)
        self._number_of |= dict(zip((each.id for each in some), numbers, strict=True))

    def remove(self, ids: Iterable[str]) -> None:
        self.store.remove([self._number_of.pop(each) for each in ids])

    def best(self, query: str, limit: int) -> dict[str, float]:
        id_of = {number: each for each, number in self._number_of.items()}
        return {id_of[number]: score for number, score in self.store.best(words(query), limit).items()}

    def coverage(self, query: str, ids: Sequence[str]) -> tuple[dict[str, float], dict[str, float]]:
        """Shares of whole passages and of headings, by id."""
        found = self.measured(query, ids)
        numbers = {each: self._number_of[each] for each in ids}
        return (
            {each: found.passage[number] for each, number in numbers.items()},
            {each: found.heading[number] for each, number in numbers.items()},
        )

    def measured(self, query: str, ids: Sequence[str]) -> Coverage:
        return self.store.coverage(words(query), [self._number_of[each] for each in ids])

    def knows(self, term: str) -> bool:
        return self.store.knows(term)
