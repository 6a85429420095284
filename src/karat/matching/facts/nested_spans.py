"""Nesting of the mentions of a document, computed from their spans."""

from __future__ import annotations

from typing import NamedTuple

from karat.matching.facts.labels import find_overlapping_spans, group_by_span
from karat.model.document import Document
from karat.model.span import Span

_LEAF_BY_NESTING = {
    (False, False): "overlap:None",
    (False, True): "overlap:Maximal",
    (True, True): "overlap:Intermediate",
    (True, False): "overlap:Minimal",
}
"""Category by whether a span is inside another one and whether it contains another one."""


class Nesting(NamedTuple):
    """Overlap categories of the distinct spans of a document.

    The scheme has no category for crossing spans: a span that only crosses others has no leaf, and a span that also
    nests has the leaf of its nesting.
    """

    leaves: dict[Span, str | None]
    """Category of each span; None if it only crosses others."""
    n_crossing: int
    """Number of crossing pairs, in which neither span contains the other."""

    def is_inside(self, span: Span) -> bool:
        """Return whether a span of the document is inside a longer one."""
        return self.leaves[span] in ("overlap:Intermediate", "overlap:Minimal")


def find_nesting(document: Document) -> Nesting:
    """Find out which distinct spans of a document's labels contain, are inside or cross others.

    Adjacent spans do not overlap.
    """
    spans = list(group_by_span(document))
    inner: set[Span] = set()
    outer: set[Span] = set()
    crossed: set[Span] = set()
    n_crossing = 0
    for left, right in find_overlapping_spans(spans, document.id):
        if right.end <= left.end:
            outer.add(left)
            inner.add(right)
        else:
            n_crossing += 1
            crossed |= {left, right}
    only_crossed = crossed - inner - outer
    return Nesting(
        {s: None if s in only_crossed else _LEAF_BY_NESTING[s in inner, s in outer] for s in spans}, n_crossing
    )
