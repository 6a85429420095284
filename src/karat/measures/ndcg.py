"""Normalised discounted cumulative gain."""

from karat.model.tables.columns import Floats
from karat.spec.measure import Measure
from karat.stats.ranking import Ranking, ndcg


def _values(ranking: Ranking, k: int | None) -> Floats:
    return ndcg(ranking, k)


MEASURE = Measure(
    title="Normalised discounted cumulative gain",
    formula="sum of gain / log2(rank + 1), divided by that of the best order",
    undefined="the document has nothing to find",
    aggregates=("macro",),
    ranked=_values,
    cutoff="optional",
    note="The gain is the score of the gold tag, or 1. With `@k` only the first k count.",
)
