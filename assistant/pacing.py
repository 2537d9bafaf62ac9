"""Events of an answer in batches, so that a slow page never holds up the advisor and a stopped one ends it.

Knows threads and clocks; it neither answers nor renders.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from queue import Empty, SimpleQueue

from assistant.conversations import AdviceFailedError
from assistant.evidence import Event

UPDATE_SECONDS = 0.08  # at most 12 updates a second: one per token would starve the process
HEARTBEAT_SECONDS = 1.0  # how soon a silent answer notices that it was stopped

Inbox = SimpleQueue[Event | AdviceFailedError | None]


def paced(events: Iterator[Event]) -> Iterator[list[Event]]:
    """Batches of events, at most one per UPDATE_SECONDS; an empty one whenever HEARTBEAT_SECONDS pass in silence.

    A thread of its own reads the events and closes them once the batches are closed. What the advisor raises is raised
    here.
    """
    inbox: Inbox = SimpleQueue()
    stopped = threading.Event()
    threading.Thread(target=_pump, args=(events, inbox, stopped), name="answer", daemon=True).start()
    try:
        while (batch := _next_batch(inbox)) is not None:
            yield batch
            time.sleep(UPDATE_SECONDS)
    finally:
        stopped.set()


def _pump(events: Iterator[Event], inbox: Inbox, stopped: threading.Event) -> None:
    end: AdviceFailedError | None = None
    try:
        for event in events:
            inbox.put(event)
            if stopped.is_set():
                break
    except AdviceFailedError as failure:
        end = failure
    finally:
        inbox.put(end)


def _next_batch(inbox: Inbox) -> list[Event] | None:
    """All events that lie ready, after waiting for the first; None at the end."""
    batch: list[Event] = []
    while True:
        try:
            item = inbox.get(block=not batch, timeout=HEARTBEAT_SECONDS)
        except Empty:
            return batch
        if item is not None and not isinstance(item, AdviceFailedError):
            batch.append(item)
        elif batch:  # first what came before the end
            inbox.put(item)
            return batch
        elif item is None:
            return None
        else:
            raise item
