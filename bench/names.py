"""Queries on an index of many aliases: `python bench/names.py [MILLIONS]`."""

from __future__ import annotations

import random
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from karat.kb.snapshot.name_index import NameIndex

WORDS = 40_000


def generate_words(rng: np.random.Generator) -> list[str]:
    """Return `WORDS` random capitalised words."""
    sounds = re.findall(
        "[a-z]+", "ba be bi bo da de di ka ke la le lo ma mi na ne no ra re ri sa so ta te to va wi er an"
    )
    return ["".join(rng.choice(sounds, rng.integers(2, 5))).capitalize() for _ in range(WORDS)]


def generate_aliases(count: int) -> object:
    """Return an Arrow table of `count` random aliases with id and count; one in thirty is Chinese."""
    import pyarrow as pa  # imported here so that its memory is not counted for queries

    rng = np.random.default_rng(7)
    words = np.array(generate_words(rng), dtype=object)
    first, second = words[rng.zipf(1.2, count) % WORDS], words[rng.integers(0, WORDS, count)]
    names = [f"{given_name} {surname}" for given_name, surname in zip(first, second, strict=True)]
    signs = np.array([chr(0x4E00 + number) for number in range(3_000)], dtype=object)
    for row, parts in zip(
        rng.integers(0, count, count // 30), signs[rng.integers(0, 3_000, (count // 30, 4))], strict=True
    ):
        names[row] = "".join(parts[: 2 + row % 3])  # a typo in the first character may be any of these
    ids = [f"Q{number}" for number in rng.integers(1, count // 2, count)]
    return pa.table({"id": ids, "alias": names, "count": rng.zipf(1.5, count).clip(max=1 << 30)})


def time_queries(query: object, texts: list[str]) -> tuple[float, float, float]:
    """Time `query` on each text; return median and 99th percentile of seconds, and the latter of processor seconds."""
    assert callable(query)
    taken, used = [], []
    for text in texts:
        begun, before = time.perf_counter(), time.process_time()
        query(text)
        taken.append(time.perf_counter() - begun)
        used.append(time.process_time() - before)
    percentile_index = int(len(texts) * 0.99)
    return statistics.median(taken), sorted(taken)[percentile_index], sorted(used)[percentile_index]


def peak_memory() -> float:
    """Return the peak memory of this process in MiB; on Linux without that of the parent process."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(re.search(r"VmHWM:\s+(\d+)", status.read_text(encoding="ascii"))[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(folder: Path) -> None:
    """Open the name index in `folder`, time exact, prefix and similarity queries, and print the figures."""
    before = peak_memory()
    begun = time.perf_counter()
    index = NameIndex(folder)
    print(f"opened {len(index):,} names in {1e3 * (time.perf_counter() - begun):.2f} ms")
    rng = random.Random(3)
    surfaces = [index._surfaces[rng.randrange(len(index))].decode() for _ in range(5_000)]
    for query in (index.find_exact, index.find_by_prefix, index.find_similar):
        time_queries(query, surfaces[:500])  # warm
    typed = [text[: rng.randint(1, 6)] for text in surfaces[:1000]]
    offsets = [rng.randrange(len(text)) for text in surfaces[:1000]]
    typos = [text[:offset] + text[offset + 1 :] for text, offset in zip(surfaces, offsets, strict=False)]
    for name, query, texts in (
        ("exact", lambda text: index.find_exact(text, 10), surfaces),
        ("beginning", index.find_by_prefix, typed),
        ("near", index.find_similar, typos),
    ):
        median, late, used = (1e6 * taken for taken in time_queries(query, texts))
        print(f"{name:10} median {median:9.1f} µs   99 % {late:9.1f} µs, processor {used:9.1f} µs")
    print(f"peak memory {peak_memory():.0f} MB, before opening the index {before:.0f} MB")


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--ask":
        main(Path(sys.argv[2]))
    else:
        from karat.kb.snapshot.name_index_writer import write_name_index

        millions = float(sys.argv[1]) if len(sys.argv) > 1 else 5
        with tempfile.TemporaryDirectory() as name:
            begun = time.perf_counter()
            write_name_index(Path(name), [generate_aliases(int(millions * 1e6))])
            size = sum(path.stat().st_size for path in Path(name).iterdir()) / 1e6
            print(f"built in {time.perf_counter() - begun:.0f} s from generated names, {size:.0f} MB on the disk")
            subprocess.run([sys.executable, __file__, "--ask", name], check=True)
