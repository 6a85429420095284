"""Retries of failed requests."""

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
from karat.systems.adapters.rate_limiter import RateLimiter
from karat.systems.adapters.telemetry import count_event, report_seconds

_T = TypeVar("_T")


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


def call_with_retries(call: Callable[[], _T]) -> _T:
    """Return the result of `call`; after a retryable `ResponseError`, wait and call again.

    The policy of the context decides how often. The last error is raised if all attempts fail. Retries and the
    seconds of the successful call are reported as telemetry. A stopped run raises `ResponseError`.
    """
    policy = _current_policy.get(None) or RetryPolicy()
    for attempt in range(1, policy.attempts + 1):
        policy.stopped.wait(policy.rate_limiter.reserve())
        if policy.stopped.is_set():
            break
        start = time.perf_counter()
        try:
            result = call()
        except ResponseError as problem:
            if not problem.is_retryable or attempt == policy.attempts or problem.retry_after > policy.max_wait:
                raise
            count_event("retried requests")
            if problem.retry_after:
                policy.rate_limiter.delay_all(problem.retry_after)
            policy.stopped.wait(policy.wait * 2 ** (attempt - 1) * random.uniform(0.5, 1.0))
        else:
            report_seconds(time.perf_counter() - start)
            return result
    raise ResponseError("not sent, because the run was stopped", is_retryable=False)
