"""Which of several segmentations of a mention is scored."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

import numpy as np

from karat.model.items import Gold
from karat.model.tables.columns import Bools, Longs


class Segmentation(NamedTuple):
    """`in_play` marks the labels that take part (None: all do); `parts` names the units that stand for each root."""

    in_play: Bools | None
    parts: dict[int, tuple[int, ...]]


def segment(gold: Gold, matchable: Longs) -> Segmentation:
    """Choose for every root its own span or its parts, by what could match (the labels `matchable`).

    The root, if an answer could match it. Else its parts, if an answer could match one of them: then the parts
    that could match, and those that could not but overlap none of the former (they are missing). Else the root.
    """
    if not gold.segmented:
        return Segmentation(None, {})
    can = np.zeros(len(gold.unit), np.bool_)
    can[gold.unit[matchable]] = True
    children: dict[int, list[int]] = defaultdict(list)
    parts = gold.parent >= 0
    for unit, parent in sorted(set(zip(gold.unit[parts].tolist(), gold.parent[parts].tolist(), strict=True))):
        children[parent].append(unit)
    roots = [unit for unit in children if gold.parent[unit] < 0]
    chosen = {root: _chosen(root, children, can, gold) for root in roots}
    whole = (gold.parent < 0) & ~np.isin(gold.unit, roots)
    in_play = whole | np.isin(gold.unit, [unit for units in chosen.values() for unit in units])
    return Segmentation(in_play, {root: units for root, units in chosen.items() if units != (root,)})


def _chosen(unit: int, children: dict[int, list[int]], can: Bools, gold: Gold) -> tuple[int, ...]:
    below = children.get(unit)
    if can[unit] or not below:
        return (unit,)
    hit = [child for child in below if _any(child, children, can)]
    if not hit:
        return (unit,)
    missing = [child for child in below if child not in hit and not any(_overlap(child, h, gold) for h in hit)]
    return tuple(part for child in sorted(hit + missing) for part in _chosen(child, children, can, gold))


def _any(unit: int, children: dict[int, list[int]], can: Bools) -> bool:
    return bool(can[unit]) or any(_any(child, children, can) for child in children.get(unit, ()))


def _overlap(one: int, two: int, gold: Gold) -> bool:
    start, end = gold.items.start, gold.items.end
    return bool(start[one] < end[two] and start[two] < end[one])
