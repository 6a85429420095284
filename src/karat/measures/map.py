"""Mean average precision."""

from karat.model.tables.columns import Floats
from karat.spec.measure import Measure
from karat.stats.ranking import Ranking, average_precision


def _values(ranking: Ranking, k: int | None) -> Floats:
    return average_precision(ranking)


MEASURE = Measure(
    title="Mean average precision",
    formula="the mean over the gold entities of P@k at the rank k of each, 0 for those not found",
    undefined="the document has nothing to find",
    aggregates=("macro",),
    ranked=_values,
)
