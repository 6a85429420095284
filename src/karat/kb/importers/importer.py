"""Import of an ontology, vocabulary or folder of tables as a snapshot."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from karat.kb.importers.jsonl import read_jsonl
from karat.kb.importers.obo import read_obo
from karat.kb.importers.rdf import read_rdf
from karat.kb.importers.table_rows import TableRows
from karat.kb.importers.tsv import read_tsv_folder
from karat.kb.importers.type_assignment import assign_types, remove_class_cycles
from karat.kb.snapshot.manifest import LAYOUT, SnapshotManifest, SnapshotSource, read_manifest
from karat.kb.snapshot.writer import open_snapshot_writer
from karat.kb.type_rules import TypeRules
from karat.model.errors import InputError, UnknownNameError
from karat.storage.data_folder import hash_content
from karat.storage.files import Source

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
    `karat.kb.ids.id_spaces`). `language`: language of names in RDF. `complete`: whether every entity is listed.
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
    counts = {} if rules is None else assign_types(tables, rules)
    remove_class_cycles(tables)
    sha256 = hash_content(Path(path)).sha256
    manifest = SnapshotManifest(
        karat=LAYOUT,
        name=name or out.absolute().name,
        date=date,
        licence=licence,
        space=space,
        title_space=title_space,
        complete=complete,
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
