"""Disambiguation accuracy: of the mentions that were detected, the share that was linked right."""

from karat.spec.measure import Lookup, Measure, Score


def _derive(view: Lookup) -> Score:
    right, detected = float(view.total().matched_gold[0]), float(view.detection().matched_gold[0])
    if not detected:
        return Score(None, 0, "no mention was detected")
    return Score(right / detected, int(detected))


MEASURE = Measure(
    title="Disambiguation accuracy",
    formula="tp of the view / tp of its detection view (strong: mention, weak: mention-weak)",
    undefined="no mention was detected",
    aggregates=(),
    derive=_derive,
    needs_detection=True,
    note="Of the detection view only mentions count that also count in the view itself: linked ones, and those "
    "that its filters leave; an answer without link detects. Optional mentions count in neither.",
)
