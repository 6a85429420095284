"""What is drawn of a dataset: scores over something, how far scores of answers can be trusted, near misses, time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias, TypeVar

import numpy as np
from msgspec.structs import replace

from karat.archive.archive import AnyCurve, Archive, ArchiveEntry
from karat.archive.board import ordered_systems
from karat.archive.shape import CurveLine, CurvesPiece, DrawnChart
from karat.errors import KaratError, UsageError
from karat.model.tables.arrow import Arrow
from karat.pages.curves import AlphaCurveFile, CategoryCurveFile, CoverageCurveFile, ThresholdCurveFile
from karat.stats.calibration import reliability

_POINTS: Final = 240
"""Points of a line, more than a screen tells apart."""

_BINS: Final = 10
_STEPS: Final = 50

_C = TypeVar("_C", ThresholdCurveFile, CoverageCurveFile, AlphaCurveFile, CategoryCurveFile)


class _Drawn(NamedTuple):
    """A system with what charts are drawn from."""

    place: int
    entry: ArchiveEntry
    files: list[AnyCurve]
    cases: Arrow | None


def curves(archive: Archive, key: str) -> CurvesPiece:
    """Charts of a dataset, as far as there is something to draw; of others why there is nothing."""
    systems = ordered_systems(archive)
    entries = sorted(archive.on(key), key=lambda entry: systems.index(entry.system))
    drawn = [
        _Drawn(systems.index(entry.system), entry, archive.curves(entry), archive.verdicts(entry)) for entry in entries
    ]
    charts: list[DrawnChart] = []
    missing: list[tuple[str, str]] = []
    for name, made in CHARTS.items():
        try:
            charts.append(made(archive, key, drawn))
        except KaratError as problem:
            missing.append((name, str(problem)))
    return CurvesPiece(archive.datasets[key].dataset, charts, missing)


def _of(kind: type[_C], over: str, drawn: Sequence[_Drawn]) -> list[tuple[int, _C]]:
    """The curves of a kind, with whose they are; or why there is none."""
    found = [(one.place, file) for one in drawn for file in one.files if isinstance(file, kind)]
    if not found:
        said = dict.fromkeys(one.entry.uncurved[over] for one in drawn if over in one.entry.uncurved)
        raise UsageError(" ".join(said) or "there are results only. Give gold and answers to karat report.")
    return found


def _over_threshold(short: str, said: str) -> Callable[[Archive, str, Sequence[_Drawn]], DrawnChart]:
    def made(_: Archive, __: str, drawn: Sequence[_Drawn]) -> DrawnChart:
        files = _of(ThresholdCurveFile, "threshold", drawn)
        field = f"micro_{short}"
        lines = [_line(place, file.points.threshold, getattr(file.points, field)) for place, file in files]
        says, marked = "Answers with a lower score are left out.", []
        if short == "f1":
            says += " The dot is the best threshold, found on this very data (an oracle)."
            best = [(place, file.oracle) for place, file in files]
            marked = [_line(place, [own.threshold], [own.value]) for place, own in best if own is not None]
        title, name = f"{said} over the threshold", f"{short}-over-threshold"
        return _chart(name, title, says, "score", said, lines, [one for one in marked if one.x])

    return made


def _over_coverage(_: Archive, __: str, drawn: Sequence[_Drawn]) -> DrawnChart:
    files = _of(CoverageCurveFile, "coverage", drawn)
    lines = [_line(place, file.points.coverage, file.points.risk) for place, file in files]
    says = "Answers in the order of their scores: which share of those kept so far is wrong."
    return _chart("risk-over-coverage", "Risk over coverage", says, "coverage", "risk", lines)


def _calibration(_: Archive, __: str, drawn: Sequence[_Drawn]) -> DrawnChart:
    lines, outside = [], []
    for one in drawn:
        scores, right = _scored(one.cases)
        if not len(scores):
            continue
        try:
            found = reliability(scores, right, _BINS)
        except UsageError:  # scores that are no probabilities
            outside.append(one.entry.system)
            continue
        there = np.flatnonzero(found.count)
        lines.append(_line(one.place, found.score[there].tolist(), found.right[there].tolist()))
    if not lines:
        beyond = f"the scores of {', '.join(outside)} are not between 0 and 1, and so no probabilities."
        raise UsageError(beyond if outside else "the answers have no scores.")
    says = f"Answers in {_BINS} bins of their scores: how often they are right. The diagonal is where scores mean that."
    says += f" Left out, as their scores are no probabilities: {', '.join(outside)}." if outside else ""
    chart = _chart("calibration", "Calibration", says, "mean score", "right", lines)
    return replace(chart, diagonal=True)


def _scored(cases: Arrow | None) -> tuple[np.ndarray[tuple[int], np.dtype[np.float64]], ...]:
    """The scores of answers that count, and how right each is."""
    if cases is None:
        return np.zeros(0), np.zeros(0)
    score, right, wrong = (
        np.array(cases.column(name).to_pylist(), np.float64) for name in ("score", "matched_answer", "unmatched_answer")
    )
    kept = ~np.isnan(score) & (right + wrong > 0)
    return score[kept], right[kept] / (right[kept] + wrong[kept])


def _over_alpha(_: Archive, __: str, drawn: Sequence[_Drawn]) -> DrawnChart:
    files = _of(AlphaCurveFile, "alpha", drawn)
    lines = [_line(place, file.points.alpha, file.points.micro_f1) for place, file in files]
    says = "What mentions weigh that are not strict, from nothing to as much as others (fine-grained paper, Figure 5)."
    return _chart("f1-over-alpha", "Fuzzy F1 over alpha", says, "alpha", "fuzzy F1", lines)


def _over_categories(_: Archive, __: str, drawn: Sequence[_Drawn]) -> DrawnChart:
    files = _of(CategoryCurveFile, "categories", drawn)
    lines = [_line(place, file.points.step, file.points.micro_f1) for place, file in files]
    says = "Combinations of categories one after the other, the best first (fine-grained paper, Figure 4)."
    title = "F1 over ever more categories"
    return _chart("f1-over-categories", title, says, "combinations of categories", "F1", lines)


def _relatedness(_: Archive, __: str, drawn: Sequence[_Drawn]) -> DrawnChart:
    lines, known, every = [], 0, 0
    at = np.linspace(0, 1, _STEPS + 1)
    for one in drawn:
        if one.cases is None or "related" not in one.cases.column_names:
            continue
        wrong = sum(outcome == "wrong link" for outcome in one.cases.column("outcome").to_pylist())
        values = np.array([value for value in one.cases.column("related").to_pylist() if value is not None])
        known, every = known + len(values), every + wrong
        if len(values):
            lines.append(_line(one.place, at.tolist(), [float((values >= least).mean()) for least in at]))
    if not lines:
        raise UsageError("of no wrong link anybody can say how related it is to the right one. Give a pack by --kb.")
    says = (
        f"Of the wrong links the share that is at least so related to the right entity, as Milne and Witten measure it "
        f"({known:,} of {every:,} wrong links are known)."
    )
    return _chart("relatedness", "How near wrong links are", says, "relatedness", "share of wrong links", lines)


def _difficulty(archive: Archive, key: str, drawn: Sequence[_Drawn]) -> DrawnChart:
    corpus = archive.corpus(key)
    labels = [] if corpus is None else [label for document in corpus for label in document.labels]
    brackets = sorted({label.difficulty for label in labels if label.difficulty is not None}, key=_numbered)
    if not brackets:
        raise UsageError("no mention of the gold standard says how difficult it is.")
    lines = []
    for one in drawn:
        if one.cases is None:
            continue
        found = {bracket: [0.0, 0.0] for bracket in brackets}
        columns = (one.cases.column(name).to_pylist() for name in ("mention", "matched_gold", "unmatched_gold"))
        for mention, got, missed in zip(*columns, strict=True):
            bracket = None if mention is None else labels[mention].difficulty
            if bracket is not None:
                found[bracket][0] += got
                found[bracket][1] += got + missed
        shares = [got / of if of else None for got, of in found.values()]
        lines.append(_line(one.place, list(range(len(brackets))), shares))
    if not lines:
        raise UsageError("there are results only. Give gold and answers to karat report.")
    says = "The share of mentions that are found, by how difficult the gold standard says they are."
    chart = _chart("difficulty", "Recall by difficulty", says, "difficulty", "recall", lines)
    return replace(chart, form="bars", ticks=brackets)


def _numbered(bracket: str) -> tuple[float, str]:
    """Brackets in the order of the numbers that they begin with."""
    digits = "".join(letter for letter in bracket.split("-")[0] if letter.isdigit())
    return (float(digits) if digits else -1.0, bracket)


def _over_time(archive: Archive, _: str, drawn: Sequence[_Drawn]) -> DrawnChart:
    timed = [one for one in drawn if one.entry.seconds]
    if not timed:
        raise UsageError("no file says how long a system took.")
    measure = timed[0].entry.measure
    points = [_line(one.place, [one.entry.seconds], [archive.result(one.entry)[measure]]) for one in timed]
    says = "What each system took for all documents, on a logarithmic scale, where its files say so."
    chart = _chart("over-time", f"{measure} over time", says, "seconds", measure, [], points)
    return replace(chart, form="points", log=True)


_Made: TypeAlias = Callable[[Archive, str, Sequence[_Drawn]], DrawnChart]

CHARTS: Final[Mapping[str, _Made]] = {
    "f1-over-threshold": _over_threshold("f1", "micro F1"),
    "p-over-threshold": _over_threshold("p", "micro precision"),
    "r-over-threshold": _over_threshold("r", "micro recall"),
    "risk-over-coverage": _over_coverage,
    "calibration": _calibration,
    "f1-over-alpha": _over_alpha,
    "f1-over-categories": _over_categories,
    "relatedness": _relatedness,
    "difficulty": _difficulty,
    "over-time": _over_time,
}
"""All charts, by what they are called in addresses."""


def _chart(
    name: str,
    title: str,
    says: str,
    x: str,
    y: str,
    lines: list[CurveLine],
    marked: list[CurveLine] | None = None,
) -> DrawnChart:
    """A chart of lines between numbers."""
    return DrawnChart(name, title, says, x, y, "line", False, False, [], lines, marked or [])


def _line(system: int, x: Sequence[float | None], y: Sequence[float | None]) -> CurveLine:
    """A line with no more points than a screen tells apart; the first and the last stay."""
    points = [(a, b) for a, b in zip(x, y, strict=True) if a is not None and b is not None]
    step = max(1, len(points) // _POINTS)
    kept = list(_thinned(points, step))
    return CurveLine(system, [round(a, 6) for a, _ in kept], [round(b, 5) for _, b in kept])


def _thinned(points: Sequence[tuple[float, float]], step: int) -> Iterator[tuple[float, float]]:
    yield from points[::step]
    if len(points) % step != 1 and step > 1:
        yield points[-1]
