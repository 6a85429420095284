"""Choice among the segmentations of a mention."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

import numpy as np

from karat.model.items import GoldItems
from karat.model.tables.columns import Bools, Longs


class Segmentation(NamedTuple):
    """The chosen segmentation of each mention."""

    in_play: Bools | None
    """Mask of the labels that take part; None if all do."""
    parts_by_root: dict[int, tuple[int, ...]]
    """Mentions that count in place of each root that is scored by its parts."""


def choose_segmentation(gold: GoldItems, matchable: Longs) -> Segmentation:
    """Choose whether each mention with parts (root) counts as a whole or by its parts.

    `matchable` are the labels that some prediction could match. The root is chosen if it could match, or if none of its
    parts could. Otherwise the parts that could match are chosen, and the other parts that overlap none of them; these
    count as missing.
    """
    if not gold.has_segmentations:
        return Segmentation(None, {})
    can_match = np.zeros(len(gold.mention), np.bool_)
    can_match[gold.mention[matchable]] = True
    children: dict[int, list[int]] = defaultdict(list)
    parts = gold.parent >= 0
    for mention, parent in sorted(set(zip(gold.mention[parts].tolist(), gold.parent[parts].tolist(), strict=True))):
        children[parent].append(mention)
    roots = [mention for mention in children if gold.parent[mention] < 0]
    mentions_by_root = {root: _choose_mentions(root, children, can_match, gold) for root in roots}
    is_unsegmented = (gold.parent < 0) & ~np.isin(gold.mention, roots)
    in_play = is_unsegmented | np.isin(
        gold.mention, [mention for mentions in mentions_by_root.values() for mention in mentions]
    )
    return Segmentation(in_play, {root: mentions for root, mentions in mentions_by_root.items() if mentions != (root,)})


def _choose_mentions(
    mention: int, children: dict[int, list[int]], can_match: Bools, gold: GoldItems
) -> tuple[int, ...]:
    """Return the mentions that count in place of `mention`: the mention itself, or some of its parts at any depth.

    The mention itself counts if it can match or if no part can match. Otherwise the parts with a match, at any depth,
    count, and the other parts that overlap none of these. `children` has the parts of each mention.
    """
    parts = children.get(mention)
    if can_match[mention] or not parts:
        return (mention,)
    matchable = [child for child in parts if _has_match(child, children, can_match)]
    if not matchable:
        return (mention,)
    missing = [
        child
        for child in parts
        if child not in matchable and not any(_is_overlapping(child, other, gold) for other in matchable)
    ]
    return tuple(
        part for child in sorted(matchable + missing) for part in _choose_mentions(child, children, can_match, gold)
    )


def _has_match(mention: int, children: dict[int, list[int]], can_match: Bools) -> bool:
    """Return whether `mention` or one of its parts at any depth could match."""
    return bool(can_match[mention]) or any(
        _has_match(child, children, can_match) for child in children.get(mention, ())
    )


def _is_overlapping(left: int, right: int, gold: GoldItems) -> bool:
    """Return whether the spans of the gold items with the indices `left` and `right` overlap."""
    start, end = gold.items.start, gold.items.end
    return bool(start[left] < end[right] and start[right] < end[left])
