"""Ids are not disambiguation pages."""

from __future__ import annotations

from collections.abc import Iterator

from karat.matching.facts.document_ids import find_ids, spellings
from karat.model.document import Document
from karat.model.spec.rule import Finding, LintContext, Rule


def _find(document: Document, context: LintContext) -> Iterator[Finding]:
    """Report ids that are disambiguation pages, by their title or by `context.disambiguation`."""
    for occurrence in find_ids(document):
        names = list(spellings(occurrence.id))
        is_listed = not context.disambiguation.isdisjoint(names)
        if is_listed or any(name.endswith(("_(disambiguation)", " (disambiguation)")) for name in names):
            yield occurrence.to_finding(
                document, f"{occurrence.id} is a disambiguation page", "Link to the intended entity"
            )


RULE = Rule(
    title="Disambiguation page",
    description="Ids are not disambiguation pages, according to their title or disambiguation.tsv.",
    severity="warning",
    find=_find,
)
