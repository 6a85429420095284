"""F1: the harmonic mean of precision and recall."""

import numpy as np

from karat.model.results.statistics import Statistics, ratio
from karat.model.spec.measure import Measure
from karat.model.spec.settings.empty import Empty, fill_empty_cases
from karat.model.tables.columns import Floats


def _compute_values(s: Statistics, empty: Empty) -> Floats:
    """Return F1 of each row, with the values of `empty` where gold mentions or predictions are missing."""
    p, r = ratio(s.matched_predictions, s.predictions), ratio(s.matched_gold, s.gold)
    values = fill_empty_cases(_harmonic_mean(p, r), s, [case.f1 for case in empty])
    # Precision is defined here, and recall takes its value for empty gold.
    has_weightless_matches = (s.gold == 0) & (s.matched_predictions > 0)
    return np.where(
        has_weightless_matches, _harmonic_mean(p, fill_empty_cases(r, s, [case.r for case in empty])), values
    )


def _harmonic_mean(p: Floats, r: Floats) -> Floats:
    """Return the harmonic mean of precision and recall in each row; 0 if both are 0."""
    return np.where(p + r == 0, 0.0, ratio(2 * p * r, p + r))


MEASURE = Measure(
    title="F1",
    formula="F1 = 2 · P · R / (P + R)",
    undefined_case="there are neither gold mentions nor predictions",
    aggregates=("micro", "macro"),
    from_statistics=_compute_values,
    undefined_mask=lambda s: (s.gold == 0) & ((s.predictions == 0) | (s.matched_predictions > 0)),
    note="Macro F1 is the mean of the documents' F1; the harmonic mean of macro P and macro R is `macro.f1-of-means`. "
    "If all matched mentions have weight 0 (`membership`), F1 is undefined too.",
)
