"""The text of a span equals the surface in the source.

Labels have no surface, so readers record a difference in a category `surface:TEXT`. Differences that readers only count
are reported by the rule `reading`.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from karat.matching.facts.labels import category_values, is_inside_word, replace_labels
from karat.model.document import Document, Label
from karat.model.spec.rule import Finding, LintContext, Rule

_MAX_DISTANCE = 100  # characters around the span in which the surface is searched


def _find(document: Document, context: LintContext) -> Iterator[Finding]:
    """Report labels whose text differs from the surface that the reader recorded in a category."""
    for label in document.labels:
        for surface in category_values(label, "surface"):
            if surface == document.text[label.start : label.end]:
                continue
            start = _find_start(document.text, label, surface)
            if start is None:
                yield Finding.from_label(document, label, f"the source has {surface!r}", "Move the span")
            else:
                proposal = f"Move the span to [{start}, {start + len(surface)})"
                yield Finding.from_label(document, label, f"the source has {surface!r}", proposal, fixable=True)


def _find_start(text: str, label: Label, surface: str) -> int | None:
    """Return the offset of the occurrence of `surface`, as whole words, that starts closest to the label.

    None if there is none within 100 characters, or if two are equally close.
    """
    if not surface.strip():
        return None
    low = max(label.start - _MAX_DISTANCE, 0)
    offsets = []
    while (low := text.find(surface, low, label.start + _MAX_DISTANCE + len(surface))) >= 0:
        if not is_inside_word(text, low) and not is_inside_word(text, low + len(surface)):
            offsets.append(low)
        low += 1
    closest = sorted(offsets, key=lambda offset: abs(offset - label.start))
    if len(closest) > 1 and abs(closest[0] - label.start) == abs(closest[1] - label.start):
        return None
    return closest[0] if closest else None


def _fix(document: Document, context: LintContext) -> Document:
    """Return the document with each differing span moved to the closest occurrence of its surface."""
    return replace_labels(document, (_move_span(document, label) for label in document.labels))


def _move_span(document: Document, label: Label) -> Label:
    """Return the label with its span moved to the recorded surface; unchanged if that has no closest occurrence."""
    surfaces = category_values(label, "surface")
    if len(surfaces) != 1 or surfaces[0] == document.text[label.start : label.end]:
        return label
    start = _find_start(document.text, label, surfaces[0])
    return label if start is None else msgspec.structs.replace(label, start=start, end=start + len(surfaces[0]))


RULE = Rule(
    title="Surface",
    description="The text of a span equals the surface in the source.",
    severity="error",
    find=_find,
    fix=_fix,
    fix_description="moves the span to the nearest place of the surface",
    is_gold_only=True,
)
