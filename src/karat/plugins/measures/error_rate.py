"""Error rate: the share of possible errors that occurred."""

from karat.model.results.statistics import Statistics, ratio
from karat.model.spec.measure import Measure
from karat.model.tables.columns import Floats


def _share_counts(s: Statistics, _: Statistics) -> tuple[Floats, Floats]:
    """Return the missed and all gold mentions of each row, numerator and denominator."""
    return s.gold - s.matched_gold, s.gold


MEASURE = Measure(
    title="Error rate",
    formula="error rate = errors / (errors + avoided errors); for a view: missed mentions / gold mentions = 1 − R",
    undefined_case="nothing could go wrong",
    aggregates=("micro", "macro"),
    from_statistics=lambda s, empty: ratio(*_share_counts(s, s)),
    share_counts=_share_counts,
    is_gold_only=True,
    is_on_request=True,
    is_lower_better=True,
    note="For an error category, its definition says what counts as a possible error: mentions with the same "
    "property, or words of the text.",
)
