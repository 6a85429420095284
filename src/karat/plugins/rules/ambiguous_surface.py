"""A surface is linked to one entity per document."""

from __future__ import annotations

from collections.abc import Iterator

from karat.matching.facts.labels import family_roots, refers_back
from karat.model.document import Document, Label
from karat.model.spec.rule import Finding, LintContext, Rule


def _find(document: Document, context: LintContext) -> Iterator[Finding]:
    """Report labels whose surface was linked to another entity before in the document.

    The alternatives of a mention count together. Coreference, quantities, NIL and unlinked labels are ignored.
    """
    first_labels: dict[tuple[str, object], tuple[Label, set[str]]] = {}
    for root, label in zip(family_roots(document), document.labels, strict=True):
        surface = document.text[label.start : label.end]
        if isinstance(label.entity, str) and label.kind is None and not refers_back(label) and surface.strip():
            first_labels.setdefault((surface, root), (label, set()))[1].add(label.entity)
    entities_before: dict[str, set[str]] = {}
    for (surface, _), (label, entities) in first_labels.items():
        previous = entities_before.setdefault(surface, entities)
        if previous.isdisjoint(entities):
            description = f"linked to {_join_ids(entities)} here, but to {_join_ids(previous)} before"
            yield Finding.from_label(document, label, description, "Check that both links are intended")
            entities_before[surface] = previous | entities


def _join_ids(entities: set[str]) -> str:
    """Return the ids joined by "or"."""
    return " or ".join(sorted(entities))


RULE = Rule(
    title="Ambiguous surface",
    description="A surface is linked to one entity per document, except in coreference.",
    severity="hint",
    find=_find,
)
