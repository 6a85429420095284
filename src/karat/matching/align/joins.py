"""Finding the pairs that may match, by sorting and searching: no loop over mentions."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat.model.items import Items, Lists, Pairs
from karat.model.tables.columns import NO_LINK, Bools, Longs

_STEPS = 4


def overlapping(gold: Items, answers: Items) -> Pairs:
    """Pairs that share at least one code point.

    Either the gold begins within the answer, or the answer begins within the gold and after its start: each
    overlapping pair is found once, and the cost is that of what is found.
    """
    gold_start, answer_start = _place(gold, gold.start), _place(answers, answers.start)
    one = _within(gold_start, answer_start, _place(answers, answers.end))
    two = _within(answer_start, gold_start + 1, _place(gold, gold.end))
    return Pairs(np.concatenate([one.gold, two.answer]), np.concatenate([one.answer, two.gold]))


def same_span(gold: Items, answers: Items, pairs: Pairs) -> Bools:
    """Which pairs have equal start and end, as they are or (where spans are) widened to words."""
    left, right = [(gold.start, gold.end)], [(answers.start, answers.end)]
    if gold.words is not None and answers.words is not None:
        left, right = [*left, gold.words], [*right, answers.words]
    same = np.zeros(len(pairs.gold), np.bool_)
    for one, other in product(left, right):
        same |= (one[0][pairs.gold] == other[0][pairs.answer]) & (one[1][pairs.gold] == other[1][pairs.answer])
    return same


def same_entity_in_document(gold: Items, answers: Items) -> Pairs:
    """Pairs of one document that are linked alike, wherever they stand."""
    gold_ids, answer_ids = _ids(gold), _ids(answers)
    gold_owner, answer_owner = _owners(gold_ids), _owners(answer_ids)
    keys = _keys(gold.document[gold_owner], gold_ids.values)
    wanted = _keys(answers.document[answer_owner], answer_ids.values)
    found = _within(keys, wanted, wanted + 1)
    found = found.where(gold_ids.values[found.gold] != NO_LINK)
    pairs = np.unique(np.column_stack([gold_owner[found.gold], answer_owner[found.answer]]), axis=0)
    return Pairs(pairs[:, 0], pairs[:, 1])


def same_document(gold: Items, answers: Items) -> Pairs:
    """All pairs of one document."""
    document = gold.document.astype(np.int64)
    wanted = answers.document.astype(np.int64)
    return _within(document, wanted, wanted + 1)


def same_length(gold: Items, answers: Items, pairs: Pairs) -> Bools:
    """Which pairs are equally long."""
    same: Bools = (gold.end - gold.start)[pairs.gold] == (answers.end - answers.start)[pairs.answer]
    return same


def same_types(gold: Items, answers: Items, pairs: Pairs) -> Bools:
    """Which pairs share a type."""
    assert gold.types is not None
    assert answers.types is not None, "types are read where a relation compares them"
    return _share_an_id(gold.types.take(pairs.gold), answers.types.take(pairs.answer))


def same_entity(gold: Items, answers: Items, pairs: Pairs) -> Bools:
    """Which pairs are linked to the same entity, or both to NIL, or are the same kind of value where kinds count."""
    left, right = gold.entity[pairs.gold], answers.entity[pairs.answer]
    same: Bools = (left == right) & (left != NO_LINK)
    if gold.kind is not None and answers.kind is not None:
        same |= (gold.kind[pairs.gold] > 0) & (gold.kind[pairs.gold] == answers.kind[pairs.answer])
    if gold.same_as is not None or answers.same_as is not None:
        open_pairs = np.flatnonzero(~same & (left >= 0) & (right >= 0))
        same[open_pairs] = _share_an_id(
            _ids(gold).take(pairs.gold[open_pairs]), _ids(answers).take(pairs.answer[open_pairs])
        )
    return same


def among_first(first: int, gold: Items, answers: Items, pairs: Pairs) -> Bools:
    """Which pairs are linked to the same entity, by the answer or by one of so many links that it ranks first.

    The answer itself is the first of them; candidates that do not repeat it stand behind it.
    """
    same = same_entity(gold, answers, pairs)
    if first == 1 or answers.candidates is None:
        return same
    open_pairs = np.flatnonzero(~same & (gold.entity[pairs.gold] >= 0))
    rows = answers.row[pairs.answer[open_pairs]]
    ranked = answers.candidates.lists.take(rows)
    owner = _owners(ranked)
    place = np.arange(len(owner)) - ranked.offsets[owner]
    own = ranked.values == answers.entity[pairs.answer[open_pairs]][owner]
    repeated = np.bincount(owner[own], minlength=len(rows)) > 0
    inside = place + np.where(repeated[owner], 0, 1) < first
    hit = inside & (ranked.values == gold.entity[pairs.gold[open_pairs]][owner])
    same[open_pairs] = np.bincount(owner[hit], minlength=len(rows)) > 0
    return same


def _place(items: Items, offset: NDArray[Any]) -> Longs:
    places: Longs = (items.document.astype(np.int64) << 32) + offset
    return places


def _keys(document: NDArray[Any], code: NDArray[Any]) -> Longs:
    return (document.astype(np.int64) << 32) + (code.astype(np.int64) - NO_LINK)


def _ids(items: Items) -> Lists:
    """All ids of each item, the main one first."""
    count = len(items)
    if items.same_as is None:
        return Lists(np.arange(count + 1), items.entity)
    more = np.diff(items.same_as.offsets)
    offsets = np.concatenate([[0], np.cumsum(more + 1)])
    values = np.empty(offsets[-1], items.entity.dtype)
    first = np.zeros(offsets[-1], np.bool_)
    first[offsets[:-1]] = True
    values[first] = items.entity
    values[~first] = items.same_as.values
    return Lists(offsets, values)


def _owners(lists: Lists) -> Longs:
    return np.repeat(np.arange(len(lists.offsets) - 1), np.diff(lists.offsets))


def _share_an_id(left: Lists, right: Lists) -> Bools:
    """Whether the i-th lists have a value in common, for each i."""
    shared = np.zeros(len(left.offsets) - 1, np.bool_)
    found = np.isin(_keys(_owners(left), left.values), _keys(_owners(right), right.values))
    shared[_owners(left)[found]] = True
    return shared


def _within(keys: Longs, low: Longs, high: Longs) -> Pairs:
    """Pairs (i, j) with low[j] <= keys[i] < high[j]."""
    order = None
    if np.any(keys[1:] < keys[:-1]):
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
    keys = np.append(keys, np.iinfo(np.int64).max)
    place, owner = np.searchsorted(keys, low), np.arange(len(low))
    places, owners = [], []
    # Nearly every item meets none or one: stepping on is cheaper than a second search, until only few go on.
    for _ in range(_STEPS):
        hit = keys[place] < high
        place, owner, high = place[hit], owner[hit], high[hit]
        places.append(place)
        owners.append(owner)
        place = place + 1
        if not len(owner):
            break
    count = np.maximum(np.searchsorted(keys, high) - place, 0)
    owners.append(np.repeat(owner, count))
    places.append(np.arange(len(owners[-1])) + np.repeat(place - (np.cumsum(count) - count), count))
    found = np.concatenate(places)
    return Pairs(found if order is None else order[found], np.concatenate(owners))
