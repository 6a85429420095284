"""R-precision."""

from karat.model.results.ranking import Ranking
from karat.model.spec.measure import Measure
from karat.model.tables.columns import Floats
from karat.stats.rank_measures import r_precision


def _compute_values(ranking: Ranking, k: int | None) -> Floats:
    """Return the R-precision of each document; the cut-off `k` is not used."""
    return r_precision(ranking)


MEASURE = Measure(
    title="R-precision",
    formula="correct predictions among the first R / R, where R is the number of gold entities",
    undefined_case="there are no gold entities",
    aggregates=("macro",),
    from_ranking=_compute_values,
)
