"""NIF 2.0: its names, how its dialects are told apart, and the numbers in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import IO

from karat.parsing import numbers
from karat.parsing.turtle.triples import Values
from karat.parsing.turtle.turtle import local, resources
from karat.spec.format import Bytes

PREFIXES = {
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "nif": "http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#",
    "itsrdf": "http://www.w3.org/2005/11/its/rdf#",
    "dbo": "http://dbpedia.org/ontology/",
    "fel": "http://w3id.org/vcb/fel#",
    "el": "el:",  # nobody says what the last three stand for: their names stay as written
    "mnt": "mnt:",
    "tax": "tax:",
}
"""The prefixes that files use without saying what they stand for."""

NIF = PREFIXES["nif"]
TYPE = PREFIXES["rdf"] + "type"
TEXT = NIF + "isString"
BEGIN = NIF + "beginIndex"
END = NIF + "endIndex"
ANCHOR = NIF + "anchorOf"
CONTEXT = NIF + "referenceContext"
LINK = PREFIXES["itsrdf"] + "taIdentRef"
CLASS = PREFIXES["itsrdf"] + "taClassRef"
CONFIDENCE = PREFIXES["itsrdf"] + "taConfidence"

OTHER_LENGTH = "texts of another length than stated"

_ONCE = frozenset({BEGIN, END, CONTEXT})
_TURTLE = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:<(?![?!])|@|#|_:|\[|(?i:prefix|base)\s)")
_NIF = re.compile(rb"nlp2rdf/ontologies/nif-core#|\snif:(?:isString|referenceContext|beginIndex)\s")
_BY_SENTENCE = re.compile(rb"_sentence\d+#|nif-core#context>|\snif:context\s")
_QUOTED = re.compile(rb'"""(?:[^"\\]|\\.|"(?!""))*"{3,5}|"(?:[^"\\\n]|\\.)*"|<[^<>\n]*>', re.DOTALL)
_USED = re.compile(rb"(?<![\w:-])([a-z]+):[A-Za-z]")
_DECLARED = re.compile(rb"(?i:@?prefix)\s+([a-z]+):")


def is_nif(opening: bytes) -> bool:
    """Whether this is NIF in Turtle, of whatever dialect."""
    return _TURTLE.match(opening) is not None and _NIF.search(opening) is not None


def by_sentence(opening: bytes) -> bool:
    """Whether annotations belong to sentences, and these to documents, as NIFify writes it."""
    return b"broaderContext" in opening and _BY_SENTENCE.search(opening) is not None


def undeclared(opening: bytes) -> int:
    """How many of the known prefixes the beginning of a file uses without saying what they stand for."""
    used = set(_USED.findall(_QUOTED.sub(b" ", opening)))
    return len((used & {name.encode() for name in PREFIXES}).difference(_DECLARED.findall(opening)))


def said(
    source: Bytes, skip: frozenset[str] = frozenset(), *, through: Callable[[IO[bytes]], IO[bytes]] | None = None
) -> Iterator[tuple[str, Values]]:
    """The resources of a file; a second span or context begins another one."""
    return resources(source, PREFIXES, once=_ONCE, skip=skip, through=through)


def offset(values: Values, predicate: str, subject: str, source: Bytes) -> int:
    """A place in a text, or another whole number."""
    found = values[predicate][0] if predicate in values else ""
    known = _whole(found)
    return numbers.offset(found, f"{source.label}: <{subject}>", local(predicate)) if known is None else known


@lru_cache(maxsize=100_000)
def _whole(found: str) -> int | None:
    return int(found) if found.isdecimal() and found.isascii() and len(found) < 6 else None


def number(values: Values, predicate: str, subject: str, source: Bytes) -> float | None:
    """A number, if there is one."""
    if predicate not in values:
        return None
    return numbers.number(values[predicate][0], f"{source.label}: <{subject}>", local(predicate))


def length_differs(values: Values) -> bool:
    """Whether a context says that its text is longer or shorter than it is: somebody counted something else."""
    return TEXT in values and END in values and values[END][0] != str(len(values[TEXT][0]))
