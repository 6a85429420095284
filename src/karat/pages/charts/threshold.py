"""Charts of scored answers, as Vega-Lite specifications."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from karat.curves.calibration import ScoredAnswers
from karat.curves.oracle import MEASURES, Oracle, Reach, Traced, family, known, reach_of, traced
from karat.curves.threshold import ThresholdCurve
from karat.errors import InputError
from karat.model.tables.columns import Longs
from karat.pages.charts.drawing import (
    COLOURS,
    INK,
    PALE,
    ChartLine,
    Row,
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
from karat.spec.choices.threshold import Threshold
from karat.stats.calibration import Reliability, expected_calibration_error, reliability

if TYPE_CHECKING:
    import altair as alt

_POINTS = 2000  # more than a line has pixels
_PANEL = 230  # the width and height of one system's reliability
_ACROSS = 3  # panels in a row


def threshold_chart(curves: Sequence[ThresholdCurve], measure: str = "micro.f1") -> Spec:
    """A measure over the threshold, one line per system, with the best threshold of each marked.

    Figure 4 of Cornolti, Ferragina and Ciaramita, A Framework for Benchmarking Entity-Annotation Systems, WWW 2013.
    """
    check_extra()
    head, reach, says = alike(curves), reach_of(curves), MEASURES[known(measure)]
    found = {curve.run: traced(curve, [measure])[measure] for curve in curves}
    lines = [_line(curve.run, curve, found[curve.run], reach) for curve in curves]
    best = {curve.run: found[curve.run].best(curve) for curve in curves}
    title = f"{head.corpus}: {says} over the threshold, {worded_view(head.view)}"
    return _over_threshold(curves, lines, best, reach, title=title, axis=says, measure=measure)


def plot(curve: ThresholdCurve, kind: str | None) -> Spec:
    """Precision, recall and F1 of a curve, or one measure of it."""
    return prf_chart(curve) if kind is None else threshold_chart([curve], kind)


def prf_chart(curve: ThresholdCurve, measure: str = "micro.f1") -> Spec:
    """Precision, recall and F1 of one system over the threshold; the best threshold by one of them is marked."""
    check_extra()
    reach = reach_of([curve])
    p, r, f1 = family(measure)
    found = traced(curve, [f1, p, r])  # the first gets the line without gaps
    lines = [_line(MEASURES[short], curve, values, reach) for short, values in found.items()]
    best = {MEASURES[measure]: found[measure].best(curve)}
    title = f"{curve.corpus}: precision, recall and F1 of {curve.run}, {worded_view(curve.view)}"
    return _over_threshold([curve], lines, best, reach, title=title, axis="score", measure=measure)


def reliability_chart(systems: Sequence[ScoredAnswers], bins: int = 10) -> Spec:
    """The share of right answers in bins of score, a panel per system, and how many answers each bin holds.

    Where scores are probabilities, bars end on the diagonal. Guo et al., On Calibration of Modern Neural Networks,
    ICML 2017.
    """
    check_extra()
    import altair as alt

    head = alike(systems)
    panels = [_panel(system, bins) for system in systems]
    subtitle = [
        "Bar: share of right answers in a bin. Dot: the same, at the bin's mean score. Dashed: perfect calibration. "
        "ECE: mean distance of the dots from it.",
        chosen(head),
    ]
    chart = alt.concat(*panels, columns=_ACROSS, spacing=30)
    width = (_PANEL + 50) * min(len(panels), _ACROSS)
    return finished(chart, systems, f"{head.corpus}: calibration, {worded_view(head.view)}", subtitle, width)


def risk_coverage_chart(systems: Sequence[ScoredAnswers]) -> Spec:
    """The share of wrong answers among those kept, as answers are added from the highest score on."""
    check_extra()
    import altair as alt

    head = alike(systems)
    lines = []
    for system in systems:
        found, area = system.coverage, system.aurc
        kept = _thinned(len(found.risk))
        name = f"{system.run} ({'no scored answers' if area is None else f'AURC {area:.3f}'})"
        lines.append(ChartLine(name, found.coverage[kept], found.risk[kept]))
    x = alt.X("x:Q", **in_percent("coverage: answers kept"))
    y = alt.Y("y:Q", **in_percent("risk: wrong answers"))
    chart = alt.layer(drawn(lines, x, y, "linear")).properties(width=WIDTH, height=HEIGHT)
    subtitle = ["Answers are kept from the highest score on. AURC: the area under the line.", chosen(head)]
    return finished(chart, systems, f"{head.corpus}: risk over coverage, {worded_view(head.view)}", subtitle, WIDTH)


def _over_threshold(
    curves: Sequence[ThresholdCurve],
    lines: Sequence[ChartLine],
    best: Mapping[str, Oracle | None],
    reach: Reach,
    *,
    title: str,
    axis: str,
    measure: str,
) -> Spec:
    """Lines over the threshold, and points where they are best."""
    import altair as alt

    sweep, frame = curves[0].sweep, Frame(reach, Reach(0, 1))
    counts = f"threshold t: answers with score {'>' if sweep.strict else '≥'} t count"
    x = alt.X("x:Q", title=counts, scale=alt.Scale(domain=[*reach], nice=False))
    y = alt.Y("y:Q", **in_percent(axis))
    labels = [
        ChartLabel(name, _shown(oracle.threshold, reach), oracle.value, _said(oracle))
        for name, oracle in best.items()
        if oracle is not None
    ]
    # With `>=` a value holds up to its threshold, with `>` from it on.
    steps = drawn(lines, x, y, "step-after" if sweep.strict else "step-before")
    points = labelled(placed(labels, [(line.x, line.y) for line in lines], frame), lines)
    tried = "the thresholds 0, 1/128, … 1" if sweep.grid == "steps" else "all thresholds"
    subtitle = [f"oracle: the best {MEASURES[measure]} of {tried}, chosen on this very corpus.", chosen(curves[0])]
    chart = alt.layer(steps, *points).properties(width=WIDTH, height=HEIGHT)
    return finished(chart, curves, title, subtitle, WIDTH)


def _said(oracle: Oracle) -> str:
    at = oracle.threshold.at
    return f"oracle {100 * oracle.value:.1f}, {'all answers' if at is None else f't = {at:.3g}'.replace('-', '−')}"


def _shown(threshold: Threshold, reach: Reach) -> float:
    """Where a threshold stands on the axis; none at all stands at its beginning."""
    return reach.low if threshold.at is None else threshold.at


def _line(name: str, curve: ThresholdCurve, found: Traced, reach: Reach) -> ChartLine:
    """A measure from one end of the axis to the other, without corners where it is undefined."""
    best = found.best(curve)
    kept = _thinned(len(found.values), [] if best is None else [best.place])
    at = [_shown(curve.thresholds[place], reach) for place in kept.tolist()]
    values = found.values[kept]
    # Below the lowest threshold nothing more comes in. Above the highest score only answers without score are left;
    # the highest of fixed steps may lie below that score, and there the axis ends.
    last = values[-1] if curve.sweep.grid == "steps" else found.beyond
    x, y = np.array([reach.low, *at, reach.high]), np.array([values[0], *values, last])
    return ChartLine(name, x[~np.isnan(y)], y[~np.isnan(y)])


def _thinned(size: int, needed: Sequence[int] = ()) -> Longs:
    """At most about 2,000 of `size` places: both ends, places at even distances between them, and those needed.

    Even in rank, not in score: then few answers lie between two corners, and the line cannot go far unseen.
    """
    if size <= _POINTS:
        return np.arange(size)
    even = np.linspace(0, size - 1, _POINTS).round().astype(np.int64)
    return np.union1d(even, np.array(needed, np.int64))


def _panel(system: ScoredAnswers, bins: int) -> alt.VConcatChart:
    """The reliability of one system, above the counts of its bins."""
    import altair as alt

    found, error = _binned(system, bins)
    said = "no scored answers" if error is None else f"{len(system.scores):,} answers, ECE {100 * error:.1f} %"
    bars = alt.Chart(alt.InlineData(_rows(found)))
    x = alt.X("low:Q", title=None, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(labels=False, ticks=False))
    y = alt.Y("right:Q", **in_percent("right answers"))
    ends: list[Row] = [{"low": 0, "right": 0}, {"low": 1, "right": 1}]
    diagonal = alt.Chart(alt.InlineData(ends)).encode(x=x, y=y)
    upper = alt.layer(
        bars.mark_bar(color=COLOURS[0], opacity=0.5, stroke="white").encode(x=x, x2="high:Q", y=y, y2=alt.datum(0)),
        diagonal.mark_line(color=INK, strokeDash=[5, 4], strokeWidth=1.5),
        bars.mark_point(filled=True, size=50, opacity=1, color=COLOURS[1]).encode(x="score:Q", y=y),
    ).properties(width=_PANEL, height=_PANEL, title=alt.TitleParams(system.run, subtitle=said, fontSize=13, offset=6))
    highest = 1.25 * max(1, int(found.count.max(initial=0)))  # room for the numbers above the bars
    under = alt.X("low:Q", title="score", scale=alt.Scale(domain=[0, 1]))
    count = alt.Y(
        "count:Q",
        title="answers",
        scale=alt.Scale(domain=[0, highest]),
        axis=alt.Axis(labels=False, ticks=False, grid=False),
    )
    lower = alt.layer(
        bars.mark_bar(color=PALE, opacity=0.5, stroke="white").encode(x=under, x2="high:Q", y=count, y2=alt.datum(0)),
        bars.mark_text(fontSize=9, dy=-6, color=INK).encode(x="middle:Q", y=count, text="short:N"),
    ).properties(width=_PANEL, height=_PANEL // 4)
    return alt.vconcat(upper, lower, spacing=6)


def _binned(system: ScoredAnswers, bins: int) -> tuple[Reliability, float | None]:
    try:
        found = reliability(system.scores, system.right, bins)
        return found, expected_calibration_error(system.scores, system.right, bins)
    except InputError as problem:
        raise InputError(
            f"{problem.where} of {system.run}",
            found=problem.found,
            expected=problem.expected,
            remedy=problem.remedy,
        ) from None


def _rows(found: Reliability) -> list[Row]:
    """The bins that hold answers."""
    columns = [found.edges[:-1], found.edges[1:], found.count, found.score, found.right]
    return [
        {"low": low, "high": high, "middle": (low + high) / 2, "count": count, "short": _short(count)}
        | {"score": score, "right": right}
        for low, high, count, score, right in zip(*(column.tolist() for column in columns), strict=True)
        if count
    ]


def _short(count: int) -> str:
    """A number of at most five characters."""
    for unit, size in (("M", 1_000_000), ("k", 1_000)):
        if count >= size:
            return f"{count / size:.0f}{unit}" if count >= 10 * size else f"{count / size:.1f}{unit}"
    return str(count)
