"""Writing of a snapshot, table by table, into a temporary folder that replaces the target when complete.

    with open_snapshot_writer(folder, SnapshotManifest(...)) as snapshot:
        snapshot.write_table("entities", table)
        snapshot.write_table("links", tables, is_sorted=True)  # a stream of tables, already sorted

A failed build leaves an older snapshot unchanged. Two builds of one folder never mix.
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

from karat.kb.ids.equivalence_classes import IdEquivalence, MergeConflict, build_equivalence
from karat.kb.ids.id_key_arrays import format_id_keys
from karat.kb.ids.spelling_index import SpellingIndex, respell_pairs
from karat.kb.snapshot.manifest import LAYOUT, MANIFEST, UNKNOWN_POPULARITY, SnapshotManifest, SnapshotTable
from karat.kb.snapshot.name_index import NAME_INDEX_FOLDER
from karat.kb.snapshot.name_index_writer import iterate_weighted_aliases, write_name_index
from karat.kb.snapshot.table_schemas import ENTITY_KINDS, TABLE_SCHEMAS, VALUE_TYPES, TableSchema
from karat.model.errors import InputError, UnknownNameError
from karat.model.tables.arrow import Arrow
from karat.storage.atomic_writing import build_folder, open_for_writing
from karat.storage.data_folder import hash_content
from karat.storage.parquet import SortedTable, write_sorted


class SnapshotWriter:
    """Writer of the tables and the manifest of a snapshot, in a temporary folder (see `open_snapshot_writer`)."""

    def __init__(self, folder: Path, manifest: SnapshotManifest) -> None:
        self.folder, self._manifest = folder, manifest
        self._rows: dict[str, int] = {}
        self._counts: dict[str, int] = {}
        self._repairs: Counter[str] = Counter()
        self._notes: list[str] = []

    def write_table(self, name: str, rows: Arrow | Iterable[Arrow], *, is_sorted: bool = False) -> int:
        """Write a table of `TABLE_SCHEMAS`, as a whole or as a stream of tables; return the number of rows.

        Missing columns are filled with nulls. With `is_sorted`, the rows must be sorted with distinct keys, and a
        stream is not held in memory. Otherwise rows are sorted in memory, and duplicates are written once and counted.
        Raise `InputError` on invalid or repeated keys, and if the table was already written.
        """
        if name not in TABLE_SCHEMAS:
            raise UnknownNameError("table of a snapshot", name, TABLE_SCHEMAS)
        if name in self._rows:
            raise InputError(
                name, actual="a second table of this name", expected="each table once", remedy="Write it with one call"
            )
        schema = TABLE_SCHEMAS[name]
        tables = [rows] if isinstance(rows, pa.Table) else rows
        checked: Iterator[Arrow] = (_check_table(name, schema, table) for table in tables)
        if not is_sorted:
            non_empty = [table for table in checked if table.num_rows]
            checked = iter([self._sort_rows(name, schema, pa.concat_tables(non_empty))] if non_empty else [])
        self._rows[name] = write_sorted(
            self._get_path(name), schema.arrow_schema, _check_order(name, schema, checked), level=3 if is_sorted else 19
        )
        return self._rows[name]

    def write_columns(self, name: str, columns: Mapping[str, Any], **options: Any) -> int:  # noqa: ANN401  # anything that Arrow accepts
        """Write a table from columns by name; return the number of rows. `options` are passed to `write_table`."""
        schema = TABLE_SCHEMAS[name]
        arrays = {column: pa.array(values, schema.columns[column]) for column, values in columns.items()}
        return self.write_table(name, pa.table(arrays), **options)

    def write_text(self, name: str, text: str) -> None:
        """Write a text file called `name` next to the tables, such as a licence notice."""
        with open_for_writing(str(self.folder / name)) as file:
            file.write(text.encode())

    def add_counts(self, **counts: int) -> None:
        """Set further counts in the manifest, by name."""
        self._counts.update(counts)

    def count_repairs(self, counts: Mapping[str, int]) -> None:
        """Add numbers of skipped or corrected inputs, by description, to those in the manifest."""
        self._repairs.update(counts)

    def report_conflicts(self, conflicts: Sequence[MergeConflict]) -> None:
        """Write the conflicts that prevented a merge to `conflicts.tsv`, and the first one to the manifest's notes."""
        if conflicts:
            self.write_text("conflicts.tsv", "".join(f"{conflict.space}\t{conflict}\n" for conflict in conflicts))
            self._notes.append(f"not merged: {conflicts[0]} (conflicts.tsv lists every conflict)")

    def write_name_index(self) -> int:
        """Write the name index of the table `aliases`; return the number of names.

        Without it, the index is built whenever the snapshot is opened for search, which suffices for a small snapshot.
        """
        return write_name_index(
            self.folder / NAME_INDEX_FOLDER,
            iterate_weighted_aliases(self._open_table("aliases"), self._get_entities_table()),
        )

    def _get_entities_table(self) -> SortedTable | None:
        """Return the table of entities; None if it has not been written."""
        return self._open_table("entities") if "entities" in self._rows else None

    def finish(self) -> SnapshotManifest:
        """Write the tables `identity` and `popular` if they are missing, and the manifest; return the manifest."""
        if "identity" not in self._rows and self._rows.keys() & {"redirects", "same_as"}:
            self._write_identity()
        popularity = self._manifest.popularity
        if "popular" not in self._rows and "aliases" in self._rows:
            popularity = self._write_popular()
        tables = {name: self._describe_table(name) for name in TABLE_SCHEMAS if name in self._rows}
        listing = "".join(f"{name} {self._open_table(name).fingerprint}\n" for name in tables)
        manifest = msgspec.structs.replace(
            self._manifest,
            karat=LAYOUT,
            tables=tables,
            popularity=popularity,
            counts={**{name: table.rows for name, table in tables.items()}, **self._counts},
            repairs={
                **self._manifest.repairs,
                **{description: n for description, n in sorted(self._repairs.items()) if n},
            },
            notes=(*self._manifest.notes, *self._notes),
            digest=hashlib.sha256(listing.encode()).hexdigest()[:8],
        )
        with open_for_writing(str(self.folder / MANIFEST)) as file:
            file.write(msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n")
        return manifest

    def _get_path(self, name: str) -> Path:
        """Return the path of the Parquet file of the table `name`."""
        return self.folder / f"{name}.parquet"

    def _describe_table(self, name: str) -> SnapshotTable:
        """Return the manifest's record of a table: number of rows, hash and size of its file."""
        file_content = hash_content(self._get_path(name))
        return SnapshotTable(self._rows[name], file_content.sha256, file_content.size)

    def _open_table(self, name: str) -> SortedTable:
        """Open the written table `name`, for lookups by its first sort column."""
        return SortedTable(self._get_path(name), TABLE_SCHEMAS[name].sorted_by[0])

    def _read_table(self, name: str, *columns: str) -> Arrow:
        """Read all rows of the written table `name`, with these columns."""
        return self._open_table(name).read_all(*columns)

    def _sort_rows(self, name: str, schema: TableSchema, table: Arrow) -> Arrow:
        """Return the rows sorted and without duplicates, which are counted; lists of equal keys are joined."""
        table = table.combine_chunks()
        list_columns = [column for column, kind in schema.columns.items() if pa.types.is_list(kind)]
        sort_columns = [column for column in schema.columns if column not in list_columns]
        table = table.take(pc.sort_indices(table, [(column, "ascending") for column in sort_columns]))
        is_duplicate = _find_duplicates(table.select(sort_columns))
        if is_duplicate.any():
            first_rows = np.maximum.accumulate(np.where(is_duplicate, 0, np.arange(len(is_duplicate))))
            n_joined = 0
            for column in list_columns:
                values, n_changed = _join_lists(table.column(column).to_pylist(), first_rows.tolist())
                n_joined += n_changed
                array = pa.array(values, schema.columns[column])
                table = table.set_column(table.column_names.index(column), column, array)
            if n_joined:
                self._repairs[f"rows of {name} joined with another row of the same key"] += n_joined
            if n_skipped := int(is_duplicate.sum()) - n_joined:
                self._repairs[f"rows of {name} that are duplicates, skipped"] += n_skipped
            table = table.filter(pa.array(~is_duplicate))
        return table

    def _write_identity(self) -> None:
        """Write the table `identity`, derived from redirects and same-as pairs; report conflicts.

        It has every spelling of the tables, and the spellings that look-ups try, which have keys of bare titles only if
        the manifest names their space.
        """
        pairs = {
            name: list(zip(*(column.to_pylist() for column in self._read_table(name).columns), strict=True))
            for name in ("redirects", "same_as")
            if name in self._rows
        }
        entity_ids = frozenset(
            self._read_table("entities", "id").column(0).to_pylist() if "entities" in self._rows else ()
        )
        table_ids = sorted({id for rows in pairs.values() for pair in rows for id in pair})
        all_ids = sorted(entity_ids.union(table_ids))
        index = SpellingIndex.from_ids(all_ids, self._manifest.title_space.removesuffix("wiki"))
        spellings = index.group(all_ids, entity_ids)
        written = pairs.get("redirects", [])
        redirects = [  # a redirect from one spelling of an id to another says nothing
            pair
            for pair, (id, target) in zip(respell_pairs(written, spellings), written, strict=True)
            if pair[0] != pair[1] or id == target
        ]
        equivalence = build_equivalence(redirects, respell_pairs(pairs.get("same_as", ()), spellings), entity_ids)
        self.count_repairs(equivalence.repairs)
        rows = _list_identity_rows(equivalence)
        for id, other in spellings.items():
            rows[id] = rows.get(other, (other, "same-as"))
        keys, _ = format_id_keys(
            pa.array(table_ids, pa.string()),
            space=self._manifest.space,
            title_space=self._manifest.title_space,
            has_prefixed_ids=min(entity_ids, default="").startswith(f"{self._manifest.space}:"),
        )
        for id, key in zip(table_ids, keys.to_pylist(), strict=True):
            titles = () if self._manifest.title_space else index.iterate_title_spellings(id)
            for spelling in (*titles, *([] if key is None else [key])):
                if spelling != id and spelling not in entity_ids:
                    rows.setdefault(spelling, rows.get(id, (id, "same-as")))
        self.write_columns(
            "identity",
            {"id": list(rows), "entity": [row[0] for row in rows.values()], "how": [row[1] for row in rows.values()]},
        )
        if equivalence.conflicts:
            self.report_conflicts(equivalence.conflicts)

    def _write_popular(self) -> str:
        """Write the most popular entities of each alias, and return the criterion as text for the manifest.

        An alias is omitted, its popular entities being unknown, if it has several entities and the frequency of one of
        them is unknown.
        """
        aliases = self._read_table("aliases")
        weight, criterion = self._weigh_aliases(aliases)
        table = pa.table({"surface": aliases.column("alias"), "id": aliases.column("id"), "weight": weight})
        best = table.group_by("surface").aggregate(
            [("weight", "max"), ("weight", "count"), ("id", "count")]  # the first count is of known frequencies
        )
        is_decided = pc.or_(pc.equal(best["weight_count"], best["id_count"]), pc.equal(best["id_count"], 1))
        best = best.filter(is_decided)
        rows = pc.index_in(table.column("surface"), value_set=best.column("surface").combine_chunks())
        is_best = pc.equal(table.column("weight"), best.column("weight_max").take(rows))
        # The only entity of an alias needs no frequency.
        table = table.filter(pc.and_(pc.is_valid(rows), pc.fill_null(is_best, True)))
        grouped = table.group_by("surface").aggregate([("id", "distinct")])
        self.write_columns(
            "popular",
            {
                "surface": grouped.column("surface").combine_chunks(),
                "ids": [sorted(ids) for ids in grouped.column("id_distinct").to_pylist()],
            },
        )
        return criterion

    def _weigh_aliases(self, aliases: Arrow) -> tuple[Arrow, str]:
        """Return the frequency of each row of the table `aliases`, null if unknown, and its source as text.

        These are the counts of aliases. If there are none, they are the links to the entity, with its population to
        break ties; without links, its population.
        """
        counts = aliases.column("count")
        if counts.null_count < len(counts):
            return counts, "counts of aliases"
        if "entities" in self._rows:
            entities = self._read_table("entities", "id", "in_links", "population")
            rows = pc.index_in(aliases.column("id"), value_set=entities.column("id").combine_chunks())
            links, population = (entities.column(name).take(rows) for name in ("in_links", "population"))
            if links.null_count < len(links):
                weight = pc.add(pc.multiply(links, 1 << 36), pc.fill_null(population, 0))
                return weight, "links to the entity, then its population"
            if population.null_count < len(population):
                return population, "population of the entity"
        return counts, UNKNOWN_POPULARITY


@contextmanager
def open_snapshot_writer(folder: Path, manifest: SnapshotManifest) -> Iterator[SnapshotWriter]:
    """Open a writer for a snapshot that replaces `folder` when the block ends without error.

    `manifest`: manifest without tables and counts, which the writer adds.
    """
    with build_folder(folder) as partial:
        writer = SnapshotWriter(partial, manifest)
        yield writer
        writer.finish()


def _list_identity_rows(equivalence: IdEquivalence) -> dict[str, tuple[str, str]]:
    """Return the columns `entity` and `how` of the table `identity`, by id."""
    rows = {
        id: (entity, "redirect" if id in equivalence.redirected_ids else "same-as")
        for id, entity in equivalence.canonical.items()
    }
    rows.update((id, (rows.get(id, (id, ""))[0], "ambiguous")) for id in equivalence.conflict_index)
    return rows


def _check_table(name: str, schema: TableSchema, table: Arrow) -> Arrow:
    """Return the table with all columns of its schema, nulls where missing; a null kind of entities becomes `normal`.

    Raise `InputError` on unknown columns, empty keys and invalid values.
    """
    unknown_columns = sorted(set(table.column_names) - set(schema.columns))
    if unknown_columns or not set(schema.sorted_by) <= set(table.column_names):
        raise InputError(
            f"table {name}",
            actual=f"the columns {', '.join(table.column_names)}",
            expected=", ".join(schema.columns),
            remedy=f"Write {' and '.join(schema.sorted_by)}; the other columns are optional",
        )
    columns = [
        table.column(column).cast(kind) if column in table.column_names else pa.nulls(table.num_rows, kind)
        for column, kind in schema.columns.items()
    ]
    table = pa.table(columns, schema=schema.arrow_schema)
    for column in schema.sorted_by:
        empty = pc.equal(pc.fill_null(pc.utf8_length(table.column(column)), 0), 0)
        if pc.any(empty).as_py():
            raise InputError(
                f"table {name}, row {pc.index(empty, True).as_py() + 1}",
                actual=f"an empty {column}",
                expected=f"a value of {column} in every row",
                remedy="Fill it in, or remove the row",
            )
    if name == "entities":
        table = table.set_column(2, "kind", pc.fill_null(table.column("kind"), "normal"))
        _check_values(name, "kind", table, ENTITY_KINDS)
        _check_values(name, "value", table, VALUE_TYPES)
    return table


def _check_values(name: str, column: str, table: Arrow, allowed: tuple[str, ...]) -> None:
    """Raise `InputError` if a column of the table `name` has a value that is not allowed; nulls are allowed."""
    invalid = [
        value for value in pc.unique(table.column(column)).to_pylist() if value is not None and value not in allowed
    ]
    if invalid:
        raise InputError(
            f"table {name}",
            actual=f"the {column} {invalid[0]!r}",
            expected=", ".join(allowed),
            remedy="Use one of these",
        )


def _check_order(name: str, schema: TableSchema, tables: Iterable[Arrow]) -> Iterator[Arrow]:
    """Yield the non-empty tables; raise `InputError` if rows are not sorted by key, or a unique key is repeated."""
    last: Arrow | None = None
    for table in tables:
        if not table.num_rows:
            continue
        keys = table.select(list(schema.sorted_by)).combine_chunks()
        both = keys if last is None else pa.concat_tables([last, keys]).combine_chunks()
        bad_row = _find_disorder(both, has_unique_keys=schema.has_unique_keys)
        if bad_row is not None:
            key = " ".join(str(column[bad_row].as_py()) for column in both.columns)
            raise InputError(
                f"table {name}",
                actual=f"{key!r} repeated or out of order",
                expected=f"one row per {' and '.join(schema.sorted_by)}, sorted",
                remedy="Merge rows with the same key, and sort the rows",
            )
        last = keys.slice(keys.num_rows - 1)
        yield table


def _find_disorder(keys: Arrow, *, has_unique_keys: bool) -> int | None:
    """Return the index of the first row whose key does not follow the key of the row before it; None if all do.

    `has_unique_keys`: whether equal keys are out of order too.
    """
    if keys.num_rows < 2:
        return None
    is_less = np.zeros(keys.num_rows - 1, np.bool_)
    is_equal = np.ones(keys.num_rows - 1, np.bool_)
    for column in keys.columns:
        values = column.combine_chunks()
        left, right = values.slice(0, len(values) - 1), values.slice(1)
        is_less |= is_equal & pc.less(left, right).to_numpy(zero_copy_only=False)
        is_equal &= pc.equal(left, right).to_numpy(zero_copy_only=False)
    is_ordered = is_less if has_unique_keys else is_less | is_equal
    return None if is_ordered.all() else int(np.argmin(is_ordered)) + 1


def _join_lists(lists: Sequence[list[str] | None], first_rows: Sequence[int]) -> tuple[list[list[str] | None], int]:
    """Join each list to that of its first row, and return all lists and the number of rows that added anything.

    `first_rows` has the first row with the same key for each row. The result of a first row is a new list.
    """
    joined = list(lists)
    n_changed = 0
    for row, first in enumerate(first_rows):
        values = lists[row]
        if first == row or values is None:
            continue
        before = joined[first]
        union = list(dict.fromkeys([*(before or ()), *values]))
        if before is None or len(union) > len(before):
            joined[first] = union
            n_changed += 1
    return joined, n_changed


def _find_duplicates(table: Arrow) -> Any:  # noqa: ANN401  # an array of NumPy
    """Return a mask of the rows that equal the row before them; nulls equal each other."""
    mask = np.ones(table.num_rows, np.bool_)
    mask[:1] = False
    for column in table.columns:
        values = column.combine_chunks()
        left, right = values.slice(0, max(len(values) - 1, 0)), values.slice(1)
        same = pc.or_kleene(pc.equal(left, right), pc.and_(pc.is_null(left), pc.is_null(right)))
        mask[1:] &= pc.fill_null(same, False).to_numpy(zero_copy_only=False)
    return mask
