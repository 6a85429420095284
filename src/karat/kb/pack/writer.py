"""How a pack is written: table by table into a folder of its own, which takes its place when all is there.

    with writing_pack(folder, PackManifest(...)) as pack:
        pack.write("entities", table)
        pack.write("links", tables, ordered=True)  # a stream of tables, sorted by whoever makes it

A build that fails leaves an older pack as it was; two builds of one folder never mix.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.errors import InputError, UnknownNameError
from karat.kb.identity import Identity, Joined, identity
from karat.kb.pack.manifest import LAYOUT, MANIFEST, PackManifest, PackTable
from karat.kb.pack.name_writer import weighed, write_names
from karat.kb.pack.names import NAMES
from karat.kb.pack.shapes import KINDS, SHAPES, VALUES, PackShape
from karat.model.tables.arrow import Arrow
from karat.storage.files import writing
from karat.storage.folders import building
from karat.storage.home import content
from karat.storage.parquet import SortedTable, write_sorted


class PackWriter:
    """The tables of a pack that is being built."""

    def __init__(self, folder: Path, manifest: PackManifest) -> None:
        self.folder, self._manifest = folder, manifest
        self._rows: dict[str, int] = {}
        self._counts: dict[str, int] = {}
        self._repairs: Counter[str] = Counter()
        self._notes: list[str] = []

    def write(self, name: str, rows: Arrow | Iterable[Arrow], *, ordered: bool = False) -> int:
        """Write a table of `SHAPES`, whole or as a stream of tables; columns may be left out. Returns its rows.

        Rows that say the same twice are written once, and counted. What comes `ordered` is not held in memory.
        """
        if name not in SHAPES:
            raise UnknownNameError("table of a pack", name, SHAPES)
        if name in self._rows:
            raise InputError(
                name, found="a second table of this name", expected="each table once", remedy="Write it in one go"
            )
        shape = SHAPES[name]
        tables = [rows] if isinstance(rows, pa.Table) else rows
        checked: Iterator[Arrow] = (_checked(name, shape, table) for table in tables)
        if not ordered:
            every = [table for table in checked if table.num_rows]
            checked = iter([self._sorted(name, shape, pa.concat_tables(every))] if every else [])
        self._rows[name] = write_sorted(
            self._path(name), shape.schema, _in_order(name, shape, checked), level=3 if ordered else 19
        )
        return self._rows[name]

    def columns(self, name: str, rows: Mapping[str, Any], **more: Any) -> int:  # noqa: ANN401  # whatever Arrow takes
        """Write a table from columns by their names."""
        shape = SHAPES[name]
        arrays = {column: pa.array(values, shape.columns[column]) for column, values in rows.items()}
        return self.write(name, pa.table(arrays), **more)

    def text(self, name: str, content: str) -> None:
        """Put a text beside the tables, such as a notice about licences."""
        with writing(str(self.folder / name)) as file:
            file.write(content.encode())

    def count(self, **counts: int) -> None:
        """Put numbers of one's own into the manifest."""
        self._counts.update(counts)

    def repaired(self, counts: Mapping[str, int]) -> None:
        """Count what was left out or mended, in words."""
        self._repairs.update(counts)

    def joined(self, chains: Sequence[Joined]) -> None:
        """Tell which items of one space others would make one, by which chains: the first in a note, all in a file."""
        if chains:
            self.text("joined.tsv", "".join(f"{each.space}\t{each}\n" for each in chains))
            self._notes.append(f"not merged: {chains[0]} (joined.tsv has every such chain)")

    def index_names(self) -> int:
        """Write the index by which names are found on the disk; a small pack is searched without."""
        return write_names(self.folder / NAMES, weighed(self._stored("aliases"), self._entities()))

    def _entities(self) -> SortedTable | None:
        return self._stored("entities") if "entities" in self._rows else None

    def finish(self) -> PackManifest:
        """Derive what nobody wrote, and write the manifest."""
        if "identity" not in self._rows and self._rows.keys() & {"redirects", "same_as"}:
            self._write_identity()
        popularity = self._manifest.popularity
        if "popular" not in self._rows and "aliases" in self._rows:
            popularity = self._write_popular()
        tables = {name: self._described(name) for name in SHAPES if name in self._rows}
        listing = "".join(f"{name} {self._stored(name).fingerprint}\n" for name in tables)
        manifest = msgspec.structs.replace(
            self._manifest,
            karat=LAYOUT,
            tables=tables,
            popularity=popularity,
            counts={**{name: table.rows for name, table in tables.items()}, **self._counts},
            repairs={**self._manifest.repairs, **{what: n for what, n in sorted(self._repairs.items()) if n}},
            notes=(*self._manifest.notes, *self._notes),
            digest=hashlib.sha256(listing.encode()).hexdigest()[:8],
        )
        with writing(str(self.folder / MANIFEST)) as file:
            file.write(msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n")
        return manifest

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.parquet"

    def _described(self, name: str) -> PackTable:
        found = content(self._path(name))
        return PackTable(self._rows[name], found.sha256, found.size)

    def _stored(self, name: str) -> SortedTable:
        return SortedTable(self._path(name), SHAPES[name].sorted_by[0])

    def _read(self, name: str, *columns: str) -> Arrow:
        return self._stored(name).whole(*columns)

    def _sorted(self, name: str, shape: PackShape, table: Arrow) -> Arrow:
        """The rows in order, each once."""
        table = table.combine_chunks()
        plain = [column for column, kind in shape.columns.items() if not pa.types.is_list(kind)]
        table = table.take(pc.sort_indices(table, [(column, "ascending") for column in plain]))
        same = _again(table.select(plain))
        if same.any():
            self._repairs[f"rows of {name} that say the same again, left out"] += int(same.sum())
            table = table.filter(pa.array(~same))
        return table

    def _write_identity(self) -> None:
        pairs = {
            name: zip(*(column.to_pylist() for column in self._read(name).columns), strict=True)
            for name in ("redirects", "same_as")
            if name in self._rows
        }
        known = frozenset(self._read("entities", "id").column(0).to_pylist() if "entities" in self._rows else ())
        found = identity(pairs.get("redirects", ()), pairs.get("same_as", ()), known)
        self.repaired(found.repairs)
        self.columns("identity", _identity_rows(found))
        if found.joined:
            self.joined(found.joined)

    def _write_popular(self) -> str:
        """The most popular entities of each surface: by counts of aliases, or else by links to the entity."""
        aliases = self._read("aliases")
        counted = aliases.column("count").null_count < aliases.num_rows
        weight = pc.fill_null(aliases.column("count"), 0)
        if not counted and "entities" in self._rows:
            entities = self._read("entities", "id", "in_links", "population")
            at = pc.index_in(aliases.column("id"), value_set=entities.column("id").combine_chunks())
            links, people = (pc.fill_null(entities.column(name).take(at), 0) for name in ("in_links", "population"))
            # Population decides between places that nothing, or equally much, links to.
            order = pa.table({"links": links, "people": people})
            weight = pc.add(pc.multiply(order.column("links"), 1 << 36), order.column("people"))
        table = pa.table({"surface": aliases.column("alias"), "id": aliases.column("id"), "weight": weight})
        best = table.group_by("surface").aggregate([("weight", "max")])
        most = best.column("weight_max").take(
            pc.index_in(table.column("surface"), value_set=best.column("surface").combine_chunks())
        )
        table = table.filter(pc.equal(table.column("weight"), most))
        grouped = table.group_by("surface").aggregate([("id", "distinct")])
        self.columns(
            "popular",
            {
                "surface": grouped.column("surface").combine_chunks(),
                "ids": [sorted(ids) for ids in grouped.column("id_distinct").to_pylist()],
            },
        )
        return "counts of aliases" if counted else "links to the entity, then its population"


@contextmanager
def writing_pack(folder: Path, manifest: PackManifest) -> Iterator[PackWriter]:
    """A pack to write tables of; it takes the place of `folder` when all went well."""
    with building(folder) as partial:
        writer = PackWriter(partial, manifest)
        yield writer
        writer.finish()


def _identity_rows(found: Identity) -> dict[str, list[str]]:
    rows = {
        id: (entity, "redirect" if id in found.redirected else "same-as") for id, entity in found.stands_for.items()
    }
    rows.update((id, (rows.get(id, (id, ""))[0], "ambiguous")) for id in found.ambiguous)
    return {
        "id": list(rows),
        "entity": [entity for entity, _ in rows.values()],
        "how": [how for _, how in rows.values()],
    }


def _checked(name: str, shape: PackShape, table: Arrow) -> Arrow:
    """The table with all columns of its shape, if it has no others and every key is filled in."""
    unknown = sorted(set(table.column_names) - set(shape.columns))
    if unknown or not set(shape.sorted_by) <= set(table.column_names):
        raise InputError(
            f"table {name}",
            found=f"the columns {', '.join(table.column_names)}",
            expected=", ".join(shape.columns),
            remedy=f"Write {' and '.join(shape.sorted_by)}, and of the others what is known",
        )
    columns = [
        table.column(column).cast(kind) if column in table.column_names else pa.nulls(table.num_rows, kind)
        for column, kind in shape.columns.items()
    ]
    table = pa.table(columns, schema=shape.schema)
    for column in shape.sorted_by:
        empty = pc.equal(pc.fill_null(pc.utf8_length(table.column(column)), 0), 0)
        if pc.any(empty).as_py():
            raise InputError(
                f"table {name}, row {pc.index(empty, True).as_py() + 1}",
                found=f"an empty {column}",
                expected=f"a value of {column} in every row",
                remedy="Fill it in, or leave the row out",
            )
    if name == "entities":
        table = table.set_column(2, "kind", pc.fill_null(table.column("kind"), "normal"))
        _among(name, "kind", table, KINDS)
        _among(name, "value", table, VALUES)
    return table


def _among(name: str, column: str, table: Arrow, values: tuple[str, ...]) -> None:
    wrong = [
        value for value in pc.unique(table.column(column)).to_pylist() if value is not None and value not in values
    ]
    if wrong:
        raise InputError(
            f"table {name}", found=f"the {column} {wrong[0]!r}", expected=", ".join(values), remedy="Use one of these"
        )


def _in_order(name: str, shape: PackShape, tables: Iterable[Arrow]) -> Iterator[Arrow]:
    """The tables, of which every row comes after the one before; none is held longer than needed."""
    last: Arrow | None = None
    for table in tables:
        if not table.num_rows:
            continue
        keys = table.select(list(shape.sorted_by)).combine_chunks()
        both = keys if last is None else pa.concat_tables([last, keys]).combine_chunks()
        wrong = _out_of_order(both, once=shape.once)
        if wrong is not None:
            said = " ".join(str(column[wrong].as_py()) for column in both.columns)
            raise InputError(
                f"table {name}",
                found=f"{said!r} again, or after what it should come before",
                expected=f"one row for each {' and '.join(shape.sorted_by)}, in order",
                remedy="Make one row of those with the same key, and sort them",
            )
        last = keys.slice(keys.num_rows - 1)
        yield table


def _out_of_order(keys: Arrow, *, once: bool) -> int | None:
    """The first row that does not come after the one before it."""
    if keys.num_rows < 2:
        return None
    before = np.zeros(keys.num_rows - 1, np.bool_)
    equal = np.ones(keys.num_rows - 1, np.bool_)
    for column in keys.columns:
        values = column.combine_chunks()
        one, other = values.slice(0, len(values) - 1), values.slice(1)
        before |= equal & pc.less(one, other).to_numpy(zero_copy_only=False)
        equal &= pc.equal(one, other).to_numpy(zero_copy_only=False)
    right = before if once else before | equal
    return None if right.all() else int(np.argmin(right)) + 1


def _again(table: Arrow) -> Any:  # noqa: ANN401  # an array of NumPy
    """Which rows are as the one before."""
    again = np.ones(table.num_rows, np.bool_)
    again[:1] = False
    for column in table.columns:
        values = column.combine_chunks()
        one, other = values.slice(0, max(len(values) - 1, 0)), values.slice(1)
        same = pc.or_kleene(pc.equal(one, other), pc.and_(pc.is_null(one), pc.is_null(other)))
        again[1:] &= pc.fill_null(same, False).to_numpy(zero_copy_only=False)
    return again
