"""Normalised discounted cumulative gain."""

from karat.model.spec.measure import Measure
from karat.stats.rank_measures import ndcg

MEASURE = Measure(
    title="Normalised discounted cumulative gain",
    formula="sum of gain / log2(rank + 1), divided by the sum of the best possible ranking",
    undefined_case="there are no gold entities",
    aggregates=("macro",),
    from_ranking=ndcg,
    cutoff="optional",
    note="The gain is the score of the gold tag, or 1 without a score. With `@k`, only the first k predictions count.",
)
