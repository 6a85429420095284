"""The text at a span is the surface that the source gives.

Labels keep no surface of their own, so that a reader that finds a difference says so in a category `surface:TEXT`;
readers that only count differences are heard by the rule `reading`.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from karat.facts.labels import inside_word, relabelled, tags
from karat.model.document import Document, Label
from karat.spec.rule import Context, Finding, Rule

_NEAR = 100  # how far from its place a mention is looked for


def _find(document: Document, context: Context) -> Iterator[Finding]:
    for label in document.labels:
        for surface in tags(label, "surface"):
            if surface == document.text[label.start : label.end]:
                continue
            start = _start(document.text, label, surface)
            if start is None:
                yield Finding.at(document, label, f"the source says {surface!r}", "Move the span")
            else:
                move = f"Move the span to [{start}, {start + len(surface)})"
                yield Finding.at(document, label, f"the source says {surface!r}", move, fixable=True)


def _start(text: str, label: Label, surface: str) -> int | None:
    """Where the surface stands, if there is one place nearest to the span."""
    if not surface.strip():
        return None
    low = max(label.start - _NEAR, 0)
    places = []
    while (low := text.find(surface, low, label.start + _NEAR + len(surface))) >= 0:
        if not inside_word(text, low) and not inside_word(text, low + len(surface)):
            places.append(low)
        low += 1
    near = sorted(places, key=lambda place: abs(place - label.start))
    if len(near) > 1 and abs(near[0] - label.start) == abs(near[1] - label.start):
        return None
    return near[0] if near else None


def _fix(document: Document, context: Context) -> Document:
    return relabelled(document, (_moved(document, label) for label in document.labels))


def _moved(document: Document, label: Label) -> Label:
    said = tags(label, "surface")
    if len(said) != 1 or said[0] == document.text[label.start : label.end]:
        return label
    start = _start(document.text, label, said[0])
    return label if start is None else msgspec.structs.replace(label, start=start, end=start + len(said[0]))


RULE = Rule(
    title="Surface",
    says="The text at the span is the surface that the source gives.",
    severity="error",
    find=_find,
    fix=_fix,
    gold=True,
)
