"""A made-up clustering measure."""

from karat.model.results.clusters import Clusters
from karat.model.spec.clustering import Clustering


def _sum_weights(clusters: Clusters) -> tuple[float, float, float, float]:
    """Return the numbers of links that both sides have and of links that only one side has, from `clusters`."""
    return (
        float((clusters.predictions - clusters.prediction_parts).sum()),
        float((clusters.prediction_parts - 1).sum()),
        float((clusters.gold - clusters.gold_parts).sum()),
        float((clusters.gold_parts - 1).sum()),
    )


CLUSTERING = Clustering(title="Made-up links", description="Counts links, for a test.", weights=_sum_weights)
