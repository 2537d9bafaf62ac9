"""The dense side of the index: which passages lie nearest to a vector. One Chroma collection, numbers and vectors only.

Everything here can be made again from the vectors in passage_store.py, so damage is found out and never mended
in place. Does not know texts, versions or scores. Errors of Chroma (chromadb.errors.ChromaError) pass through.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from chromadb.api.client import Client

Vectors = NDArray[np.float32]

COLLECTION = "passages"  # Chroma accepts ASCII names only
# Chroma writes its whole graph to disk every `sync_threshold` vectors, and inserts what came after again at each
# opening: at 100,000 vectors that is 0.2 s for the one and 2 ms a vector for the other. ef_search 100 finds 99.9 % of
# the nearest 40.
SETTINGS: Any = {"hnsw": {"space": "cosine", "ef_construction": 100, "ef_search": 100, "sync_threshold": 1000}}
WRITTEN_AT_ONCE = 100  # a search waits for the vectors being written: a tenth of a second for a hundred
READ_AT_ONCE = 1000  # an unbounded get of Chroma fails past 32,766 rows


class DenseStore:
    """Vectors by number, safe to share between threads. A search waits for no more than WRITTEN_AT_ONCE vectors."""

    def __init__(self, folder: Path, *, create: bool = False) -> None:
        import chromadb
        from chromadb.config import Settings
        from chromadb.errors import ChromaError

        settings = Settings(anonymized_telemetry=False)
        # Its declared type lacks close().
        self._client = cast("Client", chromadb.PersistentClient(str(folder), settings=settings))
        try:
            if create:
                self._client.create_collection(COLLECTION, embedding_function=None, configuration=SETTINGS)
            self._collection = self._client.get_collection(COLLECTION, embedding_function=None)
        except ChromaError:
            self._client.close()
            raise

    def close(self) -> None:
        """Give files and memory back; the store cannot be used afterwards."""
        self._client.close()

    def add(self, numbers: Sequence[int], vectors: Vectors) -> None:
        """Write vectors of length 1, one row a number. A number that is there already keeps its vector."""
        for start in range(0, len(numbers), WRITTEN_AT_ONCE):
            ids = [str(number) for number in numbers[start : start + WRITTEN_AT_ONCE]]
            self._collection.add(ids=ids, embeddings=vectors[start : start + WRITTEN_AT_ONCE])

    def remove(self, numbers: Sequence[int]) -> None:
        """Remove numbers; those that are not there are no error."""
        for start in range(0, len(numbers), READ_AT_ONCE):
            self._collection.delete(ids=[str(number) for number in numbers[start : start + READ_AT_ONCE]])

    def nearest(self, vector: Vectors, limit: int) -> list[int]:
        """Up to `limit` numbers, nearest first. The graph may miss a few of many thousand."""
        query: Any = [vector.tolist()]
        found = self._collection.query(query_embeddings=query, n_results=limit, include=[])["ids"][0]
        return [int(number) for number in found]

    def count(self) -> int:
        """Number of vectors."""
        return int(self._collection.count())

    def vectors(self, numbers: Sequence[int]) -> dict[int, Vectors]:
        """The vectors of those numbers that are there, as Chroma's own files hold them."""
        found: dict[int, Vectors] = {}
        for start in range(0, len(numbers), READ_AT_ONCE):
            ids = [str(number) for number in numbers[start : start + READ_AT_ONCE]]
            page = self._collection.get(ids=ids, include=["embeddings"])
            rows = np.asarray(page["embeddings"], dtype=np.float32)
            found.update(zip((int(number) for number in page["ids"]), rows, strict=True))
        return found
