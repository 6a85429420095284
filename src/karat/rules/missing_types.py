"""Where labels have types, every linked label has one."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from karat.facts.ids import looked_up
from karat.facts.labels import relabelled
from karat.model.document import Document, Label
from karat.spec.rule import Context, Finding, Rule


def _find(document: Document, context: Context) -> Iterator[Finding]:
    if not context.typed:
        return
    for label in document.labels:
        if isinstance(label.entity, str) and not label.types:
            known = _known(label, context)
            proposal = f"Take {', '.join(known)}" if known else "Add a type"
            yield Finding.at(document, label, f"{label.entity} has no type here", proposal, fixable=bool(known))


def _known(label: Label, context: Context) -> tuple[str, ...]:
    """The types that the knowledge base has."""
    found = looked_up(label.entity, context.types) if isinstance(label.entity, str) else None
    return tuple(sorted(found or ()))


def _fix(document: Document, context: Context) -> Document:
    if not context.typed:
        return document
    return relabelled(
        document,
        (
            label if label.types else msgspec.structs.replace(label, types=_known(label, context))
            for label in document.labels
        ),
    )


RULE = Rule(
    title="Missing types",
    says="Where labels have types, every linked label has one; types of the knowledge base fill the gap.",
    severity="warning",
    find=_find,
    fix=_fix,
)
