"""What the parts of the benchmark share: where its files are, and what a measurement says.

Only the standard library is imported here, so that the process that starts the measurements stays small: on Linux
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
    """A gold file and a file of answers."""

    gold: Path
    answers: Path

    @property
    def present(self) -> bool:
        """Whether both are there."""
        return self.gold.exists() and self.answers.exists()

    @property
    def size(self) -> int:
        """Bytes of both together."""
        return self.gold.stat().st_size + self.answers.stat().st_size


ESCAPED = "escaped.jsonl"
"""The kind of JSONL in whose texts many letters are escaped."""


def files(folder: Path, documents: int, kind: str) -> Files:
    """The files of a corpus of so many documents; `kind` is jsonl, `ESCAPED` or parquet."""
    return Files(folder / f"gold-{documents}.{kind}", folder / f"answers-{documents}.{kind}")


class Counts(NamedTuple):
    """What one relation counted, and the mean F1 of documents."""

    tp: int
    fp: int
    fn: int
    macro_f1: float

    @property
    def micro_f1(self) -> float:
        """F1 of the sums."""
        return 2 * self.tp / (2 * self.tp + self.fp + self.fn)


_PROCESSOR: dict[str, float] = {}


class Outcome(NamedTuple):
    """What a measured process reports: seconds of each part, its peak memory, what it counted.

    `size` is how much it had to do, where that is not told by the files: bytes, or documents. `processor` are the
    processor seconds of each part, all threads together, which `timed` notes for the process.
    """

    seconds: dict[str, float]
    peak_bytes: int
    counts: dict[str, Counts]
    size: int = 0
    processor: dict[str, float] = _PROCESSOR

    @property
    def total(self) -> float:
        """Seconds of all parts."""
        return sum(self.seconds.values())

    def to_json(self) -> str:
        """One line for the standard output."""
        return json.dumps(self)

    @classmethod
    def from_json(cls, line: str) -> Outcome:
        """What `to_json` wrote."""
        seconds, peak_bytes, counts, size, processor = json.loads(line)
        return cls(seconds, peak_bytes, {name: Counts(*values) for name, values in counts.items()}, size, processor)


@contextmanager
def timed(seconds: dict[str, float], part: str) -> Iterator[None]:
    """Note under the name of a part how long the block took."""
    begin, worked = time.perf_counter(), time.process_time()
    yield
    seconds[part] = time.perf_counter() - begin
    _PROCESSOR[part] = min(_PROCESSOR.get(part, math.inf), time.process_time() - worked)


def beyond(seconds: dict[str, float], part: str, other: str) -> None:
    """Leave in a part what it took beyond another, such as a first time beyond the next."""
    for taken in (seconds, _PROCESSOR):
        taken[part] = max(taken[part] - taken[other], 0.0)


class Evaluated(NamedTuple):
    """A linker on a benchmark: its documents, its labels and answers, and the processor seconds of each part.

    `first` is the first evaluation after loading, `best` the best of all.
    """

    name: str
    documents: int
    items: int
    load: float
    tokenise: float
    first: float
    best: float
