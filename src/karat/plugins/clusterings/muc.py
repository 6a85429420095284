"""MUC: the links that connect the mentions of a cluster (Vilain et al., 1995)."""

from karat.model.results.clusters import Clusters
from karat.model.spec.clustering import Clustering


def _sum_weights(clusters: Clusters) -> tuple[float, float, float, float]:
    """Return the weights of matched and unmatched predictions, matched and unmatched gold.

    Each weight is a number of links. n mentions need n - 1 links; if the other side splits them into p parts, p - 1 are
    missing. Parts that share a mention are one part, so a mention in several clusters never yields more links than
    needed; as in neleval, a mention is in one part.
    """
    return (
        float((clusters.predictions - clusters.prediction_parts).sum()),
        float((clusters.prediction_parts - 1).sum()),
        float((clusters.gold - clusters.gold_parts).sum()),
        float((clusters.gold_parts - 1).sum()),
    )


CLUSTERING = Clustering(
    title="MUC",
    description="Counts the links that connect the mentions of each cluster; clusters of one mention do not count.",
    weights=_sum_weights,
)
