"""Finding the pairs that may match, by sorting and searching: no loop over mentions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from karat.errors import InputError
from karat.limits import most, refused
from karat.model.items import Items, Lists, Pairs
from karat.model.tables.columns import NO_LINK, Bools, Ints, Longs

_STEPS = 4


class Range(NamedTuple):
    """The pairs of a label and an answer where the key of the one lies from `low` up to `high` of the other.

    Keys are those of labels, and of answers if `turned`. Keys and ranges stand for the items at their own places,
    or for those that `key_of` and `range_of` name.
    """

    keys: Longs
    low: Longs
    high: Longs
    turned: bool = False
    key_of: Longs | None = None
    range_of: Longs | None = None

    def counts(self) -> Longs:
        """How many pairs each range finds."""
        keys = np.sort(self.keys)
        counts: Longs = np.maximum(np.searchsorted(keys, self.high) - np.searchsorted(keys, self.low), 0)
        return counts

    def documents(self, gold: Items, answers: Items) -> Ints:
        """The document of each range."""
        document = gold.document if self.turned else answers.document
        return document if self.range_of is None else document[self.range_of]

    def pairs(self, check: Callable[[Longs, Longs], None]) -> Pairs:
        """What is found; `check` is asked before much is made, for some ranges how many pairs each finds further."""
        key, place = _within(self.keys, self.low, self.high, check)
        key = key if self.key_of is None else self.key_of[key]
        place = place if self.range_of is None else self.range_of[place]
        return Pairs(place, key) if self.turned else Pairs(key, place)


class _Many(Exception):  # noqa: N818  # it never leaves this module
    """More pairs than are held at once."""


class Join(msgspec.Struct, frozen=True):
    """Finds pairs of labels and answers by their `ranges`, at the cost of what is found.

    `again` says whether the same pair may be found several times, `where` which of the pairs are meant, if not all.
    """

    ranges: Callable[[Items, Items], Sequence[Range]]
    again: Callable[[Items, Items], bool] = lambda gold, answers: False
    where: Callable[[Items, Items, Pairs], Bools] | None = None

    def __call__(self, gold: Items, answers: Items) -> Pairs:
        """All pairs, each once; more in one document than the limit are refused before they are made."""
        ranges = self.ranges(gold, answers)

        def check(each: Range, places: Longs, counts: Longs) -> None:
            if int(counts.sum()) > most("pairs"):
                per_document = np.bincount(each.documents(gold, answers)[places], counts)
                worst = int(per_document.argmax())
                if per_document[worst] > most("pairs"):
                    raise crowded(worst, int(per_document[worst]))

        return self._joined(gold, answers, [each.pairs(partial(check, each)) for each in ranges])

    def few(self, gold: Items, answers: Items) -> Pairs | None:
        """All pairs, each once, unless there are more than the limit in all documents together."""

        def check(_: Longs, counts: Longs) -> None:
            if int(counts.sum()) > most("pairs"):
                raise _Many

        try:
            found = [each.pairs(check) for each in self.ranges(gold, answers)]
        except _Many:
            return None
        pairs = self._joined(gold, answers, found)
        return pairs if len(pairs.gold) <= most("pairs") else None

    def _joined(self, gold: Items, answers: Items, found: list[Pairs]) -> Pairs:
        pairs = found[0] if len(found) == 1 else Pairs(*map(np.concatenate, zip(*found, strict=True)))
        if len(pairs.gold) and self.again(gold, answers):
            pairs = Pairs(*np.divmod(np.unique(pairs.gold * len(answers) + pairs.answer), len(answers)))
        return pairs if self.where is None else pairs.where(self.where(gold, answers, pairs))

    def counts(self, gold: Items, answers: Items) -> Longs:
        """How many pairs there are in each document, those included that are found again or not meant."""
        counts = np.zeros(1 + int(max(gold.document.max(initial=-1), answers.document.max(initial=-1))), np.int64)
        for each in self.ranges(gold, answers):
            np.add.at(counts, each.documents(gold, answers), each.counts())
        return counts

    def parts(self, gold: Items, answers: Items) -> Iterator[Pairs]:
        """All pairs, never more than the limit at once."""
        if len(gold) * len(answers) <= most("pairs"):
            yield self(gold, answers)
            return
        counts = self.counts(gold, answers)
        for labels, own in divided(gold, answers, counts):
            some, step = answers.take(own), len(labels) or 1
            if counts[gold.document[labels]].max(initial=0) > most("pairs"):
                step = max(1, most("pairs") // len(own))
            for part in np.split(labels, range(step, len(labels), step)):
                found = self(gold.take(part), some)
                yield Pairs(part[found.gold], own[found.answer])


def divided(gold: Items, answers: Items, pairs: Longs) -> list[tuple[Longs, Longs]]:
    """The places of the labels and answers of groups of documents.

    A group has no more pairs than the limit, or is one document; how many pairs each document has is given.
    """
    group, total = [0], 0
    for count in pairs.tolist():
        total += count
        group.append(group[-1] + (total > most("pairs") and total > count))
        total = total if group[-1] == group[-2] else count
    number = np.array(group[1:])
    sides = [number[items.document] for items in (gold, answers)]
    orders = [np.argsort(side, kind="stable") for side in sides]
    cuts = [
        np.searchsorted(side[order], np.arange(1, group[-1] + 1)) for side, order in zip(sides, orders, strict=True)
    ]
    return list(zip(*(np.split(order, cut) for order, cut in zip(orders, cuts, strict=True)), strict=True))


def _overlaps(gold: Items, answers: Items) -> Sequence[Range]:
    return _overlaps_of((gold.document, gold.start, gold.end), (answers.document, answers.start, answers.end))


def _overlaps_of(
    gold: tuple[NDArray[Any], Ints, Ints],
    answers: tuple[NDArray[Any], Ints, Ints],
    gold_of: Longs | None = None,
    answer_of: Longs | None = None,
) -> Sequence[Range]:
    """Either the gold begins within the answer, or the answer begins within the gold and after its start."""
    gold_start, gold_end = _place(gold[0], gold[1]), _place(gold[0], gold[2])
    answer_start, answer_end = _place(answers[0], answers[1]), _place(answers[0], answers[2])
    return (
        Range(gold_start, answer_start, answer_end, False, gold_of, answer_of),
        Range(answer_start, gold_start + 1, gold_end, True, answer_of, gold_of),
    )


def _overlaps_alike(gold: Items, answers: Items) -> Sequence[Range]:
    """Overlaps of what is linked alike: groups of a document and an id (or a kind) take the place of documents."""
    found = list(_overlaps_in_groups(gold, answers, _linked_ids))
    if gold.kind is not None and answers.kind is not None:
        found += _overlaps_in_groups(gold, answers, _kinds)
    return found


def _overlaps_in_groups(
    gold: Items, answers: Items, codes: Callable[[Items], tuple[Longs, NDArray[Any]]]
) -> Sequence[Range]:
    (gold_of, gold_code), (answer_of, answer_code) = codes(gold), codes(answers)
    keys = [_keys(gold.document[gold_of], gold_code), _keys(answers.document[answer_of], answer_code)]
    group = np.unique(np.concatenate(keys), return_inverse=True)[1]
    return _overlaps_of(
        (group[: len(gold_of)], gold.start[gold_of], gold.end[gold_of]),
        (group[len(gold_of) :], answers.start[answer_of], answers.end[answer_of]),
        gold_of,
        answer_of,
    )


def _linked_ids(items: Items) -> tuple[Longs, NDArray[Any]]:
    """All ids by which an item is linked, and whose they are; further ids count beside an entity only."""
    ids = _ids(items)
    owner = _owners(ids)
    main = np.zeros(len(owner), np.bool_)
    main[ids.offsets[:-1]] = True
    keep = (items.entity[owner] >= 0) | (main & (items.entity[owner] != NO_LINK))
    return owner[keep], ids.values[keep]


def _kinds(items: Items) -> tuple[Longs, NDArray[Any]]:
    assert items.kind is not None
    owner = np.flatnonzero(items.kind > 0)
    return owner, items.kind[owner]


def _equal_spans(gold: Items, answers: Items) -> Sequence[Range]:
    left, right = _spans(gold, answers), _spans(answers, gold)
    keys = _span_keys([(gold.document, *span) for span in left] + [(answers.document, *span) for span in right])
    return [Range(one, other, other + 1) for one, other in product(keys[: len(left)], keys[len(left) :])]


def _span_keys(spans: Sequence[tuple[Ints, Ints, Ints]]) -> list[Longs]:
    """One number for each document, start and end."""
    size = 1 + max(int(end.max(initial=0)) for _, _, end in spans)
    first = min(int(document.min(initial=0)) for document, _, _ in spans)
    last = max(int(document.max(initial=0)) for document, _, _ in spans)
    if (last - first + 1) * size**2 < 1 << 62:
        return [((document - first).astype(np.int64) * size + start) * size + end for document, start, end in spans]
    starts = np.unique(np.concatenate([_place(document, start) for document, start, _ in spans]), return_inverse=True)[
        1
    ]
    cuts = np.cumsum([len(start) for _, start, _ in spans])[:-1]
    return [_place(part, end) for part, (_, _, end) in zip(np.split(starts, cuts), spans, strict=True)]


def _spans(items: Items, others: Items) -> list[tuple[Ints, Ints]]:
    """The spans of items, and those widened to words if both sides have them."""
    own = [(items.start, items.end)]
    return own if items.words is None or others.words is None else [*own, items.words]


def _same_ids(gold: Items, answers: Items) -> Sequence[Range]:
    gold_ids, answer_ids = _ids(gold), _ids(answers)
    gold_owner, answer_owner = _owners(gold_ids), _owners(answer_ids)
    linked = gold_ids.values != NO_LINK
    keys = _keys(gold.document[gold_owner], gold_ids.values)[linked]
    wanted = _keys(answers.document[answer_owner], answer_ids.values)
    return (Range(keys, wanted, wanted + 1, False, gold_owner[linked], answer_owner),)


def _equal_lengths(gold: Items, answers: Items) -> Sequence[Range]:
    keys, wanted = _place(gold.document, gold.end - gold.start), _place(answers.document, answers.end - answers.start)
    return (Range(keys, wanted, wanted + 1),)


def _share_a_place(gold: Items, answers: Items, pairs: Pairs) -> Bools:
    """Which pairs overlap: spans can be widened to the same words without doing so."""
    start = np.maximum(gold.start[pairs.gold], answers.start[pairs.answer])
    return np.minimum(gold.end[pairs.gold], answers.end[pairs.answer]) > start


def _several_ids(gold: Items, answers: Items) -> bool:
    return gold.same_as is not None or answers.same_as is not None


overlapping: Final = Join(_overlaps)
"""Pairs that share at least one code point."""

overlapping_alike: Final = Join(
    _overlaps_alike, lambda gold, answers: _several_ids(gold, answers) or gold.kind is not None
)
"""Overlapping pairs that are linked alike, as `same_entity` says, without a look at the others."""

on_same_span: Final = Join(_equal_spans, lambda gold, answers: gold.words is not None, _share_a_place)
"""Overlapping pairs with equal start and end, as `same_span` says, without a look at the others."""

same_entity_in_document: Final = Join(_same_ids, _several_ids)
"""Pairs of one document that are linked alike, wherever they stand."""

same_length_in_document: Final = Join(_equal_lengths)
"""Pairs of one document that are equally long, wherever they stand."""


def same_span(gold: Items, answers: Items, pairs: Pairs) -> Bools:
    """Which pairs have equal start and end, as they are or (where spans are) widened to words."""
    same = np.zeros(len(pairs.gold), np.bool_)
    for one, other in product(_spans(gold, answers), _spans(answers, gold)):
        same |= (one[0][pairs.gold] == other[0][pairs.answer]) & (one[1][pairs.gold] == other[1][pairs.answer])
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


def _place(document: NDArray[Any], offset: NDArray[Any]) -> Longs:
    places: Longs = (document.astype(np.int64) << 32) + offset
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


def _within(keys: Longs, low: Longs, high: Longs, check: Callable[[Longs, Longs], None]) -> tuple[Longs, Longs]:
    """The places (i, j) with low[j] <= keys[i] < high[j], checked before the many of a few j are made."""
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
    check(owner, count)
    owners.append(np.repeat(owner, count))
    places.append(np.arange(len(owners[-1])) + np.repeat(place - (np.cumsum(count) - count), count))
    found = np.concatenate(places)
    return (found if order is None else order[found]), np.concatenate(owners)


def crowded(document: int, pairs: int) -> InputError:
    """What is raised where too many mentions and answers of a document compete."""
    return refused(
        "pairs",
        f"document number {document + 1:,}",
        f"{pairs:,} pairs of a mention and an answer that compete",
        "Look for spans that were written many times over and divide the document",
    )
