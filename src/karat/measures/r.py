"""Recall: the share of the gold mentions that was found."""

from karat.model.statistics import Statistics, ratio
from karat.model.tables.columns import Floats
from karat.spec.choices.empty import Empty, filled
from karat.spec.measure import Measure


def _share(s: Statistics, _: Statistics) -> tuple[Floats, Floats]:
    return s.matched_gold, s.gold


def _values(s: Statistics, empty: Empty) -> Floats:
    return filled(ratio(*_share(s, s)), s, [case.r for case in empty])


MEASURE = Measure(
    title="Recall",
    formula="R = matched gold mentions / gold mentions = tp / (tp + fn)",
    undefined="there are no gold mentions",
    aggregates=("micro", "macro"),
    values=_values,
    share=_share,
    of_gold=True,
)
