"""Error rate: the share of what could go wrong that did."""

from karat.model.statistics import Statistics, ratio
from karat.model.tables.columns import Floats
from karat.spec.choices.empty import Empty
from karat.spec.measure import Measure


def _share(s: Statistics, _: Statistics) -> tuple[Floats, Floats]:
    return s.gold - s.matched_gold, s.gold


def _values(s: Statistics, empty: Empty) -> Floats:
    return ratio(*_share(s, s))


MEASURE = Measure(
    title="Error rate",
    formula="error rate = errors / (errors + avoided errors); of a view: mentions not found / gold mentions = 1 - R",
    undefined="nothing could go wrong",
    aggregates=("micro", "macro"),
    values=_values,
    share=_share,
    of_gold=True,
    on_request=True,
    lower=True,
    note="Of an error category, what could have gone wrong is what its definition says: mentions with the same "
    "property, or words of the text.",
)
