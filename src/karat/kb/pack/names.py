"""Entities by name: an index on the disk that answers letter by letter, by beginnings, and in spite of a slip."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from karat.model.tables.arrow import Arrow
from karat.storage.strings import MappedNumbers, MappedStrings, write_numbers, write_strings

if TYPE_CHECKING:  # lookups need no Arrow, which takes more memory than the names of a small pack
    from karat.storage.parquet import SortedTable

_END = b"\xff"  # comes after every character of UTF-8
_MOST = (1 << 32) - 1


NAMES = "names"
"""The folder of the index in a pack."""


class Named(NamedTuple):
    """An entity that a surface stands for, and how much speaks for it: counts, or links to the entity."""

    id: str
    surface: str
    weight: int


def folded(text: str) -> str:
    """A text as people type it: without marks and case."""
    if text.isascii():
        return text.lower()
    plain = "".join(sign for sign in unicodedata.normalize("NFKD", text) if not unicodedata.combining(sign))
    return plain.casefold()


class _Keys(Sequence[bytes]):
    """The surfaces as people type them; made when they are looked at, so that they need no place of their own."""

    def __init__(self, surfaces: MappedStrings) -> None:
        self._surfaces = surfaces

    def __len__(self) -> int:
        return len(self._surfaces)

    def __getitem__(self, place: Any) -> Any:  # noqa: ANN401  # a number is all that is asked for
        found = self._surfaces[place]
        return found.lower() if found.isascii() else folded(found.decode()).encode()


class NameIndex:
    """The names of a pack, sorted as people type them; nothing is read before it is asked for."""

    def __init__(self, folder: Path) -> None:
        self._surfaces, self._ids = (MappedStrings(folder / name) for name in ("surfaces", "ids"))
        self._keys = _Keys(self._surfaces)
        self._entity, self._count = (MappedNumbers(folder / name, "uint32") for name in ("entity", "count"))

    def __len__(self) -> int:
        return len(self._keys)

    def exact(self, surface: str) -> list[Named]:
        """The entities that a surface stands for, letter by letter, most counted first."""
        key, own = folded(surface).encode(), surface.encode()
        row, found = bisect_left(self._keys, key), []
        while row < len(self._keys) and self._keys[row] == key:
            if self._surfaces[row] == own:
                found.append(row)
            row += 1
        return self._best(found, len(found))

    def beginning(self, text: str, limit: int = 10) -> list[Named]:
        """The entities with a name that begins so, whatever its case and marks."""
        low, high = self._range(folded(text).encode(), 0, len(self._keys))
        return self._best(range(low, high), limit)

    def near(self, text: str, limit: int = 10) -> list[Named]:
        """The entities with a name that is so but for one slip: a letter more, less, another, or two exchanged."""
        rows = {row for key in {*_slips(self._reach, folded(text))} for row in range(*self._same(key.encode()))}
        return self._best(sorted(rows), limit)

    def _range(self, start: bytes, low: int, high: int) -> tuple[int, int]:
        """The rows, between two, of which the key begins so."""
        low = bisect_left(self._keys, start, low, high)
        return low, bisect_left(self._keys, start + _END, low, high)

    def _same(self, key: bytes) -> tuple[int, int]:
        low = bisect_left(self._keys, key)
        return low, bisect_left(self._keys, key + b"\0", low)

    def _reach(self, start: str) -> list[str] | None:
        """The characters that follow a beginning in any key; None where no key begins so."""
        begin = start.encode()
        row, high = self._range(begin, 0, len(self._keys))
        if row == high:
            return None
        signs = []
        while row < high:
            rest = self._keys[row][len(begin) :]
            if not rest:
                row = bisect_left(self._keys, begin + b"\0", row, high)
                continue
            sign = rest[: _width(rest[0])]
            signs.append(sign.decode())
            row = bisect_left(self._keys, begin + sign + _END, row, high)
        return signs

    def _best(self, rows: range | list[int], limit: int) -> list[Named]:
        """What stands in some rows, most counted first, each entity once."""
        every = self._count.array
        count = every[rows.start : rows.stop] if isinstance(rows, range) else every[np.array(rows, np.int64)]
        most = 4 * limit  # an entity may have several names among them
        kept = np.arange(len(count))
        if len(count) > most:
            kept = np.argpartition(count, len(count) - most)[len(count) - most :]
        places, count = np.array([rows[place] for place in kept.tolist()], np.int64), count[kept]
        found: dict[str, Named] = {}
        for place in np.lexsort((places, -count.astype(np.int64))).tolist():
            row = int(places[place])
            id = self._ids[int(self._entity.array[row])].decode()
            found.setdefault(id, Named(id, self._surfaces[row].decode(), int(count[place])))
        return list(found.values())[:limit]


def _slips(reach: Callable[[str], list[str] | None], text: str) -> Iterator[str]:
    """All keys that are one slip away, as far as some key begins like them."""
    yield text
    for place in range(len(text) + 1):
        start, rest = text[:place], text[place + 1 :]
        signs = reach(start)
        if signs is None:
            return
        if place < len(text):
            yield start + rest
        if place + 1 < len(text):
            yield start + text[place + 1] + text[place] + text[place + 2 :]
        for sign in signs:
            yield start + sign + text[place:]
            if place < len(text):
                yield start + sign + rest


def _width(first: int) -> int:
    """How many bytes a character has that begins with this one."""
    return 1 if first < 0x80 else 2 if first < 0xE0 else 3 if first < 0xF0 else 4


def weighed(aliases: SortedTable, entities: SortedTable | None) -> Iterator[Arrow]:
    """The aliases of a pack block by block, counted, or else weighed by the links to their entities."""
    import pyarrow.compute as pc

    for block in aliases.blocks():
        count = block.column("count")
        if count.null_count and entities is not None:
            count = pc.coalesce(count, entities.aligned(block.column("id"), "in_links"))
        yield block.set_column(2, "count", count)


def write_names(folder: Path, tables: Iterable[Arrow]) -> int:
    """Write the index of tables with the columns `id`, `alias` and `count`; returns the number of names.

    It sorts in memory: five million names take about two gigabytes while it is built, and none afterwards.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    folder.mkdir(parents=True, exist_ok=True)
    table = pa.concat_tables(list(tables)).combine_chunks()
    keys = pa.chunked_array(
        [pa.array(map(folded, chunk.to_pylist()), pa.string()) for chunk in table.column("alias").chunks], pa.string()
    )
    table = table.append_column("key", keys)
    order = [("key", "ascending"), ("alias", "ascending"), ("count", "descending"), ("id", "ascending")]
    table = table.take(pc.sort_indices(table, order))
    entity = table.column("id").combine_chunks().dictionary_encode()
    write_strings(folder / "surfaces", table.column("alias").combine_chunks())
    write_strings(folder / "ids", entity.dictionary)
    write_numbers(folder / "entity", entity.indices.to_numpy().astype(np.uint32))
    counts = pc.fill_null(table.column("count"), 0).to_numpy()
    write_numbers(folder / "count", np.minimum(counts, _MOST).astype(np.uint32))
    return int(table.num_rows)
