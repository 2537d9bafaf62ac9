"""What the Slack bot remembers on disk: events taken, questions not yet answered, answers posted, channels' settings.

One SQLite file in WAL mode, shared by the threads of one process through one connection and by processes through
SQLite's locks. What was asked and answered in a conversation is kept in conversations.py, not here; nothing here talks
to Slack.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from assistant.slack.incoming import Question
from assistant.slack.view import ChannelSettings, View

KEPT_SECONDS = 30 * 24 * 3600  # Slack sends an event again for hours at most; threads are followed up for weeks
SWEPT_EVERY_SECONDS = 24 * 3600
ASKED_AGAIN_AT_MOST = 2  # a question that takes the process down must not do so for ever
BUSY_SECONDS = 10

SCHEMA_VERSION = 1
_SCHEMA = (
    # Event ids and messages side by side, so that one statement can take both or neither.
    "CREATE TABLE IF NOT EXISTS seen (name TEXT PRIMARY KEY, at REAL NOT NULL) WITHOUT ROWID",
    "CREATE INDEX IF NOT EXISTS seen_by_age ON seen (at)",
    """CREATE TABLE IF NOT EXISTS pending (
        channel TEXT NOT NULL, ts TEXT NOT NULL, thread TEXT NOT NULL, question TEXT NOT NULL,
        taken_at REAL NOT NULL, asked_again INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (channel, ts))""",
    "CREATE INDEX IF NOT EXISTS pending_by_thread ON pending (thread)",
    """CREATE TABLE IF NOT EXISTS answered (
        channel TEXT NOT NULL, ts TEXT NOT NULL, team TEXT NOT NULL, thread TEXT NOT NULL, user TEXT NOT NULL,
        turn INTEGER NOT NULL, reply_ts TEXT NOT NULL, view TEXT NOT NULL, chart_file TEXT NOT NULL,
        settled INTEGER NOT NULL, kept_at REAL NOT NULL, PRIMARY KEY (channel, ts))""",
    "CREATE INDEX IF NOT EXISTS answered_by_thread ON answered (thread)",
    """CREATE TABLE IF NOT EXISTS replies (
        channel TEXT NOT NULL, reply_ts TEXT NOT NULL, ts TEXT NOT NULL, PRIMARY KEY (channel, reply_ts))""",
    "CREATE INDEX IF NOT EXISTS replies_by_question ON replies (channel, ts)",
    "CREATE TABLE IF NOT EXISTS settings (channel TEXT PRIMARY KEY, settings TEXT NOT NULL)",
)
_ANSWERED = "team, channel, ts, thread, user, turn, reply_ts, view, chart_file, settled"
_KEPT = f"INSERT OR REPLACE INTO answered ({_ANSWERED}, kept_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"

_question_json: TypeAdapter[Question] = TypeAdapter(Question)


class SlackStateVersionError(Exception):
    """The file was written by a newer version of this program."""


class SlackStateBrokenError(Exception):
    """The file cannot be read or written; the message names it and the way out."""


@dataclass(frozen=True)
class Answered:
    """The answer to the message `ts`: its turn in conversations.py and the messages that show it, in order.

    `settled` False: a draft stands there still. `chart_file` is the id of the uploaded picture, "" where there is none.
    """

    team: str
    channel: str
    ts: str
    thread: str
    user: str
    turn: int
    reply_ts: tuple[str, ...]
    view: View
    chart_file: str = ""
    settled: bool = True

    @classmethod
    def to(
        cls, question: Question, turn: int, reply_ts: tuple[str, ...], view: View, chart_file: str = "", *,
        settled: bool = True,
    ) -> Answered:  # fmt: skip
        """The answer to `question`, kept as `turn` and shown by the messages `reply_ts`."""
        at = question
        return cls(at.team, at.channel, at.ts, at.thread, at.user, turn, reply_ts, view, chart_file, settled)

    @property
    def reply_thread_ts(self) -> str | None:
        """The thread in which its messages stand; None for a plain direct message."""
        return None if self.thread == self.channel else self.thread.removeprefix(f"{self.channel}-")

    def shown_as(self, view: View, reply_ts: tuple[str, ...], chart_file: str = "") -> Answered:
        """The same answer, whole now, in another view and by the messages that show it so."""
        return replace(self, view=view, reply_ts=reply_ts, chart_file=chart_file, settled=True)


@dataclass(frozen=True)
class Pending:
    """A question that was taken, at `taken_at` (seconds since 1970), and never settled."""

    question: Question
    taken_at: float


class SlackState:
    """The state file. Threads may share one object; what a method wrote outlives the process once it returned."""

    def __init__(self, path: Path, now: Callable[[], float] = time.time) -> None:
        """Open the file, which is created (mode 0600) where it is missing; `now` gives seconds since 1970.

        Raises SlackStateVersionError for a file of a newer version; every method raises SlackStateBrokenError where the
        file cannot be used.
        """
        self.path = path
        self._now = now
        self._swept_at = now()
        self._lock = threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch(mode=0o600)
            path.chmod(0o600)
        except OSError as error:
            raise self._broken(error) from error
        try:
            self._database = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        except sqlite3.Error as error:
            raise self._broken(error) from error
        try:
            self._prepare()
        except (SlackStateBrokenError, SlackStateVersionError):
            self._database.close()
            raise

    def close(self) -> None:
        """Let go of the file; the object is of no use afterwards."""
        with self._lock:
            self._database.close()

    def first_time(self, event_id: str, channel: str = "", ts: str = "") -> bool:
        """Whether neither this event nor, where one is given, the message `ts` in `channel` was taken before.

        Marks them in the same statement: of callers at the same time one gets True. Edits, deletions and clicks give no
        message, as theirs was taken already; their event's id tells a repeated delivery.
        """
        names = [f"event {event_id}", *([f"message {channel} {ts}"] if ts else [])]
        with self._writing() as database:
            return self._mark(database, names)

    def take(self, question: Question) -> bool:
        """first_time of a question's event and message; where true, it is also remembered as pending until `settle`.

        To be called once it is clear that the question is for the bot: a message that was passed over can then still be
        taken when an edit adds the bot's mention.
        """
        with self._writing() as database:
            if self._now() - self._swept_at > SWEPT_EVERY_SECONDS:
                self._sweep(database)
            names = [f"event {question.event_id}", f"message {question.channel} {question.ts}"]
            if not self._mark(database, names):
                return False
            database.execute(
                "INSERT OR REPLACE INTO pending (channel, ts, thread, question, taken_at) VALUES (?, ?, ?, ?, ?)",
                (question.channel, question.ts, question.thread, _question_json.dump_json(question), self._now()),
            )
        return True

    def settle(self, question: Question) -> None:
        """The question was answered, or its failure told: it need not be asked again after a restart."""
        with self._writing() as database:
            database.execute("DELETE FROM pending WHERE channel = ? AND ts = ?", (question.channel, question.ts))

    def unsettled(self, since_seconds: float) -> tuple[Pending, ...]:
        """Questions taken within the last `since_seconds` and never settled, oldest first: those to ask again at start.

        Each is handed out at most ASKED_AGAIN_AT_MOST times, as it may be the very question that ends the process.
        """
        oldest = self._now() - since_seconds
        due = "taken_at >= ? AND asked_again < ?"
        with self._writing() as database:
            rows = database.execute(
                f"SELECT question, taken_at FROM pending WHERE {due} ORDER BY taken_at, ts",
                (oldest, ASKED_AGAIN_AT_MOST),
            ).fetchall()
            database.execute(
                f"UPDATE pending SET asked_again = asked_again + 1 WHERE {due}", (oldest, ASKED_AGAIN_AT_MOST)
            )
        with self._readable():
            return tuple(Pending(_question_json.validate_json(question), taken_at) for question, taken_at in rows)

    def knows_thread(self, thread: str) -> bool:
        """Whether the bot answered, or is about to, within the conversation `thread`."""
        query = "SELECT EXISTS (SELECT 1 FROM answered WHERE thread = ?1) OR EXISTS (SELECT 1 FROM pending WHERE thread = ?1)"
        return bool(self._one(query, (thread,))[0])

    def keep(self, answered: Answered) -> None:
        """Remember what shows the answer of a question, in place of what did before; a settled one is also settled."""
        view, replies = answered.view.model_dump_json(), json.dumps(answered.reply_ts)
        at, key = answered, (answered.channel, answered.ts)
        with self._writing() as database:
            database.execute("DELETE FROM replies WHERE channel = ? AND ts = ?", key)
            database.execute(
                _KEPT,
                (at.team, *key, at.thread, at.user, at.turn, replies, view, at.chart_file, at.settled, self._now()),
            )
            database.executemany(
                "INSERT OR REPLACE INTO replies VALUES (?, ?, ?)", [(at.channel, reply, at.ts) for reply in at.reply_ts]
            )
            if answered.settled:
                database.execute("DELETE FROM pending WHERE channel = ? AND ts = ?", key)

    def answered(self, channel: str, ts: str) -> Answered | None:
        """What shows the answer to the message `ts`, or None."""
        return self._answered(f"SELECT {_ANSWERED} FROM answered WHERE channel = ? AND ts = ?", (channel, ts))

    def answered_at(self, channel: str, reply_ts: str) -> Answered | None:
        """The answer that the bot's message `reply_ts` shows or is a part of, or None."""
        query = (
            f"SELECT {_ANSWERED} FROM answered WHERE channel = ?1 AND ts = "
            "(SELECT ts FROM replies WHERE channel = ?1 AND reply_ts = ?2)"
        )
        return self._answered(query, (channel, reply_ts))

    def forget(self, channel: str, ts: str) -> None:
        """The message `ts` was deleted: forget its answer, and do not ask it again. Its event stays known."""
        with self._writing() as database:
            for table in ("replies", "answered", "pending"):
                database.execute(f"DELETE FROM {table} WHERE channel = ? AND ts = ?", (channel, ts))

    def settings(self, channel: str) -> ChannelSettings:
        """What the channel wants; the defaults where nothing was saved."""
        row = self._one("SELECT (SELECT settings FROM settings WHERE channel = ?)", (channel,))
        with self._readable():
            return ChannelSettings() if row[0] is None else ChannelSettings.model_validate_json(row[0])

    def save_settings(self, channel: str, settings: ChannelSettings) -> None:
        """Keep what the channel wants; it does not age."""
        with self._writing() as database:
            database.execute("INSERT OR REPLACE INTO settings VALUES (?, ?)", (channel, settings.model_dump_json()))

    def _prepare(self) -> None:
        with self._readable():
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute("PRAGMA synchronous = NORMAL")
        with self._writing() as database:
            version = int(database.execute("PRAGMA user_version").fetchone()[0])
            if version > SCHEMA_VERSION:
                raise SlackStateVersionError(
                    f"{str(self.path)!r} 由更新的版本写入（格式 {version}），请升级 gpu-advisor 或移走该文件。 / "
                    f"{str(self.path)!r} was written by a newer version (format {version}): upgrade gpu-advisor, "
                    "or move the file away."
                )
            for statement in _SCHEMA:
                database.execute(statement)
            database.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            self._sweep(database)

    def _mark(self, database: sqlite3.Connection, names: Sequence[str]) -> bool:
        """Whether all of `names` are new; those that are get marked either way."""
        added = database.executemany(
            "INSERT OR IGNORE INTO seen VALUES (?, ?)", [(name, self._now()) for name in names]
        ).rowcount
        return added == len(names)

    def _sweep(self, database: sqlite3.Connection) -> None:
        oldest = self._now() - KEPT_SECONDS
        database.execute("DELETE FROM seen WHERE at < ?", (oldest,))
        database.execute("DELETE FROM pending WHERE taken_at < ?", (oldest,))
        database.execute("DELETE FROM answered WHERE kept_at < ?", (oldest,))
        database.execute("DELETE FROM replies WHERE (channel, ts) NOT IN (SELECT channel, ts FROM answered)")
        self._swept_at = self._now()

    def _answered(self, query: str, values: Sequence[str]) -> Answered | None:
        with self._readable():
            row = self._database.execute(query, values).fetchone()
            if row is None:
                return None
            team, channel, ts, thread, user, turn, replies, view, chart_file, settled = row
            reply_ts, shown = tuple(json.loads(replies)), View.model_validate_json(view)
        return Answered(team, channel, ts, thread, user, turn, reply_ts, shown, chart_file, bool(settled))

    def _one(self, query: str, values: Sequence[str]) -> Sequence[Any]:
        with self._readable():
            row: Sequence[Any] = self._database.execute(query, values).fetchone()
            return row

    @contextlib.contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction: all of it or none."""
        with self._readable():
            self._database.execute("BEGIN IMMEDIATE")
            try:
                yield self._database
                self._database.execute("COMMIT")
            finally:
                if self._database.in_transaction:  # SQLite ends it by itself after some errors
                    self._database.execute("ROLLBACK")

    @contextlib.contextmanager
    def _readable(self) -> Iterator[None]:
        """Alone with the connection; what SQLite or the kept JSON has against it becomes SlackStateBrokenError."""
        with self._lock:
            try:
                yield
            except (sqlite3.Error, ValidationError, json.JSONDecodeError) as error:
                raise self._broken(error) from error

    def _broken(self, error: Exception) -> SlackStateBrokenError:
        said = str(error).split("\n", 1)[0]
        return SlackStateBrokenError(
            f"Slack 状态文件 {str(self.path)!r} 读写失败（{said}）。请检查磁盘和权限，或移走该文件重新开始。 / The state file "
            f"of Slack {str(self.path)!r} cannot be used ({said}). Check disk and permissions, or move it away."
        )
