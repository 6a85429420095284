"""The optimal assignment of one connected component in which many mentions and many predictions compete."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat.model.tables.columns import Bools, Floats, Longs

_MAX_COST_BITS = 56
"""Costs of at most this many bits fit into 64-bit sums; larger costs use integers of any length."""

_INFINITE = 1 << 62
_DENSE_RATIO = 8  # with more than one in eight of all pairs, a scan of all goods is cheaper than a heap


class DenseComponent(NamedTuple):
    """The pairs of one component, sorted by prediction and mention, with their own numbering.

    Predictions enter by descending level. Predictions of the same level may displace each other; after that they stay
    matched. Of equal costs, predictions and mentions with lower numbers are chosen.
    """

    prediction: Longs
    """Prediction of each pair."""
    mention: Longs
    """Mention of each pair."""
    cost: NDArray[Any]
    """Cost of each pair."""
    level: Floats
    """Level of each prediction, descending."""
    n_mentions: int
    """Number of mentions."""
    unmatched_cost: int
    """Cost of an unmatched prediction."""


def pack_criteria(criteria: Iterable[tuple[Longs, int]]) -> tuple[NDArray[Any], int]:
    """Combine criteria, in order of priority, into one cost per pair; return the costs and one above any chain's sum.

    Each criterion consists of the gain of each pair and the largest sum of gains along a chain of exchanges, so that a
    criterion never outweighs the one before. Costs are `int64` if they fit, else integers of any length.
    """
    cost: NDArray[Any] = np.zeros(1, np.int64)
    span = 1
    for gain, max_sum in criteria:
        span *= 2 * max_sum + 1
        if span.bit_length() > _MAX_COST_BITS and cost.dtype == np.int64:
            cost = cost.astype(object)
        cost = cost * (2 * max_sum + 1) - gain.astype(cost.dtype)
    return cost, span


def solve_assignment(component: DenseComponent) -> Longs:
    """Return the indices of the matched pairs: the cheapest assignment, level by level.

    This is the Hungarian method: dual values of buyers and prices of goods never exceed the cost of a pair together,
    and equal it for matched pairs (tight pairs). If no tight pair is left, prices move by the smallest possible step.
    Levels whose predictions can all be matched need no order and enter together.
    """
    bounds = [0, *(np.flatnonzero(component.level[1:] != component.level[:-1]) + 1).tolist(), len(component.level)]
    if len(bounds) == 2 and len(component.level) > component.n_mentions:  # the smaller side chooses
        order = np.argsort(component.mention, kind="stable")
        transposed = _Market(
            component.mention[order],
            component.prediction[order],
            component.cost[order],
            component.n_mentions,
            component.unmatched_cost,
        )
        transposed.admit(range(component.n_mentions))
        transposed.settle_buyers(0, component.n_mentions)
        return order[transposed.matched_pairs()]
    market = _Market(
        component.prediction, component.mention, component.cost, len(component.level), component.unmatched_cost
    )
    fits = _find_servable(market.begin, component.mention, component.n_mentions)
    pending: list[int] = []
    for first, last in pairwise(bounds):
        if all(fits[first:last]) or last - first == 1:
            pending += [prediction for prediction in range(first, last) if fits[prediction]]
            continue
        market.admit(pending)
        market.admit(range(first, last))
        market.settle_buyers(first, last)
        pending = []
    market.admit(pending)
    return market.matched_pairs()


def _find_servable(begin: Sequence[int], goods_of_pair: Longs, n_goods: int) -> list[bool]:
    """Return for each buyer, in order, whether the buyer can get a good in addition to earlier buyers, at any cost.

    The pairs of buyer i are `begin[i]` to before `begin[i + 1]`; `goods_of_pair` has the good of each pair.
    """
    owner, via = np.full(n_goods, -1, np.int64), np.full(n_goods, -1, np.int64)
    good_of: dict[int, int] = {}
    is_seen = np.zeros(n_goods, np.bool_)
    is_servable = []
    for new_buyer in range(len(begin) - 1):
        visited: list[int] = []
        chain, end = [new_buyer], -1
        while chain and end < 0:
            buyer = chain.pop()
            unseen = goods_of_pair[begin[buyer] : begin[buyer + 1]]
            unseen = unseen[~is_seen[unseen]]
            via[unseen] = buyer
            free = unseen[owner[unseen] < 0]
            if len(free):
                end = int(free[0])
                continue
            is_seen[unseen] = True
            visited += unseen.tolist()
            chain += owner[unseen].tolist()
        is_servable.append(end >= 0)
        if end >= 0:  # else the visited goods cannot serve other buyers, and stay marked
            is_seen[visited] = False
        while end >= 0:
            buyer = int(via[end])
            owner[end] = buyer
            end, good_of[buyer] = (-1 if buyer == new_buyer else good_of[buyer]), end
    return is_servable


class _Market:
    """An assignment of predictions (buyers) to mentions (goods): a buyer takes one good, at the pair's cost, or none.

    A buyer without good pays the unmatched cost. The dual value of a buyer never exceeds it while others may displace
    the buyer. The price of a good is 0 while it is free, and never positive. The sum of both never exceeds the cost of
    a pair, and equals it for taken pairs: such pairs are tight.
    """

    def __init__(self, buyer: Longs, good: Longs, cost: NDArray[Any], n_buyers: int, unmatched_cost: int) -> None:
        n_goods = int(good.max()) + 1
        self._buyer, self._good, self._cost, self._unmatched_cost = buyer, good, cost, unmatched_cost
        self.begin = np.searchsorted(buyer, np.arange(n_buyers + 1)).tolist()
        self._is_dense = len(cost) * _DENSE_RATIO > n_buyers * n_goods
        self._infinite = _INFINITE if cost.dtype == np.int64 else 1 << 4096
        self._dual = np.full(n_buyers, unmatched_cost, cost.dtype)
        self._max_dual = self._dual.copy()
        self._price = np.zeros(n_goods, cost.dtype)
        self._distance = np.full(n_goods, self._infinite, cost.dtype)
        self._open = self._distance.copy()
        self._via = np.full(n_goods, -1, np.int64)  # the pair that leads to a good
        self._owner = np.full(n_goods, -1, np.int64)
        self._pair_of = np.full(n_buyers, -1, np.int64)

    def matched_pairs(self) -> Longs:
        """Return the indices of the taken pairs.

        Of goods that can be exchanged at no cost, those with lower numbers are taken first.
        """
        self._settle_goods()
        return self._pair_of[self._pair_of >= 0]

    def admit(self, buyers: Iterable[int]) -> None:
        """Admit new buyers, by their numbers; serve as many as possible, and minimise the total cost.

        Buyers who were served before stay served, at any cost.
        """
        self._max_dual[self._pair_of >= 0] = self._infinite
        pending = list(buyers)
        for buyer in pending:
            self._dual[buyer] = min(self._unmatched_cost, self._get_row(buyer)[2].min())
        pending = self._serve_all(pending)
        while pending:
            # In a dense component one price step serves many buyers; in a sparse one it serves only few.
            group = pending if self._is_dense else pending[:1]
            self._move_prices(group)
            pending = self._serve_all(group) + pending[len(group) :]

    def _get_row(self, buyer: int) -> tuple[int, Longs, NDArray[Any]]:
        """Return the index of a buyer's first pair, the goods of its pairs, and the pairs' costs minus prices."""
        low, high = self.begin[buyer], self.begin[buyer + 1]
        goods = self._good[low:high]
        return low, goods, self._cost[low:high] - self._price[goods]

    def _serve_all(self, buyers: list[int]) -> list[int]:
        """Serve buyers along chains of tight pairs until there is no chain; return the buyers still waiting."""
        while True:
            is_seen = np.zeros(len(self._price), np.bool_)
            waiting = [buyer for buyer in buyers if not self._serve(buyer, is_seen)]
            if not waiting or len(waiting) == len(buyers):
                return waiting
            buyers = waiting

    def _serve(self, new_buyer: int, is_seen: Bools) -> bool:
        """Serve a new buyer along a chain of tight pairs; return whether there is one.

        `is_seen` marks the goods that no search needs to visit again, and is updated.
        """
        chain = [new_buyer]
        while chain:
            buyer = chain.pop()
            low, goods, reduced = self._get_row(buyer)
            unseen = np.flatnonzero((reduced == self._dual[buyer]) & ~is_seen[goods])
            free = unseen[self._owner[goods[unseen]] < 0]
            if len(free):
                unseen = free[:1]
            reached = goods[unseen]
            is_seen[reached] = True
            self._via[reached] = low + unseen
            if len(free):
                self._shift_chain(int(reached[0]), new_buyer)
                return True
            if self._dual[buyer] == self._max_dual[buyer]:
                self._displace(buyer, new_buyer)
                return True
            chain += self._owner[reached].tolist()
        return False

    def _displace(self, buyer: int, new_buyer: int) -> None:
        """Leave `buyer` without a good, and shift the goods on the chain from the new buyer to it."""
        pair, self._pair_of[buyer] = int(self._pair_of[buyer]), -1
        if buyer != new_buyer:
            self._shift_chain(int(self._good[pair]), new_buyer)

    def _shift_chain(self, good: int, new_buyer: int) -> None:
        """Shift goods along the chain of buyers that a search found from `new_buyer` to `good`.

        Each buyer takes the good that the next one leaves; the last takes `good`.
        """
        while True:
            pair = int(self._via[good])
            buyer = int(self._buyer[pair])
            previous, self._pair_of[buyer], self._owner[good] = int(self._pair_of[buyer]), pair, buyer
            if buyer == new_buyer:
                return
            good = int(self._good[previous])

    def _move_prices(self, waiting: list[int]) -> None:
        """Raise duals and lower prices until a chain of tight pairs leads from a waiting buyer to an end."""
        heap: list[tuple[Any, int]] = []
        touched: list[Longs] = []
        visited: list[int] = []
        buyers, distances = list(waiting), [0] * len(waiting)
        best = self._infinite
        position = 0
        while True:
            buyer, base = buyers[position], distances[position]
            position += 1
            _, goods, reduced = self._get_row(buyer)
            total = reduced + (base - self._dual[buyer])
            best = min(best, base + self._max_dual[buyer] - self._dual[buyer])
            closer = np.flatnonzero((total < self._distance[goods]) & (total < best))
            reached, total = goods[closer], total[closer]
            free = self._owner[reached] < 0
            if free.any():
                best = min(best, total[free].min())
                mask = ~free & (total < best)
                reached, total = reached[mask], total[mask]
            if len(reached):
                touched.append(reached)
                self._distance[reached] = total
                if self._is_dense:
                    self._open[reached] = total
                else:
                    for entry in zip(total.tolist(), reached.tolist(), strict=True):
                        heappush(heap, entry)
            if position < len(buyers):
                continue
            good = self._pop_nearest(heap)
            if good < 0 or self._distance[good] >= best:
                break
            visited.append(good)
            buyers.append(int(self._owner[good]))
            distances.append(self._distance[good])
        self._dual[buyers] += best - np.array(distances, self._dual.dtype)
        self._price[visited] -= best - self._distance[visited]
        for reached in touched:
            self._distance[reached] = self._open[reached] = self._infinite

    def _pop_nearest(self, heap: list[tuple[Any, int]]) -> int:
        """Remove and return the nearest good that was reached and not visited, or -1 if there is none."""
        if self._is_dense:
            good = int(self._open.argmin())
            if self._open[good] == self._infinite:
                return -1
            self._open[good] = self._infinite
            return good
        while heap:
            distance, good = heappop(heap)
            if distance == self._distance[good]:
                return good
        return -1

    def settle_buyers(self, first_buyer: int, end_buyer: int) -> None:
        """Among buyers from `first_buyer` to before `end_buyer` who can be exchanged at no cost, serve lower numbers.

        An unserved buyer replaces the last buyer that tight chains lead to. Goods visited in a search without result
        lead to no later buyer, so no further search visits them.
        """
        is_seen = np.zeros(len(self._price), np.bool_)
        for new_buyer in first_buyer + np.flatnonzero(self._pair_of[first_buyer:end_buyer] < 0):
            last_buyer, visited, chain = int(new_buyer), list[int](), [int(new_buyer)]
            while chain:
                buyer = chain.pop()
                if buyer > last_buyer and buyer < end_buyer and self._dual[buyer] == self._unmatched_cost:
                    last_buyer = buyer
                low, goods, reduced = self._get_row(buyer)
                unseen = np.flatnonzero((reduced == self._dual[buyer]) & ~is_seen[goods])
                reached = goods[unseen]
                is_seen[reached] = True
                self._via[reached] = low + unseen
                visited += reached.tolist()
                chain += self._owner[reached].tolist()
            if last_buyer > new_buyer:
                self._displace(last_buyer, int(new_buyer))
                is_seen[visited] = False

    def _settle_goods(self) -> None:
        """Exchange taken goods for free goods with lower numbers where that costs nothing; such goods have price 0."""
        free = np.flatnonzero(self._owner < 0).tolist()
        last_owned = np.flatnonzero((self._owner >= 0) & (self._price == 0)).max(initial=-1)
        if not free or free[0] > last_owned:
            return
        is_served = self._pair_of[self._buyer] >= 0
        tight = np.flatnonzero(is_served & (self._cost - self._price[self._good] == self._dual[self._buyer]))
        tight = tight[np.argsort(self._good[tight], kind="stable")]
        begin = np.searchsorted(self._good[tight], np.arange(len(self._price) + 1)).tolist()
        is_seen = np.zeros(len(self._price), np.bool_)
        for new_good in free:
            is_seen[new_good] = True
            last_good, visited, chain = new_good, [new_good], [new_good]
            while chain:
                good = chain.pop()
                pairs = tight[begin[good] : begin[good + 1]]
                previous = self._good[self._pair_of[self._buyer[pairs]]]
                unseen = np.flatnonzero(~is_seen[previous])
                previous, pairs = previous[unseen], pairs[unseen]
                is_seen[previous] = True
                self._via[previous] = pairs  # the pair that the buyer of the good takes instead
                visited += previous.tolist()
                chain += previous.tolist()
                last_good = max(last_good, int(previous[self._price[previous] == 0].max(initial=-1)))
            if last_good == new_good:
                continue
            is_seen[visited] = False
            self._owner[last_good] = -1
            while last_good != new_good:
                pair = int(self._via[last_good])
                last_good = int(self._good[pair])
                self._pair_of[self._buyer[pair]] = pair
                self._owner[last_good] = self._buyer[pair]
