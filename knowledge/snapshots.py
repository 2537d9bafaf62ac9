"""Reading an SQLite file from many threads while it is written: each thread reads one state, nobody waits.

Needs a file in WAL mode. Writes nothing. SQLite's own errors (sqlite3.Error) pass through.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

AT_ONCE = 500  # values in one statement; SQLite takes 32,766 at most


class Snapshots:
    """Read-only connections to a file, given out to threads and taken back. Safe to share between threads."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._idle: list[sqlite3.Connection] = []
        self._lock = threading.Lock()
        self._closed = False
        self._local = threading.local()

    def close(self) -> None:
        """Give the file back; a read under way ends first, in its own thread."""
        with self._lock:
            self._closed = True
            for connection in self._idle:
                connection.close()
            self._idle.clear()

    @contextmanager
    def one_state(self) -> Iterator[None]:
        """All that this thread reads inside is one state of the file, whatever is written meanwhile. May be nested."""
        if getattr(self._local, "connection", None):
            yield
            return
        with self._lock:
            connection = self._idle.pop() if self._idle else None
        connection = connection or open_sqlite(self._file, "ro")
        try:
            connection.execute("BEGIN")
            self._local.connection = connection
            yield
            connection.rollback()
        finally:
            self._local.connection = None
            self._give_back(connection)

    def rows(self, statement: str, values: Sequence[object] = ()) -> list[Any]:
        """All rows of a statement."""
        with self.one_state():
            connection: sqlite3.Connection = self._local.connection
            return connection.execute(statement, tuple(values)).fetchall()

    def rows_in(self, statement: str, values: Sequence[Any]) -> list[Any]:
        """All rows of a statement with `IN ({})` for however many values."""
        with self.one_state():
            return [row for some in chunks(values) for row in self.rows(statement.format(marks(some)), some)]

    def _give_back(self, connection: sqlite3.Connection) -> None:
        with self._lock:
            if self._closed or connection.in_transaction:
                connection.close()
            else:
                self._idle.append(connection)


def open_sqlite(file: Path, mode: str) -> sqlite3.Connection:
    """A connection that any thread may use; `mode` is ro, rw or rwc, and a missing file is an error but for rwc."""
    address = f"{file.absolute().as_uri()}?mode={mode}"
    connection = sqlite3.connect(address, uri=True, check_same_thread=False)
    connection.execute("PRAGMA busy_timeout = 10000")
    return connection


def marks(values: Sequence[object]) -> str:
    """A question mark for each value."""
    return ", ".join("?" * len(values))


def chunks(values: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """The values, AT_ONCE at a time."""
    return (values[start : start + AT_ONCE] for start in range(0, len(values), AT_ONCE))
