"""A pack as a knowledge base: tables that are read where they are asked, from a folder that opens at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.errors import InputError
from karat.kb.hierarchy import Hierarchy
from karat.kb.keys import keys_of
from karat.kb.pack.manifest import PackManifest, read_manifest
from karat.kb.pack.name_writer import weighed, write_names
from karat.kb.pack.names import NAMES, NameIndex, is_index
from karat.kb.pack.shapes import SHAPES
from karat.kb.protocol import Standing
from karat.kb.spaces import key_of
from karat.model.tables.arrow import Arrow
from karat.storage.files import readable
from karat.storage.parquet import SortedTable, strings


@dataclass(frozen=True, eq=False)
class Pack:
    """A knowledge base in a folder of Parquet tables with a manifest; only the manifest is read when it is opened."""

    folder: Path
    manifest: PackManifest
    _opened: dict[str, SortedTable] = field(default_factory=dict, repr=False)

    @classmethod
    def open(cls, folder: Path) -> Pack:
        """The pack in a folder, if all tables that its manifest names are there."""
        manifest = read_manifest(folder)
        for name, table in manifest.tables.items():
            path = folder / f"{name}.parquet"
            if name not in SHAPES or not path.is_file() or path.stat().st_size != table.size:
                raise InputError(
                    readable(str(path)),
                    found="a table of another size, or none" if name in SHAPES else "a table that no pack has",
                    expected=f"the {table.size} bytes that the manifest says",
                    remedy="Build or copy the pack again",
                )
        return cls(folder, manifest)

    @property
    def name(self) -> str:
        """How reports and signatures call it."""
        return self.manifest.name

    @property
    def digest(self) -> str:
        """Eight hexadecimal digits that change with the content of its tables."""
        return self.manifest.digest

    @cached_property
    def hierarchy(self) -> Hierarchy:
        """Its classes."""
        table = self.table("subclass_of")
        rows = () if table is None else zip(*(column.to_pylist() for column in table.whole().columns), strict=True)
        return Hierarchy.of(rows)

    def table(self, name: str) -> SortedTable | None:
        """One of its tables, None where it has none of that name."""
        if name not in self.manifest.tables:
            return None
        if name not in self._opened:
            self._opened[name] = SortedTable(self.folder / f"{name}.parquet", SHAPES[name].sorted_by[0])
        return self._opened[name]

    @cached_property
    def index(self) -> NameIndex | None:
        """Its names, to be found by people who type; None without aliases. Without an index of its own one is made."""
        if is_index(self.folder / NAMES):
            return NameIndex(self.folder / NAMES)
        aliases = self.table("aliases")
        if aliases is None:
            return None
        with TemporaryDirectory() as folder:  # what is mapped stays, though its name goes
            write_names(Path(folder), weighed(aliases, self.table("entities")))
            return NameIndex(Path(folder))

    def canonical(self, ids: Sequence[str]) -> list[str]:
        """For each id the one that stands for the same entity, whatever space it is of and however it is written."""
        entities: list[str] = self.resolved(ids).column("entity").to_pylist()
        return entities

    def standings(self, ids: Sequence[str]) -> list[Standing]:
        """What became of each id when its canonical one was looked for."""
        found = self.resolved(ids)
        kinds = self._values("entities", found.column("entity"), "kind")
        told = zip(ids, *(column.to_pylist() for column in found.columns), kinds, strict=True)
        return [_standing(id, entity, how, kind) for id, entity, how, kind in told]

    def resolved(self, ids: Sequence[str] | Arrow) -> Arrow:
        """A table of the `entity` that each id leads to, and `how`: redirect, same-as, ambiguous, or nothing.

        Distinct ids are joined with the table of identity, as written and then by their keys; there is no loop but for
        unusual spellings. Some millions are looked at together, so that memory is bounded.
        """
        parts = [self._resolved(ids[start : start + _TOGETHER]) for start in range(0, len(ids), _TOGETHER)]
        return pa.concat_tables(parts) if parts else self._resolved([])

    def _resolved(self, ids: Sequence[str] | Arrow) -> Arrow:
        written = strings(ids).dictionary_encode()
        names = written.dictionary
        entity, how = self._led(names)
        unled = pc.equal(how, "")
        spelling, own = self._spelt(names.filter(unled))
        other = spelling.is_valid()
        led, by = self._led(spelling.filter(other))
        # A key that leads nowhere is no id, unless it is one of the pack's own.
        use = pc.or_(own.filter(other), pc.not_equal(by, ""))
        at = pc.indices_nonzero(unled).filter(other).filter(use)
        mask = np.zeros(len(names), np.bool_)
        mask[at.to_numpy()] = True
        entity = pc.replace_with_mask(entity, pa.array(mask), led.filter(use))
        how = pc.replace_with_mask(how, pa.array(mask), by.filter(use))
        return pa.table({"entity": entity, "how": how}).take(written.indices)

    def has(self, ids: Sequence[str]) -> list[bool] | None:
        """Whether each id is of the pack; None if it has no table of entities, or only some of the entities."""
        return (
            self._listed(self.canonical(ids)) if self.manifest.complete and "entities" in self.manifest.tables else None
        )

    def names(self, ids: Sequence[str]) -> list[str | None]:
        """The name of each entity; None where it is not known."""
        return self._values("entities", self.canonical(ids), "name")

    def descriptions(self, ids: Sequence[str]) -> list[str | None]:
        """What each entity is, in a few words; None where it is not known."""
        return self._values("entities", self.canonical(ids), "description")

    def aliases(self, ids: Sequence[str]) -> list[frozenset[str] | None]:
        """What else each entity is called; None where no alias is known."""
        table, wanted = self.table("aliases"), self.canonical(ids)
        if table is None:
            return [None] * len(wanted)
        rows = table.matching(wanted, "alias")
        found: dict[str, set[str]] = {}
        for id, alias in zip(rows.column(0).to_pylist(), rows.column(1).to_pylist(), strict=True):
            found.setdefault(id, set()).add(alias)
        return [frozenset(found[id]) if id in found else None for id in wanted]

    def types(self, ids: Sequence[str]) -> list[frozenset[str] | None]:
        """The types of each entity; None where they are not known, and the empty set where it has none."""
        wanted = self.canonical(ids)
        own = self._values("types", wanted, "types")
        values = self._values("entities", wanted, "value")
        return [
            None if types is None and value is None else frozenset([*(types or ()), *([value] if value else ())])
            for types, value in zip(own, values, strict=True)
        ]

    def popular(self, surfaces: Sequence[str]) -> list[frozenset[str] | None]:
        """The entities that each surface most often stands for; None where the surface is not known."""
        found = self._values("popular", surfaces, "ids")
        return [None if ids is None else frozenset(ids) for ids in found]

    def comparable(self, ids: Sequence[str]) -> list[bool]:
        """Whether each id is one that surfaces could stand for: of a pack with some entities only, one of these."""
        listed = self._listed(ids)
        if not self.manifest.complete:
            return listed
        space = self.manifest.space
        return [
            known or (key is not None and key.space == space)
            for known, key in zip(listed, map(key_of, ids), strict=True)
        ]

    def demonyms(self, surfaces: Sequence[str]) -> list[bool | None]:
        """Whether each surface is in the table of demonyms; None without table."""
        table = self.table("demonyms")
        if table is None:
            return [None] * len(surfaces)
        known = set(table.matching(surfaces).column(0).to_pylist())
        return [surface in known for surface in surfaces]

    def _led(self, ids: Arrow) -> tuple[Arrow, Arrow]:
        """What the table of identity says of each id as it is written; one that it does not have leads to itself."""
        table = self.table("identity")
        if table is None:
            return ids, pa.array([""], pa.string()).take(pa.array(np.zeros(len(ids), np.int64)))
        entity, how = table.joined(ids, "entity", "how")
        return pc.if_else(pc.equal(pc.fill_null(entity, ""), ""), ids, entity), pc.fill_null(how, "")

    def _spelt(self, ids: Arrow) -> tuple[Arrow, Arrow]:
        """How else ids may be written in the table of identity, null for not at all, and which are of its own space."""
        space, local = keys_of(ids, self.manifest.titles)
        own = pc.fill_null(pc.equal(space, self.manifest.space), False)
        spelling = pc.binary_join_element_wise(space, local, ":")
        if not self._prefixed:
            spelling = pc.if_else(own, local, spelling)
        return pc.if_else(pc.equal(spelling, ids), pa.scalar(None, pa.string()), spelling), own

    @cached_property
    def _prefixed(self) -> bool:
        """Whether its own ids are written with their space, such as `MESH:D008175`, and not bare like `Q64`."""
        entities = self.table("entities")
        first = None if entities is None else entities.first
        return first is not None and first.startswith(f"{self.manifest.space}:")

    def _listed(self, ids: Sequence[str]) -> list[bool]:
        return [kind is not None for kind in self._values("entities", ids, "kind")]

    def _values(self, name: str, keys: Sequence[str] | Arrow, column: str) -> list[Arrow]:
        table = self.table(name)
        values: list[Arrow] = [None] * len(keys) if table is None else table.aligned(keys, column).to_pylist()
        return values


_TOGETHER: Final = 1 << 22


def _standing(id: str, entity: str, how: str, kind: str | None) -> Standing:
    if how == "ambiguous":
        return Standing.AMBIGUOUS
    if kind == "disambiguation":
        return Standing.DISAMBIGUATION
    if kind in (None, "deleted"):
        return Standing.UNKNOWN
    if how == "redirect":
        return Standing.REDIRECTED
    return Standing.UNCHANGED if entity == id else Standing.MAPPED
