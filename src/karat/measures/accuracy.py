"""Disambiguation accuracy: of the mentions that were detected, the share that was linked right."""

from karat.model.result import Scored
from karat.model.statistics import Statistics
from karat.model.tables.columns import Floats
from karat.spec.measure import Lookup, Measure


def _share(links: Statistics, detection: Statistics) -> tuple[Floats, Floats]:
    return links.matched_gold, detection.matched_gold


def _derive(view: Lookup) -> Scored:
    right, detected = (float(count[0]) for count in _share(view.total(), view.detection()))
    if not detected:
        return Scored(None, 0, "no mention was detected")
    return Scored(right / detected, int(detected))


MEASURE = Measure(
    title="Disambiguation accuracy",
    formula="accuracy = mentions linked right / mentions detected",
    undefined="no mention was detected",
    aggregates=(),
    derive=_derive,
    share=_share,
    needs_detection=True,
    note="A mention is detected if any answer, linked or not, stands at its place (for `strong` as in `mention`, for "
    "`weak` as in `mention-weak`). Only mentions with a link that the filters leave count, and no optional ones.",
)
