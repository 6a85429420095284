"""Ids in five spellings resolved all at once: `python bench/resolve.py [MILLIONS…]`."""

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

from karat.kb.pack.manifest import LAYOUT, PackManifest
from karat.kb.pack.pack import Pack
from karat.kb.pack.writer import writing_pack

ITEMS = 5_000_000  # of the pack; every fifth id is of none
SPELLINGS = (
    ("Q", ""),
    ("http://www.wikidata.org/entity/Q", ""),
    ("http://dbpedia.org/resource/Page_", "_title"),
    ("https://en.wikipedia.org/wiki/Page_", "_title"),
    ("Page ", " title"),
)


def spelt(numbers: object, lead: str, end: str) -> pa.Array:
    return pc.binary_join_element_wise(lead, pc.cast(pa.array(numbers), pa.string()), end, "")


def build(folder: Path) -> None:
    about = PackManifest(karat=LAYOUT, name="made-up", date="2026-01-01", space="wikidata", titles="enwiki")
    numbers = np.arange(1, ITEMS + 1)
    items, pages = spelt(numbers, "Q", ""), spelt(numbers, "enwiki:Page ", " title")
    how = pa.array(["same-as"]).take(pa.array(np.zeros(ITEMS, np.int64)))
    with writing_pack(folder, about) as pack:
        pack.write("entities", pa.table({"id": items.sort()}), ordered=True)
        identity = pa.table({"id": pages, "entity": items, "how": how})
        pack.write("identity", identity.sort_by("id"), ordered=True)


def memory() -> float:
    """The most memory that the process had, in MB."""
    return int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text(encoding="ascii"))[1]) / 1024


def ask(folder: Path, count: int) -> None:
    numbers = np.random.default_rng(5).integers(1, ITEMS * 5 // 4, count)
    parts = [spelt(numbers[at :: len(SPELLINGS)], *form) for at, form in enumerate(SPELLINGS)]
    ids = pa.concat_arrays(parts)
    before, pack = memory(), Pack.open(folder)
    wall, used = time.perf_counter(), time.process_time()
    found = pack.resolved(ids)
    wall, used = time.perf_counter() - wall, time.process_time() - used
    led = pc.sum(pc.not_equal(found.column("how"), "")).as_py()
    print(
        f"{count:,} ids, {len(ids.unique()):,} of them distinct: {wall:.1f} s, {used:.1f} s of processor, "
        f"{memory():,.0f} MB at most, {before:,.0f} of them before; {led:,} lead elsewhere"
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--ask"]:
        ask(Path(sys.argv[2]), int(sys.argv[3]))
    else:
        with tempfile.TemporaryDirectory() as name:
            build(Path(name) / "pack")
            for millions in sys.argv[1:] or ["1", "10"]:
                count = str(int(float(millions) * 1e6))
                subprocess.run([sys.executable, __file__, "--ask", str(Path(name) / "pack"), count], check=True)
