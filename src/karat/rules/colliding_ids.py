"""An id names one thing: a unit one mention, an id of a document one document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from karat.facts.labels import mentions
from karat.model.document import Document
from karat.spec.rule import Context, Finding, Rule


def _find(document: Document, context: Context) -> Iterator[Finding]:
    for labels in mentions(document):
        end = -1
        for label in sorted(labels, key=lambda label: label.span):
            if end >= 0 and label.start >= end:
                says = f"shares no character with another label of its unit {label.unit!r}"
                yield Finding.at(document, label, says, "Give each mention a unit of its own")
            end = max(end, label.end)


def _corpus_find(documents: Sequence[Document], context: Context) -> Iterator[Finding]:
    # Only documents that were not checked when they were read can share an id.
    for name, count in sorted(Counter(document.id for document in documents).items()):
        if count > 1:
            yield Finding(name, f"{count} documents have this id", proposal="Rename all but one")


RULE = Rule(
    title="Colliding ids",
    says="A unit is one mention, so that its labels overlap; an id names one document.",
    severity="error",
    find=_find,
    corpus_find=_corpus_find,
)
