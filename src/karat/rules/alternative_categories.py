"""Alternatives of one mention have the same part of speech and overlap."""

from __future__ import annotations

from collections.abc import Iterator

from karat.facts.labels import mentions, tags
from karat.model.document import Document
from karat.spec.rule import Context, Finding, Rule

_SHARED = ("pos", "overlap")  # both belong to the words, which alternatives share


def _find(document: Document, context: Context) -> Iterator[Finding]:
    for labels in mentions(document):
        for dimension in _SHARED:
            first = set(tags(labels[0], dimension))
            for label in labels[1:]:
                own = set(tags(label, dimension))
                if own != first and label.span == labels[0].span:
                    says = f"{dimension} is {_listed(own)} here, and {_listed(first)} in another alternative"
                    yield Finding.at(document, label, says, "Give all alternatives the same tag")


def _listed(values: set[str]) -> str:
    return " and ".join(sorted(values)) or "not given"


RULE = Rule(
    title="Categories of alternatives",
    says="Alternatives of one span have the same `pos:` and `overlap:`.",
    severity="warning",
    find=_find,
    gold=True,
)
