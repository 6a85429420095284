"""R-precision."""

from karat.model.spec.measure import Measure
from karat.stats.rank_measures import r_precision

MEASURE = Measure(
    title="R-precision",
    formula="correct predictions among the first R / R, where R is the number of gold entities",
    undefined_case="there are no gold entities",
    aggregates=("macro",),
    from_ranking=lambda ranking, k: r_precision(ranking),
)
