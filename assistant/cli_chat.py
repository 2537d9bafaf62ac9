"""The command `chat`: a conversation in the terminal, through the running server or with an advisor opened here.

Reads lines, with line editing where a person types, and keeps the log out of the conversation. What happens with a
line stands in chat.py.
"""

from __future__ import annotations

import io
import logging
import re
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from assistant.cli_errors import fail, index_progress, said_plainly

if TYPE_CHECKING:
    from assistant.advisor import Advisor
    from assistant.conversations import Conversations
    from assistant.evidence import Event
    from assistant.owner import Ownership

PROMPT = "> "
THREAD = re.compile(r"[\w.-]{1,64}")  # what the HTTP API takes
OPENING = "正在打开知识库…… / Opening the knowledge base ..."


def chat(
    thread: Annotated[str, typer.Option(help="接着这段对话 / go on with the conversation of this id")] = "",
) -> None:
    """Talk in the terminal; or, from a pipe, answer line by line."""
    if thread and not THREAD.fullmatch(thread):
        fail(
            f"--thread 只能有字母、数字和 . _ -，至多 64 个 / takes letters, digits and . _ - only, 64 at most: {thread!r}"
        )
    from assistant.chat import Chat
    from assistant.conversations import Conversations
    from knowledge.weights import home

    interactive = sys.stdin.isatty() and sys.stdout.isatty()
    with said_plainly(), _logged_to_file():
        store = Conversations(home() / "conversations.sqlite")
        source = AnswerSource(store, warm_up=interactive)
        try:
            source.open(said=interactive)
            talk = Chat(source.ask, store, _write, thread=thread, interactive=interactive)
            talk.run(_typed_lines(talk.earlier_questions) if interactive else _piped_lines())
        finally:
            source.close()


class AnswerSource:
    """Answers of the running server; where none runs, of an advisor opened here and kept open until close()."""

    def __init__(self, store: Conversations, *, warm_up: bool = False) -> None:
        self._store = store
        self._warm_up = warm_up
        self._advisor: Advisor | None = None
        self._ownership: Ownership | None = None

    def open(self, *, said: bool = False) -> None:
        """Open an advisor unless a server runs; `said`: tell on standard error that this takes a while.

        Raises owner.IndexOwnedError and what opening the advisor raises.
        """
        from assistant.owner import acquire, current_owner

        owner = current_owner()
        if self._advisor or (owner and owner.url):
            return
        self._ownership = acquire(command="gpu-advisor chat")
        if said:
            typer.echo(OPENING, err=True)
        from assistant.advisor import open_advisor

        self._advisor = open_advisor(index_progress)
        if self._warm_up:
            self._advisor.warm_up_later()

    def ask(self, question: str, thread: str) -> Generator[Event, None, None]:
        """The events of one question; a server that has ended meanwhile is replaced by an advisor opened here."""
        from assistant.conversations import converse
        from assistant.owner import current_owner, stream_over_http

        owner = None if self._advisor else current_owner()
        if owner and owner.url:
            yield from stream_over_http(owner, question, (), thread)
            return
        self.open()
        if self._advisor:
            yield from converse(self._advisor, question, (), store=self._store, thread=thread)

    def close(self) -> None:
        """Give the index up, if it was opened here."""
        if self._advisor:
            self._advisor.close()
        if self._ownership:
            self._ownership.close()


def _typed_lines(earlier_questions: Sequence[str]) -> Callable[[], str | None]:
    """Reads what a person types, with line editing and the earlier questions under the arrow keys, where there is readline."""
    try:
        import readline
    except ImportError:  # a Python built without it
        pass
    else:
        for question in earlier_questions:
            readline.add_history(question)
    _replace_broken_bytes()

    def read() -> str | None:
        try:
            return input(PROMPT)
        except EOFError:
            return None

    return read


def _piped_lines() -> Callable[[], str | None]:
    _replace_broken_bytes()
    return lambda: sys.stdin.readline() or None


def _replace_broken_bytes() -> None:
    """Bytes that are no UTF-8 become U+FFFD on the way in and what a terminal cannot show "?" on the way out."""
    for stream in (sys.stdin, sys.stdout):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


@contextmanager
def _logged_to_file() -> Iterator[None]:
    """What is logged goes to logs/chat.log in the state folder: a traceback has no place in a conversation."""
    from knowledge.weights import home

    path = home() / "logs" / "chat.log"
    path.parent.mkdir(parents=True, exist_ok=True)
    handler = logging.FileHandler(path, encoding="utf-8", delay=True)
    handler.setLevel(logging.WARNING)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.getLogger().addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(handler)
        handler.close()
