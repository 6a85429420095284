"""Sorted tables that threads share."""

from threading import Barrier, Thread

import pyarrow as pa

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
