"""Who is matched with whom, when several could be."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from itertools import pairwise

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.matching.align.crowd import Crowd, packed, solved
from karat.model.items import Items
from karat.model.tables.columns import Bools, Floats, Longs


class Edges(msgspec.Struct, frozen=True):
    """Pairs that could be matched; `unit` and `answer` are taken at most once. `label` is the gold item in play."""

    unit: Longs
    label: Longs
    answer: Longs
    degree: Floats | Bools

    def take(self, places: Longs | Bools) -> Edges:
        """Some of the edges, by place or by mask."""
        if places.dtype == np.bool_:
            if places.all():
                return self
            places = np.flatnonzero(places)
        return Edges(self.unit[places], self.label[places], self.answer[places], self.degree[places])

    def __len__(self) -> int:
        return len(self.unit)


class Preferences(msgspec.Struct, frozen=True):
    """What decides between assignments of the same size."""

    gold: Items
    answers: Items
    score: Floats
    required: Bools
    graded: bool

    def levels(self, answers: Longs) -> Floats:
        """Scores of answers, with those not given first: no threshold ever removes them.

        With partial credit they do not decide.
        """
        if self.graded:
            return np.zeros(len(answers))
        score = self.score[answers]
        return np.where(np.isnan(score), np.inf, score)


def assign(edges: Edges, prefer: Preferences, method: str) -> Longs:
    """The places of the edges that are taken.

    `optimal`: as many as possible (for graded relations: the largest sum of degrees); among those higher scores
    first, then mentions that are required, then exact spans, then larger overlap, then smaller (start, end, id).
    `greedy`: each mention in the order of the file takes the first free answer that matches.

    Nearly all edges are alone at both ends, or share only one end; what is left is solved one connected
    component at a time, so that neither blocks nor order matter.
    """
    taken, rest = _uncontested(edges, prefer, most_wanted if method == "optimal" else first_in_file)
    taken[_optimal(rest, edges, prefer) if method == "optimal" else _greedy(rest, edges, prefer)] = True
    return np.flatnonzero(taken)


def _uncontested(
    edges: Edges, prefer: Preferences, first: Callable[[Edges, Preferences, Longs], Longs]
) -> tuple[Bools, Longs]:
    """Which edges are taken where all share an end, and the places of all edges where they do not."""
    taken = (np.bincount(edges.unit)[edges.unit] == 1) & (np.bincount(edges.answer)[edges.answer] == 1)
    contested = np.flatnonzero(~taken)
    if not len(contested):
        return taken, contested
    unit, answer = _renumber(edges.unit[contested]), _renumber(edges.answer[contested])
    many_units, many_answers = np.bincount(unit) > 1, np.bincount(answer) > 1
    around_unit = np.bincount(unit, many_answers[answer])[unit] == 0
    around_answer = (np.bincount(answer, many_units[unit])[answer] == 0) & ~around_unit
    for around, end in ((around_unit, unit), (around_answer, answer)):
        star = contested[around]
        taken[star[first(edges.take(star), prefer, end[around])]] = True
    return taken, contested[~around_unit & ~around_answer]


def _renumber(values: Longs) -> Longs:
    there = np.zeros(int(values.max(initial=-1)) + 1, np.bool_)
    there[values] = True
    return (np.cumsum(there) - 1)[values]


def _first_of_each(ranked: Longs, group: Longs) -> Longs:
    return ranked[np.unique(group, return_index=True)[1]]


def _by_file(edges: Edges, prefer: Preferences) -> Longs:
    # Documents may have been copied, so that several mentions have one row.
    return np.lexsort((prefer.answers.row[edges.answer], edges.unit, prefer.gold.row[edges.unit]))


def _by_preference(edges: Edges, prefer: Preferences) -> Longs:
    """The order of edges from the most wanted to the least."""
    exact, overlap = _closeness(edges, prefer)
    score = prefer.levels(edges.answer)
    return np.lexsort(
        (
            ranks(prefer.answers, edges.answer),
            ranks(prefer.gold, edges.label),
            -overlap,
            ~exact,
            ~prefer.required[edges.label],
            -score,
            -edges.degree.astype(np.float64),
        )
    )


def _closeness(edges: Edges, prefer: Preferences) -> tuple[Bools, Longs]:
    gold, answers = prefer.gold, prefer.answers
    start = np.maximum(gold.start[edges.label], answers.start[edges.answer])
    end = np.minimum(gold.end[edges.label], answers.end[edges.answer])
    exact = (gold.start[edges.label] == answers.start[edges.answer]) & (
        gold.end[edges.label] == answers.end[edges.answer]
    )
    return exact, np.maximum(end - start, 0).astype(np.int64)


def ranks(items: Items, places: Longs) -> Longs:
    """The rank of items within their document by (start, end, id), the id compared as written, and then by content."""
    there = np.zeros(len(items), np.bool_)
    there[places] = True
    every = np.flatnonzero(there)
    codes, document = items.entity[every], items.document[every]
    names = items.names.take(pa.array(codes, mask=codes < 0)).fill_null("").dictionary_encode()
    by_name = np.empty(len(names.dictionary), np.int64)
    by_name[pc.array_sort_indices(names.dictionary).to_numpy()] = np.arange(len(by_name))
    keys = (codes, by_name[names.indices.to_numpy()], items.end[every], items.start[every], document)
    order = items.order(every, keys)
    rank = np.empty(len(items), np.int64)
    rank[every[order]] = np.arange(len(every)) - np.searchsorted(document[order], document[order])
    return rank[places]


def _greedy(places: Longs, edges: Edges, prefer: Preferences) -> Longs:
    """Each mention in the order of the file takes the first answer of the file that is still free."""
    ranked = places[_by_file(edges.take(places), prefer)]
    answers, free, taken = edges.answer[ranked], np.ones(len(prefer.answers), np.bool_), []
    bounds = np.flatnonzero(np.diff(edges.unit[ranked], prepend=-1, append=-1)).tolist()
    for low, high in pairwise(bounds):
        place = low + int(free[answers[low:high]].argmax())
        if free[answers[place]]:
            free[answers[place]] = False
            taken.append(place)
    return ranked[taken]


def _optimal(places: Longs, edges: Edges, prefer: Preferences) -> Longs:
    """Solve the components in which several mentions and several answers compete."""
    if not len(places):
        return places
    component = _components(_renumber(edges.unit[places]), _renumber(edges.answer[places]))
    large = np.bincount(component)[component] > _FEW
    few = np.flatnonzero(~large)
    few = few[_by_preference(edges.take(places[few]), prefer)]
    squares, others = _squares(places[few], component[few], edges, prefer)
    taken = [squares, _inserted(others, edges, prefer)]
    many, component = places[large], component[large]
    order = np.argsort(component, kind="stable")
    bounds = np.flatnonzero(np.diff(component[order], prepend=-1, append=-1)).tolist()
    taken += [_crowd(many[order[low:high]], edges, prefer) for low, high in pairwise(bounds)]
    return np.concatenate(taken)


_FEW = 64
"""Components of up to so many edges are solved edge by edge, larger ones with arrays: only the speed differs."""


def _squares(ranked: Longs, component: Longs, edges: Edges, prefer: Preferences) -> tuple[Longs, Longs]:
    """The edges taken where two mentions compete for two answers and nobody else does; and all other edges.

    This is nearly all that is left in real data: two nested mentions of one entity, both answered.
    """
    if not len(ranked) or prefer.graded:
        return ranked[:0], ranked
    unit, answer = _renumber(edges.unit[ranked]), _renumber(edges.answer[ranked])
    component = _renumber(component)
    size = np.bincount(component)
    units = np.bincount(component[np.unique(unit, return_index=True)[1]], minlength=len(size))
    answers = np.bincount(component[np.unique(answer, return_index=True)[1]], minlength=len(size))
    full = ((units == 2) & (answers == 2) & (size == 4))[component]
    order = np.argsort(component[full], kind="stable")
    # Four edges each, the most wanted first: it goes together with the edge that shares neither of its ends.
    square = ranked[full][order].reshape(-1, 4)
    apart = (edges.unit[square] != edges.unit[square[:, :1]]) & (edges.answer[square] != edges.answer[square[:, :1]])
    partner = np.argmax(apart, axis=1)
    lines = np.arange(len(square))
    first = np.stack([square[:, 0], square[lines, partner]], axis=1)
    others = np.ones((len(square), 4), np.bool_)
    others[:, 0] = others[lines, partner] = False
    second = square[others].reshape(-1, 2)
    gain_first, gain_second = _gains(first, edges, prefer), _gains(second, edges, prefer)
    better = np.where((gain_second > gain_first)[:, None], second, first)
    return better.ravel(), ranked[~full]


def _components(unit: Longs, answer: Longs) -> Longs:
    """A number for each edge, the same for edges that are connected."""
    one, other = unit, answer + int(unit.max()) + 1
    root = np.arange(int(other.max()) + 1)
    while len(one):
        low = np.minimum(root[one], root[other])
        np.minimum.at(root, root[one], low)
        np.minimum.at(root, root[other], low)
        while not np.array_equal(root, above := root[root]):
            root = above
        apart = root[one] != root[other]
        one, other = one[apart], other[apart]
    return _renumber(root[unit])


def _gains(pairs: Longs, edges: Edges, prefer: Preferences) -> Longs:
    """What two edges together are worth, beyond being two: required mentions, exact spans, overlap."""
    part = edges.take(pairs.ravel())
    exact, overlap = _closeness(part, prefer)
    gain = (prefer.required[part.label].astype(np.int64) << 50) + (exact.astype(np.int64) << 40) + overlap
    together: Longs = gain.reshape(-1, 2).sum(axis=1)
    return together


# Strides of one integer cost: a larger overlap must never outweigh an exact span, and so on upwards. Python
# integers do not overflow, so the sums over a component stay exact.
_OVERLAP, _EXACT, _REQUIRED, _DEGREE, _UNMATCHED = 1 << 48, 1 << 88, 1 << 120, 1 << 152, 1 << 220


def _inserted(ranked: Longs, edges: Edges, prefer: Preferences) -> Longs:
    """Solve small components, all at once."""
    if not len(ranked):
        return ranked
    part = edges.take(ranked)
    exact, overlap = _closeness(part, prefer)
    gold_rank, answer_rank = ranks(prefer.gold, part.label), ranks(prefer.answers, part.answer)
    near = gold_rank + answer_rank
    degree = np.round(part.degree * 2**32).astype(np.int64) if prefer.graded else np.zeros(len(part), np.int64)
    gains = [
        d * _DEGREE + r * _REQUIRED + e * _EXACT + o * _OVERLAP - n
        for d, r, e, o, n in zip(
            degree.tolist(),
            prefer.required[part.label].astype(int).tolist(),
            exact.astype(int).tolist(),
            overlap.tolist(),
            near.tolist(),
            strict=True,
        )
    ]
    score = prefer.levels(part.answer)
    document = prefer.gold.document[part.label].astype(np.int64) << 32
    units, answers = _numbered(part.unit, document | gold_rank), _numbered(part.answer, document | answer_rank)
    choices: dict[int, dict[int, tuple[int, int]]] = defaultdict(dict)
    level: dict[int, float] = {}
    for i in np.lexsort((units, answers, -score)).tolist():
        choices[int(answers[i])][int(units[i])] = (-gains[i], int(ranked[i]))
        level[int(answers[i])] = float(score[i])
    taken = _insert_all(choices, level, 0 if prefer.graded else _UNMATCHED)
    return np.array([choices[answer][unit][1] for unit, answer in taken.items()], np.int64)


def _numbered(places: Longs, rank: Longs) -> Longs:
    """New numbers in the order of rank, so that the order of the file decides nothing."""
    group = _renumber(places)
    lowest = np.full(int(group.max()) + 1, np.iinfo(np.int64).max)
    np.minimum.at(lowest, group, rank)
    number = np.empty(len(lowest), np.int64)
    number[np.argsort(lowest, kind="stable")] = np.arange(len(lowest))
    return number[group]


def _insert_all(
    choices: dict[int, dict[int, tuple[int, int]]], level: dict[int, float], unmatched: int
) -> dict[int, int]:
    """The cheapest assignment of units to answers, built by inserting the answers in their order.

    An answer that is in stays in, except in favour of an equal score: so each answer's fate does not depend on
    answers below it, and a threshold never changes what happened above it.
    """
    holder: dict[int, int] = {}
    held: dict[int, int] = {}
    for new in choices:
        cost: dict[int, int] = {new: 0}
        via: dict[int, int] = {}
        queue, queued = deque([new]), {new}
        while queue:
            answer = queue.popleft()
            queued.discard(answer)
            back = choices[answer][held[answer]][0] if answer in held else 0
            for unit, (price, _) in choices[answer].items():
                owner = holder.get(unit)
                if owner == answer:
                    continue
                end = owner if owner is not None else -unit - 1
                total = cost[answer] - back + price
                if end not in cost or total < cost[end]:
                    cost[end] = total
                    via[end] = answer
                    if owner is not None and owner not in queued:
                        queue.append(owner)
                        queued.add(owner)
        best = min(
            (
                total - choices[end][held[end]][0] + unmatched if end in held else total + unmatched * (end >= 0),
                end,
            )
            for end, total in cost.items()
            if end < 0 or level[end] == level[new]
        )[1]
        _shift(best, new, via, holder, held)
    return holder


def _shift(end: int, new: int, via: dict[int, int], holder: dict[int, int], held: dict[int, int]) -> None:
    """Move every answer on the path to the unit that the next one leaves."""
    if end == new:
        return
    unit = -end - 1 if end < 0 else held.pop(end)
    while True:
        answer = via[end]
        left = held.get(answer)
        holder[unit], held[answer] = answer, unit
        if answer == new or left is None:
            return
        end, unit = answer, left


def _crowd(places: Longs, edges: Edges, prefer: Preferences) -> Longs:
    """Solve one large component."""
    order, crowd = _as_crowd(edges.take(places), prefer)
    return places[order[solved(crowd)]]


def _as_crowd(part: Edges, prefer: Preferences) -> tuple[Longs, Crowd]:
    """The component in numbers of its own, and the order in which its edges come there."""
    unit = _numbered(part.unit, ranks(prefer.gold, part.label))
    answer = _numbered(part.answer, ranks(prefer.answers, part.answer))
    level = np.empty(int(answer.max()) + 1)
    level[answer] = prefer.levels(part.answer)
    falling = np.argsort(-level, kind="stable")
    number = np.empty(len(level), np.int64)
    number[falling] = np.arange(len(level))
    answer, units = number[answer], int(unit.max()) + 1
    order = np.argsort(answer * units + unit)
    cost, out = packed(_criteria(part, prefer, min(len(level), units)))
    out = 0 if prefer.graded else out
    return order, Crowd(answer[order], unit[order], cost[order], level[falling], units, out)


def _criteria(part: Edges, prefer: Preferences, size: int) -> Iterator[tuple[Longs, int]]:
    """What decides between assignments of at most so many edges, with the most that two of them can differ by."""
    if prefer.graded:
        degree = np.round(part.degree * 2**32).astype(np.int64)
        degree //= np.gcd.reduce(degree)
        yield degree, int(degree.max()) * size
    # A chain of exchanges changes which mention is taken at its end only, if mentions have no alternatives.
    yield prefer.required[part.label].astype(np.int64), 1 if np.array_equal(part.unit, part.label) else size
    exact, overlap = _closeness(part, prefer)
    yield exact.astype(np.int64), size if exact.any() else 0
    yield overlap, _sum_of_most(overlap, part)


def _sum_of_most(worth: Longs, part: Edges) -> int:
    """No set of edges that share no end is worth more."""
    sums = []
    for end in (part.unit, part.answer):
        largest = np.zeros(int(end.max()) + 1, np.int64)
        np.maximum.at(largest, end, worth)
        sums.append(int(largest.sum()))
    return min(sums)


def most_wanted(edges: Edges, prefer: Preferences, group: Longs) -> Longs:
    """The place of the most wanted edge of each group; only where a group has several, they are ranked."""
    order = np.argsort(group, kind="stable")
    ordered = group[order]
    first = np.flatnonzero(np.append(np.ones(min(len(ordered), 1), np.bool_), ordered[1:] != ordered[:-1]))
    found, size = order[first], np.diff(first, append=len(ordered))
    several = size > 1
    if several.any():
        rivals = np.sort(order[np.repeat(several, size)])
        ranked = rivals[_by_preference(edges.take(rivals), prefer)]
        found[several] = _first_of_each(ranked, group[ranked])
    return found


def first_in_file(edges: Edges, prefer: Preferences, group: Longs) -> Longs:
    """The place of the first edge of each group, in the order of the gold file and then of the answers."""
    ranked = _by_file(edges, prefer)
    return _first_of_each(ranked, group[ranked])
