"""Alternatives of one mention have the same part of speech and overlap."""

from __future__ import annotations

from collections.abc import Iterator

from karat.matching.facts.labels import category_values, group_by_mention
from karat.model.document import Document
from karat.model.spec.rule import Finding, LintContext, Rule

_SHARED = ("pos", "overlap")  # properties of the text, which alternatives share


def _find(document: Document, context: LintContext) -> Iterator[Finding]:
    """Report labels whose `pos:` or `overlap:` differs from that of the first alternative of their mention and span."""
    for labels in group_by_mention(document):
        for dimension in _SHARED:
            first = set(category_values(labels[0], dimension))
            for label in labels[1:]:
                values = set(category_values(label, dimension))
                if values != first and label.span == labels[0].span:
                    description = (
                        f"{dimension} is {_join_values(values)} here, but {_join_values(first)} in another alternative"
                    )
                    yield Finding.from_label(document, label, description, "Give all alternatives the same tag")


def _join_values(values: set[str]) -> str:
    """Return the values joined by "and"."""
    return " and ".join(sorted(values)) or "not given"


RULE = Rule(
    title="Categories of alternatives",
    description="Alternatives of one span have the same `pos:` and `overlap:`.",
    severity="warning",
    find=_find,
    is_gold_only=True,
)
