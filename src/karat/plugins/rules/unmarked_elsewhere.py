"""A surface that is linked in one document is marked in the others.

Every surface that starts at a word is looked up among the linked ones, by their lengths, so the time is linear in the
text.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from karat.matching.facts.labelled_spans import LabelledSpans
from karat.matching.facts.labels import is_inside_word, is_plain
from karat.model.document import Document
from karat.model.span import Span
from karat.model.spec.rule import Finding, LintContext, Rule
from karat.model.surface import DETERMINERS, is_nominal, is_pronoun


class _FirstLink(NamedTuple):
    """The first document, by id, that links a surface, and the entity."""

    document: str
    entity: str


def _find_in_corpus(documents: Sequence[Document], context: LintContext) -> Iterator[Finding]:
    """Yield one finding for each document and surface that is never marked in it, but linked in another document."""
    linked = _collect_surfaces(documents)
    lengths: dict[str, set[int]] = defaultdict(set)
    for surface in linked:
        lengths[surface[0]].add(len(surface))
    for document in documents:
        document_surfaces = {document.text[label.start : label.end] for label in document.labels}
        for surface, spans in _find_unmarked(document, linked, lengths).items():
            first = linked[surface]
            if surface not in document_surfaces and first.document != document.id:
                others = "" if len(spans) == 1 else f" and {len(spans) - 1} more times"
                description = f"not marked here{others}, but linked to {first.entity} in document {first.document!r}"
                yield Finding(document.id, description, spans[0], surface, "Mark it in all documents or in none")


def _collect_surfaces(documents: Sequence[Document]) -> dict[str, _FirstLink]:
    """Return the linked surfaces of all documents, each with its first document and entity.

    Pronouns, nominal phrases, single characters, numbers, coreference and optional labels are ignored.
    """
    linked: dict[str, _FirstLink] = {}
    for document in documents:
        for label in document.labels:
            surface = document.text[label.start : label.end]
            if is_plain(label) and isinstance(label.entity, str) and _is_informative(surface):
                link = _FirstLink(document.id, label.entity)
                linked[surface] = min(linked.get(surface, link), link)
    return linked


def _is_informative(surface: str) -> bool:
    """Return whether a surface is a word or phrase, and no pronoun, determiner or nominal phrase such as "the man"."""
    is_word = len(surface) > 1 and surface[0].isalnum() and any(map(str.isalpha, surface))
    return is_word and not is_pronoun(surface) and not is_nominal(surface) and surface.lower() not in DETERMINERS


def _find_unmarked(
    document: Document, linked: Mapping[str, _FirstLink], lengths: Mapping[str, set[int]]
) -> dict[str, list[Span]]:
    """Return by surface the spans in which a linked surface occurs, as whole words, and no label overlaps.

    `lengths` has the lengths of the linked surfaces by their first character. The longest surface at an offset counts,
    and only the evaluation span is searched.
    """
    text, labelled_spans = document.text, LabelledSpans.from_document(document)
    low, high = document.evaluation_span or (0, len(text))
    high = min(high, len(text))  # unchecked files may exceed the text
    spans_by_surface: dict[str, list[Span]] = defaultdict(list)
    start = low
    while start < high:
        end = start
        if text[start] in lengths and not is_inside_word(text, start):
            for length in sorted(lengths[text[start]], reverse=True):
                span = Span(start, start + length)
                if span.end <= high and text[start : span.end] in linked and not is_inside_word(text, span.end):
                    if labelled_spans.is_free(span):
                        spans_by_surface[text[start : span.end]].append(span)
                        end = span.end  # skip surfaces inside it
                    break
        start = max(end, start + 1)
    return spans_by_surface


RULE = Rule(
    title="Unmarked elsewhere",
    description="A surface linked in one document is marked in all, except pronouns, coreference and optional labels.",
    severity="hint",
    find_in_corpus=_find_in_corpus,
    is_gold_only=True,
)
