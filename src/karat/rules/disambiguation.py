"""Ids are not disambiguation pages."""

from __future__ import annotations

from collections.abc import Iterator

from karat.facts.ids import ids, spellings
from karat.model.document import Document
from karat.spec.rule import Context, Finding, Rule


def _find(document: Document, context: Context) -> Iterator[Finding]:
    for place in ids(document):
        names = list(spellings(place.id))
        listed = not context.disambiguation.isdisjoint(names)
        if listed or any(name.endswith(("_(disambiguation)", " (disambiguation)")) for name in names):
            yield place.finding(document, f"{place.id} is a disambiguation page", "Link to the entity that is meant")


RULE = Rule(
    title="Disambiguation page",
    says="Ids are not disambiguation pages (by their title, or by disambiguation.tsv).",
    severity="warning",
    find=_find,
)
