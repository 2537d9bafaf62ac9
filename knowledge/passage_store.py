"""The passages of an index with their vectors and their words, in one SQLite file.

Every passage belongs to a version (of a document) and has a number that is never given twice; the dense store knows
it by that number. What is written is all or none, readers see one state (`snapshot`) and never wait for a writer.
The store knows which versions were written whole, not which are valid: that is the caller's to say. It embeds
nothing and ranks by words only.

SQLite's own errors (sqlite3.Error) pass through: a broken file never looks like an empty one.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from knowledge.keywords import Word, tokenize, words
from knowledge.passage import Passage
from knowledge.snapshots import AT_ONCE, Snapshots, chunks, marks, open_sqlite
from knowledge.word_matching import Coverage, cover, expressions, search_tokens

Vectors = NDArray[np.float32]

MOST_RANKED = 4000  # passages sharing a word with a question; to rank one costs about 3 microseconds
MOST_REMEMBERED = 50_000  # frequencies of words kept in memory between two writes

# Numbers are never used again: a vector left in the dense store by a killed removal can then never be another's.
# The ascii tokenizer keeps every character above 127 and, so told, the joints of our codes.
TABLES = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE versions (version TEXT PRIMARY KEY, passages INTEGER NOT NULL);
CREATE TABLE passages (
    number INTEGER PRIMARY KEY AUTOINCREMENT, version TEXT NOT NULL, id TEXT NOT NULL, digest BLOB NOT NULL,
    passage TEXT NOT NULL, UNIQUE (version, id));
CREATE INDEX passages_by_id ON passages (id);
CREATE INDEX passages_by_digest ON passages (digest);
CREATE TABLE vectors (number INTEGER PRIMARY KEY, vector BLOB NOT NULL);
CREATE VIRTUAL TABLE words USING fts5(heading, body, tokenize = "ascii tokenchars '.:-_/+'");
CREATE VIRTUAL TABLE vocabulary USING fts5vocab(words, row);
"""


@dataclass(frozen=True)
class Stored:
    """A passage as the store holds it; `vector` is float32 of length 1."""

    number: int
    version: str
    passage: Passage
    vector: Vectors


class PassageStore:
    """Passages, vectors and words by number. Safe to share between threads."""

    def __init__(self, file: Path, *, create: bool = False) -> None:
        """Open a file, or make one with `create`. Raises sqlite3.Error if it is missing or damaged."""
        self.file = file
        self._write_lock = threading.Lock()
        self._snapshots = Snapshots(file)
        self._local = threading.local()
        self._known: dict[str, int] = {}  # how many passages a word occurs in, as last written; "" is all of them
        self._writer = open_sqlite(file, "rwc" if create else "rw")
        try:
            self._writer.execute("PRAGMA journal_mode = WAL")
            self._writer.execute("PRAGMA secure_delete = ON")
            if create:
                self._writer.executescript(f"BEGIN; {TABLES} COMMIT;")
            self._writer.execute("SELECT count(*) FROM facts")
        except sqlite3.Error:
            self._writer.close()
            raise

    def close(self) -> None:
        """Give the file back; the store cannot be used afterwards. A read under way ends first in its own thread."""
        self._snapshots.close()
        with self._write_lock:
            self._writer.close()

    # Writing. One writer at a time; every method is one transaction.

    def add(self, version: str, passages: Sequence[Passage], digests: Sequence[bytes], vectors: Vectors) -> list[int]:
        """Write passages of a version with the digests of their embedded texts and their vectors; gives their numbers.

        Raises sqlite3.IntegrityError if the version has a passage of that id already.
        """
        rows = [_words_of(passage) for passage in passages]  # the slow part, before the lock
        numbers: list[int] = []
        with self._writing() as writer:
            for passage, digest, vector, row in zip(passages, digests, vectors, rows, strict=True):
                number = writer.execute(
                    "INSERT INTO passages (version, id, digest, passage) VALUES (?, ?, ?, ?)",
                    (version, passage.id, digest, json.dumps(asdict(passage), ensure_ascii=False)),
                ).lastrowid
                writer.execute("INSERT INTO vectors VALUES (?, ?)", (number, vector.astype("<f4").tobytes()))
                writer.execute("INSERT INTO words (rowid, heading, body) VALUES (?, ?, ?)", (number, *row))
                numbers.append(int(number or 0))
        return numbers

    def complete(self, version: str, passages: int) -> None:
        """Note that a version was written whole, with so many passages."""
        with self._writing() as writer:
            writer.execute("INSERT OR REPLACE INTO versions VALUES (?, ?)", (version, passages))

    def uncomplete(self, version: str) -> None:
        """Note that a version is not whole any more: its removal begins."""
        with self._writing() as writer:
            writer.execute("DELETE FROM versions WHERE version = ?", (version,))

    def replace(self, version: str, new: str, old: str, **facts: str) -> None:
        """In one step `new` becomes `version`, what was `version` becomes `old`, and facts are written."""
        with self._writing() as writer:
            for before, after in ((version, old), (new, version)):
                writer.execute("UPDATE passages SET version = ? WHERE version = ?", (after, before))
                writer.execute("UPDATE versions SET version = ? WHERE version = ?", (after, before))
            writer.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?)", facts.items())

    def remove(self, numbers: Sequence[int]) -> None:
        """Remove passages; numbers that are not there are no error."""
        for some in chunks(numbers):
            with self._writing() as writer:
                for table, key in (("words", "rowid"), ("vectors", "number"), ("passages", "number")):
                    writer.execute(f"DELETE FROM {table} WHERE {key} IN ({marks(some)})", some)

    def wipe(self) -> None:
        """Leave no word of removed passages in the file; takes 7 s at 100,000 passages, nothing if none was removed."""
        with self._writing() as writer:
            writer.execute("INSERT INTO words (words) VALUES ('optimize')")
        with self._write_lock:
            self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def check(self) -> None:
        """Read the whole file (a second for some hundred MB). Raises sqlite3.DatabaseError if a page is damaged."""
        found = self._snapshots.rows("PRAGMA quick_check(1)")[0][0]
        if found != "ok":
            raise sqlite3.DatabaseError(f"quick_check: {found}")

    def note(self, **facts: str) -> None:
        """Write facts about the index."""
        with self._writing() as writer:
            writer.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?)", facts.items())

    @contextmanager
    def dense_being_written(self) -> Iterator[None]:
        """Around every write to the dense store: if it does not end well, `dense_is_whole` stays false."""
        self.note(dense_is_whole="no")
        yield
        self.note(dense_is_whole="yes")

    # Reading.

    def dense_is_whole(self) -> bool:
        """Whether the last write to the dense store ended well."""
        return self.fact("dense_is_whole") == "yes"

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """All that this thread reads inside is one state of the store, whatever is written meanwhile."""
        known = self._known  # taken before the state is: then it never gets a figure of an older state
        with self._snapshots.one_state():
            outer = getattr(self._local, "known", None)
            self._local.known = known if outer is None else outer
            try:
                yield
            finally:
                self._local.known = outer

    def fact(self, name: str) -> str | None:
        """A fact about the index, None if it was never written."""
        rows = self._snapshots.rows("SELECT value FROM facts WHERE name = ?", (name,))
        return str(rows[0][0]) if rows else None

    def versions(self) -> dict[str, int]:
        """Every version that was written whole, with the number of passages written."""
        return dict(self._snapshots.rows("SELECT version, passages FROM versions"))

    def counts(self) -> dict[str, int]:
        """How many passages of every version are there, counted."""
        return dict(self._snapshots.rows("SELECT version, count(*) FROM passages GROUP BY version"))

    def count(self) -> int:
        """Number of passages of all versions. Raises sqlite3.DatabaseError if one has no vector or no words."""
        passages, vectors, texts = self._snapshots.rows(
            "SELECT (SELECT count(*) FROM passages), (SELECT count(*) FROM vectors), (SELECT count(*) FROM words_docsize)"
        )[0]
        if not passages == vectors == texts:
            raise sqlite3.DatabaseError(f"{passages} passages, {vectors} vectors and {texts} keyword rows")
        return int(passages)

    def numbers(self, version: str | None = None) -> list[int]:
        """The numbers of a version, or all, in the order in which they were written."""
        statement = "SELECT number FROM passages WHERE ?1 IS NULL OR version = ?1 ORDER BY number"
        if version is not None:
            statement = "SELECT number FROM passages WHERE version = ?1 ORDER BY number"  # so that it uses the index
        return [row[0] for row in self._snapshots.rows(statement, (version,))]

    def numbers_of_id(self, passage_id: str) -> list[int]:
        """The numbers of the passages with that id, in whichever version."""
        return [row[0] for row in self._snapshots.rows("SELECT number FROM passages WHERE id = ?", (passage_id,))]

    def numbers_of_ids(self, ids: Collection[str]) -> dict[tuple[str, str], int]:
        """The numbers of passages by (version, id), in every version that has one of the ids."""
        statement = "SELECT version, id, number FROM passages WHERE id IN ({})"
        return {(version, each): number for version, each, number in self._snapshots.rows_in(statement, list(ids))}

    def version_of(self, numbers: Sequence[int]) -> dict[int, str]:
        """The version of each number that is there."""
        return dict(self._snapshots.rows_in("SELECT number, version FROM passages WHERE number IN ({})", numbers))

    def read(self, numbers: Sequence[int]) -> list[Stored]:
        """What is stored under those numbers that are there, in their order."""
        rows = self._snapshots.rows_in(
            "SELECT number, version, passage, vector FROM passages JOIN vectors USING (number) WHERE number IN ({})",
            numbers,
        )
        found = {row[0]: Stored(row[0], row[1], Passage(**json.loads(row[2])), _vector(row[3])) for row in rows}
        return [found[number] for number in numbers if number in found]

    def vectors(self, numbers: Sequence[int]) -> Vectors:
        """The vectors of numbers, one row each. Raises KeyError for one that is not there."""
        rows = self._snapshots.rows_in("SELECT number, vector FROM vectors WHERE number IN ({})", numbers)
        found = {number: _vector(vector) for number, vector in rows}
        return np.stack([found[number] for number in numbers])

    def vectors_of_texts(self, digests: Iterable[bytes]) -> dict[bytes, Vectors]:
        """The vectors of those embedded texts that the store holds already, by digest."""
        wanted = list(dict.fromkeys(digests))
        rows = self._snapshots.rows_in(
            "SELECT digest, vector FROM passages JOIN vectors USING (number) WHERE digest IN ({})", wanted
        )
        return {digest: _vector(vector) for digest, vector in rows}

    def best(self, asked: Sequence[Word], limit: int, versions: Collection[str] | None = None) -> dict[int, float]:
        """Up to `limit` passages that share a word with the question, best first, with their bm25 (higher is better).

        `versions` restricts them. Among more than MOST_RANKED that share only common words, the first ones are ranked.
        """
        with self.snapshot():
            span = (0, 1 << 62)
            if versions is not None and len(versions) == 1:
                statement = "SELECT ifnull(min(number), 0), ifnull(max(number), 0) FROM passages WHERE version = ?"
                span = self._snapshots.rows(statement, tuple(versions))[0]
            tokens = search_tokens(asked)
            for expression in expressions(tokens, self.frequency, self.frequency(""), MOST_RANKED):
                if found := self._ranked(expression, span, limit, versions):
                    return found
            return {}

    def coverage(self, asked: Sequence[Word], numbers: Sequence[int]) -> Coverage:
        """How much of the question's words each passage holds, see word_matching.py."""
        with self.snapshot():
            rows = self._snapshots.rows_in("SELECT rowid, heading, body FROM words WHERE rowid IN ({})", numbers)
            tokens = {number: (frozenset(heading.split()), frozenset(body.split())) for number, heading, body in rows}
            return cover(asked, tokens, self.frequency, self.frequency(""))

    def knows(self, term: str, versions: Collection[str] | None = None) -> bool:
        """Whether every word of the term occurs somewhere, in some spelling; `versions` says where."""
        asked = words(term)
        with self.snapshot():
            return bool(asked) and all(
                self._occurs(word.whole, versions)
                or (word.kind == "code" and word.pieces and all(self._occurs(p, versions) for p in word.pieces))
                for word in asked
            )

    def frequency(self, token: str) -> int:
        """In how many passages of all versions a token occurs; of "", how many passages there are."""
        with self.snapshot():
            known: dict[str, int] = self._local.known
            if token not in known:
                if len(known) >= MOST_REMEMBERED:
                    known.clear()
                statement = "SELECT doc FROM vocabulary WHERE term = ?" if token else "SELECT count(*) FROM passages"
                rows = self._snapshots.rows(statement, (token,) if token else ())
                known[token] = int(rows[0][0]) if rows else 0
            return known[token]

    def _occurs(self, token: str, versions: Collection[str] | None) -> bool:
        if not self.frequency(token) or versions is None:
            return self.frequency(token) > 0
        last = 0
        while rows := self._snapshots.rows(
            "SELECT rowid FROM words WHERE words MATCH ? AND rowid > ? ORDER BY rowid LIMIT ?",
            (f'"{token}"', last, AT_ONCE),
        ):
            last = rows[-1][0]
            if any(version in versions for version in self.version_of([row[0] for row in rows]).values()):
                return True
        return False

    def _ranked(
        self, expression: str, span: tuple[int, int], limit: int, versions: Collection[str] | None
    ) -> dict[int, float]:
        found: dict[int, float] = {}
        for most in (5 * limit, MOST_RANKED):  # the second time only where most are of other versions
            rows = self._snapshots.rows(
                "SELECT number, score FROM (SELECT rowid AS number, -bm25(words) AS score FROM words"
                " WHERE words MATCH ? AND rowid BETWEEN ? AND ? LIMIT ?) ORDER BY score DESC, number LIMIT ?",
                (expression, *span, MOST_RANKED, most),
            )
            version_of = self.version_of([number for number, _ in rows])
            found = {number: score for number, score in rows if versions is None or version_of[number] in versions}
            if len(found) >= limit or len(rows) < most:
                break
        return dict(list(found.items())[:limit])

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._write_lock:
            with self._writer:
                yield self._writer
            self._known = {}


def _words_of(passage: Passage) -> tuple[str, str]:
    if passage.kind == "question":  # its words stand with the passage it leads to
        return "", ""
    body = f"{passage.title}\n{passage.text}\n{passage.asked}"
    return " ".join(tokenize(passage.section)), " ".join(tokenize(body))


def _vector(stored: bytes) -> Vectors:
    return np.frombuffer(stored, dtype="<f4").astype(np.float32)
