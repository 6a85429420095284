"""Charts of results: the scores of a run with their intervals."""

from __future__ import annotations

from karat.model.errors import UnknownNameError, UsageError
from karat.model.results.result import Result
from karat.render.charts.dots import Dot, dot_chart
from karat.render.charts.drawing import Spec, SystemOrigin, describe_measure, describe_settings


def plot(result: Result, kind: str | None) -> Spec:
    """Draw a dot per score that tables show; if `kind` names a facet, the scores by that facet.

    Raise `UnknownNameError` if the result has no such facet, and `UsageError` if no score is defined.
    """
    if kind is not None and kind not in result.groups:
        raise UnknownNameError("facet of this result", kind, result.groups)
    dots = _list_score_dots(result) if kind is None else _list_group_dots(result, kind)
    if not dots:
        raise UsageError("no score is defined, so there is nothing to draw.")
    origin = SystemOrigin(result.signature, result.corpus, result.run)
    title = f"{result.corpus}: scores of {result.run}" + (f" by {kind}" if kind else "")
    confidence = f"{100 * (result.confidence or 0.95):g} %"
    description = (
        f"Lines: {confidence} intervals." if result.intervals else "No intervals: pass `resamples` to get them."
    )
    return dot_chart(
        dots,
        list(dict.fromkeys(dot.system for dot in dots)),
        [origin],
        title,
        [description, describe_settings(origin)],
        axis=kind or "measure",
    )


def _list_score_dots(result: Result) -> list[Dot]:
    """Return a dot per defined score in the result's table."""
    defined = [(name, value) for name in result.table_measures if (value := result[name]) is not None]
    return [
        Dot(describe_measure(name), result.run, value, *result.intervals.get(name, (None, None)))
        for name, value in defined
    ]


def _list_group_dots(result: Result, facet: str) -> list[Dot]:
    """Return dots of precision, recall, F1 and error rate per group of a facet, in the first view."""
    shorts = {"micro.p": "precision", "micro.r": "recall", "micro.f1": "F1", "micro.error-rate": "error rate"}
    groups = next(iter(result.groups[facet].values()), {})
    return [
        Dot(value, title, score, *group.intervals.get(short, (None, None)))
        for value, group in groups.items()
        for short, title in shorts.items()
        if (score := group.measures.get(short)) is not None
    ]
