"""Scoring of a corpus larger than memory with every engine: `python bench/scale.py [FOLDER] [--documents N]`.

The script writes Parquet partitions of the gold standard and of the predictions, in gold order and shuffled. It scores
them in one process each and prints seconds and peak memory. `--keep` keeps the partitions.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from corpus import Chunk, Recipe, SpanLists, draw_chunk

MEASURES = [f"{relation}:{mean}.f1" for relation in ("strong", "weak", "mention") for mean in ("micro", "macro")]
ROW_GROUP = 20_000


def make_ids(first: int, count: int) -> pa.Array:
    """Return the ids of `count` documents from number `first` on."""
    return pa.array([f"doc-{number:09}" for number in range(first, first + count)])


def make_items(recipe: Recipe, lists: SpanLists, scores: list[int] | None) -> pa.Array:
    """Return the labels or, with `scores` in ten-thousandths, the predictions of a chunk, one list per document."""
    names = pa.array([*(name.strip('"') for name in recipe.names[:-1]), None])
    columns = {
        "start": pa.array(lists.start, pa.int32()),
        "end": pa.array(lists.end, pa.int32()),
        "entity": names.take(pa.array(np.array(lists.entity) % len(names))),
    }
    if scores is not None:
        columns["score"] = pa.array(np.array(scores) / 10_000)
    offsets = pa.array(np.concatenate([[0], np.cumsum(lists.counts)]).astype(np.int32))
    return pa.ListArray.from_arrays(offsets, pa.StructArray.from_arrays(columns.values(), list(columns)))


def make_gold_table(recipe: Recipe, chunk: Chunk, first: int) -> pa.Table:
    """Return the gold standard of a chunk as a table; `first` is the number of its first document."""
    texts = [
        recipe.prose[offset : offset + length] for offset, length in zip(chunk.offsets, chunk.lengths, strict=True)
    ]
    return pa.table({"id": make_ids(first, len(texts)), "text": texts, "labels": make_items(recipe, chunk.gold, None)})


def make_predictions_table(recipe: Recipe, chunk: Chunk, first: int) -> pa.Table:
    """Return the predictions of a chunk as a table; `first` is the number of its first document."""
    lists = make_items(recipe, chunk.predictions, chunk.scores)
    return pa.table({"id": make_ids(first, len(lists)), "predictions": lists})


def write_partitions(folder: Path, documents: int, parts: int) -> None:
    """Write three folders of `parts` Parquet files: gold, predictions, and predictions in random files and order."""
    recipe, rng = Recipe(), np.random.default_rng(1)
    for name in ("gold", "predictions", "shuffled"):
        (folder / name).mkdir(parents=True)
    shuffled = [
        pq.ParquetWriter(folder / "shuffled" / f"part-{n:04}.parquet", make_predictions_schema()) for n in range(parts)
    ]
    chunks = -(-documents // recipe.chunk)
    for part, numbers in enumerate(np.array_split(np.arange(chunks), parts)):
        name = f"part-{part:04}.parquet"
        gold, predictions = [], []
        for number in numbers.tolist():
            chunk = draw_chunk(recipe, number)
            gold.append(make_gold_table(recipe, chunk, number * recipe.chunk))
            predictions.append(make_predictions_table(recipe, chunk, number * recipe.chunk))
        if gold:
            pq.write_table(pa.concat_tables(gold), folder / "gold" / name, compression="zstd", row_group_size=ROW_GROUP)
            table = pa.concat_tables(predictions)
            pq.write_table(table, folder / "predictions" / name, compression="zstd", row_group_size=ROW_GROUP)
            targets = rng.integers(0, parts, table.num_rows)
            for target, writer in enumerate(shuffled):
                writer.write_table(table.take(pa.array(rng.permutation(np.flatnonzero(targets == target)))))
    for writer in shuffled:
        writer.close()


def make_predictions_schema() -> pa.Schema:
    """Return the Arrow schema of a file of predictions."""
    item = pa.struct([("start", pa.int32()), ("end", pa.int32()), ("entity", pa.string()), ("score", pa.float64())])
    return pa.schema([("id", pa.string()), ("predictions", pa.list_(item))])


def print_scores(gold: str, predictions: str, engine: str) -> None:
    """Score folders of partitions with an engine (or all in `memory`), and print seconds and scores as JSON."""
    import karat
    from karat.data.load import load_partitioned

    began = time.perf_counter()
    if engine == "memory":
        result = karat.evaluate(karat.load(gold, text=False), karat.load_run(predictions), measures=MEASURES)
    else:
        parts = load_partitioned(gold, gold=True), load_partitioned(predictions, gold=False)
        result = karat.evaluate(*parts, measures=MEASURES, engine=engine)
    scores = {name: result[name] for name in MEASURES} | {"signature": str(result.signature)}
    print(json.dumps({"seconds": time.perf_counter() - began, "scores": scores}))


class ProcessMonitor:
    """Peak memory and processor time of a process and its descendants; only on Linux.

    `root`: process id.
    `peak`: highest sum of memory in a sample, in bytes.
    `ticks`: processor time of each process in clock ticks.
    """

    def __init__(self, root: int) -> None:
        self.root, self.peak = root, 0
        self.ticks: dict[int, int] = {}

    @property
    def processor_seconds(self) -> float:
        """The processor seconds of all processes up to the last sample."""
        return sum(self.ticks.values()) / os.sysconf("SC_CLK_TCK")

    def sample(self) -> None:
        """Update peak memory and processor time from /proc."""
        children: dict[int, list[int]] = {}
        ticks: dict[int, int] = {}
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    fields = (entry / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
                except OSError:
                    continue
                children.setdefault(int(fields[1]), []).append(int(entry.name))
                ticks[int(entry.name)] = int(fields[11]) + int(fields[12])
        waiting, total = [self.root], 0
        while waiting:
            process = waiting.pop()
            waiting.extend(children.get(process, []))
            self.ticks[process] = max(self.ticks.get(process, 0), ticks.get(process, 0))
            total += process_memory(process)
        self.peak = max(self.peak, total)


def process_memory(process: int) -> int:
    """Return the memory of one process in bytes, with its share of shared pages; 0 if it has ended."""
    try:
        rollup = Path(f"/proc/{process}/smaps_rollup").read_text(encoding="utf-8")
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in rollup.splitlines() if line.startswith("Pss:"))


def measure_engine(gold: Path, predictions: Path, engine: str) -> tuple[dict[str, Any], ProcessMonitor]:
    """Score once in a fresh process; return its JSON output, and a monitor with the resources of all its processes."""
    done = Event()
    command = [sys.executable, __file__, "--score", str(gold), str(predictions), engine]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")

    watch = ProcessMonitor(process.pid)

    def look() -> None:
        while not done.wait(0.2):
            watch.sample()

    watcher = Thread(target=look)
    watcher.start()
    out, errors = process.communicate()
    done.set()
    watcher.join()
    if process.returncode:
        raise SystemExit(errors)
    return json.loads(out.splitlines()[-1]), watch


def report_engines(folder: Path, engines: list[str], orders: list[str]) -> Iterator[str]:
    """Measure each engine on each order of predictions; yield the lines of a Markdown table, then the scores.

    Raise `AssertionError` if two runs give different scores.
    """
    yield "| predictions in | engine | seconds | processor seconds | peak MB |\n| --- | --- | ---: | ---: | ---: |"
    first_scores: dict[str, object] = {}
    for order in orders:
        for engine in engines:
            outcome, watch = measure_engine(folder / "gold", folder / order, engine)
            scores = outcome["scores"]
            assert first_scores.setdefault("scores", scores) == scores, (
                f"{engine}, {order}: {scores} instead of {first_scores}"
            )
            name = {"predictions": "the same order", "shuffled": "another order"}[order]
            times = f"{outcome['seconds']:.1f} | {watch.processor_seconds:.1f}"
            yield f"| {name} | {engine} | {times} | {watch.peak / 1e6:,.0f} |"
    yield f"\nEvery run found {json.dumps(first_scores['scores'], indent=1)}"


def main() -> None:
    """Write the partitions if they are missing, print the measurements, and delete the partitions unless `--keep`."""
    parser = argparse.ArgumentParser(description="Score Parquet folders with every engine.")
    parser.add_argument("folder", nargs="?", type=Path, default=Path(__file__).parent / "data" / "scale")
    parser.add_argument("--documents", type=int, default=1_000_000, help="with 20 mentions each")
    parser.add_argument("--parts", type=int, default=20)
    parser.add_argument("--engines", nargs="*", default=["local", "duckdb", "spark"], help="also: memory")
    parser.add_argument("--orders", nargs="*", default=["predictions", "shuffled"])
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--score", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.score:
        print_scores(*options.score)
        return
    if not options.folder.exists():
        write_partitions(options.folder, options.documents, options.parts)
    size = sum(path.stat().st_size for path in options.folder.rglob("*.parquet"))
    print(
        f"{options.documents:,} documents, {os.cpu_count()} cores, {size / 1e6:,.0f} MB in {options.folder}", flush=True
    )
    try:
        for line in report_engines(options.folder, options.engines, options.orders):
            print(line, flush=True)
    finally:
        if not options.keep:
            shutil.rmtree(options.folder)


if __name__ == "__main__":
    main()
