"""A line on standard error that says what takes so long: on a terminal only, and only after a second."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from shutil import get_terminal_size
from typing import TextIO

from karat.printable import shown
from karat.work import Advance, watched_by

_PATIENCE = 1.0  # seconds before anything is shown
_STEP = 0.1  # seconds between two looks
_RATED = 2.0  # seconds before a rate says anything


def _time(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


@dataclass(slots=True)
class _Work:
    """One of the things that are under way."""

    what: str
    total: int | None
    began: float = field(default_factory=time.monotonic)
    done: int = 0

    def __str__(self) -> str:
        took = time.monotonic() - self.began
        if not self.done:
            return f"{shown(self.what)}: {took:.0f} s"
        if not self.total or took < _RATED:
            return f"{shown(self.what)}: {self.done:,}{f' of {self.total:,}' if self.total else ''}"
        rate = self.done / took
        left = max(0, self.total - self.done) / rate
        speed = f"{rate:,.0f}" if rate >= 10 else f"{rate:.2g}"
        return f"{shown(self.what)}: {self.done:,} of {self.total:,}, {speed} a second, {_time(left)} left"


class Ticker:
    """What is under way, the innermost last; a thread shows that one, for numbers are made in long calls."""

    def __init__(self, stream: TextIO, patience: float = _PATIENCE) -> None:
        self._stream = stream
        self._from = time.monotonic() + patience
        self._under_way: list[_Work] = []
        self._line = ""
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Watch all work that is done inside."""
        self._thread.start()
        try:
            with watched_by(self.work):
                yield
        finally:
            self._ended.set()
            self._thread.join()
            self.hide()

    @contextmanager
    def work(self, what: str, total: int | None) -> Iterator[Advance]:
        """One piece of work."""
        own = _Work(what, total)
        self._under_way.append(own)

        def advance(more: int) -> None:
            own.done += more

        try:
            yield advance
        finally:
            self._under_way.remove(own)
            if not self._under_way:
                self.hide()

    def hide(self) -> None:
        """Make room for what is printed."""
        with self._lock:
            self._draw("")

    def _watch(self) -> None:
        while not self._ended.wait(_STEP):
            with self._lock:
                if self._under_way and time.monotonic() >= self._from:
                    self._draw(str(self._under_way[-1])[: get_terminal_size().columns - 1])

    def _draw(self, line: str) -> None:
        if line != self._line:
            self._stream.write(f"\r{' ' * len(self._line)}\r{line}")
            self._stream.flush()
            self._line = line


_running: list[Ticker] = []


@contextmanager
def showing_progress() -> Iterator[None]:
    """Show how far long work has come, to people who look."""
    if not sys.stderr.isatty():
        yield
        return
    ticker = Ticker(sys.stderr)
    _running.append(ticker)
    try:
        with ticker.running():
            yield
    finally:
        _running.remove(ticker)


def hide_progress() -> None:
    """Make room for what is printed."""
    for ticker in _running:
        ticker.hide()
