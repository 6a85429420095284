"""B-cubed: how much of each mention's cluster the other side reproduces (Bagga and Baldwin, 1998)."""

from math import fsum

import numpy as np

from karat.model.results.clusters import Clusters
from karat.model.spec.clustering import Clustering
from karat.model.tables.columns import Longs


def _sum_weights(clusters: Clusters) -> tuple[float, float, float, float]:
    """Return the weights of matched and unmatched predictions, matched and unmatched gold.

    Each weight is a sum over mentions of shares of their clusters. A mention in several clusters counts once, with the
    union of its clusters, or as in neleval with the last one.
    """
    kinds = clusters.last_kinds or clusters.kinds
    correct = kinds.mentions * kinds.both
    return (
        _sum_shares(correct, kinds.predictions),
        _sum_shares(kinds.mentions * kinds.predictions - correct, kinds.predictions),
        _sum_shares(correct, kinds.gold),
        _sum_shares(kinds.mentions * kinds.gold - correct, kinds.gold),
    )


def _sum_shares(count: Longs, size: Longs) -> float:
    """Return the sum of `count / size` over positive sizes, rounded once per distinct size and once at the end.

    Counts of equal sizes are added before the division.
    """
    mask = size > 0
    sizes, index = np.unique(size[mask], return_inverse=True)
    counts = np.zeros(len(sizes), np.int64)
    np.add.at(counts, index, count[mask])
    return fsum((counts / sizes).tolist())


CLUSTERING = Clustering(
    title="B-cubed",
    description="The mean over mentions of the share of the mention's cluster that is also in its cluster on the "
    "other side.",
    weights=_sum_weights,
)
