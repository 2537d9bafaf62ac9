"""How commands end when something is wrong: with the error's own sentence on standard error, not with a traceback.

Which errors those are is listed here; anything else is a fault of ours and rises.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import typer


@contextmanager
def said_plainly() -> Iterator[None]:
    """What the user or operator can mend ends the command with its own message."""
    from assistant.batch import BatchError
    from assistant.conversations import AdviceFailedError
    from assistant.owner import OwnerError
    from knowledge.embedding import EmbeddingModelError
    from knowledge.generation import KnowledgeIndexError
    from knowledge.library import LibraryBrokenError, UnknownDocumentError
    from knowledge.offer_store import SnapshotBrokenError
    from knowledge.own_cards import OwnCardsBrokenError
    from knowledge.reranking import RerankerError
    from knowledge.weights import WeightsUnavailableError

    plain = (
        BatchError,
        OwnerError,
        EmbeddingModelError,
        KnowledgeIndexError,
        LibraryBrokenError,
        UnknownDocumentError,
        SnapshotBrokenError,
        OwnCardsBrokenError,
        RerankerError,
        WeightsUnavailableError,
    )
    try:
        yield
    except AdviceFailedError as error:
        fail(f"{error}\n{error.__cause__}" if isinstance(error.__cause__, plain) else str(error))
    except plain as error:
        fail(str(error))


def fail(message: str) -> NoReturn:
    """End the command with this message and exit status 1."""
    typer.echo(message, err=True)
    sys.exit(1)


def index_progress(done: int, total: int) -> None:
    """How far the building of the index is, on one line of standard error."""
    typer.echo(f"\r索引 / index {done}/{total}", err=True, nl=done == total)
