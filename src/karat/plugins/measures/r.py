"""Recall: the share of gold mentions that are found."""

from karat.model.results.statistics import Statistics, ratio
from karat.model.spec.measure import Measure
from karat.model.spec.settings.empty import Empty, fill_empty_cases
from karat.model.tables.columns import Floats


def _share_counts(s: Statistics, _: Statistics) -> tuple[Floats, Floats]:
    """Return the matched and all gold mentions of each row, numerator and denominator."""
    return s.matched_gold, s.gold


def _compute_values(s: Statistics, empty: Empty) -> Floats:
    """Return recall of each row, with the values of `empty` where gold mentions or predictions are missing."""
    return fill_empty_cases(ratio(*_share_counts(s, s)), s, [case.r for case in empty])


MEASURE = Measure(
    title="Recall",
    formula="R = matched gold mentions / gold mentions = tp / (tp + fn)",
    undefined_case="there are no gold mentions",
    aggregates=("micro", "macro"),
    from_statistics=_compute_values,
    share_counts=_share_counts,
    is_gold_only=True,
)
