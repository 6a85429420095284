"""Two clusterings of mentions side by side, counted once for every way to compare them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from karat.model.tables.columns import Longs


@dataclass(frozen=True, slots=True)
class Kinds:
    """Mentions by where they are: those of one kind are in the same gold clusters and the same answer clusters.

    Two mentions go together on a side if a cluster of that side holds both; every mention goes with itself. So a
    mention in several clusters goes with the mentions of all of them, each counted once.
    """

    mentions: Longs  # of each kind
    gold: Longs  # mentions that go with one of this kind in gold; 0 if gold does not have it
    answers: Longs  # the same in the answers
    both: Longs  # mentions that go with it on both sides
    apart: Longs  # common mentions that go with it on neither side; 0 if it is not common itself


@dataclass(frozen=True, slots=True)
class Clusters:
    """Two clusterings of mentions: the sizes of their clusters, and how many mentions each two share.

    A side divides a cluster of the other side into parts. Two mentions are in one part if a cluster of that side
    holds both, or if a chain of such pairs within the divided cluster leads from one to the other. A mention that
    the side does not have is a part alone.
    """

    gold: Longs  # mentions in each gold cluster
    answers: Longs  # mentions in each answer cluster
    row: Longs  # cells of the overlap table that are not zero: gold cluster,
    column: Longs  # answer cluster,
    shared: Longs  # and the mentions both hold
    common: int  # distinct mentions that both sides have
    gold_mentions: int  # distinct mentions of each side
    answer_mentions: int
    gold_parts: Longs  # parts into which the answers divide each gold cluster
    answer_parts: Longs  # parts into which gold divides each answer cluster
    kinds: Kinds


@dataclass(frozen=True, slots=True)
class _Side:
    """One clustering: its distinct pairs in the order of mention, then cluster, both numbered from 0."""

    mention: Longs
    cluster: Longs
    size: Longs  # mentions of each cluster
    degree: Longs  # clusters of each mention
    first: Longs  # where the pairs of each mention begin


def clusters(gold_mention: Longs, gold_cluster: Longs, answer_mention: Longs, answer_cluster: Longs) -> Clusters:
    """Count two clusterings, each given as pairs of codes: this mention is in that cluster.

    Codes of mentions mean the same on both sides. A pair given twice counts once; a mention may be in several
    clusters.
    """
    names, mention = np.unique(np.concatenate([gold_mention, answer_mention]), return_inverse=True)
    gold = _side(mention[: len(gold_mention)], gold_cluster, len(names))
    answers = _side(mention[len(gold_mention) :], answer_cluster, len(names))
    left, right = _meetings(gold, answers)
    met = _key(gold.cluster[left], answers.cluster[right], len(answers.size))
    keys, cell, shared = np.unique(met, return_inverse=True, return_counts=True)
    row, column = np.divmod(keys, max(len(answers.size), 1))
    forked = answers.degree[gold.mention[left]] > 1
    gold_parts = gold.size - _covered(gold, answers) + _joined(row, len(gold.size), left[forked], cell[forked])
    forked = gold.degree[gold.mention[left]] > 1
    answer_parts = (
        answers.size - _covered(answers, gold) + _joined(column, len(answers.size), right[forked], cell[forked])
    )
    return Clusters(
        gold=gold.size,
        answers=answers.size,
        row=row,
        column=column,
        shared=shared,
        common=int(np.count_nonzero((gold.degree > 0) & (answers.degree > 0))),
        gold_mentions=int(np.count_nonzero(gold.degree)),
        answer_mentions=int(np.count_nonzero(answers.degree)),
        gold_parts=gold_parts,
        answer_parts=answer_parts,
        kinds=_kinds(gold, answers, keys, shared),
    )


def _side(mention: Longs, cluster: Longs, mentions: int) -> _Side:
    names, number = np.unique(cluster, return_inverse=True)
    pairs = np.sort(_key(mention, number, len(names)))  # `np.unique` would hash, which takes five times as long
    pairs = pairs[np.append(True, pairs[1:] != pairs[:-1])[: len(pairs)]]
    mention, number = np.divmod(pairs, max(len(names), 1))
    degree = np.bincount(mention, minlength=mentions)
    return _Side(mention, number, np.bincount(number, minlength=len(names)), degree, np.cumsum(degree) - degree)


def _key(one: Longs, other: Longs, others: int) -> Longs:
    """Two numbers as one that sorts alike; the second is below `others`."""
    return one.astype(np.int64) * max(others, 1) + other


def _meetings(gold: _Side, answers: _Side) -> tuple[Longs, Longs]:
    """Every gold pair with every answer pair of the same mention, as places."""
    times = answers.degree[gold.mention]
    left = np.repeat(np.arange(len(times)), times)
    right = np.arange(len(left)) + np.repeat(answers.first[gold.mention] - np.cumsum(times) + times, times)
    return left, right


def _covered(side: _Side, other: _Side) -> Longs:
    """How many mentions of each cluster the other side has too."""
    return np.bincount(side.cluster[other.degree[side.mention] > 0], minlength=len(side.size))


def _joined(cluster: Longs, clusters: int, pair: Longs, cell: Longs) -> Longs:
    """How many groups the cells of each cluster form, where cells of the same `pair` are joined.

    A pair is one mention in one cluster; only those that several clusters of the other side hold need be given.
    """
    cells = np.arange(len(cluster))
    pairs, joint = np.unique(pair, return_inverse=True)
    label = _components(cell, len(cells) + joint, len(cells) + len(pairs))
    return np.bincount(cluster[label[: len(cells)] == cells], minlength=clusters)


def _components(one: Longs, other: Longs, nodes: int) -> Longs:
    """For each node the lowest node it is connected with; edge i goes from `one[i]` to `other[i]`."""
    label = np.arange(nodes)
    while True:
        ends = label[one], label[other]
        if np.array_equal(*ends):
            return label
        lowest = np.minimum(*ends)
        for end in ends:
            np.minimum.at(label, end, lowest)
        # Labels point downwards. To follow them to the bottom makes the rounds few, even on a long chain.
        while not np.array_equal(label, label[label]):
            label = label[label]


def _kinds(gold: _Side, answers: _Side, keys: Longs, shared: Longs) -> Kinds:
    """`keys` and `shared` are the overlap table."""
    gold_set, answer_set = _sets(gold), _sets(answers)
    key = _key(gold_set + 1, answer_set + 1, int(answer_set.max(initial=0)) + 2)
    _, example, mentions = np.unique(key, return_index=True, return_counts=True)
    gold_degree, answer_degree = gold.degree[example], answers.degree[example]
    counts = np.zeros((len(example), 4), np.int64)
    for side, degree, of_side in ((gold, gold_degree, counts[:, 0]), (answers, answer_degree, counts[:, 1])):
        of_side[degree == 1] = side.size[side.cluster[side.first[example[degree == 1]]]]
    plain = np.flatnonzero((gold_degree == 1) & (answer_degree == 1))
    row, column = (side.cluster[side.first[example[plain]]] for side in (gold, answers))
    both = shared[np.searchsorted(keys, _key(row, column, len(answers.size)))]
    common = np.count_nonzero((gold.degree > 0) & (answers.degree > 0))
    apart = common - _covered(gold, answers)[row] - _covered(answers, gold)[column] + both
    counts[plain, 2:] = np.column_stack([both, apart])
    forked = np.flatnonzero((gold_degree > 1) | (answer_degree > 1))
    if len(forked):
        counts[forked] = _unions(gold, answers, example[forked])
    return Kinds(mentions, *counts.T)


def _sets(side: _Side) -> Longs:
    """A number for each mention, equal for mentions in the same clusters; -1 for those in none."""
    number = np.full(len(side.degree), -1, np.int64)
    number[side.degree > 0] = side.cluster[side.first[side.degree > 0]]
    used = len(side.size)
    for nth in range(1, int(side.degree.max(initial=0))):
        more = np.flatnonzero(side.degree > nth)
        longer = _key(number[more], side.cluster[side.first[more] + nth], len(side.size))
        names, same = np.unique(longer, return_inverse=True)
        number[more] = used + same
        used += len(names)
    return number


def _unions(gold: _Side, answers: _Side, mentions: Longs) -> Longs:
    """The four counts of `Kinds` for mentions in several clusters: these may overlap, so that sizes do not add."""
    is_common = (gold.degree > 0) & (answers.degree > 0)
    common = np.count_nonzero(is_common)
    gold_members, answer_members = _members(gold), _members(answers)
    marked, place = np.zeros(len(is_common), np.bool_), np.zeros(len(is_common), np.int64)
    counts = np.zeros((len(mentions), 4), np.int64)
    for i, mention in enumerate(mentions.tolist()):
        with_gold = _distinct(_nearby(gold, gold_members, mention), place)
        with_answers = _distinct(_nearby(answers, answer_members, mention), place)
        marked[with_gold] = True
        both = np.count_nonzero(marked[with_answers])
        marked[with_gold] = False
        near = np.count_nonzero(is_common[with_gold]) + np.count_nonzero(is_common[with_answers]) - both
        counts[i] = len(with_gold), len(with_answers), both, common - near if is_common[mention] else 0
    return counts


def _members(side: _Side) -> list[Longs]:
    """The mentions of each cluster."""
    return np.split(side.mention[np.argsort(side.cluster, kind="stable")], np.cumsum(side.size)[:-1])


def _nearby(side: _Side, members: list[Longs], mention: int) -> list[Longs]:
    """The members of each cluster of a mention."""
    first = side.first[mention]
    return [members[cluster] for cluster in side.cluster[first : first + side.degree[mention]].tolist()]


def _distinct(groups: list[Longs], place: Longs) -> Longs:
    """Mentions of all groups, each once. `place`, of one number per mention, is written on: it saves sorting."""
    if len(groups) == 1:
        return groups[0]
    found = np.concatenate([place[:0], *groups])
    place[found] = np.arange(len(found))
    kept: Longs = found[place[found] == np.arange(len(found))]
    return kept
