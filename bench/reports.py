"""A report of many systems on many datasets: `python bench/reports.py [--systems N] [--datasets N] [--documents N]`.

The script writes gold files, and a prediction file with seeded errors for each system on each dataset. It runs `karat
report` on them in a fresh process, and prints processor time and peak memory, also per system and dataset. Further
options are passed to `karat report`, by default `--one-profile --resamples 100`. `--folder` keeps files and report.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

WORDS = ("of", "the", "in", "is", "was", "by", "for", "with", "new", "old", "city", "river", "music", "history", "club")
NAMES = ("Ada", "Bern", "Cork", "Delft", "Elba", "Hull", "Iowa", "Java", "Lima", "Nice", "Oslo", "Pisa", "Riga", "York")
TYPES = ("Q5", "Q515", "Q43229", "Q11424")


def write_lines(path: Path, lines: list[dict[str, Any]]) -> None:
    """Write a file of JSON lines."""
    path.write_text("".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines), encoding="utf-8")


def make_documents(dataset: int, count: int, mentions: int) -> list[dict[str, Any]]:
    """Return the documents of a dataset with text and labels."""
    rng = np.random.default_rng([1, dataset])
    documents = []
    for number in range(count):
        text, labels = "", []
        for _ in range(mentions):
            text += " ".join(rng.choice(WORDS, rng.integers(3, 9)).tolist()) + " "
            surface = " ".join(rng.choice(NAMES, rng.integers(1, 3)).tolist())
            entity = int(rng.zipf(1.3)) % 100_000 + 1
            label = {"start": len(text), "end": len(text) + len(surface), "entity": f"Q{entity}"}
            labels.append(label | {"types": [TYPES[entity % len(TYPES)]]})
            text += surface + (". " if rng.random() < 0.3 else " ")
        documents.append({"id": f"{dataset}-{number}", "text": text, "labels": labels})
    return documents


def make_predictions(documents: list[dict[str, Any]], system: int, dataset: int) -> list[dict[str, Any]]:
    """Return a system's predictions on a dataset: correct, wrong, shifted, missed and spurious ones."""
    rng = np.random.default_rng([2, system, dataset])
    correct = 0.5 + 0.4 * np.random.default_rng([3, system]).random()  # the quality of the system
    responses = []
    for document in documents:
        predictions = []
        for label in document["labels"]:
            start, end, entity, luck = label["start"], label["end"], label["entity"], rng.random()
            if luck > correct:
                error = rng.integers(4)
                if error == 0:
                    continue
                if error == 1:
                    entity = f"Q{rng.integers(1, 2000)}"
                elif error == 2:
                    start = max(0, start - 3)
                else:
                    predictions.append({"start": start - 3, "end": start - 1, "entity": "Q1", "score": 0.1})
            score = round(float(rng.random() if luck > correct else 0.5 + rng.random() / 2), 4)
            predictions.append({"start": start, "end": end, "entity": entity, "score": score})
        responses.append({"id": document["id"], "predictions": predictions})
    return responses


def write_files(folder: Path, systems: int, datasets: int, documents: int, mentions: int) -> list[str]:
    """Write gold and prediction files into a folder; return the arguments of `karat report` that name them."""
    arguments = []
    for dataset in range(datasets):
        gold = make_documents(dataset, documents, mentions)
        write_lines(path := folder / f"dataset-{dataset}.jsonl", gold)
        arguments += ["--gold", str(path)]
        for system in range(systems):
            write_lines(path := folder / f"system-{system}.{dataset}.jsonl", make_predictions(gold, system, dataset))
            arguments.append(f"system-{system}={path}")
    return arguments


class ReportCost(NamedTuple):
    """The cost of a report: elapsed and processor seconds, and the peak memory of the largest process in bytes."""

    seconds: float
    processor: float
    peak_bytes: int


def run_report(folder: Path, arguments: list[str]) -> ReportCost:
    """Run `karat report` in a fresh process and return its cost, with that of its child processes."""
    began = time.perf_counter()
    command = [sys.executable, "-m", "karat", "report", *arguments, "--out", str(folder / "report.html")]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, encoding="utf-8")
    assert process.stderr is not None
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"karat report ended with exit code {process.returncode}: {errors}")
    return ReportCost(time.perf_counter() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def main() -> None:
    """Write the files, run the report and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--systems", type=int, default=50)
    parser.add_argument("--datasets", type=int, default=50)
    parser.add_argument("--documents", type=int, default=10, help="documents of a dataset")
    parser.add_argument("--mentions", type=int, default=20, help="mentions of a document")
    parser.add_argument("--folder", type=Path)
    sizes, options = parser.parse_known_args()
    with TemporaryDirectory() as temporary:
        folder = sizes.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        files = write_files(folder, sizes.systems, sizes.datasets, sizes.documents, sizes.mentions)
        cost = run_report(folder, [*files, *(options or ["--one-profile", "--resamples", "100"])])
    pairs = sizes.systems * sizes.datasets
    print(f"{sizes.systems} systems on {sizes.datasets} datasets: {cost.processor:.1f} s of processor time")
    print(f"{1000 * cost.processor / pairs:.1f} ms per system and dataset; peak memory {cost.peak_bytes / 1e6:,.0f} MB")


if __name__ == "__main__":
    main()
