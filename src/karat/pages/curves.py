"""Scores over the threshold, coverage, alpha and categories, as `karat curve` prints and writes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Literal

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from karat.curves.alpha import reigns
from karat.curves.oracle import family, oracle_of, reach_of
from karat.fitting import counted, wrapped
from karat.model.result import Counted
from karat.pages.charts.finegrained import CUMULATIVE, FUZZY
from karat.pages.files import Written, line
from karat.pages.tables import LAYOUTS, aligned, convention, layout_of
from karat.spec.choices.threshold import Threshold

if TYPE_CHECKING:
    from karat.curves.alpha import AlphaCurve
    from karat.curves.calibration import ScoredAnswers
    from karat.curves.categories import CategoryCurve
    from karat.curves.threshold import ThresholdCurve
    from karat.model.signature import Signature
    from karat.model.tables.arrow import Arrow
    from karat.model.tables.columns import Floats

_STEPS = 10  # of the coarse curves that are printed
_UNDEFINED = "–"


def _dotted(name: str) -> str:
    """What a field is called in files: measures have a dot."""
    return name.replace("micro_", "micro.").replace("macro_", "macro.")


class CurvePoints(Written, frozen=True, rename=_dotted):
    """What was counted at each point, and the scores there; null where undefined."""

    matched_answers: tuple[int | float, ...]
    unmatched_answers: tuple[int | float, ...]
    matched_gold: tuple[int | float, ...]
    unmatched_gold: tuple[int | float, ...]
    micro_p: tuple[float | None, ...]
    micro_r: tuple[float | None, ...]
    micro_f1: tuple[float | None, ...]


class ThresholdPoints(CurvePoints, frozen=True, rename=_dotted):
    """One entry for each threshold; that of null keeps every answer."""

    threshold: tuple[float | None, ...]
    macro_p: tuple[float | None, ...]
    macro_r: tuple[float | None, ...]
    macro_f1: tuple[float | None, ...]


class CoveragePoints(Written, frozen=True):
    """One entry for each distinct score, from the highest on: what is kept at or above it, and what of it is wrong."""

    score: tuple[float, ...]
    kept: tuple[int, ...]
    coverage: tuple[float, ...]
    risk: tuple[float, ...]


class AlphaPoints(CurvePoints, frozen=True, rename=_dotted):
    """One entry for each alpha."""

    alpha: tuple[float, ...]


class CategoryPoints(CurvePoints, frozen=True, rename=_dotted):
    """One entry for each combination: what it scores alone, and all in play once it is added."""

    step: tuple[int, ...]
    combination: tuple[str, ...]
    alone: tuple[float | None, ...]
    mentions: tuple[int, ...]


class BestThreshold(Written, frozen=True):
    """The threshold that is best on this very corpus, and the value of the measure there."""

    threshold: float | None
    value: float


class Leaders(Written, frozen=True, rename={"low": "from", "high": "to"}):
    """The runs that lead between two values of alpha."""

    low: float
    high: float
    runs: tuple[str, ...]


class CurveFile(Written, frozen=True):
    """What the files of all curves say first."""

    layout: Literal["karat-curve/1"]
    signature: str
    corpus: str
    run: str
    view: str
    measure: str


class ThresholdCurveFile(CurveFile, frozen=True):
    """What `karat curve --json` writes for a system."""

    over: Literal["threshold"]
    strict: bool
    oracle: BestThreshold | None
    points: ThresholdPoints


class CoverageCurveFile(CurveFile, frozen=True):
    """What `karat curve --over coverage --json` writes for a system; answers without score are not among the points."""

    over: Literal["coverage"]
    answers: int
    without_score: int
    aurc: float
    excess_aurc: float
    points: CoveragePoints


class AlphaCurveFile(CurveFile, frozen=True):
    """What `karat curve --over alpha --json` writes for a system; `leaders` are of all systems."""

    over: Literal["alpha"]
    membership: str
    leaders: tuple[Leaders, ...]
    points: AlphaPoints


class CategoryCurveFile(CurveFile, frozen=True):
    """What `karat curve --over categories --json` writes for a system."""

    over: Literal["categories"]
    left_out: Mapping[str, int]
    points: CategoryPoints


def threshold_json(curves: Sequence[ThresholdCurve], measure: str) -> bytes:
    """One curve as an object; several as one object per line."""
    return b"".join(line(_threshold(curve, measure)) for curve in curves)


def _threshold(curve: ThresholdCurve, measure: str) -> ThresholdCurveFile:
    best = oracle_of(curve, measure)
    return ThresholdCurveFile(
        layout="karat-curve/1",
        over="threshold",
        signature=str(curve.signature),
        corpus=curve.corpus,
        run=curve.run,
        view=curve.view,
        strict=curve.sweep.strict,
        measure=measure,
        oracle=None if best is None else BestThreshold(best.threshold.at, best.value),
        points=msgspec.convert(_columns(curve.table), ThresholdPoints),
    )


def coverage_json(systems: Sequence[ScoredAnswers]) -> bytes:
    """One system as an object; several as one object per line. All must have scored answers."""
    return b"".join(map(line, map(_coverage, systems)))


def _coverage(system: ScoredAnswers) -> CoverageCurveFile:
    area, excess = system.aurc, system.excess_aurc
    assert area is not None
    assert excess is not None
    return CoverageCurveFile(
        layout="karat-curve/1",
        over="coverage",
        signature=str(system.signature),
        corpus=system.corpus,
        run=system.run,
        view=system.view,
        measure="aurc",
        answers=system.answers,
        without_score=system.answers - len(system.scores),
        aurc=area,
        excess_aurc=excess,
        points=msgspec.convert(system.table.drop_columns(["run"]).to_pydict(), CoveragePoints),
    )


def alpha_json(curves: Sequence[AlphaCurve], measure: str, alpha: Floats) -> bytes:
    """One curve as an object; several as one object per line."""
    leaders = tuple(Leaders(*reign) for reign in reigns(curves, measure))
    return b"".join(line(_alpha(curve, measure, alpha, leaders)) for curve in curves)


def _alpha(curve: AlphaCurve, measure: str, alpha: Floats, leaders: tuple[Leaders, ...]) -> AlphaCurveFile:
    return AlphaCurveFile(
        layout="karat-curve/1",
        over="alpha",
        signature=str(curve.signature),
        corpus=curve.corpus,
        run=curve.run,
        view=curve.view,
        membership=curve.preset,
        measure=measure,
        leaders=leaders,
        points=msgspec.convert(_columns(curve.table(alpha)), AlphaPoints),
    )


def category_json(curves: Sequence[CategoryCurve]) -> bytes:
    """One curve as an object; several as one object per line."""
    return b"".join(map(line, map(_category, curves)))


def _category(curve: CategoryCurve) -> CategoryCurveFile:
    return CategoryCurveFile(
        layout="karat-curve/1",
        over="categories",
        signature=str(curve.signature),
        corpus=curve.corpus,
        run=curve.run,
        view=curve.view,
        measure=curve.measure,
        left_out=curve.left_out,
        points=msgspec.convert(_columns(curve.table), CategoryPoints),
    )


def _columns(points: Arrow) -> dict[str, list[object]]:
    """Every column of a curve's table but what is the same in all rows."""
    same = [name for name in ("run", "ordered_by") if name in points.column_names]
    columns: dict[str, list[object]] = points.drop_columns(same).to_pydict()
    for name in Counted.__struct_fields__:
        counts = points.column(name).to_numpy()
        if (counts == np.floor(counts)).all():
            columns[name] = counts.astype(np.int64).tolist()  # files say 3, not 3.0
    return columns


def csv_of(tables: Sequence[Arrow]) -> bytes:
    """The tables of several curves as one, as comma-separated values.

    A text that a spreadsheet would take for a formula has an apostrophe before it, which says that it is a text.
    """
    table, file = pa.concat_tables(tables), BytesIO()
    for place, field in enumerate(table.schema):
        if pa.types.is_string(field.type):
            table = table.set_column(place, field, pc.replace_substring_regex(table[place], r"^([=+\-@\t\r])", r"'\1"))
    csv.write_csv(table, file)
    return file.getvalue()


def threshold_page(curves: Sequence[ThresholdCurve], measure: str, documents: int, width: int | None = None) -> str:
    """A table for each system."""
    head = curves[0]
    blocks = [f"{_head(head, documents)}, scores in percent"]
    blocks += [f"{_scored(curve)}\n{aligned(_rows(curve, measure), width=width)}" for curve in curves]
    blocks.append(f"oracle: the best {measure} of all thresholds tried, chosen on this very corpus")
    return _page(blocks, head.signature, width)


def _head(head: ThresholdCurve | ScoredAnswers | AlphaCurve | CategoryCurve, documents: int) -> str:
    return f"{head.corpus}, {counted(documents, 'document')}: {convention(head.signature, head.view)}"


def _page(blocks: Sequence[str], signature: Signature, width: int | None) -> str:
    layout = layout_of(None, width)
    return wrapped("\n\n".join([*blocks, layout.signed(signature)]) + "\n", width)


def display(curve: ThresholdCurve, layout: str) -> str:
    """One curve at some thresholds."""
    drawn, measure = LAYOUTS[layout], "micro.f1"
    head = f"{curve.corpus}, {curve.view}; {_scored(curve)}; scores in percent"
    said = f"oracle: the best {measure} of all thresholds tried, chosen on this very corpus"
    return drawn.page([head, drawn.draw(list(_rows(curve, measure)), {0}), said, str(curve.signature)])


def frame(curve: ThresholdCurve) -> Arrow:
    """A row for each threshold."""
    return curve.table


def _scored(curve: ThresholdCurve) -> str:
    """How many of the answers that count have a score."""
    weights = curve.curve.weights
    answers, unscored = (int(weights[row, :2].sum()) for row in (-1, 0))
    rest = "; the others always count" if unscored else ""
    return f"{curve.run}: {answers - unscored} of {answers} answers that count have a score{rest}"


def _rows(curve: ThresholdCurve, measure: str) -> Iterator[tuple[str, ...]]:
    """The best threshold, all answers, and a coarse curve."""
    scores = {short: curve.curve.values(short) for short in family(measure)}
    best, reach = oracle_of(curve, measure), reach_of([curve])

    def row(name: str, threshold: Threshold) -> tuple[str, ...]:
        sign = ">" if threshold.strict else ">="
        at = _UNDEFINED if threshold.at is None else f"{sign} {threshold.at:.6g}"
        return name, at, *(_percent(values[curve.curve.place(threshold)]) for values in scores.values())

    yield "", "score", *scores
    if best is not None:
        yield row("oracle", best.threshold)
    yield row("all answers", Threshold())
    for step in range(_STEPS + 1):
        at = (reach.low * (_STEPS - step) + reach.high * step) / _STEPS
        yield row("", Threshold(at, curve.sweep.strict))


def coverage_page(systems: Sequence[ScoredAnswers], documents: int, width: int | None = None) -> str:
    """The areas, and for each system the risk once at least so many tenths of its answers are kept."""
    head = systems[0]
    areas = [[system.run, f"{system.aurc:.4f}", f"{system.excess_aurc:.4f}"] for system in systems]
    blocks = [
        f"{_head(head, documents)}, risk and coverage in percent",
        aligned([["", "AURC", "excess AURC"], *areas], width=width),
        *(f"{_kept(system)}\n{aligned(_risks(system), width=width)}" for system in systems),
        "coverage: the share of scored answers kept, from the highest score on; risk: the share of these that is wrong",
    ]
    return _page(blocks, head.signature, width)


def _kept(system: ScoredAnswers) -> str:
    scored = len(system.scores)
    rest = "; the others are left out" if scored < system.answers else ""
    return f"{system.run}: {scored} of {system.answers} answers that count have a score{rest}"


def _risks(system: ScoredAnswers) -> Iterator[tuple[str, ...]]:
    """The first points that keep a tenth, two tenths, … of the answers; equal scores are kept together."""
    found, size = system.coverage, len(system.scores)
    yield "coverage", "score", "risk"
    # In whole answers: 0.1 times 30 is a little more than 3.
    for place in np.unique(np.searchsorted(found.kept * _STEPS, np.arange(1, _STEPS + 1) * size)).tolist():
        yield _percent(found.coverage[place]), f">= {found.score[place]:.6g}", _percent(found.risk[place])


def alpha_page(curves: Sequence[AlphaCurve], measure: str, documents: int, width: int | None = None) -> str:
    """The scores at some values of alpha, and who leads from where to where."""
    head, alpha = curves[0], np.linspace(0, 1, _STEPS + 1)
    one = len(curves) == 1
    columns = (
        {says: head.values(short, alpha) for short, says in FUZZY.items()}
        if one
        else {curve.run: curve.values(measure, alpha) for curve in curves}
    )
    what = f"scores of {head.run}" if one else FUZZY[measure]
    rows = [[f"{at:.1f}", *(_percent(values[row]) for values in columns.values())] for row, at in enumerate(alpha)]
    blocks = [
        f"{_head(head, documents)}, {what} in percent, membership {head.preset}",
        aligned([["alpha", *columns], *rows], width=width),
    ]
    if not one:
        found = reigns(curves, measure)
        blocks.append("\n".join(f"{low:.3f} to {high:.3f}: {_lead(runs)}" for low, high, runs in found))
    return _page(blocks, head.signature, width)


def _lead(runs: Sequence[str]) -> str:
    return f"{' and '.join(runs)} lead{'s' * (len(runs) == 1)}" if runs else "nobody leads"


def category_page(curves: Sequence[CategoryCurve], documents: int, width: int | None = None) -> str:
    """The scores after some numbers of combinations, and the best one of each system."""
    head = curves[0]
    says, size = CUMULATIVE[head.measure], len(head.combinations)
    steps = sorted({1, *range(_STEPS, size, _STEPS), size} - {0})
    rows = [[f"{step}", *(_percent(curve.values()[step - 1]) for curve in curves)] for step in steps]
    whole = f"All: {counted(int(head.mentions[-1]) if size else 0, 'mention')}{_left_out(head.left_out)}"
    best = ["\n".join(f"best of {curve.run}: {first}" for first in curve.combinations[:1]) for curve in curves]
    blocks = [
        f"{_head(head, documents)}, {says} in percent, best categories first",
        aligned([["combinations", *(curve.run for curve in curves)], *rows], width=width),
        "\n".join([whole, *best]),
    ]
    return _page(blocks, head.signature, width)


def _left_out(counts: Mapping[str, int]) -> str:
    return f"; left out: {', '.join(f'{what} {count}' for what, count in counts.items())}" if counts else ""


def _percent(value: float) -> str:
    return _UNDEFINED if value != value else f"{100 * value:.1f}"
