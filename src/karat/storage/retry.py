"""Retries of failed requests, with exponential backoff and a limit on requests per second."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TypeVar

from karat.model.errors import ResponseError

_T = TypeVar("_T")


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


@dataclass(frozen=True)
class RetryPolicy:
    """How failed requests are retried, with exponential backoff.

    Each wait is shortened by a random factor of up to one half, so that requests that failed together do not return
    together.

    `attempts`: maximal number of requests.
    `wait`: seconds before the first retry; doubled for each further one.
    `max_wait`: do not retry if the service asks for a longer wait.
    `rate_limiter`: limit on requests per second.
    `stopped`: event that ends all waiting; afterwards no request is sent.
    """

    attempts: int = 4
    wait: float = 1.0
    max_wait: float = 120.0
    rate_limiter: RateLimiter = field(default_factory=RateLimiter)
    stopped: threading.Event = field(default_factory=threading.Event)


_current_policy: ContextVar[RetryPolicy] = ContextVar("retry_policy")


@contextmanager
def use_retry_policy(policy: RetryPolicy) -> Iterator[None]:
    """Let `call_with_retries` use `policy` inside the context."""
    token = _current_policy.set(policy)
    try:
        yield
    finally:
        _current_policy.reset(token)


def call_with_retries(
    call: Callable[[], _T], policy: RetryPolicy | None = None, *, on_retry: Callable[[], None] = lambda: None
) -> _T:
    """Return the result of `call`; after a retryable `ResponseError`, wait and call again.

    `policy`, or else the policy of the context, decides how often. `on_retry` is called before each wait. The last
    error is raised if all attempts fail. A stopped run raises `ResponseError`.
    """
    policy = policy or _current_policy.get(None) or RetryPolicy()
    for attempt in range(1, policy.attempts + 1):
        policy.stopped.wait(policy.rate_limiter.reserve())
        if policy.stopped.is_set():
            break
        try:
            return call()
        except ResponseError as problem:
            if not problem.is_retryable or attempt == policy.attempts or problem.retry_after > policy.max_wait:
                raise
            on_retry()
            if problem.retry_after:
                policy.rate_limiter.delay_all(problem.retry_after)
            policy.stopped.wait(policy.wait * 2 ** (attempt - 1) * random.uniform(0.5, 1.0))
    raise ResponseError("not sent, because the run was stopped", is_retryable=False)
