"""How often somebody may ask or try a password, and how many questions are answered at the same time.

Counts in memory, so it starts anew with the server. Setting: GPU_ADVISOR_QUESTIONS_PER_MINUTE. Errors: RateSettingError.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping
from functools import cache
from ipaddress import IPv6Address, ip_network

from limits import RateLimitItem, RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

from assistant.accounts import LOCAL_USER, User
from assistant.proxies import Address

QUESTIONS_PER_MINUTE = "GPU_ADVISOR_QUESTIONS_PER_MINUTE"
USUAL_QUESTIONS = 60
MOST_AT_ONCE = 32

_WINDOW_MINUTES = 5
# Of one name from one address; of one address, behind which many may sit; of one name from everywhere.
_PER_BOTH = RateLimitItemPerMinute(5, _WINDOW_MINUTES, namespace="login-both")
_PER_ADDRESS = RateLimitItemPerMinute(30, _WINDOW_MINUTES, namespace="login-address")
_PER_NAME = RateLimitItemPerMinute(60, _WINDOW_MINUTES, namespace="login-name")


class RateSettingError(Exception):
    """GPU_ADVISOR_QUESTIONS_PER_MINUTE is no number that can be used."""


class QuestionRate:
    """So many questions in any minute for each user who has logged in; whoever sits at this machine is not limited."""

    def __init__(self, per_minute: int) -> None:
        self._item = RateLimitItemPerMinute(per_minute, namespace="question")
        self._limiter = MovingWindowRateLimiter(MemoryStorage())

    def allow(self, user: User) -> float | None:
        """None, and the question counts; or the seconds until the next may be asked."""
        if user == LOCAL_USER or self._limiter.hit(self._item, user.name):
            return None
        return _wait(self._limiter, self._item, user.name)


def allow_question(user: User) -> float | None:
    """None where `user` may ask now (it is counted), else the seconds to wait: one count for the page and the API."""
    return _question_rate().allow(user)


def questions_per_minute(environment: Mapping[str, str]) -> int:
    """The setting. Raises RateSettingError."""
    text = environment.get(QUESTIONS_PER_MINUTE, "").strip()
    if not text:
        return USUAL_QUESTIONS
    if not (text.isascii() and text.isdigit() and len(text) <= 6 and int(text)):
        raise RateSettingError(
            f"{QUESTIONS_PER_MINUTE}={text!r} 不是 1 到 999999 的整数。去掉它则为 {USUAL_QUESTIONS}。 / "
            f"{QUESTIONS_PER_MINUTE}={text!r} is no whole number from 1 to 999999. Without it, {USUAL_QUESTIONS} apply."
        )
    return int(text)


class LoginAttempts:
    """How often a password may be tried: per name and address, per address, and per name."""

    def __init__(self) -> None:
        self._limiter = MovingWindowRateLimiter(MemoryStorage())

    def allow(self, address: Address | None, name: str) -> float | None:
        """None, and the attempt counts before its outcome is known; or the seconds until the next may be made."""
        for item, key in self._counts(address, name):
            if not self._limiter.hit(item, *key):
                return _wait(self._limiter, item, *key)
        return None

    def succeeded(self, address: Address | None, name: str) -> None:
        """The password was right: what counted against this name from here is forgotten."""
        item, key = self._counts(address, name)[-1]
        self._limiter.clear(item, *key)

    @staticmethod
    def _counts(address: Address | None, name: str) -> list[tuple[RateLimitItem, tuple[str, ...]]]:
        network = _network(address)
        short = name[:64]
        return [(_PER_ADDRESS, (network,)), (_PER_NAME, (short,)), (_PER_BOTH, (network, short))]


class AnswerSlots:
    """At most so many questions are answered at the same time."""

    def __init__(self, most: int = MOST_AT_ONCE) -> None:
        self._free = threading.BoundedSemaphore(most)

    def take(self) -> bool:
        """Whether there was a free one, which is now taken."""
        return self._free.acquire(blocking=False)

    def give_back(self) -> None:
        """Free one that was taken."""
        self._free.release()


@cache
def _question_rate() -> QuestionRate:
    return QuestionRate(questions_per_minute(os.environ))


def _wait(limiter: MovingWindowRateLimiter, item: RateLimitItem, *key: str) -> float:
    return max(0.0, limiter.get_window_stats(item, *key).reset_time - time.time())


def _network(address: Address | None) -> str:
    """An address; of IPv6 its /64, since whoever has one has them all."""
    if isinstance(address, IPv6Address):
        return str(ip_network(f"{address}/64", strict=False))
    return str(address)
