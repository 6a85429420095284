"""Mean reciprocal rank."""

from karat.model.results.ranking import Ranking
from karat.model.spec.measure import Measure
from karat.model.tables.columns import Floats
from karat.stats.rank_measures import reciprocal_rank


def _compute_values(ranking: Ranking, k: int | None) -> Floats:
    """Return the reciprocal rank of each document; the cut-off `k` is not used."""
    return reciprocal_rank(ranking)


MEASURE = Measure(
    title="Mean reciprocal rank",
    formula="mean of 1 / rank of the first correct prediction; 0 if none is correct",
    undefined_case="there are no gold entities",
    aggregates=("macro",),
    from_ranking=_compute_values,
)
