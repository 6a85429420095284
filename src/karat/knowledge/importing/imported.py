"""Any ontology, vocabulary or set of tables as a pack."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from karat.errors import InputError, UnknownNameError
from karat.kb.pack.manifest import LAYOUT, PackManifest, PackSource, read_manifest
from karat.kb.pack.writer import writing_pack
from karat.knowledge.importing.gathered import Gathered
from karat.knowledge.importing.jsonl import gathered_jsonl
from karat.knowledge.importing.obo import gathered_obo
from karat.knowledge.importing.rdf import gathered_rdf
from karat.knowledge.importing.tsv import gathered_tsv
from karat.knowledge.importing.typed import typed, without_cycles
from karat.knowledge.type_rules import TypeRules
from karat.storage.files import Source
from karat.storage.home import content

READERS: Final[Mapping[str, Callable[[str, str, bool], Gathered]]] = {
    "tsv": gathered_tsv,
    "jsonl": gathered_jsonl,
    "obo": gathered_obo,
    "rdf": gathered_rdf,
}
"""How each format is read: from a path, the language of names, and whether cross-references mean the same."""

_SUFFIXES: Final = {
    "jsonl": "jsonl",
    "obo": "obo",
    **dict.fromkeys(("ttl", "nt", "nq", "trig", "rdf", "owl", "xml", "n3"), "rdf"),
}


def import_pack(
    path: str,
    out: Path,
    *,
    date: str,
    format: str | None = None,
    name: str = "",
    licence: str = "",
    space: str = "",
    titles: str = "",
    language: str = "en",
    complete: bool = True,
    xrefs: bool = False,
    rules: TypeRules | None = None,
    index: bool = True,
) -> PackManifest:
    """Make a pack of a file, or of a folder of tables.

    `space` is the id space of its entities and `titles` that of ids without any sign of theirs (`karat.kb.spaces`).
    A pack that is not `complete` says nothing about ids that it does not have. By `rules` entities get the types of a
    whitelist. With `index` names are found on the disk rather than by an index that is made when it is asked for.
    """
    source = Source(path)
    if not source.exists:
        raise InputError(source.label, found="nothing", expected="a file or a folder", remedy="Check the path")
    chosen = format or _format_of(source)
    if chosen not in READERS:
        raise UnknownNameError("format of a knowledge base", chosen, READERS)
    found = READERS[chosen](path, language, xrefs)
    counts = {} if rules is None else typed(found, rules)
    without_cycles(found)
    print_ = content(Path(path)).sha256
    manifest = PackManifest(
        karat=LAYOUT,
        name=name or out.absolute().name,
        date=date,
        licence=licence,
        space=space,
        titles=titles,
        complete=complete,
        anchor_counts="as imported"
        if any(len(row) > 2 and row[2] for row in found.rows.get("aliases", ()))
        else "none",
        sources=(
            PackSource(source.stem, licence=licence, files={Path(path).name: print_}),
            *(() if rules is None else rules.sources),
        ),
    )
    with writing_pack(out, manifest) as pack:
        found.write(pack)
        pack.count(**counts)
        if index and found.rows.get("aliases"):
            pack.index_names()
    return read_manifest(out)


def _format_of(source: Source) -> str:
    if source.folder:
        return "tsv"
    suffixes = [part for part in Path(source.given).name.lower().split(".")[1:] if part not in ("gz", "zst")]
    if not suffixes or suffixes[-1] not in _SUFFIXES:
        raise InputError(
            source.label,
            found="a file of no known suffix",
            expected=f"a folder of tables, or {', '.join(f'.{suffix}' for suffix in _SUFFIXES)}",
            remedy=f"Say what it is: --from {'|'.join(READERS)}",
        )
    return _SUFFIXES[suffixes[-1]]
