"""Ids are in the knowledge base."""

from __future__ import annotations

from collections.abc import Iterator

from karat.facts.ids import ids, looked_up, spellings
from karat.model.document import Document
from karat.spec.rule import Context, Finding, Rule


def _find(document: Document, context: Context) -> Iterator[Finding]:
    if context.known is None:
        return
    for place in ids(document):
        if place.role == "relation" or (place.label is not None and place.id != place.label.entity):
            continue  # predicates and further ids may belong to another knowledge base
        if not any(map(context.known, spellings(place.id))) and looked_up(place.id, context.redirects) is None:
            yield place.finding(document, f"{place.id} is not in the knowledge base", "Check the id, or make it NIL")


RULE = Rule(
    title="Unknown id",
    says="Ids of labels and tags are in the knowledge base (by entities.tsv).",
    severity="warning",
    find=_find,
)
