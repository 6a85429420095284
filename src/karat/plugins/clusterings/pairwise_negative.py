"""Pairwise negative: pairs of mentions in different clusters."""

from karat.model.results.clusters import Clusters
from karat.model.spec.clustering import Clustering


def _sum_weights(clusters: Clusters) -> tuple[float, float, float, float]:
    """Return the weights of matched and unmatched predictions, matched and unmatched gold.

    Each weight is a number of pairs of mentions in different clusters. Two mentions are in different clusters if they
    share none.
    """
    kinds = clusters.kinds
    # Every pair is counted from both mentions.
    n_predictions = (
        int((kinds.mentions * (clusters.prediction_mentions - kinds.predictions))[kinds.predictions > 0].sum()) // 2
    )
    n_gold = int((kinds.mentions * (clusters.gold_mentions - kinds.gold))[kinds.gold > 0].sum()) // 2
    n_common = int((kinds.mentions * kinds.neither).sum()) // 2
    return float(n_common), float(n_predictions - n_common), float(n_common), float(n_gold - n_common)


CLUSTERING = Clustering(
    title="Pairwise negative",
    description="Counts the pairs of mentions in different clusters; a pair is correct if both sides have both "
    "mentions in different clusters.",
    weights=_sum_weights,
)
