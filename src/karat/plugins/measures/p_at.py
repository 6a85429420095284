"""Precision at k."""

from karat.model.results.ranking import Ranking
from karat.model.spec.measure import Measure
from karat.model.tables.columns import Floats
from karat.stats.rank_measures import precision_at


def _compute_values(ranking: Ranking, k: int | None) -> Floats:
    """Return the precision at rank `k` of each document."""
    assert k is not None, "the name has a cut-off"
    return precision_at(ranking, k)


MEASURE = Measure(
    title="Precision at k",
    formula="P@k = correct predictions among the first k / k",
    undefined_case="there are no gold entities",
    aggregates=("macro",),
    from_ranking=_compute_values,
    cutoff="required",
    note="The divisor is k even if there are fewer predictions.",
)
