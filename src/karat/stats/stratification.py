"""Stratified division of items into parts with given shares.

The method is iterative stratification (Sechidis et al. 2011) for items with counts of several values, with two changes.
An item for which no part has room in full goes to the part that lacks most items, so that many rare values do not all
end up in the largest part. Items with several values are then moved and swapped at random as long as this helps.
"""

from __future__ import annotations

import heapq
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import lcm
from typing import Final

_ATTEMPTS_PER_ITEM: Final = 100
_MAX_ATTEMPTS: Final = 100_000
_TOLERANCE: Final = 1e-9


def assign_parts(
    sizes: Sequence[int], counts: Sequence[Mapping[str, int]], shares: Sequence[Fraction], seed: int
) -> list[int]:
    """Return the part of each item, an index of `shares`; the same seed gives the same parts.

    `sizes`: the size of each item, such as its number of documents. `counts`: how often each value occurs in it.
    `shares`: the share of each part; they sum to 1. If each item has the size 1 and exactly one value once, every part
    gets its share of each value up to less than one item.
    """
    scale = lcm(*(share.denominator for share in shares))  # makes all shares whole numbers
    weights = [int(share * scale) for share in shares]
    generator = random.Random(seed)
    rank = list(range(len(sizes)))
    generator.shuffle(rank)
    missing_size = [weight * sum(sizes) for weight in weights]
    totals: dict[str, int] = {}
    items_by_value: dict[str, list[int]] = {}
    for item, item_counts in enumerate(counts):
        for value, count in item_counts.items():
            if count:
                totals[value] = totals.get(value, 0) + count
                items_by_value.setdefault(value, []).append(item)
    missing = {value: [weight * total for weight in weights] for value, total in totals.items()}
    part_of_item = [-1] * len(sizes)

    def assign(item: int, part: int) -> None:
        part_of_item[item] = part
        missing_size[part] -= scale * sizes[item]
        for value, count in counts[item].items():
            if count:
                missing[value][part] -= scale * count
                totals[value] -= count

    queue = [(total, value) for value, total in totals.items()]
    heapq.heapify(queue)
    while queue:
        total, value = heapq.heappop(queue)
        if total != totals[value]:  # other values have taken items with this one
            heapq.heappush(queue, (totals[value], value))
            continue
        items = [item for item in items_by_value[value] if part_of_item[item] < 0]
        for item in sorted(items, key=lambda item: (-counts[item][value], -sizes[item], rank[item])):
            assign(item, _choose_part(missing[value], missing_size, scale * counts[item][value], generator))
    rest = [item for item, part in enumerate(part_of_item) if part < 0]
    for item in sorted(rest, key=lambda item: (-sizes[item], rank[item])):
        assign(item, _choose_largest(range(len(shares)), missing_size, generator))
    if any(len(values) > 1 or set(values.values()) - {size} for values, size in zip(counts, sizes, strict=True)):
        _improve(part_of_item, sizes, counts, weights, generator)
    return part_of_item


class _Deviations:
    """How far the parts are from their shares, for the sizes (under None) and for each value."""

    def __init__(self, sizes: Sequence[int], counts: Sequence[Mapping[str, int]], weights: Sequence[int]) -> None:
        self._amounts: list[dict[str | None, int]] = [{None: size} for size in sizes]
        for item_amounts, values in zip(self._amounts, counts, strict=True):
            item_amounts.update(values)
        self._totals: Counter[str | None] = Counter()
        for amounts in self._amounts:
            self._totals.update(amounts)
        self._scale = sum(weights)
        self._excess = {key: [-weight * total for weight in weights] for key, total in self._totals.items()}

    def add(self, item: int, part: int, sign: int = 1) -> None:
        """Add an item to a part; with the sign -1, remove it."""
        for key, amount in self._amounts[item].items():
            self._excess[key][part] += sign * self._scale * amount

    def measure_change(self, moves: Sequence[tuple[int, int, int]]) -> float:
        """Return by how much moves (item, old part, new part) would change the penalty of all parts."""
        changes: dict[tuple[str | None, int], int] = {}
        for item, old, new in moves:
            for key, amount in self._amounts[item].items():
                changes[key, old] = changes.get((key, old), 0) - self._scale * amount
                changes[key, new] = changes.get((key, new), 0) + self._scale * amount
        return sum(
            self._compute_penalty(key, self._excess[key][part] + change)
            - self._compute_penalty(key, self._excess[key][part])
            for (key, part), change in changes.items()
        )

    def _compute_penalty(self, key: str | None, excess: int) -> float:
        """Return the penalty for an excess or lack: its square, relative to the total.

        Of values, less than one is no excess. Otherwise all rare values would drift to the largest part.
        """
        beyond = abs(excess) if key is None else max(0, abs(excess) - self._scale)
        return beyond * beyond / (self._totals[key] or 1)


def _improve(
    part_of_item: list[int],
    sizes: Sequence[int],
    counts: Sequence[Mapping[str, int]],
    weights: Sequence[int],
    generator: random.Random,
) -> None:
    """Move single items and swap pairs at random, as long as the parts come closer to their shares."""
    deviations = _Deviations(sizes, counts, weights)
    for item, part in enumerate(part_of_item):
        deviations.add(item, part)
    n_items, n_parts = len(sizes), len(weights)
    for attempt in range(min(_ATTEMPTS_PER_ITEM * n_items, _MAX_ATTEMPTS)):
        item = generator.randrange(n_items)
        if attempt % 2:
            moves = [(item, part_of_item[item], generator.randrange(n_parts))]
        else:
            other = generator.randrange(n_items)
            parts = part_of_item[item], part_of_item[other]
            moves = [(item, *parts), (other, parts[1], parts[0])]
        if moves[0][1] != moves[0][2] and deviations.measure_change(moves) < -_TOLERANCE:
            for moved, old, new in moves:
                deviations.add(moved, old, -1)
                deviations.add(moved, new)
                part_of_item[moved] = new


def _choose_part(missing: Sequence[int], missing_size: Sequence[int], needed: int, generator: random.Random) -> int:
    """Return the part for an item that needs room for `needed` of a value; `missing`: the room of each part."""
    parts = range(len(missing))
    roomy = [part for part in parts if missing[part] >= needed]
    if roomy:
        largest = max(missing[part] for part in roomy)
        return _choose_largest([part for part in roomy if missing[part] == largest], missing_size, generator)
    lacking = [part for part in parts if missing[part] > 0]
    return _choose_largest(lacking or parts, missing_size, generator)


def _choose_largest(parts: Sequence[int], values: Sequence[int], generator: random.Random) -> int:
    """Return the part with the largest value; a random one of several."""
    largest = max(values[part] for part in parts)
    return generator.choice([part for part in parts if values[part] == largest])
