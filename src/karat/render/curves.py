"""Curves over the threshold, coverage, alpha and categories: output of `karat curve`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Literal

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from karat.analysis.curves.alpha import find_leaders
from karat.analysis.curves.oracle import find_oracle, measure_family, threshold_range
from karat.model.output.json_files import JsonFile, JsonRecord, build_record, encode_line
from karat.model.output.text_layout import format_count, wrap_text
from karat.model.results.result import WeightSums
from karat.model.spec.settings.threshold import Threshold
from karat.render.charts.finegrained import CUMULATIVE, FUZZY
from karat.render.tables import LAYOUTS, UNDEFINED, describe_convention, draw_text, get_layout

if TYPE_CHECKING:
    from karat.analysis.curves.alpha import AlphaCurve
    from karat.analysis.curves.calibration import ScoredPredictions
    from karat.analysis.curves.categories import CategoryCurve
    from karat.analysis.curves.curve_set import CurveSet
    from karat.analysis.curves.threshold import ThresholdCurve
    from karat.model.signature import Signature
    from karat.model.tables.arrow import Arrow
    from karat.model.tables.columns import Floats

_STEPS = 10  # of the coarse curves that are printed


def _format_field(name: str) -> str:
    """Return the JSON name of a field: `micro.f1` for `micro_f1`."""
    return name.replace("micro_", "micro.").replace("macro_", "macro.")


class CurvePoints(JsonRecord, frozen=True, rename=_format_field):
    """Counts and scores at each point; null if undefined."""

    matched_predictions: tuple[int | float, ...]
    unmatched_predictions: tuple[int | float, ...]
    matched_gold: tuple[int | float, ...]
    unmatched_gold: tuple[int | float, ...]
    micro_p: tuple[float | None, ...]
    micro_r: tuple[float | None, ...]
    micro_f1: tuple[float | None, ...]


class ThresholdPoints(CurvePoints, frozen=True, rename=_format_field):
    """One entry per threshold; the null threshold includes every prediction."""

    threshold: tuple[float | None, ...]
    macro_p: tuple[float | None, ...]
    macro_r: tuple[float | None, ...]
    macro_f1: tuple[float | None, ...]


class CoveragePoints(JsonRecord, frozen=True):
    """One entry per distinct score, descending: predictions at or above this score, and the share of wrong ones."""

    score: tuple[float, ...]
    n_predictions: tuple[int, ...]
    coverage: tuple[float, ...]
    risk: tuple[float, ...]


class AlphaPoints(CurvePoints, frozen=True, rename=_format_field):
    """One entry per alpha."""

    alpha: tuple[float, ...]


class CategoryPoints(CurvePoints, frozen=True, rename=_format_field):
    """One entry per combination: its own score, and the score of all combinations so far."""

    step: tuple[int, ...]
    combination: tuple[str, ...]
    alone: tuple[float | None, ...]
    mentions: tuple[int, ...]


class BestThreshold(JsonRecord, frozen=True):
    """The best threshold on this corpus, and the value of the measure there."""

    threshold: float | None
    value: float


class LeaderRecord(JsonRecord, frozen=True, rename={"low": "from", "high": "to"}):
    """The leading runs between two values of alpha."""

    low: float
    high: float
    runs: tuple[str, ...]


class CurveFile(JsonFile, frozen=True, tag="karat-curve/2"):
    """Fields that the files of all curves share."""

    signature: str
    corpus: str
    run: str
    view: str
    measure: str


class ThresholdCurveFile(CurveFile, frozen=True, tag="karat-curve/2"):
    """The output of `karat curve --json` for a system."""

    over: Literal["threshold"]
    strict: bool
    oracle: BestThreshold | None
    points: ThresholdPoints


class CoverageCurveFile(CurveFile, frozen=True, tag="karat-curve/2"):
    """The output of `karat curve --over coverage --json` for a system; unscored predictions are not included."""

    over: Literal["coverage"]
    predictions: int
    without_score: int
    aurc: float
    excess_aurc: float
    points: CoveragePoints


class AlphaCurveFile(CurveFile, frozen=True, tag="karat-curve/2"):
    """The output of `karat curve --over alpha --json` for a system; `leaders` are over all systems."""

    over: Literal["alpha"]
    membership: str
    leaders: tuple[LeaderRecord, ...]
    points: AlphaPoints


class CategoryCurveFile(CurveFile, frozen=True, tag="karat-curve/2"):
    """The output of `karat curve --over categories --json` for a system."""

    over: Literal["categories"]
    excluded: Mapping[str, int]
    points: CategoryPoints


def curve_set_json(curves: CurveSet) -> bytes:
    """Encode a set of curves as JSON, one line per curve."""
    if curves.axis == "threshold":
        return threshold_json(curves.thresholds, curves.measure)
    if curves.axis == "coverage":
        return coverage_json(curves.predictions)
    if curves.axis == "categories":
        return category_json(curves.categories)
    assert curves.alpha is not None, "curves over alpha have its values"
    return alpha_json(curves.alphas, curves.measure, curves.alpha)


def curve_set_csv(curves: CurveSet) -> bytes:
    """Encode a set of curves as CSV, one row per point of a curve."""
    if curves.axis == "alpha":
        assert curves.alpha is not None, "curves over alpha have its values"
        return to_csv([curve.table(curves.alpha) for curve in curves.alphas])
    drawn: Sequence[ThresholdCurve | ScoredPredictions | CategoryCurve] = curves.categories
    if curves.axis in ("threshold", "coverage"):
        drawn = curves.thresholds if curves.axis == "threshold" else curves.predictions
    return to_csv([curve.table for curve in drawn])


def render_curve_set(curves: CurveSet, width: int | None = None) -> str:
    """Render a set of curves as a page of tables, at most `width` columns wide."""
    if curves.axis == "threshold":
        return render_threshold_page(curves.thresholds, curves.measure, curves.n_documents, width)
    if curves.axis == "coverage":
        return render_coverage_page(curves.predictions, curves.n_documents, width)
    if curves.axis == "alpha":
        return render_alpha_page(curves.alphas, curves.measure, curves.n_documents, width)
    return render_category_page(curves.categories, curves.n_documents, width)


def threshold_json(curves: Sequence[ThresholdCurve], measure: str) -> bytes:
    """Encode threshold curves, one JSON object per line, each with the best threshold for `measure`."""
    return b"".join(encode_line(_build_threshold_file(curve, measure)) for curve in curves)


def _build_threshold_file(curve: ThresholdCurve, measure: str) -> ThresholdCurveFile:
    """Return the JSON record of a threshold curve, with the best threshold for `measure`."""
    best = find_oracle(curve, measure)
    return build_record(
        ThresholdCurveFile,
        curve,
        over="threshold",
        strict=curve.sweep.is_strict,
        measure=measure,
        oracle=None if best is None else BestThreshold(best.threshold.min_score, best.value),
        points=msgspec.convert(_get_columns(curve.table), ThresholdPoints),
    )


def coverage_json(systems: Sequence[ScoredPredictions]) -> bytes:
    """Encode risk-coverage curves, one JSON object per line; all systems must have scored predictions."""
    files = (
        build_record(
            CoverageCurveFile,
            system,
            over="coverage",
            measure="aurc",
            predictions=system.n_predictions,
            without_score=system.n_predictions - len(system.scores),
            points=msgspec.convert(system.table.drop_columns(["run"]).to_pydict(), CoveragePoints),
        )
        for system in systems
    )
    return b"".join(map(encode_line, files))


def alpha_json(curves: Sequence[AlphaCurve], measure: str, alpha: Floats) -> bytes:
    """Encode curves over alpha at the given values, one JSON object per line; `measure` decides who leads."""
    leaders = tuple(LeaderRecord(*lead) for lead in find_leaders(curves, measure))
    files = (
        build_record(
            AlphaCurveFile,
            curve,
            over="alpha",
            membership=curve.preset,
            measure=measure,
            leaders=leaders,
            points=msgspec.convert(_get_columns(curve.table(alpha)), AlphaPoints),
        )
        for curve in curves
    )
    return b"".join(map(encode_line, files))


def category_json(curves: Sequence[CategoryCurve]) -> bytes:
    """Encode category curves, one JSON object per line."""
    files = (
        build_record(
            CategoryCurveFile,
            curve,
            over="categories",
            points=msgspec.convert(_get_columns(curve.table), CategoryPoints),
        )
        for curve in curves
    )
    return b"".join(map(encode_line, files))


def _get_columns(points: Arrow) -> dict[str, list[object]]:
    """Return the columns of a curve's table, without constant columns; whole counts become integers."""
    constant = [name for name in ("run", "ordered_by") if name in points.column_names]
    columns: dict[str, list[object]] = points.drop_columns(constant).to_pydict()
    for name in WeightSums.__struct_fields__:
        counts = points.column(name).to_numpy()
        if (counts == np.floor(counts)).all():
            columns[name] = counts.astype(np.int64).tolist()  # files say 3, not 3.0
    return columns


def to_csv(tables: Sequence[Arrow]) -> bytes:
    """Encode the tables of several curves, one below the other, as CSV.

    A text that a spreadsheet would read as a formula gets a leading apostrophe.
    """
    table, file = pa.concat_tables(tables), BytesIO()
    for index, field in enumerate(table.schema):
        if pa.types.is_string(field.type):
            table = table.set_column(index, field, pc.replace_substring_regex(table[index], r"^([=+\-@\t\r])", r"'\1"))
    csv.write_csv(table, file)
    return file.getvalue()


def render_threshold_page(
    curves: Sequence[ThresholdCurve], measure: str, documents: int, width: int | None = None
) -> str:
    """Render a table per system: the best threshold by `measure`, all predictions, and a coarse curve.

    `documents`: number of documents, for the heading. `width`: columns to wrap at; None does not wrap.
    """
    head = curves[0]
    blocks = [f"{_format_headline(head, documents)}, scores in percent"]
    blocks += [f"{_describe_scored(curve)}\n{draw_text(_build_rows(curve, measure), width=width)}" for curve in curves]
    blocks.append(f"oracle: the best {measure} over all thresholds, selected on this corpus")
    return _join_page(blocks, head.signature, width)


def _format_headline(head: ThresholdCurve | ScoredPredictions | AlphaCurve | CategoryCurve, documents: int) -> str:
    """Return the heading of a page: corpus, number of documents, profile and view."""
    return f"{head.corpus}, {format_count(documents, 'document')}: {describe_convention(head.signature, head.view)}"


def _join_page(blocks: Sequence[str], signature: Signature, width: int | None) -> str:
    """Join blocks and the signature to a page, wrapped at `width`."""
    layout = get_layout(None, width)
    return wrap_text("\n\n".join([*blocks, layout.format_signatures(signature)]) + "\n", width)


def display(curve: ThresholdCurve, layout: str) -> str:
    """Render one threshold curve for a notebook or paper: the oracle, all predictions, and a coarse curve.

    `layout`: key of `LAYOUTS`.
    """
    page_layout, measure = LAYOUTS[layout], "micro.f1"
    head = f"{curve.corpus}, {curve.view}; {_describe_scored(curve)}; scores in percent"
    note = f"oracle: the best {measure} over all thresholds, selected on this corpus"
    return page_layout.join(
        [head, page_layout.draw(list(_build_rows(curve, measure)), {0}), note, str(curve.signature)]
    )


def to_table(curve: ThresholdCurve) -> Arrow:
    """Return an Arrow table with a row per threshold: counts and scores."""
    return curve.table


def _describe_scored(curve: ThresholdCurve) -> str:
    """Return how many of the predictions that count have a score, as text."""
    weights = curve.curve.weights
    predictions, unscored = (int(weights[row, :2].sum()) for row in (-1, 0))
    suffix = "; unscored predictions always count" if unscored else ""
    return f"{curve.run}: {predictions - unscored} of {predictions} predictions that count have a score{suffix}"


def _build_rows(curve: ThresholdCurve, measure: str) -> Iterator[tuple[str, ...]]:
    """Yield the rows of a curve's table: the best threshold by `measure`, all predictions, and a coarse curve."""
    scores = {short: curve.curve.values(short) for short in measure_family(measure)}
    best, score_range = find_oracle(curve, measure), threshold_range([curve])

    def build_row(name: str, threshold: Threshold) -> tuple[str, ...]:
        """Return the row with precision, recall and F1 at a threshold."""
        sign = ">" if threshold.is_strict else ">="
        at = UNDEFINED if threshold.min_score is None else f"{sign} {threshold.min_score:.6g}"
        return name, at, *(_format_percent(values[curve.curve.row_for(threshold)]) for values in scores.values())

    yield "", "score", *scores
    if best is not None:
        yield build_row("oracle", best.threshold)
    yield build_row("all predictions", Threshold())
    for step in range(_STEPS + 1):
        min_score = (score_range.low * (_STEPS - step) + score_range.high * step) / _STEPS
        yield build_row("", Threshold(min_score, curve.sweep.is_strict))


def render_coverage_page(systems: Sequence[ScoredPredictions], documents: int, width: int | None = None) -> str:
    """Render the areas under the risk-coverage curves, and the risk at each tenth of coverage.

    All systems must have scored predictions. `documents`: number of documents, for the heading. `width`: columns to
    wrap at; None does not wrap.
    """
    head = systems[0]
    areas = [[system.run, _format_percent(system.aurc), _format_percent(system.excess_aurc)] for system in systems]
    blocks = [
        f"{_format_headline(head, documents)}, risk and coverage in percent",
        draw_text([["", "AURC", "excess AURC"], *areas], width=width),
        *(f"{_describe_coverage(system)}\n{draw_text(_build_risk_rows(system), width=width)}" for system in systems),
        "coverage: the share of scored predictions, by descending score; risk: the share of these that are wrong",
    ]
    return _join_page(blocks, head.signature, width)


def _describe_coverage(system: ScoredPredictions) -> str:
    """Return how many of the predictions that count have a score, as text."""
    scored = len(system.scores)
    suffix = "; unscored predictions are excluded" if scored < system.n_predictions else ""
    return f"{system.run}: {scored} of {system.n_predictions} predictions that count have a score{suffix}"


def _build_risk_rows(system: ScoredPredictions) -> Iterator[tuple[str, ...]]:
    """Yield coverage, score and risk at the first point that reaches each tenth of coverage."""
    curve, size = system.coverage, len(system.scores)
    yield "coverage", "score", "risk"
    # In whole predictions: 0.1 times 30 is a little more than 3.
    for row in np.unique(np.searchsorted(curve.n_predictions * _STEPS, np.arange(1, _STEPS + 1) * size)).tolist():
        yield _format_percent(curve.coverage[row]), f">= {curve.score[row]:.6g}", _format_percent(curve.risk[row])


def render_alpha_page(curves: Sequence[AlphaCurve], measure: str, documents: int, width: int | None = None) -> str:
    """Render `measure` at some values of alpha by system, and the leader of each interval of alpha.

    A single system gets precision, fuzzy recall and fuzzy F1 instead. `documents`: number of documents, for the
    heading. `width`: columns to wrap at; None does not wrap.
    """
    head, alpha = curves[0], np.linspace(0, 1, _STEPS + 1)
    is_single = len(curves) == 1
    columns = (
        {description: head.values(short, alpha) for short, description in FUZZY.items()}
        if is_single
        else {curve.run: curve.values(measure, alpha) for curve in curves}
    )
    title = f"scores of {head.run}" if is_single else FUZZY[measure]
    rows = [
        [f"{value:.1f}", *(_format_percent(values[row]) for values in columns.values())]
        for row, value in enumerate(alpha)
    ]
    blocks = [
        f"{_format_headline(head, documents)}, {title} in percent, membership {head.preset}",
        draw_text([["alpha", *columns], *rows], width=width),
    ]
    if not is_single:
        leads = find_leaders(curves, measure)
        blocks.append("\n".join(f"{low:.3f} to {high:.3f}: {_describe_leaders(runs)}" for low, high, runs in leads))
    return _join_page(blocks, head.signature, width)


def _describe_leaders(runs: Sequence[str]) -> str:
    """Return the leading runs as text; `no system leads` if there are none."""
    return f"{' and '.join(runs)} lead{'s' * (len(runs) == 1)}" if runs else "no system leads"


def render_category_page(curves: Sequence[CategoryCurve], documents: int, width: int | None = None) -> str:
    """Render the scores of the best 1, 10, 20, … combinations of categories, and each system's best combination.

    `documents`: number of documents, for the heading. `width`: columns to wrap at; None does not wrap.
    """
    head = curves[0]
    description, size = CUMULATIVE[head.measure], len(head.combinations)
    steps = sorted({1, *range(_STEPS, size, _STEPS), size} - {0})
    rows = [[f"{step}", *(_format_percent(curve.values()[step - 1]) for curve in curves)] for step in steps]
    summary = (
        f"All: {format_count(int(head.mentions[-1]) if size else 0, 'mention')}{_describe_excluded(head.excluded)}"
    )
    best = ["\n".join(f"best of {curve.run}: {first}" for first in curve.combinations[:1]) for curve in curves]
    blocks = [
        f"{_format_headline(head, documents)}, {description} in percent, best categories first",
        draw_text([["combinations", *(curve.run for curve in curves)], *rows], width=width),
        "\n".join([summary, *best]),
    ]
    return _join_page(blocks, head.signature, width)


def _describe_excluded(counts: Mapping[str, int]) -> str:
    """Return the numbers of excluded mentions by reason as text; empty if there are none."""
    return f"; excluded: {', '.join(f'{reason} {count}' for reason, count in counts.items())}" if counts else ""


def _format_percent(value: float | None) -> str:
    """Format a share in percent; `–` for None and NaN."""
    return UNDEFINED if value is None or value != value else f"{100 * value:.1f}"
