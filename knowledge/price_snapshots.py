"""Imported price rows on disk: immutable Parquet files, and a pointer file that names the one in use.

A snapshot is written in full beside the others and then swapped in by one rename, so a crash leaves the old one in
use. Undo swaps the pointer back. It knows where rows lie, not what they mean.

Errors: NothingToUndoError; OtherImportError; SnapshotBrokenError for a pointer that cannot be read.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import duckdb
from filelock import FileLock

from knowledge.offer_store import COLUMNS, KEY, SnapshotBrokenError, quoted
from knowledge.weights import home

POINTER = "current.json"
STORED = (*COLUMNS, "line", "origin")


class NothingToUndoError(Exception):
    """There is no imported snapshot to go back from."""


class OtherImportError(Exception):
    """The last import is not the one that was to be undone; the message is its label."""


@dataclass(frozen=True)
class Snapshot:
    """One state of the imported rows. `previous` names the files to go back to, the newest last."""

    file: str
    label: str
    previous: tuple[tuple[str, str], ...]


def folder() -> Path:
    """Where snapshots lie."""
    return home() / "prices"


def current() -> Path | None:
    """The Parquet file in use; None before the first import. Cheap enough to ask at every query."""
    state = _state()
    return folder() / state.file if state and state.file else None


def lock() -> FileLock:
    """Held while rows are read, merged and swapped in, so that two imports do not lose each other's rows."""
    folder().mkdir(parents=True, exist_ok=True)
    return FileLock(folder() / "write.lock", timeout=60)


def commit(rows: duckdb.DuckDBPyRelation, database: duckdb.DuckDBPyConnection, label: str) -> Path:
    """Put rows (columns STORED, of `database`) above those in use; a row with the same key is replaced.

    Of several new rows with one key the last stands. `label` is what undo calls this state, such as a file name.
    """
    with lock():
        before, old = _state(), current()
        columns, key = ", ".join(STORED), ", ".join(KEY)
        rows.create_view("incoming")
        older = f"UNION ALL SELECT {columns}, 0 AS age FROM read_parquet('{quoted(old)}')" if old else ""
        target = _written(
            database,
            f"SELECT {columns} FROM (SELECT {columns}, 1 AS age FROM incoming {older})"
            f" QUALIFY row_number() OVER (PARTITION BY {key} ORDER BY age DESC, line DESC) = 1 ORDER BY gpu, provider",
        )
        database.execute("DROP VIEW incoming")
        previous = (*before.previous, (before.file, before.label)) if before else (("", ""),)
        _point(Snapshot(target.name, label, previous))
        return target


def remove_origin(origin: str) -> int:
    """Take out the rows whose origin begins so, as a state of its own that undo goes back from; gives their number."""
    with lock():
        before, old = _state(), current()
        if before is None or old is None:
            return 0
        with duckdb.connect() as database:
            table = f"read_parquet('{quoted(old)}')"
            ((found,),) = database.execute(
                f"SELECT count(*) FROM {table} WHERE starts_with(origin, ?)", [origin]
            ).fetchall()
            if not found:
                return 0
            text = origin.replace("'", "''")
            target = _written(
                database, f"SELECT {', '.join(STORED)} FROM {table} WHERE NOT starts_with(origin, '{text}')"
            )
        _point(Snapshot(target.name, f"− {origin}", (*before.previous, (before.file, before.label))))
        return int(found)


def undo(only: str = "") -> str:
    """Go back to the state before the last import; returns that import's label. Raises NothingToUndoError.

    `only`: raises OtherImportError where the last import has another label.
    """
    with lock():
        state = _state()
        if state is None or not state.previous:
            raise NothingToUndoError(
                "没有可以撤销的导入：现在只有内置价格行。 / There is no import to undo: only the built-in price rows are in use."
            )
        if only and state.label != only:
            raise OtherImportError(state.label)
        file, label = state.previous[-1]
        _point(Snapshot(file, label, state.previous[:-1]))
        return state.label


def _written(database: duckdb.DuckDBPyConnection, select: str) -> Path:
    """A new Parquet file of these rows, complete and flushed before it gets its name."""
    target = folder() / f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{uuid4().hex[:8]}.parquet"
    part = target.with_suffix(".part")
    database.execute(f"COPY ({select}) TO '{quoted(part)}' (FORMAT parquet, COMPRESSION zstd)")
    with part.open("rb") as file:
        os.fsync(file.fileno())
    part.replace(target)
    return target


def _state() -> Snapshot | None:
    try:
        text = (folder() / POINTER).read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    try:
        given = json.loads(text)
        return Snapshot(given["file"], given["label"], tuple((file, label) for file, label in given["previous"]))
    except (ValueError, KeyError, TypeError) as error:
        raise SnapshotBrokenError(
            f"{folder() / POINTER} 读不出来（{error!r}）；删除它就只用内置价格。 / cannot be read; delete it to use the built-in prices only."
        ) from error


def _point(state: Snapshot) -> None:
    """Swap the pointer: written and flushed beside the old one, then renamed over it."""
    part = folder() / f"{POINTER}.{uuid4().hex[:8]}.part"
    with part.open("w", encoding="utf-8") as file:
        json.dump({"file": state.file, "label": state.label, "previous": state.previous}, file, ensure_ascii=False)
        file.flush()
        os.fsync(file.fileno())
    part.replace(folder() / POINTER)
