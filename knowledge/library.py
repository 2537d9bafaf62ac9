"""The readers' own documents: which there are, what each says, and which version of it is valid.

This is the truth behind the index: what is not listed here is not found, whatever lies in the index. A document is
listed, replaced or struck off in one transaction, so that a process killed at any time leaves the old or the new
state. It reads no files, searches nothing and does not know what the content means: that is for ingest.

Errors: LibraryBrokenError (the file is damaged), UnknownDocumentError (no such document, with those there are).
"""

from __future__ import annotations

import sqlite3
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

MOST_NAMED = 10


class LibraryBrokenError(Exception):
    """The list of documents cannot be read or written; the message names the file and the way out."""


class UnknownDocumentError(Exception):
    """No document has that id or name, or several have that name."""


@dataclass(frozen=True)
class Document:
    """One document as listed.

    `id` follows from `origin` (a path, or the name of an upload), so a changed file replaces its former version.
    `version` names what the index holds of it, `table_rows` counts rows of data; `sha256` is of the file's bytes, `readers` the version of the code
    that read them. `added_at` is an ISO time in UTC.
    """

    id: str
    origin: str
    name: str
    version: str
    sha256: str
    readers: str
    size_bytes: int
    title: str
    passages: int
    table_rows: int
    added_at: str


COLUMNS = tuple(field.name for field in fields(Document))


class Library:
    """The list of documents, one SQLite file. Safe to share between threads."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = threading.Lock()
        file.parent.mkdir(parents=True, exist_ok=True)
        with self._said_broken():
            self._connection = sqlite3.connect(file, check_same_thread=False, isolation_level=None)
            self._connection.execute("PRAGMA secure_delete = ON")  # a removed document leaves no bytes behind
            self._connection.execute(
                "CREATE TABLE IF NOT EXISTS documents (id TEXT PRIMARY KEY, origin TEXT NOT NULL, name TEXT NOT NULL,"
                " version TEXT NOT NULL UNIQUE, sha256 TEXT NOT NULL, readers TEXT NOT NULL, size_bytes INTEGER NOT NULL,"
                " title TEXT NOT NULL, passages INTEGER NOT NULL, table_rows INTEGER NOT NULL, added_at TEXT NOT NULL,"
                " content BLOB NOT NULL)"
            )

    def close(self) -> None:
        """Give the file back; the library cannot be used afterwards."""
        with self._lock:
            self._connection.close()

    def documents(self) -> list[Document]:
        """Every document, by name."""
        return [
            Document(*row) for row in self._rows(f"SELECT {', '.join(COLUMNS)} FROM documents ORDER BY name, origin")
        ]

    def versions(self) -> frozenset[str]:
        """The valid versions: what may be found."""
        return frozenset(row[0] for row in self._rows("SELECT version FROM documents"))

    def document(self, wanted: str) -> Document:
        """The document of an id, an origin or a name that only one has. Raises UnknownDocumentError."""
        listed = self.documents()
        found = [each for each in listed if wanted in (each.id, each.origin)] or [
            each for each in listed if each.name == wanted
        ]
        if len(found) == 1:
            return found[0]
        if found:
            ids = ", ".join(f"{each.id} ({each.origin})" for each in found[:MOST_NAMED])
            raise UnknownDocumentError(f"有 {len(found)} 份文档叫 {wanted!r}，请用编号：{ids} / use the id: {ids}")
        known = ", ".join(f"{each.id} {each.name}" for each in listed[:MOST_NAMED]) or "–"
        raise UnknownDocumentError(
            f"没有文档 {wanted!r}。现有 {len(listed)} 份：{known} / No document {wanted!r}; {len(listed)} are there: {known}"
        )

    def of_origin(self, origin: str) -> Document | None:
        """The document that came from there, None if none did."""
        return self._one("origin", origin)

    def of_sha256(self, sha256: str) -> Document | None:
        """A document with exactly these bytes, None if there is none."""
        return self._one("sha256", sha256)

    def content(self, document_id: str) -> bytes:
        """What the document says, as given to `put`. Raises UnknownDocumentError."""
        rows = self._rows("SELECT content FROM documents WHERE id = ?", (document_id,))
        if not rows:
            raise UnknownDocumentError(f"没有文档 {document_id!r} / No document {document_id!r}")
        return zlib.decompress(rows[0][0])

    def put(self, document: Document, content: bytes) -> None:
        """List a document with its content, in place of its former version if it has one."""
        marks = ", ".join("?" * (len(COLUMNS) + 1))
        packed = zlib.compress(content, 6)
        with self._lock, self._said_broken():
            self._connection.execute(
                f"INSERT OR REPLACE INTO documents ({', '.join(COLUMNS)}, content) VALUES ({marks})",
                (*astuple(document), packed),
            )

    def remove(self, document_id: str) -> None:
        """Strike a document off the list. Raises UnknownDocumentError."""
        with self._lock, self._said_broken():
            struck = self._connection.execute("DELETE FROM documents WHERE id = ?", (document_id,)).rowcount
        if not struck:
            raise UnknownDocumentError(f"没有文档 {document_id!r} / No document {document_id!r}")

    def _one(self, column: str, value: str) -> Document | None:
        rows = self._rows(f"SELECT {', '.join(COLUMNS)} FROM documents WHERE {column} = ? ORDER BY added_at", (value,))
        return Document(*rows[0]) if rows else None

    def _rows(self, statement: str, values: tuple[object, ...] = ()) -> list[tuple[Any, ...]]:
        with self._lock, self._said_broken():
            return self._connection.execute(statement, values).fetchall()

    @contextmanager
    def _said_broken(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise LibraryBrokenError(
                f"文档清单 {str(self._file)!r} 读写失败（{error}）。请恢复备份，或移走它后重新导入文档。 / The list of documents "
                f"{str(self._file)!r} cannot be used ({error}). Restore a backup, or move it away and ingest again."
            ) from error
