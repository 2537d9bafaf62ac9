"""Jobs of one conversation in order, of different ones side by side."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator

import pytest

from assistant.slack.thread_order import ThreadOrder

LONG = 20.0  # seconds that no wait here takes unless something is broken
LOGGER = logging.getLogger("test_slack_order")


@pytest.fixture
def order() -> Iterator[ThreadOrder]:
    made = ThreadOrder(4, logger=LOGGER)
    yield made
    made.close(LONG)


def test_jobs_of_a_conversation_run_in_the_order_they_came(order: ThreadOrder) -> None:
    ran: list[tuple[str, int]] = []
    for number in range(200):
        order.submit(f"C{number % 3}", lambda number=number: ran.append((f"C{number % 3}", number)))
    assert order.close(LONG)
    for key in ("C0", "C1", "C2"):
        numbers = [number for at, number in ran if at == key]
        assert numbers == sorted(numbers)
    assert len(ran) == 200


def test_one_conversation_never_runs_two_jobs_at_once(order: ThreadOrder) -> None:
    running, met = threading.Lock(), []

    def job() -> None:
        met.append(running.acquire(blocking=False))
        threading.Event().wait(0.002)
        running.release()

    for _ in range(20):
        order.submit("C1", job)
    order.close(LONG)
    assert met == [True] * 20


def test_different_conversations_run_side_by_side(order: ThreadOrder) -> None:
    together = threading.Barrier(4, timeout=LONG)
    for key in "ABCD":
        order.submit(key, together.wait)
    assert order.close(LONG)
    assert not together.broken


def test_a_busy_conversation_does_not_starve_the_others() -> None:
    order, ran = ThreadOrder(1, logger=LOGGER), []
    may_start = threading.Event()
    order.submit("busy", lambda: may_start.wait(LONG))
    for number in range(3):
        order.submit("busy", lambda number=number: ran.append(number))
    order.submit("other", lambda: ran.append("other"))
    may_start.set()
    order.close(LONG)
    assert ran == ["other", 0, 1, 2]


def test_a_job_that_raises_is_logged_and_blocks_nothing(order: ThreadOrder, caplog: pytest.LogCaptureFixture) -> None:
    ran: list[int] = []

    def broken() -> None:
        raise RuntimeError("no such channel")

    for _ in range(10):  # more than there are workers
        order.submit("C1", broken)
    order.submit("C1", lambda: ran.append(1))
    assert order.close(LONG)
    assert ran == [1]
    assert [record.name for record in caplog.records] == [LOGGER.name] * 10
    assert "no such channel" in caplog.text


def test_a_conversation_without_jobs_takes_no_memory(order: ThreadOrder) -> None:
    for number in range(100):
        order.submit(f"C{number}", lambda: None)
    order.close(LONG)
    assert not order._waiting


def test_a_job_may_submit_another(order: ThreadOrder) -> None:
    done = threading.Event()
    order.submit("C1", lambda: order.submit("C1", done.set))
    assert done.wait(LONG)


def test_a_closed_order_takes_no_more(order: ThreadOrder) -> None:
    order.close(LONG)
    assert order.submit("C1", lambda: None) is False
    assert order.close(LONG)  # again, and at once


def test_closing_does_not_wait_for_a_job_that_hangs() -> None:
    order, hangs, ran = ThreadOrder(1, logger=LOGGER), threading.Event(), []
    started = threading.Event()
    order.submit("C1", lambda: (started.set(), hangs.wait(LONG)))
    order.submit("C1", lambda: ran.append("same"))
    order.submit("C2", lambda: ran.append("other"))
    assert started.wait(LONG)
    assert order.close(0.01) is False
    hangs.set()
    for worker in order._workers:
        worker.join(LONG)
        assert not worker.is_alive()
    assert ran == []
