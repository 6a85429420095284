"""Two clusterings of mentions side by side, counted once for every way to compare them."""

from __future__ import annotations

from typing import NamedTuple

import msgspec
import numpy as np

from karat.model.tables.columns import Bools, Ints, Longs


class Kinds(msgspec.Struct, frozen=True):
    """Mentions by where they are: those of one kind are in the same gold clusters and the same answer clusters.

    Two mentions go together on a side if a cluster of that side holds both; every mention goes with itself. So a
    mention in several clusters goes with the mentions of all of them, each counted once.
    """

    mentions: Longs  # of each kind
    gold: Longs  # mentions that go with one of this kind in gold; 0 if gold does not have it
    answers: Longs  # the same in the answers
    both: Longs  # mentions that go with it on both sides
    apart: Longs  # common mentions that go with it on neither side; 0 if it is not common itself


class Clusters(msgspec.Struct, frozen=True):
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


class Members(NamedTuple):
    """One clustering as pairs of codes: this mention is in that cluster. `document` says where, if somebody asks."""

    mention: Longs
    cluster: Longs
    document: Ints | Longs | None = None

    def where(self, mask: Bools) -> Members:
        """Some of the pairs."""
        return Members(*(None if column is None else column[mask] for column in self))  # type: ignore[arg-type]


class Held(NamedTuple):
    """Mentions and the clusters that hold them on both sides; `times`: how many mentions each one stands for."""

    gold: Members
    answers: Members
    times: Longs | None = None

    def within(self, keep: Bools) -> Held:
        """Only what is in some documents."""
        assert self.gold.document is not None
        assert self.answers.document is not None, "documents are kept where somebody asks for some of them"
        gold, answers = self.gold.where(keep[self.gold.document]), self.answers.where(keep[self.answers.document])
        return Held(gold, answers, self.times)

    def alike(self) -> Held:
        """Mentions that are in the same clusters on both sides as one; what is counted of them stays the same."""
        names, gold, answers = _sides(self)
        kind, example = _alike(gold, answers)
        number = np.full(len(names), -1)
        number[example] = np.arange(len(example))
        times = _count(kind, None if self.times is None else self.times[names], len(example))
        return Held(_chosen(gold, number), _chosen(answers, number), times)

    def once(self) -> Held:
        """Every pair once."""
        names, gold, answers = _sides(self)
        return Held(_chosen(gold, names), _chosen(answers, names), self.times)

    def counted(self) -> tuple[int, int, int]:
        """How many mentions gold has, the answers have, and both have."""
        names, gold, answers = _sides(self)
        there = gold.degree > 0, answers.degree > 0, (gold.degree > 0) & (answers.degree > 0)
        times = np.ones(len(names), np.int64) if self.times is None else self.times[names]
        first, second, both = (int(times[each].sum()) for each in there)
        return first, second, both


class _Side(msgspec.Struct, frozen=True):
    """One clustering: its distinct pairs in the order of mention, then cluster, both numbered from 0."""

    mention: Longs
    cluster: Longs
    names: Longs  # the code of each cluster
    size: Longs  # mentions of each cluster
    degree: Longs  # clusters of each mention
    first: Longs  # where the pairs of each mention begin
    times: Longs | None  # how many mentions each mention stands for


def clusters(gold_mention: Longs, gold_cluster: Longs, answer_mention: Longs, answer_cluster: Longs) -> Clusters:
    """Count two clusterings, each given as pairs of codes: this mention is in that cluster.

    Codes of mentions mean the same on both sides. A pair given twice counts once; a mention may be in several
    clusters.
    """
    return clusters_of(Held(Members(gold_mention, gold_cluster), Members(answer_mention, answer_cluster)))


def clusters_of(held: Held) -> Clusters:
    """Count two clusterings."""
    _, gold, answers = _sides(held)
    times = gold.times
    left, right = _meetings(gold, answers)
    met = _key(gold.cluster[left], answers.cluster[right], len(answers.size))
    keys, cell = np.unique(met, return_inverse=True)
    shared = _count(cell, None if times is None else times[gold.mention[left]], len(keys))
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
        common=_number((gold.degree > 0) & (answers.degree > 0), times),
        gold_mentions=_number(gold.degree > 0, times),
        answer_mentions=_number(answers.degree > 0, times),
        gold_parts=gold_parts,
        answer_parts=answer_parts,
        kinds=_kinds(gold, answers, keys, shared),
    )


def _sides(held: Held) -> tuple[Longs, _Side, _Side]:
    """The codes of all mentions, and both clusterings of them."""
    gold, answers = held.gold, held.answers
    names, mention = np.unique(np.concatenate([gold.mention, answers.mention]), return_inverse=True)
    times = None if held.times is None else held.times[names]
    first = _side(mention[: len(gold.mention)], gold.cluster, len(names), times)
    return names, first, _side(mention[len(gold.mention) :], answers.cluster, len(names), times)


def _count(codes: Longs, times: Longs | None, number: int) -> Longs:
    """How often each code occurs, up to a number of them."""
    if times is None:
        return np.bincount(codes, minlength=number)
    return np.bincount(codes, times, number).astype(np.int64)  # whole numbers below 2**53: nothing is rounded


def _number(mask: Bools, times: Longs | None) -> int:
    """How many mentions are marked."""
    return int(np.count_nonzero(mask) if times is None else times[mask].sum())


def _chosen(side: _Side, number: Longs) -> Members:
    """The pairs of the mentions that have a number, by which they are called."""
    mention = number[side.mention]
    return Members(mention[mention >= 0], side.names[side.cluster[mention >= 0]])


def _side(mention: Longs, cluster: Longs, mentions: int, times: Longs | None) -> _Side:
    names, number = np.unique(cluster, return_inverse=True)
    pairs = np.sort(_key(mention, number, len(names)))  # `np.unique` would hash, which takes five times as long
    pairs = pairs[np.append(True, pairs[1:] != pairs[:-1])[: len(pairs)]]
    mention, number = np.divmod(pairs, max(len(names), 1))
    degree = np.bincount(mention, minlength=mentions)
    size = _count(number, None if times is None else times[mention], len(names))
    return _Side(mention, number, names, size, degree, np.cumsum(degree) - degree, times)


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
    there = other.degree[side.mention] > 0
    times = None if side.times is None else side.times[side.mention[there]]
    return _count(side.cluster[there], times, len(side.size))


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
    kind, example = _alike(gold, answers)
    mentions = _count(kind, gold.times, len(example))
    gold_degree, answer_degree = gold.degree[example], answers.degree[example]
    counts = np.zeros((len(example), 4), np.int64)
    for side, degree, of_side in ((gold, gold_degree, counts[:, 0]), (answers, answer_degree, counts[:, 1])):
        of_side[degree == 1] = side.size[side.cluster[side.first[example[degree == 1]]]]
    plain = np.flatnonzero((gold_degree == 1) & (answer_degree == 1))
    row, column = (side.cluster[side.first[example[plain]]] for side in (gold, answers))
    both = shared[np.searchsorted(keys, _key(row, column, len(answers.size)))]
    common = _number((gold.degree > 0) & (answers.degree > 0), gold.times)
    apart = common - _covered(gold, answers)[row] - _covered(answers, gold)[column] + both
    counts[plain, 2:] = np.column_stack([both, apart])
    forked = np.flatnonzero((gold_degree > 1) | (answer_degree > 1))
    if len(forked):
        counts[forked] = _unions(gold, answers, example[forked])
    return Kinds(mentions, *counts.T)


def _alike(gold: _Side, answers: _Side) -> tuple[Longs, Longs]:
    """A number for each mention, equal for mentions in the same clusters on both sides; and one mention of each."""
    gold_set, answer_set = _sets(gold), _sets(answers)
    key = _key(gold_set + 1, answer_set + 1, int(answer_set.max(initial=0)) + 2)
    _, example, kind = np.unique(key, return_index=True, return_inverse=True)
    return kind, example


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
    common, times = _number(is_common, gold.times), gold.times
    gold_members, answer_members = _members(gold), _members(answers)
    marked, place = np.zeros(len(is_common), np.bool_), np.zeros(len(is_common), np.int64)
    counts = np.zeros((len(mentions), 4), np.int64)
    for i, mention in enumerate(mentions.tolist()):
        with_gold = _distinct(_nearby(gold, gold_members, mention), place)
        with_answers = _distinct(_nearby(answers, answer_members, mention), place)
        marked[with_gold] = True
        both = _marked(marked, with_answers, times)
        marked[with_gold] = False
        near = _marked(is_common, with_gold, times) + _marked(is_common, with_answers, times) - both
        sizes = [len(each) if times is None else times[each].sum() for each in (with_gold, with_answers)]
        counts[i] = *sizes, both, common - near if is_common[mention] else 0
    return counts


def _marked(mark: Bools, mentions: Longs, times: Longs | None) -> int:
    """How many of some mentions are marked."""
    return _number(mark[mentions], None if times is None else times[mentions])


def _members(side: _Side) -> list[Longs]:
    """The mentions of each cluster."""
    return np.split(side.mention[np.argsort(side.cluster, kind="stable")], np.cumsum(np.bincount(side.cluster))[:-1])


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
