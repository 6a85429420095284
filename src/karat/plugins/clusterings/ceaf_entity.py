"""CEAF by entities: phi 4 of Luo (2005)."""

from fractions import Fraction

import numpy as np

from karat.model.results.clusters import Clusters
from karat.model.spec.clustering import Clustering
from karat.model.tables.columns import Longs
from karat.stats.cluster_assignment import assign_clusters


def _sum_weights(clusters: Clusters) -> tuple[float, float, float, float]:
    """Return the weights of matched and unmatched predictions, matched and unmatched gold.

    Each weight is a sum of similarities of aligned clusters. A mention in several clusters is a full member of each.
    """
    sizes = clusters.gold[clusters.row] + clusters.predictions[clusters.column]
    aligned = assign_clusters(clusters.row, clusters.column, 2 * clusters.shared / sizes)
    similarity = _sum_fractions(2 * clusters.shared[aligned], sizes[aligned])
    return (
        float(similarity),
        float(len(clusters.predictions) - similarity),
        float(similarity),
        float(len(clusters.gold) - similarity),
    )


def _sum_fractions(numerators: Longs, denominators: Longs) -> Fraction:
    """Return the exact sum of fractions, which is the same for all optimal assignments."""
    values, index = np.unique(denominators, return_inverse=True)
    counts = np.zeros(len(values), np.int64)
    np.add.at(counts, index, numerators)
    terms = [Fraction(*pair) for pair in zip(counts.tolist(), values.tolist(), strict=True)]
    while len(terms) > 1:
        # Pairwise, so that most additions have small denominators.
        terms = [sum(terms[i : i + 2], Fraction(0)) for i in range(0, len(terms), 2)]
    return terms[0] if terms else Fraction(0)


CLUSTERING = Clustering(
    title="CEAF, entities",
    description="Aligns gold and predicted clusters one to one as well as possible, and sums the similarity of "
    "aligned clusters, from 0 to 1 each.",
    weights=_sum_weights,
)
