"""B-cubed: how well each mention's cluster is rendered (Bagga and Baldwin, 1998)."""

from math import fsum

import numpy as np

from karat.model.clusters import Clusters
from karat.model.tables.columns import Longs
from karat.spec.clustering import Clustering


def _weights(c: Clusters) -> tuple[float, float, float, float]:
    """A mention counts once, however many clusters it is in: its cluster is then all of them together."""
    right = c.kinds.mentions * c.kinds.both
    return (
        _shares(right, c.kinds.answers),
        _shares(c.kinds.mentions * c.kinds.answers - right, c.kinds.answers),
        _shares(right, c.kinds.gold),
        _shares(c.kinds.mentions * c.kinds.gold - right, c.kinds.gold),
    )


def _shares(count: Longs, size: Longs) -> float:
    """The sum of `count / size` where there is a size; what has one size is added up before it is divided."""
    there = size > 0
    sizes, place = np.unique(size[there], return_inverse=True)
    counts = np.zeros(len(sizes), np.int64)
    np.add.at(counts, place, count[there])
    return fsum((counts / sizes).tolist())


CLUSTERING = Clustering(
    title="B-cubed",
    says="For each mention, the share of its cluster that the other side puts with it; the mean over mentions.",
    weights=_weights,
)
