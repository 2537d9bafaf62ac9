"""Conversations: the turns of each reader's threads on disk, what was thought of them, and one question asked in one.

Threads live in one SQLite file in WAL mode, so that the page, the HTTP API and the command line can read and write it
side by side. A thread belongs to its owner: two owners may use the same id and never see each other's. This module does
not answer, render or serve anything, and does not know who may be which owner (accounts.py does).
"""

from __future__ import annotations

import contextlib
import logging
import sqlite3
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, Protocol

from assistant.evidence import Answer, Bilingual, Done, Event

MAX_QUESTION_CHARACTERS = 2_000
EARLIER_TURNS = 20

LONGEST_TITLE = 60
LONGEST_REASON = 2_000
LOCAL = "local"  # the owner where there is no login, and of all that was kept before there were any
Verdict = Literal["up", "down"]

SCHEMA_VERSION = 2
_SCHEMA = """
CREATE TABLE IF NOT EXISTS turns (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    owner TEXT NOT NULL DEFAULT 'local',
    thread TEXT NOT NULL,
    asked_at TEXT NOT NULL,
    question TEXT NOT NULL,
    answer TEXT,
    verdict TEXT,
    reason TEXT
);
CREATE INDEX IF NOT EXISTS turns_by_owner ON turns (owner, thread, id);
CREATE TABLE IF NOT EXISTS titles (
    owner TEXT NOT NULL,
    thread TEXT NOT NULL,
    title TEXT NOT NULL,
    PRIMARY KEY (owner, thread)
);
"""
# Format 1 knew no owners and no verdicts.
_FROM_1 = """
ALTER TABLE turns ADD COLUMN owner TEXT NOT NULL DEFAULT 'local';
ALTER TABLE turns ADD COLUMN verdict TEXT;
ALTER TABLE turns ADD COLUMN reason TEXT;
DROP INDEX IF EXISTS turns_by_thread;
"""
_TURN = "id, question, answer, asked_at, verdict, reason"

_log = logging.getLogger(__name__)


class Answerer(Protocol):
    """What the adapters need of the advisor."""

    def ask(self, question: str, turns: Sequence[str] = ()) -> Iterator[Event]: ...


class AdviceFailedError(Exception):
    """The advisor broke; the traceback is in the log and `sentence` is all that a reader may see."""

    sentence = Bilingual(
        zh="抱歉，回答时出了内部错误，已记入日志。请再试一次，或换个问法。",
        en="Sorry, something went wrong inside the advisor and was logged. Please try again or rephrase the question.",
    )

    def __init__(self) -> None:
        super().__init__(f"{self.sentence.zh} / {self.sentence.en}")


class ConversationsVersionError(Exception):
    """The conversation file was written by a newer version of this program."""


class ConversationsBrokenError(Exception):
    """The conversation file cannot be read or written; the message names it and the way out."""


class UnknownTurnError(Exception):
    """This owner has no such turn (it may have been deleted in another window)."""

    def __init__(self, turn: int) -> None:
        super().__init__(
            f"没有第 {turn} 条回答，它可能已被删除。 / There is no answer {turn}; it may have been deleted."
        )


@dataclass(frozen=True)
class Turn:
    """One question and its answer; the answer is None when it was stopped or failed.

    `verdict` and `reason` are what the reader thought of the answer.
    """

    id: int
    question: str
    answer: Answer | None
    asked_at: str
    verdict: Verdict | None = None
    reason: str = ""


@dataclass(frozen=True)
class Thread:
    """One conversation in a list: `updated_at` is when its last question was asked (ISO, UTC)."""

    id: str
    title: str
    updated_at: str
    turns: int


class Conversations:
    """The conversation file. Every call opens its own connection, so threads may share one object."""

    def __init__(self, path: Path) -> None:
        """Create the file where it is missing; raises ConversationsVersionError for a newer one.

        Every method raises ConversationsBrokenError where the file cannot be used.
        """
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        with self._connect() as database:
            database.execute("PRAGMA journal_mode = WAL")
            with contextlib.suppress(PermissionError):  # another user's file that this one may use
                path.chmod(0o600)  # what people ask is theirs; files of older releases could be read by others
            version = int(database.execute("PRAGMA user_version").fetchone()[0])
            if version > SCHEMA_VERSION:
                raise ConversationsVersionError(
                    f"{str(path)!r} 由更新的版本写入（格式 {version}），请升级 gpu-advisor 或移走该文件。 / "
                    f"{str(path)!r} was written by a newer version (format {version}): upgrade gpu-advisor, "
                    "or move the file away."
                )
            if version == 1:
                database.executescript(_FROM_1)
            database.executescript(_SCHEMA)
            database.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

    def append(self, thread: str, question: str, answer: Answer | None, owner: str = LOCAL) -> int:
        """Add one turn at the end of `thread`, which need not exist yet; returns the id of the turn."""
        asked_at = datetime.now(UTC).isoformat(timespec="seconds")
        row = (owner, thread, asked_at, question, answer and answer.model_dump_json())
        with self._connect() as database:
            added = database.execute(
                "INSERT INTO turns (owner, thread, asked_at, question, answer) VALUES (?, ?, ?, ?, ?)", row
            )
        return int(added.lastrowid or 0)

    def turns(self, thread: str, owner: str = LOCAL) -> tuple[Turn, ...]:
        """All turns of `thread`, oldest first; an unknown thread has none."""
        query = f"SELECT {_TURN} FROM turns WHERE owner = ? AND thread = ? ORDER BY id"
        with self._connect() as database:
            rows = database.execute(query, (owner, thread)).fetchall()
        return tuple(map(_turn, rows))

    def turn(self, turn: int, owner: str = LOCAL) -> Turn:
        """One turn by its id; raises UnknownTurnError where `owner` has none such."""
        with self._connect() as database:
            row = database.execute(f"SELECT {_TURN} FROM turns WHERE owner = ? AND id = ?", (owner, turn)).fetchone()
        if row is None:
            raise UnknownTurnError(turn)
        return _turn(row)

    def before(self, turn: int, owner: str = LOCAL, limit: int = EARLIER_TURNS) -> tuple[str, ...]:
        """The questions asked before `turn` in its thread, the last `limit`, oldest first; raises UnknownTurnError."""
        self.turn(turn, owner)
        query = (
            "SELECT question FROM turns WHERE owner = ?1 AND id < ?2 AND thread = "
            "(SELECT thread FROM turns WHERE owner = ?1 AND id = ?2) ORDER BY id DESC LIMIT ?3"
        )
        with self._connect() as database:
            rows = database.execute(query, (owner, turn, limit)).fetchall()
        return tuple(question for (question,) in reversed(rows))

    def questions(self, thread: str, limit: int = EARLIER_TURNS, owner: str = LOCAL) -> tuple[str, ...]:
        """The last `limit` questions of `thread`, oldest first."""
        query = "SELECT question FROM turns WHERE owner = ? AND thread = ? ORDER BY id DESC LIMIT ?"
        with self._connect() as database:
            rows = database.execute(query, (owner, thread, limit)).fetchall()
        return tuple(question for (question,) in reversed(rows))

    def threads(self, owner: str = LOCAL, limit: int = 200) -> tuple[Thread, ...]:
        """The conversations of `owner`, the one last asked in first; each is called by its title or first question."""
        query = """
            SELECT listed.thread, coalesce(titles.title, first.question), listed.asked_at, listed.turns
            FROM (SELECT thread, min(id) AS first, max(id) AS last, max(asked_at) AS asked_at, count(*) AS turns
                  FROM turns WHERE owner = ?1 GROUP BY thread ORDER BY last DESC LIMIT ?2) AS listed
            JOIN turns AS first ON first.id = listed.first
            LEFT JOIN titles ON titles.owner = ?1 AND titles.thread = listed.thread ORDER BY listed.last DESC"""
        with self._connect() as database:
            rows = database.execute(query, (owner, limit)).fetchall()
        return tuple(Thread(thread, _title(title), updated_at, turns) for thread, title, updated_at, turns in rows)

    def title(self, thread: str, owner: str = LOCAL) -> str:
        """What `thread` is called: its title or first question; "" where there is no such thread."""
        query = """
            SELECT coalesce((SELECT title FROM titles WHERE owner = ?1 AND thread = ?2),
                            (SELECT question FROM turns WHERE owner = ?1 AND thread = ?2 ORDER BY id LIMIT 1), '')"""
        with self._connect() as database:
            return _title(str(database.execute(query, (owner, thread)).fetchone()[0]))

    def rename(self, thread: str, title: str, owner: str = LOCAL) -> None:
        """Call `thread` by `title`; an empty one brings the first question back."""
        with self._connect() as database:
            database.execute("DELETE FROM titles WHERE owner = ? AND thread = ?", (owner, thread))
            if title.strip():
                database.execute("INSERT INTO titles VALUES (?, ?, ?)", (owner, thread, _title(title)))

    def delete(self, thread: str, owner: str = LOCAL) -> int:
        """Take `thread` out with all its turns; returns how many there were."""
        with self._connect() as database:
            database.execute("DELETE FROM titles WHERE owner = ? AND thread = ?", (owner, thread))
            return database.execute("DELETE FROM turns WHERE owner = ? AND thread = ?", (owner, thread)).rowcount

    def forget_from(self, turn: int, owner: str = LOCAL) -> int:
        """Take `turn` and all later turns of its thread out, to ask anew; returns how many. Raises UnknownTurnError."""
        self.turn(turn, owner)
        query = (
            "DELETE FROM turns WHERE owner = ?1 AND id >= ?2 AND thread = "
            "(SELECT thread FROM turns WHERE owner = ?1 AND id = ?2)"
        )
        with self._connect() as database:
            return database.execute(query, (owner, turn)).rowcount

    def revise(self, turn: int, answer: Answer, owner: str = LOCAL) -> None:
        """Put `answer` in the place of the one that `turn` had (an assumption was changed). Raises UnknownTurnError."""
        query = "UPDATE turns SET answer = ? WHERE owner = ? AND id = ?"
        with self._connect() as database:
            if not database.execute(query, (answer.model_dump_json(), owner, turn)).rowcount:
                raise UnknownTurnError(turn)

    def reword(self, turn: int, question: str, owner: str = LOCAL) -> None:
        """The reader changed the question of `turn`: its answer and verdict go. Raises UnknownTurnError."""
        query = "UPDATE turns SET question = ?, answer = NULL, verdict = NULL, reason = NULL WHERE owner = ? AND id = ?"
        with self._connect() as database:
            if not database.execute(query, (question, owner, turn)).rowcount:
                raise UnknownTurnError(turn)

    def forget(self, turn: int, owner: str = LOCAL) -> bool:
        """Take one turn out and leave those after it; whether there was such a turn."""
        with self._connect() as database:
            return bool(database.execute("DELETE FROM turns WHERE owner = ? AND id = ?", (owner, turn)).rowcount)

    def rate(self, turn: int, verdict: Verdict | None, reason: str = "", owner: str = LOCAL) -> None:
        """Keep what the reader thought of an answer (None takes it back). Raises UnknownTurnError."""
        query = "UPDATE turns SET verdict = ?, reason = ? WHERE owner = ? AND id = ?"
        with self._connect() as database:
            if not database.execute(query, (verdict, reason.strip()[:LONGEST_REASON], owner, turn)).rowcount:
                raise UnknownTurnError(turn)

    @contextlib.contextmanager
    def _connect(self) -> Iterator[sqlite3.Connection]:
        try:
            with contextlib.closing(sqlite3.connect(self.path, timeout=10)) as database, database:
                yield database
        except sqlite3.Error as error:
            raise ConversationsBrokenError(
                f"对话文件 {str(self.path)!r} 读写失败（{error}）。请检查磁盘和权限，或移走该文件重新开始。 / The file of "
                f"conversations {str(self.path)!r} cannot be used ({error}). Check disk and permissions, or move it away."
            ) from error


def converse(
    answerer: Answerer,
    question: str,
    turns: Sequence[str] = (),
    *,
    store: Conversations,
    thread: str | None = None,
    owner: str = LOCAL,
    started: Callable[[int], None] | None = None,
) -> Generator[Event, None, None]:
    """Ask one question, within `thread` of `owner` where one is given, and keep the turn; `started` is told its id.

    The question is kept as soon as it is asked, so that it also counts as context when the reader stops half-way. This
    is the one place where the page and the API catch broadly; anything that breaks is logged and becomes
    AdviceFailedError.
    """
    answer: Answer | None = None
    try:
        earlier = store.questions(thread, owner=owner) if thread else ()
        turn = store.append(thread, question, None, owner) if thread else None
        if turn is not None and started:
            started(turn)
        try:
            for event in answerer.ask(question, (*earlier, *turns)):
                if isinstance(event, Done):
                    answer = event.answer
                yield event
        finally:
            if turn is not None and answer is not None:
                with contextlib.suppress(UnknownTurnError):  # the conversation was deleted meanwhile
                    store.revise(turn, answer, owner)
        if answer is None:
            raise RuntimeError(f"the advisor ended without an answer to {question!r}")
    except Exception as error:
        _log.exception("no answer to %r", question)
        raise AdviceFailedError from error


def _turn(row: Sequence[Any]) -> Turn:
    number, question, answer, asked_at, verdict, reason = row
    return Turn(
        number, question, Answer.model_validate_json(answer) if answer else None, asked_at, verdict, reason or ""
    )


def _title(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_TITLE else f"{line[: LONGEST_TITLE - 1]}…"
