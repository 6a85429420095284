"""Times and what work takes: medians, percentiles, CPU seconds and memory."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np


@dataclass(frozen=True, slots=True)
class TimeSummary:
    """Seconds per document: their middle and their tail."""

    documents: int
    total: float
    mean: float
    median: float
    p90: float
    p95: float
    p99: float

    @classmethod
    def of(cls, seconds: Sequence[float]) -> TimeSummary | None:
        """Of some times, None of none."""
        if not seconds:
            return None
        found = np.asarray(seconds, np.float64)
        middle = np.percentile(found, [50, 90, 95, 99]).tolist()
        return cls(len(found), float(found.sum()), float(found.mean()), *middle)


@dataclass(frozen=True, slots=True)
class Usage:
    """CPU seconds of this process and of those that it started and that ended, and the peak of memory in bytes.

    What the system says of the memory of ended processes includes the one that started them, and is not taken.
    """

    cpu: float = 0.0
    child_cpu: float = 0.0
    peak: int = 0

    def __sub__(self, before: Usage) -> Usage:
        """What was used since then; a peak that was there before says nothing, and is 0."""
        own = self.peak if self.peak != before.peak else 0
        return Usage(self.cpu - before.cpu, self.child_cpu - before.child_cpu, own)


def begin() -> Usage:
    """What was used so far, with the peak of this process begun anew where the system can (Linux)."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return used()
    return replace(used(), peak=-1)


def used() -> Usage:
    """What was used so far; nothing is known on Windows."""
    if sys.platform == "win32":
        return Usage()
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    own, child = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return Usage(
        own.ru_utime + own.ru_stime,
        child.ru_utime + child.ru_stime,
        peak_of() or own.ru_maxrss * unit,
    )


def peak_of(process: int | str = "self") -> int:
    """The most memory that a process held, this one since it was begun anew, as Linux says; else 0."""
    try:
        lines = Path(f"/proc/{process}/status").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return 0
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM:")), 0)
