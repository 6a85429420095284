"""Memory and time of building candidate lists from many pairs: python bench/zelda_candidates.py [MILLIONS]."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from karat.protocols.zelda.candidates.sources import SCHEMA

BATCH = 1_000_000


def write_pairs(path: Path, millions: int) -> None:
    """Write `millions` million random pairs of mention and entity, with counts, to a Parquet file.

    Pairs rarely repeat; each mention has two or three of them, far from each other.
    """
    random = np.random.Generator(np.random.PCG64(19))
    with pq.ParquetWriter(path, SCHEMA) as writer:
        for _ in range(millions):
            mention = pa.array(random.integers(0, millions * BATCH * 2 // 5, BATCH)).cast(pa.string())
            entity = pa.array(random.integers(0, 5_000_000, BATCH)).cast(pa.string())
            count = pa.array(random.integers(1, 50, BATCH))
            columns = [
                pc.binary_join_element_wise(words, column, " ")
                for words, column in (("Mention number", mention), ("Entity number", entity))
            ]
            writer.write_table(pa.table([*columns, count], schema=SCHEMA))


def main() -> None:
    """Generate pairs, build candidate lists from them, and print time, memory and size."""
    millions = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    with TemporaryDirectory(prefix="karat-bench-") as folder:
        pairs, aliases = Path(folder) / "pairs.parquet", Path(folder) / "aliases.parquet"
        write_pairs(pairs, millions - millions // 5)
        write_pairs(aliases, millions // 5)
        lists = Path(folder) / "lists.parquet"
        begun = time.perf_counter()
        sources = ["--pairs", str(pairs), "--pairs", str(aliases)]
        subprocess.run([sys.executable, "-m", "karat", "zelda", "candidates", str(lists), *sources], check=True)
        took = time.perf_counter() - begun
        peak_mib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        size = lists.stat().st_size >> 20
        print(f"{millions} million pairs: {took:.0f} s, {peak_mib:,.0f} MiB at most, {size:,} MiB on disk")


if __name__ == "__main__":
    main()
