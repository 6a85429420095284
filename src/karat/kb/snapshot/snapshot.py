"""A snapshot as a knowledge base: Parquet tables that are read on demand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.kb.hierarchy import Hierarchy
from karat.kb.ids.id_key_arrays import format_id_keys
from karat.kb.ids.id_spaces import parse_id_key
from karat.kb.protocol import IdStatus
from karat.kb.snapshot.manifest import SnapshotManifest, read_manifest
from karat.kb.snapshot.name_index import NAME_INDEX_FOLDER, NameIndex, is_name_index
from karat.kb.snapshot.name_index_writer import iterate_weighted_aliases, write_name_index
from karat.kb.snapshot.table_schemas import TABLE_SCHEMAS
from karat.model.caches.value_cache import ValueCache
from karat.model.errors import InputError
from karat.model.tables.arrow import Arrow
from karat.storage.files import printable_path
from karat.storage.parquet import SortedTable, to_string_array


@dataclass(frozen=True, eq=False)
class Snapshot(ValueCache):
    """A knowledge base in a folder of Parquet tables with a manifest; opening it reads only the manifest."""

    folder: Path
    """Folder of the snapshot."""
    manifest: SnapshotManifest
    """Manifest of the snapshot."""
    _open_tables: dict[str, SortedTable] = field(default_factory=dict, repr=False)
    _answers: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict, repr=False)
    """Answers to small queries, by table and column and then by key, for queries that repeat most of their keys."""

    @classmethod
    def open(cls, folder: Path) -> Snapshot:
        """Open the snapshot in a folder; raise `InputError` if a table is missing or of another size than stated."""
        manifest = read_manifest(folder)
        for name, table in manifest.tables.items():
            path = folder / f"{name}.parquet"
            if name not in TABLE_SCHEMAS or not path.is_file() or path.stat().st_size != table.size:
                raise InputError(
                    printable_path(str(path)),
                    actual="a missing table, or one of another size" if name in TABLE_SCHEMAS else "an unknown table",
                    expected=f"the {table.size} bytes that the manifest states",
                    remedy="Build or copy the snapshot again",
                )
        return cls(folder, manifest)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle folder and manifest only; another process opens the tables itself."""
        return Snapshot, (self.folder, self.manifest)

    @property
    def name(self) -> str:
        """Name in reports and signatures."""
        return self.manifest.name

    @property
    def digest(self) -> str:
        """Eight hexadecimal digits that identify the content of all tables."""
        return self.manifest.digest

    @cached_property
    def hierarchy(self) -> Hierarchy:
        """Classes with their superclasses; empty if the snapshot has no table of classes."""
        table = self.get_table("subclass_of")
        rows = () if table is None else zip(*(column.to_pylist() for column in table.read_all().columns), strict=True)
        return Hierarchy.from_pairs(rows)

    def get_table(self, name: str) -> SortedTable | None:
        """Open a table of the snapshot by name, once; return None if the snapshot lacks it."""
        if name not in self.manifest.tables:
            return None
        if name not in self._open_tables:
            self._open_tables[name] = SortedTable(self.folder / f"{name}.parquet", TABLE_SCHEMAS[name].sorted_by[0])
        return self._open_tables[name]

    @cached_property
    def name_index(self) -> NameIndex | None:
        """Index for the search of entities by name; None without aliases. Built in a temporary folder if not stored."""
        if is_name_index(self.folder / NAME_INDEX_FOLDER):
            return NameIndex(self.folder / NAME_INDEX_FOLDER)
        aliases = self.get_table("aliases")
        if aliases is None:
            return None
        with TemporaryDirectory() as folder:  # mapped files survive the removal of their folder
            write_name_index(Path(folder), iterate_weighted_aliases(aliases, self.get_table("entities")))
            return NameIndex(Path(folder))

    def canonical_ids(self, ids: Sequence[str]) -> list[str]:
        """Return the canonical id of each id, in any id space and spelling; an unknown id is returned unchanged."""
        return self._recall(("identity", "entity"), ids, lambda ids: self.resolve(ids).column("entity").to_pylist())

    def id_statuses(self, ids: Sequence[str]) -> list[IdStatus]:
        """Return the status of each id; deleted entities are unknown."""
        resolution = self.resolve(ids)
        kinds = self._look_up_values("entities", resolution.column("entity"), "kind")
        rows = zip(ids, *(column.to_pylist() for column in resolution.columns), kinds, strict=True)
        return [_get_status(id, entity, how, kind) for id, entity, how, kind in rows]

    def resolve(self, ids: Sequence[str] | Arrow) -> Arrow:
        """Return a table with one row per id: its canonical id (`entity`), and `how` the table `identity` led to it.

        `how` is `redirect`, `same-as`, `ambiguous` (the id stays unchanged), or empty if `identity` lacks the id. An id
        is looked up as written, and then by its key (see `karat.kb.ids.id_spaces`). Ids are resolved in batches to
        bound memory.
        """
        batches = [
            self._resolve_batch(ids[start : start + _IDS_PER_BATCH]) for start in range(0, len(ids), _IDS_PER_BATCH)
        ]
        return pa.concat_tables(batches) if batches else self._resolve_batch([])

    def _resolve_batch(self, ids: Sequence[str] | Arrow) -> Arrow:
        """Return the table of `resolve` for one batch of ids; each distinct id is looked up once."""
        encoded = to_string_array(ids).dictionary_encode()
        names = encoded.dictionary
        entity, how = self._look_up_identity(names)
        is_unresolved = pc.equal(how, "")
        spelling, is_in_space = format_id_keys(
            names.filter(is_unresolved),
            space=self.manifest.space,
            title_space=self.manifest.title_space,
            has_prefixed_ids=self._has_prefixed_ids,
        )
        has_spelling = spelling.is_valid()
        key_entity, key_how = self._look_up_identity(spelling.filter(has_spelling))
        # A key without an entry is used only if it is an id of the snapshot's own space.
        is_used = pc.or_(is_in_space.filter(has_spelling), pc.not_equal(key_how, ""))
        rows = pc.indices_nonzero(is_unresolved).filter(has_spelling).filter(is_used)
        mask = np.zeros(len(names), np.bool_)
        mask[rows.to_numpy()] = True
        entity = pc.replace_with_mask(entity, pa.array(mask), key_entity.filter(is_used))
        how = pc.replace_with_mask(how, pa.array(mask), key_how.filter(is_used))
        return pa.table({"entity": entity, "how": how}).take(encoded.indices)

    def contains(self, ids: Sequence[str]) -> list[bool] | None:
        """Return whether each id leads to an entity; None (no list) if the snapshot is incomplete or lists no entities.

        Deleted entities and disambiguation pages that the table lists count too.
        """
        return (
            self._check_listed(self.canonical_ids(ids))
            if self.manifest.complete and "entities" in self.manifest.tables
            else None
        )

    def names(self, ids: Sequence[str]) -> list[str | None]:
        """Return the name of the entity that each id leads to; None if unknown."""
        return self._look_up_values("entities", self.canonical_ids(ids), "name")

    def descriptions(self, ids: Sequence[str]) -> list[str | None]:
        """Return a short description of the entity that each id leads to; None if unknown."""
        return self._look_up_values("entities", self.canonical_ids(ids), "description")

    def aliases(self, ids: Sequence[str]) -> list[frozenset[str] | None]:
        """Return the aliases of the entity that each id leads to; None if no alias is known."""
        table, canonical = self.get_table("aliases"), self.canonical_ids(ids)
        if table is None:
            return [None] * len(canonical)
        rows = table.find_rows(canonical, "alias")
        aliases_by_id: dict[str, set[str]] = {}
        for id, alias in zip(rows.column(0).to_pylist(), rows.column(1).to_pylist(), strict=True):
            aliases_by_id.setdefault(id, set()).add(alias)
        return [frozenset(aliases_by_id[id]) if id in aliases_by_id else None for id in canonical]

    def types(self, ids: Sequence[str]) -> list[frozenset[str] | None]:
        """Return the types of the entity that each id leads to; None if unknown, the empty set if it has none.

        The value type, `QUANTITY` or `DATETIME`, is one of the types.
        """
        canonical = self.canonical_ids(ids)
        type_lists = self._look_up_values("types", canonical, "types")
        value_types = self._look_up_values("entities", canonical, "value")
        return [
            None
            if types is None and value_type is None
            else frozenset([*(types or ()), *([value_type] if value_type else ())])
            for types, value_type in zip(type_lists, value_types, strict=True)
        ]

    def popular_entities(self, surfaces: Sequence[str]) -> list[frozenset[str] | None]:
        """Return the most frequent entities of each surface; None if the surface is unknown."""
        id_lists = self._look_up_values("popular", surfaces, "ids")
        return [None if ids is None else frozenset(ids) for ids in id_lists]

    def have_frequencies(self, ids: Sequence[str]) -> list[bool]:
        """Return whether the weight of each entity in the name index is known: aliases or links to it are counted."""
        if self.manifest.anchor_counts != "none":
            return [True] * len(ids)
        return [links is not None for links in self._look_up_values("entities", ids, "in_links")]

    def candidate_entities(self, surfaces: Sequence[str]) -> list[frozenset[str] | None]:
        """Return all entities of each surface, by the name index and the popular entities; None if there is none."""
        return self._recall(("names", "ids"), list(surfaces), self._find_candidates)

    def _find_candidates(self, surfaces: Sequence[str]) -> list[frozenset[str] | None]:
        """Return the union of the popular entities of each surface and the entities that it names; None if empty."""
        index = self.name_index
        popular = self.popular_entities(surfaces)
        if index is None:
            return popular
        matches = [self.canonical_ids([match.id for match in index.find_exact(surface)]) for surface in surfaces]
        return [frozenset(ids).union(top or ()) or None for ids, top in zip(matches, popular, strict=True)]

    def may_be_popular(self, ids: Sequence[str]) -> list[bool]:
        """Return whether each canonical id could be a popular entity: it is listed, or is of the snapshot's space.

        In an incomplete snapshot, only listed entities can be.
        """
        is_listed = self._check_listed(ids)
        if not self.manifest.complete:
            return is_listed
        space = self.manifest.space
        return [
            listed or (key is not None and key.space == space)
            for listed, key in zip(is_listed, map(parse_id_key, ids), strict=True)
        ]

    def are_demonyms(self, surfaces: Sequence[str]) -> list[bool | None]:
        """Return whether each surface is in the table of demonyms; None if there is no such table."""
        table = self.get_table("demonyms")
        if table is None:
            return [None] * len(surfaces)
        demonyms = set(table.find_rows(surfaces).column(0).to_pylist())
        return [surface in demonyms for surface in surfaces]

    def _look_up_identity(self, ids: Arrow) -> tuple[Arrow, Arrow]:
        """Return two columns of the table `identity` for each id: its canonical id (`entity`), and `how` it led there.

        For an id without entry, the columns have the id itself and the empty text.
        """
        table = self.get_table("identity")
        if table is None:
            return ids, pa.array([""], pa.string()).take(pa.array(np.zeros(len(ids), np.int64)))
        entity, how = table.look_up_columns(ids, "entity", "how")
        return pc.if_else(pc.equal(pc.fill_null(entity, ""), ""), ids, entity), pc.fill_null(how, "")

    @cached_property
    def _has_prefixed_ids(self) -> bool:
        """Whether ids of entities include their space, such as `MESH:D008175`, unlike `Q64`."""
        entities = self.get_table("entities")
        first = None if entities is None else entities.first_key
        return first is not None and first.startswith(f"{self.manifest.space}:")

    def _check_listed(self, ids: Sequence[str]) -> list[bool]:
        """Return whether the table of entities lists each canonical id."""
        return [kind is not None for kind in self._look_up_values("entities", ids, "kind")]

    def _look_up_values(self, table_name: str, keys: Sequence[str] | Arrow, column: str) -> list[Any]:
        """Return the value of `column` in the row of each key in a table; None without such a row or table."""
        table = self.get_table(table_name)
        if table is None:
            return [None] * len(keys)
        return self._recall((table_name, column), keys, lambda keys: table.look_up(keys, column).to_pylist())

    def _recall(
        self, name: tuple[str, str], keys: Sequence[str] | Arrow, query: Callable[[Any], Iterable[Any]]
    ) -> list[Any]:
        """Return the answer of `query` for each key; in a small query, only keys without a stored answer are asked."""
        if len(keys) > _MAX_KEYS or not isinstance(keys, list):
            return list(query(keys))
        stored = self._answers.setdefault(name, {})
        answers = {key: stored.get(key, _UNANSWERED) for key in keys}
        new_keys = [key for key, answer in answers.items() if answer is _UNANSWERED]
        if new_keys:
            answers |= zip(new_keys, query(new_keys), strict=True)
            if len(stored) > _MAX_ANSWERS:
                stored.clear()
            stored |= {key: answers[key] for key in new_keys}
        return [answers[key] for key in keys]


_IDS_PER_BATCH: Final = 1 << 22
_MAX_KEYS: Final = 1 << 14  # of a query whose answers are stored
_MAX_ANSWERS: Final = 1 << 17  # stored answers per column
_UNANSWERED: Final = object()


def _get_status(id: str, entity: str, how: str, kind: str | None) -> IdStatus:
    """Return the status of an id from its canonical id, how it was resolved (see `Snapshot.resolve`) and its kind.

    `kind`: value of the column `kind` in the table `entities`; None if the entity is not listed.
    """
    if how == "ambiguous":
        return IdStatus.AMBIGUOUS
    if kind == "disambiguation":
        return IdStatus.DISAMBIGUATION
    if kind in (None, "deleted"):
        return IdStatus.UNKNOWN
    if how == "redirect":
        return IdStatus.REDIRECTED
    return IdStatus.UNCHANGED if entity == id else IdStatus.MAPPED
