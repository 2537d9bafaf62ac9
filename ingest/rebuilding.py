"""One rebuild of the index at a time: how far it is, and how it is stopped.

It builds nothing; ingest/knowledge_base.py does, between `underway` and its end.

Errors: RebuildUnderwayError (another one is at it), RebuildStoppedError (the knowledge base is being closed).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[int, int], None]


class RebuildUnderwayError(Exception):
    """The index is being built anew already."""


class RebuildStoppedError(Exception):
    """The knowledge base was closed during a rebuild; the old index is as it was."""


class Rebuilding:
    """The state of rebuilds of one knowledge base. Safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._reached: tuple[int, int] | None = None

    @property
    def reached(self) -> tuple[int, int] | None:
        """(passages done, passages in all) of the rebuild under way, None without one."""
        return self._reached

    def stop(self) -> None:
        """End a rebuild under way at its next batch, and let no other begin."""
        self._stopped.set()

    @contextmanager
    def underway(self, progress: Progress | None) -> Iterator[Progress]:
        """What the build tells of its progress, during the one rebuild. Raises the errors above."""
        if not self._lock.acquire(blocking=False):
            raise RebuildUnderwayError("the index is being built anew already; wait for it")

        def told(done: int, total: int) -> None:
            if self._stopped.is_set():
                raise RebuildStoppedError("the knowledge base is being closed; the old index is as it was")
            self._reached = (done, total)
            if progress:
                progress(done, total)

        try:
            told(0, 0)
            yield told
        finally:
            self._reached = None
            self._lock.release()
