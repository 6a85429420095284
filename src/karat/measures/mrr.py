"""Mean reciprocal rank."""

from karat.model.tables.columns import Floats
from karat.spec.measure import Measure
from karat.stats.ranking import Ranking, reciprocal_rank


def _values(ranking: Ranking, k: int | None) -> Floats:
    return reciprocal_rank(ranking)


MEASURE = Measure(
    title="Mean reciprocal rank",
    formula="the mean of 1 / rank of the first right answer, 0 where none is right",
    undefined="the document has nothing to find",
    aggregates=("macro",),
    ranked=_values,
)
