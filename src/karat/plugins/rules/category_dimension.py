"""Each label has one tag in each category dimension that the corpus uses."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from karat.matching.facts.labels import category_values, replace_labels
from karat.model.document import Document, Label
from karat.model.spec.rule import Finding, LintContext, Rule


def _find(document: Document, context: LintContext) -> Iterator[Finding]:
    """Report labels with no tag, several tags or a repeated tag in one of `context.dimensions`."""
    for label in document.labels:
        for dimension in sorted(context.dimensions):
            values = category_values(label, dimension)
            has_several = len(set(values)) > 1
            if not values:
                yield Finding.from_label(document, label, f"no tag in {dimension}", f"Add {dimension}:…")
            elif has_several:
                yield Finding.from_label(
                    document, label, f"{dimension} is {' and '.join(values)}", "Keep one of the tags"
                )
            elif len(values) > 1:
                description = f"{dimension}:{values[0]} {len(values)} times"
                yield Finding.from_label(document, label, description, "Remove the repetitions", fixable=True)


def _fix(document: Document, context: LintContext) -> Document:
    """Return the document without repeated tags; missing and contradictory tags stay."""
    return replace_labels(document, (_drop_repeated_tags(label, context.dimensions) for label in document.labels))


def _drop_repeated_tags(label: Label, dimensions: frozenset[str]) -> Label:
    """Return the label with each tag of `dimensions` once, unless it has different tags in the dimension."""
    tags: list[str] = []
    for tag in label.categories:
        dimension = tag.partition(":")[0]
        is_unique = len(set(category_values(label, dimension))) == 1
        if tag not in tags or dimension not in dimensions or not is_unique:
            tags.append(tag)
    return msgspec.structs.replace(label, categories=tuple(tags))


RULE = Rule(
    title="One tag per dimension",
    description="Each label has exactly one tag in each category dimension that the corpus uses.",
    severity="error",
    find=_find,
    fix=_fix,
    fix_description="keeps a repeated tag once",
    is_gold_only=True,
)
