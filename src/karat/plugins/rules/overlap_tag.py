"""Overlap tags: categories such as `overlap:Maximal`, which say whether a span contains or is in other spans."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from karat.matching.facts.labels import category_values, replace_labels
from karat.matching.facts.nested_spans import find_nesting
from karat.model.document import Document, Label
from karat.model.spec.rule import Finding, LintContext, Rule


def _find(document: Document, context: LintContext) -> Iterator[Finding]:
    """Report labels whose `overlap:` tag differs from the one that the spans of the document imply."""
    if not any(category_values(label, "overlap") for label in document.labels):
        return
    leaves = find_nesting(document).leaves
    for label in document.labels:
        expected = leaves[label.span]
        tags = category_values(label, "overlap")
        if expected is not None and len(tags) == 1 and f"overlap:{tags[0]}" != expected:
            description = f"tagged overlap:{tags[0]}, but the spans imply {expected.removeprefix('overlap:')}"
            yield Finding.from_label(
                document, label, description, f"Use {expected}, or add missing labels", fixable=True
            )


def _fix(document: Document, context: LintContext) -> Document:
    """Return the document with the `overlap:` tags that its spans imply; labels without such a tag stay."""
    leaves = find_nesting(document).leaves
    return replace_labels(document, (_correct_tag(label, leaves[label.span]) for label in document.labels))


def _correct_tag(label: Label, expected: str | None) -> Label:
    """Return the label with the tag `expected` for its `overlap:` tag.

    The label is unchanged if `expected` is None or if the label has no or several such tags.
    """
    tags = category_values(label, "overlap")
    if expected is None or len(tags) != 1:
        return label
    categories = tuple(expected if tag.startswith("overlap:") else tag for tag in label.categories)
    return msgspec.structs.replace(label, categories=categories)


RULE = Rule(
    title="Wrong overlap tag",
    description="A category `overlap:None`, `overlap:Maximal`, `overlap:Intermediate` or `overlap:Minimal`, which says "
    "whether a span contains other spans or is contained, agrees with the spans of the document.",
    severity="warning",
    find=_find,
    fix=_fix,
    fix_description="takes the tag that the spans say",
    is_gold_only=True,
)
