"""Long work: how far it has come, for whoever watches, and whether several processes may share it."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import TypeAlias, TypeVar

Advance: TypeAlias = Callable[[int], None]
"""To be called with how much more is done."""

Watcher: TypeAlias = Callable[[str, int | None], AbstractContextManager[Advance]]
"""Called with what is done, and how much of it there is if that is known."""

_Job = TypeVar("_Job")
_Done = TypeVar("_Done")

_watcher: ContextVar[Watcher | None] = ContextVar("watcher", default=None)
_prepare: ContextVar[Callable[[], None] | None] = ContextVar("prepare", default=None)


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


@contextmanager
def sharing_work(prepare: Callable[[], None]) -> Iterator[None]:
    """Let other processes take a part of the work inside; each of them calls `prepare` first.

    Only a program may say so: a process starts anew, and would run a script again that called it.
    """
    before = _prepare.set(prepare)
    try:
        yield
    finally:
        _prepare.reset(before)


def shared_work(work: Callable[[_Job], _Done], jobs: Sequence[_Job]) -> list[_Done]:
    """What `work`, a function of some module, makes of each job; in several processes where that is allowed.

    Other processes begin with the first jobs and this one with the last, so give the largest first.
    """
    prepare, others = _prepare.get(), min(_cores(), len(jobs)) - 1
    if prepare is None or others < 1:
        return [work(job) for job in jobs]
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    pool = ProcessPoolExecutor(others, get_context("spawn"), prepare)
    try:
        given = [pool.submit(work, job) for job in jobs]
        own = {place: work(jobs[place]) for place in reversed(range(len(jobs))) if given[place].cancel()}
        for place in range(len(jobs)):
            if place not in own:
                try:
                    own[place] = given[place].result()
                except Exception:  # noqa: BLE001  # whatever it is, here it is said as in one process
                    own[place] = work(jobs[place])
    finally:
        pool.shutdown(cancel_futures=True)
    return [own[place] for place in range(len(jobs))]


def _cores() -> int:
    """How many processes may run at the same time."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


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
