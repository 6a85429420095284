"""Charts of results: what a run scores, with intervals where there are any."""

from __future__ import annotations

from dataclasses import dataclass

from karat.errors import UnknownNameError, UsageError
from karat.model.result import Result
from karat.model.signature import Signature
from karat.pages.charts.dots import Dot, dotted
from karat.pages.charts.drawing import Spec, chosen, worded


@dataclass(frozen=True, slots=True)
class _Origin:
    """A result, as charts name what they show."""

    signature: Signature
    corpus: str
    run: str
    view: str = ""


def plot(found: Result, kind: str | None) -> Spec:
    """The scores that tables show; or those of the values of a label, by its name."""
    if kind is not None and kind not in found.by:
        raise UnknownNameError("label of this result", kind, found.by)
    dots = _scores(found) if kind is None else _groups(found, kind)
    if not dots:
        raise UsageError("no score is defined, so that there is nothing to draw.")
    origin = _Origin(found.signature, found.corpus, found.run)
    title = f"{found.corpus}: scores of {found.run}" + (f" by {kind}" if kind else "")
    level = f"{100 * (found.interval_level or 0.95):g} %"
    says = f"Lines: {level} intervals." if found.intervals else "Without intervals: score with resamples for them."
    return dotted(
        dots,
        list(dict.fromkeys(dot.system for dot in dots)),
        [origin],
        title,
        [says, chosen(origin)],
        axis=kind or "measure",
    )


def _scores(found: Result) -> list[Dot]:
    defined = [(name, value) for name in found.shown if (value := found[name]) is not None]
    return [Dot(worded(name), found.run, value, *found.intervals.get(name, (None, None))) for name, value in defined]


def _groups(found: Result, label: str) -> list[Dot]:
    """Precision, recall and F1 of every value, in the first view; of an error category its rate."""
    shorts = {"micro.p": "precision", "micro.r": "recall", "micro.f1": "F1", "micro.error-rate": "error rate"}
    groups = next(iter(found.by[label].values()), {})
    return [
        Dot(value, title, score, *group.intervals.get(short, (None, None)))
        for value, group in groups.items()
        for short, title in shorts.items()
        if (score := group.measures.get(short)) is not None
    ]
