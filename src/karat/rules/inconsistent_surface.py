"""A surface that is linked in one place of a document is linked in the others."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from karat.facts.labels import inside_word, plain, unspaced
from karat.facts.marked import Marked
from karat.model.document import Document, Label
from karat.model.span import Span
from karat.spec.rule import Context, Finding, Rule

_TOKEN = re.compile(r"\w+|[^\w\s]")


def _find(document: Document, context: Context) -> Iterator[Finding]:
    linked: dict[str, Label] = {}
    for label in document.labels:
        surface = document.text[label.start : label.end]
        if plain(label) and isinstance(label.entity, str) and surface.strip():
            linked.setdefault(surface, label)
    for label in document.labels:
        first = linked.get(document.text[label.start : label.end])
        if first is not None and plain(label) and not isinstance(label.entity, str):
            says = f"not linked here, but to {first.entity} at {first.start}"
            yield Finding.at(document, label, says, "Link all or none")
    for span, surface in _unmarked(document, linked):
        first = linked[surface]
        says = f"not marked here, but linked to {first.entity} at {first.start}"
        yield Finding(document.id, says, span, surface, "Mark all or none")


def _unmarked(document: Document, linked: dict[str, Label]) -> Iterator[tuple[Span, str]]:
    """Where a linked surface stands outside all labels."""
    text = document.text
    low, high = document.evaluation_span or (0, len(text))
    starts: dict[str, list[int]] = defaultdict(list)
    for token in _TOKEN.finditer(text, low, high):
        starts[token[0]].append(token.start())
    marked = Marked.of(document)
    for surface in linked:
        first = _TOKEN.match(surface)
        if first is None:
            continue  # it begins with white space
        places = starts[first[0]] if not unspaced(surface) else _everywhere(text, surface, low, high)
        for start in places:
            span = Span(start, start + len(surface))
            whole = text.startswith(surface, start) and span.end <= high
            if whole and not inside_word(text, start) and not inside_word(text, span.end) and marked.free(span):
                yield span, surface


def _everywhere(text: str, surface: str, low: int, high: int) -> Iterator[int]:
    while (low := text.find(surface, low, high)) >= 0:
        yield low
        low += len(surface)


RULE = Rule(
    title="Inconsistent surface",
    says="A surface linked in one place of a document is linked in all (coreference and optional labels apart).",
    severity="hint",
    find=_find,
    gold=True,
)
