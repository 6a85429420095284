"""Scores as dots with their intervals, below each other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle, islice
from typing import NamedTuple

from karat.pages.charts.drawing import COLOURS, Origin, Spec, finished, in_percent
from karat.pages.charts.extra import check_extra
from karat.pages.charts.labels import WIDTH

_ROW = 15  # pixels that a dot takes
_SPACE = 14  # pixels between two lines of dots


class Dot(NamedTuple):
    """A score and its interval, in a line with others, by a system."""

    line: str
    system: str
    value: float
    low: float | None
    high: float | None


def dotted(
    dots: Sequence[Dot],
    systems: Sequence[str],
    origins: Sequence[Origin],
    title: str,
    subtitle: Sequence[str],
    *,
    axis: str,
) -> Spec:
    """A line for each of what is scored, which the axis names, and in it a dot for each system: none covers another."""
    check_extra()
    import altair as alt

    lines = list(dict.fromkeys(dot.line for dot in dots))
    named = alt.Axis(title=axis, ticks=False, domain=False, labelLimit=360, grid=False)
    y = alt.Y("line:N", sort=lines, axis=named, scale=alt.Scale(paddingInner=0.15))
    beside = alt.YOffset("system:N", sort=list(systems), scale=alt.Scale(domain=list(systems), paddingOuter=0.5))
    colours = alt.Scale(domain=list(systems), range=list(islice(cycle(COLOURS), len(systems))))
    legend = alt.Legend(title=None, orient="bottom", columns=4) if len(systems) > 1 else None
    rows = [{**dot._asdict(), "text": f"{100 * dot.value:.1f}"} for dot in dots]
    colour = alt.Color("system:N", scale=colours, legend=legend)
    between = [row for row in rows if row["low"] is not None and row["high"] is not None]
    points, intervals = (
        alt.Chart(alt.InlineData(own)).encode(y=y, yOffset=beside, color=colour) for own in (rows, between)
    )
    x = alt.X("value:Q", **in_percent("score"))
    chart = alt.layer(
        intervals.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q"), x2="high:Q"),
        points.mark_point(filled=True, size=55, opacity=1).encode(
            x=x, tooltip=[alt.Tooltip(f"{name}:N") for name in ("line", "system", "text")]
        ),
    ).properties(width=WIDTH, height=len(lines) * (_ROW * len(systems) + _SPACE))
    return finished(chart, origins, title, subtitle, WIDTH)
