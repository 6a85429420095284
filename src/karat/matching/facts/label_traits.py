"""Traits of gold labels by name, as columns of `karat.matching.facts.facts.AnnotationFacts`."""

from __future__ import annotations

from collections.abc import Callable
from itertools import takewhile
from typing import NamedTuple

import numpy as np

from karat.matching.facts.facts import NON_NAMED, UNDECIDED, AnnotationFacts
from karat.model.reader_categories import MISSING_ROOT_PREFIXES, UNMAPPED
from karat.model.tables.columns import NIL, Bools
from karat.model.truth import UNKNOWN, Truth, all_of, from_mask, negate


class LabelTrait(NamedTuple):
    """A property of labels."""

    description: str
    """Description that completes "the label …"."""
    column: Callable[[AnnotationFacts], Truth | Bools]
    """Function that returns the column of the trait from the facts."""
    needs: tuple[str, ...] = ()
    """Facts of the knowledge base without which the trait is often unknown."""

    def evaluate(self, facts: AnnotationFacts) -> Truth:
        """Return for each label whether the trait holds: yes, no or unknown."""
        return all_of(self.column(facts))


def _make_first_character_test(test: Callable[[str], bool]) -> Callable[[AnnotationFacts], Bools]:
    """Return a function that applies `test` to the first character of each mention's text."""
    return lambda facts: facts.surfaces.test_texts(lambda text: test(text[:1]))[facts.surface_code]


def _make_role_test(role: str) -> Callable[[AnnotationFacts], Truth]:
    """Return a function that tells for each mention whether a type of its entity has the role, such as `person`."""
    return lambda facts: facts.has_role(role)


def _test_non_named(facts: AnnotationFacts) -> Truth:
    """Return for each mention whether both its text and its entity's name start in lower case."""
    mention_type = facts.mention_type
    return all_of(facts.lowercased, np.where(mention_type == UNDECIDED, UNKNOWN, from_mask(mention_type == NON_NAMED)))


def _mask_parts(facts: AnnotationFacts) -> Bools:
    """Return the mask of labels that are parts of another segmentation, also if the label around them is missing."""
    parent = facts.mentions.field("parent")
    is_marked = facts.has_category(*MISSING_ROOT_PREFIXES)
    return is_marked if parent is None else is_marked | parent.is_valid().to_numpy(zero_copy_only=False)


_DIFFICULTIES: dict[str, Callable[[AnnotationFacts], Truth]] = {
    "demonym": lambda facts: facts.demonym,
    "metonym": lambda facts: facts.metonym,
    "partial": lambda facts: facts.partial_name,
    "rare": lambda facts: facts.rare,
}
"""Traits that make a mention difficult, in the order in which they are tested."""


def _make_difficulty_test(name: str) -> Callable[[AnnotationFacts], Truth]:
    """Return a function that tells for each mention whether `name` is the first of `_DIFFICULTIES` that holds."""
    earlier = [_DIFFICULTIES[other] for other in takewhile(lambda other: other != name, _DIFFICULTIES)]
    return lambda facts: all_of(_DIFFICULTIES[name](facts), *(negate(column(facts)) for column in earlier))


TRAITS: dict[str, LabelTrait] = {
    "capitalised": LabelTrait("starts with a capital letter", _make_first_character_test(str.isupper)),
    "lowercase": LabelTrait("starts with a lowercase letter", lambda facts: facts.lowercased),
    "caseless": LabelTrait(
        "starts with a character without case",
        _make_first_character_test(lambda first: not (first.isupper() or first.islower())),
    ),
    "multiword": LabelTrait("contains a space", lambda facts: facts.n_words > 1),
    "non-named": LabelTrait("starts with a lowercase letter, like the entity's name", _test_non_named, ("names",)),
    "nil": LabelTrait("is linked to NIL", lambda facts: facts.entity == NIL),
    "unmapped": LabelTrait("is NIL because its entity has no mapping", lambda facts: facts.has_category(UNMAPPED)),
    "demonym": LabelTrait(
        "is a demonym of a place, a people or a language", _make_difficulty_test("demonym"), needs=("demonyms", "types")
    ),
    "metonym": LabelTrait(
        "has a text that is popular for a place, while the entity is no place, person, people or character",
        _make_difficulty_test("metonym"),
        needs=("popular", "types"),
    ),
    "partial": LabelTrait(
        "has a text that is a part of the entity's name, which has several words",
        _make_difficulty_test("partial"),
        needs=("names",),
    ),
    "rare": LabelTrait(
        "has a text that is popular for other entities only", _make_difficulty_test("rare"), needs=("popular",)
    ),
    "person": LabelTrait("is linked to a person", _make_role_test("person"), needs=("types",)),
    "location": LabelTrait("is linked to a location", _make_role_test("place"), needs=("types",)),
    "organisation": LabelTrait("is linked to an organisation", _make_role_test("organisation"), needs=("types",)),
    "optional": LabelTrait("is optional", lambda facts: facts.mentions.boolean_field("optional")),
    "part": LabelTrait("is a part of another segmentation", _mask_parts),
}
"""Traits of labels by name, with the definitions of statistics (`STATISTICS_DEFINITIONS`).

Demonym, metonym, partial and rare exclude each other: the first in this order counts.
"""
