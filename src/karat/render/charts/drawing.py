"""Parts that all charts share: lines, labels, titles and fonts.

A view is a match relation with filters, such as `strong[nil]`.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from itertools import cycle, islice
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np

from karat.evaluation.measures import get_measure
from karat.model.errors import UsageError
from karat.model.measure_name import parse_measure
from karat.model.output.control_chars import escape_controls
from karat.model.profile_signatures import get_profile
from karat.model.registry import get_plugin, list_plugins
from karat.model.signature import Signature
from karat.model.spec.profile import Profile
from karat.model.spec.relation import MatchRelation
from karat.model.tables.columns import Floats, Longs
from karat.render.charts.label_layout import SIZE, WIDTH, PlacedLabel

if TYPE_CHECKING:
    import altair as alt

Spec: TypeAlias = dict[str, object]
"""A Vega-Lite specification with its data inside."""

Row: TypeAlias = Mapping[str, object]
"""One row of a chart's data."""

INK, PALE = "#222222", "#666666"

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9")
"""Colours for any colour vision (Okabe and Ito, 2008, without yellow, which is too pale for a line)."""

_TEXT_COLOURS = ("#005A8F", "#A84A00", "#00734F", "#9A4A76", "#000000", "#8F6200", "#1F75A3")
"""The same colours, dark enough for text."""

_DASHES = ([1, 0], [8, 3], [2, 2], [9, 3, 2, 3], [5, 3], [14, 4], [8, 2, 2, 2, 2, 2], [1, 3])
"""One more pattern than there are colours, so that a pair of colour and dash repeats only after 56 lines."""

_FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
"""The first font is inside vl-convert and as wide as the second, so that charts look alike on every machine."""

_LETTER = 5.4  # pixels that a letter of a subtitle takes, with a little to spare
_BOLD = 8.0  # the same of a title
_POINTS = 2000  # more than a line has pixels
_SHOWN_SETTINGS = ("match", "threshold")  # choices that titles and axes already say


class Origin(Protocol):
    """The origin of a chart's numbers."""

    @property
    def signature(self) -> Signature:
        """Signature of the numbers."""

    @property
    def corpus(self) -> str:
        """Name of the corpus."""

    @property
    def run(self) -> str:
        """Name of the run."""

    @property
    def view(self) -> str:
        """View of the numbers, such as `strong[in-kb]`."""


class SystemOrigin(NamedTuple):
    """A system on one or several datasets as the origin of a chart's numbers."""

    signature: Signature
    """Signature of the numbers."""
    corpus: str
    """Name of the corpus, or number of datasets."""
    run: str
    """Name of the system."""
    view: str = ""
    """View of the numbers; empty for runtimes."""


_T = TypeVar("_T", bound=Origin)


def check_comparable(systems: Sequence[_T]) -> _T:
    """Return the first system; raise `UsageError` unless all share signature and view, with distinct run names.

    Raise it also if there is no system.
    """
    if not systems:
        raise UsageError("no system to draw. Pass at least one system.")
    if len({(str(system.signature), system.view) for system in systems}) > 1:
        raise UsageError("data, relation or other settings differ. Draw only systems with the same signature together.")
    if len({system.run for system in systems}) < len(systems):
        raise UsageError("two runs have the same name. Rename one of them.")
    return systems[0]


def describe_measure(measure: str) -> str:
    """Describe a measure by its plugins' titles: `strong:micro.f1` is micro F1, strong annotation match."""
    name = parse_measure(measure)
    measure_plugin = get_measure(name)
    aggregate = f"{name.aggregate} " if name.aggregate else ""
    cutoff = f"@{name.cutoff}" if name.cutoff else ""
    return f"{aggregate}{_lower_title(measure_plugin.title)}{cutoff}, {describe_view(str(name.view))}"


def describe_view(view: str) -> str:
    """Describe a view by the title of its relation, with task and filters; an unknown relation is named as written."""
    name = parse_measure(f"{view}:micro.f1").view
    if name.relation not in list_plugins("relations"):
        return view
    filters = f" ({', '.join(name.filters)})" if name.filters else ""
    task = f"{name.task}, " if name.task else ""
    return f"{task}{_lower_title(get_plugin('relations', name.relation, MatchRelation).title)}{filters}"


def _lower_title(title: str) -> str:
    """Return a title with a small first letter, for the middle of a sentence; abbreviations stay."""
    first = title.partition(" ")[0]
    return title if first.upper() == first else title[:1].lower() + title[1:]


def make_percent_axis(title: str) -> dict[str, Any]:
    """Return the keyword arguments of an Altair axis of shares, from 0 to 100 percent."""
    import altair as alt

    axis = alt.Axis(labelExpr="round(1000 * datum.value) / 10")
    return {"title": f"{title} in percent", "scale": alt.Scale(domain=[0, 1]), "axis": axis}


class ChartLine(NamedTuple):
    """A line by its points, in order."""

    name: str
    x: Floats
    y: Floats


def draw_lines(
    lines: Sequence[ChartLine], x: alt.X, y: alt.Y, interpolation: Literal["linear", "step-before", "step-after"]
) -> alt.Chart:
    """Draw lines with a legend, in distinct colours and dashes.

    `x` and `y`: encodings of the fields `x` and `y`. `interpolation`: how points are joined.
    """
    import altair as alt

    rows = [
        {"line": line.name, "place": order, "x": x_value, "y": y_value}
        for line in lines
        for order, (x_value, y_value) in enumerate(zip(line.x.tolist(), line.y.tolist(), strict=True))
    ]
    domain, size = [line.name for line in lines], len(lines)
    colours, dashes = list(islice(cycle(COLOURS), size)), list(islice(cycle(_DASHES), size))
    columns = min(size, max(1, (WIDTH + 40) // (50 + 6 * max(map(len, domain)))))
    legend = alt.Legend(title=None, orient="bottom", columns=columns, symbolType="stroke", symbolSize=900)
    chart: alt.Chart = (
        alt.Chart(alt.InlineData(rows))
        .mark_line(interpolate=interpolation, strokeWidth=2, strokeJoin="round")
        .encode(
            x=x,
            y=y,
            color=alt.Color("line:N", scale=alt.Scale(domain=domain, range=colours), legend=legend),
            strokeDash=alt.StrokeDash("line:N", scale=alt.Scale(domain=domain, range=dashes), legend=legend),
            order=alt.Order("place:Q"),  # not by x, which is the same at both ends of a step
        )
    )
    return chart


def draw_labelled_points(placed_labels: Sequence[PlacedLabel], lines: Sequence[ChartLine]) -> list[alt.Chart]:
    """Return the layers of points with labels, and of leader lines to distant labels, in the colours of `lines`."""
    import altair as alt

    letters = {line.name: dark for line, dark in zip(lines, cycle(_TEXT_COLOURS), strict=False)}
    rows = [
        {**p.label._asdict(), "letters": letters[p.label.line], "tx": p.text.x, "ty": p.text.y} for p in placed_labels
    ]
    distant_rows = [
        {**p.label._asdict(), "tx": p.leader.x, "ty": p.leader.y} for p in placed_labels if p.leader is not None
    ]
    points = alt.Chart(alt.InlineData(rows)).encode(x="x:Q", y="y:Q", color="line:N")
    leaders = alt.Chart(alt.InlineData(distant_rows)).encode(x="x:Q", y="y:Q", x2="tx:Q", y2="ty:Q", color="line:N")
    text = alt.Chart(alt.InlineData(rows)).encode(x="tx:Q", y="ty:Q", text="text:N")
    return [
        leaders.mark_rule(strokeWidth=1),
        points.mark_point(filled=True, size=75, opacity=1, stroke="white", strokeWidth=1).encode(
            tooltip=[alt.Tooltip("line:N", title="line"), alt.Tooltip("text:N", title="best")]
        ),
        # A stroke is painted over its own letters, so the halo that keeps lines off them is a text of its own.
        text.mark_text(fontSize=SIZE, stroke="white", strokeWidth=4, strokeJoin="round"),
        text.mark_text(fontSize=SIZE).encode(color=alt.Color("letters:N", scale=None)),
    ]


def describe_settings(origin: Origin) -> str:
    """Describe version, data, and the profile with the fewest overrides, with these overrides."""
    parts = origin.signature.to_dict()
    overrides = {name: _list_overrides(parts, get_profile(name)) for name in ["karat", *list_plugins("profiles")]}
    nearest = min(overrides, key=lambda name: len(overrides[name]))
    exceptions = f" except {', '.join(overrides[nearest])}" if overrides[nearest] else ""
    return f"karat {parts['karat']}, data {parts['data']}, profile {nearest}{exceptions}."


def _list_overrides(parts: Mapping[str, str], profile: Profile) -> list[str]:
    """Return `SETTING=VALUE` for the settings in which `parts` of a signature differ from a profile.

    Match relation and threshold are not compared.
    """
    defaults = profile.settings
    return [
        f"{name}={parts[name]}" for name in defaults if name not in _SHOWN_SETTINGS and defaults[name] != parts[name]
    ]


def finish_chart(
    chart: alt.LayerChart | alt.FacetChart | alt.ConcatChart,
    origins: Sequence[Origin],
    title: str,
    subtitle: Sequence[str],
    width: int,
) -> Spec:
    """Return the chart specification with titles, fonts and, in `usermeta`, the signature of every run.

    `subtitle`: paragraphs, which are wrapped at `width` pixels. Control characters are escaped.
    """
    import altair as alt

    wrapped = [line for text in subtitle for line in textwrap.wrap(text, int(width / _LETTER))]
    lines = textwrap.wrap(title, int(width / _BOLD), break_long_words=False)
    signatures = {origin.run: str(origin.signature) for origin in origins}
    spec: Spec = (
        chart.properties(
            title=alt.TitleParams(title if len(lines) == 1 else lines, subtitle=wrapped),
            description=" ".join([f"{title}.", *subtitle]),
            usermeta={"karat": {"signatures": signatures}},
            background="white",
            padding=10,
        )
        .configure(font=_FONT)
        .configure_title(
            anchor="start",
            frame="group",
            color=INK,
            fontSize=15,
            subtitleColor=PALE,
            subtitleFontSize=11,
            subtitleLineHeight=14,
            subtitlePadding=5,
            offset=12,
        )
        .configure_axis(
            labelColor=INK,
            labelFontSize=12,
            labelFlush=False,
            titleColor=INK,
            titleFontSize=13,
            titleFontWeight="normal",
            titlePadding=8,
            gridColor="#e6e6e6",
            domainColor="#888888",
            tickColor="#888888",
        )
        .configure_legend(
            labelColor=INK,
            labelFontSize=12,
            labelLimit=WIDTH,
            titleColor=INK,
            titleFontSize=12,
            titleFontWeight="normal",
            columnPadding=18,
            offset=6,
        )
        .configure_view(stroke=None)
        .to_dict()
    )
    return {key: _escape_spec(value) for key, value in spec.items()}


def _escape_spec(value: object) -> object:
    """Return a specification with control characters in all texts escaped, because SVG cannot contain them."""
    if isinstance(value, str):
        return escape_controls(value)
    if isinstance(value, dict):
        return {_escape_spec(key): _escape_spec(item) for key, item in value.items()}
    return [_escape_spec(item) for item in value] if isinstance(value, list) else value


def sample_rows(size: int, needed_rows: Sequence[int] = ()) -> Longs:
    """Return at most about 2,000 of the row numbers below `size`: both ends, evenly spaced rows and `needed_rows`.

    Rows are evenly spaced in rank, not in score, so few predictions are between two points.
    """
    if size <= _POINTS:
        return np.arange(size)
    even = np.linspace(0, size - 1, _POINTS).round().astype(np.int64)
    return np.union1d(even, np.array(needed_rows, np.int64))
