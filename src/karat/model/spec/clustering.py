"""The specification of a clustering measure: the constant `CLUSTERING` of a file in `karat.plugins.clusterings`."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from karat.model.results.clusters import Clusters


class Clustering(msgspec.Struct, frozen=True):
    """A measure that compares the predicted clusters with the gold clusters."""

    title: str
    """The name in lists and tables."""
    description: str
    """One sentence about the measure."""
    weights: Callable[[Clusters], tuple[float, float, float, float]]
    """Return the weights of matched predictions, unmatched predictions, matched gold and unmatched gold.

    Precision is the first over the sum of the first two, recall the third over the sum of the last two.
    """
