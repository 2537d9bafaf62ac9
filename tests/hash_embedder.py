"""An embedder for tests: texts that share characters get near vectors, reproducibly, and no model file is read."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from knowledge.index import Vectors


@dataclass
class HashEmbedder:
    """Counts what it embeds; `fails_after` texts it breaks, as a model process that died."""

    fingerprint: str = "hash-1"
    fails_after: int | None = None
    embedded: int = 0

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return np.stack([self._vector(text) for text in texts]) if texts else np.zeros((0, 32), dtype=np.float32)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.embedded += len(texts)
        if self.fails_after is not None and self.embedded > self.fails_after:
            raise EOFError("the embedding process died")
        return self.embed_queries(texts)

    @staticmethod
    def _vector(text: str) -> Vectors:
        vector = np.full(32, 0.01, dtype=np.float32)
        for character in text.lower():
            vector[hashlib.sha256(character.encode()).digest()[0] % 32] += 1
        return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)
