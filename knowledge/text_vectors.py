"""From passages to vectors: which text of a passage is embedded, and no text twice.

Loads no model: an embedder is passed in, and whatever it raises passes through.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from knowledge.passage import Passage

Vectors = NDArray[np.float32]
Progress = Callable[[int, int], None]

EMBEDDED_AT_ONCE = 256  # texts for one call of the embedder; between calls progress is told


class Embedder(Protocol):
    """What the index needs of an embedding model (knowledge/embedding.py has the real one)."""

    @property
    def fingerprint(self) -> str: ...

    def embed_queries(self, texts: list[str]) -> Vectors:
        """L2-normalised float32 vectors, one row per text."""

    def embed_passages(self, texts: list[str]) -> Vectors:
        """L2-normalised float32 vectors, one row per text."""


def embedded_text(passage: Passage) -> str:
    """What of a passage is embedded. Indexes must be built anew when this changes (PASSAGE_FORMAT)."""
    return f"{passage.title}\n{passage.section}\n{passage.text}"


def digest(passage: Passage) -> bytes:
    """Sixteen bytes by which an embedded text is known again."""
    return hashlib.blake2b(embedded_text(passage).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def embed(
    passages: Sequence[Passage], embedder: Embedder, known: Mapping[bytes, Vectors], progress: Progress | None
) -> Vectors:
    """One vector per passage: of `known` texts that one, else the embedder's, which gets each text once.

    Texts go to it in order of length, which pads the least. `progress` gets (passages done, passages in all) between
    its calls.
    """
    digests = [digest(passage) for passage in passages]
    found = dict(known)
    texts = {each: embedded_text(passage) for each, passage in zip(digests, passages, strict=True)}
    missing = sorted(texts.keys() - found.keys(), key=lambda each: (len(texts[each]), each))
    for start in range(0, len(missing), EMBEDDED_AT_ONCE):
        some = missing[start : start + EMBEDDED_AT_ONCE]
        rows = embedder.embed_passages([texts[each] for each in some])
        found.update(zip(some, np.asarray(rows, dtype=np.float32), strict=True))
        if progress and start + len(some) < len(missing):
            progress(sum(each in found for each in digests), len(digests))
    return np.stack([found[each] for each in digests])
