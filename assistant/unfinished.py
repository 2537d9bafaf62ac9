"""What was shown of the answers that have none in the store: being written, stopped by the reader, or failed.

Kept in memory and bounded: after a restart such a turn is only known as unanswered. Renders nothing.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable
from typing import Literal

State = Literal["running", "stopped", "failed"]
MOST_KEPT = 200


class UnfinishedReply:
    """One such answer: the window that asked, and what was shown of it last."""

    def __init__(self, window: str, shown: str) -> None:
        self.window = window
        self.shown = shown
        self.state: State = "running"

    def show(self, shown: str) -> None:
        """Keep what is shown; of one that was stopped what was seen stays."""
        if self.state == "running":
            self.shown = shown


class UnfinishedReplies:
    """Unfinished answers, by the id of their turn as soon as that is known; threads may share one object."""

    def __init__(self) -> None:
        self._known: OrderedDict[int, UnfinishedReply] = OrderedDict()
        self._running: list[UnfinishedReply] = []
        self._lock = threading.Lock()

    def begin(self, window: str, shown: str) -> UnfinishedReply:
        """An answer that `window` now waits for."""
        reply = UnfinishedReply(window, shown)
        with self._lock:
            self._running.append(reply)
        return reply

    def keep(self, turn: int, reply: UnfinishedReply) -> None:
        """The id of the answer's turn is known now (also where it was stopped before that)."""
        with self._lock:
            self._known[turn] = reply
            while len(self._known) > MOST_KEPT:
                self._known.popitem(last=False)

    def end(self, reply: UnfinishedReply, state: State) -> None:
        """The answer was stopped or failed; one that has ended already keeps how it ended."""
        with self._lock:
            if reply in self._running:
                self._running.remove(reply)
                reply.state = state

    def drop(self, reply: UnfinishedReply) -> None:
        """The answer is in the store now."""
        with self._lock:
            for turn in [turn for turn, known in self._known.items() if known is reply]:
                del self._known[turn]

    def stop_window(self, window: str) -> None:
        """All that this window had running was stopped."""
        with self._lock:
            running = [reply for reply in self._running if reply.window == window]
        for reply in running:
            self.end(reply, "stopped")

    def of(self, turns: Iterable[int]) -> dict[int, UnfinishedReply]:
        """What is known of these turns."""
        with self._lock:
            return {turn: self._known[turn] for turn in turns if turn in self._known}

    def is_running(self, window: str) -> bool:
        """Whether this window waits for an answer."""
        with self._lock:
            return any(reply.window == window for reply in self._running)
