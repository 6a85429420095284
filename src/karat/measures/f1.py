"""F1: the harmonic mean of precision and recall."""

import numpy as np

from karat.model.statistics import Statistics, ratio
from karat.model.tables.columns import Bools, Floats
from karat.spec.choices.empty import Empty, filled
from karat.spec.measure import Measure


def _values(s: Statistics, empty: Empty) -> Floats:
    p, r = ratio(s.matched_answers, s.answers), ratio(s.matched_gold, s.gold)
    values = filled(_harmonic(p, r), s, [case.f1 for case in empty])
    weightless = (s.gold == 0) & (s.matched_answers > 0)  # then precision holds, and recall is what no gold gives
    return np.where(weightless, _harmonic(p, filled(r, s, [case.r for case in empty])), values)


def _undefined(s: Statistics) -> Bools:
    """Neither side has anything, or recall has nothing to divide by while precision holds."""
    undefined: Bools = (s.gold == 0) & ((s.answers == 0) | (s.matched_answers > 0))
    return undefined


def _harmonic(p: Floats, r: Floats) -> Floats:
    return np.where(p + r == 0, 0.0, ratio(2 * p * r, p + r))


MEASURE = Measure(
    title="F1",
    formula="F1 = 2 · P · R / (P + R)",
    undefined="there are neither gold mentions nor answers",
    aggregates=("micro", "macro"),
    values=_values,
    undefined_where=_undefined,
    note="The macro F1 is the mean of the documents' F1; the harmonic mean of macro P and macro R is "
    "`macro.f1-of-means`. Where the mentions that were found weigh nothing (`membership`), F1 is undefined too.",
)
