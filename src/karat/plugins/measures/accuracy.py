"""Disambiguation accuracy: the share of detected mentions that are linked correctly."""

from karat.model.results.result import Score
from karat.model.results.statistics import Statistics
from karat.model.spec.measure import Measure, MeasureLookup
from karat.model.tables.columns import Floats


def _share_counts(links: Statistics, detection: Statistics) -> tuple[Floats, Floats]:
    """Return the correctly linked and the detected mentions of each row, numerator and denominator."""
    return links.matched_gold, detection.matched_gold


def _derive_score(view: MeasureLookup) -> Score:
    """Return the share of detected mentions that are linked correctly; undefined if none is detected."""
    correct, detected = (float(count[0]) for count in _share_counts(view.total(), view.detection()))
    if not detected:
        return Score(None, 0, "no mention was detected")
    return Score(correct / detected, int(detected))


MEASURE = Measure(
    title="Disambiguation accuracy",
    formula="accuracy = correctly linked mentions / detected mentions",
    undefined_case="no mention was detected",
    aggregates=(),
    from_measures=_derive_score,
    share_counts=_share_counts,
    needs_detection=True,
    note="A mention is detected if a prediction, linked or not, matches its span (for `strong` as in `mention`, for "
    "`weak` as in `mention-weak`). A prediction detects one mention, also if several share its span. Only linked, "
    "required mentions that pass the filters count.",
)
