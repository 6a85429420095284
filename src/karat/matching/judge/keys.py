"""Annotations compared by keys, as neleval does: sets of keys, shares of characters, clusters of mentions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from karat.matching.align.joins import overlapping
from karat.model.clusters import Clusters, clusters
from karat.model.items import Answers, Gold, Items, Pairs
from karat.model.tables.columns import NIL, Bools, Floats, Ints, Longs
from karat.model.verdict import Outcome, Verdicts
from karat.spec.key import Key

_PLACE = ("docid", "start", "end", "span")


def key_verdicts(gold: Gold, answers: Answers, key: Key) -> Verdicts:
    """What becomes of every distinct key, or for overlaps of every annotation."""
    left, right = kept(gold.items, key.conditions), kept(answers.items, key.conditions)
    assert not key.reaches_across, "what reaches across documents cannot be judged one annotation at a time"
    return (_sets if key.aggregator == "sets" else _shares)(left, right, key)


def key_sums(gold: Items, answers: Items, fields: tuple[str, ...]) -> tuple[float, float, float, float]:
    """The four sums of sets of keys over all documents at once."""
    left, right = map(np.unique, _codes(gold, answers, fields))
    both = len(np.intersect1d(left, right, assume_unique=True))
    return float(both), float(len(right) - both), float(both), float(len(left) - both)


def key_clusters(gold: Items, answers: Items, fields: tuple[str, ...]) -> Clusters:
    """The clusters of both sides; the fields say when two mentions are the same."""
    left, right = _codes(gold, answers, fields)
    assert gold.cluster is not None
    assert answers.cluster is not None, "clusters are read where a view asks for them"
    return clusters(left, gold.cluster.astype(np.int64), right, answers.cluster.astype(np.int64))


def kept(items: Items, conditions: tuple[str, ...]) -> Items:
    """The items that meet all conditions."""
    for condition in conditions:
        items = items.take(_CONDITIONS[condition](items))
    return items


def _is_first(items: Items) -> Bools:
    """Which items are the first of their document with their entity."""
    assert items.cluster is not None, "clusters are read where a view asks for them"
    order = np.lexsort((items.end, items.start))
    key = ((items.document.astype(np.int64) << 32) | items.cluster)[order]
    first = np.zeros(len(items), np.bool_)
    first[order[np.unique(key, return_index=True)[1]]] = True
    return first


_CONDITIONS: dict[str, Callable[[Items], Bools]] = {
    "is_linked": lambda items: items.entity >= 0,
    "is_nil": lambda items: items.entity == NIL,
    "is_first": _is_first,
}


def _columns(items: Items, field: str) -> list[NDArray[Any]]:
    if field == "span":
        return [items.document, items.start, items.end]
    if field == "type":
        assert items.types is not None, "types are read where a view asks for them"
        first = np.full(len(items), -1, np.int32)
        given = np.diff(items.types.offsets) > 0
        first[given] = items.types.values[items.types.offsets[:-1][given]]
        return [first]
    if field == "eid":
        assert items.cluster is not None, "clusters are read where a view asks for them"
        return [items.cluster]
    simple = {"docid": items.document, "start": items.start, "end": items.end}
    return [np.where(items.entity < 0, np.int32(NIL), items.entity) if field == "kbid" else simple[field]]


def _codes(gold: Items, answers: Items, fields: tuple[str, ...]) -> tuple[Longs, Longs]:
    """A number for every key, the same for the same key on both sides."""
    code = np.zeros(len(gold) + len(answers), np.int64)
    for field in fields:
        for left, right in zip(_columns(gold, field), _columns(answers, field), strict=True):
            values = np.concatenate([left, right]).astype(np.int64)
            code = np.unique(code * (int(values.max(initial=0)) + 3) + values + 2, return_inverse=True)[1]
    return code[: len(gold)], code[len(gold) :]


def _sets(gold: Items, answers: Items, key: Key) -> Verdicts:
    left, right = _codes(gold, answers, key.fields)
    gold_keys, label = np.unique(left, return_index=True)
    answer_keys, answer = np.unique(right, return_index=True)
    _, in_gold, in_answers = np.intersect1d(gold_keys, answer_keys, assume_unique=True, return_indices=True)
    missing, spare = np.delete(label, in_gold), np.delete(answer, in_answers)
    wrong = Pairs(missing[:0], spare[:0])
    if key.places is not None:
        wrong = _on_one_place(gold, answers, missing, spare, key.places)
        missing, spare = np.setdiff1d(missing, wrong.gold), np.setdiff1d(spare, wrong.answer)
    label_place = np.concatenate([label[in_gold], wrong.gold, missing, np.full(len(spare), -1)])
    answer_place = np.concatenate([answer[in_answers], wrong.answer, np.full(len(missing), -1), spare])
    ends = {Outcome.TP: in_gold, Outcome.WRONG_LINK: wrong.gold, Outcome.FN: missing, Outcome.FP: spare}
    outcome = np.repeat(list(ends), list(map(len, ends.values())))
    return _verdicts(gold, answers, label_place, answer_place, outcome, None)


def _on_one_place(gold: Items, answers: Items, missing: Longs, spare: Longs, places: Key) -> Pairs:
    """Which missing annotations stand where a spare one does: a wrong link is one case, not two.

    Where several do, the first by their ids, so that the order of files does not matter.
    """
    left, right = _codes(gold.take(missing), answers.take(spare), places.fields)
    names = np.unique(np.array([*_ids(gold, missing), *_ids(answers, spare)], np.str_), return_inverse=True)[1]
    one, two = _numbered(left, names[: len(missing)]), _numbered(right, names[len(missing) :])
    _, of_gold, of_answers = np.intersect1d(one, two, assume_unique=True, return_indices=True)
    return Pairs(missing[of_gold], spare[of_answers])


def _ids(items: Items, places: Longs) -> list[str]:
    """The ids of some items; NIL and no link have none."""
    codes = items.entity[places]
    return [id or "" for id in items.names.take(pa.array(codes, mask=codes < 0)).to_pylist()]


def _numbered(code: Longs, rank: Longs) -> Longs:
    """Each code with how many of the same there are before, by rank: no two are alike."""
    order = np.lexsort((rank, code))
    _, first, counts = np.unique(code[order], return_index=True, return_counts=True)
    number = np.empty(len(code), np.int64)
    number[order] = np.arange(len(code)) - np.repeat(first, counts)
    return (code << 32) | number


def _shares(gold: Items, answers: Items, key: Key) -> Verdicts:
    """For every annotation the share of its characters that the other side covers with an equal key."""
    pairs = overlapping(gold, answers)
    left, right = _codes(gold, answers, tuple(field for field in key.fields if field not in _PLACE))
    pairs = pairs.where(left[pairs.gold] == right[pairs.answer])
    recall, precision = key.aggregator.removeprefix("overlap-")[:3], key.aggregator[-3:]
    of_gold = _share(gold, answers, pairs, longest=recall == "max")
    of_answers = _share(answers, gold, Pairs(pairs.answer, pairs.gold), longest=precision == "max")
    none_gold, none_answer = np.full(len(answers), -1), np.full(len(gold), -1)
    share = np.concatenate([of_gold, of_answers])
    outcome = np.repeat([Outcome.MATCHED_GOLD, Outcome.MATCHED_ANSWER], [len(gold), len(answers)])
    return _verdicts(
        gold,
        answers,
        np.concatenate([np.arange(len(gold)), none_gold]),
        np.concatenate([none_answer, np.arange(len(answers))]),
        outcome,
        np.column_stack([share, share]),
    )


def _share(own: Items, other: Items, pairs: Pairs, *, longest: bool) -> Floats:
    """How much of each own item is covered: by the best of the others, or by all of them together."""
    start = np.maximum(own.start[pairs.gold], other.start[pairs.answer]).astype(np.int64)
    end = np.minimum(own.end[pairs.gold], other.end[pairs.answer]).astype(np.int64)
    covered = np.zeros(len(own), np.int64)
    if longest:
        np.maximum.at(covered, pairs.gold, end - start)
    else:
        order = np.lexsort((start, pairs.gold))
        owner, start, end = pairs.gold[order], start[order], end[order]
        # Ends so far, kept apart for each owner by a stride no offset reaches.
        reach = np.maximum.accumulate((owner << 32) + end) - (owner << 32) if len(owner) else end
        before = np.concatenate([[0], reach[:-1]])
        before[1:][owner[1:] != owner[:-1]] = 0
        np.add.at(covered, owner, np.maximum(end - np.maximum(start, before), 0))
    length = np.maximum(own.end - own.start, 1)
    shares: Floats = covered / length
    return shares


def _verdicts(
    gold: Items, answers: Items, label: Longs, answer: Longs, outcome: Longs, credit: Floats | None
) -> Verdicts:
    of_gold = np.append(gold.document, -1)[label]
    document: Ints = np.where(label >= 0, of_gold, np.append(answers.document, -1)[answer])
    return Verdicts(document, outcome.astype(np.int32), label, answer, gold.row, answers.row, credit)
