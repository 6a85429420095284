"""Annotations compared by keys, as neleval does: sets of keys, shares of characters, clusters of mentions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
from msgspec.structs import replace
from numpy.typing import NDArray

from karat.matching.align.joins import overlapping
from karat.model.clusters import Held, Members
from karat.model.items import Answers, Gold, Items, Pairs
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import NIL, Bools, Floats, Ints, Longs
from karat.model.verdict import Outcome, Verdicts
from karat.spec.key import Key

_PLACE = ("docid", "start", "end", "span")


def key_verdicts(gold: Gold, answers: Answers, key: Key) -> Verdicts:
    """What becomes of every distinct key, or for overlaps of every annotation."""
    left, right = kept(gold.items, key.conditions), kept(answers.items, key.conditions)
    assert not key.reaches_across, "what reaches across documents cannot be judged one annotation at a time"
    return (_sets if key.aggregator == "sets" else _shares)(left, right, key)


class Coded(NamedTuple):
    """Codes, and what they are called in any block; negative ones, and those without names, mean themselves."""

    code: Longs
    names: Arrow | None = None


class KeyNames(NamedTuple):
    """What the codes of entities, of clusters and of types are called in any block.

    The codes of entities are the first of those of clusters.
    """

    clusters: Arrow
    types: Arrow


class KeyReach(msgspec.Struct, frozen=True):
    """What a block has for a view that reaches across documents.

    `clusters` are the names of those in `held`, null for what no other block has, and None where there is no other.
    `mentions` say when mentions of different blocks are the same: never, where there are none.
    """

    held: Held
    clusters: Arrow | None = None
    mentions: tuple[Coded, ...] = ()

    def __len__(self) -> int:
        return len(self.held.gold.mention) + len(self.held.answers.mention)


def reach(gold: Items, answers: Items, key: Key, names: KeyNames | None, *, by_document: bool) -> KeyReach:
    """The mentions of both sides, as the fields of the key tell them apart, and the clusters they are in.

    Those in the same clusters are one, unless they may also be in other blocks, or have to be told by document.
    """
    left, right = _codes(gold, answers, key.fields)
    used, cluster = np.unique(np.concatenate([_clusters(gold, key), _clusters(answers, key)]), return_inverse=True)
    places = (gold.document, answers.document) if by_document else (None, None)
    held = Held(Members(left, cluster[: len(gold)], places[0]), Members(right, cluster[len(gold) :], places[1]))
    if names is None:
        return KeyReach(held)
    called = _called(used, names.clusters) if key.clustering is not None else pa.array([""] * len(used), pa.string())
    if not key.within_documents:
        return KeyReach(held, called, tuple(_mentions(gold, answers, key.fields, np.concatenate([left, right]), names)))
    return KeyReach(held if by_document else held.alike(), called)


def _clusters(items: Items, key: Key) -> Longs:
    if key.clustering is None:
        return np.zeros(len(items), np.int64)
    assert items.cluster is not None, "clusters are read where a view asks for them"
    return items.cluster.astype(np.int64)


def _called(codes: Longs, names: Arrow) -> Arrow:
    return names.take(pa.array(codes, mask=codes >= len(names)))


def _mentions(gold: Items, answers: Items, fields: tuple[str, ...], mention: Longs, names: KeyNames) -> Iterator[Coded]:
    """The fields of each mention."""
    _, example = np.unique(mention, return_index=True)
    for field in fields:
        for left, right in zip(_columns(gold, field), _columns(answers, field), strict=True):
            code = np.concatenate([left, right]).astype(np.int64)[example]
            yield _coded(code, {"type": names.types, "kbid": names.clusters, "eid": names.clusters}.get(field))


def _coded(code: Longs, names: Arrow | None) -> Coded:
    """Codes with no names but their own."""
    if names is None:
        return Coded(code)
    used, place = np.unique(code, return_inverse=True)
    low = int(np.searchsorted(used, 0))
    return Coded(np.where(code < 0, code, place - low), _called(used[low:], names))


def put_together(blocks: Sequence[tuple[KeyReach, Longs]]) -> KeyReach:
    """What all blocks have, each given with the places of its documents among all of them."""
    if len(blocks) == 1:
        return blocks[0][0]
    called: list[Arrow] = [block.clusters for block, _ in blocks]
    clusters, names = _common([Coded(np.arange(len(own)), own) for own in called])
    sizes = [_size(block.held) for block, _ in blocks]
    fields = [_common(parts) for parts in zip(*(block.mentions for block, _ in blocks), strict=True)]
    code, same = np.arange(sum(sizes)), tuple[Coded, ...]()
    if fields:
        columns = [np.concatenate(codes) for codes, _ in fields]
        code = _numbered(columns, sum(sizes))
        _, example = np.unique(code, return_index=True)
        same = tuple(Coded(column[example], own) for column, (_, own) in zip(columns, fields, strict=True))
    mentions = np.split(code, np.cumsum(sizes)[:-1])
    sides = [
        _joined([(getattr(block.held, side), place) for block, place in blocks], mentions, clusters)
        for side in ("gold", "answers")
    ]
    counted = [block.held.times for block, _ in blocks if block.held.times is not None]
    held = Held(sides[0], sides[1], np.concatenate(counted) if counted else None)
    if held.gold.document is None:
        held = held.once() if fields else held.alike()
    return KeyReach(held, names, same)


def _size(held: Held) -> int:
    if held.times is not None:
        return len(held.times)
    return int(max(held.gold.mention.max(initial=-1), held.answers.mention.max(initial=-1))) + 1


def _joined(parts: Sequence[tuple[Members, Longs]], mentions: Sequence[Longs], clusters: Sequence[Longs]) -> Members:
    """One side of all blocks, in codes of the whole."""
    every = list(zip(parts, mentions, clusters, strict=True))
    documents = [place[own.document] for own, place in parts if own.document is not None]
    return Members(
        np.concatenate([mention[own.mention] for (own, _), mention, _ in every]),
        np.concatenate([cluster[own.cluster] for (own, _), _, cluster in every]),
        np.concatenate(documents) if documents else None,
    )


def _common(parts: Sequence[Coded]) -> tuple[list[Longs], Arrow | None]:
    """Codes that mean the same in all blocks, and their names; what has no name is like nothing else."""
    if parts[0].names is None:
        return [part.code for part in parts], None
    called: list[Arrow] = [part.names for part in parts]
    named = pa.chunked_array(called, pa.string()).combine_chunks().dictionary_encode()
    codes = named.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    alone = codes < 0
    codes[alone] = len(named.dictionary) + np.arange(int(alone.sum()))
    names = pa.concat_arrays([named.dictionary, pa.nulls(int(alone.sum()), pa.string())])
    each = zip(parts, np.split(codes, np.cumsum([len(own) for own in called])[:-1]), strict=True)
    return [np.where(part.code < 0, part.code, np.append(own, -1)[part.code]) for part, own in each], names


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
    pairs = (zip(_columns(gold, field), _columns(answers, field), strict=True) for field in fields)
    columns = (np.concatenate(pair).astype(np.int64) for found in pairs for pair in found)
    code = _numbered(columns, len(gold) + len(answers))
    return code[: len(gold)], code[len(gold) :]


def _numbered(columns: Iterable[Longs], rows: int) -> Longs:
    """A number for every row, from 0, the same for rows that are the same in all columns; values are -2 or more."""
    code = np.zeros(rows, np.int64)
    for values in columns:
        code = np.unique(code * (int(values.max(initial=0)) + 3) + values + 2, return_inverse=True)[1]
    return code


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
    one, two = _told_apart(left, names[: len(missing)]), _told_apart(right, names[len(missing) :])
    _, of_gold, of_answers = np.intersect1d(one, two, assume_unique=True, return_indices=True)
    return Pairs(missing[of_gold], spare[of_answers])


def _ids(items: Items, places: Longs) -> list[str]:
    """The ids of some items; NIL and no link have none."""
    codes = items.entity[places]
    return [id or "" for id in items.names.take(pa.array(codes, mask=codes < 0)).to_pylist()]


def _told_apart(code: Longs, rank: Longs) -> Longs:
    """Each code with how many of the same there are before, by rank: no two are alike."""
    order = np.lexsort((rank, code))
    _, first, counts = np.unique(code[order], return_index=True, return_counts=True)
    number = np.empty(len(code), np.int64)
    number[order] = np.arange(len(code)) - np.repeat(first, counts)
    return (code << 32) | number


def _shares(gold: Items, answers: Items, key: Key) -> Verdicts:
    """For every annotation the share of its characters that the other side covers with an equal key."""
    left, right = _codes(gold, answers, ("docid", *(field for field in key.fields if field not in _PLACE)))
    # Only equal keys of one document meet if each is a document of its own.
    sides = replace(gold, document=left.astype(np.int32)), replace(answers, document=right.astype(np.int32))
    recall, precision = key.aggregator.removeprefix("overlap-")[:3], key.aggregator[-3:]
    of_gold = _share(*sides, longest=recall == "max")
    of_answers = _share(*reversed(sides), longest=precision == "max")
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


def _share(own: Items, other: Items, *, longest: bool) -> Floats:
    """How much of each own item is covered: by the best of the others, or by all of them together."""
    covered = np.zeros(len(own), np.int64)
    for pairs in overlapping.parts(own, other):
        covered += _covered(own, other, pairs, longest=longest)
    length = np.maximum(own.end - own.start, 1)
    shares: Floats = covered / length
    return shares


def _covered(own: Items, other: Items, pairs: Pairs, *, longest: bool) -> Longs:
    """How many characters are covered, given all pairs of the items in question."""
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
    return covered


def _verdicts(
    gold: Items, answers: Items, label: Longs, answer: Longs, outcome: Longs, credit: Floats | None
) -> Verdicts:
    of_gold = np.append(gold.document, -1)[label]
    document: Ints = np.where(label >= 0, of_gold, np.append(answers.document, -1)[answer])
    return Verdicts(document, outcome.astype(np.int32), label, answer, gold.row, answers.row, credit)
