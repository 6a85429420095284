"""A surface that is linked in one document is marked in the others.

Every surface that begins at a word is looked up among those linked anywhere, by the lengths that these have, so that
the time grows with the text.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from karat.facts.labels import inside_word, plain
from karat.facts.marked import Marked
from karat.model.document import Document
from karat.model.span import Span
from karat.model.surface import DETERMINERS, nominal, pronominal
from karat.spec.rule import Context, Finding, Rule


class _Linked(NamedTuple):
    """The first document, by its id, that links a surface, and to what."""

    document: str
    entity: str


def _corpus_find(documents: Sequence[Document], context: Context) -> Iterator[Finding]:
    linked = _surfaces(documents)
    lengths: dict[str, set[int]] = defaultdict(set)
    for surface in linked:
        lengths[surface[0]].add(len(surface))
    for document in documents:
        own = {document.text[label.start : label.end] for label in document.labels}
        for surface, places in _unmarked(document, linked, lengths).items():
            first = linked[surface]
            if surface not in own and first.document != document.id:
                more = "" if len(places) == 1 else f" and at {len(places) - 1} more places"
                says = f"not marked here{more}, but linked to {first.entity} in document {first.document!r}"
                yield Finding(document.id, says, places[0], surface, "Mark it in all documents or in none")


def _surfaces(documents: Sequence[Document]) -> dict[str, _Linked]:
    """The surfaces that labels link, wherever; pronouns, single signs and numbers say too little."""
    linked: dict[str, _Linked] = {}
    for document in documents:
        for label in document.labels:
            surface = document.text[label.start : label.end]
            if plain(label) and isinstance(label.entity, str) and _says_something(surface):
                found = _Linked(document.id, label.entity)
                linked[surface] = min(linked.get(surface, found), found)
    return linked


def _says_something(surface: str) -> bool:
    spelt = len(surface) > 1 and surface[0].isalnum() and any(map(str.isalpha, surface))
    return spelt and not pronominal(surface) and not nominal(surface) and surface.lower() not in DETERMINERS


def _unmarked(
    document: Document, linked: Mapping[str, _Linked], lengths: Mapping[str, set[int]]
) -> dict[str, list[Span]]:
    """Where surfaces stand outside all labels, as whole words."""
    text, marked = document.text, Marked.of(document)
    low, high = document.evaluation_span or (0, len(text))
    high = min(high, len(text))  # a file may say anything
    found: dict[str, list[Span]] = defaultdict(list)
    start = low
    while start < high:
        end = start
        if text[start] in lengths and not inside_word(text, start):
            for length in sorted(lengths[text[start]], reverse=True):
                span = Span(start, start + length)
                if span.end <= high and text[start : span.end] in linked and not inside_word(text, span.end):
                    if marked.free(span):
                        found[text[start : span.end]].append(span)
                        end = span.end  # what stands inside of it is not looked for
                    break
        start = max(end, start + 1)
    return found


RULE = Rule(
    title="Unmarked elsewhere",
    says="A surface linked in one document is marked in the others (pronouns, coreference and optional labels apart).",
    severity="hint",
    corpus_find=_corpus_find,
    gold=True,
)
