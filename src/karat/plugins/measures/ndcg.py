"""Normalised discounted cumulative gain."""

from karat.model.results.ranking import Ranking
from karat.model.spec.measure import Measure
from karat.model.tables.columns import Floats
from karat.stats.rank_measures import ndcg


def _compute_values(ranking: Ranking, k: int | None) -> Floats:
    """Return the normalised discounted cumulative gain of each document, up to rank `k` or of all predictions."""
    return ndcg(ranking, k)


MEASURE = Measure(
    title="Normalised discounted cumulative gain",
    formula="sum of gain / log2(rank + 1), divided by the sum of the best possible ranking",
    undefined_case="there are no gold entities",
    aggregates=("macro",),
    from_ranking=_compute_values,
    cutoff="optional",
    note="The gain is the score of the gold tag, or 1 without a score. With `@k`, only the first k predictions count.",
)
