"""What holds of a gold label: by its text, by its entity, and by what a knowledge base knows.

The rules are those of ELEVANT's benchmark statistics, label by label. A trait is None where a fact is missing that
decides it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from karat.facts.facts import DEMONYMIC, LITERAL, MENTION_TYPES, ROLES
from karat.kb.protocol import KB
from karat.model.document import Label
from karat.model.surface import lowercased, nominal, part_of_name, pronominal
from karat.parsing.elevant.articles import UNMAPPED
from karat.parsing.elevant.gold import NOT_COREFERENCE

_NAMED, _NON_NAMED, _NO_ENTITY, _NOMINAL, _PRONOMINAL, _UNDECIDED = MENTION_TYPES
_ORGANISATION = frozenset({"Q43229", "http://dbpedia.org/ontology/Organisation", "ORG", "ORGANIZATION"})
_DEMONYMIC, _LITERAL = (frozenset[str]().union(*(ROLES[role] for role in roles)) for roles in (DEMONYMIC, LITERAL))
_MEASURED = frozenset({"QUANTITY", "DATETIME"})
_NO_ROOT = ("missing-parent:", "circular-parent:")


@dataclass(frozen=True)
class Known:
    """A label, its text, and the facts about it, None where nobody knows.

    `ids` are those of its entity, canonical. `popular` are the entities that the text most often stands for, and
    `place` says whether one of them is a place.
    """

    label: Label
    text: str
    ids: frozenset[str]
    name: str | None = None
    types: frozenset[str] | None = None
    popular: frozenset[str] | None = None
    place: bool | None = None
    demonym: bool | None = None

    @cached_property
    def linked(self) -> bool:
        """Whether it has an entity, and is neither a quantity nor a date or time."""
        measured = self.label.kind in ("quantity", "datetime") or _MEASURED.intersection(self.label.types)
        return bool(self.ids) and not measured

    @property
    def refers(self) -> bool:
        """Whether it refers back to a mention with a name."""
        return self.mention_type in (_NOMINAL, _PRONOMINAL)

    @cached_property
    def mention_type(self) -> str:
        """One of `MENTION_TYPES`; what the gold standard says about coreference is believed."""
        if self.label.kind == "coreference":
            return _PRONOMINAL if pronominal(self.text) else _NOMINAL
        if NOT_COREFERENCE not in self.label.categories:
            if pronominal(self.text):
                return _PRONOMINAL
            if nominal(self.text):
                return _NOMINAL
        if self.label.entity is None:
            return _NO_ENTITY
        if self.name is None:
            return _UNDECIDED
        return _NON_NAMED if lowercased(self.name) else _NAMED

    @cached_property
    def hard(self) -> Mapping[str, bool | None]:
        """Whether it is a demonym, else a metonym, else a partial name, else rare."""
        found: dict[str, bool | None] = {}
        free: bool | None = True  # whether none of those before holds
        for name, condition in _HARD.items():
            holds = condition(self)
            found[name] = both(free, holds)
            free = both(free, _not(holds))
        return found

    @property
    def words(self) -> int:
        """How many there are when the text is divided at every single blank."""
        return self.text.count(" ") + 1


class Trait(NamedTuple):
    """What can hold of a label; `needs` are the facts without which it often cannot be told."""

    says: str
    holds: Callable[[Known], bool | None]
    needs: tuple[str, ...] = ()


def _lowercased(label: Known) -> bool:
    return label.text[:1].islower()


def _lowercased_non_named(label: Known) -> bool | None:
    kind = label.mention_type
    return both(_lowercased(label), None if kind == _UNDECIDED else kind == _NON_NAMED)


def _demonym(label: Known) -> bool | None:
    return both(not label.refers, label.demonym, _of(label.types, _DEMONYMIC))


def _metonym(label: Known) -> bool | None:
    return both(label.linked and not label.refers, _not(_of(label.types, _LITERAL)), label.place)


def _partial(label: Known) -> bool | None:
    name = label.name
    part = None if name is None else part_of_name(label.text, name)
    return both(label.linked and not label.refers, part)


def _rare(label: Known) -> bool | None:
    other = None if label.popular is None else bool(label.popular) and not label.ids & label.popular
    return both(label.linked and not label.refers, other)


_HARD: dict[str, Callable[[Known], bool | None]] = {
    "demonym": _demonym,
    "metonym": _metonym,
    "partial": _partial,
    "rare": _rare,
}
"""What makes a mention hard, in the order in which it is asked."""


def _role(types: frozenset[str]) -> Callable[[Known], bool | None]:
    return lambda label: _of(label.types, types)


TRAITS: dict[str, Trait] = {
    "capitalised": Trait("begins with a capital", lambda label: label.text[:1].isupper()),
    "lowercase": Trait("begins with a small letter", _lowercased),
    "caseless": Trait("begins with neither", lambda label: not (label.text[:1].isupper() or label.text[:1].islower())),
    "multiword": Trait("has a blank in it", lambda label: label.words > 1),
    "non-named": Trait("begins with a small letter, as the entity's name does", _lowercased_non_named, ("names",)),
    "nil": Trait("is linked to NIL", lambda label: label.label.entity is None),
    "unmapped": Trait("is NIL for want of a mapping", lambda label: UNMAPPED in label.label.categories),
    "demonym": Trait(
        "is a demonym, of a place, a people or a language",
        lambda label: label.hard["demonym"],
        needs=("demonyms", "types"),
    ),
    "metonym": Trait(
        "is popular for a place, and the entity is no place, person or people",
        lambda label: label.hard["metonym"],
        needs=("popular", "types"),
    ),
    "partial": Trait(
        "is a part of the entity's name, which has several words", lambda label: label.hard["partial"], needs=("names",)
    ),
    "rare": Trait("is popular for other entities only", lambda label: label.hard["rare"], needs=("popular",)),
    "person": Trait("is a person", _role(ROLES["person"]), needs=("types",)),
    "location": Trait("is a location", _role(ROLES["place"]), needs=("types",)),
    "organisation": Trait("is an organisation", _role(_ORGANISATION), needs=("types",)),
    "optional": Trait("is optional", lambda label: label.label.optional),
    "part": Trait("belongs to another segmentation", lambda label: _is_part(label.label)),
}
"""Demonym, metonym, partial and rare exclude each other: the first in this order counts."""


def _is_part(label: Label) -> bool:
    """Also where the label it belongs to is missing."""
    return label.parent is not None or any(category.startswith(_NO_ROOT) for category in label.categories)


def both(*values: bool | None) -> bool | None:
    """Whether all hold: one that does not decides, whatever is known of the others."""
    return False if False in values else None if None in values else True


def either(values: Iterable[bool | None]) -> bool | None:
    """Whether one holds: one that does decides, whatever is known of the others."""
    found = set(values)
    return True if True in found else None if None in found else False


def _not(value: bool | None) -> bool | None:
    return None if value is None else not value


def _of(types: frozenset[str] | None, wanted: frozenset[str]) -> bool | None:
    return None if types is None else bool(types & wanted)


def known(labels: Sequence[tuple[Label, str]], kb: KB | None = None) -> list[Known]:
    """The facts about labels with their texts. What a label says of its entity comes before the knowledge base."""
    ids = [(label.entity, *label.same_as) if isinstance(label.entity, str) else () for label, _ in labels]
    facts = _Facts(kb, {id for each in ids for id in each}, {text for _, text in labels})
    return [facts.about(label, text, own) for (label, text), own in zip(labels, ids, strict=True)]


class _Facts:
    """Everything that a knowledge base knows about some ids and surfaces, asked for at once."""

    def __init__(self, kb: KB | None, ids: Iterable[str], surfaces: Iterable[str]) -> None:
        every, texts = sorted(ids), sorted(surfaces)
        self.canonical = dict(zip(every, every if kb is None else kb.canonical(every), strict=True))
        self.names = {} if kb is None else dict(zip(every, kb.names(every), strict=True))
        self.types = {} if kb is None else dict(zip(every, kb.types(every), strict=True))
        self.popular = {} if kb is None else dict(zip(texts, kb.popular(texts), strict=True))
        self.demonyms = {} if kb is None else dict(zip(texts, kb.demonyms(texts), strict=True))
        candidates = sorted({id for found in self.popular.values() for id in found or ()})
        types = [] if kb is None else kb.types(candidates)
        self.place = {id: _of(its, ROLES["place"]) for id, its in zip(candidates, types, strict=True)}

    def about(self, label: Label, text: str, ids: Sequence[str]) -> Known:
        """The facts about one label."""
        popular = self.popular.get(text)
        return Known(
            label,
            text,
            frozenset(self.canonical[id] for id in ids),
            label.name or next((name for id in ids if (name := self.names.get(id))), None),
            self._types(label, ids),
            popular,
            None if popular is None else either(self.place[id] for id in popular),
            self.demonyms.get(text),
        )

    def _types(self, label: Label, ids: Sequence[str]) -> frozenset[str] | None:
        if label.types or not ids:
            return frozenset(label.types)
        found = [types for id in ids if (types := self.types.get(id)) is not None]
        return frozenset().union(*found) if found else None
