"""Precision: the share of the answers that is right."""

from karat.model.statistics import Statistics, ratio
from karat.model.tables.columns import Floats
from karat.spec.choices.empty import Empty, filled
from karat.spec.measure import Measure


def _share(s: Statistics, _: Statistics) -> tuple[Floats, Floats]:
    return s.matched_answers, s.answers


def _values(s: Statistics, empty: Empty) -> Floats:
    return filled(ratio(*_share(s, s)), s, [case.p for case in empty])


MEASURE = Measure(
    title="Precision",
    formula="P = matched answers / answers = tp / (tp + fp)",
    undefined="there are no answers",
    aggregates=("micro", "macro"),
    values=_values,
    share=_share,
)
