"""Confidence intervals of scores: the method for each measure, or the reason why it has none.

A view is a match relation with filters, such as `strong[nil]`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np

from karat.evaluation.view import View
from karat.model.errors import UnknownNameError, UsageError
from karat.model.results.result import WARNING
from karat.model.tables.columns import Bools, Floats, Longs
from karat.stats.samples.additive import AdditiveScore, combine_scores
from karat.stats.samples.bootstrap import Interval, check_confidence
from karat.stats.samples.confidence_intervals import (
    METHODS,
    RESAMPLES,
    IntervalMethod,
    bootstrap_intervals,
    wilson_interval,
)
from karat.stats.samples.groups import group_bootstrap_intervals
from karat.stats.samples.jackknife import assign_groups, jackknife_interval

CIUnit: TypeAlias = Literal["documents", "cases"]

CI_UNITS: Final[tuple[CIUnit, ...]] = ("documents", "cases")
"""What is resampled: documents with everything in them, or cases as if each were a document."""

MIN_JACKKNIFE_GROUPS: Final = 2
"""Smallest number of jackknife groups."""

_MAX_INFLUENCE: Final = 0.5
"""Share of one document in the variance of a score above which its interval is unreliable."""

_TOLERANCE: Final = 1e-12
"""Scores that differ by less are equal up to rounding."""


class IntervalOptions(NamedTuple):
    """Options of confidence intervals."""

    resamples: int = 0
    """Number of bootstrap samples; 0 for no intervals."""
    seed: int = 0
    """Random seed."""
    method: IntervalMethod = "percentile"
    """Method: `percentile`, `bca` or `wilson`."""
    confidence: float = 0.95
    """Confidence level."""
    ci_unit: CIUnit = "documents"
    """Resampling unit: `documents` or `cases`."""
    jackknife_groups: int = 0
    """Number of groups for measures that do not add up over documents; 0 gives them no interval."""
    group_measures: tuple[str, ...] = ()
    """Short names of the micro measures of groups that have intervals; empty for all measures of groups."""

    @classmethod
    def from_arguments(
        cls,
        *,
        confidence: float | None,
        resamples: int | None,
        method: IntervalMethod | None,
        ci_unit: CIUnit | None,
        jackknife_groups: int | None,
    ) -> IntervalOptions:
        """Create the options from the arguments of a public function: any that is not None asks for intervals.

        Without `resamples`, intervals use the default number of bootstrap samples.
        """
        arguments = {
            "confidence": confidence,
            "resamples": resamples,
            "method": method,
            "ci_unit": ci_unit,
            "jackknife_groups": jackknife_groups,
        }
        values: dict[str, Any] = {name: value for name, value in arguments.items() if value is not None}
        return cls(**{"resamples": RESAMPLES if values else 0, **values})

    def select_group_measures(self, shorts: Sequence[str]) -> list[str]:
        """Return those of the measures `shorts` of groups that have intervals."""
        return [short for short in shorts if not self.group_measures or short in self.group_measures]

    def check(self) -> IntervalOptions:
        """Return the options themselves; raise `UsageError` or `UnknownNameError` if a value is invalid."""
        check_confidence(self.confidence)
        if self.method not in METHODS:
            raise UnknownNameError("interval method", self.method, METHODS)
        if self.ci_unit not in CI_UNITS:
            raise UnknownNameError("resampling unit", self.ci_unit, CI_UNITS)
        if self.resamples < 0 or self.jackknife_groups < 0 or self.jackknife_groups in range(1, MIN_JACKKNIFE_GROUPS):
            raise UsageError(
                f"resamples is {self.resamples} and jackknife_groups {self.jackknife_groups}. "
                f"Pass a number of samples, and at least {MIN_JACKKNIFE_GROUPS} jackknife groups or none."
            )
        return self


def derive_seed(seed: int, digest: str) -> int:
    """Derive from `seed` the random seed of one corpus, given by its digest (hexadecimal)."""
    return int(np.random.SeedSequence((seed, int(digest, 16))).generate_state(1)[0])


class IntervalResult(NamedTuple):
    """An interval, or None with the reason."""

    interval: Interval | None
    reason: str | None = None
    largest_influence: float = 0.0
    """Share of the most influential document in the variance of the score."""


def view_intervals(
    view: View | Sequence[View], shorts: Sequence[str], options: IntervalOptions
) -> dict[str, IntervalResult]:
    """Return the confidence interval of each measure of a view, or of its mean over several views, by short name.

    A measure without an interval has the reason instead; undefined scores are absent. Measures that are computed from
    the same statistics share the resamples.
    """
    views = [view] if isinstance(view, View) else view
    defined = [short for short in shorts if all(component.score(short).value is not None for component in views)]
    if options.method == "wilson":
        return {short: _wilson_interval(views, short, options.confidence) for short in defined}
    scores = {short: _make_additive_score(views, short, options.ci_unit) for short in defined}
    additive = {short: score for short, score in scores.items() if score is not None}
    intervals_drawn = bootstrap_intervals(
        list(additive.values()),
        resamples=options.resamples,
        seed=options.seed,
        confidence=options.confidence,
        method=options.method,
    )
    results = {
        short: to_result(interval, options.ci_unit)._replace(largest_influence=additive[short].largest_influence)
        for short, interval in zip(additive, intervals_drawn, strict=True)
    }
    return {short: results.get(short) or _jackknife_interval(views, short, options) for short in defined}


def group_intervals(
    groups: Sequence[Floats], view: View, shorts: Sequence[str], options: IntervalOptions
) -> list[dict[str, tuple[float, float]]]:
    """Return the confidence bounds of the scores of several groups of cases by measure, as `view_intervals` does.

    `groups` has one row per document of each group. The other documents of `view` are resampled as empty ones. Empty
    if no intervals are requested.
    """
    shorts = options.select_group_measures(shorts)
    if not options.resamples:
        return [{} for _ in groups]
    if not options.group_measures or options.method != "percentile" or options.ci_unit != "documents":
        return [
            to_bounds(
                view_intervals(
                    view.select_cases(rows, n_empty_documents=len(view.statistics) - len(rows)), shorts, options
                )
            )
            for rows in groups
        ]
    # All groups are resampled at once, because the cost per call outweighs the cost per group.
    intervals_by_group = group_bootstrap_intervals(
        groups,
        len(view.statistics),
        [view.select_cases(np.zeros((0, 4))).get_total_scorer(short) for short in shorts],
        resamples=options.resamples,
        seed=options.seed,
        confidence=options.confidence,
    )
    return [
        to_bounds(
            {short: to_result(interval, options.ci_unit) for short, interval in zip(shorts, intervals, strict=True)}
        )
        for intervals in intervals_by_group
    ]


def to_result(interval: Interval | None, ci_unit: CIUnit) -> IntervalResult:
    """Wrap a bootstrap interval; give the reason instead if it is None or has no width."""
    if interval is None:
        return IntervalResult(None, f"it depends on fewer than two {ci_unit}")
    if interval.high - interval.low < _TOLERANCE:
        # No error among ten predictions does not prove that the error rate is zero.
        return IntervalResult(None, f"all samples of these {ci_unit} give the same value, so its variance is unknown")
    return IntervalResult(interval)


def _make_additive_score(views: Sequence[View], short: str, ci_unit: CIUnit) -> AdditiveScore | None:
    """Return a measure, or its mean over `views`, as a function of sums over documents or cases; None if it is not one.

    A mean over several views has none over cases.
    """
    scores = [view.to_additive(short) if ci_unit == "documents" else view.to_case_additive(short) for view in views]
    parts = [score for score in scores if score is not None]
    if len(parts) < len(views) or (ci_unit == "cases" and len(views) > 1):
        return None
    return parts[0] if len(parts) == 1 else combine_scores(parts, lambda values: values.mean(axis=1))


def _wilson_interval(views: Sequence[View], short: str, confidence: float) -> IntervalResult:
    """Return the Wilson interval of a measure that is a proportion of cases in a single view, else the reason."""
    counts = views[0].get_share(short) if len(views) == 1 else None
    if counts is None:
        return IntervalResult(
            None, "it is not a proportion of cases (Wilson's interval is for measures such as precision and recall)"
        )
    return IntervalResult(wilson_interval(*counts, confidence))


def _jackknife_interval(views: Sequence[View], short: str, options: IntervalOptions) -> IntervalResult:
    """Return the jackknife interval, within [0, 1], of a measure that does not add up over documents, or the reason.

    The measure is recomputed without each of `options.jackknife_groups` groups of documents.
    """
    if options.ci_unit == "cases":
        return IntervalResult(None, "it cannot be computed from individual cases")
    order, point = views[0].get_order, np.mean([view.score(short).value or 0.0 for view in views])
    if order is None or any(view.recount is None and view.get_scored_documents is None for view in views):
        return IntervalResult(None, "it does not add up over documents")
    if not options.jackknife_groups:
        return IntervalResult(None, "it does not add up over documents (--jackknife-groups 50 recomputes it 50 times)")
    order_by_id: Longs = order()
    group = np.empty(len(order_by_id), np.int64)
    group[order_by_id] = assign_groups(len(order_by_id), options.jackknife_groups, options.seed)
    masks: list[Bools] = [group != number for number in range(int(group.max(initial=-1)) + 1)]
    values = np.array([np.mean([view.recompute(short, keep) for view in views]) for keep in masks])
    interval = jackknife_interval(float(point), values, options.confidence)
    if interval is None:
        return IntervalResult(None, "there are fewer than two groups of documents to leave out")
    return IntervalResult(Interval(max(interval.low, 0.0), min(interval.high, 1.0)))


def to_bounds(results: Mapping[str, IntervalResult]) -> dict[str, tuple[float, float]]:
    """Return lower and upper bound by name, without the names that have no interval."""
    intervals = {name: result.interval for name, result in results.items()}
    return {name: (interval.low, interval.high) for name, interval in intervals.items() if interval is not None}


def format_missing_intervals(results: Mapping[str, IntervalResult]) -> list[str]:
    """Return one note per reason that names the measures without an interval for this reason."""
    reasons: dict[str, list[str]] = {}
    for name, result in results.items():
        if result.reason is not None:
            reasons.setdefault(result.reason, []).append(name)
    return [f"no interval for {', '.join(names)}: {reason}" for reason, names in reasons.items()]


def format_unreliable_intervals(results: Mapping[str, IntervalResult], ci_unit: CIUnit) -> list[str]:
    """Return a warning that names the measures with an interval whose variance is mostly that of one document."""
    shares = {
        name: result.largest_influence
        for name, result in results.items()
        if result.interval is not None and result.largest_influence > _MAX_INFLUENCE
    }
    if not shares:
        return []
    largest = max(shares.values())
    return [
        f"{WARNING}one of the {ci_unit} causes up to {100 * largest:.0f} % of the variance of {', '.join(shares)}: "
        "other texts can give very different scores, so do not rely on the interval"
    ]
