"""Charts of comparisons: ranks with critical differences, how alike systems are, and scores over runtimes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from math import ceil, floor, log10
from typing import TYPE_CHECKING, Final

from karat.comparison.compare import Comparison, Ranks
from karat.curves.oracle import Reach
from karat.errors import UnknownNameError, UsageError
from karat.model.signature import Signature
from karat.pages.charts.dots import Dot, dotted
from karat.pages.charts.drawing import (
    COLOURS,
    INK,
    PALE,
    Row,
    Spec,
    chosen,
    finished,
    in_percent,
    labelled,
    worded,
    worded_view,
)
from karat.pages.charts.drawing import ChartLine as DrawnLine
from karat.pages.charts.extra import check_extra
from karat.pages.charts.labels import HEIGHT, WIDTH, ChartLabel, ChartPlace, Frame, PlacedLabel, placed

if TYPE_CHECKING:
    import altair as alt

_ROW = 24  # pixels between the names of two systems
_BAR = 9  # pixels between two groups
_SIDE = 170  # pixels beside the axis of ranks, for names
_CELL = 58  # the side of a cell of a heatmap
_ITSELF = "#e4e4e4"  # a system beside itself, which says nothing
_DARK = 0.6  # from this part of the shades on letters are white
_SHADES: Final = ("#f2f7fb", "#0072B2")
"""From the least to the most similar pair."""


@dataclass(frozen=True, slots=True)
class _Origin:
    """A system of a comparison, as charts name what they show."""

    signature: Signature
    corpus: str
    run: str
    view: str


def _origins(found: Comparison) -> list[_Origin]:
    corpus = _datasets(found.averaged or [dataset.name for dataset in found.datasets])
    view = found.measure.partition(":")[0]
    return [_Origin(found.signature, corpus, system, view) for system in found.systems]


def _datasets(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{len(names)} datasets"


def _chosen(found: Comparison) -> str:
    """The conventions; the data are said in the title where they are many."""
    parts = dict(found.signature.parts)
    data = parts["data"] if len(found.datasets) == 1 else f"of {len(found.datasets)} datasets"
    own = Signature(tuple((name, data if name == "data" else value) for name, value in parts.items()))
    return chosen(_Origin(own, "", "", ""))


def plot(found: Comparison, kind: str | None) -> Spec:
    """A chart by its kind; the scores where none is asked for."""
    charts = {"scores": scores_chart, "ranks": ranks_chart, "heatmap": heatmap_chart, "runtimes": runtime_chart}
    if (kind or "scores") not in charts:
        raise UnknownNameError("chart", str(kind), charts)
    return charts[kind or "scores"](found)


def scores_chart(found: Comparison) -> Spec:
    """What every system scores on every dataset, with its interval."""
    dots = [
        Dot(dataset.name, system, score.value, score.low, score.high)
        for dataset in found.datasets
        for system in found.systems
        if (score := dataset.scores.get(system)) is not None and score.value is not None
    ]
    names = found.averaged or [dataset.name for dataset in found.datasets]
    title = f"{_datasets(names)}: {worded(found.measure)}"
    says = f"Lines: {100 * (1 - found.rule.level):g} % intervals from {found.rule.resamples} samples of documents."
    return dotted(dots, list(found.systems), _origins(found), title, [says, _chosen(found)], axis="dataset")


def ranks_chart(found: Comparison) -> Spec:
    """The mean ranks of systems, with bars under those that cannot be told apart.

    Figure 1 of Demšar, Statistical Comparisons of Classifiers over Multiple Data Sets, JMLR 7, 2006.
    """
    check_extra()
    import altair as alt

    own = found.ranks
    if own is None:
        raise UsageError("ranks are those over several datasets, and all systems have scores on less than two.")
    levels = ceil(len(own.means) / 2)
    bars = _levels(own)
    top = 14 + _BAR * (max(bars.values(), default=-1) + 1)
    depth = top + _ROW * levels
    layers = [*_axis(own), *_critical(own), *_names(own, top), *_groups(own, bars)]
    chart = alt.layer(*layers).properties(width=WIDTH, height=depth + 56)
    level = 100 * (1 - found.rule.level)
    subtitle = [
        f"Mean rank over {own.datasets} datasets, 1 is best. A bar joins systems that Nemenyi's test cannot tell apart "
        f"at {level:g} %: their ranks differ by no more than the critical difference CD. Friedman's test that all are "
        f"alike: p {'< 0.0001' if own.p < 0.0001 else f'= {own.p:.4f}'}.",
        _chosen(found),
    ]
    return finished(
        chart, _origins(found), f"Ranks over {own.datasets} datasets: {worded(found.measure)}", subtitle, WIDTH
    )


def _scale(own: Ranks) -> tuple[alt.Scale, alt.Scale]:
    """Ranks across with room for names, and pixels downwards."""
    import altair as alt

    systems = len(own.means)
    beside = _SIDE / (WIDTH - 2 * _SIDE) * (systems - 1)
    bars = _levels(own)
    depth = 14 + _BAR * (max(bars.values(), default=-1) + 1) + _ROW * ceil(systems / 2)
    across = alt.Scale(domain=[1 - beside, systems + beside], nice=False, zero=False)
    return across, alt.Scale(domain=[depth, -56], nice=False, zero=False)


def _placed(own: Ranks, rows: Sequence[Row]) -> alt.Chart:
    import altair as alt

    across, down = _scale(own)
    x = alt.X("x:Q", scale=across, axis=None)
    y = alt.Y("y:Q", scale=down, axis=None)
    return alt.Chart(alt.InlineData(list(rows))).encode(x=x, y=y)


def _axis(own: Ranks) -> Iterator[alt.Chart]:
    systems = len(own.means)
    yield _placed(own, [{"x": 1, "x2": systems, "y": 0}]).mark_rule(color=INK, strokeWidth=1.5).encode(x2="x2:Q")
    ticks: list[Row] = [{"x": rank, "y": -6, "y2": 0, "text": str(rank)} for rank in range(1, systems + 1)]
    yield _placed(own, ticks).mark_rule(color=INK, strokeWidth=1.5).encode(y2="y2:Q")
    yield _placed(own, ticks).mark_text(dy=-9, color=INK, fontSize=12).encode(text="text:N")
    named: list[Row] = [{"x": 1, "y": -6, "text": "mean rank"}]
    yield _placed(own, named).mark_text(dx=-12, dy=-9, align="right", color=INK, fontSize=12).encode(text="text:N")


def _critical(own: Ranks) -> Iterator[alt.Chart]:
    """How long the critical difference is."""
    end = min(1 + own.difference, float(len(own.means)))
    bar: list[Row] = [{"x": 1, "x2": end, "y": -36}]
    yield _placed(own, bar).mark_rule(color=INK, strokeWidth=2).encode(x2="x2:Q")
    ends: list[Row] = [{"x": x, "y": -40, "y2": -32} for x in (1, end)]
    yield _placed(own, ends).mark_rule(color=INK, strokeWidth=2).encode(y2="y2:Q")
    said: list[Row] = [{"x": (1 + end) / 2, "y": -46, "text": f"CD = {own.difference:.2f}"}]
    yield _placed(own, said).mark_text(color=INK, fontSize=12).encode(text="text:N")


def _names(own: Ranks, top: float) -> Iterator[alt.Chart]:
    """Each system on a line of its own: the better half to the left, the others to the right."""
    systems = sorted(own.means.items(), key=lambda item: (item[1], item[0]))
    half = ceil(len(systems) / 2)
    reach = 0.04 * (len(systems) - 1)
    for side, part in (("left", systems[:half]), ("right", list(reversed(systems[half:])))):
        edge = 1 - reach if side == "left" else len(systems) + reach
        rows: list[Row] = [
            {"x": rank, "edge": edge, "y": top + _ROW * place, "up": 0, "text": f"{name} ({rank:.2f})"}
            for place, (name, rank) in enumerate(part)
        ]
        yield _placed(own, rows).mark_rule(color=PALE).encode(y2="up:Q")
        yield _placed(own, rows).mark_rule(color=PALE).encode(x2="edge:Q")
        named = _placed(own, [{**row, "x": edge} for row in rows]).encode(text="text:N")
        left = side == "left"
        yield named.mark_text(align="right" if left else "left", dx=-4 if left else 4, color=INK, fontSize=12)


def _levels(own: Ranks) -> dict[tuple[str, ...], int]:
    """How far below the axis the bar of each group lies, so that bars do not touch."""
    found: dict[tuple[str, ...], int] = {}
    ends: list[float] = []
    for group in sorted(own.groups, key=lambda group: own.means[group[0]]):
        first, last = own.means[group[0]], own.means[group[-1]]
        level = next((place for place, end in enumerate(ends) if end < first), len(ends))
        ends[level : level + 1] = [last]
        found[group] = level
    return found


def _groups(own: Ranks, bars: Mapping[tuple[str, ...], int]) -> Iterator[alt.Chart]:
    reach = 0.008 * (len(own.means) - 1)
    rows: list[Row] = [
        {"x": own.means[group[0]] - reach, "x2": own.means[group[-1]] + reach, "y": 9 + _BAR * level}
        for group, level in bars.items()
    ]
    yield _placed(own, rows).mark_rule(color=COLOURS[0], strokeWidth=4.5, strokeCap="round").encode(x2="x2:Q")


def heatmap_chart(found: Comparison, relation: str | None = None) -> Spec:
    """How alike each two systems are: the share of both outputs that the other matches, in percent."""
    check_extra()
    import altair as alt

    own = found.similarity
    if own is None:
        raise UsageError("the comparison has no similarities. Ask for them with --similarity.")
    relation = relation or next((r for r in own.relations if found.measure.startswith(r)), own.relations[0])
    systems = list(found.systems)
    pairs = {frozenset((pair.one, pair.two)): pair.micro for pair in own.pooled if pair.relation == relation}
    rows = [
        {"one": one, "two": two, "value": value, "text": "–" if value is None else f"{100 * value:.1f}"}
        for one in systems
        for two in systems
        if one != two
        for value in [pairs.get(frozenset((one, two)))]
    ]
    reach = _shaded([value for value in pairs.values() if value is not None])
    axis = alt.Axis(title="system", ticks=False, domain=False, labelLimit=200)
    x = alt.X("two:N", sort=systems, axis=alt.Axis(**axis.to_dict(), labelAngle=-40, orient="bottom"))
    y = alt.Y("one:N", sort=systems, axis=axis)
    base = alt.Chart(alt.InlineData(rows)).encode(x=x, y=y)
    legend = alt.Legend(title=["similarity", "in percent"], labelExpr="round(100 * datum.value)", gradientLength=120)
    shade = alt.Color("value:Q", scale=alt.Scale(domain=[*reach], range=list(_SHADES)), legend=legend)
    dark = reach.low + _DARK * (reach.high - reach.low)
    letters = alt.condition(f"datum.value > {dark}", alt.value("white"), alt.value(INK))
    diagonal = alt.Chart(alt.InlineData([{"one": system, "two": system} for system in systems])).encode(x=x, y=y)
    chart = alt.layer(
        diagonal.mark_rect(stroke="white", strokeWidth=2, color=_ITSELF),
        base.mark_rect(stroke="white", strokeWidth=2).encode(color=shade),
        base.mark_text(fontSize=13).encode(text="text:N", color=letters),
    ).properties(width=_CELL * len(systems), height=_CELL * len(systems))
    names = found.averaged or tuple(dataset.name for dataset in found.datasets)
    subtitle = [
        "Micro similarity in percent: of the answers of both systems, those that the other one matches (BAT paper, "
        "equation 5), over all documents together. Systems in the order of their scores; colours span what pairs "
        "have.",
        _chosen(found),
    ]
    width = max(WIDTH, _CELL * len(systems) + 120)
    title = f"{_datasets(names)}: similarity of systems, {worded_view(relation)}"
    return finished(chart, _origins(found), title, subtitle, width)


def _shaded(values: Sequence[float]) -> Reach:
    """The tens that similarities lie between: where all are alike, colours from 0 to 1 could not be told apart."""
    low, high = floor(10 * min(values, default=0)) / 10, ceil(10 * max(values, default=1)) / 10
    return Reach(low, high) if low < high else Reach(max(0, low - 0.1), min(1, high + 0.1))


def runtime_chart(found: Comparison) -> Spec:
    """The mean score of each system over what it takes for a document.

    Figure 6 of Cornolti, Ferragina and Ciaramita, A Framework for Benchmarking Entity-Annotation Systems, WWW 2013.
    """
    check_extra()
    import altair as alt
    import numpy as np

    own = found.runtimes
    timed = {system: 1000 * seconds for system, seconds in own.seconds.items() if seconds > 0}
    means = {system: found.means[system].unweighted for system in timed}
    shown = [system for system in found.systems if system in means and means[system].value is not None]
    if not shown:
        raise UsageError("no system has a runtime above 0. Give answers with `seconds`, or the metadata beside them.")
    reach = Reach(floor(log10(min(timed.values()))), ceil(log10(max(timed.values()))))
    reach = reach if reach.low < reach.high else Reach(reach.low - 1, reach.high + 1)
    frame = Frame(reach, Reach(0, 1))
    labels = [ChartLabel(system, log10(timed[system]), means[system].value or 0.0, system) for system in shown]
    powers = [10.0**power for power in range(int(reach.low), int(reach.high) + 1)]
    scale = alt.Scale(type="log", domain=[powers[0], powers[-1]])
    x = alt.X("x:Q", title="runtime in ms per document", scale=scale, axis=alt.Axis(values=powers, format="~g"))
    y = alt.Y("y:Q", **in_percent(f"mean {worded(found.measure).partition(',')[0]}"))
    colours = alt.Scale(domain=shown, range=list(islice(cycle(COLOURS), len(shown))))
    ends: list[Row] = [
        {"line": system, "x": timed[system], "y": estimate.low, "y2": estimate.high}
        for system in shown
        if (estimate := means[system]).low is not None and estimate.high is not None
    ]
    # Labels are laid out where the axis is even, and drawn where it is not.
    ink = [(np.full(2, log10(timed[str(end["line"])])), np.array([end["y"], end["y2"]], np.float64)) for end in ends]
    points = labelled([_unlogged(each) for each in placed(labels, ink, frame)], [_point(system) for system in shown])
    intervals = alt.Chart(alt.InlineData(ends)).mark_rule(strokeWidth=1.5)
    colour = alt.Color("line:N", scale=colours, legend=None)
    chart = alt.layer(intervals.encode(x=x, y=y, y2="y2:Q", color=colour), *points).properties(
        width=WIDTH, height=HEIGHT
    )
    return finished(chart, _origins(found), _runtime_title(found), _runtime_says(found, shown), WIDTH)


def _runtime_title(found: Comparison) -> str:
    return f"{_datasets(found.averaged)}: {worded(found.measure)}, over runtime"


def _runtime_says(found: Comparison, shown: Sequence[str]) -> list[str]:
    own = found.runtimes
    without = [system for system in found.systems if system not in shown]
    left_out = f" Without runtime, and left out: {', '.join(without)}." if without else ""
    return [
        f"Unweighted mean over {_datasets(found.averaged)} with its {100 * (1 - found.rule.level):g} % interval. "
        f"Runtime over {own.documents:,} documents of {_datasets(own.datasets)}, as systems noted it.{left_out}",
        _chosen(found),
    ]


def _point(system: str) -> DrawnLine:
    import numpy as np

    return DrawnLine(system, np.zeros(0), np.zeros(0))


def _unlogged(found: PlacedLabel) -> PlacedLabel:
    def place(at: ChartPlace) -> ChartPlace:
        return ChartPlace(10**at.x, at.y)

    label = found.label._replace(x=10**found.label.x)
    return PlacedLabel(label, place(found.text), None if found.leader is None else place(found.leader))
