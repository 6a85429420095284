"""A span is one mention."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import msgspec

from karat.facts.labels import families, relabelled, spans
from karat.model.document import Document, Label
from karat.spec.rule import Context, Finding, Rule


def _find(document: Document, context: Context) -> Iterator[Finding]:
    roots = families(document)
    again = _again(document)
    for numbers in spans(document).values():
        mentions: dict[object, int] = {}
        for number in numbers:
            mentions.setdefault(roots[number], number)
        for number in sorted(again.intersection(numbers) | {*list(mentions.values())[1:]}):
            label = document.labels[number]
            if number in again:
                yield Finding.at(document, label, "the same label a second time", "Delete it", fixable=True)
            else:
                says = f"marked {len(mentions)} times"
                yield Finding.at(document, label, says, "Keep one, or make them alternatives by one `unit`")


def _again(document: Document) -> set[int]:
    """Labels that say what an earlier one says, and that nobody names as parent: they can go without loss."""
    named = {label.parent for label in document.labels}
    sizes = Counter(label.unit for label in document.labels)
    seen: set[object] = set()
    again = set()
    for number, label in enumerate(document.labels):
        alone = label.unit is None or (sizes[label.unit] == 1 and label.unit not in named)
        content = msgspec.json.encode(msgspec.structs.replace(label, unit=None))
        key = (label.start, label.end, label.entity, label.unit)
        if key in seen or (alone and content in seen):
            again.add(number)
        seen |= {key, content}
    return again


def _fix(document: Document, context: Context) -> Document:
    again = _again(document)
    kept: list[Label] = [label for number, label in enumerate(document.labels) if number not in again]
    return relabelled(document, kept)


RULE = Rule(
    title="Duplicate spans",
    says="A span is marked once; several links of one place are alternatives of one unit.",
    severity="warning",
    find=_find,
    fix=_fix,
)
