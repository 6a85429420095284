"""A pack as a knowledge base: tables that are read where they are asked, from a folder that opens at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

from karat.errors import InputError
from karat.kb.hierarchy import Hierarchy
from karat.kb.pack.manifest import PackManifest, read_manifest
from karat.kb.pack.names import NAMES, NameIndex, weighed, write_names
from karat.kb.pack.shapes import SHAPES
from karat.kb.protocol import Standing
from karat.kb.spaces import key_of, title_key
from karat.model.tables.arrow import Arrow
from karat.storage.files import readable
from karat.storage.parquet import SortedTable


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
        if (self.folder / NAMES).is_dir():
            return NameIndex(self.folder / NAMES)
        aliases = self.table("aliases")
        if aliases is None:
            return None
        with TemporaryDirectory() as folder:  # what is mapped stays, though its name goes
            write_names(Path(folder), weighed(aliases, self.table("entities")))
            return NameIndex(Path(folder))

    def canonical(self, ids: Sequence[str]) -> list[str]:
        """For each id the one that stands for the same entity, whatever space it is of and however it is written."""
        return [entity for entity, _ in self._found(ids)]

    def standings(self, ids: Sequence[str]) -> list[Standing]:
        """What became of each id when its canonical one was looked for."""
        found = self._found(ids)
        kinds = self._values("entities", [entity for entity, _ in found], "kind")
        return [_standing(id, entity, how, kind) for id, (entity, how), kind in zip(ids, found, kinds, strict=True)]

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

    def _found(self, ids: Sequence[str]) -> list[tuple[str, str]]:
        """The entity that each id leads to, and how: by the table of identity, by its spelling, or not at all."""
        found = self._led(ids)
        spelt = {id: spelling for id, how in found if not how and (spelling := self._spelt(id))}
        if spelt:
            keys = list(dict.fromkeys(key for key, _ in spelt.values()))
            led = dict(zip(keys, self._led(keys), strict=True))
            for place, (id, how) in enumerate(found):
                if not how and id in spelt:
                    key, own = spelt[id]
                    if led[key][1] or own:  # a key that leads nowhere is no id, unless it is one of the pack's own
                        found[place] = led[key]
        return found

    def _led(self, ids: Sequence[str]) -> list[tuple[str, str]]:
        """What the table of identity says of each id as it is written; one that it does not have leads to itself."""
        columns = (self._values("identity", ids, column) for column in ("entity", "how"))
        return [(entity or id, how or "") for id, entity, how in zip(ids, *columns, strict=True)]

    def _spelt(self, id: str) -> tuple[str, bool] | None:
        """How else an id may be written in the table of identity, and whether it is of the pack's own space."""
        key = key_of(id)
        if key is None and self.manifest.titles:
            key = title_key(self.manifest.titles, id)
        if key is None:
            return None
        own = key.space == self.manifest.space
        spelling = key.local if own and not self._prefixed else str(key)
        return None if spelling == id else (spelling, own)

    @cached_property
    def _prefixed(self) -> bool:
        """Whether its own ids are written with their space, such as `MESH:D008175`, and not bare like `Q64`."""
        entities = self.table("entities")
        first = None if entities is None else entities.first
        return first is not None and first.startswith(f"{self.manifest.space}:")

    def _listed(self, ids: Sequence[str]) -> list[bool]:
        return [kind is not None for kind in self._values("entities", ids, "kind")]

    def _values(self, name: str, keys: Sequence[str], column: str) -> list[Arrow]:
        table = self.table(name)
        values: list[Arrow] = [None] * len(keys) if table is None else table.aligned(keys, column).to_pylist()
        return values


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
