"""Writing of the name index: rows sorted by folded name, then the order of the reversed names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.kb.snapshot.name_index import FIRST_OTHER_ID, ROWS_PER_SPAN, fold_text, reverse_key
from karat.model.tables.arrow import Arrow
from karat.storage.mapped_strings import StringsWriter
from karat.storage.parquet import SortedTable

_MAX_COUNT = (1 << 32) - 1
_ITEM = r"^Q[1-9][0-9]{0,8}$"  # at most nine digits, so below `FIRST_OTHER_ID`


class NameIndexWriter:
    """Writer of the files of a name index.

    Rows must be added in the order of folded alias, alias, count (highest first) and id.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._surfaces, self._ids = (StringsWriter(folder / name) for name in ("surfaces", "ids"))
        self._entity, self._count, self._span_maxima = (
            (folder / name).open("w+b") for name in ("entity", "count", "tops")
        )
        self._n_other_ids, self.n_rows = 0, 0

    def add(self, table: Arrow) -> None:
        """Write the rows of a table with the columns `alias`, `id` and `count`; a null count is 0."""
        ids = table.column("id").combine_chunks()
        is_item = pc.match_substring_regex(ids, _ITEM)
        other_ids = ids.filter(pc.invert(is_item))
        entity = np.empty(len(ids), np.uint32)
        mask = is_item.to_numpy(zero_copy_only=False)
        entity[mask] = pc.cast(pc.utf8_slice_codeunits(ids.filter(is_item), 1), pa.uint32()).to_numpy()
        entity[~mask] = FIRST_OTHER_ID + self._n_other_ids + np.arange(len(other_ids))
        self._ids.add(other_ids)
        self._n_other_ids += len(other_ids)
        self._surfaces.add(table.column("alias"))
        self._entity.write(entity.tobytes())
        counts = pc.fill_null(table.column("count"), 0).to_numpy()
        self._count.write(np.clip(counts, 0, _MAX_COUNT).astype(np.uint32).tobytes())
        self.n_rows += len(ids)

    def close(self, order: Iterable[Arrow]) -> int:
        """Write the row numbers, given in the order of reversed keys, close all files; return the number of rows."""
        with (self._folder / "backwards").open("wb") as order_file:
            for part in order:
                order_file.write(part.to_numpy().astype(np.uint32).tobytes())
        self._count.seek(0)
        while part := self._count.read(4 * ROWS_PER_SPAN << 12):
            count = np.frombuffer(part, np.uint32)
            self._span_maxima.write(np.maximum.reduceat(count, np.arange(0, len(count), ROWS_PER_SPAN)).tobytes())
        for file in (self._surfaces, self._ids, self._entity, self._count, self._span_maxima):
            file.close()
        return self.n_rows


def add_sort_keys(table: Arrow) -> Arrow:
    """Return the table with two more columns: `key`, the folded alias as UTF-8, and `back`, the reversed key."""
    keys = [fold_text(alias).encode() for alias in table.column("alias").to_pylist()]
    back = pa.array([reverse_key(key) for key in keys], pa.binary())
    return table.append_column("key", pa.array(keys, pa.binary())).append_column("back", back)


def iterate_weighted_aliases(aliases: SortedTable, entities: SortedTable | None) -> Iterator[Arrow]:
    """Yield the table of aliases in blocks; a missing count is replaced by the number of links to the entity.

    `entities`: table with the column `in_links`; None leaves missing counts null.
    """
    for block in aliases.iterate_blocks():
        count = block.column("count")
        if count.null_count and entities is not None:
            count = pc.coalesce(count, entities.look_up(block.column("id"), "in_links"))
        yield block.set_column(2, "count", count)


def write_name_index(folder: Path, tables: Iterable[Arrow]) -> int:
    """Write the name index of tables with the columns `id`, `alias` and `count` to `folder`; return how many names.

    Rows are sorted in memory, at about 500 bytes per name. Snapshots from dumps are sorted on disk instead.
    """
    table = pa.concat_tables([add_sort_keys(table) for table in tables]).combine_chunks()
    order = [("key", "ascending"), ("alias", "ascending"), ("count", "descending"), ("id", "ascending")]
    table = table.take(pc.sort_indices(table, order))
    writer = NameIndexWriter(folder)
    for start in range(0, table.num_rows, 1 << 20):
        writer.add(table.slice(start, 1 << 20))
    return writer.close([pc.sort_indices(table.column("back"))])
