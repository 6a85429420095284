"""Resolution of ids in five spellings at once: `python bench/resolve.py [MILLIONS…]`."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.kb.snapshot.manifest import LAYOUT, SnapshotManifest
from karat.kb.snapshot.snapshot import Snapshot
from karat.kb.snapshot.writer import open_snapshot_writer

ITEMS = 5_000_000  # in the snapshot; every fifth id is in none
SPELLINGS = (
    ("Q", ""),
    ("http://www.wikidata.org/entity/Q", ""),
    ("http://dbpedia.org/resource/Page_", "_title"),
    ("https://en.wikipedia.org/wiki/Page_", "_title"),
    ("Page ", " title"),
)


def spell_ids(numbers: object, lead: str, end: str) -> pa.Array:
    """Return each number as an id between a prefix `lead` and a suffix `end`."""
    return pc.binary_join_element_wise(lead, pc.cast(pa.array(numbers), pa.string()), end, "")


def build_snapshot(folder: Path) -> None:
    """Write a snapshot of `ITEMS` items, each with a Wikipedia title as same-as, to `folder`."""
    metadata = SnapshotManifest(karat=LAYOUT, name="made-up", date="2026-01-01", space="wikidata", title_space="enwiki")
    numbers = np.arange(1, ITEMS + 1)
    items, pages = spell_ids(numbers, "Q", ""), spell_ids(numbers, "enwiki:Page ", " title")
    how = pa.array(["same-as"]).take(pa.array(np.zeros(ITEMS, np.int64)))
    with open_snapshot_writer(folder, metadata) as snapshot:
        snapshot.write_table("entities", pa.table({"id": items.sort()}), is_sorted=True)
        identity = pa.table({"id": pages, "entity": items, "how": how})
        snapshot.write_table("identity", identity.sort_by("id"), is_sorted=True)


def peak_memory() -> float:
    """Return the peak memory of this process in MiB; only on Linux."""
    return int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text(encoding="ascii"))[1]) / 1024


def resolve_many(folder: Path, count: int) -> None:
    """Resolve `count` random ids in five spellings with the snapshot in `folder`; print time and memory."""
    numbers = np.random.default_rng(5).integers(1, ITEMS * 5 // 4, count)
    parts = [spell_ids(numbers[index :: len(SPELLINGS)], *form) for index, form in enumerate(SPELLINGS)]
    ids = pa.concat_arrays(parts)
    before, snapshot = peak_memory(), Snapshot.open(folder)
    wall, used = time.perf_counter(), time.process_time()
    resolution = snapshot.resolve(ids)
    wall, used = time.perf_counter() - wall, time.process_time() - used
    n_changed = pc.sum(pc.not_equal(resolution.column("how"), "")).as_py()
    print(
        f"{count:,} ids, {len(ids.unique()):,} of them distinct: {wall:.1f} s, {used:.1f} s of processor, "
        f"{peak_memory():,.0f} MB at most, {before:,.0f} of them before; {n_changed:,} ids change"
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--ask"]:
        resolve_many(Path(sys.argv[2]), int(sys.argv[3]))
    else:
        with tempfile.TemporaryDirectory() as name:
            build_snapshot(Path(name) / "snapshot")
            for millions in sys.argv[1:] or ["1", "10"]:
                count = str(int(float(millions) * 1e6))
                subprocess.run([sys.executable, __file__, "--ask", str(Path(name) / "snapshot"), count], check=True)
