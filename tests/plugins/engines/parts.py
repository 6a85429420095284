"""How the tests lay a corpus out in parts, and compare results."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import karat
from karat.data.load import load_partitioned


def write_parts(data, folder, parts, *, order=None, empty=False):
    """The rows of a corpus or run as files of a folder; `empty` puts a file without rows among them."""
    folder.mkdir()
    whole = folder.parent / f"{folder.name}.parquet"
    karat.save(data, whole)
    table = pq.read_table(whole)
    if order is not None:
        table = table.take(pa.array(order))
    bounds = np.linspace(0, table.num_rows, parts + 1).astype(int)
    for number, (low, high) in enumerate(pairwise(bounds.tolist())):
        pq.write_table(table.slice(low, high - low), folder / f"part-{number:03}.parquet", row_group_size=3)
    if empty:
        pq.write_table(table.slice(0, 0), folder / "part-000-none.parquet")
    return folder


def both(folder):
    """A gold standard and predictions in parts."""
    return load_partitioned(folder / "gold", gold=True), load_partitioned(folder / "predictions", gold=False)


def told(result):
    """All that a result file says."""
    return json.loads(result.to_json())


def loaded(folder):
    """The same in memory."""
    return karat.load(folder / "gold"), karat.load_run(folder / "predictions")
