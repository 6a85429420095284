"""Streams of DuckDB rows for the tables of a snapshot: sorted, with unique keys, and never all in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.model.tables.arrow import Arrow

_ROWS_PER_BATCH: Final = 1 << 17


def stream_query(db: Any, query: str) -> Iterator[Arrow]:  # noqa: ANN401  # DuckDB ships no types
    """Run an SQL query on a DuckDB connection and yield its rows as non-empty Arrow tables, one batch at a time."""
    for batch in db.sql(query).to_arrow_reader(_ROWS_PER_BATCH):
        if batch.num_rows:
            yield pa.Table.from_batches([batch])


def query_number(db: Any, query: str) -> int:  # noqa: ANN401
    """Run an SQL query on a DuckDB connection and return the single number that it yields; 0 for null."""
    return int(db.sql(query).fetchall()[0][0] or 0)


def keep_first_rows(tables: Iterable[Arrow], key: str, counts: Counter[str], description: str) -> Iterator[Arrow]:
    """Yield the first of consecutive rows with the same key; drop the others and count them in `counts[description]`.

    `key`: name of the key column. The tables must not be empty; equal keys may be in different tables.
    """
    last = None
    for table in tables:
        keys = table.column(key).combine_chunks()
        is_first = np.ones(len(keys), np.bool_)
        is_first[1:] = pc.not_equal(keys.slice(1), keys.slice(0, len(keys) - 1)).to_numpy(zero_copy_only=False)
        is_first[0] = keys[0].as_py() != last
        last = keys[len(keys) - 1].as_py()
        counts[description] += int((~is_first).sum())
        yield table if is_first.all() else table.filter(pa.array(is_first))


def group_values(tables: Iterable[Arrow], key: str, value: str, list_name: str) -> Iterator[Arrow]:
    """Yield tables with one row per key and the list of its values; rows of a key must be consecutive.

    `key`, `value`: columns of `tables`, which must not be empty. `list_name`: name of the column of lists.
    """
    pending: Arrow | None = None
    for table in tables:
        whole = (
            table.select([key, value]) if pending is None else pa.concat_tables([pending, table.select([key, value])])
        )
        keys = whole.column(key).combine_chunks()
        is_first = pc.not_equal(keys.slice(1), keys.slice(0, len(keys) - 1)).to_numpy(zero_copy_only=False)
        starts = np.concatenate([[0], np.flatnonzero(is_first) + 1])
        yield from _build_lists(whole.slice(0, starts[-1]), starts, key, value, list_name)
        pending = whole.slice(starts[-1])  # its key may continue in the next table
    if pending is not None:
        yield from _build_lists(pending, np.array([0, pending.num_rows]), key, value, list_name)


def _build_lists(table: Arrow, starts: np.ndarray, key: str, value: str, list_name: str) -> Iterator[Arrow]:
    """Yield one table of keys and lists of values; nothing if `table` has no rows.

    `starts`: first row of each key, and the number of rows at the end.
    """
    if table.num_rows:
        values = table.column(value).combine_chunks().cast(pa.string())
        lists = pa.ListArray.from_arrays(pa.array(starts, pa.int32()), values)
        yield pa.table({key: table.column(key).take(pa.array(starts[:-1])), list_name: lists})


def follow_redirects(db: Any, hop_table: str, end_table: str) -> Counter[str]:  # noqa: ANN401  # DuckDB ships no types
    """Create the SQL table `end_table` (id, target) with the end of every redirect chain; return repair counts.

    `hop_table`: existing table of redirects (id, target). Redirects into cycles are not in the new table. Each pass
    doubles the length of the chains that are resolved. When a pass resolves no further chain, the rest are cycles and
    redirects into cycles.
    """
    n_self_redirects = query_number(db, f"SELECT count(*) FROM {hop_table} WHERE id = target")
    db.execute(f"CREATE TABLE {end_table} AS SELECT id, target FROM {hop_table} WHERE id != target")
    n_chains = query_number(db, f"SELECT count(*) FROM {end_table} a SEMI JOIN {end_table} b ON b.id = a.target")
    n_unresolved, n_before = n_chains, -1
    while n_unresolved != n_before and n_unresolved:
        db.execute(f"""
            CREATE TABLE further AS SELECT a.id AS id, coalesce(b.target, a.target) AS target
                FROM {end_table} a LEFT JOIN {end_table} b ON b.id = a.target;
            DROP TABLE {end_table};
            ALTER TABLE further RENAME TO {end_table};
        """)
        n_before, n_unresolved = (
            n_unresolved,
            query_number(db, f"SELECT count(*) FROM {end_table} a SEMI JOIN {end_table} b ON b.id = a.target"),
        )
    db.execute(f"""
        CREATE TABLE endless AS SELECT a.id AS id FROM {end_table} a SEMI JOIN {end_table} b ON b.id = a.target;
        DELETE FROM {end_table} WHERE id IN (SELECT id FROM endless);
        DROP TABLE endless;
    """)
    return Counter(
        {
            "redirects to themselves, skipped": n_self_redirects,
            "redirects that never end, not followed": n_unresolved,
            "redirects of redirects, followed to their end": n_chains - n_unresolved,
        }
    )
