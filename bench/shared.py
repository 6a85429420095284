"""Shared parts of the benchmark: its files and the results of measurements.

This module imports only the standard library, so that the process that starts the measurements stays small: on Linux
a child's peak memory is never reported as less than that of the process it was forked from.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple


class Files(NamedTuple):
    """A gold file and a file of predictions."""

    gold: Path
    predictions: Path

    @property
    def is_complete(self) -> bool:
        """Whether both files exist."""
        return self.gold.exists() and self.predictions.exists()

    @property
    def size(self) -> int:
        """The size of both files together, in bytes."""
        return self.gold.stat().st_size + self.predictions.stat().st_size


ESCAPED = "escaped.jsonl"
"""The kind of JSONL whose texts contain many escaped characters."""


def corpus_files(folder: Path, documents: int, kind: str) -> Files:
    """Return the paths of a corpus of `documents` documents; `kind`, such as jsonl or parquet, is their suffix."""
    return Files(folder / f"gold-{documents}.{kind}", folder / f"predictions-{documents}.{kind}")


class Counts(NamedTuple):
    """The counts of one match relation, and the mean F1 of documents."""

    tp: int
    fp: int
    fn: int
    macro_f1: float

    @property
    def micro_f1(self) -> float:
        """The F1 of the summed counts."""
        return 2 * self.tp / (2 * self.tp + self.fp + self.fn)


_PROCESSOR: dict[str, float] = {}
"""The processor seconds of this process by part, which `record_time` stores."""


class Outcome(NamedTuple):
    """The report of a measured process: seconds of each part, peak memory in bytes, and counts.

    `size` is the amount of work, in bytes or documents, if the files do not determine it. `processor` holds the
    processor seconds of each part, all threads together, which `record_time` stores for the process.
    """

    seconds: dict[str, float]
    peak_bytes: int
    counts: dict[str, Counts]
    size: int = 0
    processor: dict[str, float] = _PROCESSOR

    @property
    def total(self) -> float:
        """The seconds of all parts together."""
        return sum(self.seconds.values())

    def to_json(self) -> str:
        """Return one line of JSON for the standard output."""
        return json.dumps(self)

    @classmethod
    def from_json(cls, line: str) -> Outcome:
        """Parse a line that `to_json` wrote."""
        seconds, peak_bytes, counts, size, processor = json.loads(line)
        return cls(seconds, peak_bytes, {name: Counts(*values) for name, values in counts.items()}, size, processor)


@contextmanager
def record_time(seconds: dict[str, float], part: str) -> Iterator[None]:
    """Store the elapsed seconds of the context in `seconds` under `part`, and its processor seconds for the process.

    Of several contexts with the same `part`, the last elapsed and the least processor seconds count.
    """
    begin, worked = time.perf_counter(), time.process_time()
    yield
    seconds[part] = time.perf_counter() - begin
    _PROCESSOR[part] = min(_PROCESSOR.get(part, math.inf), time.process_time() - worked)


def subtract_time(seconds: dict[str, float], part: str, other: str) -> None:
    """Subtract the seconds of `other` from those of `part`, in `seconds` and in the processor seconds of the process.

    This gives the extra time of a first run (`part`) over a later one (`other`), at least 0.
    """
    for taken in (seconds, _PROCESSOR):
        taken[part] = max(taken[part] - taken[other], 0.0)


class EvaluationCost(NamedTuple):
    """The processor seconds of evaluating a linker on a benchmark.

    `name`: name of the file.
    `documents`: number of documents.
    `items`: number of labels and predictions.
    `load`, `tokenise`: seconds of loading and tokenising.
    `first`, `best`: seconds of the first evaluation after loading, and of the fastest.
    """

    name: str
    documents: int
    items: int
    load: float
    tokenise: float
    first: float
    best: float
