"""Pairwise: two mentions of one cluster."""

from karat.model.clusters import Clusters
from karat.spec.clustering import Clustering


def _weights(c: Clusters) -> tuple[float, float, float, float]:
    """Pairs are a set: two mentions that are together in several clusters are one pair."""
    kinds = c.kinds
    # Each mention goes with itself and sees each of its pairs once, so that every pair is seen twice.
    answers = int((kinds.mentions * kinds.answers).sum() - c.answer_mentions) // 2
    gold = int((kinds.mentions * kinds.gold).sum() - c.gold_mentions) // 2
    both = int((kinds.mentions * kinds.both).sum() - c.common) // 2
    return float(both), float(answers - both), float(both), float(gold - both)


CLUSTERING = Clustering(
    title="Pairwise",
    says="Counts the pairs of mentions that are in one cluster; right if they are so on both sides.",
    weights=_weights,
)
