"""Sorted tables that threads share."""

from threading import Barrier, Thread

import pyarrow as pa
import pytest

from karat.storage.parquet import SortedTable, write_sorted

BLOCKS, ROWS, READERS = 40, 200, 8


def test_threads_that_read_one_table_at_once_get_their_rows(tmp_path):
    """Arrow's reader raised errors or ended the process."""
    keys = [[f"k{block:02}{row:03}" for row in range(ROWS)] for block in range(BLOCKS)]
    tables = [pa.table({"key": block, "value": [f"of {key}" * 50 for key in block]}) for block in keys]
    write_sorted(tmp_path / "table.parquet", tables[0].schema, tables, level=1)
    table, barrier, problems = SortedTable(tmp_path / "table.parquet", "key"), Barrier(READERS), []

    def read(number):
        barrier.wait()
        try:
            for step in range(BLOCKS):
                block = keys[(7 * number + step) % BLOCKS]
                for column in ("value", "key"):
                    values = table.look_up(block[:3], column).to_pylist()
                    assert values == ([f"of {key}" * 50 for key in block[:3]] if column == "value" else block[:3])
        except Exception as problem:  # noqa: BLE001  # raised below
            problems.append(problem)

    threads = [Thread(target=read, args=(number,)) for number in range(READERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []


@pytest.mark.parametrize("n_copies", [1, 40])
def test_few_keys_find_the_same_rows_as_many(tmp_path, n_copies):
    """Few keys are searched between landmarks, many with an index; keys that repeat cross landmarks."""
    keys = sorted(f"clé {number:05}" for number in range(0, 9000, 3) for _ in range(n_copies))
    rows = pa.table({"key": keys, "value": range(len(keys))})
    write_sorted(tmp_path / "table.parquet", rows.schema, [rows], level=1)
    table = SortedTable(tmp_path / "table.parquet", "key")
    queries = [f"clé {number:05}" for number in (0, 1, 189, 192, 4500, 4501, 8997, 8998)] + ["a", "z"]
    found = [value for query in queries for value in table.find_rows([query], "value").column("value").to_pylist()]
    assert found == [index for query in queries for index in range(len(keys)) if keys[index] == query]
    assert table.find_rows(keys, "value").column("value").to_pylist() == list(range(len(keys)))
    if n_copies == 1:
        by_key = dict(zip(keys, range(len(keys)), strict=True))
        assert table.look_up(queries, "value").to_pylist() == [by_key.get(query) for query in queries]
