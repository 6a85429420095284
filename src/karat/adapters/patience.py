"""How often something is asked again, how long is waited, and how fast one may ask."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TypeVar

from karat.adapters.telling import tell, tell_time
from karat.errors import FailedError

_T = TypeVar("_T")


class Pace:
    """At most so many questions a second, by however many threads; a service that asks for a pause gets it from all."""

    def __init__(self, rate: float | None = None) -> None:
        self._gap = 0.0 if rate is None else 1.0 / rate
        self._next = 0.0
        self._lock = threading.Lock()

    def turn(self) -> float:
        """The seconds until it is one's turn."""
        with self._lock:
            now = time.monotonic()
            turn = max(now, self._next)
            if self._gap or self._next > now:
                self._next = turn + self._gap
            return turn - now

    def pause(self, seconds: float) -> None:
        """Let nobody ask for some seconds."""
        with self._lock:
            self._next = max(self._next, time.monotonic() + seconds)


@dataclass(frozen=True)
class Patience:
    """How failures are met: `attempts` in all, and between them `wait` seconds, twice as many each time.

    Each wait is shortened by chance by up to a half, so that many who failed together do not come again together. A
    service that asks for more than `longest` seconds is not asked again. `stopped` ends all waiting.
    """

    attempts: int = 4
    wait: float = 1.0
    longest: float = 120.0
    pace: Pace = field(default_factory=Pace)
    stopped: threading.Event = field(default_factory=threading.Event)


_patience: ContextVar[Patience] = ContextVar("patience")


@contextmanager
def with_patience(patience: Patience) -> Iterator[None]:
    """Ask with this patience inside."""
    before = _patience.set(patience)
    try:
        yield
    finally:
        _patience.reset(before)


def patiently(ask: Callable[[], _T]) -> _T:
    """What is answered, by the patience that holds here; the last failure if nothing is."""
    patience = _patience.get(None) or Patience()
    for attempt in range(1, patience.attempts + 1):
        patience.stopped.wait(patience.pace.turn())
        if patience.stopped.is_set():
            break
        began = time.perf_counter()
        try:
            answer = ask()
        except FailedError as problem:
            if not problem.again or attempt == patience.attempts or problem.after > patience.longest:
                raise
            tell("questions asked again")
            if problem.after:
                patience.pace.pause(problem.after)
            patience.stopped.wait(patience.wait * 2 ** (attempt - 1) * random.uniform(0.5, 1.0))
        else:
            tell_time(time.perf_counter() - began)
            return answer
    raise FailedError("not asked: the run was stopped", again=False)
