"""Conversations: the turns of each thread on disk, and one question asked within one.

Threads live in one SQLite file in WAL mode, so that the page, the HTTP API and the command line can read and write it
side by side. This module does not answer, render or serve anything, and knows nothing of users.
"""

from __future__ import annotations

import contextlib
import logging
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from assistant.evidence import Answer, Bilingual, Done, Event

MAX_QUESTION_CHARACTERS = 2_000
EARLIER_TURNS = 20

SCHEMA_VERSION = 1
_SCHEMA = """
CREATE TABLE IF NOT EXISTS turns (
    id INTEGER PRIMARY KEY,
    thread TEXT NOT NULL,
    asked_at TEXT NOT NULL,
    question TEXT NOT NULL,
    answer TEXT
);
CREATE INDEX IF NOT EXISTS turns_by_thread ON turns (thread, id);
"""

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


@dataclass(frozen=True)
class Turn:
    """One question and its answer; the answer is None when it was stopped or failed."""

    question: str
    answer: Answer | None
    asked_at: str


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
            version = int(database.execute("PRAGMA user_version").fetchone()[0])
            if version > SCHEMA_VERSION:
                raise ConversationsVersionError(
                    f"{str(path)!r} 由更新的版本写入（格式 {version}），请升级 gpu-advisor 或移走该文件。 / "
                    f"{str(path)!r} was written by a newer version (format {version}): upgrade gpu-advisor, "
                    "or move the file away."
                )
            database.executescript(_SCHEMA)
            database.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

    def append(self, thread: str, question: str, answer: Answer | None) -> None:
        """Add one turn at the end of `thread`, which need not exist yet."""
        row = (thread, datetime.now(UTC).isoformat(timespec="seconds"), question, answer and answer.model_dump_json())
        with self._connect() as database:
            database.execute("INSERT INTO turns (thread, asked_at, question, answer) VALUES (?, ?, ?, ?)", row)

    def turns(self, thread: str) -> tuple[Turn, ...]:
        """All turns of `thread`, oldest first; an unknown thread has none."""
        query = "SELECT question, answer, asked_at FROM turns WHERE thread = ? ORDER BY id"
        with self._connect() as database:
            rows = database.execute(query, (thread,)).fetchall()
        return tuple(
            Turn(question, Answer.model_validate_json(answer) if answer else None, asked_at)
            for question, answer, asked_at in rows
        )

    def questions(self, thread: str, limit: int = EARLIER_TURNS) -> tuple[str, ...]:
        """The last `limit` questions of `thread`, oldest first."""
        query = "SELECT question FROM turns WHERE thread = ? ORDER BY id DESC LIMIT ?"
        with self._connect() as database:
            rows = database.execute(query, (thread, limit)).fetchall()
        return tuple(question for (question,) in reversed(rows))

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
    answerer: Answerer, question: str, turns: Sequence[str] = (), *, store: Conversations, thread: str | None = None
) -> Iterator[Event]:
    """Ask one question, within `thread` where one is given, and keep the turn.

    The turn is kept when the reader stops half-way too: what was asked is context for what follows. This is the one
    place where the page and the API catch broadly; anything that breaks is logged and becomes AdviceFailedError.
    """
    answer: Answer | None = None
    try:
        earlier = store.questions(thread) if thread else ()
        try:
            for event in answerer.ask(question, (*earlier, *turns)):
                if isinstance(event, Done):
                    answer = event.answer
                yield event
        finally:
            if thread:
                store.append(thread, question, answer)
        if answer is None:
            raise RuntimeError(f"the advisor ended without an answer to {question!r}")
    except Exception as error:
        _log.exception("no answer to %r", question)
        raise AdviceFailedError from error
