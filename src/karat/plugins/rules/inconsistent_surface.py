"""A surface that is linked once in a document is linked everywhere in it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from karat.matching.facts.labelled_spans import LabelledSpans
from karat.matching.facts.labels import is_inside_word, is_plain, is_unspaced
from karat.model.document import Document, Label
from karat.model.span import Span
from karat.model.spec.rule import Finding, LintContext, Rule

_TOKEN = re.compile(r"\w+|[^\w\s]")


def _find(document: Document, context: LintContext) -> Iterator[Finding]:
    """Report labels without link and unmarked texts whose surface is linked elsewhere in the document.

    Coreference and optional labels are ignored.
    """
    linked: dict[str, Label] = {}
    for label in document.labels:
        surface = document.text[label.start : label.end]
        if is_plain(label) and isinstance(label.entity, str) and surface.strip():
            linked.setdefault(surface, label)
    for label in document.labels:
        first = linked.get(document.text[label.start : label.end])
        if first is not None and is_plain(label) and not isinstance(label.entity, str):
            description = f"not linked here, but to {first.entity} at {first.start}"
            yield Finding.from_label(document, label, description, "Link all or none")
    for span, surface in _find_unmarked(document, linked):
        first = linked[surface]
        description = f"not marked here, but linked to {first.entity} at {first.start}"
        yield Finding(document.id, description, span, surface, "Mark all or none")


def _find_unmarked(document: Document, linked: dict[str, Label]) -> Iterator[tuple[Span, str]]:
    """Yield span and surface of each occurrence of a linked surface, as whole words, that no label overlaps.

    `linked` has the first linked label of each surface. Only the evaluation span is searched.
    """
    text = document.text
    low, high = document.evaluation_span or (0, len(text))
    starts: dict[str, list[int]] = defaultdict(list)
    for token in _TOKEN.finditer(text, low, high):
        starts[token[0]].append(token.start())
    labelled_spans = LabelledSpans.from_document(document)
    for surface in linked:
        first = _TOKEN.match(surface)
        if first is None:
            continue  # it starts with white space
        offsets = starts[first[0]] if not is_unspaced(surface) else _find_occurrences(text, surface, low, high)
        for start in offsets:
            span = Span(start, start + len(surface))
            is_occurrence = text.startswith(surface, start) and span.end <= high
            if (
                is_occurrence
                and not is_inside_word(text, start)
                and not is_inside_word(text, span.end)
                and labelled_spans.is_free(span)
            ):
                yield span, surface


def _find_occurrences(text: str, surface: str, low: int, high: int) -> Iterator[int]:
    """Yield the offset of each occurrence of a surface in `text[low:high]`, without overlaps."""
    while (low := text.find(surface, low, high)) >= 0:
        yield low
        low += len(surface)


RULE = Rule(
    title="Inconsistent surface",
    description="A surface that is linked once in a document is always linked, except coreference and optional labels.",
    severity="hint",
    find=_find,
    is_gold_only=True,
)
