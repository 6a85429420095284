"""A limit on requests per second."""

from __future__ import annotations

import threading
import time


class RateLimiter:
    """A thread-safe limit on requests per second; a pause that a service requests applies to all threads.

    `max_rate`: maximal number of requests per second; None for no limit.
    """

    def __init__(self, max_rate: float | None = None) -> None:
        self._gap = 0.0 if max_rate is None else 1.0 / max_rate
        self._next = 0.0
        self._lock = threading.Lock()

    def reserve(self) -> float:
        """Reserve the next free time slot and return the seconds to wait until it starts, without waiting."""
        with self._lock:
            now = time.monotonic()
            start = max(now, self._next)
            if self._gap or self._next > now:
                self._next = start + self._gap
            return start - now

    def delay_all(self, seconds: float) -> None:
        """Let no further request start within the next `seconds`."""
        with self._lock:
            self._next = max(self._next, time.monotonic() + seconds)
