"""What is known about every gold label and every answer: by its text, its entity, and the knowledge base."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from karat.kb.protocol import KB
from karat.matching.read.pairing import Pairing
from karat.model.surface import lowercased, nominal, part_of_name, pronominal
from karat.model.tables.columns import NIL, Bools, Ints, Longs, Mentions
from karat.model.truth import NO, UNKNOWN, Truth, both, either, negated, sure, told

ROLES: dict[str, frozenset[str]] = {
    "place": frozenset({"Q27096213", "Q3895768", "http://dbpedia.org/ontology/Place", "LOC", "GPE", "LOCATION"}),
    "person": frozenset({"Q215627", "http://dbpedia.org/ontology/Person", "PER", "PERSON"}),
    "people": frozenset({"Q33829", "http://dbpedia.org/ontology/EthnicGroup", "NORP"}),
    "language": frozenset({"Q17376908", "http://dbpedia.org/ontology/Language", "LANGUAGE"}),
    "character": frozenset({"Q95074", "http://dbpedia.org/ontology/FictionalCharacter"}),
}
"""The types that some categories ask for, as Wikidata, DBpedia and common tag sets name them."""

MENTION_TYPES = (
    "entity-named",
    "entity-non-named",
    "entity-unknown",
    "coreference-nominal",
    "coreference-pronominal",
    "entity-undecided",
)
"""What a mention is by its text and by the name of its entity."""

DEMONYMIC = ("place", "people", "language")
"""What a demonym may stand for."""

LITERAL = ("place", "person", "people", "character")
"""What is named as itself, so that no other reading of its text makes it a metonym."""

NAMED, NON_NAMED, UNKNOWN_ENTITY, NOMINAL, PRONOMINAL, UNDECIDED = range(len(MENTION_TYPES))


class Facts:
    """Facts about the mentions of one corpus and one run; every column is made when it is first asked for.

    `guess`: an entity whose name is not known is taken for a named one, as ELEVANT does.
    """

    def __init__(self, pairing: Pairing, kb: KB | None, *, guess: bool) -> None:
        self.pairing, self.kb, self.guess = pairing, kb, guess
        self.backgrounds: list[Any] = []  # of cases; see `karat.facts.cases.background`
        self.gold = Side(self, pairing.labels, pairing.gold_entity, pairing.corpus.labels.document)
        answers = pairing.run.answers
        self.answers = Side(self, pairing.answered, pairing.answer_entity, pairing.place[answers.document])

    @cached_property
    def ids(self) -> list[str]:
        """The ids of entity codes."""
        ids: list[str] = self.pairing.names.to_pylist()
        return ids

    @cached_property
    def names(self) -> list[str | None]:
        """The names of entity codes that the knowledge base knows."""
        return [None] * len(self.ids) if self.kb is None else self.kb.names(self.ids)

    @cached_property
    def types(self) -> list[frozenset[str] | None]:
        """The types of entity codes that the knowledge base knows."""
        return [None] * len(self.ids) if self.kb is None else self.kb.types(self.ids)

    @cached_property
    def of_role(self) -> dict[str, Truth]:
        """For each role, which entity codes have a type of it; links to NIL, which have none, come last."""
        distinct: dict[frozenset[str] | None, int] = {}
        codes = [distinct.setdefault(types, len(distinct)) for types in self.types]
        by_role = {role: told(_met(types, role) for types in distinct) for role in ROLES}
        return {role: np.append(known[codes], [NO, NO]) for role, known in by_role.items()}

    @cached_property
    def surfaces(self) -> list[str]:
        """The texts of all mentions, each once."""
        return list(self._encoded[2])

    @cached_property
    def _encoded(self) -> tuple[Longs, Longs, dict[str, int]]:
        known: dict[str, int] = {}
        gold, answers = ([known.setdefault(t, len(known)) for t in side.texts] for side in (self.gold, self.answers))
        return np.array(gold, np.int64), np.array(answers, np.int64), known

    def by_surface(self, test: Callable[[str], bool]) -> Bools:
        """What holds of each surface."""
        return np.fromiter(map(test, self.surfaces), np.bool_, len(self.surfaces))

    @cached_property
    def popular(self) -> list[frozenset[str] | None]:
        """For each surface the entities it is popular for."""
        return [None] * len(self.surfaces) if self.kb is None else self.kb.popular(self.surfaces)

    @cached_property
    def popular_for_place(self) -> Truth:
        """Which surfaces are popular for a place."""
        candidates = sorted({id for ids in self.popular for id in ids or ()})
        types = [] if self.kb is None else self.kb.types(candidates)
        place = {id: _met(known, "place") for id, known in zip(candidates, types, strict=True)}
        return told(_any(place[id] for id in ids) if ids is not None else None for ids in self.popular)

    @cached_property
    def demonyms(self) -> Truth:
        """Which surfaces are demonyms."""
        if self.kb is None:
            return np.full(len(self.surfaces), UNKNOWN)
        return told(self.kb.demonyms(self.surfaces))


class Side:
    """Facts about all gold labels, or all answers."""

    def __init__(self, facts: Facts, mentions: Mentions, entity: Ints, document: NDArray[Any]) -> None:
        self._facts, self.mentions, self.entity, self.document = facts, mentions, entity, document

    @cached_property
    def texts(self) -> list[str]:
        """What each mention says; answers to unknown documents say nothing."""
        texts = [*self._facts.pairing.texts, ""]
        places = zip(self.document.tolist(), self.mentions.start.tolist(), self.mentions.end.tolist(), strict=True)
        return [texts[document][start:end] for document, start, end in places]

    @property
    def surface(self) -> Longs:
        """The code of each text among `Facts.surfaces`."""
        facts = self._facts
        return facts._encoded[0] if self is facts.gold else facts._encoded[1]

    @cached_property
    def lowercased(self) -> Bools:
        """Whose first letter is no capital."""
        return self._facts.by_surface(lowercased)[self.surface]

    @cached_property
    def names(self) -> list[str | None]:
        """The name of each mention's entity, as the gold standard or the knowledge base gives it."""
        given = self.mentions.field("name")
        own = [None] * len(self.entity) if given is None else given.to_pylist()
        known = [*self._facts.names, None, None]
        return [known[code] if name is None else name for name, code in zip(own, self.entity.tolist(), strict=True)]

    @cached_property
    def _by_name(self) -> Ints:
        """The mention type of each, were it no coreference."""
        types: dict[str | None, int] = {None: NAMED if self._facts.guess else UNDECIDED}
        for name in set(self.names) - {None}:
            types[name] = NON_NAMED if lowercased(str(name)) else NAMED
        found = np.fromiter((types[name] for name in self.names), np.int32, len(self.names))
        return np.where(self.entity == NIL, np.int32(UNKNOWN_ENTITY), found)

    @cached_property
    def nameless(self) -> Bools:
        """Which mentions are named or not by a name that nobody knows."""
        unknown = np.fromiter((name is None for name in self.names), np.bool_, len(self.names))
        return unknown & np.isin(self.mention_type, (NAMED, NON_NAMED, UNDECIDED))

    @cached_property
    def mention_type(self) -> Ints:
        """What each mention is, as a place in `MENTION_TYPES`.

        Where the gold standard says that a mention refers back, or that it does not, it is believed.
        """
        facts = self._facts
        pronoun, noun = facts.by_surface(pronominal)[self.surface], facts.by_surface(nominal)[self.surface]
        types = np.where(pronoun, PRONOMINAL, np.where(noun, NOMINAL, self._by_name)).astype(np.int32)
        kind = self.mentions.field("kind")
        if kind is not None:
            refers = pc.equal(kind, "coreference").fill_null(False).to_numpy(zero_copy_only=False)
            types[refers] = np.where(pronoun[refers], PRONOMINAL, NOMINAL)
        denied = self.said("coreference:no")
        types[denied] = self._by_name[denied]
        return types

    def said(self, category: str) -> Bools:
        """Which mentions carry a category, as their file says it."""
        found = np.zeros(len(self.entity), np.bool_)
        categories = self.mentions.field("categories")
        if categories is not None:
            lengths = categories.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
            hit = pc.equal(categories.flatten(), category).to_numpy(zero_copy_only=False)
            found[np.repeat(np.arange(len(found)), lengths)[hit]] = True
        return found

    @cached_property
    def _typed(self) -> Bools:
        """Which mentions have types of their own."""
        types = self.mentions.field("types")
        if types is None:
            return np.zeros(len(self.entity), np.bool_)
        return np.asarray(types.value_lengths().fill_null(0).to_numpy(zero_copy_only=False) > 0)

    def of_role(self, role: str) -> Truth:
        """Which mentions have a type of this role: one of their own, or else of their entity."""
        truth = self._facts.of_role[role][self.entity]
        if self._own_types is None:
            return truth
        owner, code, names = self._own_types
        hit = np.array([name in ROLES[role] for name in names], np.bool_)[code]
        own = np.bincount(owner[hit], minlength=len(truth)) > 0
        return np.where(self._typed, sure(own), truth)

    @cached_property
    def _own_types(self) -> tuple[Longs, Ints, list[str]] | None:
        """Whose each type is that mentions have of their own, its code, and what codes mean."""
        types = self.mentions.field("types")
        if types is None:
            return None
        lengths = types.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
        encoded = types.flatten().dictionary_encode()
        return np.repeat(np.arange(len(lengths)), lengths), encoded.indices.to_numpy(), encoded.dictionary.to_pylist()

    @cached_property
    def linked(self) -> Bools:
        """Which mentions have an entity, and are neither quantities nor datetimes."""
        kind = self._facts.pairing.gold_kind if self is self._facts.gold else self._facts.pairing.answer_kind
        linked: Bools = (self.entity != NIL) & (kind == 0)
        return linked

    @cached_property
    def demonym(self) -> Truth:
        """Which texts are in the list of demonyms, of mentions of a place, a people or a language."""
        return both(self._facts.demonyms[self.surface], either(*map(self.of_role, DEMONYMIC)))

    @cached_property
    def metonym(self) -> Truth:
        """Which texts are popular for a place, of mentions of something that is no place, person or people."""
        other = (negated(self.of_role(role)) for role in LITERAL)
        return both(self.linked, *other, self._facts.popular_for_place[self.surface])

    @cached_property
    def partial_name(self) -> Truth:
        """Which texts are a part of the entity's name, which has several words."""
        pairs = zip(self.names, self.texts, strict=True)
        part = [None if name is None else part_of_name(text, name) for name, text in pairs]
        return both(self.linked, told(part))

    @cached_property
    def rare(self) -> Truth:
        """Which texts are popular for other entities only."""
        return told(None if known is None else bool(known) and not own for known, own in self._popular)

    @cached_property
    def _popular(self) -> list[tuple[frozenset[str] | None, bool]]:
        """For each mention what its text is popular for, and whether its own entity is among that."""
        ids, popular = [*self._facts.ids, "", ""], self._facts.popular
        found = []
        for surface, code in zip(self.surface.tolist(), self.entity.tolist(), strict=True):
            known = popular[surface]
            found.append((known, known is not None and code >= 0 and ids[code] in known))
        return found

    @cached_property
    def candidates(self) -> tuple[Longs, list[str]]:
        """Where the candidates of each answer begin, and their ids."""
        column = self.mentions.field("candidates")
        if column is None:
            return np.zeros(len(self.entity) + 1, np.int64), []
        lengths = column.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
        return np.concatenate([[0], np.cumsum(lengths)]), column.flatten().field("entity").to_pylist()


def _met(types: frozenset[str] | None, role: str) -> bool | None:
    return None if types is None else bool(types & ROLES[role])


def _any(values: Iterable[bool | None]) -> bool | None:
    known = list(values)
    return True if True in known else None if None in known else False
