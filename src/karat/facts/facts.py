"""What is known about every gold label and every answer: by its text, its entity, and the knowledge base."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace
from numpy.typing import NDArray

from karat.facts.vocabulary import Entities, Surfaces, met
from karat.kb.any_spelling import behind
from karat.kb.protocol import KB
from karat.matching.read.pairing import Pairing, as_written, read_texts, value_kinds
from karat.matching.read.reading import Reading
from karat.model.corpus import Corpus
from karat.model.items import Lists
from karat.model.marks import NOT_COREFERENCE
from karat.model.surface import begins_small, lowercased, nominal, part_of_name, pronominal
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import NIL, Bools, Ints, Longs, Mentions
from karat.model.truth import Truth, both, either, negated, told

MENTION_TYPES = (
    "entity-named",
    "entity-non-named",
    "entity-unknown",
    "coreference-nominal",
    "coreference-pronominal",
    "entity-undecided",
)
"""What a mention is by its text and by the name of its entity."""

NAMED, NON_NAMED, UNKNOWN_ENTITY, NOMINAL, PRONOMINAL, UNDECIDED = range(len(MENTION_TYPES))

DEMONYMIC = ("place", "people", "language")
"""What a demonym may stand for."""

LITERAL = ("place", "person", "people", "character")
"""What is named as itself, so that no other reading of its text makes it a metonym."""

_BETWEEN = "\x1f"  # stands in no type


class Diction(msgspec.Struct, frozen=True):
    """The words that scores and statistics of benchmarks use differently.

    `lowercased` says when a text is so; `rare_if_linked`, that only mentions with an entity that is no quantity and no
    datetime can be rare; `nameless`, what mention type an entity has whose name nobody knows.
    """

    lowercased: Callable[[str], bool]
    rare_if_linked: bool
    nameless: int


SCORES = Diction(lowercased=lowercased, rare_if_linked=False, nameless=UNDECIDED)
"""The words of scores, as ELEVANT's evaluator uses them: "1990s" is lowercased, since its first letter is; a mention of
NIL, a quantity or a datetime whose text is popular for an entity is rare."""

GUESSING = replace(SCORES, nameless=NAMED)
"""The same, but an entity whose name is not known is taken for a named one, as ELEVANT's evaluator does."""

STATISTICS = Diction(lowercased=begins_small, rare_if_linked=True, nameless=UNDECIDED)
"""The words of statistics, as ELEVANT's statistics of benchmarks use them: "1990s" has no case, since its first
character has none; what is not linked to an entity is not rare."""


class _Read(NamedTuple):
    """One side as it is read: `mentions` with the codes of their entities, and where each stands.

    Texts and kinds of values are asked for only where somebody looks at them.
    """

    mentions: Mentions
    same_as: Lists | None
    document: NDArray[Any]
    texts: Callable[[], Sequence[str]]
    kind: Callable[[], Ints]


class Side:
    """Facts about all gold labels, or all answers; every column is made when it is first asked for.

    `first` is the other side where codes of entities and texts go on from its own.
    """

    def __init__(self, read: _Read, kb: KB | None, diction: Diction, first: Side | None = None) -> None:
        self._read, self._kb, self._diction, self._first = read, kb, diction, first
        self._said: dict[tuple[str, ...], Bools] = {}
        self.mentions, self.entity, self.document = read.mentions, read.mentions.entity, read.document

    @cached_property
    def entities(self) -> Entities:
        """What is known about entity codes."""
        names = self.mentions.names
        if self._first is None:  # the codes of a gold standard come first, whatever the run adds
            same = self._read.same_as
            names = names.slice(0, 1 + max(int(np.max(codes, initial=-1)) for codes in _codes(self.entity, same)))
        return Entities(names.to_pylist(), self._kb, None if self._first is None else self._first.entities)

    @cached_property
    def texts(self) -> list[str]:
        """What each mention says; answers to unknown documents say nothing."""
        texts = [*self._read.texts(), ""]
        places = zip(self.document.tolist(), self.mentions.start.tolist(), self.mentions.end.tolist(), strict=True)
        return [texts[document][start:end] for document, start, end in places]

    @cached_property
    def surfaces(self) -> Surfaces:
        """What is known about distinct texts."""
        return Surfaces(self.texts, self._kb, None if self._first is None else self._first.surfaces)

    @property
    def surface(self) -> Longs:
        """The code of each text."""
        return self.surfaces.codes

    @cached_property
    def lowercased(self) -> Bools:
        """Which texts are lowercased."""
        return self.surfaces.by(self._diction.lowercased)[self.surface]

    @cached_property
    def words(self) -> Longs:
        """How many words each text has when it is divided at every single blank."""
        counts = np.array([text.count(" ") + 1 for text in self.surfaces.texts], np.int64)
        return counts[self.surface]

    @cached_property
    def further(self) -> dict[int, list[int]]:
        """For mentions with several ids, those besides the first, as codes."""
        same = self._read.same_as
        if same is None:
            return {}
        rows = np.flatnonzero((np.diff(same.offsets) > 0) & (self.entity >= 0)).tolist()
        return {row: same.values[same.offsets[row] : same.offsets[row + 1]].tolist() for row in rows}

    @cached_property
    def names(self) -> list[str | None]:
        """The name of each mention's entity, as the gold standard or the knowledge base gives it."""
        given = self.mentions.field("name")
        own = [None] * len(self.entity) if given is None else given.to_pylist()
        known = [*self.entities.names, None, None]
        names = [name or known[code] for name, code in zip(own, self.entity.tolist(), strict=True)]
        for row, codes in self.further.items():
            names[row] = names[row] or next((known[code] for code in codes if known[code]), None)
        return names

    @cached_property
    def _by_name(self) -> Ints:
        """The mention type of each, were it no coreference."""
        types: dict[str | None, int] = {None: self._diction.nameless}
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

        Where the gold standard says that a mention refers back, or that it does not though it looks so, it is believed.
        """
        pronoun, noun = (self.surfaces.by(test)[self.surface] for test in (pronominal, nominal))
        types = np.where(pronoun, PRONOMINAL, np.where(noun, NOMINAL, self._by_name)).astype(np.int32)
        denied = self.said(NOT_COREFERENCE)
        types[denied] = self._by_name[denied]
        kind = self.mentions.field("kind")
        if kind is not None:
            refers = pc.equal(kind, "coreference").fill_null(False).to_numpy(zero_copy_only=False)
            types[refers] = np.where(pronoun[refers], PRONOMINAL, NOMINAL)
        return types

    @cached_property
    def refers(self) -> Bools:
        """Which mentions refer back to one with a name."""
        return np.isin(self.mention_type, (NOMINAL, PRONOMINAL))

    def said(self, *categories: str) -> Bools:
        """Which mentions carry one of some categories, as their file says it; one that ends with `:` is a beginning."""
        if categories not in self._said:
            found = self._said[categories] = np.zeros(len(self.entity), np.bool_)
            owner, values = self._categories
            for category in categories if len(values) else ():
                test = pc.starts_with if category.endswith(":") else pc.equal
                found[owner[test(values, category).to_numpy(zero_copy_only=False)]] = True
        return self._said[categories]

    @cached_property
    def _categories(self) -> tuple[Longs, Arrow]:
        """All categories that mentions carry, and which mention carries each."""
        given = self.mentions.field("categories")
        if given is None:
            return np.zeros(0, np.int64), pa.nulls(0, pa.string())
        lengths = given.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
        return np.repeat(np.arange(len(given)), lengths), given.flatten()

    @cached_property
    def type_sets(self) -> tuple[Longs, list[frozenset[str] | None]]:
        """The place of each mention's types among all sets that occur, and these: None where nobody knows.

        They are the mention's own, or else those of its entity, by all ids of it that are known. NIL has none.
        """
        places: dict[frozenset[str] | None, int] = {frozenset(): 0}
        by_code = self.entities.types
        codes = [places.setdefault(types, len(places)) for types in by_code]
        place = np.array([*codes, 0, 0], np.int64)[self.entity]
        for row, further in self.further.items():
            known = [types for code in (self.entity[row], *further) if (types := by_code[code]) is not None]
            place[row] = places.setdefault(frozenset[str]().union(*known) if known else None, len(places))
        given = self.mentions.field("types")
        if given is not None:
            joined = pc.binary_join(given, _BETWEEN).dictionary_encode()
            sets = [frozenset(types.split(_BETWEEN)) for types in joined.dictionary.to_pylist()]
            own = np.array([places.setdefault(types, len(places)) for types in sets], np.int64)
            typed = given.value_lengths().fill_null(0).to_numpy(zero_copy_only=False) > 0
            place = np.where(typed, own[joined.indices.fill_null(0).to_numpy()], place)
        return place, list(places)

    def of_role(self, role: str) -> Truth:
        """Which mentions have a type of this role."""
        place, sets = self.type_sets
        return told(met(types, role) for types in sets)[place]

    @cached_property
    def linked(self) -> Bools:
        """Which mentions have an entity, and are neither quantities nor datetimes."""
        linked: Bools = (self.entity >= 0) & (self._read.kind() == 0)
        return linked

    @cached_property
    def demonym(self) -> Truth:
        """Which texts are in the list of demonyms, of mentions of a place, a people or a language."""
        return both(~self.refers, self.surfaces.demonyms[self.surface], either(*map(self.of_role, DEMONYMIC)))

    @cached_property
    def metonym(self) -> Truth:
        """Which texts are popular for a place, of mentions of something that is no place, person or people."""
        other = (negated(self.of_role(role)) for role in LITERAL)
        return both(~self.refers & self.linked, *other, self.surfaces.popular_for_place[self.surface])

    @cached_property
    def partial_name(self) -> Truth:
        """Which texts are a part of the entity's name, which has several words."""
        pairs = zip(self.names, self.texts, strict=True)
        part = [None if name is None else part_of_name(text, name) for name, text in pairs]
        return both(~self.refers & self.linked, told(part))

    @cached_property
    def rare(self) -> Truth:
        """Which texts are popular for other entities only."""
        popular = list(map(self.surfaces.popular.__getitem__, self.surface.tolist()))
        other = both(told(None if known is None else bool(known) for known in popular), negated(self.among(popular)))
        return both(~self.refers & (self.linked | (not self._diction.rare_if_linked)), other)

    def among(self, entities: Iterable[frozenset[str] | None], rows: Longs | None = None) -> Truth:
        """Of which mentions the entity is among some, one set for each mention or each of some `rows`; -1 is none.

        Nobody can tell of an entity whose ids are all written otherwise than those of the knowledge base.
        """
        ids, codes = [*self.entities.canonical, "", ""], np.append(self.entity, NIL)
        alike, linked = [*self.entities.comparable, True, True], np.append(self.linked, False).tolist()
        further = self.further
        every = np.arange(len(self.entity)) if rows is None else rows
        found: list[bool | None] = []
        for row, code, known in zip(every.tolist(), codes[every].tolist(), entities, strict=True):
            if known is None or (code >= 0 and ids[code] in known):
                found.append(None if known is None else True)
                continue
            own = (code, *further.get(row, ())) if code >= 0 else ()
            if len(own) > 1 and any(ids[each] in known for each in own):
                found.append(True)
            else:
                foreign = linked[row] and not any(alike[each] for each in own)
                found.append(None if foreign else False)
        return told(found)

    @cached_property
    def candidates(self) -> tuple[Longs, list[str]]:
        """Where the candidates of each answer begin, and their ids."""
        column = self.mentions.field("candidates")
        if column is None:
            return np.zeros(len(self.entity) + 1, np.int64), []
        lengths = column.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
        return np.concatenate([[0], np.cumsum(lengths)]), column.flatten().field("entity").to_pylist()


def _codes(entity: Ints, same_as: Lists | None) -> tuple[Ints, ...]:
    return (entity,) if same_as is None else (entity, same_as.values)


def labels_of(corpus: Corpus, kb: KB | None, diction: Diction = STATISTICS) -> Side:
    """The facts about the labels of a corpus as they are written, whatever scores make of them."""
    names, codes = as_written(corpus.labels)
    labels, texts = replace(corpus.labels, names=names), corpus.texts
    read = _Read(labels, codes.same_as, labels.document, lambda: texts, lambda: value_kinds(labels))
    return Side(read, kb, diction)


class GoldFacts(msgspec.Struct, frozen=True, eq=False):
    """What is known about the labels of a corpus as it is read, found once for all runs on it."""

    side: Side
    corpus: Corpus
    reading: Reading
    kb: KB | None
    diction: Diction

    def suits(self, pairing: Pairing, kb: KB | None, diction: Diction) -> bool:
        """Whether the same facts would be found beside another run."""
        same = (behind(self.kb) is behind(kb), behind(self.reading.kb) is behind(pairing.reading.kb))
        alike = self.corpus is pairing.corpus and self.reading == pairing.reading and self.diction == diction
        return alike and all(same)


def gold_facts(pairing: Pairing, kb: KB | None, diction: Diction = SCORES) -> GoldFacts:
    """What is known about the labels of a pairing, to be given to the `Facts` of other runs."""
    labels, corpus = pairing.labels, pairing.corpus  # and not the pairing itself, which would keep its run
    kinds = pairing.gold_kind
    read = _Read(labels, pairing.gold_same, labels.document, lambda: read_texts(corpus), lambda: kinds)
    return GoldFacts(Side(read, kb, diction), pairing.corpus, pairing.reading, kb, diction)


class Facts:
    """Facts about the mentions of one corpus and one run.

    Those about the gold standard are taken from `gold` where it suits, and else found anew. `vocabulary` says which ids
    the system can answer with, where that is known.
    """

    def __init__(
        self,
        pairing: Pairing,
        kb: KB | None,
        diction: Diction = SCORES,
        *,
        gold: GoldFacts | None = None,
        vocabulary: Callable[[Sequence[str]], list[bool | None]] | None = None,
    ) -> None:
        self.pairing, self.kb, self._vocabulary = pairing, kb, vocabulary
        self.backgrounds: list[Any] = []  # of cases; see `karat.facts.cases.background`
        shared = gold if gold is not None and gold.suits(pairing, kb, diction) else gold_facts(pairing, kb, diction)
        self.gold = shared.side
        answers = pairing.answered
        read = _Read(
            answers,
            pairing.answer_same,
            pairing.place[answers.document],
            lambda: pairing.texts,
            lambda: pairing.answer_kind,
        )
        self.answers = Side(read, kb, diction, first=self.gold)

    @property
    def ids(self) -> list[str]:
        """The ids of entity codes."""
        return self.answers.entities.ids

    @cached_property
    def answerable(self) -> list[bool | None]:
        """Which entity codes are in the vocabulary of the system; None where nobody can say."""
        return [None] * len(self.ids) if self._vocabulary is None else self._vocabulary(self.ids)

    @property
    def names(self) -> list[str | None]:
        """The names of entity codes that the knowledge base knows."""
        return self.answers.entities.names

    def called(self, *, by_labels: bool) -> list[str | None]:
        """What the entity of each answer is called, as for labels: by the knowledge base, or a label of that entity.

        A block knows its own labels only, so that it asks the knowledge base alone.
        """
        known: dict[int, str | None] = {}
        if by_labels:
            known = {code: name for code, name in zip(self.gold.entity.tolist(), self.gold.names, strict=True) if name}
        return [
            known.get(code) or name for code, name in zip(self.answers.entity.tolist(), self.answers.names, strict=True)
        ]

    @property
    def types(self) -> list[frozenset[str] | None]:
        """The types of entity codes that the knowledge base knows."""
        return self.answers.entities.types

    @property
    def popular(self) -> list[frozenset[str] | None]:
        """For each text of either side, by its code in `Side.surface`, the entities it is popular for."""
        return self.answers.surfaces.popular

    def by_surface(self, test: Callable[[str], bool]) -> Bools:
        """What holds of each text of either side."""
        return self.answers.surfaces.by(test)
