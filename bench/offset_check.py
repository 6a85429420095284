"""Cost of the check of offsets, in processor time, on a corpus of 100,000 predictions.

    python bench/offset_check.py

It prints the time of reading and evaluating both files, and the time of the check: for predictions that fit, for
offsets in bytes, and for careless predictions, which no kind of offsets improves.
"""

from __future__ import annotations

import json
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np

import karat
from karat.matching.read.offset_fit import check_offsets
from karat.model.offsets.offset_kinds import OffsetKind
from karat.model.offsets.unit_maps import encode_text, map_units

_T = TypeVar("_T")
_TEXT = "Angela Merkel von Österreich went to the café in Berlin and then Paris “peace” is — possible. Münchner"
_WORDS = tuple(_TEXT.split())
_REPEATS = 5


def measure(job: Callable[[], _T]) -> tuple[float, _T]:
    """Run a job several times, and return its shortest processor time in milliseconds with its last value."""
    best = float("inf")
    for _ in range(_REPEATS):
        start = time.process_time()
        value = job()
        best = min(best, time.process_time() - start)
    return 1000 * best, value


def write_corpus(folder: Path, kind: OffsetKind, *, is_careless: bool) -> tuple[str, str]:
    """Write 4,000 documents with 25 labels and 25 predictions each; offsets of predictions are of `kind`.

    Careless predictions end two characters too early.
    """
    draw = random.Random(1)
    gold, predictions = folder / "gold.jsonl", folder / f"{kind}.jsonl"
    with gold.open("w", encoding="utf-8") as gold_file, predictions.open("w", encoding="utf-8") as prediction_file:
        for number in range(4000):
            words = [draw.choice(_WORDS) for _ in range(200)]
            ends = np.cumsum([len(word) + 1 for word in words]) - 1
            text = " ".join(words)
            units = map_units(encode_text(text), kind)
            rows: tuple[list[dict[str, object]], list[dict[str, object]]] = ([], [])
            for word in sorted(draw.sample(range(200), 25)):
                start, end, entity = int(ends[word]) - len(words[word]), int(ends[word]), f"Q{draw.randint(1, 20000)}"
                first, last = units.to_units(np.array([start, end])).tolist()
                rows[0].append({"start": start, "end": end, "entity": entity})
                if last <= len(text):
                    cut = 2 if is_careless and last > first + 2 else 0
                    rows[1].append({"start": first, "end": last - cut, "entity": entity})
            gold_file.write(json.dumps({"id": str(number), "text": text, "labels": rows[0]}) + "\n")
            prediction_file.write(json.dumps({"id": str(number), "predictions": rows[1]}) + "\n")
    return str(gold), str(predictions)


def measure_kind(folder: Path, kind: OffsetKind, *, is_careless: bool = False) -> str:
    """Return the times for predictions with offsets of `kind`, as one line."""
    gold, predictions = write_corpus(folder, kind, is_careless=is_careless)
    total, _ = measure(lambda: karat.evaluate(karat.load(gold), karat.load_run(predictions)))
    corpus, run = karat.load(gold), karat.load_run(predictions)
    evaluation, _ = measure(lambda: karat.evaluate(corpus, run))
    check, _ = measure(lambda: check_offsets(corpus, run, np.arange(len(run))))
    name = f"{kind}, careless" if is_careless else str(kind)
    return (
        f"{name}: {len(run.predictions):,} predictions; reading and evaluation {total:.0f} ms, evaluation "
        f"{evaluation:.0f} ms; of these, the check {check:.1f} ms ({check / total:.1%} and {check / evaluation:.1%})"
    )


def main() -> None:
    """Print the times."""
    with tempfile.TemporaryDirectory() as folder:
        for kind in (OffsetKind.CODE_POINTS, OffsetKind.BYTES):
            print(measure_kind(Path(folder), kind))
        print(measure_kind(Path(folder), OffsetKind.CODE_POINTS, is_careless=True))


if __name__ == "__main__":
    main()
