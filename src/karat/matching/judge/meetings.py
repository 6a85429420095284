"""Which answers could match which mentions, and which stand where one is: all pairs, or in a crowd those asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from karat.errors import KaratError
from karat.limits import most
from karat.matching.align.assign import Edges, Preferences
from karat.matching.align.exact import settle_exact
from karat.matching.align.joins import Join, crowded, overlapping
from karat.model.items import Gold, Items, Pairs
from karat.model.tables.columns import Bools, Floats, Longs
from karat.spec.relation import Relation


class Meetings(NamedTuple):
    """The pairs that match; those of some labels and some answers that do not; which answers stand at some labels."""

    right: Edges
    wrong: Callable[[Bools, Bools], Edges]
    standing: Callable[[Bools], Longs]


def of_pairs(gold: Gold, answers: Items, relation: Relation, pairs: Pairs) -> Meetings:
    """Who meets whom, from all pairs that stand at the same place."""
    located = _edges(gold, pairs, _degrees(gold.items, answers, relation, pairs))
    right = located.degree > 0
    return Meetings(
        located.take(right),
        lambda labels, own: located.take(~right & labels[located.label] & own[located.answer]),
        lambda labels: located.answer[labels[located.label]],
    )


def _edges(gold: Gold, pairs: Pairs, degree: Floats | Bools) -> Edges:
    return Edges(gold.unit[pairs.gold] if gold.tied else pairs.gold, pairs.gold, pairs.answer, degree)


def _degrees(gold: Items, answers: Items, relation: Relation, pairs: Pairs) -> Floats | Bools:
    if relation.degree is None:
        return np.ones(len(pairs.gold), np.bool_)
    degree = relation.degree(gold, answers, pairs)
    if degree.dtype != np.bool_:
        _check_degrees(degree, relation)
    return degree


def _check_degrees(degree: Floats | Bools, relation: Relation) -> None:
    fit = (degree >= 0) & (degree <= 1) if relation.graded else (degree == 0) | (degree == 1)
    if not fit.all():
        allowed = "from 0 to 1" if relation.graded else "0 or 1 (set graded=True for partial credit)"
        raise KaratError(f"the relation {relation.title!r} gives degrees other than {allowed}. Correct its `degree`.")


class _Crowd(NamedTuple):
    """One document with more pairs than are held at once."""

    gold: Gold
    answers: Items
    relation: Relation
    located: Join

    def found(self, labels: Longs, own: Longs, keep: Callable[[Pairs], Bools]) -> Pairs:
        """The pairs among some labels and answers that are to be kept, found part by part."""
        parts, total = [], 0
        for part in self.located.parts(self.gold.items.take(labels), self.answers.take(own)):
            pairs = Pairs(labels[part.gold], own[part.answer])
            pairs = pairs.where(keep(pairs))
            total += len(pairs.gold)
            self.check(total)
            parts.append(pairs)
        return Pairs(*map(np.concatenate, zip(*parts, strict=True))) if parts else Pairs(labels[:0], own[:0])

    def meet(self, labels: Longs, own: Longs, prefer: Preferences) -> Pairs:
        """All pairs among some labels and answers, or as many as a best assignment of them can be made from."""
        settled = Pairs(labels[:0], own[:0])
        if self.located is overlapping and self.relation.place is None and not self.gold.tied:
            settled, labels, own = settle_exact(labels, own, prefer)
        self.check(int(self.located.counts(self.gold.items.take(labels), self.answers.take(own)).sum()))
        rest = self.found(labels, own, self.placed)
        return Pairs(np.concatenate([settled.gold, rest.gold]), np.concatenate([settled.answer, rest.answer]))

    def placed(self, pairs: Pairs) -> Bools:
        """Which pairs stand at the same place."""
        place = self.relation.place
        return np.ones(len(pairs.gold), np.bool_) if place is None else place(self.gold.items, self.answers, pairs)

    def degrees(self, pairs: Pairs) -> Floats | Bools:
        """How right each pair is."""
        return _degrees(self.gold.items, self.answers, self.relation, pairs)

    def edges(self, pairs: Pairs) -> Edges:
        """Pairs as edges."""
        return _edges(self.gold, pairs, self.degrees(pairs))

    def check(self, pairs: int) -> None:
        """Raise where so many pairs are too many."""
        if pairs > most("pairs"):
            raise crowded(int(self.located.counts(self.gold.items, self.answers).argmax()), pairs)


def in_crowd(gold: Gold, answers: Items, relation: Relation, prefer: Preferences, *, best: bool) -> Meetings | None:
    """Who meets whom in a document with more pairs than are held at once, or None where there is none such.

    If a `best` assignment is made of them, only what this needs is found.
    """
    located = relation.located
    if not isinstance(located, Join) or int(located.counts(gold.items, answers).max(initial=0)) <= most("pairs"):
        return None
    crowd = _Crowd(gold, answers, relation, located)
    every = np.arange(len(crowd.gold.items)), np.arange(len(crowd.answers))
    if relation.right is not None:
        pairs = relation.right(crowd.gold.items, crowd.answers)
        crowd.check(len(pairs.gold))
    elif relation.degree is None and best and not crowd.gold.segmented:
        pairs = crowd.meet(*every, prefer)
    else:
        pairs = crowd.found(*every, lambda pairs: crowd.placed(pairs) & (crowd.degrees(pairs) > 0))

    def wrong(labels: Bools, own: Bools) -> Edges:
        # Of those who are left, none matches another: else they would have been matched.
        found = every[0][:0], every[1][:0]
        if relation.degree is not None:
            found = crowd.meet(np.flatnonzero(labels), np.flatnonzero(own), prefer)
        return _edges(crowd.gold, Pairs(*found), np.zeros(len(found[0]), np.bool_))

    def standing(labels: Bools) -> Longs:
        there = np.zeros(len(crowd.answers), np.bool_)
        places = np.flatnonzero(labels)
        for part in crowd.located.parts(crowd.gold.items.take(places), crowd.answers):
            pairs = Pairs(places[part.gold], part.answer)
            there[pairs.answer[crowd.placed(pairs)]] = True
        return np.flatnonzero(there)

    return Meetings(crowd.edges(pairs), wrong, standing)
