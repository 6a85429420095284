"""Vocabularies in RDF: SKOS concepts, OWL and RDFS classes, and anything that has a label."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from karat.errors import InputError
from karat.knowledge.importing.gathered import Gathered
from karat.storage.files import Source

_SKOS, _OWL = "http://www.w3.org/2004/02/skos/core#", "http://www.w3.org/2002/07/owl#"
_RDFS, _TYPE = "http://www.w3.org/2000/01/rdf-schema#", "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
_NAMES = (f"{_SKOS}prefLabel", f"{_RDFS}label")
_ALIASES = (f"{_SKOS}altLabel", f"{_SKOS}hiddenLabel")
_DESCRIPTIONS = (f"{_SKOS}definition", f"{_RDFS}comment")
_ABOVE = (f"{_SKOS}broader", f"{_SKOS}broaderTransitive", f"{_RDFS}subClassOf")
_SAME = (f"{_SKOS}exactMatch", f"{_OWL}sameAs")
_REPLACED = ("http://purl.org/dc/terms/isReplacedBy",)
_DEPRECATED = f"{_OWL}deprecated"
_SYNTAX = (_SKOS, _OWL, _RDFS, "http://www.w3.org/1999/02/22-rdf-syntax-ns#")
_SUFFIXES = {"ttl": "ttl", "nt": "nt", "nq": "nq", "trig": "trig", "rdf": "rdf", "owl": "rdf", "xml": "rdf", "n3": "n3"}


def gathered_rdf(path: str, language: str, xrefs: bool) -> Gathered:
    """Every subject with a label or a type; names are those in one language, or without any."""
    found = Gathered()
    names: dict[str, str] = {}
    said: dict[str, str] = {}
    gone: set[str] = set()
    types: dict[str, set[str]] = {}
    for subject, predicate, value, spoken in _triples(Source(path)):
        if spoken is not None and spoken.split("-")[0] not in ("", language):
            found.left_out["labels and texts in other languages"] += 1
        elif predicate in _NAMES:
            found.add("aliases", subject, value)
            if predicate == _NAMES[0] or subject not in names:
                names[subject] = value
        elif predicate in _ALIASES:
            found.add("aliases", subject, value)
        elif predicate in _DESCRIPTIONS:
            said.setdefault(subject, value)
        elif predicate in _ABOVE and subject != value:
            found.add("subclass_of", subject, value)
        elif predicate in _SAME:
            found.add("same_as", subject, value)
        elif predicate in _REPLACED:
            found.add("redirects", subject, value)
        elif predicate == _DEPRECATED and value == "true":
            gone.add(subject)
        elif predicate == _TYPE:
            types.setdefault(subject, set()).update([value] if not value.startswith(_SYNTAX) else [])
        else:
            found.left_out["triples that say nothing for a pack"] += 1
    for id in {**names, **types}:
        found.add("entities", id, names.get(id), "deleted" if id in gone else "normal", said.get(id))
    for id, own in types.items():
        if own:
            found.add("types", id, sorted(own))
    return found


def _triples(source: Source) -> Iterator[tuple[str, str, str, str | None]]:
    """Subject, predicate, object and the language of a text; None where the object is no text."""
    import pyoxigraph as ox

    suffixes = [part for part in source.given.lower().split(".")[1:] if part not in ("gz", "zst")]
    kind = _SUFFIXES.get(suffixes[-1]) if suffixes else None
    format: Any = None if kind is None else ox.RdfFormat.from_extension(kind)
    if format is None:
        raise InputError(
            source.label,
            found="a name without a suffix of RDF",
            expected=", ".join(f".{suffix}" for suffix in _SUFFIXES),
            remedy="Rename the file",
        )
    try:
        with source.stream() as file:
            for quad in ox.parse(file, format=format, lenient=True):
                if isinstance(quad.subject, ox.NamedNode):
                    yield from _triple(quad, ox)
    except SyntaxError as problem:
        raise InputError(
            f"{source.label}:{problem.lineno or 1}", found=problem.msg, expected="RDF", remedy="Mend the file"
        ) from None


def _triple(quad: Any, ox: Any) -> Iterator[tuple[str, str, str, str | None]]:  # noqa: ANN401  # of pyoxigraph
    if isinstance(quad.object, ox.Literal):
        yield quad.subject.value, quad.predicate.value, quad.object.value, quad.object.language or ""
    elif isinstance(quad.object, ox.NamedNode):
        yield quad.subject.value, quad.predicate.value, quad.object.value, None
