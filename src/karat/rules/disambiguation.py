"""Ids are not disambiguation pages."""

from __future__ import annotations

from collections.abc import Iterator

from karat.model.document import Document
from karat.spec.lint import Context, Finding, Rule
from karat.spec.lint_ids import ids, spellings


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
