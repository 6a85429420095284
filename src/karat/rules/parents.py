"""Every part of another segmentation has a root, and lies where the root lies.

Readers take a label whose parent is lost, or that is among its own parents, as a mention of its own and say so in a
category; what they cannot take they refuse. Karat's own JSONL can be linted as it is.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from karat.facts.labels import relabelled, tags
from karat.model.document import Document, Label
from karat.spec.rule import Context, Finding, Rule

_MARKS = {
    "missing-parent": ("its parent {} is not in the document", True),
    "circular-parent": ("it is among its own parents, by way of {}", True),
    "not-listed-by": ("its parent {} does not list it", False),
    "also-part-of": ("{} lists it too, though its parent is another or none", False),
}
"""What readers say about trees, and whether dropping the parent, which they did, is the answer."""


def _find(document: Document, context: Context) -> Iterator[Finding]:
    lost = _lost(document)
    roots = {label.unit: label for label in document.labels if label.unit is not None}
    for number, label in enumerate(document.labels):
        for mark, (says, dropped) in _MARKS.items():
            for value in tags(label, mark):
                proposal = "Keep it as a mention of its own" if dropped else "Make the two agree"
                yield Finding.at(document, label, says.format(value), proposal, fixable=dropped)
        if number in lost:
            yield Finding.at(document, label, lost[number], "Drop the parent", fixable=True)
        elif label.parent is not None:
            root = roots[label.parent]
            if label.end <= root.start or root.end <= label.start:
                says = f"shares no character with its parent [{root.start}, {root.end})"
                yield Finding.at(document, label, says, "Correct the parent, or drop it")


def _lost(document: Document) -> dict[int, str]:
    """Labels whose parents lead to no root, with what is wrong; those of one unit are all named."""
    above = {label.unit: label.parent for label in document.labels if label.unit is not None}
    parents: dict[str | None, set[str | None]] = {}
    for label in document.labels:
        parents.setdefault(label.unit, set()).add(label.parent)
    found: dict[int, str] = {}
    for number, label in enumerate(document.labels):
        if label.unit is not None and len(parents[label.unit]) > 1:
            found[number] = f"the labels of unit {label.unit!r} have different parents"
        elif label.parent is not None and label.parent not in above:
            found[number] = f"its parent {label.parent!r} is not in the document"
        elif label.unit is not None and label.unit in _way(label.parent, above):
            found[number] = "it is among its own parents"
    return found


def _way(name: str | None, above: dict[str, str | None]) -> set[str]:
    """A unit and the units above it."""
    seen: set[str] = set()
    while name is not None and name not in seen:
        seen.add(name)
        name = above.get(name)
    return seen


def _fix(document: Document, context: Context) -> Document:
    lost = _lost(document)
    return relabelled(document, (_freed(label, number in lost) for number, label in enumerate(document.labels)))


def _freed(label: Label, lost: bool) -> Label:
    settled = tuple(f"{mark}:" for mark, (_, dropped) in _MARKS.items() if dropped)
    kept = tuple(tag for tag in label.categories if not tag.startswith(settled))
    return msgspec.structs.replace(label, parent=None if lost else label.parent, categories=kept)


RULE = Rule(
    title="Parents",
    says="Parents exist, lead up to a root and overlap their parts.",
    severity="error",
    find=_find,
    fix=_fix,
    gold=True,
)
