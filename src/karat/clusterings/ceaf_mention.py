"""CEAF by mentions: phi 3 of Luo (2005)."""

from karat.model.clusters import Clusters
from karat.spec.clustering import Clustering
from karat.stats.ceaf import assigned


def _weights(c: Clusters) -> tuple[float, float, float, float]:
    """A mention in several clusters counts in each of them, above the line and below it."""
    right = int(c.shared[assigned(c.row, c.column, c.shared.astype(float))].sum())
    return float(right), float(c.answers.sum() - right), float(right), float(c.gold.sum() - right)


CLUSTERING = Clustering(
    title="CEAF, mentions",
    says="Pairs gold and answer clusters one to one as well as possible; counts the mentions that the pairs share.",
    weights=_weights,
)
