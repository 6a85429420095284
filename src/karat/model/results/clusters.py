"""Comparison of predicted with gold clusters of mentions, with the counts that all clustering measures need."""

from __future__ import annotations

from typing import NamedTuple

import msgspec
import numpy as np

from karat.model.tables.columns import Bools, Ints, Longs


class MentionKinds(msgspec.Struct, frozen=True):
    """Mentions grouped by kind: mentions of one kind are in the same gold clusters and the same predicted clusters.

    Two mentions are together on a side if a cluster of that side contains both; every mention is together with itself.
    A mention in several clusters is together with the mentions of all of them, each counted once.
    """

    mentions: Longs
    """The number of mentions of each kind."""
    gold: Longs
    """The number of mentions together with one of this kind in the gold standard; 0 if it is not there."""
    predictions: Longs
    """The number of mentions together with one of this kind in the predictions; 0 if it is not there."""
    both: Longs
    """The number of mentions together with it on both sides."""
    neither: Longs
    """The number of common mentions together with it on neither side; 0 if it is not common itself."""


class Clusters(msgspec.Struct, frozen=True):
    """Two clusterings of mentions: cluster sizes, and the number of mentions in each overlap.

    One side divides a cluster of the other side into parts. Two mentions are in one part if a cluster of that side
    contains both, or if a chain of such pairs within the divided cluster connects them. A mention that is missing on
    that side is a part of its own.
    """

    gold: Longs
    """The number of mentions in each gold cluster."""
    predictions: Longs
    """The number of mentions in each predicted cluster."""
    row: Longs
    """The gold cluster of each non-zero cell of the overlap table."""
    column: Longs
    """The predicted cluster of each non-zero cell."""
    shared: Longs
    """The number of mentions in each non-zero cell."""
    common: int
    """The number of distinct mentions on both sides."""
    gold_mentions: int
    """The number of distinct gold mentions."""
    prediction_mentions: int
    """The number of distinct predicted mentions."""
    gold_parts: Longs
    """The number of parts into which the predictions divide each gold cluster."""
    prediction_parts: Longs
    """The number of parts into which the gold standard divides each predicted cluster."""
    kinds: MentionKinds
    """The counts by kind of mention."""
    last_kinds: MentionKinds | None = None
    """The counts by kind where each mention is only in its last cluster, as in neleval; None if it is in all of them.

    Clusters keep their mentions. `gold_parts` and `prediction_parts` then compare with the last clusters too.
    """


class Members(NamedTuple):
    """A clustering as pairs of mention code and cluster code."""

    mention: Longs
    """The mention of each pair."""
    cluster: Longs
    """The cluster of each pair."""
    document: Ints | Longs | None = None
    """The document of each pair, if needed."""
    position: Longs | None = None
    """The position of each pair among all annotations, if only the last cluster of a mention counts.

    The last of several clusters is the one whose first position is the highest.
    """

    def select(self, mask: Bools) -> Members:
        """Return the pairs for which `mask` is true."""
        return Members(*(None if column is None else column[mask] for column in self))  # type: ignore[arg-type]


class ClusterMembers(NamedTuple):
    """The gold and the predicted clustering of the same mentions."""

    gold: Members
    """The gold clusters."""
    predictions: Members
    """The predicted clusters."""
    multiplicity: Longs | None = None
    """How many mentions each mention code stands for; None for 1."""
    unlinked_cluster: int | None = None
    """The code of the cluster of all unlinked spans, if mentions count as in neleval; None if there are none."""

    def select_documents(self, document_mask: Bools) -> ClusterMembers:
        """Return the pairs of documents for which `document_mask` is true; both sides must store their documents."""
        assert self.gold.document is not None
        assert self.predictions.document is not None, "documents are stored if some of them are selected"
        gold, predictions = (
            self.gold.select(document_mask[self.gold.document]),
            self.predictions.select(document_mask[self.predictions.document]),
        )
        return self._replace(gold=gold, predictions=predictions)

    def merge_equivalent_mentions(self) -> ClusterMembers:
        """Return the clusterings with mentions that are in the same clusters on both sides merged into one.

        `multiplicity` counts how many each stands for, so that all clustering measures stay the same. Documents are
        dropped.
        """
        names, gold, predictions = _build_sides(self)
        kind, example = _find_kinds(gold, predictions)
        number = np.full(len(names), -1)
        number[example] = np.arange(len(example))
        times = _count_codes(kind, None if self.multiplicity is None else self.multiplicity[names], len(example))
        return ClusterMembers(_renumber(gold, number), _renumber(predictions, number), times, self.unlinked_cluster)

    def drop_duplicates(self) -> ClusterMembers:
        """Return the clusterings with every pair of mention and cluster once; documents are dropped."""
        names, gold, predictions = _build_sides(self)
        return self._replace(gold=_renumber(gold, names), predictions=_renumber(predictions, names))

    def count_mentions(self) -> tuple[int, int, int]:
        """Return the number of distinct mentions in the gold standard, in the predictions and in both."""
        names, gold, predictions = _build_sides(self)
        masks = gold.degree > 0, predictions.degree > 0, (gold.degree > 0) & (predictions.degree > 0)
        multiplicity = np.ones(len(names), np.int64) if self.multiplicity is None else self.multiplicity[names]
        first, second, both = (int(multiplicity[mask].sum()) for mask in masks)
        return first, second, both


class _Side(msgspec.Struct, frozen=True):
    """The gold or the predicted clustering: its distinct pairs of mention and cluster, both numbered from 0.

    Pairs are sorted by mention, then cluster. Both sides number all mentions alike.
    """

    mention: Longs
    """The mention of each pair."""
    cluster: Longs
    """The cluster of each pair."""
    codes: Longs
    """The code of each cluster."""
    size: Longs
    """The number of mentions of each cluster."""
    degree: Longs
    """The number of clusters of each mention."""
    first_pair: Longs
    """The first pair of each mention."""
    multiplicity: Longs | None
    """How many mentions each mention stands for; None for 1."""
    position: Longs | None = None
    """The first position of each cluster; None if a mention is in all its clusters."""


def compare_members(members: ClusterMembers) -> Clusters:
    """Count cluster sizes, overlaps, parts and kinds of mentions of a gold and a predicted clustering."""
    _, gold, predictions = _build_sides(members)
    times = gold.multiplicity
    left, right = _join_pairs(gold, predictions)
    met = _combine_keys(gold.cluster[left], predictions.cluster[right], len(predictions.size))
    keys, cell = np.unique(met, return_inverse=True)
    shared = _count_codes(cell, None if times is None else times[gold.mention[left]], len(keys))
    row, column = np.divmod(keys, max(len(predictions.size), 1))
    kinds = _count_kinds(gold, predictions, keys, shared)
    is_forked = gold.degree.max(initial=0) > 1 or predictions.degree.max(initial=0) > 1
    if gold.position is not None and (is_forked or members.unlinked_cluster is not None):
        last = gold_last, predictions_last = _find_last_clusters(gold), _find_last_clusters(predictions)
        gold_parts = _count_last_parts(gold, predictions_last)
        prediction_parts = _count_last_parts(predictions, gold_last)
        last_kinds = _count_last_kinds(kinds, (gold, predictions), last, (keys, shared), members.unlinked_cluster)
    else:
        last_kinds = None
        gold_parts, prediction_parts = _count_parts(gold, predictions, (left, right, cell), (row, column))
    return Clusters(
        gold=gold.size,
        predictions=predictions.size,
        row=row,
        column=column,
        shared=shared,
        common=_count_mask((gold.degree > 0) & (predictions.degree > 0), times),
        gold_mentions=_count_mask(gold.degree > 0, times),
        prediction_mentions=_count_mask(predictions.degree > 0, times),
        gold_parts=gold_parts,
        prediction_parts=prediction_parts,
        kinds=kinds,
        last_kinds=last_kinds,
    )


def _count_parts(
    gold: _Side, predictions: _Side, pairs: tuple[Longs, Longs, Longs], cells: tuple[Longs, Longs]
) -> tuple[Longs, Longs]:
    """Return the number of parts of each gold cluster and of each predicted cluster.

    `pairs` are the joined pairs of both sides with the cell of each, `cells` the row and column of each cell.
    """
    (left, right, cell), (row, column) = pairs, cells
    forked = predictions.degree[gold.mention[left]] > 1
    gold_parts = (
        gold.size
        - _count_covered(gold, predictions)
        + _count_components(row, len(gold.size), left[forked], cell[forked])
    )
    forked = gold.degree[gold.mention[left]] > 1
    prediction_parts = (
        predictions.size
        - _count_covered(predictions, gold)
        + _count_components(column, len(predictions.size), right[forked], cell[forked])
    )
    return gold_parts, prediction_parts


def _build_sides(members: ClusterMembers) -> tuple[Longs, _Side, _Side]:
    """Return the sorted codes of the mentions of both clusterings, then the gold side and the predicted side.

    Mention i of a side has the i-th code.
    """
    gold, predictions = members.gold, members.predictions
    names, mention = np.unique(np.concatenate([gold.mention, predictions.mention]), return_inverse=True)
    times = None if members.multiplicity is None else members.multiplicity[names]
    first, second = (
        _build_side(gold._replace(mention=mention[: len(gold.mention)]), len(names), times),
        _build_side(predictions._replace(mention=mention[len(gold.mention) :]), len(names), times),
    )
    return names, first, second


def _count_codes(codes: Longs, times: Longs | None, n_codes: int) -> Longs:
    """Return how often each code below `n_codes` occurs; occurrence i counts `times[i]` times, or once for None."""
    if times is None:
        return np.bincount(codes, minlength=n_codes)
    return np.bincount(codes, times, n_codes).astype(np.int64)  # whole numbers below 2**53: nothing is rounded


def _count_mask(mask: Bools, times: Longs | None) -> int:
    """Return the number of true values in `mask`; value i counts `times[i]` times, or once for None."""
    return int(np.count_nonzero(mask) if times is None else times[mask].sum())


def _renumber(side: _Side, codes: Longs) -> Members:
    """Return the pairs of a side with `codes[i]` as the code of mention i; mentions with a code of -1 are dropped."""
    mention = codes[side.mention]
    cluster = side.cluster[mention >= 0]
    position = None if side.position is None else side.position[cluster]
    return Members(mention[mention >= 0], side.codes[cluster], position=position)


def _build_side(members: Members, n_mentions: int, times: Longs | None) -> _Side:
    """Return a clustering from its pairs of mention number and cluster code, in any order.

    `times` says how many mentions each of the `n_mentions` mentions stands for; None for 1.
    """
    names, number = np.unique(members.cluster, return_inverse=True)
    position = None
    if members.position is not None:
        position = np.full(len(names), np.iinfo(np.int64).max)
        np.minimum.at(position, number, members.position)
    pairs = np.sort(
        _combine_keys(members.mention, number, len(names))
    )  # `np.unique` would hash, which takes five times as long
    pairs = pairs[np.append(True, pairs[1:] != pairs[:-1])[: len(pairs)]]
    mention, number = np.divmod(pairs, max(len(names), 1))
    degree = np.bincount(mention, minlength=n_mentions)
    size = _count_codes(number, None if times is None else times[mention], len(names))
    return _Side(mention, number, names, size, degree, np.cumsum(degree) - degree, times, position)


def _combine_keys(first: Longs, second: Longs, n_second: int) -> Longs:
    """Return one key for each pair of numbers, which sorts by the first, then the second, a number below `n_second`."""
    return first.astype(np.int64) * max(n_second, 1) + second


def _join_pairs(gold: _Side, predictions: _Side) -> tuple[Longs, Longs]:
    """Join both sides by mention: return the indices of each gold pair and each predicted pair of the same mention."""
    times = predictions.degree[gold.mention]
    left = np.repeat(np.arange(len(times)), times)
    right = np.arange(len(left)) + np.repeat(predictions.first_pair[gold.mention] - np.cumsum(times) + times, times)
    return left, right


def _count_covered(side: _Side, other: _Side) -> Longs:
    """Return how many mentions of each cluster of `side` are also in some cluster of the other side."""
    there = other.degree[side.mention] > 0
    times = None if side.multiplicity is None else side.multiplicity[side.mention[there]]
    return _count_codes(side.cluster[there], times, len(side.size))


def _count_components(cluster: Longs, n_clusters: int, pair: Longs, cell: Longs) -> Longs:
    """Return for each cluster how many connected groups its overlap cells form.

    `cluster` is the cluster of each cell of the overlap table. Row i of `pair` and `cell` says that a pair, one mention
    in one cluster, is in a cell; cells of the same pair are connected. Only pairs in several cells need be given.
    """
    cells = np.arange(len(cluster))
    pairs, joint = np.unique(pair, return_inverse=True)
    label = _find_components(cell, len(cells) + joint, len(cells) + len(pairs))
    return np.bincount(cluster[label[: len(cells)] == cells], minlength=n_clusters)


def _find_components(sources: Longs, targets: Longs, n_nodes: int) -> Longs:
    """Return for each node the lowest node in its connected component; edge i is (`sources[i]`, `targets[i]`)."""
    label = np.arange(n_nodes)
    while True:
        ends = label[sources], label[targets]
        if np.array_equal(*ends):
            return label
        lowest = np.minimum(*ends)
        for end in ends:
            np.minimum.at(label, end, lowest)
        # Labels point downwards. Following them to the end keeps the number of rounds small, even on a long chain.
        while not np.array_equal(label, label[label]):
            label = label[label]


def _count_kinds(gold: _Side, predictions: _Side, keys: Longs, shared: Longs) -> MentionKinds:
    """Return the counts of `MentionKinds`.

    `keys` are the sorted cells of the overlap table as combined keys, `shared` the number of mentions in each.
    """
    kind, example = _find_kinds(gold, predictions)
    mentions = _count_codes(kind, gold.multiplicity, len(example))
    gold_degree, prediction_degree = gold.degree[example], predictions.degree[example]
    counts = np.zeros((len(example), 4), np.int64)
    for side, degree, of_side in ((gold, gold_degree, counts[:, 0]), (predictions, prediction_degree, counts[:, 1])):
        of_side[degree == 1] = side.size[side.cluster[side.first_pair[example[degree == 1]]]]
    plain = np.flatnonzero((gold_degree == 1) & (prediction_degree == 1))
    row, column = (side.cluster[side.first_pair[example[plain]]] for side in (gold, predictions))
    both = shared[np.searchsorted(keys, _combine_keys(row, column, len(predictions.size)))]
    common = _count_mask((gold.degree > 0) & (predictions.degree > 0), gold.multiplicity)
    apart = common - _count_covered(gold, predictions)[row] - _count_covered(predictions, gold)[column] + both
    counts[plain, 2:] = np.column_stack([both, apart])
    forked = np.flatnonzero((gold_degree > 1) | (prediction_degree > 1))
    if len(forked):
        counts[forked] = _count_unions(gold, predictions, example[forked])
    return MentionKinds(mentions, *counts.T)


def _find_kinds(gold: _Side, predictions: _Side) -> tuple[Longs, Longs]:
    """Return the number of each mention's kind, from 0, and for each kind one of its mentions.

    Mentions are of one kind if they are in the same clusters on both sides.
    """
    gold_set, prediction_set = _number_cluster_sets(gold), _number_cluster_sets(predictions)
    key = _combine_keys(gold_set + 1, prediction_set + 1, int(prediction_set.max(initial=0)) + 2)
    _, example, kind = np.unique(key, return_index=True, return_inverse=True)
    return kind, example


def _find_last_clusters(side: _Side) -> Longs:
    """Return for each mention the one of its clusters whose first position is the highest; -1 for mentions in none."""
    assert side.position is not None, "positions are stored if only the last cluster counts"
    cluster = side.cluster[np.lexsort((side.position[side.cluster], side.mention))]
    last = np.full(len(side.degree), -1, np.int64)
    present = side.degree > 0
    last[present] = cluster[(side.first_pair + side.degree - 1)[present]]
    return last


def _find_cluster(side: _Side, code: int | None) -> int:
    """Return the number of the cluster with a code, or -1 if the side has no such cluster."""
    numbers = np.flatnonzero(side.codes == code) if code is not None else np.zeros(0, np.int64)
    return int(numbers[0]) if len(numbers) else -1


def _count_last_parts(side: _Side, other_last: Longs) -> Longs:
    """Return into how many parts the other side divides each cluster of `side`, each mention in its last cluster.

    `other_last` is the last cluster of each mention on the other side, -1 if it is missing there: such a mention is a
    part of its own.
    """
    other = other_last[side.mention]
    times = None if side.multiplicity is None else side.multiplicity[side.mention[other < 0]]
    n_missing = _count_codes(side.cluster[other < 0], times, len(side.size))
    n_other = int(other_last.max(initial=0)) + 1
    keys = np.unique(_combine_keys(side.cluster, other, n_other)[other >= 0])
    return n_missing + np.bincount(keys // n_other, minlength=len(side.size))


def _count_last_kinds(
    kinds: MentionKinds,
    sides: tuple[_Side, _Side],
    last: tuple[Longs, Longs],
    cells: tuple[Longs, Longs],
    unlinked_cluster: int | None,
) -> MentionKinds:
    """Return the counts of `MentionKinds` where each mention is together with the mentions of its last cluster.

    `last` has the last gold and the last predicted cluster of each mention, `cells` the cells of the overlap table, as
    sorted combined keys and with their numbers of mentions. `neither` stays that of `kinds`. neleval takes a mention
    that a side lacks for one of its unlinked spans.
    """
    gold, predictions = sides
    _, example = _find_kinds(gold, predictions)
    gold_last, predictions_last = last[0][example], last[1][example]
    rows, columns = (
        np.where(clusters < 0, _find_cluster(side, unlinked_cluster), clusters)
        for side, clusters in zip(sides, (gold_last, predictions_last), strict=True)
    )
    keys, shared = np.append(cells[0], -1), np.append(cells[1], 0)
    cell = np.where((rows >= 0) & (columns >= 0), _combine_keys(rows, columns, len(predictions.size)), -1)
    index = np.searchsorted(cells[0], cell)
    both = np.where(keys[index] == cell, shared[index], 0)
    return MentionKinds(
        kinds.mentions,
        np.where(gold_last >= 0, np.append(gold.size, 0)[gold_last], 0),
        np.where(predictions_last >= 0, np.append(predictions.size, 0)[predictions_last], 0),
        both,
        kinds.neither,
    )


def _number_cluster_sets(side: _Side) -> Longs:
    """Return a number for each mention of one side, equal for mentions in exactly the same clusters; -1 if in none."""
    number = np.full(len(side.degree), -1, np.int64)
    number[side.degree > 0] = side.cluster[side.first_pair[side.degree > 0]]
    used = len(side.size)
    for nth in range(1, int(side.degree.max(initial=0))):
        more = np.flatnonzero(side.degree > nth)
        longer = _combine_keys(number[more], side.cluster[side.first_pair[more] + nth], len(side.size))
        names, same = np.unique(longer, return_inverse=True)
        number[more] = used + same
        used += len(names)
    return number


def _count_unions(gold: _Side, predictions: _Side, mentions: Longs) -> Longs:
    """Return one row for each of `mentions`: the counts `gold`, `predictions`, `both` and `neither` of `MentionKinds`.

    Used for mentions in several clusters: a mention that shares two clusters with another counts once.
    """
    is_common = (gold.degree > 0) & (predictions.degree > 0)
    common, times = _count_mask(is_common, gold.multiplicity), gold.multiplicity
    gold_members, prediction_members = _list_members(gold), _list_members(predictions)
    marked, workspace = np.zeros(len(is_common), np.bool_), np.zeros(len(is_common), np.int64)
    counts = np.zeros((len(mentions), 4), np.int64)
    for i, mention in enumerate(mentions.tolist()):
        with_gold = _unique_mentions(_list_clusters_of(gold, gold_members, mention), workspace)
        with_predictions = _unique_mentions(_list_clusters_of(predictions, prediction_members, mention), workspace)
        marked[with_gold] = True
        both = _count_marked(marked, with_predictions, times)
        marked[with_gold] = False
        n_near = _count_marked(is_common, with_gold, times) + _count_marked(is_common, with_predictions, times) - both
        sizes = [
            len(neighbours) if times is None else times[neighbours].sum()
            for neighbours in (with_gold, with_predictions)
        ]
        counts[i] = *sizes, both, common - n_near if is_common[mention] else 0
    return counts


def _count_marked(mask: Bools, mentions: Longs, times: Longs | None) -> int:
    """Return how many of `mentions` are in `mask`; mention m counts `times[m]` times, or once for None."""
    return _count_mask(mask[mentions], None if times is None else times[mentions])


def _list_members(side: _Side) -> list[Longs]:
    """Return the mentions of each cluster of one side (gold or predicted), as one array per cluster."""
    return np.split(side.mention[np.argsort(side.cluster, kind="stable")], np.cumsum(np.bincount(side.cluster))[:-1])


def _list_clusters_of(side: _Side, members: list[Longs], mention: int) -> list[Longs]:
    """Return the clusters of one side that contain `mention`, each as an array of its mentions.

    `side`: gold or predicted clusters. `members`: the mentions of all clusters of this side, from `_list_members`.
    """
    first = side.first_pair[mention]
    return [members[cluster] for cluster in side.cluster[first : first + side.degree[mention]].tolist()]


def _unique_mentions(groups: list[Longs], workspace: Longs) -> Longs:
    """Return the distinct mentions of all `groups`, each an array of mentions.

    `workspace` has one number per mention of the data and is overwritten, which avoids sorting.
    """
    if len(groups) == 1:
        return groups[0]
    members = np.concatenate([workspace[:0], *groups])
    workspace[members] = np.arange(len(members))
    unique: Longs = members[workspace[members] == np.arange(len(members))]
    return unique
