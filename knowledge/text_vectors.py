"""From passages to vectors: which text of a passage is embedded, and no text twice.

Loads no model: an embedder is passed in, and whatever it raises passes through.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from knowledge.passage import Passage

Vectors = NDArray[np.float32]
Progress = Callable[[int, int], None]

QUESTION_MARK = "?"  # between the id of a passage and the number of a question that leads to it
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
    return passage.text if passage.kind == "question" else f"{passage.title}\n{passage.section}\n{passage.text}"


def with_questions(passages: Sequence[Passage]) -> list[Passage]:
    """The passages, and behind them a passage for each question of their `asked`, whose id leads back to its own."""
    questions = [
        replace(passage, id=f"{passage.id}{QUESTION_MARK}{number}", text=question, kind="question", asked="")
        for passage in passages
        for number, question in enumerate(passage.asked.splitlines(), start=1)
    ]
    return [*passages, *questions]


def asking(passage_id: str) -> str:
    """The id of the passage that a question of `with_questions` leads to."""
    return passage_id.partition(QUESTION_MARK)[0]


def digest(passage: Passage) -> bytes:
    """Sixteen bytes by which an embedded text is known again."""
    key = b"question" if passage.kind == "question" else b""  # embedded as a reader's question is, not as a passage
    return hashlib.blake2b(embedded_text(passage).encode("utf-8", "surrogatepass"), digest_size=16, key=key).digest()


def embed(
    passages: Sequence[Passage], embedder: Embedder, known: Mapping[bytes, Vectors], progress: Progress | None
) -> Vectors:
    """One vector per passage: of `known` texts that one, else the embedder's, which gets each text once.

    Texts go to it in order of length, which pads the least. `progress` gets (passages done, passages in all) between
    its calls.
    """
    digests = [digest(passage) for passage in passages]
    found = dict(known)
    for kind, model in ((True, embedder.embed_queries), (False, embedder.embed_passages)):
        texts = {
            each: embedded_text(passage)
            for each, passage in zip(digests, passages, strict=True)
            if (passage.kind == "question") == kind
        }
        missing = sorted(texts.keys() - found.keys(), key=lambda each: (len(texts[each]), each))
        for start in range(0, len(missing), EMBEDDED_AT_ONCE):
            some = missing[start : start + EMBEDDED_AT_ONCE]
            rows = model([texts[each] for each in some])
            found.update(zip(some, np.asarray(rows, dtype=np.float32), strict=True))
            if progress and len(found.keys() & set(digests)) < len(set(digests)):
                progress(sum(each in found for each in digests), len(digests))
    return np.stack([found[each] for each in digests])


def check_ids(passages: Sequence[Passage]) -> None:
    """Raises ValueError for no passages or an id that comes twice."""
    if not passages:
        raise ValueError("no passages to write; are the documents and tables installed?")
    seen: set[str] = set()
    for passage in passages:
        if passage.id in seen:
            raise ValueError(f"passage id {passage.id!r} comes twice; ids must be unique")
        seen.add(passage.id)


def shifted(progress: Progress, before: int, total: int) -> Progress:
    """Progress of a part told as progress of the whole."""
    return lambda done, _: progress(before + done, total)
