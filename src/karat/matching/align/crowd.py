"""The best assignment in a crowd: one connected component in which many mentions and many answers compete."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat.model.tables.columns import Bools, Floats, Longs

_BITS = 56
"""Costs of so many bits leave room in 64 for sums of a few of them; longer ones are kept as integers of any length."""

_FAR = 1 << 62
_DENSE = 8  # a crowd with more than one in so many pairs is dense: a look at all things is cheaper than a heap


class Crowd(NamedTuple):
    """The pairs of one component, sorted by answer and unit, in numbers of its own.

    Answers come in by falling `level`: those of one level may push each other out, and whoever is in then stays in. An
    answer that is out costs `out`. Where costs are equal, the answers and the units of lower number are taken.
    """

    answer: Longs
    unit: Longs
    cost: NDArray[Any]
    level: Floats
    units: int
    out: int


def packed(criteria: Iterable[tuple[Longs, int]]) -> tuple[NDArray[Any], int]:
    """One cost for each pair from criteria that come one after the other, and a cost above that of any chain.

    Each criterion is what a pair is worth under it, with the most that the worths along a chain of exchanges can add
    up to: that must never outweigh the criterion before. `int64` where this is enough, else integers of any length.
    """
    cost: NDArray[Any] = np.zeros(1, np.int64)
    span = 1
    for worth, most in criteria:
        span *= 2 * most + 1
        if span.bit_length() > _BITS and cost.dtype == np.int64:
            cost = cost.astype(object)
        cost = cost * (2 * most + 1) - worth.astype(cost.dtype)
    return cost, span


def solved(crowd: Crowd) -> Longs:
    """The places of the pairs that are taken: the cheapest assignment, level by level.

    This is the Hungarian method: units and answers have prices under which no pair is a bargain, those that are taken
    are fair, and where no fair pair is left prices move as little as it takes. Levels of which every answer can be
    taken need no order among them, and come in together.
    """
    bounds = [0, *(np.flatnonzero(crowd.level[1:] != crowd.level[:-1]) + 1).tolist(), len(crowd.level)]
    if len(bounds) == 2 and len(crowd.level) > crowd.units:  # the fewer choose among the more
        order = np.argsort(crowd.unit, kind="stable")
        turned = _Market(crowd.unit[order], crowd.answer[order], crowd.cost[order], crowd.units, crowd.out)
        turned.bring(range(crowd.units))
        turned.settle_buyers(0, crowd.units)
        return order[turned.places()]
    market = _Market(crowd.answer, crowd.unit, crowd.cost, len(crowd.level), crowd.out)
    fits = _fitting(market.begin, crowd.unit, crowd.units)
    waiting: list[int] = []
    for first, last in pairwise(bounds):
        if all(fits[first:last]) or last - first == 1:
            waiting += [answer for answer in range(first, last) if fits[answer]]
            continue
        market.bring(waiting)
        market.bring(range(first, last))
        market.settle_buyers(first, last)
        waiting = []
    market.bring(waiting)
    return market.places()


def _fitting(begin: Sequence[int], thing: Longs, things: int) -> list[bool]:
    """Which buyers, one after the other, can be served beside those before them, whatever it costs."""
    owner, via = np.full(things, -1, np.int64), np.full(things, -1, np.int64)
    has: dict[int, int] = {}
    seen = np.zeros(things, np.bool_)
    fits = []
    for new in range(len(begin) - 1):
        found: list[int] = []
        chain, end = [new], -1
        while chain and end < 0:
            buyer = chain.pop()
            fresh = thing[begin[buyer] : begin[buyer + 1]]
            fresh = fresh[~seen[fresh]]
            via[fresh] = buyer
            free = fresh[owner[fresh] < 0]
            if len(free):
                end = int(free[0])
                continue
            seen[fresh] = True
            found += fresh.tolist()
            chain += owner[fresh].tolist()
        fits.append(end >= 0)
        if end >= 0:  # else what was seen can serve nobody else, and stays marked
            seen[found] = False
        while end >= 0:
            buyer = int(via[end])
            owner[end] = buyer
            end, has[buyer] = (-1 if buyer == new else has[buyer]), end
    return fits


class _Market:
    """Buyers who take one thing each, at the cost of one of the pairs, or nothing at the cost `out`.

    What a buyer bears is never above `out`, as long as others may push him out. The price of a thing is 0 as long as
    nobody has it, and never above. Both together are never above the cost of a pair, and equal to it where the pair is
    taken: such pairs are fair.
    """

    def __init__(self, buyer: Longs, thing: Longs, cost: NDArray[Any], buyers: int, out: int) -> None:
        things = int(thing.max()) + 1
        self._buyer, self._thing, self._cost, self._out = buyer, thing, cost, out
        self.begin = np.searchsorted(buyer, np.arange(buyers + 1)).tolist()
        self._dense = len(cost) * _DENSE > buyers * things
        self._far = _FAR if cost.dtype == np.int64 else 1 << 4096
        self._bears = np.full(buyers, out, cost.dtype)
        self._most = self._bears.copy()
        self._price = np.zeros(things, cost.dtype)
        self._distance = np.full(things, self._far, cost.dtype)
        self._open = self._distance.copy()
        self._via = np.full(things, -1, np.int64)  # the pair by which a thing was found
        self._owner = np.full(things, -1, np.int64)
        self._taken = np.full(buyers, -1, np.int64)

    def places(self) -> Longs:
        """The pairs that are taken. Of things that could change places at no cost those of lower number are."""
        self._settle_things()
        return self._taken[self._taken >= 0]

    def bring(self, buyers: Iterable[int]) -> None:
        """Let buyers in, of whom as many as possible take something, and all together at the least cost.

        Those who were in before stay in, whatever they have to bear.
        """
        self._most[self._taken >= 0] = self._far
        left = list(buyers)
        for buyer in left:
            self._bears[buyer] = min(self._out, self._row(buyer)[2].min())
        left = self._served(left)
        while left:
            # In a dense crowd many can be served after one step of prices; in a sparse one the others are far away.
            some = left if self._dense else left[:1]
            self._move_prices(some)
            left = self._served(some) + left[len(some) :]

    def _row(self, buyer: int) -> tuple[int, Longs, NDArray[Any]]:
        """The place of the first pair of a buyer, the things, and what they cost beyond their prices."""
        low, high = self.begin[buyer], self.begin[buyer + 1]
        things = self._thing[low:high]
        return low, things, self._cost[low:high] - self._price[things]

    def _served(self, buyers: list[int]) -> list[int]:
        """Serve buyers by chains of fair pairs until no chain is left; those who still wait."""
        while True:
            seen = np.zeros(len(self._price), np.bool_)
            waiting = [buyer for buyer in buyers if not self._serve(buyer, seen)]
            if not waiting or len(waiting) == len(buyers):
                return waiting
            buyers = waiting

    def _serve(self, new: int, seen: Bools) -> bool:
        chain = [new]
        while chain:
            buyer = chain.pop()
            low, things, beyond = self._row(buyer)
            fresh = np.flatnonzero((beyond == self._bears[buyer]) & ~seen[things])
            free = fresh[self._owner[things[fresh]] < 0]
            if len(free):
                fresh = free[:1]
            reached = things[fresh]
            seen[reached] = True
            self._via[reached] = low + fresh
            if len(free):
                self._pass_on(int(reached[0]), new)
                return True
            if self._bears[buyer] == self._most[buyer]:
                self._push(buyer, new)
                return True
            chain += self._owner[reached].tolist()
        return False

    def _push(self, buyer: int, new: int) -> None:
        """Let a buyer go without, in favour of a new one."""
        place, self._taken[buyer] = int(self._taken[buyer]), -1
        if buyer != new:
            self._pass_on(int(self._thing[place]), new)

    def _pass_on(self, thing: int, new: int) -> None:
        """Let every buyer on the chain take the thing that the next one leaves."""
        while True:
            place = int(self._via[thing])
            buyer = int(self._buyer[place])
            left, self._taken[buyer], self._owner[thing] = int(self._taken[buyer]), place, buyer
            if buyer == new:
                return
            thing = int(self._thing[left])

    def _move_prices(self, waiting: list[int]) -> None:
        """Raise what buyers bear, and lower prices, until a chain of fair pairs leads from one who waits to an end."""
        heap: list[tuple[Any, int]] = []
        touched: list[Longs] = []
        visited: list[int] = []
        bearing, at = list(waiting), [0] * len(waiting)
        best = self._far
        place = 0
        while True:
            buyer, base = bearing[place], at[place]
            place += 1
            _, things, beyond = self._row(buyer)
            total = beyond + (base - self._bears[buyer])
            best = min(best, base + self._most[buyer] - self._bears[buyer])
            near = np.flatnonzero((total < self._distance[things]) & (total < best))
            reached, total = things[near], total[near]
            free = self._owner[reached] < 0
            if free.any():
                best = min(best, total[free].min())
                kept = ~free & (total < best)
                reached, total = reached[kept], total[kept]
            if len(reached):
                touched.append(reached)
                self._distance[reached] = total
                if self._dense:
                    self._open[reached] = total
                else:
                    for each in zip(total.tolist(), reached.tolist(), strict=True):
                        heappush(heap, each)
            if place < len(bearing):
                continue
            thing = self._next(heap)
            if thing < 0 or self._distance[thing] >= best:
                break
            visited.append(thing)
            bearing.append(int(self._owner[thing]))
            at.append(self._distance[thing])
        self._bears[bearing] += best - np.array(at, self._bears.dtype)
        self._price[visited] -= best - self._distance[visited]
        for reached in touched:
            self._distance[reached] = self._open[reached] = self._far

    def _next(self, heap: list[tuple[Any, int]]) -> int:
        """The nearest thing that was found and not yet visited, or -1."""
        if self._dense:
            thing = int(self._open.argmin())
            if self._open[thing] == self._far:
                return -1
            self._open[thing] = self._far
            return thing
        while heap:
            distance, thing = heappop(heap)
            if distance == self._distance[thing]:
                return thing
        return -1

    def settle_buyers(self, first: int, last: int) -> None:
        """Of some buyers who could change places at no cost, let those of lower number in.

        A buyer who is out takes the place of the last that fair chains lead to. What a search in vain has seen leads
        to nobody later than that, so no search behind it looks there again.
        """
        seen = np.zeros(len(self._price), np.bool_)
        for new in first + np.flatnonzero(self._taken[first:last] < 0):
            last_one, found, chain = int(new), list[int](), [int(new)]
            while chain:
                buyer = chain.pop()
                if buyer > last_one and buyer < last and self._bears[buyer] == self._out:
                    last_one = buyer
                low, things, beyond = self._row(buyer)
                fresh = np.flatnonzero((beyond == self._bears[buyer]) & ~seen[things])
                reached = things[fresh]
                seen[reached] = True
                self._via[reached] = low + fresh
                found += reached.tolist()
                chain += self._owner[reached].tolist()
            if last_one > new:
                self._push(last_one, int(new))
                seen[found] = False

    def _settle_things(self) -> None:
        """The same for things, of which those at price 0 may change places."""
        free = np.flatnonzero(self._owner < 0).tolist()
        last_owned = np.flatnonzero((self._owner >= 0) & (self._price == 0)).max(initial=-1)
        if not free or free[0] > last_owned:
            return
        inside = self._taken[self._buyer] >= 0
        fair = np.flatnonzero(inside & (self._cost - self._price[self._thing] == self._bears[self._buyer]))
        fair = fair[np.argsort(self._thing[fair], kind="stable")]
        begin = np.searchsorted(self._thing[fair], np.arange(len(self._price) + 1)).tolist()
        seen = np.zeros(len(self._price), np.bool_)
        for new in free:
            seen[new] = True
            last_one, found, chain = new, [new], [new]
            while chain:
                here = chain.pop()
                places = fair[begin[here] : begin[here + 1]]
                left = self._thing[self._taken[self._buyer[places]]]
                fresh = np.flatnonzero(~seen[left])
                left, places = left[fresh], places[fresh]
                seen[left] = True
                self._via[left] = places  # the pair that whoever leaves the thing takes instead
                found += left.tolist()
                chain += left.tolist()
                last_one = max(last_one, int(left[self._price[left] == 0].max(initial=-1)))
            if last_one == new:
                continue
            seen[found] = False
            self._owner[last_one] = -1
            while last_one != new:
                place = int(self._via[last_one])
                last_one = int(self._thing[place])
                self._taken[self._buyer[place]] = place
                self._owner[last_one] = self._buyer[place]
