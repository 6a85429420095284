"""Charts of the fine-grained paper: fuzzy scores over alpha, and best-first curves over category combinations."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import numpy as np

from karat.analysis.curves.alpha import AlphaCurve, find_leaders
from karat.analysis.curves.categories import CategoryCurve
from karat.analysis.curves.oracle import ThresholdRange
from karat.model.tables.columns import Floats
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
)
from karat.render.charts.label_layout import HEIGHT, WIDTH, ChartLabel, Frame, place_labels
from karat.render.charts.requirements import check_extra

FUZZY: Final = {"micro.p": "precision", "micro.r": "fuzzy recall", "micro.f1": "fuzzy F1"}
"""Measures over alpha, with their titles."""

CUMULATIVE: Final = {"micro.p": "precision", "micro.r": "recall", "micro.f1": "F1"}
"""Measures over categories, with their titles."""


def alpha_chart(curves: Sequence[AlphaCurve], measure: str, alpha: Floats) -> Spec:
    """Draw a measure of `FUZZY` over the values of alpha, one line per system, with points where the lead changes.

    Figure 5 of Rosales-Méndez, Hogan and Poblete, Fine-Grained Evaluation for Entity Linking, EMNLP 2019.
    """
    check_extra()
    head, description = check_comparable(curves), FUZZY[measure]
    lines = [_make_line(curve.run, alpha, curve.values(measure, alpha)) for curve in curves]
    by_run, labels = {curve.run: curve for curve in curves}, []
    for alpha_value, run in _find_lead_changes(curves, measure):
        value = float(by_run[run].values(measure, np.array([alpha_value]))[0])
        labels.append(ChartLabel(run, alpha_value, value, f"α = {alpha_value:.2f}"))
    title = f"{head.corpus}: {description} over α, {describe_view(head.view)}"
    return _draw_over_alpha(
        curves, lines, labels, title=title, axis=description, description="A point marks where a system takes the lead."
    )


def alpha_prf_chart(curve: AlphaCurve, alpha: Floats) -> Spec:
    """Draw precision, fuzzy recall and fuzzy F1 of one system over the values of alpha."""
    check_extra()
    lines = [
        _make_line(description, alpha, curve.values(short, alpha)) for short, description in reversed(FUZZY.items())
    ]
    title = f"{curve.corpus}: fuzzy recall and F1 of {curve.run}, {describe_view(curve.view)}"
    return _draw_over_alpha(
        [curve], lines, [], title=title, axis="score", description="Precision does not depend on α."
    )


def category_chart(curves: Sequence[CategoryCurve]) -> Spec:
    """Draw a measure over the number of category combinations, best first for each system, one line per system.

    All curves must be of the same measure. Figure 4 of Rosales-Méndez, Hogan and Poblete, Fine-Grained Evaluation for
    Entity Linking, EMNLP 2019.
    """
    check_extra()
    head = check_comparable(curves)
    description = CUMULATIVE[head.measure]
    lines = [_make_category_line(curve.run, curve) for curve in curves]
    title = f"{head.corpus}: {description}, best categories first, {describe_view(head.view)}"
    return _draw_over_categories(curves, lines, title=title, axis=description)


def category_prf_chart(curves: Sequence[CategoryCurve]) -> Spec:
    """Draw precision, recall and F1 of one system, one curve each, with the best combinations first."""
    check_extra()
    lines = [_make_category_line(CUMULATIVE[curve.measure], curve) for curve in curves]
    title = f"{curves[0].corpus}: {curves[0].run}, best categories first, {describe_view(curves[0].view)}"
    return _draw_over_categories(curves, lines, title=title, axis="score")


def _find_lead_changes(curves: Sequence[AlphaCurve], measure: str) -> list[tuple[float, str]]:
    """Return pairs of an alpha value and the name of the run that takes or joins the lead there.

    The leaders at alpha 0 are not included.
    """
    leads = find_leaders(curves, measure)
    return [(lead.low, run) for last, lead in pairwise(leads) for run in lead.runs if run not in last.runs]


def _make_line(name: str, x: Floats, y: Floats) -> ChartLine:
    """Make a line without the points at which it is undefined (NaN)."""
    return ChartLine(name, x[~np.isnan(y)], y[~np.isnan(y)])


def _make_category_line(name: str, curve: CategoryCurve) -> ChartLine:
    """Make the line of a curve; the name of the line contains the last value in percent."""
    values = curve.values()
    end = "undefined" if np.isnan(values[-1:]).any() else f"{100 * values[-1]:.1f}"
    return _make_line(f"{name} ({end})", np.arange(1.0, len(values) + 1), values)


def _draw_over_alpha(
    curves: Sequence[AlphaCurve],
    lines: Sequence[ChartLine],
    labels: Sequence[ChartLabel],
    *,
    title: str,
    axis: str,
    description: str,
) -> Spec:
    """Draw lines and labelled points over alpha; `axis`: title of the vertical axis."""
    import altair as alt

    frame = Frame(ThresholdRange(0, 1), ThresholdRange(0, 1))
    x = alt.X("x:Q", title="α: weight of non-strict mentions", scale=alt.Scale(domain=[0, 1]))
    y = alt.Y("y:Q", **make_percent_axis(axis))
    points = draw_labelled_points(place_labels(labels, [(line.x, line.y) for line in lines], frame), lines)
    chart = alt.layer(draw_lines(lines, x, y, "linear"), *points).properties(width=WIDTH, height=HEIGHT)
    subtitle = [f"Membership {curves[0].preset}. {description}", describe_settings(curves[0])]
    return finish_chart(chart, curves, title, subtitle, WIDTH)


def _draw_over_categories(
    curves: Sequence[CategoryCurve], lines: Sequence[ChartLine], *, title: str, axis: str
) -> Spec:
    """Draw lines over the number of combinations; `axis`: title of the vertical axis."""
    import altair as alt

    last = max(2, max(len(curve.combinations) for curve in curves))
    x = alt.X("x:Q", title="combinations of categories, the best first", scale=alt.Scale(domain=[1, last], nice=False))
    y = alt.Y("y:Q", **make_percent_axis(axis))
    chart = alt.layer(draw_lines(lines, x, y, "linear")).properties(width=WIDTH, height=HEIGHT)
    subtitle = [
        "Combinations of one category per dimension, added by descending score of each alone. In brackets: "
        f"the score of all together ({int(curves[0].mentions[-1]):,} mentions).",
        describe_settings(curves[0]),
    ]
    return finish_chart(chart, curves, title, subtitle, WIDTH)
