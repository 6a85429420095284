"""Charts of scored answers, as Vega-Lite specifications."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from itertools import cycle, islice
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias, TypeVar

import numpy as np

from karat.errors import InputError, UsageError
from karat.model.columns import Floats, Longs
from karat.model.signature import Signature
from karat.pipeline.curves import ThresholdCurve
from karat.plots.extra import check_extra
from karat.plots.labels import HEIGHT, WIDTH, Label, placed
from karat.plots.oracle import MEASURES, Oracle, Reach, Traced, family, known, reach_of, traced
from karat.plots.scored import ScoredAnswers
from karat.registry import get
from karat.spec.profile import Profile
from karat.stats.calibration import Reliability, aurc, expected_calibration_error, reliability, risk_coverage

if TYPE_CHECKING:
    import altair as alt

Spec: TypeAlias = dict[str, object]
"""A Vega-Lite specification with its data inside."""

_Row: TypeAlias = dict[str, object]

_POINTS = 2000  # more than a line has pixels
_PANEL = 230  # width and height of one system's reliability
_COLUMNS = 3
_WRAP = 88  # characters of a subtitle that fit above a chart
_INK, _PALE = "#222222", "#767676"
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9")
"""Told apart with any colour vision (Okabe and Ito, 2008, without the yellow, which is too pale for a line)."""

_DASHES = ([1, 0], [7, 3], [2, 2], [9, 3, 2, 3], [5, 2], [12, 4], [7, 2, 2, 2, 2, 2], [3, 3])
"""One more than there are colours: a pair of colour and dash comes again only after 56 systems."""

_FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
"""The first is inside vl-convert and as wide as the second, so that pictures look alike on every machine."""


class _Of(Protocol):
    """What a chart says about where its numbers come from."""

    @property
    def signature(self) -> Signature: ...
    @property
    def corpus(self) -> str: ...
    @property
    def run(self) -> str: ...
    @property
    def view(self) -> str: ...


_Drawn = TypeVar("_Drawn", bound=_Of)


def threshold_chart(curves: Sequence[ThresholdCurve], measure: str = "micro.f1") -> Spec:
    """A measure over the threshold, one line per system, with the best threshold of each marked.

    Figure 4 of Cornolti, Ferragina and Ciaramita, A Framework for Benchmarking Entity-Annotation Systems, WWW 2013.
    """
    check_extra()
    head, reach = _alike(curves), reach_of(curves)
    lines = {curve.run: traced(curve, [measure])[measure] for curve in curves}
    best = {curve.run: lines[curve.run].best(curve) for curve in curves}
    rows = [row for curve in curves for row in _line(curve.run, curve, lines[curve.run], reach)]
    title = f"{head.corpus}, {head.view}: {MEASURES[measure]} over the threshold"
    return _over_threshold(head, reach, rows, best, title=title, value=MEASURES[measure])


def prf_chart(curve: ThresholdCurve, measure: str = "micro.f1") -> Spec:
    """Precision, recall and F1 of one system over the threshold, with the best threshold by one of them marked."""
    check_extra()
    reach = reach_of([curve])
    found = traced(curve, family(known(measure)))
    rows = [row for short, line in found.items() for row in _line(MEASURES[short], curve, line, reach)]
    best = {MEASURES[short]: line.best(curve) if short == measure else None for short, line in found.items()}
    title = f"{curve.corpus}, {curve.view}: {curve.run} over the threshold"
    return _over_threshold(curve, reach, rows, best, title=title, value="score")


def reliability_chart(systems: Sequence[ScoredAnswers], bins: int = 10) -> Spec:
    """The share of right answers in bins of score, one panel per system, and how many answers each bin holds.

    Where scores are probabilities, bars end on the diagonal. Guo et al., On Calibration of Modern Neural Networks,
    ICML 2017.
    """
    check_extra()
    import altair as alt

    head = _alike(systems)
    panels = []
    for system in systems:
        found, error = _binned(system, bins)
        said = "no scored answers" if error is None else f"{len(system.scores):,} answers, ECE {error:.3f}"
        panels.append(_reliability(found, system.run, said))
    subtitle = [
        "Bars: the share of right answers; dots: the same at the mean score of the bin. Dashed: perfect calibration.",
        *_chosen(head),
    ]
    title = f"{head.corpus}, {head.view}: are scores probabilities?"
    width = _PANEL * min(len(panels), _COLUMNS)
    chart = alt.concat(*panels, columns=_COLUMNS, spacing=28)
    return _finished(chart, systems, title, subtitle, width)


def risk_coverage_chart(systems: Sequence[ScoredAnswers]) -> Spec:
    """The share of wrong answers among those kept, as answers are added from the highest score on."""
    check_extra()
    import altair as alt

    head = _alike(systems)
    rows, ends = [], []
    for system in systems:
        found = risk_coverage(system.scores, system.right)
        area = aurc(system.scores, system.right)
        if area is None:
            continue
        kept = _thinned(len(found.risk), [])
        rows += [
            {"system": system.run, "coverage": x, "risk": y}
            for x, y in zip(found.coverage[kept].tolist(), found.risk[kept].tolist(), strict=True)
        ]
        ends.append(Label(system.run, 1.0, float(found.risk[-1]), f"AURC {area:.3f}"))
    highest = max((row["risk"] for row in rows), default=1.0)
    top = min(1.0, np.ceil(10 * float(str(highest)) + 0.5) / 10)
    x = alt.X("coverage:Q", title="coverage: share of answers kept", scale=alt.Scale(domain=[0, 1]))
    y = alt.Y("risk:Q", title="risk: share of wrong answers", scale=alt.Scale(domain=[0, top], nice=False))
    names = [system.run for system in systems]
    lines = _lines(rows, names, x, y, "linear")
    labels = _labels(placed(ends, Reach(0, 1), Reach(0, top)), names, x, y)
    title = f"{head.corpus}, {head.view}: risk over coverage"
    subtitle = ["AURC: the area under the line, the lower the better.", *_chosen(head)]
    return _finished(_sized(alt.layer(lines, *labels)), systems, title, subtitle, WIDTH)
