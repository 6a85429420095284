"""Mean reciprocal rank."""

from karat.model.spec.measure import Measure
from karat.stats.rank_measures import reciprocal_rank

MEASURE = Measure(
    title="Mean reciprocal rank",
    formula="mean of 1 / rank of the first correct prediction; 0 if none is correct",
    undefined_case="there are no gold entities",
    aggregates=("macro",),
    from_ranking=lambda ranking, k: reciprocal_rank(ranking),
)
