"""MUC: links that hold a cluster together (Vilain and others, 1995)."""

from karat.model.clusters import Clusters
from karat.spec.clustering import Clustering


def _weights(c: Clusters) -> tuple[float, float, float, float]:
    """A cluster of n mentions needs n - 1 links; where the other side divides it into p parts, p - 1 are missing.

    Parts that share a mention are one part, so a mention in several clusters can never give more links than needed.
    """
    return (
        float((c.answers - c.answer_parts).sum()),
        float((c.answer_parts - 1).sum()),
        float((c.gold - c.gold_parts).sum()),
        float((c.gold_parts - 1).sum()),
    )


CLUSTERING = Clustering(
    title="MUC",
    says="Counts the links that are needed to hold each cluster together; single mentions do not count.",
    weights=_weights,
)
