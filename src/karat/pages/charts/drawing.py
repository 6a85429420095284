"""What all charts share: lines, labels, titles and letters."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from itertools import cycle, islice
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias, TypeVar

from karat.errors import UsageError
from karat.evaluation.measures import measure_of
from karat.model.name import parse_measure
from karat.model.signature import Signature
from karat.model.tables.columns import Floats
from karat.pages.charts.labels import SIZE, WIDTH, PlacedLabel
from karat.printable import shown
from karat.registry import get, names
from karat.signing import profile_named
from karat.spec.profile import Profile
from karat.spec.relation import Relation

if TYPE_CHECKING:
    import altair as alt

Spec: TypeAlias = dict[str, object]
"""A Vega-Lite specification with its data inside."""

Row: TypeAlias = Mapping[str, object]
"""One row of a chart's data."""

INK, PALE = "#222222", "#666666"

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9")
"""Told apart with any colour vision (Okabe and Ito, 2008, without the yellow, which is too pale for a line)."""

_LETTERS = ("#005A8F", "#A84A00", "#00734F", "#9A4A76", "#000000", "#8F6200", "#1F75A3")
"""The same, dark enough to be read."""

_DASHES = ([1, 0], [8, 3], [2, 2], [9, 3, 2, 3], [5, 3], [14, 4], [8, 2, 2, 2, 2, 2], [1, 3])
"""One more than there are colours: a pair of colour and dash comes again only after 56 lines."""

_FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
"""The first is inside vl-convert and as wide as the second, so that pictures look alike on every machine."""

_LETTER = 5.4  # pixels that a letter of a subtitle takes, with a little to spare
_BOLD = 8.0  # the same of a title
_SAID = ("match", "threshold")  # choices that titles and axes already say


class Origin(Protocol):
    """Where numbers come from."""

    @property
    def signature(self) -> Signature:
        """Everything that decided them."""

    @property
    def corpus(self) -> str:
        """The name of the corpus."""

    @property
    def run(self) -> str:
        """The name of the run."""

    @property
    def view(self) -> str:
        """What they are numbers of."""


_Drawn = TypeVar("_Drawn", bound=Origin)


def alike(systems: Sequence[_Drawn]) -> _Drawn:
    """The first of what may share a chart: one signature, one view, and runs of different names."""
    if not systems:
        raise UsageError("there is nothing to draw. Give at least one system.")
    if len({(str(system.signature), system.view) for system in systems}) > 1:
        raise UsageError("data, relation or other choices differ. Draw together what has one signature.")
    if len({system.run for system in systems}) < len(systems):
        raise UsageError("two runs have the same name. Rename one of them.")
    return systems[0]


def worded(measure: str) -> str:
    """A measure in the words of its plugins: `strong:micro.f1` is micro F1 by strong annotation match."""
    name = parse_measure(measure)
    found = measure_of(name)
    aggregate = f"{name.aggregate} " if name.aggregate else ""
    cutoff = f"@{name.cutoff}" if name.cutoff else ""
    return f"{aggregate}{_small(found.title)}{cutoff}, {worded_view(str(name.view))}"


def worded_view(view: str) -> str:
    """A view in words; what no plugin here has a title for is called as it is written."""
    name = parse_measure(f"{view}:micro.f1").view
    if name.relation not in names("relations"):
        return view
    filters = f" ({', '.join(name.filters)})" if name.filters else ""
    task = f"{name.task}, " if name.task else ""
    return f"{task}{_small(get('relations', name.relation, Relation).title)}{filters}"


def _small(title: str) -> str:
    """A title inside a sentence; abbreviations stay."""
    first = title.partition(" ")[0]
    return title if first.upper() == first else title[:1].lower() + title[1:]


def in_percent(title: str) -> dict[str, Any]:
    """The axis of a share: from 0 to 100, as tables print it."""
    import altair as alt

    shown = alt.Axis(labelExpr="round(1000 * datum.value) / 10")
    return {"title": f"{title} in percent", "scale": alt.Scale(domain=[0, 1]), "axis": shown}


class ChartLine(NamedTuple):
    """A line by its corners, in their order."""

    name: str
    x: Floats
    y: Floats


def drawn(
    lines: Sequence[ChartLine], x: alt.X, y: alt.Y, steps: Literal["linear", "step-before", "step-after"]
) -> alt.Chart:
    """The lines and their legend; the axes show the fields `x` and `y`."""
    import altair as alt

    rows = [
        {"line": line.name, "place": place, "x": across, "y": up}
        for line in lines
        for place, (across, up) in enumerate(zip(line.x.tolist(), line.y.tolist(), strict=True))
    ]
    domain, size = [line.name for line in lines], len(lines)
    colours, dashes = list(islice(cycle(COLOURS), size)), list(islice(cycle(_DASHES), size))
    columns = min(size, max(1, (WIDTH + 40) // (50 + 6 * max(map(len, domain)))))
    legend = alt.Legend(title=None, orient="bottom", columns=columns, symbolType="stroke", symbolSize=900)
    chart: alt.Chart = (
        alt.Chart(alt.InlineData(rows))
        .mark_line(interpolate=steps, strokeWidth=2, strokeJoin="round")
        .encode(
            x=x,
            y=y,
            color=alt.Color("line:N", scale=alt.Scale(domain=domain, range=colours), legend=legend),
            strokeDash=alt.StrokeDash("line:N", scale=alt.Scale(domain=domain, range=dashes), legend=legend),
            order=alt.Order("place:Q"),  # not by x, which is the same at both ends of a step
        )
    )
    return chart


def labelled(found: Sequence[PlacedLabel], lines: Sequence[ChartLine]) -> list[alt.Chart]:
    """Points with their labels, on the axes and in the colours of the lines."""
    import altair as alt

    letters = {line.name: dark for line, dark in zip(lines, cycle(_LETTERS), strict=False)}
    rows = [{**p.label._asdict(), "letters": letters[p.label.line], "tx": p.text.x, "ty": p.text.y} for p in found]
    far = [{**p.label._asdict(), "tx": p.leader.x, "ty": p.leader.y} for p in found if p.leader is not None]
    points = alt.Chart(alt.InlineData(rows)).encode(x="x:Q", y="y:Q", color="line:N")
    leaders = alt.Chart(alt.InlineData(far)).encode(x="x:Q", y="y:Q", x2="tx:Q", y2="ty:Q", color="line:N")
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


def chosen(head: Origin) -> str:
    """The version, the data, the profile that is nearest to what was chosen, and what was chosen otherwise."""
    parts = head.signature.as_dict()
    other = {name: _otherwise(parts, profile_named(name)) for name in ["karat", *names("profiles")]}
    nearest = min(other, key=lambda name: len(other[name]))
    but = f" but {', '.join(other[nearest])}" if other[nearest] else ""
    return f"karat {parts['karat']}, data {parts['data']}, choices of the profile {nearest}{but}."


def _otherwise(parts: Mapping[str, str], profile: Profile) -> list[str]:
    usual = profile.choices
    return [f"{name}={parts[name]}" for name in usual if name not in _SAID and usual[name] != parts[name]]


def finished(
    chart: alt.LayerChart | alt.FacetChart | alt.ConcatChart,
    origins: Sequence[Origin],
    title: str,
    subtitle: Sequence[str],
    width: int,
) -> Spec:
    """The specification, with titles, letters, and under `usermeta` the signature of every run."""
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
    return {key: _printable(value) for key, value in spec.items()}


def _printable(value: object) -> object:
    """The same without control characters, which no SVG can hold."""
    if isinstance(value, str):
        return shown(value)
    if isinstance(value, dict):
        return {_printable(key): _printable(each) for key, each in value.items()}
    return [_printable(each) for each in value] if isinstance(value, list) else value
