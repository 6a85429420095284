"""Joins that find pairs of labels and predictions by sorting and searching, without a loop over mentions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from karat.model.errors import InputError
from karat.model.items import CodeLists, Items, Pairs
from karat.model.limits import get_limit, limit_error
from karat.model.tables.columns import NO_LINK, Bools, Ints, Longs

_N_STEPS = 4


class KeyRange(NamedTuple):
    """Pairs of a label and a prediction in which the key of one side is in a range of the other side.

    A key is a number that sorts items by document and offset (or id). All pairs of items are found by searching the
    ranges in the sorted keys.
    """

    keys: Longs
    """Keys of the labels, or of the predictions if `is_reversed`."""
    low: Longs
    """Lower bounds of the ranges, inclusive."""
    high: Longs
    """Upper bounds of the ranges, exclusive."""
    is_reversed: bool = False
    """Whether keys belong to predictions and ranges to labels."""
    key_rows: Longs | None = None
    """Item of each key; None if key i belongs to item i."""
    range_rows: Longs | None = None
    """Item of each range; None if range i belongs to item i."""

    def count_pairs(self) -> Longs:
        """Return the number of keys in each range, without making the pairs."""
        keys = np.sort(self.keys)
        counts: Longs = np.maximum(np.searchsorted(keys, self.high) - np.searchsorted(keys, self.low), 0)
        return counts

    def documents(self, gold: Items, predictions: Items) -> Ints:
        """Return the document of each range, that is, of the item that the range belongs to."""
        document = gold.document if self.is_reversed else predictions.document
        return document if self.range_rows is None else document[self.range_rows]

    def find_pairs(self, check: Callable[[Longs, Longs], None]) -> Pairs:
        """Return all pairs of a label and a prediction whose key is in the other's range.

        Before many pairs are made, `check` is called with the indices of some ranges and the number of further pairs of
        each; it may raise.
        """
        key, range_row = _find_in_ranges(self.keys, self.low, self.high, check)
        key = key if self.key_rows is None else self.key_rows[key]
        range_row = range_row if self.range_rows is None else self.range_rows[range_row]
        return Pairs(range_row, key) if self.is_reversed else Pairs(key, range_row)


class _TooManyPairsError(Exception):
    """More pairs than are held at once."""


class Join(msgspec.Struct, frozen=True):
    """A function that finds pairs of labels and predictions by key ranges, at a cost proportional to the result."""

    ranges: Callable[[Items, Items], Sequence[KeyRange]]
    """Function that returns the key ranges of the pairs."""
    can_repeat: Callable[[Items, Items], bool] = lambda gold, predictions: False
    """Function that returns whether the ranges can find a pair several times."""
    mask: Callable[[Items, Items, Pairs], Bools] | None = None
    """Function that returns the mask of valid pairs; None if all pairs are valid."""

    def __call__(self, gold: Items, predictions: Items) -> Pairs:
        """Return all pairs, each once; raise `InputError` before making more pairs in one document than the limit."""
        ranges = self.ranges(gold, predictions)

        def check(range_: KeyRange, rows: Longs, counts: Longs) -> None:
            if int(counts.sum()) > get_limit("pairs"):
                per_document = np.bincount(range_.documents(gold, predictions)[rows], counts)
                worst = int(per_document.argmax())
                if per_document[worst] > get_limit("pairs"):
                    raise crowded_error(worst, int(per_document[worst]))

        return self._merge_pairs(gold, predictions, [range_.find_pairs(partial(check, range_)) for range_ in ranges])

    def find_few(self, gold: Items, predictions: Items) -> Pairs | None:
        """Return all pairs, each once, or None if there are more than the limit in all documents together."""

        def check(_: Longs, counts: Longs) -> None:
            if int(counts.sum()) > get_limit("pairs"):
                raise _TooManyPairsError

        try:
            parts = [range_.find_pairs(check) for range_ in self.ranges(gold, predictions)]
        except _TooManyPairsError:
            return None
        pairs = self._merge_pairs(gold, predictions, parts)
        return pairs if len(pairs.gold) <= get_limit("pairs") else None

    def _merge_pairs(self, gold: Items, predictions: Items, parts: list[Pairs]) -> Pairs:
        """Join the pairs of all ranges, and remove pairs that several ranges found or that `mask` rejects."""
        pairs = parts[0] if len(parts) == 1 else Pairs(*map(np.concatenate, zip(*parts, strict=True)))
        if len(pairs.gold) and self.can_repeat(gold, predictions):
            pairs = Pairs(*np.divmod(np.unique(pairs.gold * len(predictions) + pairs.prediction), len(predictions)))
        return pairs if self.mask is None else pairs.select(self.mask(gold, predictions, pairs))

    def count_pairs(self, gold: Items, predictions: Items) -> Longs:
        """Return an upper bound of the number of pairs in each document, without making them.

        Pairs that several ranges find or that `mask` would reject are included.
        """
        counts = np.zeros(1 + int(max(gold.document.max(initial=-1), predictions.document.max(initial=-1))), np.int64)
        for range_ in self.ranges(gold, predictions):
            np.add.at(counts, range_.documents(gold, predictions), range_.count_pairs())
        return counts

    def find_in_parts(self, gold: Items, predictions: Items) -> Iterator[Pairs]:
        """Yield all pairs, each once, in parts that are never larger than the limit `pairs`."""
        if len(gold) * len(predictions) <= get_limit("pairs"):
            yield self(gold, predictions)
            return
        counts = self.count_pairs(gold, predictions)
        for label_rows, prediction_rows in divide_documents(gold, predictions, counts):
            some_predictions, step = predictions.take(prediction_rows), len(label_rows) or 1
            if counts[gold.document[label_rows]].max(initial=0) > get_limit("pairs"):
                step = max(1, get_limit("pairs") // len(prediction_rows))
            for part in np.split(label_rows, range(step, len(label_rows), step)):
                pairs = self(gold.take(part), some_predictions)
                yield Pairs(part[pairs.gold], prediction_rows[pairs.prediction])


def divide_documents(gold: Items, predictions: Items, n_pairs: Longs) -> list[tuple[Longs, Longs]]:
    """Divide documents into groups and return the indices of the labels and predictions of each group.

    A group has no more pairs than the limit `pairs`, or is a single document. `n_pairs` is the number of pairs of each
    document.
    """
    group, total = [0], 0
    for count in n_pairs.tolist():
        total += count
        group.append(group[-1] + (total > get_limit("pairs") and total > count))
        total = total if group[-1] == group[-2] else count
    group_of_document = np.array(group[1:])
    sides = [group_of_document[items.document] for items in (gold, predictions)]
    orders = [np.argsort(side, kind="stable") for side in sides]
    cuts = [
        np.searchsorted(side[order], np.arange(1, group[-1] + 1)) for side, order in zip(sides, orders, strict=True)
    ]
    return list(zip(*(np.split(order, cut) for order, cut in zip(orders, cuts, strict=True)), strict=True))


def _overlap_ranges(gold: Items, predictions: Items) -> Sequence[KeyRange]:
    """Return the key ranges (see `KeyRange`) that find all overlapping items of the same document."""
    return _span_overlap_ranges(
        (gold.document, gold.start, gold.end), (predictions.document, predictions.start, predictions.end)
    )


def _span_overlap_ranges(
    gold: tuple[NDArray[Any], Ints, Ints],
    predictions: tuple[NDArray[Any], Ints, Ints],
    gold_rows: Longs | None = None,
    prediction_rows: Longs | None = None,
) -> Sequence[KeyRange]:
    """Return two key ranges that together find every overlapping pair of a label and a prediction once.

    The first finds labels that start inside a prediction, the second predictions that start later inside a label; see
    `KeyRange`. `gold` and `predictions` are arrays with one entry per span: document (or group), start and end.
    `gold_rows` and `prediction_rows`: the item of each entry; None if entry i is item i.
    """
    gold_start, gold_end = _location_keys(gold[0], gold[1]), _location_keys(gold[0], gold[2])
    prediction_start, prediction_end = (
        _location_keys(predictions[0], predictions[1]),
        _location_keys(predictions[0], predictions[2]),
    )
    return (
        KeyRange(gold_start, prediction_start, prediction_end, False, gold_rows, prediction_rows),
        KeyRange(prediction_start, gold_start + 1, gold_end, True, prediction_rows, gold_rows),
    )


def _linked_overlap_ranges(gold: Items, predictions: Items) -> Sequence[KeyRange]:
    """Return the key ranges that find overlapping items of a document with the same id or the same kind of value.

    Kinds of values are quantities and datetimes; they count only if both sides have kinds.
    """
    ranges = list(_grouped_overlap_ranges(gold, predictions, _collect_link_ids))
    if gold.kind is not None and predictions.kind is not None:
        ranges += _grouped_overlap_ranges(gold, predictions, _collect_kinds)
    return ranges


def _grouped_overlap_ranges(
    gold: Items, predictions: Items, codes: Callable[[Items], tuple[Longs, NDArray[Any]]]
) -> Sequence[KeyRange]:
    """Return the key ranges that find overlapping items that share a document and a code, such as an entity code.

    `codes`: function that returns, for the items of a side, two arrays with one entry per code of an item: the index of
    the item, and the code.
    """
    (gold_rows, gold_code), (prediction_rows, prediction_code) = codes(gold), codes(predictions)
    keys = [
        _code_keys(gold.document[gold_rows], gold_code),
        _code_keys(predictions.document[prediction_rows], prediction_code),
    ]
    group = np.unique(np.concatenate(keys), return_inverse=True)[1]
    return _span_overlap_ranges(
        (group[: len(gold_rows)], gold.start[gold_rows], gold.end[gold_rows]),
        (group[len(gold_rows) :], predictions.start[prediction_rows], predictions.end[prediction_rows]),
        gold_rows,
        prediction_rows,
    )


def _collect_link_ids(items: Items) -> tuple[Longs, NDArray[Any]]:
    """Return two arrays with one entry per id of a linked item: the index of the item, and the code of the id.

    Ids besides the main one count only for items with an entity.
    """
    ids = _collect_ids(items)
    owner = _list_owners(ids)
    is_main = np.zeros(len(owner), np.bool_)
    is_main[ids.offsets[:-1]] = True
    mask = (items.entity[owner] >= 0) | (is_main & (items.entity[owner] != NO_LINK))
    return owner[mask], ids.values[mask]


def _collect_kinds(items: Items) -> tuple[Longs, NDArray[Any]]:
    """Return the indices of the items that are quantities or datetimes, and their kinds."""
    assert items.kind is not None
    owner = np.flatnonzero(items.kind > 0)
    return owner, items.kind[owner]


def _equal_span_ranges(gold: Items, predictions: Items) -> Sequence[KeyRange]:
    """Return the key ranges that find items with equal spans, as annotated or expanded to words."""
    gold_spans, prediction_spans = _get_spans(gold, predictions), _get_spans(predictions, gold)
    keys = _encode_spans(
        [(gold.document, *span) for span in gold_spans] + [(predictions.document, *span) for span in prediction_spans]
    )
    return [
        KeyRange(gold_key, prediction_key, prediction_key + 1)
        for gold_key, prediction_key in product(keys[: len(gold_spans)], keys[len(gold_spans) :])
    ]


def _encode_spans(spans: Sequence[tuple[Ints, Ints, Ints]]) -> list[Longs]:
    """Return an array of numbers for each entry of `spans`; two numbers are equal exactly if their spans are.

    An entry of `spans` has three arrays: document, start and end of each span. Numbers are comparable between entries.
    """
    size = 1 + max(int(end.max(initial=0)) for _, _, end in spans)
    first = min(int(document.min(initial=0)) for document, _, _ in spans)
    last = max(int(document.max(initial=0)) for document, _, _ in spans)
    if (last - first + 1) * size**2 < 1 << 62:
        return [((document - first).astype(np.int64) * size + start) * size + end for document, start, end in spans]
    starts = np.unique(
        np.concatenate([_location_keys(document, start) for document, start, _ in spans]), return_inverse=True
    )[1]
    cuts = np.cumsum([len(start) for _, start, _ in spans])[:-1]
    return [_location_keys(part, end) for part, (_, _, end) in zip(np.split(starts, cuts), spans, strict=True)]


def _get_spans(items: Items, others: Items) -> list[tuple[Ints, Ints]]:
    """Return starts and ends of `items`, and again expanded to words if both sides have expanded spans."""
    spans = [(items.start, items.end)]
    return spans if items.word_spans is None or others.word_spans is None else [*spans, items.word_spans]


def _same_id_ranges(gold: Items, predictions: Items) -> Sequence[KeyRange]:
    """Return the key range that finds items in one document that share an id, including NIL."""
    gold_ids, prediction_ids = _collect_ids(gold), _collect_ids(predictions)
    gold_owner, prediction_owner = _list_owners(gold_ids), _list_owners(prediction_ids)
    is_linked = gold_ids.values != NO_LINK
    keys = _code_keys(gold.document[gold_owner], gold_ids.values)[is_linked]
    queries = _code_keys(predictions.document[prediction_owner], prediction_ids.values)
    return (KeyRange(keys, queries, queries + 1, False, gold_owner[is_linked], prediction_owner),)


def _equal_length_ranges(gold: Items, predictions: Items) -> Sequence[KeyRange]:
    """Return the key range that finds items in one document with equal lengths."""
    keys, queries = (
        _location_keys(gold.document, gold.end - gold.start),
        _location_keys(predictions.document, predictions.end - predictions.start),
    )
    return (KeyRange(keys, queries, queries + 1),)


def _mask_overlapping(gold: Items, predictions: Items, pairs: Pairs) -> Bools:
    """Return the mask of overlapping pairs; disjoint spans can expand to the same words."""
    start = np.maximum(gold.start[pairs.gold], predictions.start[pairs.prediction])
    return np.minimum(gold.end[pairs.gold], predictions.end[pairs.prediction]) > start


def _has_further_ids(gold: Items, predictions: Items) -> bool:
    """Return whether any item of either side may have ids besides its main one."""
    return gold.same_as is not None or predictions.same_as is not None


find_overlaps: Final = Join(_overlap_ranges)
"""Join of pairs that share at least one code point."""

find_linked_overlaps: Final = Join(
    _linked_overlap_ranges, lambda gold, predictions: _has_further_ids(gold, predictions) or gold.kind is not None
)
"""Join of overlapping pairs that `same_entity` accepts, without a look at other pairs."""

find_same_spans: Final = Join(
    _equal_span_ranges, lambda gold, predictions: gold.word_spans is not None, _mask_overlapping
)
"""Join of overlapping pairs that `same_span` accepts, without a look at other pairs."""

find_same_entities: Final = Join(_same_id_ranges, _has_further_ids)
"""Join of pairs in one document with the same entity, at any offset."""

find_same_lengths: Final = Join(_equal_length_ranges)
"""Join of pairs in one document with the same length, at any offset."""


def same_span(gold: Items, predictions: Items, pairs: Pairs) -> Bools:
    """Return the mask of pairs with equal start and end, as annotated or expanded to words if items have such spans."""
    mask = np.zeros(len(pairs.gold), np.bool_)
    for gold_span, prediction_span in product(_get_spans(gold, predictions), _get_spans(predictions, gold)):
        mask |= (gold_span[0][pairs.gold] == prediction_span[0][pairs.prediction]) & (
            gold_span[1][pairs.gold] == prediction_span[1][pairs.prediction]
        )
    return mask


def same_words(gold: Items, predictions: Items, pairs: Pairs) -> Bools:
    """Return the mask of pairs whose prediction has the words of the text in its file."""
    if predictions.has_other_words is None:
        return np.ones(len(pairs.gold), np.bool_)
    mask: Bools = ~predictions.has_other_words[pairs.prediction]
    return mask


def same_types(gold: Items, predictions: Items, pairs: Pairs) -> Bools:
    """Return the mask of pairs that share a type."""
    assert gold.types is not None
    assert predictions.types is not None, "types are read if a relation compares them"
    return _has_common_value(gold.types.take(pairs.gold), predictions.types.take(pairs.prediction))


def same_entity(gold: Items, predictions: Items, pairs: Pairs) -> Bools:
    """Return the mask of pairs with the same entity, NIL on both sides, or the same kind of value if kinds count."""
    gold_entity, prediction_entity = gold.entity[pairs.gold], predictions.entity[pairs.prediction]
    mask: Bools = (gold_entity == prediction_entity) & (gold_entity != NO_LINK)
    if gold.kind is not None and predictions.kind is not None:
        mask |= (gold.kind[pairs.gold] > 0) & (gold.kind[pairs.gold] == predictions.kind[pairs.prediction])
    if gold.same_as is not None or predictions.same_as is not None:
        undecided = np.flatnonzero(~mask & (gold_entity >= 0) & (prediction_entity >= 0))
        mask[undecided] = _has_common_value(
            _collect_ids(gold).take(pairs.gold[undecided]), _collect_ids(predictions).take(pairs.prediction[undecided])
        )
    return mask


def same_entity_in_top(k: int, gold: Items, predictions: Items, pairs: Pairs) -> Bools:
    """Return the mask of pairs whose gold entity is among the `k` highest-ranked links of the prediction.

    The link of the prediction ranks first; candidates with other links follow.
    """
    mask = same_entity(gold, predictions, pairs)
    if k == 1 or predictions.candidates is None:
        return mask
    undecided = np.flatnonzero(~mask & (gold.entity[pairs.gold] != NO_LINK))
    rows = predictions.row[pairs.prediction[undecided]]
    ranked = predictions.candidates.lists.take(rows)
    owner = _list_owners(ranked)
    rank = np.arange(len(owner)) - ranked.offsets[owner]
    is_prediction = ranked.values == predictions.entity[pairs.prediction[undecided]][owner]
    n_repeats = np.concatenate([[0], np.cumsum(is_prediction)])
    n_repeats_before = n_repeats[:-1] - n_repeats[ranked.offsets[owner]]
    is_in_top = rank + 1 - n_repeats_before < k  # the prediction ranks first, wherever it is among the candidates
    is_gold = is_in_top & (ranked.values == gold.entity[pairs.gold[undecided]][owner])
    mask[undecided] = np.bincount(owner[is_gold], minlength=len(rows)) > 0
    return mask


def _location_keys(document: NDArray[Any], offset: NDArray[Any]) -> Longs:
    """Return a number for each pair of `document` and `offset` that sorts by document, then by offset."""
    keys: Longs = (document.astype(np.int64) << 32) + offset
    return keys


def _code_keys(document: NDArray[Any], code: NDArray[Any]) -> Longs:
    """Return a number for each pair of `document` (or another owner) and entity `code`, equal only for equal pairs.

    Codes may be negative, such as those of NIL and unlinked.
    """
    return (document.astype(np.int64) << 32) + (code.astype(np.int64) - NO_LINK)


def _collect_ids(items: Items) -> CodeLists:
    """Return all entity codes of each item, the main one first."""
    count = len(items)
    if items.same_as is None:
        return CodeLists(np.arange(count + 1), items.entity)
    n_further = np.diff(items.same_as.offsets)
    offsets = np.concatenate([[0], np.cumsum(n_further + 1)])
    values = np.empty(offsets[-1], items.entity.dtype)
    first = np.zeros(offsets[-1], np.bool_)
    first[offsets[:-1]] = True
    values[first] = items.entity
    values[~first] = items.same_as.values
    return CodeLists(offsets, values)


def _list_owners(lists: CodeLists) -> Longs:
    """Return the index of the list, that is, of the item, that each value belongs to."""
    return np.repeat(np.arange(len(lists.offsets) - 1), np.diff(lists.offsets))


def _has_common_value(left: CodeLists, right: CodeLists) -> Bools:
    """Return for each i whether the i-th lists of both sides have a value in common."""
    shared = np.zeros(len(left.offsets) - 1, np.bool_)
    is_shared = np.isin(_code_keys(_list_owners(left), left.values), _code_keys(_list_owners(right), right.values))
    shared[_list_owners(left)[is_shared]] = True
    return shared


def _find_in_ranges(keys: Longs, low: Longs, high: Longs, check: Callable[[Longs, Longs], None]) -> tuple[Longs, Longs]:
    """Return i and j of all pairs with low[j] <= keys[i] < high[j]; see `KeyRange.find_pairs` for `check`."""
    order = None
    if np.any(keys[1:] < keys[:-1]):
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
    keys = np.append(keys, np.iinfo(np.int64).max)
    index, owner = np.searchsorted(keys, low), np.arange(len(low))
    indexes, owners = [], []
    # Nearly every range contains no key or one: single steps are cheaper than a second search until few remain.
    for _ in range(_N_STEPS):
        hit = keys[index] < high
        index, owner, high = index[hit], owner[hit], high[hit]
        indexes.append(index)
        owners.append(owner)
        index = index + 1
        if not len(owner):
            break
    count = np.maximum(np.searchsorted(keys, high) - index, 0)
    check(owner, count)
    owners.append(np.repeat(owner, count))
    indexes.append(np.arange(len(owners[-1])) + np.repeat(index - (np.cumsum(count) - count), count))
    rows = np.concatenate(indexes)
    return (rows if order is None else order[rows]), np.concatenate(owners)


def crowded_error(document: int, n_pairs: int) -> InputError:
    """Return, without raising, the error for a document with too many competing mentions and predictions.

    `document` is the index of the document.
    """
    return limit_error(
        "pairs",
        f"document number {document + 1:,}",
        f"{n_pairs:,} competing pairs of a mention and a prediction",
        "Remove repeated spans, or split the document",
    )
