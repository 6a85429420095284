"""CEAF by entities: phi 4 of Luo (2005)."""

from fractions import Fraction

import numpy as np

from karat.model.clusters import Clusters
from karat.model.tables.columns import Longs
from karat.spec.clustering import Clustering
from karat.stats.ceaf import assigned


def _weights(c: Clusters) -> tuple[float, float, float, float]:
    """A mention in several clusters is a full member of each; no two clusters are more than wholly alike."""
    sizes = c.gold[c.row] + c.answers[c.column]
    taken = assigned(c.row, c.column, 2 * c.shared / sizes)
    alike = _sum(2 * c.shared[taken], sizes[taken])
    return float(alike), float(len(c.answers) - alike), float(alike), float(len(c.gold) - alike)


def _sum(above: Longs, below: Longs) -> Fraction:
    """The sum of fractions, exact: of several best assignments it must not matter which was found."""
    values, place = np.unique(below, return_inverse=True)
    counts = np.zeros(len(values), np.int64)
    np.add.at(counts, place, above)
    terms = [Fraction(*pair) for pair in zip(counts.tolist(), values.tolist(), strict=True)]
    while len(terms) > 1:
        # By halves, so that most additions are of short numbers.
        terms = [sum(terms[i : i + 2], Fraction(0)) for i in range(0, len(terms), 2)]
    return terms[0] if terms else Fraction(0)


CLUSTERING = Clustering(
    title="CEAF, entities",
    says="Pairs gold and answer clusters one to one as well as possible; counts how alike the pairs are, from 0 to 1.",
    weights=_weights,
)
