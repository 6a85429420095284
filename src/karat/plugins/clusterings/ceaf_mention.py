"""CEAF by mentions: phi 3 of Luo (2005)."""

from karat.model.results.clusters import Clusters
from karat.model.spec.clustering import Clustering
from karat.stats.cluster_assignment import assign_clusters


def _sum_weights(clusters: Clusters) -> tuple[float, float, float, float]:
    """Return the weights of matched and unmatched predictions, matched and unmatched gold.

    Matched are the mentions that aligned clusters share. A mention in several clusters counts in each, in numerator and
    denominator.
    """
    correct = int(clusters.shared[assign_clusters(clusters.row, clusters.column, clusters.shared.astype(float))].sum())
    return (
        float(correct),
        float(clusters.predictions.sum() - correct),
        float(correct),
        float(clusters.gold.sum() - correct),
    )


CLUSTERING = Clustering(
    title="CEAF, mentions",
    description="Aligns gold and predicted clusters one to one as well as possible, and counts the mentions that "
    "aligned clusters share.",
    weights=_sum_weights,
)
