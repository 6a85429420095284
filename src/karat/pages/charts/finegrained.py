"""Charts of the fine-grained paper: fuzzy scores over alpha, and best-first curves over combinations of categories."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import numpy as np

from karat.curves.alpha import AlphaCurve, reigns
from karat.curves.categories import CategoryCurve
from karat.curves.oracle import Reach
from karat.model.tables.columns import Floats
from karat.pages.charts.drawing import (
    ChartLine,
    Spec,
    alike,
    chosen,
    drawn,
    finished,
    in_percent,
    labelled,
    worded_view,
)
from karat.pages.charts.extra import check_extra
from karat.pages.charts.labels import HEIGHT, WIDTH, ChartLabel, Frame, placed

FUZZY: Final = {"micro.p": "precision", "micro.r": "fuzzy recall", "micro.f1": "fuzzy F1"}
"""The measures over alpha, and what charts call them."""

CUMULATIVE: Final = {"micro.p": "precision", "micro.r": "recall", "micro.f1": "F1"}
"""The measures over categories."""


def alpha_chart(curves: Sequence[AlphaCurve], measure: str, alpha: Floats) -> Spec:
    """A measure over alpha, one line per system, with the places where another one takes the lead.

    Figure 5 of Rosales-Méndez, Hogan and Poblete, Fine-Grained Evaluation for Entity Linking, EMNLP 2019.
    """
    check_extra()
    head, says = alike(curves), FUZZY[measure]
    lines = [_line(curve.run, alpha, curve.values(measure, alpha)) for curve in curves]
    by_run, labels = {curve.run: curve for curve in curves}, []
    for at, run in _changes(curves, measure):
        value = float(by_run[run].values(measure, np.array([at]))[0])
        labels.append(ChartLabel(run, at, value, f"α = {at:.2f}"))
    title = f"{head.corpus}: {says} over α, {worded_view(head.view)}"
    return _alpha(curves, lines, labels, title=title, axis=says, says="A point marks where a system takes the lead.")


def alpha_prf_chart(curve: AlphaCurve, alpha: Floats) -> Spec:
    """Precision, fuzzy recall and fuzzy F1 of one system over alpha."""
    check_extra()
    lines = [_line(says, alpha, curve.values(short, alpha)) for short, says in reversed(FUZZY.items())]
    title = f"{curve.corpus}: fuzzy recall and F1 of {curve.run}, {worded_view(curve.view)}"
    return _alpha([curve], lines, [], title=title, axis="score", says="Precision does not depend on α.")


def category_chart(curves: Sequence[CategoryCurve]) -> Spec:
    """A measure over the number of combinations of categories, each system's best first.

    Figure 4 of Rosales-Méndez, Hogan and Poblete, Fine-Grained Evaluation for Entity Linking, EMNLP 2019.
    """
    check_extra()
    head = alike(curves)
    says = CUMULATIVE[head.measure]
    lines = [_added(curve.run, curve) for curve in curves]
    title = f"{head.corpus}: {says}, best categories first, {worded_view(head.view)}"
    return _categories(curves, lines, title=title, axis=says)


def category_prf_chart(curves: Sequence[CategoryCurve]) -> Spec:
    """Precision, recall and F1 of one system, each with its own best combinations first."""
    check_extra()
    lines = [_added(CUMULATIVE[curve.measure], curve) for curve in curves]
    title = f"{curves[0].corpus}: {curves[0].run}, best categories first, {worded_view(curves[0].view)}"
    return _categories(curves, lines, title=title, axis="score")


def _changes(curves: Sequence[AlphaCurve], measure: str) -> list[tuple[float, str]]:
    """Where a new leader begins, and who; the first is there from the start."""
    found = reigns(curves, measure)
    return [(reign.low, run) for last, reign in pairwise(found) for run in reign.runs if run not in last.runs]


def _line(name: str, x: Floats, y: Floats) -> ChartLine:
    return ChartLine(name, x[~np.isnan(y)], y[~np.isnan(y)])


def _added(name: str, curve: CategoryCurve) -> ChartLine:
    """The line of a curve, named with where it ends."""
    values = curve.values()
    end = "undefined" if np.isnan(values[-1:]).any() else f"{100 * values[-1]:.1f}"
    return _line(f"{name} ({end})", np.arange(1.0, len(values) + 1), values)


def _alpha(
    curves: Sequence[AlphaCurve],
    lines: Sequence[ChartLine],
    labels: Sequence[ChartLabel],
    *,
    title: str,
    axis: str,
    says: str,
) -> Spec:
    import altair as alt

    frame = Frame(Reach(0, 1), Reach(0, 1))
    x = alt.X("x:Q", title="α: what a mention weighs that is not strict", scale=alt.Scale(domain=[0, 1]))
    y = alt.Y("y:Q", **in_percent(axis))
    points = labelled(placed(labels, [(line.x, line.y) for line in lines], frame), lines)
    chart = alt.layer(drawn(lines, x, y, "linear"), *points).properties(width=WIDTH, height=HEIGHT)
    subtitle = [f"Membership {curves[0].preset}. {says}", chosen(curves[0])]
    return finished(chart, curves, title, subtitle, WIDTH)


def _categories(curves: Sequence[CategoryCurve], lines: Sequence[ChartLine], *, title: str, axis: str) -> Spec:
    import altair as alt

    last = max(2, max(len(curve.combinations) for curve in curves))
    x = alt.X("x:Q", title="combinations of categories, the best first", scale=alt.Scale(domain=[1, last], nice=False))
    y = alt.Y("y:Q", **in_percent(axis))
    chart = alt.layer(drawn(lines, x, y, "linear")).properties(width=WIDTH, height=HEIGHT)
    subtitle = [
        "Combinations of one category in each dimension, added in the order of what each scores alone. In brackets: "
        f"what all of them score together ({int(curves[0].mentions[-1]):,} mentions).",
        chosen(curves[0]),
    ]
    return finished(chart, curves, title, subtitle, WIDTH)
