"""Progress reports of long work, and its distribution over processes."""

from __future__ import annotations

import gc
import os
import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import TypeAlias, TypeVar

Advance: TypeAlias = Callable[[int], None]
"""A function to call with the amount of work done since the last call."""

ProgressReporter: TypeAlias = Callable[[str, int | None], AbstractContextManager[Advance]]
"""A function of the task's description and its total amount, if known, that opens a progress display."""

_Job = TypeVar("_Job")
_Done = TypeVar("_Done")

_reporter: ContextVar[ProgressReporter | None] = ContextVar("reporter", default=None)
_prepare: ContextVar[Callable[[], None] | None] = ContextVar("prepare", default=None)


@contextmanager
def report_progress_to(reporter: ProgressReporter) -> Iterator[None]:
    """Open a display with `reporter` for each task that calls `track_progress` in the block."""
    token = _reporter.set(reporter)
    try:
        yield
    finally:
        _reporter.reset(token)


@contextmanager
def track_progress(description: str, total: int | None = None) -> Iterator[Advance]:
    """Report the progress of the block's work; yield a function to call with the amount done since the last call.

    `total` is the whole amount, if known. Without `report_progress_to`, nothing is reported.
    """
    reporter = _reporter.get()
    if reporter is None:
        yield lambda amount: None
        return
    with reporter(description, total) as advance:
        yield advance


@contextmanager
def allow_processes(prepare: Callable[[], None]) -> Iterator[None]:
    """Allow `map_in_processes` in the block to start other processes, each of which calls `prepare` first.

    Only programs may use this, not the library: a new process would run a user's script again.
    """
    token = _prepare.set(prepare)
    try:
        yield
    finally:
        _prepare.reset(token)


def map_in_processes(
    work: Callable[[_Job], _Done],
    jobs: Sequence[_Job],
    report: Callable[[_Job], None] = lambda job: None,
    *,
    set_up: Callable[[], None] | None = None,
) -> list[_Done]:
    """Return `work(job)` for each job, computed in several processes if allowed.

    `work` must be a module-level function; `allow_processes` allows processes. Other processes start with the first
    jobs and this one with the last, so pass the largest first. A job that fails in another process is repeated here,
    so that its error is raised as in one process. `report` is called in this process with each job that is done.
    `set_up` is called once in every other process, before its first job; if it cannot be pickled, there are none.
    """
    prepare, n_processes = _prepare.get(), min(_count_cores(), len(jobs)) - 1
    results: dict[int, _Done] = {}

    def finish(index: int, result: _Done) -> None:
        results[index] = result
        report(jobs[index])

    if prepare is None or n_processes < 1 or not _can_pickle(set_up):
        for index, job in enumerate(jobs):
            finish(index, work(job))
        return [results[index] for index in range(len(jobs))]
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    pool = ProcessPoolExecutor(n_processes, get_context("spawn"), _set_up_process, (prepare, set_up))
    try:
        futures = [pool.submit(work, job) for job in jobs]
        for index in reversed(range(len(jobs))):
            if futures[index].cancel():
                finish(index, work(jobs[index]))
        for index in range(len(jobs)):
            if index not in results:
                try:
                    result = futures[index].result()
                except Exception:  # noqa: BLE001  # repeat it here, so that the error is raised as in one process
                    result = work(jobs[index])
                finish(index, result)
    finally:
        pool.shutdown(cancel_futures=True)
    return [results[index] for index in range(len(jobs))]


def _set_up_process(prepare: Callable[[], None], set_up: Callable[[], None] | None) -> None:
    """Prepare another process for its jobs."""
    prepare()
    if set_up is not None:
        set_up()


def _can_pickle(value: object) -> bool:
    """Return whether another process can get a value; knowledge bases of users may have no pickled form."""
    try:
        pickle.dumps(value)
    except (pickle.PicklingError, TypeError, AttributeError):
        return False
    return True


def _count_cores() -> int:
    """Return the number of CPU cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _CollectionPause:
    """The number of active blocks that pause garbage collection, and whether it was enabled before the first."""

    lock = Lock()
    count = 0
    was_enabled = False


@contextmanager
def pause_garbage_collection() -> Iterator[None]:
    """Pause Python's cyclic garbage collection, in all threads, while the block creates many objects.

    Blocks may be nested or concurrent; the last one to end resumes collection if it was enabled before.
    """
    with _CollectionPause.lock:
        if not _CollectionPause.count:
            _CollectionPause.was_enabled = gc.isenabled()
            gc.disable()
        _CollectionPause.count += 1
    try:
        yield
    finally:
        with _CollectionPause.lock:
            _CollectionPause.count -= 1
            if not _CollectionPause.count and _CollectionPause.was_enabled:
                gc.enable()
