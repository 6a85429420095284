"""Ids are not redirects or merged entities."""

from __future__ import annotations

from collections.abc import Iterator

from karat.matching.facts.document_ids import find_ids, look_up_spelling, replace_ids, spell_like
from karat.model.document import Document
from karat.model.spec.rule import Finding, LintContext, Rule


def _find(document: Document, context: LintContext) -> Iterator[Finding]:
    """Report ids that redirect to another id."""
    for occurrence in find_ids(document):
        target = _resolve_redirect(occurrence.id, context)
        if target != occurrence.id:
            description = f"{occurrence.id} redirects to {target}"
            yield occurrence.to_finding(document, description, f"Use {target}", fixable=True)


def _resolve_redirect(id: str, context: LintContext) -> str:
    """Return the final target of an id, or the id itself if it does not redirect or redirects in a circle."""
    target = id
    visited = {id}
    while (name := look_up_spelling(target, context.redirects)) is not None:
        target = spell_like(target, name, context.has_spaces)
        if target in visited:
            return id
        visited.add(target)
    return target


def _fix(document: Document, context: LintContext) -> Document:
    """Return the document with the final target of each id that redirects."""
    return replace_ids(document, lambda id: _resolve_redirect(id, context))


RULE = Rule(
    title="Redirect",
    description="Ids are not redirects or merged entities, according to the table of redirects.",
    severity="warning",
    find=_find,
    fix=_fix,
    fix_description="takes the target, in the spelling of the id",
)
