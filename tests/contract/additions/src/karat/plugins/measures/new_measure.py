"""A made-up measure."""

from karat.model.results.statistics import Statistics, ratio
from karat.model.spec.measure import Measure
from karat.model.spec.settings.empty import Empty, fill_empty_cases
from karat.model.tables.columns import Floats


def _compute_values(s: Statistics, empty: Empty) -> Floats:
    """Return the share of wrong predictions in each row of `s`, with the values of `empty` in empty rows."""
    precision = fill_empty_cases(ratio(s.matched_predictions, s.predictions), s, [case.p for case in empty])
    return 1 - precision


MEASURE = Measure(
    title="Made-up share",
    formula="wrong predictions / predictions",
    undefined_case="there are no predictions",
    aggregates=("micro", "macro"),
    from_statistics=_compute_values,
    is_lower_better=True,
)
