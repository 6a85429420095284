"""Runtime statistics and resource usage."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np


@dataclass(frozen=True, slots=True)
class TimeSummary:
    """Statistics of seconds per document."""

    n_documents: int
    """The number of documents."""
    total: float
    """The sum."""
    mean: float
    """The mean."""
    median: float
    """The median."""
    p90: float
    """The 90th percentile."""
    p95: float
    """The 95th percentile."""
    p99: float
    """The 99th percentile."""

    @classmethod
    def from_seconds(cls, seconds: Sequence[float]) -> TimeSummary | None:
        """Compute the statistics of the seconds of each document; None if there are none."""
        if not seconds:
            return None
        values = np.asarray(seconds, np.float64)
        percentiles = np.percentile(values, [50, 90, 95, 99]).tolist()
        return cls(len(values), float(values.sum()), float(values.mean()), *percentiles)


@dataclass(frozen=True, slots=True)
class Usage:
    """Resource usage of this process and its finished children."""

    cpu_seconds: float = 0.0
    """CPU seconds of this process."""
    child_cpu_seconds: float = 0.0
    """CPU seconds of finished child processes."""
    peak_bytes: int = 0
    """Peak memory of this process in bytes."""

    def __sub__(self, before: Usage) -> Usage:
        """Return the usage since `before`; a peak that did not change since then is unknown and becomes 0."""
        peak_bytes = self.peak_bytes if self.peak_bytes != before.peak_bytes else 0
        return Usage(
            self.cpu_seconds - before.cpu_seconds, self.child_cpu_seconds - before.child_cpu_seconds, peak_bytes
        )


def start_measurement() -> Usage:
    """Return the usage so far, to be subtracted from a later `get_usage()`; reset the peak memory on Linux.

    The peak is -1 after a reset, so that the later peak always counts.
    """
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return get_usage()
    return replace(get_usage(), peak_bytes=-1)


def get_usage() -> Usage:
    """Return the CPU time and peak memory of this process and its finished children so far; all zeros on Windows."""
    if sys.platform == "win32":
        return Usage()
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    usage, child = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return Usage(
        usage.ru_utime + usage.ru_stime,
        child.ru_utime + child.ru_stime,
        get_peak_memory() or usage.ru_maxrss * unit,
    )


def get_peak_memory(process: int | str = "self") -> int:
    """Return the peak memory of a process (id or `self`) in bytes, as Linux reports it; 0 if unknown."""
    try:
        lines = Path(f"/proc/{process}/status").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return 0
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM:")), 0)
