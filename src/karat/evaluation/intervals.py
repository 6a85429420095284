"""Intervals of scores: which way each measure has one, and why where it has none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

import numpy as np

from karat.errors import UnknownNameError, UsageError
from karat.evaluation.view import View
from karat.model.tables.columns import Bools, Longs
from karat.stats.samples.additive import Additive, combined
from karat.stats.samples.bootstrap import Interval, checked_level
from karat.stats.samples.intervals import METHODS, Method, intervals
from karat.stats.samples.jackknife import groups, jackknife_interval
from karat.stats.samples.wilson import wilson

Over: TypeAlias = Literal["documents", "cases"]

OVER: Final[tuple[Over, ...]] = ("documents", "cases")
"""What is drawn: documents, with all that is in them, or cases as if each were a document of its own."""

LEAST: Final = 2
"""Groups of documents to leave out, at least."""

_NEAR: Final = 1e-12
"""Scores that differ by no more than rounding are equal."""


class Draw(NamedTuple):
    """How intervals are made: from how many samples (none if 0), which seed, and by what method.

    `recompute` is how often measures that do not add up over documents are computed anew, without one group of
    documents at a time; they have no interval if it is 0.
    """

    resamples: int = 0
    seed: int = 0
    method: Method = "percentile"
    level: float = 0.95
    over: Over = "documents"
    recompute: int = 0

    def checked(self) -> Draw:
        """The same, if it makes sense."""
        checked_level(self.level)
        if self.method not in METHODS:
            raise UnknownNameError("method for intervals", self.method, METHODS)
        if self.over not in OVER:
            raise UnknownNameError("thing to draw for intervals", self.over, OVER)
        if self.resamples < 0 or self.recompute < 0 or self.recompute in range(1, LEAST):
            raise UsageError(
                f"resamples is {self.resamples} and recompute {self.recompute}. Give numbers of samples, and of at "
                f"least {LEAST} groups of documents to leave out."
            )
        return self


def seed_of(seed: int, digest: str) -> int:
    """Where random numbers start for a corpus, whatever else is scored or compared beside it."""
    return int(np.random.SeedSequence((seed, int(digest, 16))).generate_state(1)[0])


class Between(NamedTuple):
    """An interval, or None with the reason."""

    interval: Interval | None
    reason: str | None = None


def view_intervals(view: View | Sequence[View], shorts: Sequence[str], draw: Draw) -> dict[str, Between]:
    """Intervals of measures of a view, or of the means over several views; none for scores that are not defined.

    Measures that are made from the same statistics share the samples.
    """
    views = [view] if isinstance(view, View) else view
    defined = [short for short in shorts if all(each.score(short).value is not None for each in views)]
    if draw.method == "wilson":
        return {short: _wilson(views, short, draw.level) for short in defined}
    scores = {short: _additive(views, short, draw.over) for short in defined}
    made = {short: score for short, score in scores.items() if score is not None}
    drawn = intervals(
        list(made.values()), resamples=draw.resamples, seed=draw.seed, level=draw.level, method=draw.method
    )
    found = {short: _between(interval, draw.over) for short, interval in zip(made, drawn, strict=True)}
    return {short: found.get(short) or _recomputed(views, short, draw) for short in defined}


def _between(interval: Interval | None, over: Over) -> Between:
    if interval is None:
        return Between(None, f"fewer than two {over} add to it")
    if interval.high - interval.low < _NEAR:
        # No error among ten answers does not mean that there are none.
        return Between(None, f"samples of these {over} all give the same, and do not tell how far it could vary")
    return Between(interval)


def _additive(views: Sequence[View], short: str, over: Over) -> Additive | None:
    scores = [view.additive(short) if over == "documents" else view.additive_of_cases(short) for view in views]
    parts = [score for score in scores if score is not None]
    if len(parts) < len(views) or (over == "cases" and len(views) > 1):
        return None
    return parts[0] if len(parts) == 1 else combined(parts, lambda values: values.mean(axis=1))


def _wilson(views: Sequence[View], short: str, level: float) -> Between:
    counts = views[0].part_of(short) if len(views) == 1 else None
    if counts is None:
        return Between(None, "it is no share of whole cases (Wilson's interval is for precision, recall and the like)")
    return Between(wilson(*counts, level))


def _recomputed(views: Sequence[View], short: str, draw: Draw) -> Between:
    """The interval of what does not add up over documents."""
    if draw.over == "cases":
        return Between(None, "it is not made from single cases")
    order, point = views[0].order, np.mean([view.score(short).value or 0.0 for view in views])
    if order is None or any(view.again is None and view.scored_in is None for view in views):
        return Between(None, "it does not add up over documents")
    if not draw.recompute:
        return Between(None, "it does not add up over documents (--recompute 50 computes it anew 50 times)")
    places: Longs = order()
    group = np.empty(len(places), np.int64)
    group[places] = groups(len(places), draw.recompute, draw.seed)
    keeps: list[Bools] = [group != number for number in range(int(group.max(initial=-1)) + 1)]
    without = np.array([np.mean([view.without(short, keep) for view in views]) for keep in keeps])
    found = jackknife_interval(float(point), without, draw.level)
    if found is None:
        return Between(None, "fewer than two groups of documents can be left out")
    return Between(Interval(max(found.low, 0.0), min(found.high, 1.0)))


def ends(found: Mapping[str, Between]) -> dict[str, tuple[float, float]]:
    """The intervals that there are, as pairs of numbers."""
    made = {name: between.interval for name, between in found.items()}
    return {name: (interval.low, interval.high) for name, interval in made.items() if interval is not None}


def without_interval(found: Mapping[str, Between]) -> list[str]:
    """Why measures have no interval, one line for each reason."""
    reasons: dict[str, list[str]] = {}
    for name, between in found.items():
        if between.reason is not None:
            reasons.setdefault(between.reason, []).append(name)
    return [f"no interval for {', '.join(names)}: {reason}" for reason, names in reasons.items()]
