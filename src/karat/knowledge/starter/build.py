"""The starter pack: real, well-known entities from sources that anybody may use, for those who have no pack yet."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from karat.kb.opened import STARTER
from karat.kb.pack.manifest import LAYOUT, PackManifest, read_manifest
from karat.kb.pack.writer import PackWriter, writing_pack
from karat.kb.spaces import WIKIDATA, key_of, title_key
from karat.knowledge.starter import typing
from karat.knowledge.starter.demonyms import demonyms
from karat.knowledge.starter.sources import StarterSources

_ITEM: Final = re.compile(r"Q[1-9]\d*")
_LATIN: Final = re.compile(r"[A-ZÀ-ÖØ-Þ][A-Za-zÀ-ÖØ-öø-ÿĀ-ž' .-]{2,40}")
_CHAMBERS: Final = {"sen": "senator", "rep": "representative"}
_PAGES: Final = {"Wikimedia disambiguation page": "disambiguation", "Wikimedia list article": "list"}
_LONGEST = 120  # characters of a name or an alias; what is longer is a description in the wrong field


@dataclass(slots=True)
class _Entity:
    """What the sources say about an entity; what an earlier one says holds."""

    name: str = ""
    description: str = ""
    aliases: set[str] = field(default_factory=set)
    same: set[str] = field(default_factory=set)
    types: set[str] = field(default_factory=set)
    population: int | None = None


class _Gathered:
    """Everything that the sources say, by the ids of Wikidata."""

    def __init__(self, sources: StarterSources) -> None:
        self.sources = sources
        self.entities: dict[str, _Entity] = {}
        self.left_out: Counter[str] = Counter()
        self.links: set[tuple[str, str]] = set()
        self.types: dict[str, set[str]] = {}
        self.codes: dict[str, str] = {}
        self.superclasses: dict[str, str] = {}
        for gather in (
            self._freebase,
            self._legislators,
            self._countries,
            self._regions,
            self._languages,
            self._brands,
            self._classes,
            self._demonyms,
            self._cities,
        ):
            gather()
        self._type_all()

    def _add(self, id: str, name: str, description: str = "", aliases: Iterable[str] = ()) -> _Entity | None:
        if not _ITEM.fullmatch(id or ""):
            self.left_out["entities without an id of Wikidata"] += 1
            return None
        entity = self.entities.setdefault(id, _Entity())
        named = [text for text in map(_clean, (name, *aliases)) if 0 < len(text) <= _LONGEST]
        entity.name = entity.name or (named[0] if named else "")
        entity.description = entity.description or _clean(description)
        entity.aliases.update(named)
        return entity

    def _freebase(self) -> None:
        taken: set[str] = set()
        for machine, said in sorted(self.sources.json("freebase entities").items()):
            id = said.get("wikidata_id") or ""
            others = [alias for alias in said["alternatives"] if not _slip(alias, said["label"])]
            self.left_out["aliases in small letters of what has a capital"] += len(said["alternatives"]) - len(others)
            entity = self._add(id, said["label"], said["description"] or "", others)
            if entity is None:
                continue
            for other in (said["wikipedia"] or "", machine):
                key = key_of(other)
                if key is None:
                    continue
                if str(key) in taken or any(same.startswith(f"{key.space}:") for same in entity.same):
                    self.left_out[f"further ids of {key.space} for one entity"] += 1
                    continue
                taken.add(str(key))
                entity.same.add(str(key))
                if key.space == "enwiki":
                    entity.aliases.add(key.local.split(" (")[0])
        self.links.update((o, s) for s, _, o in self.sources.rows("freebase triples") if s != o)
        self.links.update((o, s) for s, _, o in self.sources.rows("codex triples") if s != o)

    def _legislators(self) -> None:
        for id, name, _, _, title, chamber, _, state in self.sources.rows("legislators"):
            office = _CHAMBERS.get(chamber, "member of Congress")
            entity = self._add(id, title.split(" (")[0] or name, f"United States {office} from {state}", [name])
            if entity is not None:
                entity.types.add(typing.PERSON)
                if title and not any(same.startswith("enwiki:") for same in entity.same):
                    entity.same.add(str(title_key("enwiki", title)))

    def _countries(self) -> None:
        people = {row["iso"]: row["population"] for row in self.sources.json("geonames", "countries.json").values()}
        for feature in self.sources.json("countries", "src/data/borders.json")["features"]:
            said = feature["properties"]
            entity = self._add(said.get("wikidata", ""), said.get("nameEn", ""))
            if entity is None:
                continue
            entity.types.add(typing.PLACE)
            for code in (said.get("iso1A2"), *said.get("aliases", ())):
                if code:
                    self.codes[code] = said["wikidata"]
                    entity.population = people.get(code, entity.population)

    def _regions(self) -> None:
        for feature in self.sources.json("regions", "data/states/admin1.json")["features"]:
            said = feature["properties"]
            name = said.get("name_en") or said.get("name") or ""
            others = [said.get(key) or "" for key in ("name", "name_local", "gn_name", "woe_name")]
            others += (said.get("name_alt") or "").split("|")
            kind = (said.get("type_en") or "region").lower()
            entity = self._add(said.get("wikidataid") or "", name, f"{kind} of {said.get('admin')}", others)
            if entity is not None:
                entity.types.add(typing.PLACE)

    def _languages(self) -> None:
        for said in self.sources.json("languages", "data/languages.json"):
            name = said.get("label") or ""
            native = said.get("native") or ()
            others = [native] if isinstance(native, str) else list(native)
            if name and not name.lower().endswith("language"):
                others.append(f"{name} language")
            entity = self._add(said.get("wd") or "", name, "language", others)
            if entity is not None:
                entity.types.add(typing.LANGUAGE)

    def _brands(self) -> None:
        said = self.sources.json("brands", "dist/wikidata/wikidata.json")["wikidata"]
        for id, about in said.items():
            self._add(id, about.get("label") or "", about.get("description") or "")
        for path, group in self.sources.json("brands", "dist/json/nsi.json")["nsi"].items():
            usual = typing.BRAND if path.startswith("brands/") else typing.ORGANISATION
            for item in group["items"]:
                self._brand(item, usual, said)

    def _brand(self, item: dict[str, Any], usual: str, said: dict[str, Any]) -> None:
        tags = item["tags"]
        for role in ("brand", "operator", "network"):
            id = tags.get(f"{role}:wikidata", "")
            if id in said:
                names = [tags.get(key, "") for key in (role, f"{role}:en")]
                entity = self._add(id, "", "", names)
                if entity is not None and not entity.types and role != "network":
                    # Who runs something may be a city: a description that says so comes first.
                    entity.types.add(typing.type_of_description(entity.description) or usual)

    def _classes(self) -> None:
        for id, label, description in self.sources.rows("codex classes"):
            self._add(id, label, description)
            type = typing.type_of_class(label)
            if type is not None and type != id:
                self.superclasses[id] = type
        for id, name in typing.WHITELIST.items():
            self._add(id, name)
            self.superclasses.pop(id, None)

    def _demonyms(self) -> None:
        self.demonyms = [(word, self.codes[code]) for word, code in demonyms() if code in self.codes]
        for word, id in self.demonyms:
            self.entities[id].aliases.add(word)

    def _cities(self) -> None:
        """Population and names of cities, where name and description leave one to choose."""
        countries = {row["iso"]: row["name"] for row in self.sources.json("geonames", "countries.json").values()}
        states = {row["code"]: row["name"] for row in self.sources.json("geonames", "us_states.json").values()}
        by_name: dict[str, list[dict[str, Any]]] = {}
        for city in self.sources.json("geonames", "cities15000.json").values():
            by_name.setdefault(city["name"], []).append(city)
        for entity in self.entities.values():
            fitting = [
                city
                for city in by_name.get(entity.name, ())
                if countries.get(city["countrycode"], "?") in entity.description
                or (city["countrycode"] == "US" and states.get(city["admin1code"], "?") in entity.description)
            ]
            if len(fitting) == 1 and typing.type_of_description(entity.description) == typing.PLACE:
                entity.population = entity.population or fitting[0]["population"]
                entity.aliases.update(name for name in fitting[0]["alternatenames"] if _LATIN.fullmatch(name))

    def _type_all(self) -> None:
        """Wikidata's classes first; then Freebase's relations; then what the source is about; then the description."""
        for id, classes in self.sources.rows("codex types"):
            known = {self.superclasses.get(each, each) for each in classes.split()} & typing.WHITELIST.keys()
            if known:
                self.types[id] = typing.sole(known)
        triples = ((s, relation, o) for s, relation, o in self.sources.rows("freebase triples"))
        for id, found in typing.types_of_relations(triples).items():
            self.types.setdefault(id, set(found))
        for id, entity in self.entities.items():
            said = typing.type_of_description(entity.description)
            if entity.types or said is not None:
                self.types.setdefault(id, entity.types or {str(said)})


def build_starter(folders: Sequence[str], out: Path, date: str) -> PackManifest:
    """Build the pack from the folders that its sources lie in, as of a day."""
    sources = StarterSources(folders)
    described = sources.described()
    gathered = _Gathered(sources)
    manifest = PackManifest(
        karat=LAYOUT,
        name=STARTER,
        date=date,
        title="The pack that comes with Karat: well-known entities from open sources",
        licence="CC BY 4.0; see NOTICE",
        space=WIKIDATA,
        titles="enwiki",
        complete=False,
        sources=described,
        repairs=dict(sorted(gathered.left_out.items())),
        notes=(
            "Nothing is taken from a benchmark's gold or a linker's output.",
            "What it does not have is not known; it is neither NIL, nor rare, nor wrong.",
            "Popular is what most links of its sources lead to; demonyms were typed by hand.",
        ),
    )
    with writing_pack(out, manifest) as pack:
        _write(pack, gathered)
        pack.text("NOTICE", sources.notice())
    return read_manifest(out)


def _write(pack: PackWriter, gathered: _Gathered) -> None:
    entities = {id: each for id, each in sorted(gathered.entities.items()) if each.name}
    pack.repaired({"entities without a name": len(gathered.entities) - len(entities)})
    known = entities.keys() | gathered.types.keys()
    links = sorted((target, source) for target, source in gathered.links if target in known and source in known)
    degree = Counter(target for target, _ in links)
    pack.columns(
        "entities",
        {
            "id": list(entities),
            "name": [each.name for each in entities.values()],
            "kind": [_PAGES.get(each.description, "normal") for each in entities.values()],
            "description": [each.description or None for each in entities.values()],
            "in_links": [degree[id] for id in entities],
            "population": [each.population for each in entities.values()],
        },
    )
    pack.columns("same_as", _pairs("id", "other", ((id, same) for id, each in entities.items() for same in each.same)))
    pack.columns("types", {"id": list(gathered.types), "types": [sorted(types) for types in gathered.types.values()]})
    pack.columns("subclass_of", _pairs("class", "superclass", gathered.superclasses.items()))
    aliases = _pairs("id", "alias", ((id, alias) for id, each in entities.items() for alias in each.aliases))
    pack.columns("aliases", aliases)
    pack.columns("demonyms", _pairs("surface", "id", gathered.demonyms))
    pack.columns("links", _pairs("target", "source", links))
    people = sum(typing.PERSON in gathered.types.get(id, ()) for id in entities)
    pack.count(people=people, population=sum(each.population is not None for each in entities.values()))


def _pairs(one: str, other: str, rows: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    listed = list(rows)
    return {one: [row[0] for row in listed], other: [row[1] for row in listed]}


def _slip(alias: str, name: str) -> bool:
    """Whether an alias is in small letters though the name is not: those were mostly jokes and slips of the hand."""
    return alias.islower() and name[:1].isupper()


def _clean(text: str) -> str:
    return " ".join(text.split())
