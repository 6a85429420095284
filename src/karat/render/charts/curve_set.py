"""The chart of a set of curves, by its axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karat.render.charts.calibration import risk_coverage_chart
from karat.render.charts.finegrained import alpha_chart, alpha_prf_chart, category_chart, category_prf_chart
from karat.render.charts.threshold import prf_chart, threshold_chart

if TYPE_CHECKING:
    from karat.analysis.curves.curve_set import CurveSet
    from karat.render.charts.drawing import Spec


def curve_set_chart(curves: CurveSet) -> Spec:
    """Draw a set of curves: several systems under one measure, or one system with precision, recall and F1."""
    if curves.axis == "threshold":
        is_single = len(curves.thresholds) == 1
        return (
            prf_chart(curves.thresholds[0], curves.measure)
            if is_single
            else threshold_chart(curves.thresholds, curves.measure)
        )
    if curves.axis == "coverage":
        return risk_coverage_chart(curves.predictions)
    if curves.axis == "alpha":
        assert curves.alpha is not None, "curves over alpha have its values"
        is_single = len(curves.alphas) == 1
        return (
            alpha_prf_chart(curves.alphas[0], curves.alpha)
            if is_single
            else alpha_chart(curves.alphas, curves.measure, curves.alpha)
        )
    if curves.companions:
        return category_prf_chart([*curves.categories, *curves.companions])
    return category_chart(curves.categories)
