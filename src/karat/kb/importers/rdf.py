"""Import of RDF vocabularies: SKOS concepts, OWL and RDFS classes, and every subject with a label."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from karat.kb.importers.table_rows import TableRows
from karat.model.errors import InputError
from karat.storage.files import Source

_SKOS, _OWL = "http://www.w3.org/2004/02/skos/core#", "http://www.w3.org/2002/07/owl#"
_RDFS, _TYPE = "http://www.w3.org/2000/01/rdf-schema#", "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
_NAMES = (f"{_SKOS}prefLabel", f"{_RDFS}label")
_ALIASES = (f"{_SKOS}altLabel", f"{_SKOS}hiddenLabel")
_DESCRIPTIONS = (f"{_SKOS}definition", f"{_RDFS}comment")
_SUPERCLASSES = (f"{_SKOS}broader", f"{_SKOS}broaderTransitive", f"{_RDFS}subClassOf")
_SAME_AS = (f"{_SKOS}exactMatch", f"{_OWL}sameAs")
_REPLACED = ("http://purl.org/dc/terms/isReplacedBy",)
_DEPRECATED = f"{_OWL}deprecated"
_SYNTAX_NAMESPACES = (_SKOS, _OWL, _RDFS, "http://www.w3.org/1999/02/22-rdf-syntax-ns#")
_SUFFIXES = {"ttl": "ttl", "nt": "nt", "nq": "nq", "trig": "trig", "rdf": "rdf", "owl": "rdf", "xml": "rdf", "n3": "n3"}


def read_rdf(path: str, language: str, xrefs_are_same_as: bool) -> TableRows:
    """Read the rows of every subject with a label, in any language, or type; other triples are counted as skipped.

    `language`: language of names and descriptions; literals without language tag are read too. `xrefs_are_same_as` has
    no effect.
    """
    tables = TableRows()
    names: dict[str, str] = {}
    descriptions: dict[str, str] = {}
    deprecated: set[str] = set()
    types: dict[str, set[str]] = {}
    for subject, predicate, value, literal_language in _iterate_triples(Source(path)):
        if literal_language is not None and literal_language.split("-")[0] not in ("", language):
            tables.skipped["labels and texts in other languages"] += 1
            if predicate in _NAMES:
                types.setdefault(subject, set())  # an entity without name
        elif predicate in _NAMES:
            tables.add("aliases", subject, value)
            if predicate == _NAMES[0] or subject not in names:
                names[subject] = value
        elif predicate in _ALIASES:
            tables.add("aliases", subject, value)
        elif predicate in _DESCRIPTIONS:
            descriptions.setdefault(subject, value)
        elif predicate in _SUPERCLASSES and subject != value:
            tables.add("subclass_of", subject, value)
        elif predicate in _SAME_AS:
            tables.add("same_as", subject, value)
        elif predicate in _REPLACED:
            tables.add("redirects", subject, value)
        elif predicate == _DEPRECATED and value == "true":
            deprecated.add(subject)
        elif predicate == _TYPE:
            types.setdefault(subject, set()).update([value] if not value.startswith(_SYNTAX_NAMESPACES) else [])
        else:
            tables.skipped["triples that a snapshot does not use"] += 1
    for id in {**names, **types}:
        tables.add("entities", id, names.get(id), "deleted" if id in deprecated else "normal", descriptions.get(id))
    for id, type_ids in types.items():
        if type_ids:
            tables.add("types", id, sorted(type_ids))
    return tables


def _iterate_triples(source: Source) -> Iterator[tuple[str, str, str, str | None]]:
    """Yield subject, predicate, object, and the language of a literal: empty without tag, None if it is no literal.

    Triples with blank nodes are skipped. Raise `InputError` if the file has no RDF suffix or invalid syntax.
    """
    import pyoxigraph as ox

    suffixes = [part for part in source.path.lower().split(".")[1:] if part not in ("gz", "zst")]
    kind = _SUFFIXES.get(suffixes[-1]) if suffixes else None
    format: Any = None if kind is None else ox.RdfFormat.from_extension(kind)
    if format is None:
        raise InputError(
            source.label,
            actual="a file name without an RDF suffix",
            expected=", ".join(f".{suffix}" for suffix in _SUFFIXES),
            remedy="Rename the file",
        )
    try:
        with source.open_stream() as file:
            for quad in ox.parse(file, format=format, lenient=True):
                if isinstance(quad.subject, ox.NamedNode):
                    yield from _convert_quad(quad, ox)
    except SyntaxError as problem:
        raise InputError(
            f"{source.label}:{problem.lineno or 1}", actual=problem.msg, expected="RDF", remedy="Correct the file"
        ) from None


def _convert_quad(quad: Any, ox: Any) -> Iterator[tuple[str, str, str, str | None]]:  # noqa: ANN401  # of pyoxigraph
    """Yield the quad as in `_iterate_triples`; nothing if its object is a blank node. `ox`: module pyoxigraph."""
    if isinstance(quad.object, ox.Literal):
        yield quad.subject.value, quad.predicate.value, quad.object.value, quad.object.language or ""
    elif isinstance(quad.object, ox.NamedNode):
        yield quad.subject.value, quad.predicate.value, quad.object.value, None
