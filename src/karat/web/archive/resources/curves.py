"""The charts of a dataset: threshold and coverage curves, calibration, near misses, difficulty, runtime."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias, TypeVar

import numpy as np
from msgspec.structs import replace

from karat.data.near_misses import share_above
from karat.model.errors import InputError, KaratError, UsageError
from karat.model.registry import get_plugin
from karat.model.spec.facet import Facet
from karat.model.tables.arrow import Arrow
from karat.render.curves import AlphaCurveFile, CategoryCurveFile, CoverageCurveFile, ThresholdCurveFile
from karat.stats.calibration import reliability
from karat.web.archive.archive import AnyCurve, Archive, ArchiveEntry
from karat.web.archive.case_table import FACET_PREFIX
from karat.web.archive.resource import Resource
from karat.web.archive.shape import ChartData, CurveLine, CurvesResource

_POINTS: Final = 240
"""Maximum number of points of a line; longer lines are thinned out."""

_BINS: Final = 10
_STEPS: Final = 50
_DIFFICULTY = "difficulty"

_C = TypeVar("_C", ThresholdCurveFile, CoverageCurveFile, AlphaCurveFile, CategoryCurveFile)


class _ChartInput(NamedTuple):
    """A system (its index, entry) with the curves and cases that its charts are drawn from; no cases is None."""

    system_index: int
    entry: ArchiveEntry
    files: list[AnyCurve]
    cases: Arrow | None


def build_curves(archive: Archive, key: str) -> CurvesResource:
    """Build all charts of the dataset `key` that its data allow, with the reason for each missing chart."""
    systems = archive.systems
    entries = sorted(archive.get_entries(key), key=lambda entry: systems.index(entry.system))
    inputs = [
        _ChartInput(systems.index(entry.system), entry, archive.read_curves(entry), archive.read_verdicts(entry))
        for entry in entries
    ]
    charts: list[ChartData] = []
    missing: list[tuple[str, str]] = []
    for name, build_chart in CHARTS.items():
        try:
            charts.append(_add_undrawn(build_chart(archive, key, inputs), inputs))
        except KaratError as problem:
            missing.append((name, str(problem)))
    return CurvesResource(archive.datasets[key].dataset, charts, missing)


def _add_undrawn(chart: ChartData, inputs: Sequence[_ChartInput]) -> ChartData:
    """Return a chart that lists every system without a line or marker in it, with the reason."""
    drawn = {line.system for line in (*chart.lines, *chart.markers) if line.x}
    reasons = dict(chart.undrawn)
    over = _CURVE_OF_CHART.get(chart.name, "")
    undrawn = [
        (
            item.system_index,
            reasons.get(item.system_index) or item.entry.missing_curves.get(over) or "its files have no data for it",
        )
        for item in inputs
        if item.system_index not in drawn
    ]
    return replace(chart, undrawn=undrawn)


def _get_curves(kind: type[_C], over: str, inputs: Sequence[_ChartInput]) -> list[tuple[int, _C]]:
    """Return the curves over `over` (of type `kind`) with the index of their system; raise the reason if none."""
    curves = [(item.system_index, file) for item in inputs for file in item.files if isinstance(file, kind)]
    if not curves:
        reasons = dict.fromkeys(item.entry.missing_curves[over] for item in inputs if over in item.entry.missing_curves)
        raise UsageError(
            " ".join(reasons) or "the archive has results but no cases. Pass gold and predictions to `karat report`."
        )
    return curves


def _threshold_chart(short: str, measure_title: str) -> Callable[[Archive, str, Sequence[_ChartInput]], ChartData]:
    """Return a function that builds the chart of the micro measure `short` (p, r or f1) over the threshold."""

    def build_chart(_: Archive, __: str, inputs: Sequence[_ChartInput]) -> ChartData:
        files = _get_curves(ThresholdCurveFile, "threshold", inputs)
        field = f"micro_{short}"
        lines = [_make_line(system, file.points.threshold, getattr(file.points, field)) for system, file in files]
        description, markers = "Predictions with a lower score are excluded.", []
        if short == "f1":
            description += " The dot marks the best threshold on this dataset (an oracle)."
            best = [(system, file.oracle) for system, file in files]
            markers = [
                _make_line(system, [oracle.threshold], [oracle.value]) for system, oracle in best if oracle is not None
            ]
        title, name = f"{measure_title} over the threshold", f"{short}-over-threshold"
        return _make_chart(
            name, title, description, "score", measure_title, lines, [marker for marker in markers if marker.x]
        )

    return build_chart


def _coverage_chart(_: Archive, __: str, inputs: Sequence[_ChartInput]) -> ChartData:
    """Build the chart of the share of wrong predictions over coverage."""
    files = _get_curves(CoverageCurveFile, "coverage", inputs)
    lines = [_make_line(system, file.points.coverage, file.points.risk) for system, file in files]
    description = "The share of wrong predictions among the most confident ones."
    return _make_chart("risk-over-coverage", "Risk over coverage", description, "coverage", "risk", lines)


def _calibration_chart(_: Archive, __: str, inputs: Sequence[_ChartInput]) -> ChartData:
    """Build the reliability diagram; systems whose scores are no probabilities are not drawn."""
    lines: list[CurveLine] = []
    undrawn: list[tuple[int, str]] = []
    for item in inputs:
        scores, right = _get_scored_cases(item.cases)
        if not len(scores):
            undrawn.append((item.system_index, "the predictions have no scores"))
            continue
        try:
            bins = reliability(scores, right, _BINS)
        except InputError as problem:  # scores that are no probabilities
            undrawn.append((item.system_index, f"scores: {problem.actual} where {problem.expected} are needed"))
            continue
        filled = np.flatnonzero(bins.count)
        lines.append(_make_line(item.system_index, bins.score[filled].tolist(), bins.correct[filled].tolist()))
    if not lines:
        systems = {item.system_index: item.entry.system for item in inputs}
        raise UsageError("; ".join(f"{systems[index]}: {reason}" for index, reason in undrawn) + ".")
    description = f"The share of correct predictions in {_BINS} score bins. Perfect calibration is on the diagonal."
    chart = _make_chart("calibration", "Calibration", description, "mean score", "right", lines)
    return replace(chart, diagonal=True, undrawn=undrawn)


def _get_scored_cases(cases: Arrow | None) -> tuple[np.ndarray[tuple[int], np.dtype[np.float64]], ...]:
    """Return the scores of predictions that count, and the correctness of each from 0 to 1; empty without cases."""
    if cases is None:
        return np.zeros(0), np.zeros(0)
    score, right, wrong = (
        np.array(cases.column(name).to_pylist(), np.float64)
        for name in ("score", "matched_prediction", "unmatched_prediction")
    )
    mask = ~np.isnan(score) & (right + wrong > 0)
    return score[mask], right[mask] / (right[mask] + wrong[mask])


def _alpha_chart(_: Archive, __: str, inputs: Sequence[_ChartInput]) -> ChartData:
    """Build the chart of fuzzy F1 over alpha, the weight of non-strict mentions."""
    files = _get_curves(AlphaCurveFile, "alpha", inputs)
    lines = [_make_line(system, file.points.alpha, file.points.micro_f1) for system, file in files]
    description = "The weight of non-strict mentions, from 0 to 1 (fine-grained paper, Figure 5)."
    return _make_chart("f1-over-alpha", "Fuzzy F1 over alpha", description, "alpha", "fuzzy F1", lines)


def _category_chart(_: Archive, __: str, inputs: Sequence[_ChartInput]) -> ChartData:
    """Build the chart of F1 as combinations of fine-grained categories are added, best first."""
    files = _get_curves(CategoryCurveFile, "categories", inputs)
    lines = [_make_line(system, file.points.step, file.points.micro_f1) for system, file in files]
    description = "F1 as combinations of categories are added, best first (fine-grained paper, Figure 4)."
    title = "F1 over categories"
    return _make_chart("f1-over-categories", title, description, "combinations of categories", "F1", lines)


def _relatedness_chart(_: Archive, __: str, inputs: Sequence[_ChartInput]) -> ChartData:
    """Build the chart of the share of wrong links whose relatedness to the correct entity is above some value."""
    lines, n_known, n_wrong = [], 0, 0
    thresholds = np.linspace(0, 1, _STEPS + 1)
    for item in inputs:
        if item.cases is None or "related" not in item.cases.column_names:
            continue
        wrong = sum(outcome == "wrong link" for outcome in item.cases.column("outcome").to_pylist())
        values = np.array([value for value in item.cases.column("related").to_pylist() if value is not None])
        n_known, n_wrong = n_known + len(values), n_wrong + wrong
        if len(values):
            lines.append(
                _make_line(
                    item.system_index,
                    thresholds.tolist(),
                    [share_above(values, float(threshold)) for threshold in thresholds],
                )
            )
    if not lines:
        raise UsageError("the relatedness of wrong and correct links is unknown. Pass a snapshot with `--kb`.")
    description = (
        f"The share of wrong links whose Milne-Witten relatedness to the correct entity is above a value, as in "
        f"Figure 5 of the BAT paper ({n_known:,} of {n_wrong:,} wrong links have a known value)."
    )
    return _make_chart(
        "relatedness", "Relatedness of wrong links", description, "relatedness", "share of wrong links", lines
    )


def _difficulty_chart(_: Archive, __: str, inputs: Sequence[_ChartInput]) -> ChartData:
    """Build the chart of recall by the difficulty of gold mentions, stored or computed."""
    column = FACET_PREFIX + _DIFFICULTY
    shares: list[dict[str, float]] = []
    systems = []
    for item in inputs:
        if item.cases is None or column not in item.cases.column_names:
            continue
        counts: dict[str, list[float]] = {}
        columns = (item.cases.column(name).to_pylist() for name in (column, "matched_gold", "unmatched_gold"))
        for values, correct, missed in zip(*columns, strict=True):
            for value in values or ():
                sums = counts.setdefault(value, [0.0, 0.0])
                sums[0] += correct
                sums[1] += correct + missed
        shares.append({value: correct / total for value, (correct, total) in counts.items() if total})
        systems.append(item.system_index)
    facet = get_plugin("facets", _DIFFICULTY, Facet)
    values = sorted({value for counts in shares for value in counts}, key=_bracket_key)
    if not {*values}.isdisjoint(facet.value_order):
        values = facet.sort_values(values)
    if not values:
        raise UsageError("the archive has results but no cases. Pass gold and predictions to `karat report`.")
    lines = [
        _make_line(system, list(range(len(values))), [counts.get(value) for value in values])
        for system, counts in zip(systems, shares, strict=True)
    ]
    description = (
        "Recall by the difficulty of gold mentions: that of the gold standard, or else the level that popularity and "
        "names in the knowledge base give them."
    )
    chart = _make_chart("difficulty", "Recall by difficulty", description, "difficulty", "recall", lines)
    return replace(chart, form="bars", ticks=values)


def _bracket_key(bracket: str) -> tuple[float, str]:
    """Return a sort key that orders difficulty brackets, such as `0-20`, by their first number."""
    digits = "".join(letter for letter in bracket.split("-")[0] if letter.isdigit())
    return (float(digits) if digits else -1.0, bracket)


_ChartBuilder: TypeAlias = Callable[[Archive, str, Sequence[_ChartInput]], ChartData]


def _usage_chart(chart_name: str, quantity: str, title: str) -> _ChartBuilder:
    """Return a function that builds the chart of the headline score over each system's total of a quantity."""

    def build_chart(archive: Archive, _: str, inputs: Sequence[_ChartInput]) -> ChartData:
        stated_inputs = [item for item in inputs if item.entry.usage.get(quantity)]
        if not stated_inputs:
            raise UsageError(f"no file contains the {title} of a system.")
        measure = stated_inputs[0].entry.measure
        points = [
            _make_line(item.system_index, [item.entry.usage[quantity]], [archive.read_result(item.entry)[measure]])
            for item in stated_inputs
        ]
        description = f"Each system's total {title} on a logarithmic scale, if its files contain it."
        chart = _make_chart(chart_name, f"{measure} over {title}", description, quantity, measure, [], points)
        return replace(chart, form="points", log=True)

    return build_chart


CHARTS: Final[Mapping[str, _ChartBuilder]] = {
    "f1-over-threshold": _threshold_chart("f1", "micro F1"),
    "p-over-threshold": _threshold_chart("p", "micro precision"),
    "r-over-threshold": _threshold_chart("r", "micro recall"),
    "risk-over-coverage": _coverage_chart,
    "calibration": _calibration_chart,
    "f1-over-alpha": _alpha_chart,
    "f1-over-categories": _category_chart,
    "relatedness": _relatedness_chart,
    "difficulty": _difficulty_chart,
    "over-time": _usage_chart("over-time", "seconds", "runtime"),
    "over-cost": _usage_chart("over-cost", "cost", "cost"),
}
"""All charts by their name in URLs."""

_CURVE_OF_CHART: Final[Mapping[str, str]] = {
    **dict.fromkeys(("f1-over-threshold", "p-over-threshold", "r-over-threshold"), "threshold"),
    "risk-over-coverage": "coverage",
    "f1-over-alpha": "alpha",
    "f1-over-categories": "categories",
}
"""The stored curve that a chart is drawn from, by chart."""


def _make_chart(
    name: str,
    title: str,
    description: str,
    x: str,
    y: str,
    lines: list[CurveLine],
    markers: list[CurveLine] | None = None,
) -> ChartData:
    """Make a line chart; `x` and `y` are axis titles, `markers` highlighted points."""
    return ChartData(name, title, description, x, y, "line", False, False, [], lines, markers or [], [])


def _make_line(system: int, x: Sequence[float | None], y: Sequence[float | None]) -> CurveLine:
    """Make the line of a system from x and y values; undefined points are dropped and long lines thinned out."""
    points = [(a, b) for a, b in zip(x, y, strict=True) if a is not None and b is not None]
    if len(points) > _POINTS:
        points = [points[index] for index in np.linspace(0, len(points) - 1, _POINTS).round().astype(int).tolist()]
    return CurveLine(system, [round(a, 6) for a, _ in points], [round(b, 5) for _, b in points])


RESOURCE = Resource(
    CurvesResource,
    build_curves,
    is_per_dataset=True,
    is_available=lambda archive, key: any(
        entry.curves or entry.usage or entry.verdicts for entry in archive.get_entries(key)
    ),
)
