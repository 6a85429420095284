"""Long work and how far it has come, for whoever watches; where nobody does, it costs nothing."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import TypeAlias

Advance: TypeAlias = Callable[[int], None]
"""To be called with how much more is done."""

Watcher: TypeAlias = Callable[[str, int | None], AbstractContextManager[Advance]]
"""Called with what is done, and how much of it there is if that is known."""

_watcher: ContextVar[Watcher | None] = ContextVar("watcher", default=None)


@contextmanager
def watched_by(watcher: Watcher) -> Iterator[None]:
    """Tell somebody of all work that is done inside."""
    before = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(before)


@contextmanager
def working(what: str, total: int | None = None) -> Iterator[Advance]:
    """Work that may take long."""
    watcher = _watcher.get()
    if watcher is None:
        yield _unseen
        return
    with watcher(what, total) as advance:
        yield advance


def _unseen(more: int) -> None:
    pass


class _Making:
    """How many are making objects at the moment, and whether garbage was collected before the first of them came."""

    lock = Lock()
    count = 0
    collected = False


@contextmanager
def making_many() -> Iterator[None]:
    """Make many objects, none of which is garbage: Python looks for none meanwhile, whatever other threads do."""
    with _Making.lock:
        if not _Making.count:
            _Making.collected = gc.isenabled()
            gc.disable()
        _Making.count += 1
    try:
        yield
    finally:
        with _Making.lock:
            _Making.count -= 1
            if not _Making.count and _Making.collected:
                gc.enable()
