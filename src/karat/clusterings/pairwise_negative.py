"""Pairwise negative: two mentions that no cluster holds together."""

from karat.model.clusters import Clusters
from karat.spec.clustering import Clustering


def _weights(c: Clusters) -> tuple[float, float, float, float]:
    """Two mentions are kept apart if they have no cluster in common, however many each is in."""
    kinds = c.kinds
    # Every pair is seen from both its mentions.
    answers = int((kinds.mentions * (c.answer_mentions - kinds.answers))[kinds.answers > 0].sum()) // 2
    gold = int((kinds.mentions * (c.gold_mentions - kinds.gold))[kinds.gold > 0].sum()) // 2
    both = int((kinds.mentions * kinds.apart).sum()) // 2
    return float(both), float(answers - both), float(both), float(gold - both)


CLUSTERING = Clustering(
    title="Pairwise negative",
    says="Counts the pairs of mentions that are kept apart; right if both sides have the two and keep them apart.",
    weights=_weights,
)
