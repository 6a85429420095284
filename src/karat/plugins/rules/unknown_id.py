"""Ids are in the knowledge base."""

from __future__ import annotations

from collections.abc import Iterator

from karat.matching.facts.document_ids import find_ids, look_up_spelling, spellings
from karat.model.document import Document
from karat.model.spec.rule import Finding, LintContext, Rule


def _find(document: Document, context: LintContext) -> Iterator[Finding]:
    """Report entity ids of labels and tags that are neither in the knowledge base nor redirects."""
    if context.has_entity is None:
        return
    for occurrence in find_ids(document):
        if occurrence.role == "relation" or (occurrence.label is not None and occurrence.id != occurrence.label.entity):
            continue  # predicates and further ids may belong to another knowledge base
        if not any(map(context.has_entity, spellings(occurrence.id))) and look_up_spelling(
            occurrence.id, context.redirects
        ) in (None, occurrence.id):
            yield occurrence.to_finding(
                document, f"{occurrence.id} is not in the knowledge base", "Correct the id, or use NIL"
            )


RULE = Rule(
    title="Unknown id",
    description="Ids of labels and tags are in the knowledge base, according to entities.tsv.",
    severity="warning",
    find=_find,
)
