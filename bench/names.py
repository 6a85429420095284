"""Lookups by name in an index of many aliases: `python bench/names.py [MILLIONS]`."""

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

from karat.kb.pack.names import NameIndex

WORDS = 40_000


def vocabulary(rng: np.random.Generator) -> list[str]:
    sounds = re.findall(
        "[a-z]+", "ba be bi bo da de di ka ke la le lo ma mi na ne no ra re ri sa so ta te to va wi er an"
    )
    return ["".join(rng.choice(sounds, rng.integers(2, 5))).capitalize() for _ in range(WORDS)]


def aliases(count: int) -> object:
    import pyarrow as pa  # not where names are asked for, so that its memory is not counted

    rng = np.random.default_rng(7)
    words = np.array(vocabulary(rng), dtype=object)
    first, second = words[rng.zipf(1.2, count) % WORDS], words[rng.integers(0, WORDS, count)]
    names = [f"{one} {two}" for one, two in zip(first, second, strict=True)]
    signs = np.array([chr(0x4E00 + number) for number in range(3_000)], dtype=object)
    for place, parts in zip(
        rng.integers(0, count, count // 30), signs[rng.integers(0, 3_000, (count // 30, 4))], strict=True
    ):
        names[place] = "".join(parts[: 2 + place % 3])  # a slip of the first letter may be any of these
    ids = [f"Q{number}" for number in rng.integers(1, count // 2, count)]
    return pa.table({"id": ids, "alias": names, "count": rng.zipf(1.5, count).clip(max=1 << 30)})


def timed(ask: object, texts: list[str]) -> tuple[float, float, float]:
    """The median, the 99th percentile, and the 99th percentile of processor time, which others do not disturb."""
    assert callable(ask)
    taken, used = [], []
    for text in texts:
        begun, before = time.perf_counter(), time.process_time()
        ask(text)
        taken.append(time.perf_counter() - begun)
        used.append(time.process_time() - before)
    late = int(len(texts) * 0.99)
    return statistics.median(taken), sorted(taken)[late], sorted(used)[late]


def peak() -> float:
    """The most memory that the process had, in MB; Linux says it apart from that of its parent."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(re.search(r"VmHWM:\s+(\d+)", status.read_text(encoding="ascii"))[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(folder: Path) -> None:
    before = peak()
    begun = time.perf_counter()
    index = NameIndex(folder)
    print(f"opened {len(index):,} names in {1e3 * (time.perf_counter() - begun):.2f} ms")
    rng = random.Random(3)
    surfaces = [index._surfaces[rng.randrange(len(index))].decode() for _ in range(5_000)]
    for ask in (index.exact, index.beginning, index.near):
        timed(ask, surfaces[:500])  # warm
    typed = [text[: rng.randint(1, 6)] for text in surfaces[:1000]]
    places = [rng.randrange(len(text)) for text in surfaces[:1000]]
    slipped = [text[:place] + text[place + 1 :] for text, place in zip(surfaces, places, strict=False)]
    for name, ask, texts in (
        ("exact", lambda text: index.exact(text, 10), surfaces),
        ("beginning", index.beginning, typed),
        ("near", index.near, slipped),
    ):
        median, late, used = (1e6 * taken for taken in timed(ask, texts))
        print(f"{name:10} median {median:9.1f} µs   99 % {late:9.1f} µs, of which the processor {used:9.1f} µs")
    print(f"memory of the process at most {peak():.0f} MB, of which {before:.0f} before the index was opened")


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--ask":
        main(Path(sys.argv[2]))
    else:
        from karat.kb.pack.name_writer import write_names

        millions = float(sys.argv[1]) if len(sys.argv) > 1 else 5
        with tempfile.TemporaryDirectory() as name:
            begun = time.perf_counter()
            write_names(Path(name), [aliases(int(millions * 1e6))])
            size = sum(path.stat().st_size for path in Path(name).iterdir()) / 1e6
            print(f"built in {time.perf_counter() - begun:.0f} s with names made up, {size:.0f} MB on the disk")
            subprocess.run([sys.executable, __file__, "--ask", name], check=True)
