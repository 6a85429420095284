"""How the index of names is written: rows in the order of their keys, then the order of the keys from their ends."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.kb.pack.names import NUMBERED, SPAN, backwards, folded
from karat.model.tables.arrow import Arrow
from karat.storage.parquet import SortedTable
from karat.storage.strings import StringsWriter

_MOST = (1 << 32) - 1
_ITEM = r"^Q[1-9][0-9]{0,8}$"  # below `NUMBERED`, whatever the digits


class NameWriter:
    """The files of an index; what is added stands in the order of key, alias, count (highest first) and id."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._surfaces, self._ids = (StringsWriter(folder / name) for name in ("surfaces", "ids"))
        self._entity, self._count, self._tops = ((folder / name).open("w+b") for name in ("entity", "count", "tops"))
        self._others, self.rows = 0, 0

    def add(self, table: Arrow) -> None:
        """Write rows with `alias`, `id` and `count`."""
        ids = table.column("id").combine_chunks()
        item = pc.match_substring_regex(ids, _ITEM)
        others = ids.filter(pc.invert(item))
        entity = np.empty(len(ids), np.uint32)
        mask = item.to_numpy(zero_copy_only=False)
        entity[mask] = pc.cast(pc.utf8_slice_codeunits(ids.filter(item), 1), pa.uint32()).to_numpy()
        entity[~mask] = NUMBERED + self._others + np.arange(len(others))
        self._ids.add(others)
        self._others += len(others)
        self._surfaces.add(table.column("alias"))
        self._entity.write(entity.tobytes())
        counts = pc.fill_null(table.column("count"), 0).to_numpy()
        self._count.write(np.clip(counts, 0, _MOST).astype(np.uint32).tobytes())
        self.rows += len(ids)

    def close(self, order: Iterable[Arrow]) -> int:
        """Write the numbers of all rows in the order of their keys from the end; returns how many rows there are."""
        with (self._folder / "backwards").open("wb") as file:
            for part in order:
                file.write(part.to_numpy().astype(np.uint32).tobytes())
        self._count.seek(0)
        while part := self._count.read(4 * SPAN << 12):
            count = np.frombuffer(part, np.uint32)
            self._tops.write(np.maximum.reduceat(count, np.arange(0, len(count), SPAN)).tobytes())
        for each in (self._surfaces, self._ids, self._entity, self._count, self._tops):
            each.close()
        return self.rows


def keyed(table: Arrow) -> Arrow:
    """A table with `alias` and what it is sorted by: the `key` as people type it, and the same from its end, `back`."""
    keys = [folded(alias).encode() for alias in table.column("alias").to_pylist()]
    back = pa.array([backwards(key) for key in keys], pa.binary())
    return table.append_column("key", pa.array(keys, pa.binary())).append_column("back", back)


def weighed(aliases: SortedTable, entities: SortedTable | None) -> Iterator[Arrow]:
    """The aliases of a pack block by block, counted, or else weighed by the links to their entities."""
    for block in aliases.blocks():
        count = block.column("count")
        if count.null_count and entities is not None:
            count = pc.coalesce(count, entities.aligned(block.column("id"), "in_links"))
        yield block.set_column(2, "count", count)


def write_names(folder: Path, tables: Iterable[Arrow]) -> int:
    """Write the index of tables with the columns `id`, `alias` and `count`; returns the number of names.

    It sorts in memory, some 500 bytes a name; packs from dumps are sorted on the disk.
    """
    table = pa.concat_tables([keyed(table) for table in tables]).combine_chunks()
    order = [("key", "ascending"), ("alias", "ascending"), ("count", "descending"), ("id", "ascending")]
    table = table.take(pc.sort_indices(table, order))
    writer = NameWriter(folder)
    for start in range(0, table.num_rows, 1 << 20):
        writer.add(table.slice(start, 1 << 20))
    return writer.close([pc.sort_indices(table.column("back"))])
