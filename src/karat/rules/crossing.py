"""Spans lie inside one another or apart."""

from __future__ import annotations

from collections.abc import Iterator

from karat.facts.labels import families, overlaps, spans
from karat.model.document import Document
from karat.spec.rule import Context, Finding, Rule


def _find(document: Document, context: Context) -> Iterator[Finding]:
    roots = families(document)
    found = spans(document)
    for one, other in overlaps(found):
        if not one.start < other.start < one.end < other.end:
            continue
        if len({roots[number] for number in (*found[one], *found[other])}) == 1:
            continue  # two ways to divide one mention may cross
        label = document.labels[found[one][0]]
        crossed = f"{document.text[other.start : other.end]!r} [{other.start}, {other.end})"
        yield Finding.at(document, label, f"crosses {crossed}", "Shorten one, or make them ways to divide one mention")


RULE = Rule(
    title="Crossing spans",
    says="Two spans lie apart or one inside the other, unless they divide one mention in different ways.",
    severity="warning",
    find=_find,
)
