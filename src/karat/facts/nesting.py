"""How the mentions of a document overlap, computed from their spans."""

from __future__ import annotations

from typing import NamedTuple

from karat.facts.labels import overlaps, spans
from karat.model.document import Document
from karat.model.span import Span

_LEAVES = {
    (False, False): "overlap:None",
    (False, True): "overlap:Maximal",
    (True, True): "overlap:Intermediate",
    (True, False): "overlap:Minimal",
}
"""By whether a span lies in another one, and whether another one lies in it."""


class Nesting(NamedTuple):
    """The leaf of each distinct span, and how many pairs cross, so that neither lies in the other.

    The scheme cannot express crossing: a span that only crosses others has no leaf, and one that also nests has the
    leaf of what it nests with.
    """

    leaves: dict[Span, str | None]
    crossing: int

    def inside(self, span: Span) -> bool:
        """Whether a span lies in a longer one."""
        return self.leaves[span] in ("overlap:Intermediate", "overlap:Minimal")


def nesting(document: Document) -> Nesting:
    """How the distinct spans of the labels of a document lie in each other; those that touch share nothing."""
    found = list(spans(document))
    inside: set[Span] = set()
    around: set[Span] = set()
    crossed: set[Span] = set()
    crossing = 0
    for one, other in overlaps(found):
        if other.end <= one.end:
            around.add(one)
            inside.add(other)
        else:
            crossing += 1
            crossed |= {one, other}
    loose = crossed - inside - around
    return Nesting({s: None if s in loose else _LEAVES[s in inside, s in around] for s in found}, crossing)
