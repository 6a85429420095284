"""Rows of DuckDB as the tables of a pack: in order, each key once, and never all of them in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.model.tables.arrow import Arrow

_ROWS: Final = 1 << 17


def stream(db: Any, query: str) -> Iterator[Arrow]:  # noqa: ANN401  # DuckDB ships no types
    """The rows of a query, some at a time."""
    for batch in db.sql(query).to_arrow_reader(_ROWS):
        if batch.num_rows:
            yield pa.Table.from_batches([batch])


def number(db: Any, query: str) -> int:  # noqa: ANN401
    """The one number that a query gives."""
    return int(db.sql(query).fetchall()[0][0] or 0)


def first_of_each(tables: Iterable[Arrow], key: str, counts: Counter[str], what: str) -> Iterator[Arrow]:
    """The first of the rows with the same key, which stand together; the others are counted."""
    last = None
    for table in tables:
        keys = table.column(key).combine_chunks()
        new = np.ones(len(keys), np.bool_)
        new[1:] = pc.not_equal(keys.slice(1), keys.slice(0, len(keys) - 1)).to_numpy(zero_copy_only=False)
        new[0] = keys[0].as_py() != last
        last = keys[len(keys) - 1].as_py()
        counts[what] += int((~new).sum())
        yield table if new.all() else table.filter(pa.array(new))


def gathered(tables: Iterable[Arrow], key: str, value: str, name: str) -> Iterator[Arrow]:
    """One row for each key, with a list of the values of the rows that have it, which stand together."""
    rest: Arrow | None = None
    for table in tables:
        whole = table.select([key, value]) if rest is None else pa.concat_tables([rest, table.select([key, value])])
        starts = _starts(whole.column(key).combine_chunks())
        yield from _lists(whole.slice(0, starts[-1]), starts, key, value, name)
        rest = whole.slice(starts[-1])  # its key may go on in the next table
    if rest is not None:
        yield from _lists(rest, np.array([0, rest.num_rows]), key, value, name)


def _starts(keys: Arrow) -> np.ndarray:
    """Where each run of equal keys begins."""
    new = pc.not_equal(keys.slice(1), keys.slice(0, len(keys) - 1)).to_numpy(zero_copy_only=False)
    return np.concatenate([[0], np.flatnonzero(new) + 1])


def _lists(table: Arrow, starts: np.ndarray, key: str, value: str, name: str) -> Iterator[Arrow]:
    if table.num_rows:
        values = table.column(value).combine_chunks().cast(pa.string())
        lists = pa.ListArray.from_arrays(pa.array(starts, pa.int32()), values)
        yield pa.table({key: table.column(key).take(pa.array(starts[:-1])), name: lists})
