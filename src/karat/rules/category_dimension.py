"""Each label has one tag in each dimension of categories that the corpus uses."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from karat.facts.labels import relabelled, tags
from karat.model.document import Document, Label
from karat.spec.rule import Context, Finding, Rule


def _find(document: Document, context: Context) -> Iterator[Finding]:
    for label in document.labels:
        for dimension in sorted(context.dimensions):
            found = tags(label, dimension)
            several = len(set(found)) > 1
            if not found:
                yield Finding.at(document, label, f"no tag of {dimension}", f"Add {dimension}:…")
            elif several:
                yield Finding.at(document, label, f"{dimension} is {' and '.join(found)}", "Keep one of the tags")
            elif len(found) > 1:
                says = f"{dimension}:{found[0]} {len(found)} times"
                yield Finding.at(document, label, says, "Keep it once", fixable=True)


def _fix(document: Document, context: Context) -> Document:
    return relabelled(document, (_once(label, context.dimensions) for label in document.labels))


def _once(label: Label, dimensions: frozenset[str]) -> Label:
    kept: list[str] = []
    for tag in label.categories:
        dimension = tag.partition(":")[0]
        alone = len(set(tags(label, dimension))) == 1
        if tag not in kept or dimension not in dimensions or not alone:
            kept.append(tag)
    return msgspec.structs.replace(label, categories=tuple(kept))


RULE = Rule(
    title="One tag per dimension",
    says="Each label has exactly one tag in each dimension of categories that the corpus uses.",
    severity="error",
    find=_find,
    fix=_fix,
    gold=True,
)
