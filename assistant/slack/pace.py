"""How often something may be done: so many at once, then one every so many seconds. It neither sleeps nor reads clocks."""

from __future__ import annotations

import threading


class Pace:
    """Places in time: `burst` at once, and one more every `seconds`. `now` is in seconds, of any one clock."""

    def __init__(self, seconds: float, burst: int) -> None:
        self._seconds = seconds
        self._burst = burst
        self._lock = threading.Lock()
        self._used_until = 0.0  # when the places taken are made up for

    def take(self, now: float) -> bool:
        """Take a place if one is free now."""
        with self._lock:
            used_until = max(now, self._used_until) + self._seconds
            if used_until - self._burst * self._seconds > now:
                return False
            self._used_until = used_until
            return True

    def reserve(self, now: float) -> float:
        """Take the next place; the seconds until it comes."""
        with self._lock:
            self._used_until = max(now, self._used_until) + self._seconds
            return max(0.0, self._used_until - self._burst * self._seconds - now)

    def is_idle(self, now: float) -> bool:
        """Whether nothing of it is used, so that it may be forgotten."""
        return self._used_until <= now
