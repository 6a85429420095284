"""Facts of a knowledge base about entities and texts, each queried once for all mentions that share it.

Both kinds of table can extend another one: facts about a gold standard are queried once, and each run adds its new
entities and texts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import TypeVar

import numpy as np

from karat.kb.hierarchy import find_roles
from karat.kb.ids.id_patterns import PLAIN_TEXT, id_pattern
from karat.kb.in_memory_kb import InMemoryKB
from karat.kb.protocol import KB
from karat.model.tables.columns import Bools, Longs
from karat.model.truth import Truth, from_optional

_T = TypeVar("_T")
_EMPTY_KB = InMemoryKB.from_tables()  # a knowledge base without facts


class EntityFacts:
    """Facts about the entities of codes.

    `ids` are the ids by code; `base` has the facts about the first codes.
    """

    def __init__(self, ids: list[str], kb: KB | None, base: EntityFacts | None = None) -> None:
        self.ids, self._kb, self._base = ids, _EMPTY_KB if kb is None else kb, base

    @cached_property
    def names(self) -> list[str | None]:
        """Name of each entity; None if unknown."""
        return _extend_facts(None if self._base is None else self._base.names, self.ids, self._kb.names)

    @cached_property
    def types(self) -> list[frozenset[str] | None]:
        """Types of each entity; None if unknown."""
        return _extend_facts(None if self._base is None else self._base.types, self.ids, self._kb.types)

    @cached_property
    def canonical_ids(self) -> list[str]:
        """Canonical id of each entity, as used in sets of popular entities."""
        base_ids = [] if self._base is None else self._base.canonical_ids
        return [*base_ids, *self._kb.canonical_ids(self.ids[len(base_ids) :])]

    @cached_property
    def is_comparable(self) -> list[bool]:
        """Whether each id is of a kind that occurs among popular entities; an empty id counts as comparable."""
        base_flags = [] if self._base is None else self._base.is_comparable
        ids = [id for id in self.canonical_ids[len(base_flags) :] if id]
        flags = dict(zip(ids, self._kb.may_be_popular(ids), strict=True))
        return [*base_flags, *(flags.get(id, True) for id in self.canonical_ids[len(base_flags) :])]

    @cached_property
    def has_unknown_form(self) -> list[bool]:
        """Whether each id is a plain text: no address, no number, and no prefix or letter with a number."""
        base_flags = [] if self._base is None else self._base.has_unknown_form
        return [*base_flags, *(id_pattern(id) == PLAIN_TEXT for id in self.canonical_ids[len(base_flags) :])]


class SurfaceFacts:
    """Facts about distinct texts of mentions, in the order of their codes.

    `codes` are the codes of the texts passed to the constructor; `base` has the facts about the first codes.
    """

    def __init__(self, texts: Iterable[str], kb: KB | None, base: SurfaceFacts | None = None) -> None:
        self._kb, self._base = _EMPTY_KB if kb is None else kb, base
        self._code_of: dict[str, int] = {} if base is None else dict(base._code_of)
        code_of = self._code_of
        self.codes: Longs = np.array([code_of.setdefault(text, len(code_of)) for text in texts], np.int64)
        self.texts = list(code_of)
        self._test_results: dict[Callable[[str], bool], Bools] = {}

    def test_texts(self, test: Callable[[str], bool]) -> Bools:
        """Return the result of `test` for each distinct text, by code; cached by the identity of `test`."""
        if test not in self._test_results:
            base_results = np.zeros(0, np.bool_) if self._base is None else self._base.test_texts(test)
            rest = self.texts[len(base_results) :]
            self._test_results[test] = np.append(base_results, np.fromiter(map(test, rest), np.bool_, len(rest)))
        return self._test_results[test]

    @cached_property
    def popular(self) -> list[frozenset[str] | None]:
        """Entities that each text often refers to, as canonical ids; None if unknown."""
        return _extend_facts(None if self._base is None else self._base.popular, self.texts, self._kb.popular_entities)

    @cached_property
    def candidates(self) -> list[frozenset[str] | None]:
        """All entities that each text names, as canonical ids; None if the knowledge base has none."""
        base_candidates = None if self._base is None else self._base.candidates
        return _extend_facts(base_candidates, self.texts, self._kb.candidate_entities)

    @cached_property
    def is_popular_for_place(self) -> Truth:
        """Whether one of the popular entities of each text is a place."""
        candidates = sorted({id for ids in self.popular for id in ids or ()})
        is_place = {
            id: has_role(types, "place") for id, types in zip(candidates, self._kb.types(candidates), strict=True)
        }
        return from_optional(None if ids is None else _any_true(is_place[id] for id in ids) for ids in self.popular)

    @cached_property
    def is_demonym(self) -> Truth:
        """Whether each text is in the list of demonyms."""
        return from_optional(self._kb.are_demonyms(self.texts))


def has_role(types: frozenset[str] | None, role: str) -> bool | None:
    """Return whether one of `types` has a role, a key of `ROLES` such as `place`; None if `types` is None."""
    return None if types is None else any(role in find_roles(cls) for cls in types)


def _extend_facts(
    base: list[_T | None] | None, keys: Sequence[str], query: Callable[[Sequence[str]], list[_T | None]]
) -> list[_T | None]:
    """Return the facts about all `keys`; those about the first keys are in `base`, and `query` returns the others."""
    facts = base or []
    return [*facts, *query(keys[len(facts) :])]


def _any_true(values: Iterable[bool | None]) -> bool | None:
    """Return True if a value is True, else None if a value is None, else False."""
    distinct = set(values)
    return True if True in distinct else None if None in distinct else False
