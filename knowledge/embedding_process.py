"""The embedding model in a process of its own, so that it loads while the web page does, on another core.

Same methods as knowledge.embedding.Embedder. It decides nothing about the model; embedding.py does, in the child.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Sequence
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knowledge.embedding import EmbeddingModelError, Turns, in_batches, load_embedder
from knowledge.weights import WeightsUnavailableError

Vectors = NDArray[np.float32]


class EmbedderProcess:
    """Starts loading at once and answers as soon as the model is there. Safe to use from several threads.

    The first use raises what loading raised: EmbeddingModelError or weights.WeightsUnavailableError. A child that
    died is started again once per request; if that one dies too, EOFError says so.
    """

    def __init__(self) -> None:
        self._turns = Turns()
        self._facts: tuple[str, int] | None = None
        self._start()

    @property
    def fingerprint(self) -> str:
        """Which model it is; waits until it is loaded."""
        return self._loaded()[0]

    @property
    def dimension(self) -> int:
        """Length of a vector; waits until the model is loaded."""
        return self._loaded()[1]

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Vectors of what a reader asks: float32, one row a text, each of length 1."""
        return in_batches(texts, partial(self._ask, "embed_queries"), self.dimension)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Vectors of what is searched: float32, one row a text, each of length 1."""
        return in_batches(texts, partial(self._ask, "embed_passages"), self.dimension)

    def close(self) -> None:
        """End the child; it also ends by itself when this process does."""
        self._pipe.close()
        self._child.join(timeout=5)

    def _start(self) -> None:
        spawning = multiprocessing.get_context("spawn")
        self._pipe, far_end = spawning.Pipe()
        self._child = spawning.Process(target=serve, args=(far_end,), daemon=True, name="embedder")
        self._child.start()
        far_end.close()

    def _loaded(self) -> tuple[str, int]:
        with self._turns.taken():
            return self._wait()

    def _wait(self) -> tuple[str, int]:
        if self._facts is None:
            self._facts = _received(self._pipe)
        return self._facts

    def _ask(self, method: str, texts: Sequence[str]) -> Vectors:
        with self._turns.taken():
            try:
                return self._exchange(method, texts)
            except (EOFError, OSError):
                self._facts = None
                self._start()
                return self._exchange(method, texts)

    def _exchange(self, method: str, texts: Sequence[str]) -> Vectors:
        self._wait()
        self._pipe.send((method, list(texts)))
        vectors: Vectors = _received(self._pipe)
        return vectors


def serve(pipe: Connection) -> None:
    """What the child does: load, tell the model's facts or the failure, then answer until the pipe closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, whose end closes the pipe
    try:
        embedder = load_embedder()
    except (EmbeddingModelError, WeightsUnavailableError) as error:
        pipe.send(error)
        return
    try:
        pipe.send((embedder.fingerprint, embedder.dimension))
        while True:
            method, texts = pipe.recv()
            pipe.send(getattr(embedder, method)(texts))
    except (EOFError, OSError):
        return  # the parent is gone


def _received(pipe: Connection) -> Any:
    value = pipe.recv()
    if isinstance(value, Exception):
        raise value
    return value
