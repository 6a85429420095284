"""Builder of the starter snapshot: well-known entities from open sources, for users without their own snapshot.

    python -m tools.starter.build SOURCES… --date 2026-11-15 --out DIR

SOURCES are the folders with the source files; docs/reference/snapshots.md lists them.
"""

from __future__ import annotations

import re
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tools.starter import entity_types
from tools.starter.demonyms import iterate_demonyms
from tools.starter.sources import StarterSources

from karat.kb.catalogue import STARTER
from karat.kb.ids.id_spaces import WIKIDATA, make_title_key, parse_id_key
from karat.kb.snapshot.manifest import LAYOUT, SnapshotManifest, read_manifest
from karat.kb.snapshot.writer import SnapshotWriter, open_snapshot_writer
from karat.kb.type_names import WHITELIST_NAMES
from karat.render.kb import render_manifest

_ITEM: Final = re.compile(r"Q[1-9]\d*")
_LATIN_NAME: Final = re.compile(r"[A-ZÀ-ÖØ-Þ][A-Za-zÀ-ÖØ-öø-ÿĀ-ž' .-]{2,40}")
_CHAMBERS: Final = {"sen": "senator", "rep": "representative"}
_KIND_BY_DESCRIPTION: Final = {"Wikimedia disambiguation page": "disambiguation", "Wikimedia list article": "list"}
_MAX_NAME_LENGTH = 120  # characters; longer names are descriptions in the wrong field


@dataclass(slots=True)
class _Entity:
    """The facts about an entity; facts of earlier sources take precedence."""

    name: str = ""
    description: str = ""
    aliases: set[str] = field(default_factory=set)
    same_as: set[str] = field(default_factory=set)
    types: set[str] = field(default_factory=set)
    population: int | None = None


class _StarterFacts:
    """The facts of all sources, by Wikidata id, collected on construction."""

    def __init__(self, sources: StarterSources) -> None:
        self.sources = sources
        self.entities: dict[str, _Entity] = {}
        self.skipped: Counter[str] = Counter()
        self.links: set[tuple[str, str]] = set()
        self.types: dict[str, set[str]] = {}
        self.codes: dict[str, str] = {}
        self.superclasses: dict[str, str] = {}
        for add_source in (
            self._add_freebase,
            self._add_legislators,
            self._add_countries,
            self._add_regions,
            self._add_languages,
            self._add_brands,
            self._add_classes,
            self._add_demonyms,
            self._add_cities,
        ):
            add_source()
        self._assign_types()

    def _add_entity(self, id: str, name: str, description: str = "", aliases: Iterable[str] = ()) -> _Entity | None:
        """Add names and a description to the entity with a Wikidata id, and return it; None if `id` is no such id.

        The first non-empty name and description are final. Names that are too long are skipped. Entities without
        Wikidata id are counted.
        """
        if not _ITEM.fullmatch(id or ""):
            self.skipped["entities without a Wikidata id"] += 1
            return None
        entity = self.entities.setdefault(id, _Entity())
        names = [text for text in map(_collapse_whitespace, (name, *aliases)) if 0 < len(text) <= _MAX_NAME_LENGTH]
        entity.name = entity.name or (names[0] if names else "")
        entity.description = entity.description or _collapse_whitespace(description)
        entity.aliases.update(names)
        return entity

    def _add_freebase(self) -> None:
        """Add entities of Freebase with their Wikipedia and Freebase ids, and links from Freebase and CoDEx triples."""
        used_keys: set[str] = set()
        for freebase_id, record in sorted(self.sources.read_json("freebase entities").items()):
            id = record.get("wikidata_id") or ""
            aliases = [alias for alias in record["alternatives"] if not _is_lower_case_error(alias, record["label"])]
            self.skipped["lower-case aliases of capitalised names"] += len(record["alternatives"]) - len(aliases)
            entity = self._add_entity(id, record["label"], record["description"] or "", aliases)
            if entity is None:
                continue
            for other in (record["wikipedia"] or "", freebase_id):
                key = parse_id_key(other)
                if key is None:
                    continue
                if str(key) in used_keys or any(same_as.startswith(f"{key.space}:") for same_as in entity.same_as):
                    self.skipped[f"further ids of {key.space} for one entity"] += 1
                    continue
                used_keys.add(str(key))
                entity.same_as.add(str(key))
                if key.space == "enwiki":
                    entity.aliases.add(key.local_id.split(" (")[0])
        self.links.update((o, s) for s, _, o in self.sources.iterate_rows("freebase triples") if s != o)
        self.links.update((o, s) for s, _, o in self.sources.iterate_rows("codex triples") if s != o)

    def _add_legislators(self) -> None:
        """Add members of the US Congress as persons."""
        for id, name, _, _, title, chamber, _, state in self.sources.iterate_rows("legislators"):
            office = _CHAMBERS.get(chamber, "member of Congress")
            entity = self._add_entity(id, title.split(" (")[0] or name, f"United States {office} from {state}", [name])
            if entity is not None:
                entity.types.add(entity_types.PERSON)
                if title and not any(same_as.startswith("enwiki:") for same_as in entity.same_as):
                    entity.same_as.add(str(make_title_key("enwiki", title)))

    def _add_countries(self) -> None:
        """Add countries with their population, and store the Wikidata id of each country code in `codes`."""
        population_by_code = {
            row["iso"]: row["population"] for row in self.sources.read_json("geonames", "countries.json").values()
        }
        for feature in self.sources.read_json("countries", "src/data/borders.json")["features"]:
            properties = feature["properties"]
            entity = self._add_entity(properties.get("wikidata", ""), properties.get("nameEn", ""))
            if entity is None:
                continue
            entity.types.add(entity_types.LOCATION)
            for code in (properties.get("iso1A2"), *properties.get("aliases", ())):
                if code:
                    self.codes[code] = properties["wikidata"]
                    entity.population = population_by_code.get(code, entity.population)

    def _add_regions(self) -> None:
        """Add the first-level regions of countries, such as states and provinces."""
        for feature in self.sources.read_json("regions", "data/states/admin1.json")["features"]:
            properties = feature["properties"]
            name = properties.get("name_en") or properties.get("name") or ""
            aliases = [properties.get(key) or "" for key in ("name", "name_local", "gn_name", "woe_name")]
            aliases += (properties.get("name_alt") or "").split("|")
            kind = (properties.get("type_en") or "region").lower()
            entity = self._add_entity(
                properties.get("wikidataid") or "", name, f"{kind} of {properties.get('admin')}", aliases
            )
            if entity is not None:
                entity.types.add(entity_types.LOCATION)

    def _add_languages(self) -> None:
        """Add languages with their native names, and with `language` appended to the English name."""
        for record in self.sources.read_json("languages", "data/languages.json"):
            name = record.get("label") or ""
            native = record.get("native") or ()
            aliases = [native] if isinstance(native, str) else list(native)
            if name and not name.lower().endswith("language"):
                aliases.append(f"{name} language")
            entity = self._add_entity(record.get("wd") or "", name, "language", aliases)
            if entity is not None:
                entity.types.add(entity_types.LANGUAGE)

    def _add_brands(self) -> None:
        """Add brands and organisations of the name suggestion index."""
        records = self.sources.read_json("brands", "dist/wikidata/wikidata.json")["wikidata"]
        for id, record in records.items():
            self._add_entity(id, record.get("label") or "", record.get("description") or "")
        for path, group in self.sources.read_json("brands", "dist/json/nsi.json")["nsi"].items():
            default_type = entity_types.BRAND if path.startswith("brands/") else entity_types.ORGANISATION
            for item in group["items"]:
                self._add_brand(item, default_type, records)

    def _add_brand(self, item: dict[str, Any], default_type: str, records: dict[str, Any]) -> None:
        """Add the names of the brand and operator of an item, with their type; a network gets names only.

        `default_type`: type if the description indicates none. `records`: entities of the index by Wikidata id; others
        are skipped.
        """
        tags = item["tags"]
        for role in ("brand", "operator", "network"):
            id = tags.get(f"{role}:wikidata", "")
            if id in records:
                names = [tags.get(key, "") for key in (role, f"{role}:en")]
                entity = self._add_entity(id, "", "", names)
                if entity is not None and not entity.types and role != "network":
                    # An operator may be a city, so the description takes precedence.
                    entity.types.add(entity_types.infer_type(entity.description) or default_type)

    def _add_classes(self) -> None:
        """Add the classes of CoDEx with the whitelist type above each, and the whitelist types themselves."""
        for id, label, description in self.sources.iterate_rows("codex classes"):
            self._add_entity(id, label, description)
            type = entity_types.infer_class_type(label)
            if type is not None and type != id:
                self.superclasses[id] = type
        for id in sorted(entity_types.WHITELIST):
            self._add_entity(id, WHITELIST_NAMES[id])
            self.superclasses.pop(id, None)

    def _add_demonyms(self) -> None:
        """Add demonyms as aliases of countries, and store the pairs (demonym, Wikidata id) in `demonyms`."""
        self.demonyms = [(word, self.codes[code]) for word, code in iterate_demonyms() if code in self.codes]
        for word, id in self.demonyms:
            self.entities[id].aliases.add(word)

    def _add_cities(self) -> None:
        """Add population and Latin-script names to locations whose name and description identify one city."""
        countries = {row["iso"]: row["name"] for row in self.sources.read_json("geonames", "countries.json").values()}
        states = {row["code"]: row["name"] for row in self.sources.read_json("geonames", "us_states.json").values()}
        by_name: dict[str, list[dict[str, Any]]] = {}
        for city in self.sources.read_json("geonames", "cities15000.json").values():
            by_name.setdefault(city["name"], []).append(city)
        for entity in self.entities.values():
            matches = [
                city
                for city in by_name.get(entity.name, ())
                if countries.get(city["countrycode"], "?") in entity.description
                or (city["countrycode"] == "US" and states.get(city["admin1code"], "?") in entity.description)
            ]
            if len(matches) == 1 and entity_types.infer_type(entity.description) == entity_types.LOCATION:
                entity.population = entity.population or matches[0]["population"]
                entity.aliases.update(name for name in matches[0]["alternatenames"] if _LATIN_NAME.fullmatch(name))

    def _assign_types(self) -> None:
        """Assign types: by Wikidata classes, else Freebase relations, else the kind of source, else the description."""
        for id, classes in self.sources.iterate_rows("codex types"):
            known_types = {self.superclasses.get(cls, cls) for cls in classes.split()} & entity_types.WHITELIST
            if known_types:
                self.types[id] = entity_types.drop_location_type(known_types)
        triples = ((s, relation, o) for s, relation, o in self.sources.iterate_rows("freebase triples"))
        for id, relation_types in entity_types.infer_relation_types(triples).items():
            self.types.setdefault(id, set(relation_types))
        for id, entity in self.entities.items():
            description_type = entity_types.infer_type(entity.description)
            if entity.types or description_type is not None:
                self.types.setdefault(id, entity.types or {str(description_type)})


def build_starter(folders: Sequence[str], out: Path, date: str) -> SnapshotManifest:
    """Build the starter snapshot from folders of source files and write it to `out`; return its manifest.

    `date`: date in the manifest.
    """
    sources = StarterSources(folders)
    source_records = sources.describe()
    facts = _StarterFacts(sources)
    manifest = SnapshotManifest(
        karat=LAYOUT,
        name=STARTER,
        date=date,
        title="Starter snapshot of Karat: well-known entities from open sources",
        licence="CC BY 4.0; see NOTICE",
        space=WIKIDATA,
        title_space="enwiki",
        complete=False,
        sources=source_records,
        repairs=dict(sorted(facts.skipped.items())),
        notes=(
            "No fact comes from a dataset's gold standard or a system's output.",
            "The snapshot is incomplete: a missing entity is unknown, neither NIL, nor rare, nor wrong.",
            "Popular entities have the most links in the sources; demonyms were entered by hand.",
        ),
    )
    with open_snapshot_writer(out, manifest) as snapshot:
        _write_tables(snapshot, facts)
        snapshot.write_text("NOTICE", sources.format_notice())
    return read_manifest(out)


def _write_tables(snapshot: SnapshotWriter, facts: _StarterFacts) -> None:
    """Write the tables of all named entities; links count only between known entities."""
    entities = {id: entity for id, entity in sorted(facts.entities.items()) if entity.name}
    snapshot.count_repairs({"entities without a name": len(facts.entities) - len(entities)})
    known_ids = entities.keys() | facts.types.keys()
    links = sorted((target, source) for target, source in facts.links if target in known_ids and source in known_ids)
    degree = Counter(target for target, _ in links)
    snapshot.write_columns(
        "entities",
        {
            "id": list(entities),
            "name": [entity.name for entity in entities.values()],
            "kind": [_KIND_BY_DESCRIPTION.get(entity.description, "normal") for entity in entities.values()],
            "description": [entity.description or None for entity in entities.values()],
            "in_links": [degree[id] for id in entities],
            "population": [entity.population for entity in entities.values()],
        },
    )
    snapshot.write_columns(
        "same_as",
        _to_columns("id", "other", ((id, same_as) for id, entity in entities.items() for same_as in entity.same_as)),
    )
    snapshot.write_columns(
        "types", {"id": list(facts.types), "types": [sorted(types) for types in facts.types.values()]}
    )
    snapshot.write_columns("subclass_of", _to_columns("class", "superclass", facts.superclasses.items()))
    aliases = _to_columns("id", "alias", ((id, alias) for id, entity in entities.items() for alias in entity.aliases))
    snapshot.write_columns("aliases", aliases)
    snapshot.write_columns("demonyms", _to_columns("surface", "id", facts.demonyms))
    snapshot.write_columns("links", _to_columns("target", "source", links))
    n_people = sum(entity_types.PERSON in facts.types.get(id, ()) for id in entities)
    snapshot.add_counts(people=n_people, population=sum(entity.population is not None for entity in entities.values()))


def _to_columns(first_name: str, second_name: str, rows: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Return pairs as two columns with the names `first_name` and `second_name`."""
    pairs = list(rows)
    return {first_name: [row[0] for row in pairs], second_name: [row[1] for row in pairs]}


def _is_lower_case_error(alias: str, name: str) -> bool:
    """Return whether an alias is in lower case although the name starts with a capital; most of these are errors."""
    return alias.islower() and name[:1].isupper()


def _collapse_whitespace(text: str) -> str:
    """Return the text with every run of white space replaced by one space, and none at the ends."""
    return " ".join(text.split())


def main() -> None:
    """Build the snapshot that the command line asks for, and print what it contains."""
    parser = ArgumentParser(description="Build the snapshot that comes with Karat.")
    parser.add_argument("sources", nargs="+", help="folders with the source files")
    parser.add_argument("--out", required=True, help="folder of the snapshot")
    parser.add_argument("--date", required=True, help="date of the sources, such as 2026-11-15")
    options = parser.parse_args()
    print(render_manifest(build_starter(options.sources, Path(options.out), options.date)), end="")


if __name__ == "__main__":
    main()
