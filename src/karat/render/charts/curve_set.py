"""The charts of a set of curves, by its axis, as Vega-Lite specifications."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from karat.analysis.curves.oracle import (
    MEASURES,
    MeasureTrace,
    Oracle,
    ThresholdRange,
    check_measure,
    measure_family,
    threshold_range,
    trace_measures,
)
from karat.analysis.curves.threshold import ThresholdCurve
from karat.model.spec.settings.threshold import Threshold
from karat.render.charts.calibration import risk_coverage_chart
from karat.render.charts.drawing import (
    ChartLine,
    Spec,
    check_comparable,
    describe_settings,
    describe_view,
    draw_labelled_points,
    draw_lines,
    finish_chart,
    make_percent_axis,
    sample_rows,
)
from karat.render.charts.finegrained import alpha_chart, alpha_prf_chart, category_chart, category_prf_chart
from karat.render.charts.label_layout import HEIGHT, WIDTH, ChartLabel, Frame, place_labels
from karat.render.charts.requirements import check_extra

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


def threshold_chart(curves: Sequence[ThresholdCurve], measure: str = "micro.f1") -> Spec:
    """Draw a measure over the threshold, one line per system, with its best threshold marked.

    Raise `UsageError` if the curves are not comparable. Figure 4 of Cornolti, Ferragina and Ciaramita, A Framework for
    Benchmarking Entity-Annotation Systems, WWW 2013.
    """
    check_extra()
    head, x_range, description = check_comparable(curves), threshold_range(curves), MEASURES[check_measure(measure)]
    traces = {curve.run: trace_measures(curve, [measure])[measure] for curve in curves}
    lines = [_make_line(curve.run, curve, traces[curve.run], x_range) for curve in curves]
    best = {curve.run: traces[curve.run].find_best(curve) for curve in curves}
    title = f"{head.corpus}: {description} over the threshold, {describe_view(head.view)}"
    return _draw_over_threshold(curves, lines, best, x_range, title=title, axis=description, measure=measure)


def plot(curve: ThresholdCurve, kind: str | None) -> Spec:
    """Draw precision, recall and F1 of a curve or, if `kind` names a measure, only that measure."""
    return prf_chart(curve) if kind is None else threshold_chart([curve], kind)


def prf_chart(curve: ThresholdCurve, measure: str = "micro.f1") -> Spec:
    """Draw precision, recall and F1 of one system over the threshold, with the best threshold by `measure` marked.

    `measure` also decides between micro and macro scores.
    """
    check_extra()
    x_range = threshold_range([curve])
    p, r, f1 = measure_family(measure)
    traces = trace_measures(curve, [f1, p, r])  # the first gets the line without gaps
    lines = [_make_line(MEASURES[short], curve, values, x_range) for short, values in traces.items()]
    best = {MEASURES[measure]: traces[measure].find_best(curve)}
    title = f"{curve.corpus}: precision, recall and F1 of {curve.run}, {describe_view(curve.view)}"
    return _draw_over_threshold([curve], lines, best, x_range, title=title, axis="score", measure=measure)


def _draw_over_threshold(
    curves: Sequence[ThresholdCurve],
    lines: Sequence[ChartLine],
    best: Mapping[str, Oracle | None],
    x_range: ThresholdRange,
    *,
    title: str,
    axis: str,
    measure: str,
) -> Spec:
    """Draw lines over the threshold, and labelled points where they are best.

    `best`: best threshold by name of a line; None if undefined. `axis`: title of the vertical axis.
    """
    import altair as alt

    sweep, frame = curves[0].sweep, Frame(x_range, ThresholdRange(0, 1))
    counts = f"threshold t: predictions with score {'>' if sweep.is_strict else '≥'} t count"
    x = alt.X("x:Q", title=counts, scale=alt.Scale(domain=[*x_range], nice=False))
    y = alt.Y("y:Q", **make_percent_axis(axis))
    labels = [
        ChartLabel(name, _get_axis_value(oracle.threshold, x_range), oracle.value, _describe_oracle(oracle))
        for name, oracle in best.items()
        if oracle is not None
    ]
    # With `>=` a value holds up to its threshold, with `>` from it on.
    steps = draw_lines(lines, x, y, "step-after" if sweep.is_strict else "step-before")
    points = draw_labelled_points(place_labels(labels, [(line.x, line.y) for line in lines], frame), lines)
    grid = "the thresholds 0, 1/128, … 1" if sweep.grid == "steps" else "all thresholds"
    subtitle = [
        f"oracle: the best {MEASURES[measure]} of {grid}, selected on this corpus.",
        describe_settings(curves[0]),
    ]
    chart = alt.layer(steps, *points).properties(width=WIDTH, height=HEIGHT)
    return finish_chart(chart, curves, title, subtitle, WIDTH)


def _describe_oracle(oracle: Oracle) -> str:
    """Return the label of a best threshold: its value in percent, and the threshold."""
    min_score = oracle.threshold.min_score
    return (
        f"oracle {100 * oracle.value:.1f}, "
        f"{'all predictions' if min_score is None else f't = {min_score:.3g}'.replace('-', '−')}"
    )


def _get_axis_value(threshold: Threshold, x_range: ThresholdRange) -> float:
    """Return the x value of a threshold; no threshold is at the start of the axis."""
    return x_range.low if threshold.min_score is None else threshold.min_score


def _make_line(name: str, curve: ThresholdCurve, trace: MeasureTrace, x_range: ThresholdRange) -> ChartLine:
    """Make the line of a measure over the whole axis, without points where it is undefined."""
    best = trace.find_best(curve)
    rows = sample_rows(len(trace.values), [] if best is None else [best.threshold_index])
    thresholds = [_get_axis_value(curve.thresholds[row], x_range) for row in rows.tolist()]
    values = trace.values[rows]
    # Below the lowest threshold nothing more comes in. Above the highest score only predictions without score are left;
    # the highest of fixed steps may lie below that score, and there the axis ends.
    last = values[-1] if curve.sweep.grid == "steps" else trace.no_prediction_value
    x, y = np.array([x_range.low, *thresholds, x_range.high]), np.array([values[0], *values, last])
    return ChartLine(name, x[~np.isnan(y)], y[~np.isnan(y)])
