"""Assignment of predictions to mentions when several could match."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from itertools import pairwise

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.matching.align.dense_component import DenseComponent, pack_criteria, solve_assignment
from karat.model.items import Items
from karat.model.spec.settings.conventions import Assignment
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Bools, Floats, Ints, Longs

_MAX_FEW_IDS = 100  # ids up to which a Python loop is faster than array functions


class Edges(msgspec.Struct, frozen=True):
    """Pairs that could be matched; each mention and each prediction is matched at most once."""

    mention: Longs
    """Mention of each pair."""
    label: Longs
    """Label of the mention that the pair compares."""
    prediction: Longs
    """Prediction of each pair."""
    degree: Floats | Bools
    """Degree of the match."""

    def take(self, rows: Longs | Bools) -> Edges:
        """Return the edges at `rows`, which are indices or a mask."""
        if rows.dtype == np.bool_:
            if rows.all():
                return self
            rows = np.flatnonzero(rows)
        return Edges(self.mention[rows], self.label[rows], self.prediction[rows], self.degree[rows])

    def __len__(self) -> int:
        return len(self.mention)


class Preferences(msgspec.Struct, frozen=True):
    """Criteria that decide between assignments of the same size."""

    gold: Items
    """All labels."""
    predictions: Items
    """All predictions."""
    score: Floats
    """Score of each prediction; NaN if there is none."""
    required: Bools
    """Mask of the required labels."""
    is_graded: bool
    """Whether degrees may be between 0 and 1."""

    def levels(self, predictions: Longs) -> Floats:
        """Return the level of some predictions; predictions with higher levels are matched first.

        The level is the score, or infinity without score, since no threshold removes such predictions. With partial
        credit, scores do not decide, and all levels are 0.
        """
        if self.is_graded:
            return np.zeros(len(predictions))
        score = self.score[predictions]
        return np.where(np.isnan(score), np.inf, score)


def assign(edges: Edges, preferences: Preferences, method: Assignment) -> Longs:
    """Match each mention and each prediction at most once, and return the indices of the matched edges.

    `method` is `OPTIMAL` or `GREEDY`. Optimal: as many matches as possible (for graded relations: the largest sum of
    degrees). Ties are decided by higher scores, required mentions, exact spans, larger overlap and smaller (start, end,
    id), in this order. Greedy: each mention, in file order, takes the first free prediction that matches.

    Most edges share no end or one end with other edges. The others are solved by connected component, so that neither
    blocks nor order matter.
    """
    if not len(edges):
        return np.zeros(0, np.int64)
    is_taken, contested = _take_uncontested(
        edges, preferences, choose_preferred if method is Assignment.OPTIMAL else choose_first_in_file
    )
    is_taken[
        _assign_optimally(contested, edges, preferences)
        if method is Assignment.OPTIMAL
        else _assign_greedily(contested, edges, preferences)
    ] = True
    return np.flatnonzero(is_taken)


def _take_uncontested(
    edges: Edges, preferences: Preferences, choose: Callable[[Edges, Preferences, Longs], Longs]
) -> tuple[Bools, Longs]:
    """Match the edges of components in which all edges share an end, of which `choose` takes one.

    Return the mask of matched edges, and the indices of the edges in other components. `choose` is `choose_preferred`
    or `choose_first_in_file`.
    """
    is_taken = (np.bincount(edges.mention)[edges.mention] == 1) & (np.bincount(edges.prediction)[edges.prediction] == 1)
    contested = np.flatnonzero(~is_taken)
    if not len(contested):
        return is_taken, contested
    mention, prediction = _renumber(edges.mention[contested]), _renumber(edges.prediction[contested])
    many_mentions, many_predictions = np.bincount(mention) > 1, np.bincount(prediction) > 1
    around_mention = np.bincount(mention, many_predictions[prediction])[mention] == 0
    around_prediction = (np.bincount(prediction, many_mentions[mention])[prediction] == 0) & ~around_mention
    for mask, end in ((around_mention, mention), (around_prediction, prediction)):
        star = contested[mask]
        is_taken[star[choose(edges.take(star), preferences, end[mask])]] = True
    return is_taken, contested[~around_mention & ~around_prediction]


def _renumber(values: Longs) -> Longs:
    """Return the values renumbered from 0 without gaps, in the same order; values are not negative."""
    is_used = np.zeros(int(values.max(initial=-1)) + 1, np.bool_)
    is_used[values] = True
    return (np.cumsum(is_used) - 1)[values]


def _first_of_groups(ranked: Longs, group: Longs) -> Longs:
    """Return the first element of `ranked` in each group; `group` has the group of each element."""
    return ranked[np.unique(group, return_index=True)[1]]


def _file_order(edges: Edges, preferences: Preferences) -> Longs:
    """Return the indices that sort edges by the rows of their mentions, then of their predictions."""
    # Resampled documents may occur several times, so that several mentions have the same row.
    return np.lexsort(
        (preferences.predictions.row[edges.prediction], edges.mention, preferences.gold.row[edges.mention])
    )


def _preference_order(edges: Edges, preferences: Preferences) -> Longs:
    """Return the indices that sort edges from the most to the least preferred, by the criteria of `assign`."""
    exact, overlap = _measure_overlap(edges, preferences)
    score = preferences.levels(edges.prediction)
    return np.lexsort(
        (
            rank_items(preferences.predictions, edges.prediction),
            rank_items(preferences.gold, edges.label),
            -overlap,
            ~exact,
            ~preferences.required[edges.label],
            -score,
            -edges.degree.astype(np.float64),
        )
    )


def _measure_overlap(edges: Edges, preferences: Preferences) -> tuple[Bools, Longs]:
    """Return whether the spans of each edge are equal, and the number of characters in their overlap."""
    gold, predictions = preferences.gold, preferences.predictions
    start = np.maximum(gold.start[edges.label], predictions.start[edges.prediction])
    end = np.minimum(gold.end[edges.label], predictions.end[edges.prediction])
    exact = (gold.start[edges.label] == predictions.start[edges.prediction]) & (
        gold.end[edges.label] == predictions.end[edges.prediction]
    )
    return exact, np.maximum(end - start, 0).astype(np.int64)


def rank_items(items: Items, rows: Longs) -> Longs:
    """Return the rank, among the items at `rows` of its document, of each by start, end, id as written and content."""
    is_used = np.zeros(len(items), np.bool_)
    is_used[rows] = True
    all_rows = np.flatnonzero(is_used)
    codes, document = items.entity[all_rows], items.document[all_rows]
    keys = (codes, _rank_names(items.names, codes), items.end[all_rows], items.start[all_rows], document)
    order = items.sort_order(all_rows, keys)
    rank = np.empty(len(items), np.int64)
    rank[all_rows[order]] = np.arange(len(all_rows)) - np.searchsorted(document[order], document[order])
    return rank[rows]


def _rank_names(names: Arrow, codes: Ints) -> Longs:
    """Return the rank of the id of each code in string order, equal for equal ids; the empty id for negative codes."""
    ids = names.take(pa.array(codes, mask=codes < 0))
    if len(ids) <= _MAX_FEW_IDS:
        few_ids = [id or "" for id in ids.to_pylist()]
        ranks = {id: rank for rank, id in enumerate(sorted(set(few_ids)))}
        return np.array([ranks[id] for id in few_ids], np.int64)
    encoded = ids.fill_null("").dictionary_encode()
    by_name = np.empty(len(encoded.dictionary), np.int64)
    by_name[pc.array_sort_indices(encoded.dictionary).to_numpy()] = np.arange(len(by_name))
    ranks_by_row: Longs = by_name[encoded.indices.to_numpy()]
    return ranks_by_row


def _assign_greedily(rows: Longs, edges: Edges, preferences: Preferences) -> Longs:
    """Match each mention, in file order, with its first prediction in the file that is still free.

    `rows` are the edges to match; return the indices of the matched ones.
    """
    ranked = rows[_file_order(edges.take(rows), preferences)]
    predictions, is_free, matched = edges.prediction[ranked], np.ones(len(preferences.predictions), np.bool_), []
    bounds = np.flatnonzero(np.diff(edges.mention[ranked], prepend=-1, append=-1)).tolist()
    for low, high in pairwise(bounds):
        index = low + int(is_free[predictions[low:high]].argmax())
        if is_free[predictions[index]]:
            is_free[predictions[index]] = False
            matched.append(index)
    return ranked[matched]


def _assign_optimally(rows: Longs, edges: Edges, preferences: Preferences) -> Longs:
    """Solve the components in which several mentions compete for several predictions, each by a suitable method.

    `rows` are the edges of these components; return the indices of the matched ones.
    """
    if not len(rows):
        return rows
    component = _find_components(_renumber(edges.mention[rows]), _renumber(edges.prediction[rows]))
    is_large = np.bincount(component)[component] > _MAX_SMALL
    small = np.flatnonzero(~is_large)
    small = small[_preference_order(edges.take(rows[small]), preferences)]
    squares, others = _assign_squares(rows[small], component[small], edges, preferences)
    matched = [squares, _assign_small(others, edges, preferences)]
    large, component = rows[is_large], component[is_large]
    order = np.argsort(component, kind="stable")
    bounds = np.flatnonzero(np.diff(component[order], prepend=-1, append=-1)).tolist()
    matched += [_assign_large(large[order[low:high]], edges, preferences) for low, high in pairwise(bounds)]
    return np.concatenate(matched)


_MAX_SMALL = 64
"""Components of at most this many edges are solved edge by edge, larger ones with arrays: only the speed differs."""


def _assign_squares(ranked: Longs, component: Longs, edges: Edges, preferences: Preferences) -> tuple[Longs, Longs]:
    """Match the components of two mentions and two predictions; return their matched edges and all other edges.

    `ranked` are edges by descending preference, with the component of each. Most components in real data are such
    squares: two nested mentions of one entity, both predicted. Graded relations are left to other methods.
    """
    if not len(ranked) or preferences.is_graded:
        return ranked[:0], ranked
    mention, prediction = _renumber(edges.mention[ranked]), _renumber(edges.prediction[ranked])
    component = _renumber(component)
    size = np.bincount(component)
    mentions = np.bincount(component[np.unique(mention, return_index=True)[1]], minlength=len(size))
    predictions = np.bincount(component[np.unique(prediction, return_index=True)[1]], minlength=len(size))
    is_square = ((mentions == 2) & (predictions == 2) & (size == 4))[component]
    order = np.argsort(component[is_square], kind="stable")
    # Four edges each, the most preferred first: its partner is the edge that shares neither of its ends.
    square = ranked[is_square][order].reshape(-1, 4)
    shares_no_end = (edges.mention[square] != edges.mention[square[:, :1]]) & (
        edges.prediction[square] != edges.prediction[square[:, :1]]
    )
    partner = np.argmax(shares_no_end, axis=1)
    lines = np.arange(len(square))
    first = np.stack([square[:, 0], square[lines, partner]], axis=1)
    others = np.ones((len(square), 4), np.bool_)
    others[:, 0] = others[lines, partner] = False
    second = square[others].reshape(-1, 2)
    gain_first, gain_second = _pair_gains(first, edges, preferences), _pair_gains(second, edges, preferences)
    better = np.where((gain_second > gain_first)[:, None], second, first)
    return better.ravel(), ranked[~is_square]


def _find_components(mention: Longs, prediction: Longs) -> Longs:
    """Return the number of the connected component of each edge.

    `mention` and `prediction` are the ends of the edges.
    """
    left, right = mention, prediction + int(mention.max()) + 1
    root = np.arange(int(right.max()) + 1)
    while len(left):
        low = np.minimum(root[left], root[right])
        np.minimum.at(root, root[left], low)
        np.minimum.at(root, root[right], low)
        while not np.array_equal(root, parent := root[root]):
            root = parent
        is_open = root[left] != root[right]
        left, right = left[is_open], right[is_open]
    return _renumber(root[mention])


def _pair_gains(pairs: Longs, edges: Edges, preferences: Preferences) -> Longs:
    """Return a number for each pair of edges that is larger for required mentions, then exact spans, then overlap.

    `pairs` has one row per pair, with the indices of its two edges.
    """
    ends = edges.take(pairs.ravel())
    exact, overlap = _measure_overlap(ends, preferences)
    gain = (preferences.required[ends.label].astype(np.int64) << 50) + (exact.astype(np.int64) << 40) + overlap
    together: Longs = gain.reshape(-1, 2).sum(axis=1)
    return together


# Strides of one integer cost: a larger overlap must never outweigh an exact span, and so on. Python
# integers do not overflow, so the sums over a component stay exact.
_OVERLAP, _EXACT, _REQUIRED, _DEGREE, _UNMATCHED = 1 << 48, 1 << 88, 1 << 120, 1 << 152, 1 << 220


def _assign_small(ranked: Longs, edges: Edges, preferences: Preferences) -> Longs:
    """Match the edges `ranked` of small components, all at once; return the indices of the matched edges."""
    if not len(ranked):
        return ranked
    part = edges.take(ranked)
    exact, overlap = _measure_overlap(part, preferences)
    gold_rank, prediction_rank = (
        rank_items(preferences.gold, part.label),
        rank_items(preferences.predictions, part.prediction),
    )
    ranks = gold_rank + prediction_rank
    degree = np.round(part.degree * 2**32).astype(np.int64) if preferences.is_graded else np.zeros(len(part), np.int64)
    gains = [
        d * _DEGREE + r * _REQUIRED + e * _EXACT + o * _OVERLAP - n
        for d, r, e, o, n in zip(
            degree.tolist(),
            preferences.required[part.label].astype(int).tolist(),
            exact.astype(int).tolist(),
            overlap.tolist(),
            ranks.tolist(),
            strict=True,
        )
    ]
    score = preferences.levels(part.prediction)
    document = preferences.gold.document[part.label].astype(np.int64) << 32
    mentions, predictions = (
        _number_by_rank(part.mention, document | gold_rank),
        _number_by_rank(part.prediction, document | prediction_rank),
    )
    options: dict[int, dict[int, tuple[int, int]]] = defaultdict(dict)
    level: dict[int, float] = {}
    for i in np.lexsort((mentions, predictions, -score)).tolist():
        options[int(predictions[i])][int(mentions[i])] = (-gains[i], int(ranked[i]))
        level[int(predictions[i])] = float(score[i])
    assigned = _insert_all(options, level, 0 if preferences.is_graded else _UNMATCHED)
    return np.array([options[prediction][mention][1] for mention, prediction in assigned.items()], np.int64)


def _number_by_rank(values: Longs, rank: Longs) -> Longs:
    """Renumber values from 0 by the lowest rank of each, so that the order of the file has no influence."""
    group = _renumber(values)
    lowest = np.full(int(group.max()) + 1, np.iinfo(np.int64).max)
    np.minimum.at(lowest, group, rank)
    number = np.empty(len(lowest), np.int64)
    number[np.argsort(lowest, kind="stable")] = np.arange(len(lowest))
    return number[group]


def _insert_all(
    options: dict[int, dict[int, tuple[int, int]]], level: dict[int, float], unmatched_cost: int
) -> dict[int, int]:
    """Insert predictions one by one into the cheapest assignment; return the prediction of each matched mention.

    `options` has, by prediction in descending order of `level`, the cost and edge of each mention that it matches. A
    matched prediction stays matched, except in favour of a prediction with an equal level. Thus no prediction depends
    on predictions with lower scores, and a threshold never changes matches above it.
    """
    prediction_of: dict[int, int] = {}
    mention_of: dict[int, int] = {}
    for new_prediction in options:
        cost: dict[int, int] = {new_prediction: 0}
        via: dict[int, int] = {}
        queue, queued = deque([new_prediction]), {new_prediction}
        while queue:
            prediction = queue.popleft()
            queued.discard(prediction)
            released = options[prediction][mention_of[prediction]][0] if prediction in mention_of else 0
            for mention, (price, _) in options[prediction].items():
                owner = prediction_of.get(mention)
                if owner == prediction:
                    continue
                end = owner if owner is not None else -mention - 1
                total = cost[prediction] - released + price
                if end not in cost or total < cost[end]:
                    cost[end] = total
                    via[end] = prediction
                    if owner is not None and owner not in queued:
                        queue.append(owner)
                        queued.add(owner)
        best = min(
            (
                total - options[end][mention_of[end]][0] + unmatched_cost
                if end in mention_of
                else total + unmatched_cost * (end >= 0),
                end,
            )
            for end, total in cost.items()
            if end < 0 or level[end] == level[new_prediction]
        )[1]
        _shift_path(best, new_prediction, via, prediction_of, mention_of)
    return prediction_of


def _shift_path(
    end: int, new_prediction: int, via: dict[int, int], prediction_of: dict[int, int], mention_of: dict[int, int]
) -> None:
    """Give every prediction on a path the mention that the next one leaves; change `prediction_of` and `mention_of`.

    The path leads from the new prediction to `end`, a prediction that loses its mention, or a free mention m as -m - 1.
    """
    if end == new_prediction:
        return
    mention = -end - 1 if end < 0 else mention_of.pop(end)
    while True:
        prediction = via[end]
        previous_mention = mention_of.get(prediction)
        prediction_of[mention], mention_of[prediction] = prediction, mention
        if prediction == new_prediction or previous_mention is None:
            return
        end, mention = prediction, previous_mention


def _assign_large(rows: Longs, edges: Edges, preferences: Preferences) -> Longs:
    """Match the edges `rows` of one large component; return the indices of the matched edges."""
    order, component = _to_dense_component(edges.take(rows), preferences)
    return rows[order[solve_assignment(component)]]


def _to_dense_component(edges: Edges, preferences: Preferences) -> tuple[Longs, DenseComponent]:
    """Convert the edges of one component.

    Return the order of the edges in the component, and the renumbered component.
    """
    mention = _number_by_rank(edges.mention, rank_items(preferences.gold, edges.label))
    prediction = _number_by_rank(edges.prediction, rank_items(preferences.predictions, edges.prediction))
    level = np.empty(int(prediction.max()) + 1)
    level[prediction] = preferences.levels(edges.prediction)
    descending = np.argsort(-level, kind="stable")
    number = np.empty(len(level), np.int64)
    number[descending] = np.arange(len(level))
    prediction, mentions = number[prediction], int(mention.max()) + 1
    order = np.argsort(prediction * mentions + mention)
    cost, unmatched_cost = pack_criteria(_list_criteria(edges, preferences, min(len(level), mentions)))
    unmatched_cost = 0 if preferences.is_graded else unmatched_cost
    return order, DenseComponent(
        prediction[order], mention[order], cost[order], level[descending], mentions, unmatched_cost
    )


def _list_criteria(edges: Edges, preferences: Preferences, max_edges: int) -> Iterator[tuple[Longs, int]]:
    """Yield, for each criterion of `assign` by priority, the gain of each edge and the largest sum of gains.

    An assignment has at most `max_edges` edges; see `pack_criteria`.
    """
    if preferences.is_graded:
        degree = np.round(edges.degree * 2**32).astype(np.int64)
        degree //= np.gcd.reduce(degree)
        yield degree, int(degree.max()) * max_edges
    # Without alternatives, a chain of exchanges changes only the mention at its end.
    yield (
        preferences.required[edges.label].astype(np.int64),
        1 if np.array_equal(edges.mention, edges.label) else max_edges,
    )
    exact, overlap = _measure_overlap(edges, preferences)
    yield exact.astype(np.int64), max_edges if exact.any() else 0
    yield overlap, _max_total(overlap, edges)


def _max_total(gain: Longs, edges: Edges) -> int:
    """Return an upper bound of the total gain of edges that share no end."""
    sums = []
    for end in (edges.mention, edges.prediction):
        largest = np.zeros(int(end.max()) + 1, np.int64)
        np.maximum.at(largest, end, gain)
        sums.append(int(largest.sum()))
    return min(sums)


def choose_preferred(edges: Edges, preferences: Preferences, group: Longs) -> Longs:
    """Return the index of the most preferred edge of each group; `group` has the group of each edge."""
    order = np.argsort(group, kind="stable")
    ordered = group[order]
    first = np.flatnonzero(np.append(np.ones(min(len(ordered), 1), np.bool_), ordered[1:] != ordered[:-1]))
    rows, size = order[first], np.diff(first, append=len(ordered))
    has_rivals = size > 1
    if has_rivals.any():
        rivals = np.sort(order[np.repeat(has_rivals, size)])
        ranked = rivals[_preference_order(edges.take(rivals), preferences)]
        rows[has_rivals] = _first_of_groups(ranked, group[ranked])
    return rows


def choose_first_in_file(edges: Edges, preferences: Preferences, group: Longs) -> Longs:
    """Return the index of the first edge of each group, by gold file order and then by prediction file order."""
    ranked = _file_order(edges, preferences)
    return _first_of_groups(ranked, group[ranked])
