"""Work in order: jobs of one conversation one after the other, those of different ones side by side.

It knows nothing of Slack, and keeps nothing: jobs that were not run when the process ends are gone.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue

Job = Callable[[], object]


class ThreadOrder:
    """A pool of `workers` threads. They are daemons: a job that hangs does not keep the process from ending."""

    def __init__(self, workers: int = 8, *, logger: logging.Logger) -> None:
        """Start the threads; what a job raises goes to `logger`."""
        self._logger = logger
        self._waiting: dict[str, deque[Job]] = {}  # of every key with a job that runs or waits; idle keys are not there
        self._changed = threading.Condition()
        self._closed = False
        self._due: SimpleQueue[str | None] = SimpleQueue()  # keys whose next job may start; None ends a worker
        self._workers = [
            threading.Thread(target=self._work, name=f"slack-answers-{number}", daemon=True)
            for number in range(workers)
        ]
        for worker in self._workers:
            worker.start()

    def submit(self, key: str, job: Job) -> bool:
        """Run `job` after all earlier ones of `key`; returns at once. False: closed, the job will not be run."""
        with self._changed:
            if self._closed:
                return False
            if key in self._waiting:
                self._waiting[key].append(job)
            else:
                self._waiting[key] = deque([job])
                self._due.put(key)
        return True

    def close(self, timeout: float) -> bool:
        """Take no more jobs and wait up to `timeout` seconds for those taken; whether all were run.

        Jobs that wait still are dropped then; one that runs is left to itself.
        """
        ends_at = time.monotonic() + timeout
        with self._changed:
            self._closed = True
            done = self._changed.wait_for(lambda: not self._waiting, timeout)
            for jobs in self._waiting.values():
                jobs.clear()
            for _ in self._workers:
                self._due.put(None)
        if done:  # so that no thread of a closed pool is left behind
            for worker in self._workers:
                if worker is not threading.current_thread():
                    worker.join(max(0.0, ends_at - time.monotonic()))
        return done

    def _work(self) -> None:
        while (key := self._due.get()) is not None:
            self._run_next(key)

    def _run_next(self, key: str) -> None:
        """Run the first job of `key`; its next one queues up behind the other keys, so that a busy one starves none."""
        with self._changed:
            jobs = self._waiting[key]
            job = jobs.popleft() if jobs else None
        try:
            if job:
                job()
        except Exception:
            self._logger.exception("a job of %s failed", key)
        finally:
            with self._changed:
                if jobs:
                    self._due.put(key)
                else:
                    del self._waiting[key]
                    self._changed.notify_all()
