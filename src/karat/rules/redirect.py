"""Ids are not redirects, which also covers ids that were merged into others."""

from __future__ import annotations

from collections.abc import Iterator

from karat.facts.ids import ids, looked_up, renamed, spelt_like
from karat.model.document import Document
from karat.spec.rule import Context, Finding, Rule


def _find(document: Document, context: Context) -> Iterator[Finding]:
    for place in ids(document):
        target = _target(place.id, context)
        if target != place.id:
            says = f"{place.id} redirects to {target}"
            yield place.finding(document, says, f"Take {target}", fixable=True)


def _target(id: str, context: Context) -> str:
    """Where an id leads, or the id itself if that is nowhere or back."""
    at = id
    seen = {id}
    while (name := looked_up(at, context.redirects)) is not None:
        at = spelt_like(at, name, context.blanks)
        if at in seen:
            return id
        seen.add(at)
    return at


def _fix(document: Document, context: Context) -> Document:
    return renamed(document, lambda id: _target(id, context))


RULE = Rule(
    title="Redirect",
    says="Ids are not redirects, nor merged into others (by the table of redirects).",
    severity="warning",
    find=_find,
    fix=_fix,
)
