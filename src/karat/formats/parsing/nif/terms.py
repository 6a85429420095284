"""NIF 2.0: its terms, the recognition of its dialects, and its numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import IO

from karat.formats.parsing import numbers
from karat.formats.parsing.turtle.triples import Values
from karat.formats.parsing.turtle.turtle import get_local_name, read_resources
from karat.model.spec.format import ByteSource

PREFIXES = {
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "nif": "http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#",
    "itsrdf": "http://www.w3.org/2005/11/its/rdf#",
    "dbo": "http://dbpedia.org/ontology/",
    "fel": "http://w3id.org/vcb/fel#",
    "el": "el:",  # the last three are declared nowhere: their names stay unchanged
    "mnt": "mnt:",
    "tax": "tax:",
}
"""Prefixes that files use without declaring them."""

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

WRONG_LENGTH = "texts whose length differs from the stated one"
WRONG_ANCHOR = "anchors that differ from the text"

_SINGLE_VALUED = frozenset({BEGIN, END, CONTEXT})
_TURTLE = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:<(?![?!])|@|#|_:|\[|(?i:prefix|base)\s)")
_NIF = re.compile(rb"nlp2rdf/ontologies/nif-core#|\snif:(?:isString|referenceContext|beginIndex)\s")
_BY_SENTENCE = re.compile(rb"_sentence\d+#|nif-core#context>|\snif:context\s")
# A literal that does not end is matched too, up to the end of line or text, so that no quotation mark is tried twice.
_QUOTED = re.compile(
    rb'"""(?:[^"\\]|\\.|"(?!""))*+(?:"{3,5}|\\?\Z)|"(?:[^"\\\n]|\\.)*+(?:"|\n|\\?\Z)|<[^<>\n]*>', re.DOTALL
)
_USED_PREFIX = re.compile(rb"(?<![\w:-])([a-z]+):[A-Za-z]")
_DECLARED_PREFIX = re.compile(rb"(?i:@?prefix)\s+([a-z]+):")


def is_nif(opening: bytes) -> bool:
    """Return whether the first bytes are Turtle with terms of NIF, in any dialect."""
    return _TURTLE.match(opening) is not None and _NIF.search(opening) is not None


def is_sentence_nif(opening: bytes) -> bool:
    """Return whether the first bytes are NIF by sentence: annotations refer to sentences, sentences to documents."""
    return b"broaderContext" in opening and _BY_SENTENCE.search(opening) is not None


def count_undeclared_prefixes(opening: bytes) -> int:
    """Count the prefixes of `PREFIXES` that the first bytes use without declaring them."""
    used = set(_USED_PREFIX.findall(_QUOTED.sub(b" ", opening)))
    return len((used & {name.encode() for name in PREFIXES}).difference(_DECLARED_PREFIX.findall(opening)))


def read_nif_resources(
    source: ByteSource,
    skipped_predicates: frozenset[str] = frozenset(),
    *,
    transform: Callable[[IO[bytes]], IO[bytes]] | None = None,
) -> Iterator[tuple[str, Values]]:
    """Yield the IRI of each resource with its values by predicate, without `skipped_predicates`.

    A second span or context starts another resource of the same IRI. `transform` changes the bytes before parsing.
    """
    return read_resources(
        source, PREFIXES, single_valued=_SINGLE_VALUED, skipped_predicates=skipped_predicates, transform=transform
    )


def get_offset(values: Values, predicate: str, subject: str, source: ByteSource) -> int:
    """Return the first value of a predicate as an integer from 0; raise `InputError` if it is missing or invalid.

    `subject` is the IRI of the resource, for error messages.
    """
    value = values[predicate][0] if predicate in values else ""
    small_number = _parse_small_number(value)
    return (
        numbers.parse_offset(value, f"{source.label}: <{subject}>", get_local_name(predicate))
        if small_number is None
        else small_number
    )


@lru_cache(maxsize=100_000)
def _parse_small_number(value: str) -> int | None:
    """Parse an integer of at most five digits quickly; return None for all other strings."""
    return int(value) if value.isdecimal() and value.isascii() and len(value) < 6 else None


def get_number(values: Values, predicate: str, subject: str, source: ByteSource) -> float | None:
    """Return the first value of a predicate as a number, or None if the resource lacks the predicate.

    Raise `InputError`, which names `subject`, if the value is not a finite number.
    """
    if predicate not in values:
        return None
    return numbers.parse_number(values[predicate][0], f"{source.label}: <{subject}>", get_local_name(predicate))


def has_wrong_length(values: Values) -> bool:
    """Return whether a context states an end that differs from the length of its text in code points.

    The two differ if the offsets of the context count other units.
    """
    return TEXT in values and END in values and values[END][0] != str(len(values[TEXT][0]))


def count_unknown(values: Values, expected: frozenset[str], plural: str, skipped: Counter[str]) -> None:
    """Count statements with predicates other than `expected`; `plural` names the kind of subject in the counts."""
    if not expected.issuperset(values):
        for predicate in (name for name in values if name not in expected):
            skipped[f"statements with {get_local_name(predicate)} about {plural}"] += len(values[predicate])
