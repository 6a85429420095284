"""Dot charts of scores with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle, islice
from typing import NamedTuple

from karat.render.charts.drawing import COLOURS, Origin, Spec, finish_chart, make_percent_axis
from karat.render.charts.label_layout import WIDTH
from karat.render.charts.requirements import check_extra

_ROW = 15  # pixels that a dot takes
_SPACE = 14  # pixels between two lines of dots


class Dot(NamedTuple):
    """The score of a system, with its interval, on the line of a scored item, such as a dataset or measure."""

    line: str
    system: str
    value: float
    low: float | None
    high: float | None


def dot_chart(
    dots: Sequence[Dot],
    systems: Sequence[str],
    origins: Sequence[Origin],
    title: str,
    subtitle: Sequence[str],
    *,
    axis: str,
) -> Spec:
    """Draw a line per scored item and a dot per system on it, with intervals, in percent; dots do not overlap.

    `systems`: systems in order. `origins`: origins whose signatures are stored in the chart. `axis`: title of the axis
    of items.
    """
    check_extra()
    import altair as alt

    lines = list(dict.fromkeys(dot.line for dot in dots))
    line_axis = alt.Axis(title=axis, ticks=False, domain=False, labelLimit=360, grid=False)
    y = alt.Y("line:N", sort=lines, axis=line_axis, scale=alt.Scale(paddingInner=0.15))
    offset = alt.YOffset("system:N", sort=list(systems), scale=alt.Scale(domain=list(systems), paddingOuter=0.5))
    colours = alt.Scale(domain=list(systems), range=list(islice(cycle(COLOURS), len(systems))))
    legend = alt.Legend(title=None, orient="bottom", columns=4) if len(systems) > 1 else None
    rows = [{**dot._asdict(), "text": f"{100 * dot.value:.1f}"} for dot in dots]
    colour = alt.Color("system:N", scale=colours, legend=legend)
    interval_rows = [row for row in rows if row["low"] is not None and row["high"] is not None]
    points, intervals = (
        alt.Chart(alt.InlineData(data)).encode(y=y, yOffset=offset, color=colour) for data in (rows, interval_rows)
    )
    x = alt.X("value:Q", **make_percent_axis("score"))
    chart = alt.layer(
        intervals.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q"), x2="high:Q"),
        points.mark_point(filled=True, size=55, opacity=1).encode(
            x=x, tooltip=[alt.Tooltip(f"{name}:N") for name in ("line", "system", "text")]
        ),
    ).properties(width=WIDTH, height=len(lines) * (_ROW * len(systems) + _SPACE))
    return finish_chart(chart, origins, title, subtitle, WIDTH)
