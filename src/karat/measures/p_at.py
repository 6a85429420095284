"""Precision at k."""

from karat.model.tables.columns import Floats
from karat.spec.measure import Measure
from karat.stats.ranking import Ranking, precision_at


def _values(ranking: Ranking, k: int | None) -> Floats:
    assert k is not None, "the name has a cut-off"
    return precision_at(ranking, k)


MEASURE = Measure(
    title="Precision at k",
    formula="P@k = right answers among the first k / k",
    undefined="the document has nothing to find",
    aggregates=("macro",),
    ranked=_values,
    cutoff="required",
    note="The divisor is k even where fewer answers are given.",
)
