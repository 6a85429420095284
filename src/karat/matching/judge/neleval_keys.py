"""Comparison of annotations by keys, as in neleval: sets of keys, shares of characters, clusters of mentions.

A block is a part of the documents with the responses to them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
from msgspec.structs import replace
from numpy.typing import NDArray

from karat.matching.align.overlap import find_overlaps
from karat.model.items import GoldItems, Items, Pairs, PredictedItems
from karat.model.results.clusters import ClusterMembers, Members
from karat.model.results.verdict import Outcome, Verdicts
from karat.model.spec.key import Key
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import NIL, Bools, Floats, Ints, Longs

_SPAN_FIELDS = ("docid", "start", "end", "span")


def judge_keys(gold: GoldItems, predictions: PredictedItems, key: Key, *, only_neighbours: bool = False) -> Verdicts:
    """Judge a block by comparing keys instead of a relation; the key must be within documents.

    Return the verdict on every distinct key, or on every annotation if the key's aggregator is an overlap. With
    `only_neighbours`, annotations are compared only where neleval does.
    """
    gold_items, prediction_items = (
        filter_by_conditions(gold.items, key.conditions),
        filter_by_conditions(predictions.items, key.conditions),
    )
    assert not key.is_across_documents, "keys across documents have no verdict for a single annotation"
    if key.aggregator == "sets":
        return _judge_sets(gold_items, prediction_items, key)
    return _judge_overlaps(gold_items, prediction_items, key, only_neighbours=only_neighbours)


class NamedCodes(NamedTuple):
    """Codes with names that are the same in all blocks; negative codes and codes without names are the same anyway."""

    code: Longs
    """Code of each row."""
    names: Arrow | None = None
    """Names by code; None if the codes are the same in all blocks."""


class KeyNames(NamedTuple):
    """Names of cluster and type codes, the same in all blocks; entity codes are the first cluster codes."""

    clusters: Arrow
    """Names by cluster code."""
    types: Arrow
    """Names by type code."""


class NelevalClusters(NamedTuple):
    """Data of a block that neleval's way to treat mentions in several clusters needs."""

    document_rows: Longs
    """Row of each document of the block in the whole data."""
    unlinked_cluster: int
    """Cluster code of all unlinked spans."""


class CrossDocumentData(msgspec.Struct, frozen=True):
    """Data of a block for a view that compares keys across documents."""

    members: ClusterMembers
    """Mentions and clusters of both sides."""
    cluster_names: Arrow | None = None
    """Names by cluster code; null for clusters that no other block has, None if there is no other block."""
    mention_fields: tuple[NamedCodes, ...] = ()
    """Fields that identify mentions across blocks; empty if mentions never recur in another block."""

    def __len__(self) -> int:
        return len(self.members.gold.mention) + len(self.members.predictions.mention)


def collect_cross_document_data(
    gold: Items,
    predictions: Items,
    key: Key,
    names: KeyNames | None,
    *,
    by_document: bool,
    neleval: NelevalClusters | None = None,
) -> CrossDocumentData:
    """Return the mentions of both sides, numbered by the fields of the key, with their clusters.

    `names` are the names of codes if there are other blocks, else None. Then mentions in the same clusters are merged,
    unless they may recur in other blocks or `by_document` is set, which keeps the document of each mention.
    With `neleval`, mentions in several clusters count as in neleval.
    """
    gold_key, prediction_key = _key_codes(gold, predictions, key.fields)
    cluster_codes, cluster = np.unique(
        np.concatenate([_cluster_codes(gold, key), _cluster_codes(predictions, key)]), return_inverse=True
    )
    documents = (gold.document, predictions.document) if by_document else (None, None)
    members = ClusterMembers(
        Members(gold_key, cluster[: len(gold)], documents[0]),
        Members(prediction_key, cluster[len(gold) :], documents[1]),
    )
    if neleval is not None and key.clustering is not None:
        unlinked = np.flatnonzero(cluster_codes == neleval.unlinked_cluster)
        members = ClusterMembers(
            members.gold._replace(position=_number_annotations(gold, neleval.document_rows)),
            members.predictions._replace(position=_number_annotations(predictions, neleval.document_rows)),
            unlinked_cluster=int(unlinked[0]) if len(unlinked) else None,
        )
    if names is None:
        return CrossDocumentData(members)
    cluster_names = (
        _take_names(cluster_codes, names.clusters)
        if key.clustering is not None
        else pa.array([""] * len(cluster_codes), pa.string())
    )
    if not key.is_within_documents:
        return CrossDocumentData(
            members,
            cluster_names,
            tuple(
                _collect_mention_fields(
                    gold, predictions, key.fields, np.concatenate([gold_key, prediction_key]), names
                )
            ),
        )
    return CrossDocumentData(members if by_document else members.merge_equivalent_mentions(), cluster_names)


def _number_annotations(items: Items, document_rows: Longs) -> Longs:
    """Return numbers that order the items by document, start, falling end and row, as neleval reads them."""
    number = np.empty(len(items), np.int64)
    number[np.lexsort((items.row, -items.end, items.start, items.document))] = np.arange(len(items))
    rows: Longs = document_rows[items.document].astype(np.int64)
    return (rows << 32) + number


def _cluster_codes(items: Items, key: Key) -> Longs:
    """Return the cluster code of each item; 0 if the key has no clustering."""
    if key.clustering is None:
        return np.zeros(len(items), np.int64)
    assert items.cluster is not None, "clusters are read if a view needs them"
    return items.cluster.astype(np.int64)


def _take_names(codes: Longs, names: Arrow) -> Arrow:
    """Return the name of each code; null for codes after the last name."""
    return names.take(pa.array(codes, mask=codes >= len(names)))


def _collect_mention_fields(
    gold: Items, predictions: Items, fields: tuple[str, ...], mention: Longs, names: KeyNames
) -> Iterator[NamedCodes]:
    """Yield, for each column of each key field, the codes of the distinct mentions, with names where codes need them.

    `mention` has the number of each mention, of the gold side and then of the predictions.
    """
    _, example = np.unique(mention, return_index=True)
    for field in fields:
        for left, right in zip(_field_columns(gold, field), _field_columns(predictions, field), strict=True):
            code = np.concatenate([left, right]).astype(np.int64)[example]
            yield _compact_codes(code, {"type": names.types, "kbid": names.clusters, "eid": names.clusters}.get(field))


def _compact_codes(code: Longs, names: Arrow | None) -> NamedCodes:
    """Renumber codes from 0 with only the names that occur; negative codes and, without names, all codes stay."""
    if names is None:
        return NamedCodes(code)
    used_codes, index = np.unique(code, return_inverse=True)
    low = int(np.searchsorted(used_codes, 0))
    return NamedCodes(np.where(code < 0, code, index - low), _take_names(used_codes[low:], names))


def merge_blocks(blocks: Sequence[tuple[CrossDocumentData, Longs]]) -> CrossDocumentData:
    """Merge the data of all blocks, each with the indices of its documents in the whole data.

    Equal mentions and clusters of different blocks get the same codes. The indices are used only if the data keeps the
    document of each mention; otherwise duplicate or equivalent mentions are merged too. A single block stays unchanged.
    """
    if len(blocks) == 1:
        return blocks[0][0]
    names_by_block: list[Arrow] = [block.cluster_names for block, _ in blocks]
    clusters, names = _share_codes(
        [NamedCodes(np.arange(len(block_names)), block_names) for block_names in names_by_block]
    )
    sizes = [_count_mentions(block.members) for block, _ in blocks]
    fields = [_share_codes(parts) for parts in zip(*(block.mention_fields for block, _ in blocks), strict=True)]
    code, mention_fields = np.arange(sum(sizes)), tuple[NamedCodes, ...]()
    if fields:
        columns = [np.concatenate(codes) for codes, _ in fields]
        code = _number_rows(columns, sum(sizes))
        _, example = np.unique(code, return_index=True)
        mention_fields = tuple(
            NamedCodes(column[example], block_names) for column, (_, block_names) in zip(columns, fields, strict=True)
        )
    mentions = np.split(code, np.cumsum(sizes)[:-1])
    sides = [
        _join_members(
            [(getattr(block.members, side), document_index) for block, document_index in blocks], mentions, clusters
        )
        for side in ("gold", "predictions")
    ]
    times = [block.members.multiplicity for block, _ in blocks if block.members.multiplicity is not None]
    unlinked = [
        int(codes[block.members.unlinked_cluster])
        for (block, _), codes in zip(blocks, clusters, strict=True)
        if block.members.unlinked_cluster is not None
    ]
    members = ClusterMembers(
        sides[0], sides[1], np.concatenate(times) if times else None, unlinked[0] if unlinked else None
    )
    if members.gold.document is None:
        members = members.drop_duplicates() if fields else members.merge_equivalent_mentions()
    return CrossDocumentData(members, names, mention_fields)


def _count_mentions(members: ClusterMembers) -> int:
    """Return the number of mention codes of both sides together."""
    if members.multiplicity is not None:
        return len(members.multiplicity)
    return int(max(members.gold.mention.max(initial=-1), members.predictions.mention.max(initial=-1))) + 1


def _join_members(
    parts: Sequence[tuple[Members, Longs]], mentions: Sequence[Longs], clusters: Sequence[Longs]
) -> Members:
    """Join one side of all blocks; `mentions` and `clusters` map the codes of each block to those of the whole data.

    `parts` has the members of each block, with the indices of its documents in the whole data.
    """
    sides = list(zip(parts, mentions, clusters, strict=True))
    documents = [document_index[members.document] for members, document_index in parts if members.document is not None]
    positions = [members.position for members, _ in parts if members.position is not None]
    return Members(
        np.concatenate([mention[members.mention] for (members, _), mention, _ in sides]),
        np.concatenate([cluster[members.cluster] for (members, _), _, cluster in sides]),
        np.concatenate(documents) if documents else None,
        np.concatenate(positions) if positions else None,
    )


def _share_codes(parts: Sequence[NamedCodes]) -> tuple[list[Longs], Arrow | None]:
    """Recode the codes of each block so that equal names have equal codes; return the codes per block, and the names.

    Codes without a name become distinct. Codes that need no names stay, and the names are None.
    """
    if parts[0].names is None:
        return [part.code for part in parts], None
    names_by_part: list[Arrow] = [part.names for part in parts]
    encoded = pa.chunked_array(names_by_part, pa.string()).combine_chunks().dictionary_encode()
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    is_unnamed = codes < 0
    codes[is_unnamed] = len(encoded.dictionary) + np.arange(int(is_unnamed.sum()))
    names = pa.concat_arrays([encoded.dictionary, pa.nulls(int(is_unnamed.sum()), pa.string())])
    split_codes = zip(
        parts, np.split(codes, np.cumsum([len(part_names) for part_names in names_by_part])[:-1]), strict=True
    )
    return [
        np.where(part.code < 0, part.code, np.append(part_codes, -1)[part.code]) for part, part_codes in split_codes
    ], names


def filter_by_conditions(items: Items, conditions: tuple[str, ...]) -> Items:
    """Return the items that meet all conditions of a key: `is_linked`, `is_nil`, `is_first`."""
    for condition in conditions:
        items = items.take(_CONDITIONS[condition](items))
    return items


def _mask_first(items: Items) -> Bools:
    """Return the mask of items that come first among the items with their document and cluster.

    First is the smallest start, then the largest end. `items.cluster` is the code of an item's entity or NIL cluster.
    """
    assert items.cluster is not None, "clusters are read if a view needs them"
    order = np.lexsort((-items.end, items.start))
    key = ((items.document.astype(np.int64) << 32) | items.cluster)[order]
    first = np.zeros(len(items), np.bool_)
    first[order[np.unique(key, return_index=True)[1]]] = True
    return first


_CONDITIONS: dict[str, Callable[[Items], Bools]] = {
    "is_linked": lambda items: items.entity >= 0,
    "is_nil": lambda items: items.entity == NIL,
    "is_first": _mask_first,
}


def _field_columns(items: Items, field: str) -> list[NDArray[Any]]:
    """Return the columns of codes or offsets that a field of a key compares; the span has three columns.

    Of several types the first counts, or -1 without type. All items without entity count as NIL.
    """
    if field == "span":
        return [items.document, items.start, items.end]
    if field == "type":
        assert items.types is not None, "types are read if a view needs them"
        first = np.full(len(items), -1, np.int32)
        has_types = np.diff(items.types.offsets) > 0
        first[has_types] = items.types.values[items.types.offsets[:-1][has_types]]
        return [first]
    if field == "eid":
        assert items.cluster is not None, "clusters are read if a view needs them"
        return [items.cluster]
    simple = {"docid": items.document, "start": items.start, "end": items.end}
    return [np.where(items.entity < 0, np.int32(NIL), items.entity) if field == "kbid" else simple[field]]


def _key_codes(gold: Items, predictions: Items, fields: tuple[str, ...]) -> tuple[Longs, Longs]:
    """Return a code for the key of each label and of each prediction, the same for equal keys of both sides."""
    pairs = (zip(_field_columns(gold, field), _field_columns(predictions, field), strict=True) for field in fields)
    columns = (np.concatenate(pair).astype(np.int64) for column_pairs in pairs for pair in column_pairs)
    code = _number_rows(columns, len(gold) + len(predictions))
    return code[: len(gold)], code[len(gold) :]


def _number_rows(columns: Iterable[Longs], n_rows: int) -> Longs:
    """Return a number for each row, from 0, equal for equal rows; values are at least -2."""
    code = np.zeros(n_rows, np.int64)
    for values in columns:
        code = np.unique(code * (int(values.max(initial=0)) + 3) + values + 2, return_inverse=True)[1]
    return code


def _judge_sets(gold: Items, predictions: Items, key: Key) -> Verdicts:
    """Judge each distinct key: true positive if both sides have it, else false negative or false positive.

    If the key compares spans, a missed and a spurious key on the same span are one wrong link.
    """
    gold_code, prediction_code = _key_codes(gold, predictions, key.fields)
    gold_keys, label = np.unique(gold_code, return_index=True)
    prediction_keys, prediction = np.unique(prediction_code, return_index=True)
    _, in_gold, in_predictions = np.intersect1d(gold_keys, prediction_keys, assume_unique=True, return_indices=True)
    missing, spare = np.delete(label, in_gold), np.delete(prediction, in_predictions)
    wrong = Pairs(missing[:0], spare[:0])
    if key.span_key is not None:
        wrong = _pair_wrong_links(gold, predictions, missing, spare, key.span_key)
        missing, spare = np.setdiff1d(missing, wrong.gold), np.setdiff1d(spare, wrong.prediction)
    label_index = np.concatenate([label[in_gold], wrong.gold, missing, np.full(len(spare), -1)])
    prediction_index = np.concatenate([prediction[in_predictions], wrong.prediction, np.full(len(missing), -1), spare])
    rows_by_outcome = {Outcome.TP: in_gold, Outcome.WRONG_LINK: wrong.gold, Outcome.FN: missing, Outcome.FP: spare}
    outcome = np.repeat(list(rows_by_outcome), list(map(len, rows_by_outcome.values())))
    return _build_verdicts(gold, predictions, label_index, prediction_index, outcome, None)


def _pair_wrong_links(gold: Items, predictions: Items, missing: Longs, spare: Longs, location_key: Key) -> Pairs:
    """Pair missed labels with spurious predictions that agree in `location_key`: a wrong link is one case, not two.

    If there are several, they are paired in the order of their ids, so that the order of files has no influence.
    """
    gold_code, prediction_code = _key_codes(gold.take(missing), predictions.take(spare), location_key.fields)
    id_rank = np.unique(
        np.array([*_get_ids(gold, missing), *_get_ids(predictions, spare)], np.str_), return_inverse=True
    )[1]
    gold_keys, prediction_keys = (
        _distinct_codes(gold_code, id_rank[: len(missing)]),
        _distinct_codes(prediction_code, id_rank[len(missing) :]),
    )
    _, gold_index, prediction_index = np.intersect1d(
        gold_keys, prediction_keys, assume_unique=True, return_indices=True
    )
    return Pairs(missing[gold_index], spare[prediction_index])


def _get_ids(items: Items, rows: Longs) -> list[str]:
    """Return the ids of the items `rows`; "" for NIL and unlinked items."""
    codes = items.entity[rows]
    return [id or "" for id in items.names.take(pa.array(codes, mask=codes < 0)).to_pylist()]


def _distinct_codes(code: Longs, rank: Longs) -> Longs:
    """Return each code combined with its number among equal codes, by rank, so that all are distinct."""
    order = np.lexsort((rank, code))
    _, first, counts = np.unique(code[order], return_index=True, return_counts=True)
    number = np.empty(len(code), np.int64)
    number[order] = np.arange(len(code)) - np.repeat(first, counts)
    return (code << 32) | number


def _judge_overlaps(gold: Items, predictions: Items, key: Key, *, only_neighbours: bool) -> Verdicts:
    """Return a verdict on every annotation, with the share of its characters that the other side covers as credit.

    Only annotations of the same document that agree in all fields of the key other than the span cover each other.
    With `only_neighbours`, they are compared only where neleval does.
    """
    gold_code, prediction_code = _key_codes(
        gold, predictions, ("docid", *(field for field in key.fields if field not in _SPAN_FIELDS))
    )
    # With one pseudo-document per key, only equal keys of one document overlap.
    sides = (
        replace(gold, document=gold_code.astype(np.int32)),
        replace(predictions, document=prediction_code.astype(np.int32)),
    )
    recall, precision = key.aggregator.removeprefix("overlap-")[:3], key.aggregator[-3:]
    gold_parts, prediction_parts = (
        _find_neighbours(*sides)
        if only_neighbours
        else (find_overlaps.find_in_parts(*sides), find_overlaps.find_in_parts(*reversed(sides)))
    )
    gold_share = _covered_share(sides[0], sides[1], gold_parts, longest_only=recall == "max")
    prediction_share = _covered_share(sides[1], sides[0], prediction_parts, longest_only=precision == "max")
    none_gold, none_prediction = np.full(len(predictions), -1), np.full(len(gold), -1)
    share = np.concatenate([gold_share, prediction_share])
    outcome = np.repeat([Outcome.MATCHED_GOLD, Outcome.MATCHED_PREDICTION], [len(gold), len(predictions)])
    return _build_verdicts(
        gold,
        predictions,
        np.concatenate([np.arange(len(gold)), none_gold]),
        np.concatenate([none_prediction, np.arange(len(predictions))]),
        outcome,
        np.column_stack([share, share]),
    )


def _find_neighbours(gold: Items, predictions: Items) -> tuple[list[Pairs], list[Pairs]]:
    """Return the overlapping pairs that neleval finds, first of labels with predictions, then with swapped sides.

    neleval walks through both sides by start and falling end, and compares each annotation with the one of the other
    side before it; of equal spans the prediction comes first. Without overlaps within a side, these are all pairs.
    """
    n_gold = len(gold)
    document, start, end = (
        np.concatenate([getattr(gold, name), getattr(predictions, name)]).astype(np.int64)
        for name in ("document", "start", "end")
    )
    is_gold = np.arange(n_gold + len(predictions)) < n_gold
    order = np.lexsort((is_gold, -end, start, document))
    rank = np.arange(len(order))
    last_label, last_prediction = (
        np.maximum.accumulate(np.where(mask, rank, -1)) for mask in (is_gold[order], ~is_gold[order])
    )
    before = np.where(is_gold[order], last_prediction, last_label)
    first, second = order[before[before >= 0]], order[before >= 0]
    mask = (document[first] == document[second]) & (start[first] < end[second]) & (start[second] < end[first])
    first, second = first[mask], second[mask]
    label, prediction = np.where(is_gold[first], (first, second), (second, first))
    return [Pairs(label, prediction - n_gold)], [Pairs(prediction - n_gold, label)]


def _covered_share(items: Items, others: Items, parts: Iterable[Pairs], *, longest_only: bool) -> Floats:
    """Return the share of each item's characters that `others` cover: by the longest overlap, or all together.

    `parts` are the overlapping pairs, each pair of an item in the same part.
    """
    covered = np.zeros(len(items), np.int64)
    for pairs in parts:
        covered += _count_covered(items, others, pairs, longest_only=longest_only)
    length = np.maximum(items.end - items.start, 1)
    shares: Floats = covered / length
    return shares


def _count_covered(items: Items, others: Items, pairs: Pairs, *, longest_only: bool) -> Longs:
    """Return the number of characters of each item that `others` cover, from all overlapping pairs."""
    start = np.maximum(items.start[pairs.gold], others.start[pairs.prediction]).astype(np.int64)
    end = np.minimum(items.end[pairs.gold], others.end[pairs.prediction]).astype(np.int64)
    covered = np.zeros(len(items), np.int64)
    if longest_only:
        np.maximum.at(covered, pairs.gold, end - start)
    else:
        order = np.lexsort((start, pairs.gold))
        owner, start, end = pairs.gold[order], start[order], end[order]
        # Running maximum of the ends, separate for each owner by a stride that no offset reaches.
        reach = np.maximum.accumulate((owner << 32) + end) - (owner << 32) if len(owner) else end
        before = np.concatenate([[0], reach[:-1]])
        before[1:][owner[1:] != owner[:-1]] = 0
        np.add.at(covered, owner, np.maximum(end - np.maximum(start, before), 0))
    return covered


def _build_verdicts(
    gold: Items, predictions: Items, label: Longs, prediction: Longs, outcome: Longs, credit: Floats | None
) -> Verdicts:
    """Return verdicts on cases, given by the indices of label and prediction; -1 is none."""
    gold_document = np.append(gold.document, -1)[label]
    document: Ints = np.where(label >= 0, gold_document, np.append(predictions.document, -1)[prediction])
    return Verdicts(document, outcome.astype(np.int32), label, prediction, gold.row, predictions.row, credit)
