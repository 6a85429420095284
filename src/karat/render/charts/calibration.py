"""Charts of calibration and of risk over coverage, as Vega-Lite specifications."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from karat.analysis.curves.calibration import ScoredPredictions
from karat.model.errors import InputError
from karat.render.charts.drawing import (
    COLOURS,
    INK,
    PALE,
    ChartLine,
    Row,
    Spec,
    check_comparable,
    describe_settings,
    describe_view,
    draw_lines,
    finish_chart,
    make_percent_axis,
    sample_rows,
)
from karat.render.charts.label_layout import HEIGHT, WIDTH
from karat.render.charts.requirements import check_extra
from karat.stats.calibration import Reliability, expected_calibration_error, reliability

if TYPE_CHECKING:
    import altair as alt

_PANEL = 230  # the width and height of one system's reliability
_ACROSS = 3  # panels in a row


def reliability_chart(systems: Sequence[ScoredPredictions], bins: int = 10) -> Spec:
    """Draw the share of correct predictions per score bin, one panel per system, with the size of each bin.

    `bins`: number of bins of equal width. If scores are probabilities, bars end on the diagonal. Raise `UsageError` if
    the systems are not comparable, and `InputError` if scores are not from 0 to 1. Guo et al., On Calibration of Modern
    Neural Networks, ICML 2017.
    """
    check_extra()
    import altair as alt

    head = check_comparable(systems)
    panels = [_draw_panel(system, bins) for system in systems]
    subtitle = [
        "Bar: share of correct predictions in a bin. Dot: the same, at the bin's mean score. Dashed: perfect "
        "calibration. "
        "ECE: mean distance of the dots from it.",
        describe_settings(head),
    ]
    chart = alt.concat(*panels, columns=_ACROSS, spacing=30)
    width = (_PANEL + 50) * min(len(panels), _ACROSS)
    return finish_chart(chart, systems, f"{head.corpus}: calibration, {describe_view(head.view)}", subtitle, width)


def risk_coverage_chart(systems: Sequence[ScoredPredictions]) -> Spec:
    """Draw the share of wrong predictions as predictions are added by descending score, one line per system."""
    check_extra()
    import altair as alt

    head = check_comparable(systems)
    lines = []
    for system in systems:
        coverage_curve, area = system.coverage, system.aurc
        rows = sample_rows(len(coverage_curve.risk))
        name = f"{system.run} ({'no scored predictions' if area is None else f'AURC {100 * area:.1f} %'})"
        lines.append(ChartLine(name, coverage_curve.coverage[rows], coverage_curve.risk[rows]))
    x = alt.X("x:Q", **make_percent_axis("coverage: predictions kept"))
    y = alt.Y("y:Q", **make_percent_axis("risk: wrong predictions"))
    chart = alt.layer(draw_lines(lines, x, y, "linear")).properties(width=WIDTH, height=HEIGHT)
    subtitle = [
        "Predictions are kept from the highest score on. AURC: the area under the line.",
        describe_settings(head),
    ]
    return finish_chart(
        chart, systems, f"{head.corpus}: risk over coverage, {describe_view(head.view)}", subtitle, WIDTH
    )


def _draw_panel(system: ScoredPredictions, bins: int) -> alt.VConcatChart:
    """Draw the reliability of one system above the sizes of its bins."""
    import altair as alt

    bins_data, error = _compute_reliability(system, bins)
    subtitle = (
        "no scored predictions" if error is None else f"{len(system.scores):,} predictions, ECE {100 * error:.1f} %"
    )
    bars = alt.Chart(alt.InlineData(_list_bins(bins_data)))
    x = alt.X("low:Q", title=None, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(labels=False, ticks=False))
    y = alt.Y("correct:Q", **make_percent_axis("correct predictions"))
    ends: list[Row] = [{"low": 0, "correct": 0}, {"low": 1, "correct": 1}]
    diagonal = alt.Chart(alt.InlineData(ends)).encode(x=x, y=y)
    upper = alt.layer(
        bars.mark_bar(color=COLOURS[0], opacity=0.5, stroke="white").encode(x=x, x2="high:Q", y=y, y2=alt.datum(0)),
        diagonal.mark_line(color=INK, strokeDash=[5, 4], strokeWidth=1.5),
        bars.mark_point(filled=True, size=50, opacity=1, color=COLOURS[1]).encode(x="score:Q", y=y),
    ).properties(
        width=_PANEL, height=_PANEL, title=alt.TitleParams(system.run, subtitle=subtitle, fontSize=13, offset=6)
    )
    highest = 1.25 * max(1, int(bins_data.count.max(initial=0)))  # room for the numbers above the bars
    x_lower = alt.X("low:Q", title="score", scale=alt.Scale(domain=[0, 1]))
    count = alt.Y(
        "count:Q",
        title="predictions",
        scale=alt.Scale(domain=[0, highest]),
        axis=alt.Axis(labels=False, ticks=False, grid=False),
    )
    lower = alt.layer(
        bars.mark_bar(color=PALE, opacity=0.5, stroke="white").encode(x=x_lower, x2="high:Q", y=count, y2=alt.datum(0)),
        bars.mark_text(fontSize=9, dy=-6, color=INK).encode(x="middle:Q", y=count, text="short:N"),
    ).properties(width=_PANEL, height=_PANEL // 4)
    return alt.vconcat(upper, lower, spacing=6)


def _compute_reliability(system: ScoredPredictions, bins: int) -> tuple[Reliability, float | None]:
    """Return the bins of a system and its expected calibration error, which is None without scored predictions.

    Raise `InputError`, naming the system, if scores are not from 0 to 1.
    """
    try:
        bins_data = reliability(system.scores, system.correctness, bins)
        return bins_data, expected_calibration_error(system.scores, system.correctness, bins)
    except InputError as problem:
        raise InputError(
            f"{problem.where} of {system.run}",
            actual=problem.actual,
            expected=problem.expected,
            remedy=problem.remedy,
        ) from None


def _list_bins(bins_data: Reliability) -> list[Row]:
    """Return one row of chart data per bin that has predictions."""
    columns = [bins_data.edges[:-1], bins_data.edges[1:], bins_data.count, bins_data.score, bins_data.correct]
    return [
        {"low": low, "high": high, "middle": (low + high) / 2, "count": count, "short": _format_short(count)}
        | {"score": score, "correct": correct}
        for low, high, count, score, correct in zip(*(column.tolist() for column in columns), strict=True)
        if count
    ]


def _format_short(count: int) -> str:
    """Format a count in at most five characters."""
    for unit, size in (("M", 1_000_000), ("k", 1_000)):
        if count >= size:
            return f"{count / size:.0f}{unit}" if count >= 10 * size else f"{count / size:.1f}{unit}"
    return str(count)
