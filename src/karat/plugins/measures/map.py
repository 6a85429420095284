"""Mean average precision."""

from karat.model.spec.measure import Measure
from karat.stats.rank_measures import average_precision

MEASURE = Measure(
    title="Mean average precision",
    formula="mean over the gold entities of P@k at the rank k of each entity; 0 for entities not found",
    undefined_case="there are no gold entities",
    aggregates=("macro",),
    from_ranking=lambda ranking, k: average_precision(ranking),
)
