"""R-precision."""

from karat.model.tables.columns import Floats
from karat.spec.measure import Measure
from karat.stats.ranking import Ranking, r_precision


def _values(ranking: Ranking, k: int | None) -> Floats:
    return r_precision(ranking)


MEASURE = Measure(
    title="R-precision",
    formula="right answers among the first R / R, where R is the number of gold entities",
    undefined="the document has nothing to find",
    aggregates=("macro",),
    ranked=_values,
)
