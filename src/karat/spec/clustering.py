"""What a file in `karat.clusterings` holds."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from karat.model.clusters import Clusters


class Clustering(msgspec.Struct, frozen=True):
    """A way to compare two clusterings.

    `weights` gives four sums: matched answers, unmatched answers, matched gold, unmatched gold. Precision is the
    first over the first two, recall the third over the last two; undefined where that is 0 over 0.
    """

    title: str
    says: str
    weights: Callable[[Clusters], tuple[float, float, float, float]]
