"""An embedder that remembers the vectors of the last questions: each is asked for by the classifier and by every search,
and again with each later message of its conversation.

Same methods as knowledge.embedding.Embedder. Passages are not remembered here: the index keeps theirs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from knowledge.kept import Kept
from knowledge.text_vectors import Embedder, Vectors

MOST_TEXTS = 1024  # 1.5 MB of vectors of 384 numbers
LONGEST = 2000  # characters of a text that is remembered


class QueryMemory:
    """Wraps an embedder; safe to use from several threads."""

    def __init__(self, embedder: Embedder, most_texts: int = MOST_TEXTS) -> None:
        self._embedder = embedder
        self._kept: Kept[str, Vectors] = Kept(most_texts)

    @property
    def fingerprint(self) -> str:
        """Which model it is."""
        return self._embedder.fingerprint

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Vectors of what a reader asks: float32, one row a text, each of length 1."""
        if not texts:
            return self._embedder.embed_queries([])
        found = {text: kept for text in texts if (kept := self._kept.get(text)) is not None}
        if new := [text for text in dict.fromkeys(texts) if text not in found]:
            for text, vector in zip(new, self._embedder.embed_queries(new), strict=True):
                found[text] = vector.copy()  # of its own: a row would keep its whole batch
                if len(text) <= LONGEST:
                    self._kept.keep(text, found[text])
        return np.stack([found[text] for text in texts])

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Vectors of what is searched: float32, one row a text, each of length 1."""
        return self._embedder.embed_passages(list(texts))
