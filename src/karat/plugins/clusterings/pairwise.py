"""Pairwise: pairs of mentions in the same cluster."""

from karat.model.results.clusters import Clusters
from karat.model.spec.clustering import Clustering


def _sum_weights(clusters: Clusters) -> tuple[float, float, float, float]:
    """Return the weights of matched and unmatched predictions, matched and unmatched gold.

    Each weight is a number of pairs of mentions in one cluster. Two mentions that share several clusters are one pair,
    or as in neleval one pair in each of them.
    """
    if clusters.last_kinds is not None:
        n_predictions, n_gold, n_common = (
            int((sizes * (sizes - 1)).sum()) // 2 for sizes in (clusters.predictions, clusters.gold, clusters.shared)
        )
        return float(n_common), float(n_predictions - n_common), float(n_common), float(n_gold - n_common)
    kinds = clusters.kinds
    # Each mention counts itself and each of its pairs once, so every pair is counted twice.
    n_predictions = int((kinds.mentions * kinds.predictions).sum() - clusters.prediction_mentions) // 2
    n_gold = int((kinds.mentions * kinds.gold).sum() - clusters.gold_mentions) // 2
    n_common = int((kinds.mentions * kinds.both).sum() - clusters.common) // 2
    return float(n_common), float(n_predictions - n_common), float(n_common), float(n_gold - n_common)


CLUSTERING = Clustering(
    title="Pairwise",
    description="Counts the pairs of mentions in the same cluster; a pair is correct if both sides have it.",
    weights=_sum_weights,
)
