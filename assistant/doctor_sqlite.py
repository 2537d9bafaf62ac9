"""SQLite files looked at without a trace: no lock taken for long, no journal made, no schema touched.

For checks only; the code that owns a file opens it itself.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path


@contextmanager
def read_only(file: Path) -> Iterator[sqlite3.Connection]:
    """A SQLite file opened so that nothing is written, no journal either unless a process left one. Raises sqlite3.Error."""
    journal = file.with_name(file.name + "-wal")
    how = "mode=ro" if journal.exists() and journal.stat().st_size else "mode=ro&immutable=1"
    with closing(sqlite3.connect(f"{file.absolute().as_uri()}?{how}", uri=True, timeout=5)) as database:
        yield database


def first_number(database: sqlite3.Connection, query: str) -> int:
    """The first column of the first row."""
    return int(database.execute(query).fetchone()[0])
