"""Who is matched with whom, when several could be."""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.model.items import Items
from karat.model.tables.columns import Bools, Floats, Longs


@dataclass(frozen=True, slots=True)
class Edges:
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


@dataclass(frozen=True, slots=True)
class Preferences:
    """What decides between assignments of the same size."""

    gold: Items
    answers: Items
    score: Floats
    required: Bools
    graded: bool


def assign(edges: Edges, prefer: Preferences, method: str) -> Longs:
    """The places of the edges that are taken.

    `optimal`: as many as possible (for graded relations: the largest sum of degrees); among those higher scores
    first, then mentions that are required, then exact spans, then larger overlap, then smaller (start, end, id).
    `greedy`: each mention in the order of the file takes the first free answer that matches.

    Nearly all edges are alone at both ends, or share only one end; what is left is solved one connected
    component at a time, so that neither blocks nor order matter.
    """
    alone = (np.bincount(edges.unit)[edges.unit] == 1) & (np.bincount(edges.answer)[edges.answer] == 1)
    if alone.all():
        return np.arange(len(edges))
    contested = np.flatnonzero(~alone)
    ordered = _by_preference if method == "optimal" else _by_file
    ranked = contested[ordered(edges.take(contested), prefer)]
    unit, answer = _renumber(edges.unit[ranked]), _renumber(edges.answer[ranked])
    many_units, many_answers = np.bincount(unit) > 1, np.bincount(answer) > 1
    around_unit = np.bincount(unit, many_answers[answer])[unit] == 0
    around_answer = (np.bincount(answer, many_units[unit])[answer] == 0) & ~around_unit
    taken = alone
    taken[_first_of_each(ranked[around_unit], unit[around_unit])] = True
    taken[_first_of_each(ranked[around_answer], answer[around_answer])] = True
    rest = ranked[~around_unit & ~around_answer]
    if method == "optimal":
        squares, rest = _squares(rest, edges, prefer)
        taken[squares] = True
        taken[_optimal(rest, edges, prefer)] = True
    else:
        taken[_greedy(rest, edges)] = True
    return np.flatnonzero(taken)


def _renumber(values: Longs) -> Longs:
    return np.unique(values, return_inverse=True)[1]


def _first_of_each(ranked: Longs, group: Longs) -> Longs:
    return ranked[np.unique(group, return_index=True)[1]]


def _by_file(edges: Edges, prefer: Preferences) -> Longs:
    return np.lexsort((prefer.answers.row[edges.answer], prefer.gold.row[edges.unit]))


def _by_preference(edges: Edges, prefer: Preferences) -> Longs:
    """The order of edges from the most wanted to the least."""
    exact, overlap = _closeness(edges, prefer)
    score = _scores(edges, prefer)
    return np.lexsort(
        (
            _rank(prefer.answers, edges.answer),
            _rank(prefer.gold, edges.label),
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


def _scores(edges: Edges, prefer: Preferences) -> Floats:
    """Scores, with those not given first: no threshold ever removes them. With partial credit they do not decide."""
    if prefer.graded:
        return np.zeros(len(edges))
    score = prefer.score[edges.answer]
    return np.where(np.isnan(score), np.inf, score)


def _rank(items: Items, places: Longs) -> Longs:
    """The rank of items within their document by (start, end, id), the id compared as written."""
    unique, inverse = np.unique(places, return_inverse=True)
    codes, document = items.entity[unique], items.document[unique]
    names = items.names.take(pa.array(codes, mask=codes < 0)).fill_null("").dictionary_encode()
    by_name = np.empty(len(names.dictionary), np.int64)
    by_name[pc.array_sort_indices(names.dictionary).to_numpy()] = np.arange(len(by_name))
    order = np.lexsort((codes, by_name[names.indices.to_numpy()], items.end[unique], items.start[unique], document))
    rank = np.empty(len(unique), np.int64)
    rank[order] = np.arange(len(unique)) - np.searchsorted(document[order], document[order])
    return rank[inverse]


def _squares(ranked: Longs, edges: Edges, prefer: Preferences) -> tuple[Longs, Longs]:
    """The edges taken where two mentions compete for two answers and nobody else does; and all other edges.

    This is nearly all that is left in real data: two nested mentions of one entity, both answered.
    """
    if not len(ranked) or prefer.graded:
        return ranked[:0], ranked
    unit, answer = _renumber(edges.unit[ranked]), _renumber(edges.answer[ranked])
    component = _components(unit, answer)
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
    label = np.arange(len(unit))
    while True:
        lowest = label
        for end in (unit, answer):
            least = np.full(int(end.max()) + 1, len(unit))
            np.minimum.at(least, end, lowest)
            lowest = least[end]
        if np.array_equal(lowest, label):
            return _renumber(label)
        label = lowest


def _gains(pairs: Longs, edges: Edges, prefer: Preferences) -> Longs:
    """What two edges together are worth, beyond being two: required mentions, exact spans, overlap."""
    part = edges.take(pairs.ravel())
    exact, overlap = _closeness(part, prefer)
    gain = (prefer.required[part.label].astype(np.int64) << 50) + (exact.astype(np.int64) << 40) + overlap
    together: Longs = gain.reshape(-1, 2).sum(axis=1)
    return together


def _greedy(ranked: Longs, edges: Edges) -> Longs:
    units: set[int] = set()
    answers: set[int] = set()
    taken = []
    for place, unit, answer in zip(
        ranked.tolist(), edges.unit[ranked].tolist(), edges.answer[ranked].tolist(), strict=True
    ):
        if unit not in units and answer not in answers:
            units.add(unit)
            answers.add(answer)
            taken.append(place)
    return np.array(taken, np.int64)


# Strides of one integer cost: a larger overlap must never outweigh an exact span, and so on upwards. Python
# integers do not overflow, so the sums over a component stay exact.
_OVERLAP, _EXACT, _REQUIRED, _DEGREE, _UNMATCHED = 1 << 48, 1 << 88, 1 << 120, 1 << 152, 1 << 220


def _optimal(ranked: Longs, edges: Edges, prefer: Preferences) -> Longs:
    """Solve the components in which several mentions and several answers compete."""
    if not len(ranked):
        return ranked
    part = edges.take(ranked)
    exact, overlap = _closeness(part, prefer)
    gold_rank, answer_rank = _rank(prefer.gold, part.label), _rank(prefer.answers, part.answer)
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
    score = _scores(part, prefer)
    units, answers = (
        _numbered(part.unit, gold_rank, part, prefer),
        _numbered(part.answer, answer_rank, part, prefer),
    )
    choices: dict[int, dict[int, tuple[int, int]]] = defaultdict(dict)
    level: dict[int, float] = {}
    for i in np.lexsort((units, answers, -score)).tolist():
        choices[int(answers[i])][int(units[i])] = (-gains[i], int(ranked[i]))
        level[int(answers[i])] = float(score[i])
    taken = _insert_all(choices, level, 0 if prefer.graded else _UNMATCHED)
    return np.array([choices[answer][unit][1] for unit, answer in taken.items()], np.int64)


def _numbered(places: Longs, rank: Longs, part: Edges, prefer: Preferences) -> Longs:
    """New numbers in the order of document and rank, so that the order of the file decides nothing."""
    _, group = np.unique(places, return_inverse=True)
    key = (prefer.gold.document[part.label].astype(np.int64) << 32) | rank
    lowest = np.full(group.max() + 1, np.iinfo(np.int64).max)
    np.minimum.at(lowest, group, key)
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


def most_wanted(edges: Edges, prefer: Preferences, group: Longs) -> Longs:
    """The place of the most wanted edge of each group."""
    ranked = _by_preference(edges, prefer)
    return _first_of_each(ranked, group[ranked])


def first_in_file(edges: Edges, prefer: Preferences, group: Longs) -> Longs:
    """The place of the first edge of each group, in the order of the gold file and then of the answers."""
    ranked = _by_file(edges, prefer)
    return _first_of_each(ranked, group[ranked])
