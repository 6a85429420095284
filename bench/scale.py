"""Score a corpus that need not fit into memory with every engine: `python bench/scale.py [FOLDER] [--documents N]`.

Makes a folder of Parquet parts for the gold standard and one for the answers (in the order of the gold standard, and
in a shuffled order), scores them in a process each, and prints seconds and peak memory. The parts are removed in the
end unless `--keep` is given.
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

from corpus import Chunk, Marks, Recipe, draw

MEASURES = [f"{relation}:{mean}.f1" for relation in ("strong", "weak", "mention") for mean in ("micro", "macro")]
ROW_GROUP = 20_000


def ids(first: int, count: int) -> pa.Array:
    return pa.array([f"doc-{number:09}" for number in range(first, first + count)])


def items(recipe: Recipe, marks: Marks, scores: list[int] | None) -> pa.Array:
    """The labels or answers of a chunk, one list per document."""
    names = pa.array([*(name.strip('"') for name in recipe.names[:-1]), None])
    columns = {
        "start": pa.array(marks.start, pa.int32()),
        "end": pa.array(marks.end, pa.int32()),
        "entity": names.take(pa.array(np.array(marks.entity) % len(names))),
    }
    if scores is not None:
        columns["score"] = pa.array(np.array(scores) / 10_000)
    offsets = pa.array(np.concatenate([[0], np.cumsum(marks.counts)]).astype(np.int32))
    return pa.ListArray.from_arrays(offsets, pa.StructArray.from_arrays(columns.values(), list(columns)))


def gold_table(recipe: Recipe, chunk: Chunk, first: int) -> pa.Table:
    texts = [recipe.prose[place : place + length] for place, length in zip(chunk.places, chunk.lengths, strict=True)]
    return pa.table({"id": ids(first, len(texts)), "text": texts, "labels": items(recipe, chunk.gold, None)})


def answers_table(recipe: Recipe, chunk: Chunk, first: int) -> pa.Table:
    lists = items(recipe, chunk.answers, chunk.scores)
    return pa.table({"id": ids(first, len(lists)), "answers": lists})


def write(folder: Path, documents: int, parts: int) -> None:
    """Three folders of parts: gold, answers, and the answers with documents dealt out among the parts at random."""
    recipe, rng = Recipe(), np.random.default_rng(1)
    for name in ("gold", "answers", "shuffled"):
        (folder / name).mkdir(parents=True)
    shuffled = [pq.ParquetWriter(folder / "shuffled" / f"part-{n:04}.parquet", answers_schema()) for n in range(parts)]
    chunks = -(-documents // recipe.chunk)
    for part, numbers in enumerate(np.array_split(np.arange(chunks), parts)):
        name = f"part-{part:04}.parquet"
        gold, answers = [], []
        for number in numbers.tolist():
            chunk = draw(recipe, number)
            gold.append(gold_table(recipe, chunk, number * recipe.chunk))
            answers.append(answers_table(recipe, chunk, number * recipe.chunk))
        if gold:
            pq.write_table(pa.concat_tables(gold), folder / "gold" / name, compression="zstd", row_group_size=ROW_GROUP)
            table = pa.concat_tables(answers)
            pq.write_table(table, folder / "answers" / name, compression="zstd", row_group_size=ROW_GROUP)
            dealt = rng.integers(0, parts, table.num_rows)
            for target, writer in enumerate(shuffled):
                writer.write_table(table.take(pa.array(rng.permutation(np.flatnonzero(dealt == target)))))
    for writer in shuffled:
        writer.close()


def answers_schema() -> pa.Schema:
    item = pa.struct([("start", pa.int32()), ("end", pa.int32()), ("entity", pa.string()), ("score", pa.float64())])
    return pa.schema([("id", pa.string()), ("answers", pa.list_(item))])


def score(gold: str, answers: str, engine: str) -> None:
    """Score once and print what came out."""
    import karat
    from karat.data.load import load_parts

    began = time.perf_counter()
    if engine == "memory":
        result = karat.evaluate(karat.load(gold, text=False), karat.load_run(answers), measures=MEASURES)
    else:
        parts = load_parts(gold, gold=True), load_parts(answers, gold=False)
        result = karat.evaluate(*parts, measures=MEASURES, engine=engine)
    found = {name: result[name] for name in MEASURES} | {"signature": str(result.signature)}
    print(json.dumps({"seconds": time.perf_counter() - began, "found": found}))


class Watch:
    """The memory and the processor time of a process and all below it."""

    def __init__(self, root: int) -> None:
        self.root, self.peak = root, 0
        self.ticks: dict[int, int] = {}

    @property
    def processor_seconds(self) -> float:
        return sum(self.ticks.values()) / os.sysconf("SC_CLK_TCK")

    def look(self) -> None:
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
            total += _own_memory(process)
        self.peak = max(self.peak, total)


def _own_memory(process: int) -> int:
    """The bytes of one process, with its share of pages that it has in common with others."""
    try:
        rollup = Path(f"/proc/{process}/smaps_rollup").read_text(encoding="utf-8")
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in rollup.splitlines() if line.startswith("Pss:"))


def measured(gold: Path, answers: Path, engine: str) -> tuple[dict[str, Any], Watch]:
    """What one run printed, and what it and all processes it started took."""
    done = Event()
    command = [sys.executable, __file__, "--score", str(gold), str(answers), engine]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")

    watch = Watch(process.pid)

    def look() -> None:
        while not done.wait(0.2):
            watch.look()

    watcher = Thread(target=look)
    watcher.start()
    out, problems = process.communicate()
    done.set()
    watcher.join()
    if process.returncode:
        raise SystemExit(problems)
    return json.loads(out.splitlines()[-1]), watch


def report(folder: Path, engines: list[str], orders: list[str]) -> Iterator[str]:
    yield "| answers in | engine | seconds | processor seconds | peak MB |\n| --- | --- | ---: | ---: | ---: |"
    known: dict[str, object] = {}
    for order in orders:
        for engine in engines:
            outcome, watch = measured(folder / "gold", folder / order, engine)
            found = outcome["found"]
            assert known.setdefault("found", found) == found, f"{engine}, {order}: {found} instead of {known}"
            name = {"answers": "the same order", "shuffled": "another order"}[order]
            times = f"{outcome['seconds']:.1f} | {watch.processor_seconds:.1f}"
            yield f"| {name} | {engine} | {times} | {watch.peak / 1e6:,.0f} |"
    yield f"\nEvery run found {json.dumps(known['found'], indent=1)}"


def main() -> None:
    """Measure what the arguments ask for."""
    parser = argparse.ArgumentParser(description="Score Parquet folders with every engine.")
    parser.add_argument("folder", nargs="?", type=Path, default=Path(__file__).parent / "data" / "scale")
    parser.add_argument("--documents", type=int, default=1_000_000, help="with 20 mentions each")
    parser.add_argument("--parts", type=int, default=20)
    parser.add_argument("--engines", nargs="*", default=["local", "duckdb", "spark"], help="also: memory")
    parser.add_argument("--orders", nargs="*", default=["answers", "shuffled"])
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--score", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.score:
        score(*given.score)
        return
    if not given.folder.exists():
        write(given.folder, given.documents, given.parts)
    size = sum(path.stat().st_size for path in given.folder.rglob("*.parquet"))
    print(f"{given.documents:,} documents, {os.cpu_count()} cores, {size / 1e6:,.0f} MB in {given.folder}", flush=True)
    try:
        for line in report(given.folder, given.engines, given.orders):
            print(line, flush=True)
    finally:
        if not given.keep:
            shutil.rmtree(given.folder)


if __name__ == "__main__":
    main()
