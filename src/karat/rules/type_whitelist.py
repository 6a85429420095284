"""Entities are of a type that the benchmark is about."""

from __future__ import annotations

from collections.abc import Iterator

from karat.facts.ids import looked_up
from karat.model.document import Document
from karat.spec.rule import Context, Finding, Rule


def _find(document: Document, context: Context) -> Iterator[Finding]:
    if context.whitelist is None:
        return
    for label in document.labels:
        if not isinstance(label.entity, str) or label.kind in ("quantity", "datetime"):
            continue
        types = frozenset(label.types) or looked_up(label.entity, context.types) or frozenset()
        if types and types.isdisjoint(context.whitelist):
            says = f"{label.entity} is of no allowed type ({', '.join(sorted(types))})"
            yield Finding.at(document, label, says, "Correct the type, or delete the label")


RULE = Rule(
    title="Type whitelist",
    says="Entities are of an allowed type (by --types); labels without types are for the rule missing-types.",
    severity="warning",
    find=_find,
)
