"""What commands print: text without control characters, and errors as their own sentence instead of a traceback.

Which errors the user or operator can mend is listed here; anything else is a fault of ours and rises.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import typer

# A document or its name may hold escape sequences: C0 and C1 (some terminals obey both), and marks that reorder a line.
_UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@contextmanager
def said_plainly() -> Iterator[None]:
    """What the user or operator can mend ends the command with its own message."""
    try:
        yield
    except plain_errors() as error:
        fail(sentence_of(error))


def plain_errors() -> tuple[type[Exception], ...]:
    """The errors whose message is written for whoever runs the command."""
    from assistant.accounts import AccountsError
    from assistant.batch import BatchError
    from assistant.conversations import AdviceFailedError, ConversationsBrokenError, ConversationsVersionError
    from assistant.owner import OwnerError
    from assistant.passwords import WeakPasswordError
    from assistant.proxies import AccessSettingError
    from assistant.request_limits import RateSettingError
    from assistant.slack.state import SlackStateBrokenError, SlackStateVersionError
    from assistant.slack.tokens import SlackSettingError
    from knowledge.embedding import EmbeddingModelError
    from knowledge.generation import KnowledgeIndexError
    from knowledge.library import LibraryBrokenError, UnknownDocumentError
    from knowledge.offer_store import SnapshotBrokenError
    from knowledge.own_cards import OwnCardsBrokenError
    from knowledge.reranking import RerankerError
    from knowledge.weights import WeightsUnavailableError

    return (
        AccessSettingError,
        AccountsError,
        AdviceFailedError,
        BatchError,
        ConversationsBrokenError,
        ConversationsVersionError,
        OwnerError,
        RateSettingError,
        SlackSettingError,
        SlackStateBrokenError,
        SlackStateVersionError,
        WeakPasswordError,
        EmbeddingModelError,
        KnowledgeIndexError,
        LibraryBrokenError,
        UnknownDocumentError,
        SnapshotBrokenError,
        OwnCardsBrokenError,
        RerankerError,
        WeightsUnavailableError,
    )


def sentence_of(error: Exception) -> str:
    """The message of one of `plain_errors`, with the cause of a failed answer where that can be mended."""
    cause = error.__cause__
    from assistant.conversations import AdviceFailedError

    if isinstance(error, AdviceFailedError) and isinstance(cause, plain_errors()):
        return f"{error}\n{cause}"
    return str(error)


def fail(message: str) -> NoReturn:
    """End the command with this message and exit status 1."""
    typer.echo(for_terminal(message), err=True)
    sys.exit(1)


def say(text: str, *, nl: bool = True) -> None:
    """Print text that may come from a document, a file name or a model."""
    typer.echo(for_terminal(text), nl=nl)


def say_json(text: str) -> None:
    """Print JSON whose strings may hold anything: control characters stand in it as escapes, so nothing is lost."""
    typer.echo(_UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text))


def for_terminal(text: str) -> str:
    """The text with U+FFFD in place of what a terminal would obey; lines and tabs stay."""
    return _UNSAFE.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n").replace("\r", "\n"))


def index_progress(done: int, total: int) -> None:
    """How far the building of the index is, on one line of standard error."""
    typer.echo(f"\r索引 / index {done}/{total}", err=True, nl=done == total)
