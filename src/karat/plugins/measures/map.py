"""Mean average precision."""

from karat.model.results.ranking import Ranking
from karat.model.spec.measure import Measure
from karat.model.tables.columns import Floats
from karat.stats.rank_measures import average_precision


def _compute_values(ranking: Ranking, k: int | None) -> Floats:
    """Return the average precision of each document; the cut-off `k` is not used."""
    return average_precision(ranking)


MEASURE = Measure(
    title="Mean average precision",
    formula="mean over the gold entities of P@k at the rank k of each entity; 0 for entities not found",
    undefined_case="there are no gold entities",
    aggregates=("macro",),
    from_ranking=_compute_values,
)
