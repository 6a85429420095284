"""Annotations that overlap each other: of each run the longest stays, as in BAT."""

from __future__ import annotations

import numpy as np

from karat.model.items import Items
from karat.model.tables.columns import Bools


def longest(items: Items) -> Bools:
    """Which items stay if, from left to right, the longer of two that overlap is kept.

    Each is compared with the one kept last, so that a chain can keep more than one. Items that begin at the same
    place come in the order of the file, and of two equally long ones the first stays.
    """
    order = np.lexsort((items.row, items.start, items.document))
    document, start, end = items.document[order], items.start[order], items.end[order]
    stay = np.ones(len(items), np.bool_)
    # Most items overlap nothing; a run begins where an item begins behind all ends before it in its document.
    place = (document.astype(np.int64) << 32) + end
    reach = np.maximum.accumulate(place) if len(place) else place
    crowded = np.zeros(len(items), np.bool_)
    crowded[1:] = ((document.astype(np.int64) << 32) + start)[1:] < reach[:-1]
    if not crowded.any():
        return stay
    bounds = zip(document.tolist(), start.tolist(), end.tolist(), crowded.tolist(), strict=True)
    best = (-1, 0, 0, 0)
    for place_in_order, (doc, low, high, overlaps) in enumerate(bounds):
        if overlaps and best[0] == doc and low < best[2]:
            if high - low > best[2] - best[1]:
                stay[order[best[3]]] = False
                best = (doc, low, high, place_in_order)
            else:
                stay[order[place_in_order]] = False
        else:
            best = (doc, low, high, place_in_order)
    return stay
