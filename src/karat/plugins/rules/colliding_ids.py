"""Labels with the same mention id overlap, and document ids are unique."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from karat.matching.facts.labels import group_by_mention
from karat.model.document import Document
from karat.model.spec.rule import Finding, LintContext, Rule


def _find(document: Document, context: LintContext) -> Iterator[Finding]:
    """Report labels that share a `mention_id` with other labels, but overlap none that starts before them."""
    for labels in group_by_mention(document):
        end = -1
        for label in sorted(labels, key=lambda label: label.span):
            if end >= 0 and label.start >= end:
                description = f"does not overlap another label with mention id {label.mention_id!r}"
                yield Finding.from_label(document, label, description, "Give each mention a distinct mention_id")
            end = max(end, label.end)


def _find_in_corpus(documents: Sequence[Document], context: LintContext) -> Iterator[Finding]:
    """Yield one finding for each document id that several documents have."""
    # Only documents that were read without checks can share an id.
    for name, count in sorted(Counter(document.id for document in documents).items()):
        if count > 1:
            yield Finding(name, f"{count} documents have this id", proposal="Rename all but one")


RULE = Rule(
    title="Colliding ids",
    description="Labels with the same mention_id overlap, and document ids are unique.",
    severity="error",
    find=_find,
    find_in_corpus=_find_in_corpus,
)
