"""The optional reranker: a cross-encoder that reads question and passage together, for machines with a GPU.

RERANKER_MODEL names a sentence-transformers cross-encoder (BAAI/bge-reranker-v2-m3, say), by folder or by name on the
model hub; without it nothing is loaded and the fused order stands. On two CPU cores such a model takes seconds for
one question. It reorders what a search found and finds nothing itself.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from knowledge.hits import Hit

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

RERANKED = 20  # hits that are read with the question; what comes behind them keeps its place
MOST_CHARACTERS = 2000  # of a passage; more than a cross-encoder of 512 tokens reads


class RerankerError(Exception):
    """RERANKER_MODEL names something that is not a cross-encoder we can load."""


class Reranker:
    """Orders hits by how well each answers the question. Safe to use from several threads, one at a time inside."""

    def __init__(self, model: CrossEncoder) -> None:
        self._model = model
        self._lock = threading.Lock()

    def reordered(self, question: str, hits: Sequence[Hit]) -> list[Hit]:
        """The first RERANKED hits by the model's judgement, then the rest.

        The scores stay those of the search, best first, since the least score for an answer was chosen for them.
        """
        first, rest = list(hits[:RERANKED]), list(hits[RERANKED:])
        if len(first) < 2:
            return [*first, *rest]
        pairs = [(question, _read_text(hit)) for hit in first]
        with self._lock:
            judged = np.asarray(self._model.predict(pairs, show_progress_bar=False), dtype=np.float64).reshape(
                len(first)
            )
        best_first = sorted((hit.score for hit in first), reverse=True)
        order = np.argsort(-judged, kind="stable")
        return [*(replace(first[place], score=score) for place, score in zip(order, best_first, strict=True)), *rest]


def load_reranker() -> Reranker | None:
    """The reranker that RERANKER_MODEL names, None where it names none. Raises RerankerError."""
    named = os.environ.get("RERANKER_MODEL")
    if not named:
        return None
    import torch
    from sentence_transformers import CrossEncoder

    device = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        model = CrossEncoder(named, device=device)
    except (OSError, ValueError) as error:
        raise RerankerError(
            f"RERANKER_MODEL={named!r} 不能作为重排模型加载，请给出交叉编码器的文件夹或名字，或删去该变量 / cannot be loaded as a "
            f"cross-encoder; name the folder or hub name of one, or unset it ({error})"
        ) from error
    if model.num_labels != 1:
        raise RerankerError(
            f"RERANKER_MODEL={named!r} 有 {model.num_labels} 个输出，重排模型应只有一个 / has {model.num_labels} outputs, "
            f"a reranker has one"
        )
    return Reranker(model)


def _read_text(hit: Hit) -> str:
    return f"{hit.passage.title}\n{hit.passage.section}\n{hit.passage.text}"[:MOST_CHARACTERS]
