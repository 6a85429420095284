"""From spans to verdicts by looking up, as ELEVANT does it: every mention asks who stands on its span."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from karat.errors import UsageError
from karat.matching.align.joins import same_entity
from karat.matching.judge.policy import TABLE, AnswerState, GoldState
from karat.matching.read.trees import Trees
from karat.model.items import Answers, Gold, Items, Pairs
from karat.model.tables.columns import Bools, Longs
from karat.model.verdict import Outcome, Tree, Verdicts

_BITS = 25  # a document of more code points does not fit into a key


class Tied(NamedTuple):
    """What looking up needs of a corpus: its trees, the code of links without id, which labels are values."""

    trees: Trees
    nameless: int
    value: Bools


class LookedUp(NamedTuple):
    """For each label the place of the answer it finds, or -1; and the answers that stand where no label is.

    `same` says which labels find an answer with their own link, `shape` which labels of the trees count.
    """

    answer: Longs
    free: Longs
    same: Bools
    shape: TreeShape


def look_up(gold: Gold, answers: Items, tied: Tied) -> LookedUp:
    """Who finds whom.

    Of answers on one span the last holds, and of answers that widen to one span the last in the order in which their
    spans first occur; a widened span goes before an exact one.
    """
    items = gold.items
    exact = _keys(answers, wide=False)
    _, first, inverse = np.unique(exact, return_index=True, return_inverse=True)
    held = np.zeros(len(first), np.int64)
    held[inverse] = np.arange(len(exact))  # the last one on each span
    wide = _keys(answers, wide=True)[held]
    order = np.lexsort((first, wide))
    keys, begin = np.unique(wide[order], return_index=True)
    last = np.append(begin, len(order))[1:] - 1
    plain = ~np.isin(exact[held], keys)
    keys = np.concatenate([keys, exact[held][plain]])
    holder = np.concatenate([held[order][last], held[plain]])
    order = np.argsort(keys)
    keys, holder = keys[order], holder[order]
    own, own_wide = _keys(items, wide=False), _keys(items, wide=True)
    found = _at(keys, holder, own)
    found = np.where(found < 0, _at(keys, holder, own_wide), found)
    taken = np.concatenate([own, own_wide])
    free = np.sort(held[~np.isin(exact[held], taken) & ~np.isin(wide, taken)])
    free = free[answers.entity[free] != tied.nameless]
    if answers.outside is not None:
        free = free[~answers.outside[free]]
    entity = np.append(answers.entity, tied.nameless)[found]
    same = (items.entity == entity) & (entity != tied.nameless)
    return LookedUp(found, free, same, _shape(gold, tied.trees, found >= 0, same, said=entity != tied.nameless))


def _keys(items: Items, *, wide: bool) -> Longs:
    start, end = items.words if wide and items.words is not None else (items.start, items.end)
    if len(end) and int(end.max()) >> _BITS:
        raise UsageError(f"assignment=lookup takes texts of up to {1 << _BITS:,} characters. Split longer ones.")
    low = int(items.document.min()) if len(items) else 0
    document = items.document.astype(np.int64)
    if len(items) and (int(document.max()) - low) >> (63 - 2 * _BITS):
        raise UsageError("assignment=lookup takes blocks of up to 8,192 documents.")
    return (document % (1 << (63 - 2 * _BITS)) << (2 * _BITS)) | (start.astype(np.int64) << _BITS) | end


def _at(keys: Longs, values: Longs, wanted: Longs) -> Longs:
    """The value of each wanted key, or -1."""
    if not len(keys):
        return np.full(len(wanted), -1)
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[place] == wanted, values[place], -1)


def looked_up(
    gold: Gold, answers: Answers, found: LookedUp, kept: tuple[Bools, Bools], tied: Tied, *, links: bool, whole: bool
) -> Verdicts:
    """The verdicts on what was found. `kept` says which labels and which answers the view shows, `whole` that all.

    A case keeps both its sides whatever the view shows; what is not shown is judged as if it were not there.
    """
    items, given, shape = gold.items, answers.items, found.shape
    none = np.zeros(len(found.free), np.bool_)
    answer = np.append(found.answer, found.free)
    there = np.flatnonzero(found.answer >= 0)
    right = np.zeros(len(items), np.bool_)
    right[there] = same_entity(items, given, Pairs(there, found.answer[there])) if links else True
    shown = np.append(kept[0], none)
    required = shape.required & (whole | ~tied.value[items.row])  # in a part, values are never missed
    optional = np.append(gold.optional & ~required, none)
    state = np.where(shown, np.where(optional, GoldState.OPTIONAL, GoldState.REQUIRED), GoldState.NONE)
    said = np.where(np.append(right, none) & shown, AnswerState.RIGHT, AnswerState.WRONG)
    said = np.where((answer >= 0) & np.append(kept[1], False)[answer], said, AnswerState.NONE)
    factor, part = np.append(shape.factor, ~none), np.append(shape.child, none)
    own = TABLE[state, said]
    own = np.where(factor & (own >= 0), own, Outcome.IGNORED).astype(np.int32)  # neither side shown: nothing to judge
    outcome = own.copy()
    wrong = (own == Outcome.WRONG_LINK) | (own == Outcome.FP)
    outcome[part] = np.where(wrong[part], Outcome.FP, Outcome.PART)
    ended = own.tolist() if shape.split else []
    for root, below in shape.split.items():
        outcome[root] = _spoken_for({ended[low] for low in below})
    return Verdicts(
        np.append(items.document, given.document[found.free]),
        outcome,
        np.append(np.arange(len(items)), np.full(len(none), -1)),
        answer,
        items.row,
        given.row,
        tree=Tree(factor, part, own),
    )


def _spoken_for(parts: set[int]) -> int:
    """What a mention is worth that counts by its parts: missed if one of them is, found if all are right."""
    if not parts.isdisjoint((Outcome.FN, Outcome.WRONG_LINK)):
        return Outcome.FN
    return Outcome.TP if parts - {Outcome.IGNORED} == {Outcome.TP} else Outcome.IGNORED


class TreeShape(NamedTuple):
    """Which labels of the trees count.

    `required` marks optional roots that nobody answered and that have something below them which is not optional;
    `split` gives for each root that counts by its parts the places of those parts that count.
    """

    child: Bools
    factor: Bools
    required: Bools
    split: dict[int, list[int]]


def _shape(gold: Gold, trees: Trees, answered: Bools, same: Bools, said: Bools) -> TreeShape:
    rows = gold.items.row
    child: Bools = trees.child[rows]
    shape = TreeShape(child, ~child, np.zeros(len(rows), np.bool_), {})
    roots = [row for row in trees.children if not trees.child[row]]
    place = {row: i for i, row in enumerate(rows.tolist())} if roots else {}
    roots = [row for row in roots if row in place]
    walk = _Walk(trees, place, answered & said, same, gold.items)
    for row in roots:
        walk.visit(row)
    for row, counts in walk.factor.items():
        shape.factor[place[row]] = counts
    for row in roots:
        root, below = place[row], [place[low] for low in sorted(trees.below(row)) if low in place]
        if gold.optional[root] and not answered[root] and not gold.optional[below].all():
            shape.required[root] = True
        if not shape.factor[root]:
            shape.split[root] = [low for low in below if shape.factor[low]]
    return shape


class _Walk:
    """Which labels count, as ELEVANT walks down the trees."""

    def __init__(self, trees: Trees, place: dict[int, int], said: Bools, same: Bools, items: Items) -> None:
        self.factor: dict[int, bool] = {}
        self._trees, self._place, self._said, self._same, self._items = trees, place, said, same, items

    def visit(self, row: int, *, as_sibling: bool = False) -> bool:
        """Whether something at this label or below it counts; says so in `factor`, but for siblings."""
        place = self._place.get(row)
        if place is None:
            return False
        if self._said[place] and self._same[place]:
            return self._note(row, True, as_sibling)
        deeper = max([self.visit(low) for low in self._trees.children.get(row, ())], default=False)
        if not self._trees.child[row]:
            return self._note(row, not deeper, False)
        parent = int(self._trees.parent[row])
        counts = False
        if self._said[place] and not deeper:
            counts = not self._same_words(place, self._place[parent])
        elif not self._said[place] and not as_sibling and not deeper:
            others = [low for low in self._trees.children.get(parent, ()) if low != row]
            counts = any(self.visit(low, as_sibling=True) for low in others)
        return self._note(row, counts, as_sibling) or deeper

    def _note(self, row: int, counts: bool, as_sibling: bool) -> bool:
        if not as_sibling:
            self.factor[row] = counts
        return counts

    def _same_words(self, one: int, other: int) -> bool:
        start, end = self._items.words or (self._items.start, self._items.end)
        return bool(start[one] == start[other] and end[one] == end[other])
