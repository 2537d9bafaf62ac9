"""The index that is valid now, lent to readers while another one may take its place.

Whoever answers a question borrows the index for as long as the question takes, so that all of an answer comes from one
index; one that was replaced is closed, and its files removed, when its last reader gives it back. It builds nothing.
"""

from __future__ import annotations

import logging
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from knowledge.generation import KnowledgeIndexError
from knowledge.open_index import Index

log = logging.getLogger(__name__)


@dataclass
class _Loan:
    """An index, how many read it, and the folder to remove once another took its place and nobody does."""

    index: Index
    readers: int = 0
    leaves: Path | None = None


class CurrentIndex:
    """Holds the open index. Safe to share between threads."""

    def __init__(self, index: Index) -> None:
        self._lock = threading.Lock()
        self._loan = _Loan(index)
        self._former: list[_Loan] = []

    @property
    def now(self) -> Index:
        """The index of this moment, for a look that takes no time; a reader that takes longer borrows it."""
        return self._loan.index

    @contextmanager
    def borrowed(self) -> Iterator[Index]:
        """The index, which stays open until the end of the `with` block whatever takes its place meanwhile."""
        with self._lock:
            loan = self._loan
            loan.readers += 1
        try:
            yield loan.index
        finally:
            with self._lock:
                loan.readers -= 1
                ended = self._ended()
            _end(ended)

    def replace(self, index: Index, leaves: Path | None) -> None:
        """Let `index` take the place of the one in use, whose files lie in the folder `leaves`."""
        with self._lock:
            former, self._loan = self._loan, _Loan(index)
            former.leaves = leaves
            self._former.append(former)
            ended = self._ended()
        _end(ended)

    def close(self) -> None:
        """Close the index in use, and replaced ones that are still read. Raises IndexBrokenError."""
        with self._lock:
            former, self._former = self._former, []
        _end(former)
        self._loan.index.close()

    def _ended(self) -> list[_Loan]:
        ended = [loan for loan in self._former if not loan.readers]
        self._former = [loan for loan in self._former if loan.readers]
        return ended


def _end(loans: list[_Loan]) -> None:
    """Close replaced indexes and remove their files; what cannot be removed now goes at the next opening."""
    for loan in loans:
        try:
            loan.index.close()
            if loan.leaves is not None:
                shutil.rmtree(loan.leaves)
        except (KnowledgeIndexError, OSError) as error:
            log.warning("the replaced index is not tidied up yet: %s", error)
