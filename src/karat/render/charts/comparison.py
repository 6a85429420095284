"""Charts of comparisons: scores, ranks with critical differences, similarity, and scores over runtime."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle, islice
from math import ceil, floor, log10
from typing import TYPE_CHECKING, Final

from karat.analysis.comparison.compare import Comparison, Ranks
from karat.analysis.comparison.mean_usage import MeanUsage
from karat.analysis.curves.oracle import ThresholdRange
from karat.model.errors import UnknownNameError, UsageError
from karat.model.results.usage import QUANTITIES
from karat.model.signature import Signature
from karat.render.charts.dots import Dot, dot_chart
from karat.render.charts.drawing import (
    COLOURS,
    INK,
    PALE,
    Row,
    Spec,
    SystemOrigin,
    describe_measure,
    describe_settings,
    describe_view,
    draw_labelled_points,
    finish_chart,
    make_percent_axis,
)
from karat.render.charts.drawing import ChartLine as DrawnLine
from karat.render.charts.label_layout import HEIGHT, WIDTH, ChartLabel, ChartPosition, Frame, PlacedLabel, place_labels
from karat.render.charts.requirements import check_extra
from karat.render.tables import UNDEFINED

if TYPE_CHECKING:
    import altair as alt

_ROW = 24  # pixels between the names of two systems
_BAR = 9  # pixels between two groups
_SIDE = 170  # pixels beside the axis of ranks, for names
_CELL = 58  # the side of a cell of a heatmap
_DIAGONAL = "#e4e4e4"  # a system beside itself, which says nothing
_DARK = 0.6  # from this part of the shades on letters are white
_SHADES: Final = ("#f2f7fb", "#0072B2")
"""Colours of the least and the most similar pair."""


def _list_origins(comparison: Comparison) -> list[SystemOrigin]:
    """Return the origin of each system's numbers, for the signatures in the chart."""
    corpus = _describe_datasets(comparison.averaged_datasets or [dataset.name for dataset in comparison.datasets])
    view = comparison.measure.partition(":")[0]
    return [SystemOrigin(comparison.signature, corpus, system, view) for system in comparison.systems]


def _describe_datasets(names: Sequence[str]) -> str:
    """Return the name of a single dataset, or the number of several."""
    return names[0] if len(names) == 1 else f"{len(names)} datasets"


def _describe_settings(comparison: Comparison) -> str:
    """Describe the settings of a comparison; several datasets are only counted, since the title names them."""
    parts = dict(comparison.signature.parts)
    data = parts["data"] if len(comparison.datasets) == 1 else f"of {len(comparison.datasets)} datasets"
    signature = Signature(tuple((name, data if name == "data" else value) for name, value in parts.items()))
    return describe_settings(SystemOrigin(signature, "", "", ""))


def plot(comparison: Comparison, kind: str | None) -> Spec:
    """Draw the chart of a kind: `scores` (also for None), `ranks`, `heatmap`, `runtimes` or `costs`.

    Raise `UnknownNameError` on another kind.
    """
    charts = {
        "scores": scores_chart,
        "ranks": ranks_chart,
        "heatmap": heatmap_chart,
        "runtimes": runtime_chart,
        "costs": cost_chart,
    }
    if (kind or "scores") not in charts:
        raise UnknownNameError("chart", str(kind), charts)
    return charts[kind or "scores"](comparison)


def scores_chart(comparison: Comparison) -> Spec:
    """Draw a dot for the score of every system on every dataset, with its interval; undefined scores are omitted."""
    dots = [
        Dot(dataset.name, system, score.value, score.low, score.high)
        for dataset in comparison.datasets
        for system in comparison.systems
        if (score := dataset.scores.get(system)) is not None and score.value is not None
    ]
    names = comparison.averaged_datasets or [dataset.name for dataset in comparison.datasets]
    title = f"{_describe_datasets(names)}: {describe_measure(comparison.measure)}"
    description = (
        f"Lines: {100 * (1 - comparison.options.alpha):g} % intervals from "
        f"{comparison.options.resamples} bootstrap samples of documents."
    )
    return dot_chart(
        dots,
        list(comparison.systems),
        _list_origins(comparison),
        title,
        [description, _describe_settings(comparison)],
        axis="dataset",
    )


def ranks_chart(comparison: Comparison) -> Spec:
    """Draw mean ranks over datasets, with bars under systems that are not significantly different.

    Raise `UsageError` if the comparison has no ranks. Figure 1 of Demšar, Statistical Comparisons of Classifiers over
    Multiple Data Sets, JMLR 7, 2006.
    """
    check_extra()
    import altair as alt

    ranks = comparison.ranks
    if ranks is None:
        raise UsageError("ranks need at least two datasets on which all systems have scores.")
    levels = ceil(len(ranks.means) / 2)
    bars = _assign_levels(ranks)
    top = 14 + _BAR * (max(bars.values(), default=-1) + 1)
    depth = top + _ROW * levels
    layers = [
        *_draw_axis(ranks),
        *_draw_critical_difference(ranks),
        *_draw_names(ranks, top),
        *_draw_groups(ranks, bars),
    ]
    chart = alt.layer(*layers).properties(width=WIDTH, height=depth + 56)
    confidence = 100 * (1 - comparison.options.alpha)
    subtitle = [
        f"Mean rank over {ranks.datasets} datasets, 1 is best. A bar joins systems that do not differ by "
        "Nemenyi's test "
        f"at {confidence:g} %: their ranks differ by no more than the critical difference CD. Friedman's test "
        "that all are "
        f"alike: p {'< 0.0001' if ranks.p < 0.0001 else f'= {ranks.p:.4f}'}.",
        _describe_settings(comparison),
    ]
    return finish_chart(
        chart,
        _list_origins(comparison),
        f"Ranks over {ranks.datasets} datasets: {describe_measure(comparison.measure)}",
        subtitle,
        WIDTH,
    )


def _make_scales(ranks: Ranks) -> tuple[alt.Scale, alt.Scale]:
    """Return the horizontal scale, of ranks with margins for names, and the vertical scale, of pixels downwards."""
    import altair as alt

    systems = len(ranks.means)
    margin = _SIDE / (WIDTH - 2 * _SIDE) * (systems - 1)
    bars = _assign_levels(ranks)
    depth = 14 + _BAR * (max(bars.values(), default=-1) + 1) + _ROW * ceil(systems / 2)
    x_scale = alt.Scale(domain=[1 - margin, systems + margin], nice=False, zero=False)
    return x_scale, alt.Scale(domain=[depth, -56], nice=False, zero=False)


def _make_base(ranks: Ranks, rows: Sequence[Row]) -> alt.Chart:
    """Make a chart of rows with the fields `x`, a rank, and `y`, pixels below the axis."""
    import altair as alt

    x_scale, y_scale = _make_scales(ranks)
    x = alt.X("x:Q", scale=x_scale, axis=None)
    y = alt.Y("y:Q", scale=y_scale, axis=None)
    return alt.Chart(alt.InlineData(list(rows))).encode(x=x, y=y)


def _draw_axis(ranks: Ranks) -> Iterator[alt.Chart]:
    """Yield the layers of the axis of ranks: line, ticks, numbers and title."""
    systems = len(ranks.means)
    yield _make_base(ranks, [{"x": 1, "x2": systems, "y": 0}]).mark_rule(color=INK, strokeWidth=1.5).encode(x2="x2:Q")
    ticks: list[Row] = [{"x": rank, "y": -6, "y2": 0, "text": str(rank)} for rank in range(1, systems + 1)]
    yield _make_base(ranks, ticks).mark_rule(color=INK, strokeWidth=1.5).encode(y2="y2:Q")
    yield _make_base(ranks, ticks).mark_text(dy=-9, color=INK, fontSize=12).encode(text="text:N")
    title: list[Row] = [{"x": 1, "y": -6, "text": "mean rank"}]
    yield _make_base(ranks, title).mark_text(dx=-12, dy=-9, align="right", color=INK, fontSize=12).encode(text="text:N")


def _draw_critical_difference(ranks: Ranks) -> Iterator[alt.Chart]:
    """Yield the layers of a bar above the axis, as long as the critical difference, and its caption."""
    end = min(1 + ranks.difference, float(len(ranks.means)))
    bar: list[Row] = [{"x": 1, "x2": end, "y": -36}]
    yield _make_base(ranks, bar).mark_rule(color=INK, strokeWidth=2).encode(x2="x2:Q")
    ends: list[Row] = [{"x": x, "y": -40, "y2": -32} for x in (1, end)]
    yield _make_base(ranks, ends).mark_rule(color=INK, strokeWidth=2).encode(y2="y2:Q")
    caption: list[Row] = [{"x": (1 + end) / 2, "y": -46, "text": f"CD = {ranks.difference:.2f}"}]
    yield _make_base(ranks, caption).mark_text(color=INK, fontSize=12).encode(text="text:N")


def _draw_names(ranks: Ranks, top: float) -> Iterator[alt.Chart]:
    """Yield the layers of system names with lines to their ranks: the better half on the left, the others on the right.

    `top`: pixels from the axis to the first name.
    """
    systems = sorted(ranks.means.items(), key=lambda item: (item[1], item[0]))
    half = ceil(len(systems) / 2)
    margin = 0.04 * (len(systems) - 1)
    for side, part in (("left", systems[:half]), ("right", list(reversed(systems[half:])))):
        edge = 1 - margin if side == "left" else len(systems) + margin
        rows: list[Row] = [
            {"x": rank, "edge": edge, "y": top + _ROW * line, "up": 0, "text": f"{name} ({rank:.2f})"}
            for line, (name, rank) in enumerate(part)
        ]
        yield _make_base(ranks, rows).mark_rule(color=PALE).encode(y2="up:Q")
        yield _make_base(ranks, rows).mark_rule(color=PALE).encode(x2="edge:Q")
        names = _make_base(ranks, [{**row, "x": edge} for row in rows]).encode(text="text:N")
        left = side == "left"
        yield names.mark_text(align="right" if left else "left", dx=-4 if left else 4, color=INK, fontSize=12)


def _assign_levels(ranks: Ranks) -> dict[tuple[str, ...], int]:
    """Return the level (row below the axis, from 0) of each group's bar, so that bars do not overlap."""
    levels: dict[tuple[str, ...], int] = {}
    ends: list[float] = []
    for group in sorted(ranks.groups, key=lambda group: ranks.means[group[0]]):
        first, last = ranks.means[group[0]], ranks.means[group[-1]]
        level = next((index for index, end in enumerate(ends) if end < first), len(ends))
        ends[level : level + 1] = [last]
        levels[group] = level
    return levels


def _draw_groups(ranks: Ranks, bars: Mapping[tuple[str, ...], int]) -> Iterator[alt.Chart]:
    """Yield the layer of bars that join systems of a group; `bars`: level of each group."""
    margin = 0.008 * (len(ranks.means) - 1)
    rows: list[Row] = [
        {"x": ranks.means[group[0]] - margin, "x2": ranks.means[group[-1]] + margin, "y": 9 + _BAR * level}
        for group, level in bars.items()
    ]
    yield _make_base(ranks, rows).mark_rule(color=COLOURS[0], strokeWidth=4.5, strokeCap="round").encode(x2="x2:Q")


def heatmap_chart(comparison: Comparison, relation: str | None = None) -> Spec:
    """Draw the pairwise micro similarity of systems in percent, over all documents together.

    `relation`: match relation of the similarity; None for that of the comparison's measure, or else the first. Raise
    `UsageError` if the comparison has no similarities.
    """
    check_extra()
    import altair as alt

    similarity = comparison.similarity
    if similarity is None:
        raise UsageError("the comparison has no similarities. Pass `--similarity`.")
    relation = relation or next(
        (r for r in similarity.relations if comparison.measure.startswith(r)), similarity.relations[0]
    )
    systems = list(comparison.systems)
    pairs = {
        frozenset((pair.system_a, pair.system_b)): pair.micro for pair in similarity.pooled if pair.relation == relation
    }
    rows = [
        {
            "one": row_system,
            "two": column_system,
            "value": value,
            "text": UNDEFINED if value is None else f"{100 * value:.1f}",
        }
        for row_system in systems
        for column_system in systems
        if row_system != column_system
        for value in [pairs.get(frozenset((row_system, column_system)))]
    ]
    shade_range = _shade_range([value for value in pairs.values() if value is not None])
    axis = alt.Axis(title="system", ticks=False, domain=False, labelLimit=200)
    x = alt.X("two:N", sort=systems, axis=alt.Axis(**axis.to_dict(), labelAngle=-40, orient="bottom"))
    y = alt.Y("one:N", sort=systems, axis=axis)
    base = alt.Chart(alt.InlineData(rows)).encode(x=x, y=y)
    legend = alt.Legend(title=["similarity", "in percent"], labelExpr="round(100 * datum.value)", gradientLength=120)
    shade = alt.Color("value:Q", scale=alt.Scale(domain=[*shade_range], range=list(_SHADES)), legend=legend)
    dark = shade_range.low + _DARK * (shade_range.high - shade_range.low)
    letters = alt.condition(f"datum.value > {dark}", alt.value("white"), alt.value(INK))
    diagonal = alt.Chart(alt.InlineData([{"one": system, "two": system} for system in systems])).encode(x=x, y=y)
    chart = alt.layer(
        diagonal.mark_rect(stroke="white", strokeWidth=2, color=_DIAGONAL),
        base.mark_rect(stroke="white", strokeWidth=2).encode(color=shade),
        base.mark_text(fontSize=13).encode(text="text:N", color=letters),
    ).properties(width=_CELL * len(systems), height=_CELL * len(systems))
    names = comparison.averaged_datasets or tuple(dataset.name for dataset in comparison.datasets)
    subtitle = [
        "Micro similarity in percent: of the predictions of both systems, those that the other one matches (BAT paper, "
        "equation 5), over all documents together. Systems are ordered by score; colours span the range of "
        "the pairs.",
        _describe_settings(comparison),
    ]
    width = max(WIDTH, _CELL * len(systems) + 120)
    title = f"{_describe_datasets(names)}: similarity of systems, {describe_view(relation)}"
    return finish_chart(chart, _list_origins(comparison), title, subtitle, width)


def _shade_range(values: Sequence[float]) -> ThresholdRange:
    """Return the range of similarities, extended to tenths, which the colours span."""
    low, high = floor(10 * min(values, default=0)) / 10, ceil(10 * max(values, default=1)) / 10
    return ThresholdRange(low, high) if low < high else ThresholdRange(max(0, low - 0.1), min(1, high + 0.1))


def runtime_chart(comparison: Comparison) -> Spec:
    """Draw each system's mean score over its runtime per document; see `_draw_over_usage`."""
    return _draw_over_usage(comparison, "seconds")


def cost_chart(comparison: Comparison) -> Spec:
    """Draw each system's mean score over its cost per 1,000 documents; see `_draw_over_usage`."""
    return _draw_over_usage(comparison, "cost")


def _draw_over_usage(comparison: Comparison, name: str) -> Spec:
    """Draw each system's mean score over the mean of a quantity that it used, on a logarithmic axis.

    Raise `UsageError` if no system states the quantity. Figure 6 of Cornolti, Ferragina and Ciaramita, A Framework for
    Benchmarking Entity-Annotation Systems, WWW 2013.
    """
    check_extra()
    import altair as alt
    import numpy as np

    quantity, usage = QUANTITIES[name], comparison.usage.get(name, MeanUsage())
    amounts = {system: quantity.factor * mean for system, mean in usage.means.items() if mean > 0}
    means = {system: comparison.means[system].unweighted for system in amounts}
    systems = [system for system in comparison.systems if system in means and means[system].value is not None]
    if not systems:
        raise UsageError(
            f"no system has a {quantity.title} above 0. Pass predictions with `{name}`, for each document or in the "
            "header."
        )
    x_range = ThresholdRange(floor(log10(min(amounts.values()))), ceil(log10(max(amounts.values()))))
    x_range = x_range if x_range.low < x_range.high else ThresholdRange(x_range.low - 1, x_range.high + 1)
    frame = Frame(x_range, ThresholdRange(0, 1))
    labels = [ChartLabel(system, log10(amounts[system]), means[system].value or 0.0, system) for system in systems]
    powers = [10.0**power for power in range(int(x_range.low), int(x_range.high) + 1)]
    scale = alt.Scale(type="log", domain=[powers[0], powers[-1]])
    x = alt.X(
        "x:Q",
        title=quantity.unit if quantity.title in quantity.unit else f"{quantity.title} in {quantity.unit}",
        scale=scale,
        axis=alt.Axis(values=powers, format="~g"),
    )
    y = alt.Y("y:Q", **make_percent_axis(f"mean {describe_measure(comparison.measure).partition(',')[0]}"))
    colours = alt.Scale(domain=systems, range=list(islice(cycle(COLOURS), len(systems))))
    ends: list[Row] = [
        {"line": system, "x": amounts[system], "y": estimate.low, "y2": estimate.high}
        for system in systems
        if (estimate := means[system]).low is not None and estimate.high is not None
    ]
    # Labels are laid out where the axis is even, and drawn where it is not.
    ink = [(np.full(2, log10(amounts[str(end["line"])])), np.array([end["y"], end["y2"]], np.float64)) for end in ends]
    points = draw_labelled_points(
        [_undo_logarithm(label) for label in place_labels(labels, ink, frame)],
        [_make_empty_line(system) for system in systems],
    )
    intervals = alt.Chart(alt.InlineData(ends)).mark_rule(strokeWidth=1.5)
    colour = alt.Color("line:N", scale=colours, legend=None)
    chart = alt.layer(intervals.encode(x=x, y=y, y2="y2:Q", color=colour), *points).properties(
        width=WIDTH, height=HEIGHT
    )
    return finish_chart(
        chart,
        _list_origins(comparison),
        f"{_describe_datasets(comparison.averaged_datasets)}: {describe_measure(comparison.measure)}, "
        f"over {quantity.title}",
        _describe_usage(comparison, name, systems),
        WIDTH,
    )


def _describe_usage(comparison: Comparison, name: str, drawn_systems: Sequence[str]) -> list[str]:
    """Return the subtitle of a chart over a quantity; systems not among `drawn_systems` are listed as excluded."""
    title, usage = QUANTITIES[name].title, comparison.usage[name]
    undrawn = [system for system in comparison.systems if system not in drawn_systems]
    excluded = f" Excluded for lack of {title}: {', '.join(undrawn)}." if undrawn else ""
    return [
        f"Unweighted mean over {_describe_datasets(comparison.averaged_datasets)} with its "
        f"{100 * (1 - comparison.options.alpha):g} % interval. "
        f"{title.capitalize()} over {usage.documents:,} documents of {_describe_datasets(usage.datasets)}, as reported "
        f"by the systems.{excluded}",
        *([usage.clock_difference] if usage.clock_difference else []),
        _describe_settings(comparison),
    ]


def _make_empty_line(system: str) -> DrawnLine:
    """Make a line without points, which gives a system its colour."""
    import numpy as np

    return DrawnLine(system, np.zeros(0), np.zeros(0))


def _undo_logarithm(placed: PlacedLabel) -> PlacedLabel:
    """Return a placed label with x values in place of their decimal logarithms."""

    def convert(position: ChartPosition) -> ChartPosition:
        return ChartPosition(10**position.x, position.y)

    label = placed.label._replace(x=10**placed.label.x)
    return PlacedLabel(label, convert(placed.text), None if placed.leader is None else convert(placed.leader))
