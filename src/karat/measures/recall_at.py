"""Recall at k."""

from karat.model.tables.columns import Floats
from karat.spec.measure import Measure
from karat.stats.ranking import Ranking, recall_at


def _values(ranking: Ranking, k: int | None) -> Floats:
    assert k is not None, "the name has a cut-off"
    return recall_at(ranking, k)


MEASURE = Measure(
    title="Recall at k",
    formula="R@k = gold entities among the first k / gold entities",
    undefined="the document has nothing to find",
    aggregates=("macro",),
    ranked=_values,
    cutoff="required",
)
