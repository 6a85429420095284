"""The traits of gold labels by name: a table that points at columns of `karat.facts.facts.Side`."""

from __future__ import annotations

from collections.abc import Callable
from itertools import takewhile
from typing import NamedTuple

import numpy as np

from karat.facts.facts import NON_NAMED, UNDECIDED, Side
from karat.model.marks import NO_ROOT, UNMAPPED
from karat.model.tables.columns import NIL, Bools
from karat.model.truth import UNKNOWN, Truth, both, negated, sure


class Trait(NamedTuple):
    """What can hold of a label; `needs` are the facts without which it often cannot be told."""

    says: str
    column: Callable[[Side], Truth | Bools]
    needs: tuple[str, ...] = ()

    def of(self, side: Side) -> Truth:
        """Of which labels it holds."""
        return both(self.column(side))


def _begins(test: Callable[[str], bool]) -> Callable[[Side], Bools]:
    return lambda side: side.surfaces.by(lambda text: test(text[:1]))[side.surface]


def _of_role(role: str) -> Callable[[Side], Truth]:
    return lambda side: side.of_role(role)


def _lowercased_non_named(side: Side) -> Truth:
    kind = side.mention_type
    return both(side.lowercased, np.where(kind == UNDECIDED, UNKNOWN, sure(kind == NON_NAMED)))


def _part(side: Side) -> Bools:
    """Also where the label it belongs to is missing."""
    parent = side.mentions.field("parent")
    marked = side.said(*NO_ROOT)
    return marked if parent is None else marked | parent.is_valid().to_numpy(zero_copy_only=False)


_HARD: dict[str, Callable[[Side], Truth]] = {
    "demonym": lambda side: side.demonym,
    "metonym": lambda side: side.metonym,
    "partial": lambda side: side.partial_name,
    "rare": lambda side: side.rare,
}
"""What makes a mention hard, in the order in which it is asked."""


def _first(name: str) -> Callable[[Side], Truth]:
    """Where it is the first that holds."""
    before = [_HARD[other] for other in takewhile(lambda other: other != name, _HARD)]
    return lambda side: both(_HARD[name](side), *(negated(column(side)) for column in before))


TRAITS: dict[str, Trait] = {
    "capitalised": Trait("begins with a capital", _begins(str.isupper)),
    "lowercase": Trait("begins with a small letter", lambda side: side.lowercased),
    "caseless": Trait("begins with neither", _begins(lambda first: not (first.isupper() or first.islower()))),
    "multiword": Trait("has a blank in it", lambda side: side.words > 1),
    "non-named": Trait("begins with a small letter, as the entity's name does", _lowercased_non_named, ("names",)),
    "nil": Trait("is linked to NIL", lambda side: side.entity == NIL),
    "unmapped": Trait("is NIL for want of a mapping", lambda side: side.said(UNMAPPED)),
    "demonym": Trait(
        "is a demonym, of a place, a people or a language", _first("demonym"), needs=("demonyms", "types")
    ),
    "metonym": Trait(
        "is popular for a place, and the entity is no place, person or people",
        _first("metonym"),
        needs=("popular", "types"),
    ),
    "partial": Trait("is a part of the entity's name, which has several words", _first("partial"), needs=("names",)),
    "rare": Trait("is popular for other entities only", _first("rare"), needs=("popular",)),
    "person": Trait("is a person", _of_role("person"), needs=("types",)),
    "location": Trait("is a location", _of_role("place"), needs=("types",)),
    "organisation": Trait("is an organisation", _of_role("organisation"), needs=("types",)),
    "optional": Trait("is optional", lambda side: side.mentions.flag("optional")),
    "part": Trait("belongs to another segmentation", _part),
}
"""As statistics say them (`STATISTICS`). Demonym, metonym, partial and rare exclude each other: the first in this order
counts."""
