"""Reduction of overlapping annotations to the longest ones, as in BAT."""

from __future__ import annotations

import numpy as np

from karat.model.items import Items
from karat.model.tables.columns import Bools


def mask_longest(items: Items) -> Bools:
    """Return the mask of items that remain if, from left to right, the shorter of two overlapping items is dropped.

    Each item is compared with the last one that remains, so several items of a chain may remain. Items with the same
    start are compared in file order, and of two equally long items the first remains.
    """
    order = np.lexsort((items.row, items.start, items.document))
    document, start, end = items.document[order], items.start[order], items.end[order]
    mask = np.ones(len(items), np.bool_)
    # Most items overlap nothing: an item does if it starts before an earlier item of its document ends.
    end_key = (document.astype(np.int64) << 32) + end
    reach = np.maximum.accumulate(end_key) if len(end_key) else end_key
    overlaps_earlier = np.zeros(len(items), np.bool_)
    overlaps_earlier[1:] = ((document.astype(np.int64) << 32) + start)[1:] < reach[:-1]
    if not overlaps_earlier.any():
        return mask
    bounds = zip(document.tolist(), start.tolist(), end.tolist(), overlaps_earlier.tolist(), strict=True)
    best = (-1, 0, 0, 0)
    for i, (doc, low, high, overlaps) in enumerate(bounds):
        if overlaps and best[0] == doc and low < best[2]:
            if high - low > best[2] - best[1]:
                mask[order[best[3]]] = False
                best = (doc, low, high, i)
            else:
                mask[order[i]] = False
        else:
            best = (doc, low, high, i)
    return mask
