"""Long work and how far it has come, for whoever watches; where nobody does, it costs nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
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
