"""Import of an ontology, vocabulary or folder of tables as a snapshot.

JSON lines have one entity per line:

{"id": "X1", "name": "Anna", "aliases": ["A."], "types": ["PER"], "parents": [], "same_as": ["Q1"], "old_ids": ["X0"]}
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec
import pyarrow as pa

from karat.kb.dumps.class_graph import remove_cycles
from karat.kb.importers.obo import read_obo
from karat.kb.importers.rdf import read_rdf
from karat.kb.importers.table_rows import TableRows
from karat.kb.in_memory_kb import InMemoryKB
from karat.kb.protocol import IdStatus
from karat.kb.snapshot.manifest import LAYOUT, SnapshotManifest, SnapshotSource, read_manifest
from karat.kb.snapshot.table_schemas import VALUE_TYPES
from karat.kb.snapshot.writer import open_snapshot_writer
from karat.kb.tsv_folder import load_tsv_folder, read_tsv_rows
from karat.kb.type_rules import CUT_SUPERCLASSES, INSTANCE_OF, SUBCLASS_OF, TypeRules
from karat.model.errors import InputError, UnknownNameError
from karat.model.json.decoder import read_json_value
from karat.model.tables.arrow import Arrow
from karat.storage.data_folder import hash_content
from karat.storage.files import Source


class _EntityRecord(msgspec.Struct, forbid_unknown_fields=True):
    """A line of the file: an entity with its names, types, superclasses (`parents`) and other ids."""

    id: str
    name: str | None = None
    description: str | None = None
    kind: str | None = None
    value: str | None = None
    in_links: int | None = None
    population: int | None = None
    aliases: list[str] | dict[str, int] = []
    types: list[str] | None = None
    parents: list[str] = []
    same_as: list[str] = []
    old_ids: list[str] = []
    demonyms: list[str] = []
    links: list[str] = []


def read_jsonl(path: str, language: str, xrefs_are_same_as: bool) -> TableRows:
    """Read the rows of all entities in a JSONL file; `language` and `xrefs_are_same_as` have no effect.

    If entities have `links` and none has `in_links`, the links to each entity are counted.
    """
    source = Source(path)
    entities: list[tuple[_EntityRecord, str]] = []
    with source.open_stream() as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                where = f"{source.label}:{number}"
                entities.append((_parse_line(line, where), where))
    if all(entity.in_links is None for entity, _ in entities):
        links = {(entity.id, target) for entity, _ in entities for target in entity.links}
        degrees = Counter(target for _, target in links)
        for entity, _ in entities if links else ():
            entity.in_links = degrees[entity.id]
    tables = TableRows()
    for entity, where in entities:
        _add_entity(tables, entity)
        tables.check_entity(where)
    return tables


def _parse_line(line: bytes, where: str) -> _EntityRecord:
    """Decode an entity; raise `InputError`, located at `where`, if the line is invalid."""
    entity = read_json_value(
        line,
        _EntityRecord,
        where,
        expected="an entity as JSON",
        remedy="Correct the line; the documentation page 'Snapshots' lists the fields",
    )
    for field in _LIST_FIELDS:
        if "" in (getattr(entity, field) or ()):
            raise InputError(
                where, actual=f"an empty text in {field!r}", expected="texts with content", remedy="Remove or fill it"
            )
    return entity


_LIST_FIELDS: Final = ("aliases", "types", "parents", "same_as", "old_ids", "demonyms", "links")


def _add_entity(tables: TableRows, entity: _EntityRecord) -> None:
    """Add the rows of an entity to the tables; its name also becomes an alias."""
    tables.add(
        "entities",
        entity.id,
        entity.name,
        entity.kind,
        entity.description,
        entity.value,
        entity.in_links,
        entity.population,
    )
    alias_counts = entity.aliases if isinstance(entity.aliases, dict) else dict.fromkeys(entity.aliases)
    names = {entity.name: None, **alias_counts} if entity.name else alias_counts
    for alias, count in names.items():
        tables.add("aliases", entity.id, alias, count)
    if entity.types is not None:
        tables.add("types", entity.id, sorted(set(entity.types)))
    for table, others in (("subclass_of", entity.parents), ("same_as", entity.same_as)):
        for other in dict.fromkeys(others):
            tables.add(table, entity.id, other)
    for old_id in dict.fromkeys(entity.old_ids):
        tables.add("redirects", old_id, entity.id)
    for demonym in dict.fromkeys(entity.demonyms):
        tables.add("demonyms", demonym, entity.id)
    for target in dict.fromkeys(entity.links):
        tables.add("links", target, entity.id)


def read_tsv_folder(path: str, language: str, xrefs_are_same_as: bool) -> TableRows:
    """Read the rows of all tables in the folder `path` (see `karat.kb.tsv_folder`); raise `InputError` on a defect.

    Without a table of entities, the canonical ids of redirects and same-as pairs are the entities. The name of every
    entity is also one of its aliases. A type `QUANTITY` or `DATETIME` is stored as the value type of
    its entity, not as a type. `language` and `xrefs_are_same_as`, which all importers take, have no effect.
    """
    kb = load_tsv_folder(path)  # raises on defects
    tables = TableRows()
    rows_by_table = read_tsv_rows(path)
    if "entities" not in rows_by_table:
        for canonical_id in _list_canonical_ids(kb, rows_by_table):
            tables.add("entities", canonical_id)
    for table in ("redirects", "same_as", "subclass_of", "aliases", "demonyms"):
        for row in rows_by_table.get(table, ()):
            tables.add(table, *row)
    for id, name, types in dict.fromkeys(rows_by_table.get("entities", ())):
        type_ids = [] if not types else types.split("|")
        value = next((type for type in type_ids if type in VALUE_TYPES), None)
        tables.add("entities", id, name or None, None, None, value)
        if name:
            tables.add("aliases", id, name)
        if types is not None:
            tables.add("types", id, sorted({type for type in type_ids if type not in VALUE_TYPES}))
    for surface, ids in dict.fromkeys(rows_by_table.get("popular", ())):
        tables.add("popular", surface, sorted(set((ids or "").split("|"))))
    return tables


def _list_canonical_ids(kb: InMemoryKB, rows_by_table: Mapping[str, Sequence[tuple[str | None, ...]]]) -> list[str]:
    """Return the canonical ids of redirects and same-as pairs, the known ids of a folder without table of entities."""
    pairs = (row for table in ("redirects", "same_as") for row in rows_by_table.get(table, ()))
    ids = sorted({id for row in pairs for id in row if id is not None})
    return [id for id, status in zip(ids, kb.id_statuses(ids), strict=True) if status is IdStatus.UNCHANGED]


READER_BY_FORMAT: Final[Mapping[str, Callable[[str, str, bool], TableRows]]] = {
    "tsv": read_tsv_folder,
    "jsonl": read_jsonl,
    "obo": read_obo,
    "rdf": read_rdf,
}
"""Reader of each format; arguments: path, language of names, and whether cross-references are same-as."""

_SUFFIXES: Final = {
    "jsonl": "jsonl",
    "obo": "obo",
    **dict.fromkeys(("ttl", "nt", "nq", "trig", "rdf", "owl", "xml", "n3"), "rdf"),
}


def import_snapshot(
    path: str,
    out: Path,
    *,
    date: str,
    format: str | None = None,
    name: str = "",
    licence: str = "",
    space: str = "",
    title_space: str = "",
    language: str = "en",
    complete: bool = True,
    xrefs_are_same_as: bool = False,
    rules: TypeRules | None = None,
    with_name_index: bool = True,
) -> SnapshotManifest:
    """Import a file, or a folder of tables, and write it as a snapshot to the folder `out`; return its manifest.

    `format`: key of `READER_BY_FORMAT`; None to detect it by the file's suffix. `name`: name of the snapshot; the name
    of `out` if empty. `space`: id space of the entities. `title_space`: id space of bare titles (see
    `karat.kb.ids.id_spaces`). `language`: language of names in RDF. `complete`: whether every entity is listed; a
    folder without table of entities never lists them all.
    `xrefs_are_same_as`: whether OBO cross-references name the same entity. `rules`: rules that assign types.
    `with_name_index`: whether to store the name index instead of building it on demand.
    """
    source = Source(path)
    if not source.exists:
        raise InputError(source.label, actual="no such file", expected="a file or a folder", remedy="Check the path")
    format_name = format or _detect_format(source)
    if format_name not in READER_BY_FORMAT:
        raise UnknownNameError("format of a knowledge base", format_name, READER_BY_FORMAT)
    tables = READER_BY_FORMAT[format_name](path, language, xrefs_are_same_as)
    if not tables.rows:
        raise InputError(
            source.label,
            actual="no entity",
            expected="at least one",
            remedy="Check the file, and --from and --language",
        )
    counts = {} if rules is None else assign_types(tables, rules)
    remove_class_cycles(tables)
    lists_entities = format_name != "tsv" or "entities" in read_tsv_rows(path)
    sha256 = hash_content(Path(path)).sha256
    manifest = SnapshotManifest(
        karat=LAYOUT,
        name=name or out.absolute().name,
        date=date,
        licence=licence,
        space=space,
        title_space=title_space,
        complete=complete and lists_entities,
        anchor_counts="as imported"
        if any(len(row) > 2 and row[2] for row in tables.rows.get("aliases", ()))
        else "none",
        sources=(
            SnapshotSource(source.stem, licence=licence, files={Path(path).name: sha256}),
            *(() if rules is None else rules.sources),
        ),
    )
    with open_snapshot_writer(out, manifest) as snapshot:
        tables.write(snapshot)
        snapshot.add_counts(**counts)
        if with_name_index and tables.rows.get("aliases"):
            snapshot.write_name_index()
    return read_manifest(out)


def _detect_format(source: Source) -> str:
    """Return the format of a file by its suffix; `tsv` for a folder. Raise `InputError` on an unknown suffix."""
    if source.is_folder:
        return "tsv"
    suffixes = [part for part in Path(source.path).name.lower().split(".")[1:] if part not in ("gz", "zst")]
    if not suffixes or suffixes[-1] not in _SUFFIXES:
        raise InputError(
            source.label,
            actual="a file with an unknown suffix",
            expected=f"a folder of tables, or {', '.join(f'.{suffix}' for suffix in _SUFFIXES)}",
            remedy=f"Name the format: --from {'|'.join(READER_BY_FORMAT)}",
        )
    return _SUFFIXES[suffixes[-1]]


def assign_types(tables: TableRows, rules: TypeRules) -> Mapping[str, int]:
    """Correct the classes in `tables` by `rules`, replace them by whitelist types; return how many entities get none.

    The tables change in place. The number has the key `untyped`; the result is empty without a whitelist. In an
    ontology without instances, a term has no class; then its superclasses lead to its types. An entity with neither has
    unknown types.
    """
    superclasses: dict[str, list[str]] = {}
    for id, superclass in tables.rows.get("subclass_of", ()):
        superclasses.setdefault(id, []).append(superclass)
    ids = {row[0] for row in tables.rows.get("entities", ())}
    tables.skipped.update(rules.count_unused_corrections(ids | superclasses.keys()))
    class_rows = _correct_rows(tables, rules, SUBCLASS_OF, list(superclasses.items()))
    type_rows = _correct_rows(tables, rules, INSTANCE_OF, tables.rows.get("types", []))
    counts: dict[str, int] = {}
    pairs = _to_pair_table(class_rows)
    if rules.whitelist:
        typing = rules.make_whitelist_typing(pairs)
        typed_ids = {id for id, _ in type_rows}
        terms = [(id, classes) for id, classes in class_rows if id not in typed_ids]
        type_rows = [(id, typing.find_types(classes)) for id, classes in [*type_rows, *terms]]
        counts["untyped"] = typing.n_untyped
    kept_pairs, n_cut = rules.cut_above_whitelist(pairs)
    tables.skipped[CUT_SUPERCLASSES] += n_cut
    rows = list(zip(*(column.to_pylist() for column in kept_pairs.columns), strict=True))
    tables.rows.update({name: new_rows for name, new_rows in (("types", type_rows), ("subclass_of", rows)) if new_rows})
    return counts


def remove_class_cycles(tables: TableRows) -> None:
    """Remove, in place, the subclass-of rows that close a cycle, and count them in `tables.skipped`."""
    rows = tables.rows.get("subclass_of", ())
    pairs, n_cut = remove_cycles(_to_pair_table([(id, [other]) for id, other in rows]))
    if n_cut:
        tables.rows["subclass_of"] = list(zip(*(column.to_pylist() for column in pairs.columns), strict=True))
        tables.skipped["subclass-of statements that close a cycle, skipped"] += n_cut


def _correct_rows(
    tables: TableRows, rules: TypeRules, property: str, rows: Sequence[tuple[str, Sequence[str]]]
) -> list[tuple[str, list[str]]]:
    """Return rows (id, classes) after the corrections of `property`, which may add classes to an id without any.

    `property`: `P31` (instance of) or `P279` (subclass of). Corrections are counted in `tables.skipped`.
    """
    known_ids = {id for id, _ in rows}
    added_ids = dict.fromkeys(
        correction.id
        for correction in rules.corrections
        if correction.property == property and correction.id not in known_ids
    )
    all_rows = [*rows, *((id, ()) for id in added_ids)]
    corrected = [(id, rules.correct_classes(property, id, classes, tables.skipped)) for id, classes in all_rows]
    return [(id, classes) for id, classes in corrected if classes or id in known_ids]


def _to_pair_table(rows: Sequence[tuple[str, Sequence[str]]]) -> Arrow:
    """Return rows (class, superclasses) as an Arrow table with one row per pair (class, superclass)."""
    pairs = [(id, other) for id, others in rows for other in others]
    columns = ([pair[position] for pair in pairs] for position in (0, 1))
    return pa.table([pa.chunked_array([column], pa.string()) for column in columns], ["class", "superclass"])
