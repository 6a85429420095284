"""Recall at k."""

from karat.model.results.ranking import Ranking
from karat.model.spec.measure import Measure
from karat.model.tables.columns import Floats
from karat.stats.rank_measures import recall_at


def _compute_values(ranking: Ranking, k: int | None) -> Floats:
    """Return the recall at rank `k` of each document."""
    assert k is not None, "the name has a cut-off"
    return recall_at(ranking, k)


MEASURE = Measure(
    title="Recall at k",
    formula="R@k = gold entities among the first k / gold entities",
    undefined_case="there are no gold entities",
    aggregates=("macro",),
    from_ranking=_compute_values,
    cutoff="required",
)
