"""Progress on standard error, on terminals only: a line with a bar after the first second, and bars for large files."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, TextIO

import click

from karat.model.output.control_chars import escape_controls
from karat.model.output.progress import Advance, report_progress_to

if TYPE_CHECKING:
    from click._termui_impl import ProgressBar  # click gives the type no public name

_DELAY = 1.0  # seconds before the line is shown
_INTERVAL = 0.1  # seconds between two updates
_MIN_RATE_TIME = 2.0  # seconds before a rate is meaningful
_BAR_WIDTH = 20  # characters


def _format_time(seconds: float) -> str:
    """Format a duration as text in seconds, minutes or hours, such as `12 min`."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


@dataclass(slots=True)
class _Task:
    """A task in progress: description, amount of work (None if unknown), start time and work done so far."""

    description: str
    total: int | None
    started: float = field(default_factory=time.monotonic)
    done: int = 0

    def __str__(self) -> str:
        """Describe the work done, and after some seconds its rate and the time left."""
        elapsed = time.monotonic() - self.started
        if not self.done:
            return f"{escape_controls(self.description)}: {elapsed:.0f} s"
        if not self.total or elapsed < _MIN_RATE_TIME:
            return f"{escape_controls(self.description)}: {self.done:,}{f' of {self.total:,}' if self.total else ''}"
        rate = self.done / elapsed
        remaining = max(0, self.total - self.done) / rate
        speed = f"{rate:,.0f}" if rate >= 10 else f"{rate:.2g}"
        amount = f"{self.done:,} of {self.total:,}, {speed} a second"
        return f"{escape_controls(self.description)}: {amount}, {_format_time(remaining)} left"

    def draw_bar(self) -> str:
        """Return the work done as a bar; only for tasks whose amount of work is known."""
        filled = _BAR_WIDTH * min(self.done, self.total or 0) // (self.total or 1)
        return f"[{'#' * filled}{'-' * (_BAR_WIDTH - filled)}]"


def _describe_tasks(tasks: Sequence[_Task]) -> str:
    """Return the line for nested tasks, the outermost first."""
    counted, innermost = next((task for task in tasks if task.total), None), tasks[-1]
    if counted is None:
        return str(innermost)
    line = f"{counted.draw_bar()} {counted}"
    return line if counted is innermost else f"{line} · {innermost}"


class ProgressLine:
    """A terminal line on which a background thread shows the tasks in progress; it appears after `delay` seconds.

    The outermost task whose amount of work is known has a bar; the innermost task follows.
    """

    def __init__(self, stream: TextIO, delay: float = _DELAY) -> None:
        self._stream = stream
        self._show_after = time.monotonic() + delay
        self._tasks: list[_Task] = []
        self._line = ""
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._update, daemon=True)

    @contextmanager
    def watch(self) -> Iterator[None]:
        """Start the thread, and show the progress of all tasks that are tracked inside the block."""
        self._thread.start()
        try:
            with report_progress_to(self.track):
                yield
        finally:
            self._stop.set()
            self._thread.join()
            self.hide()

    @contextmanager
    def track(self, description: str, total: int | None) -> Iterator[Advance]:
        """Show a task inside the block; yield a function that adds an amount to the work done.

        `total` is the amount of work, None if unknown.
        """
        task = _Task(description, total)
        self._tasks.append(task)

        def advance(amount: int) -> None:
            task.done += amount

        try:
            yield advance
        finally:
            self._tasks.remove(task)
            if not self._tasks:
                self.hide()

    def hide(self) -> None:
        """Clear the line, so that other output can be printed."""
        with self._lock:
            self._draw("")

    def _update(self) -> None:
        """Redraw the line until the block ends (in the background thread)."""
        while not self._stop.wait(_INTERVAL):
            with self._lock:
                if self._tasks and time.monotonic() >= self._show_after:
                    self._draw(_describe_tasks(self._tasks)[: get_terminal_size().columns - 1])

    def _draw(self, line: str) -> None:
        """Replace the text of the line on the terminal; an empty text clears it."""
        if line != self._line:
            self._stream.write(f"\r{' ' * len(self._line)}\r{line}")
            self._stream.flush()
            self._line = line


_active_lines: list[ProgressLine] = []


@contextmanager
def show_progress() -> Iterator[None]:
    """Show a progress line inside the block, if standard error is a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    line = ProgressLine(sys.stderr)
    _active_lines.append(line)
    try:
        with line.watch():
            yield
    finally:
        _active_lines.remove(line)


def hide_progress() -> None:
    """Clear the progress line, so that other output can be printed; it appears again with the next update."""
    for line in _active_lines:
        line.hide()


@contextmanager
def show_progress_bars() -> Iterator[Callable[[str, int, int | None], None] | None]:
    """Show a progress bar for each file inside the block, if standard error is a terminal.

    Yields the function that updates a bar (path, bytes done, total bytes or None), or None without a terminal.
    """
    if not sys.stderr.isatty():
        yield None
        return
    bars: dict[str, ProgressBar[int]] = {}

    def report(path: str, done: int, total: int | None) -> None:
        if path not in bars and total is not None:
            bars[path] = click.progressbar(length=total, label=Path(path).name, file=sys.stderr)
        if path in bars:
            bars[path].update(done - bars[path].pos)

    try:
        yield report
    finally:
        for bar in bars.values():
            bar.render_finish()
