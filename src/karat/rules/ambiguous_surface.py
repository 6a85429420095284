"""A surface stands for one entity in a document."""

from __future__ import annotations

from collections.abc import Iterator

from karat.facts.labels import families, refers_back
from karat.model.document import Document, Label
from karat.spec.rule import Context, Finding, Rule


def _find(document: Document, context: Context) -> Iterator[Finding]:
    found: dict[tuple[str, object], tuple[Label, set[str]]] = {}
    for root, label in zip(families(document), document.labels, strict=True):
        surface = document.text[label.start : label.end]
        if isinstance(label.entity, str) and label.kind is None and not refers_back(label) and surface.strip():
            found.setdefault((surface, root), (label, set()))[1].add(label.entity)
    before: dict[str, set[str]] = {}
    for (surface, _), (label, own) in found.items():
        said = before.setdefault(surface, own)
        if said.isdisjoint(own):
            says = f"linked to {_one(own)} here, and to {_one(said)} before"
            yield Finding.at(document, label, says, "Check that both are meant")
            before[surface] = said | own


def _one(entities: set[str]) -> str:
    return " or ".join(sorted(entities))


RULE = Rule(
    title="Ambiguous surface",
    says="A surface is linked to one entity in a document (coreference apart).",
    severity="hint",
    find=_find,
)
