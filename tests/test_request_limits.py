"""How often one may ask, and how often a password may be tried."""

from __future__ import annotations

import time
from collections.abc import Callable
from ipaddress import ip_address

import pytest

from assistant import request_limits
from assistant.accounts import LOCAL_USER, User
from assistant.request_limits import AnswerSlots, LoginAttempts, QuestionRate, allow_question

ANNA, BOB = User("anna", "admin"), User("bob", "reader")
HERE, THERE = ip_address("203.0.113.1"), ip_address("203.0.113.2")


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Lets time pass without waiting."""
    now = time.time()
    passed = [0.0]
    monkeypatch.setattr(time, "time", lambda: now + passed[0])

    def pass_seconds(seconds: float) -> None:
        passed[0] += seconds

    return pass_seconds


def test_each_user_has_so_many_questions_in_any_minute(later: Callable[[float], None]) -> None:
    rate = QuestionRate(3)
    assert [rate.allow(ANNA) for _ in range(2)] == [None] * 2
    later(40)
    assert rate.allow(ANNA) is None
    wait = rate.allow(ANNA)
    assert wait == pytest.approx(20, abs=1)
    assert rate.allow(BOB) is None  # another's questions do not count
    later(21)
    assert [rate.allow(ANNA), rate.allow(ANNA)] == [None, None]  # the two old ones have gone, the third has not
    assert rate.allow(ANNA) is not None


def test_a_refused_question_does_not_count() -> None:
    rate = QuestionRate(1)
    rate.allow(ANNA)
    waits = [rate.allow(ANNA) for _ in range(5)]
    assert max(wait or 999 for wait in waits) <= 60


def test_an_admin_is_limited_too_and_whoever_sits_here_is_not() -> None:
    rate = QuestionRate(1)
    assert [rate.allow(LOCAL_USER) for _ in range(5)] == [None] * 5
    assert rate.allow(ANNA) is None
    assert rate.allow(ANNA) is not None


def test_page_and_api_share_one_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPU_ADVISOR_QUESTIONS_PER_MINUTE", "2")
    request_limits._question_rate.cache_clear()
    assert [allow_question(ANNA), allow_question(ANNA)] == [None, None]
    assert allow_question(ANNA)
    request_limits._question_rate.cache_clear()


def test_five_attempts_for_a_name_from_one_address_then_a_wait(later: Callable[[float], None]) -> None:
    attempts = LoginAttempts()
    assert [attempts.allow(HERE, "anna") for _ in range(5)] == [None] * 5
    assert attempts.allow(HERE, "anna") == pytest.approx(300, abs=2)
    assert attempts.allow(HERE, "bob") is None
    assert attempts.allow(THERE, "anna") is None  # the true Anna, elsewhere, is not locked out
    later(301)
    assert attempts.allow(HERE, "anna") is None


def test_one_address_cannot_try_many_names() -> None:
    attempts = LoginAttempts()
    allowed = [attempts.allow(HERE, f"user{number}") is None for number in range(40)]
    assert allowed == [True] * 30 + [False] * 10


def test_an_ipv6_network_counts_as_one_address() -> None:
    attempts = LoginAttempts()
    allowed = [attempts.allow(ip_address(f"2001:db8::{number:x}"), f"user{number}") is None for number in range(1, 41)]
    assert sum(allowed) == 30
    assert attempts.allow(ip_address("2001:db8:0:1::1"), "anna") is None


def test_many_addresses_cannot_try_one_name_for_ever() -> None:
    attempts = LoginAttempts()
    allowed = [attempts.allow(ip_address(f"198.51.100.{number}"), "anna") is None for number in range(1, 80)]
    assert sum(allowed) == 60


def test_the_right_password_forgets_the_wrong_ones_of_that_name_only() -> None:
    attempts = LoginAttempts()
    for _ in range(5):
        attempts.allow(HERE, "anna")
    for _ in range(5):
        attempts.allow(HERE, "bob")
    attempts.succeeded(HERE, "anna")
    assert attempts.allow(HERE, "anna") is None
    assert attempts.allow(HERE, "bob") is not None


def test_only_so_many_answers_at_once() -> None:
    slots = AnswerSlots(2)
    assert [slots.take() for _ in range(3)] == [True, True, False]
    slots.give_back()
    assert [slots.take(), slots.take()] == [True, False]
