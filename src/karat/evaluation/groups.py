"""Scores by the values of a facet, from the sums of each value.

A view is a match relation with filters, such as `strong[nil]`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

import numpy as np

from karat.evaluation.cases.errors import CategoryCounts
from karat.evaluation.cases.grouped_sums import GroupedSums
from karat.evaluation.measures import default_short_names, parse_short_measure
from karat.evaluation.score_intervals import IntervalOptions, group_intervals, to_bounds, view_intervals
from karat.evaluation.view import View, mean_score, total_score
from karat.matching.read.facet_titles import unknown_value_error
from karat.model.errors import UnknownNameError, UsageError
from karat.model.measure_name import MeasureName
from karat.model.results.result import GroupScores, Score, WeightSums, to_score_fields, to_weight_sums
from karat.model.spec.facet import Facet
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Floats
from karat.model.tables.facet_values import NONE

Groups: TypeAlias = dict[str, dict[str, dict[str, GroupScores]]]
"""Scores by facet, view and value."""

_RATES = ("micro.error-rate", "macro.error-rate")
Bounds: TypeAlias = Sequence[tuple[int, int]]
"""First row of each group, and the row after its last."""


def group_by_value(
    facet: str,
    grouped_sums: Mapping[str, GroupedSums],
    views: Mapping[str, View],
    interval_options: IntervalOptions,
    extra_shorts: Sequence[str],
    *,
    has_predictions: bool,
) -> dict[str, dict[str, GroupScores]]:
    """Return the scores of each value of a facet, by view and value.

    `grouped_sums` has the sums of cases by value and document for each view. `extra_shorts` are measures to compute
    besides the default ones. Without `has_predictions`, predictions have no values of the facet, so precision and F1
    are unknown.
    """
    shorts = list(dict.fromkeys([*default_short_names(detection=False), *extra_shorts]))
    reason = None if has_predictions else f"predictions have no {facet}: precision by {facet} is unknown"
    unknown_scores = {
        s: Score(None, 0, reason) for s in shorts if reason and not parse_short_measure(s)[1].is_gold_only
    }
    by_kind: dict[bool, list[str]] = {}
    for name, view in views.items():
        by_kind.setdefault(view.options.is_mean_of_items, []).append(name)
    groups: dict[str, dict[str, GroupScores]] = {name: {} for name in views}
    for members in by_kind.values():
        # All views are grouped at once, because the cost per call outweighs the cost per value.
        sums: Floats = np.concatenate([grouped_sums[name].sums for name in members]).astype(np.float64, copy=False)
        starts = np.cumsum([0, *(len(grouped_sums[name].sums) for name in members)]).tolist()
        rows = [
            (name, value, (start + low, start + high))
            for name, start in zip(members, starts[:-1], strict=True)
            for value, (low, high) in zip(grouped_sums[name].names, grouped_sums[name].bounds, strict=True)
        ]
        bounds = [row_bounds for _, _, row_bounds in rows]
        sample_view = views[members[0]]
        scores_by_row = score_groups(
            sample_view.select_cases(sums), sample_view.select_cases(_sum_groups(sums, bounds)), bounds, shorts
        )
        totals = _count_groups(sums, bounds)
        intervals = _compute_all_intervals(
            {name: [sums[low:high] for view_name, _, (low, high) in rows if view_name == name] for name in members},
            views,
            [short for short in shorts if short not in unknown_scores],
            interval_options,
        )
        for (name, value, (low, high)), scores, count, bounds_by_short in zip(
            rows, scores_by_row, totals, intervals, strict=True
        ):
            group_view = views[name].select_cases(sums[low:high], score_cache=scores)
            groups[name][value] = GroupScores(
                counts=count,
                note=reason,
                intervals=bounds_by_short,
                **to_score_fields(group_view.scores(shorts) | unknown_scores),
            )
    return groups


def _sum_groups(sums: Floats, bounds: Bounds) -> Floats:
    """Return the column sums of each group's rows, one row per group."""
    return np.add.reduceat(sums, [low for low, _ in bounds]) if bounds else sums


def _count_groups(sums: Floats, bounds: Bounds) -> list[WeightSums]:
    """Return the `WeightSums` of each group; whole numbers are summed for all groups at once.

    The rows of group i in `sums` are those in the range `bounds[i]`.
    """
    integers = sums.astype(np.int64)
    if np.array_equal(integers, sums):
        totals = np.add.reduceat(integers, [low for low, _ in bounds]) if bounds else integers
        return [WeightSums(*row) for row in totals.tolist()]
    return [to_weight_sums(sums[low:high].sum(axis=0)) for low, high in bounds]


def score_groups(rows: View, totals: View, bounds: Bounds, shorts: Sequence[str]) -> list[dict[str, Score]]:
    """Compute the micro and macro measures among `shorts` for all groups at once; return scores by measure per group.

    `rows` has the documents of all groups one after the other, `bounds` the rows of each group, and `totals` the sums
    of each group. No group may be empty. Measures that do not follow from statistics alone are absent.
    """
    results: list[dict[str, Score]] = [{} for _ in bounds]
    for short in shorts:
        _, measure = parse_short_measure(short)
        if measure.from_statistics is None or measure.aggregates == ():
            continue
        if short.startswith("micro."):
            for group, value, (low, high) in zip(results, totals.total_values(short).tolist(), bounds, strict=True):
                group[short] = total_score(value, measure, high - low)
        else:
            reason = f"in every document {measure.undefined_case}"
            for group, score in zip(results, _average_groups(rows.document_values(short), bounds, reason), strict=True):
                group[short] = score
    return results


def _average_groups(values: Floats, bounds: Bounds, reason: str) -> list[Score]:
    """Return the mean of each group's defined values, or `reason` if it has none; like `mean_score`, but faster."""
    if np.isnan(values).any():
        return [mean_score(values[low:high], reason) for low, high in bounds]
    numbers = values.tolist()
    return [Score(math.fsum(numbers[low:high]) / (high - low), high - low) for low, high in bounds]


def _compute_all_intervals(
    groups: Mapping[str, Sequence[Floats]],
    views: Mapping[str, View],
    shorts: Sequence[str],
    interval_options: IntervalOptions,
) -> Iterator[dict[str, tuple[float, float]]]:
    """Yield the confidence bounds of the scores of all groups, view by view; `groups` has their rows by view."""
    for name, rows in groups.items():
        yield from group_intervals(rows, views[name], shorts, interval_options)


def group_by_document(ids: Arrow, view: View) -> dict[str, GroupScores]:
    """Return the micro scores of each document by document id; `ids` has the ids in the order of the view."""
    shorts = [short for short in default_short_names(detection=False) if short.startswith("micro.")]
    reasons = [parse_short_measure(short)[1].undefined_case for short in shorts]
    split_view, weights = view.split_documents(), view.statistics.weights
    scores = [
        [None if math.isnan(value) else value for value in split_view.total_values(short).tolist()] for short in shorts
    ]
    totals = _count_groups(weights, [(row, row + 1) for row in range(len(weights))])
    return {
        document: GroupScores(
            measures=dict(zip(shorts, values, strict=True)),
            n={short: int(value is not None) for short, value in zip(shorts, values, strict=True)},
            undefined={}
            if None not in values
            else {short: reason for short, reason, value in zip(shorts, reasons, values, strict=True) if value is None},
            counts=counts,
        )
        for document, values, counts in zip(ids.to_pylist(), zip(*scores, strict=True), totals, strict=True)
    }


def group_by_property(
    values: Arrow, view: View, interval_options: IntervalOptions, extra_shorts: Sequence[str]
) -> dict[str, GroupScores]:
    """Return the scores of the documents with each value of a document facet, as if there were no other documents.

    `values` has the value of each document; documents with null form a group of their own. `extra_shorts` are measures
    to compute besides the default ones.
    """
    shorts = list(dict.fromkeys([*default_short_names(detection=view.detection_statistics is not None), *extra_shorts]))
    document_values = values.fill_null(NONE).to_numpy(zero_copy_only=False)
    groups = {}
    for value in sorted(set(document_values)):
        part = view.select_documents(document_values == value)
        interval_shorts = interval_options.select_group_measures(shorts)
        bounds = (
            to_bounds(view_intervals(part, interval_shorts, interval_options)) if interval_options.resamples else {}
        )
        counts = to_weight_sums(part.statistics.weights.sum(axis=0))
        groups[value] = GroupScores(counts=counts, intervals=bounds, **to_score_fields(part.scores(shorts)))
    return groups


def group_by_part(views: Mapping[str, View], interval_options: IntervalOptions) -> dict[str, GroupScores]:
    """Return the scores of filtered views that were matched separately; `views` has the view of each facet value."""
    shorts = list(default_short_names(detection=False))
    return {
        value: GroupScores(
            counts=to_weight_sums(view.statistics.weights.sum(axis=0)),
            intervals=group_intervals([view.statistics.weights], view, shorts, interval_options)[0],
            **to_score_fields(view.scores(shorts)),
        )
        for value, view in views.items()
    }


def score_error_categories(
    category_counts: Mapping[str, CategoryCounts], view: View, interval_options: IntervalOptions
) -> dict[str, GroupScores]:
    """Return the counts and error rates of all error categories in a view, by category."""
    totals = {name: counts.total for name, counts in category_counts.items() if counts.total is not None}
    if not totals:
        return {name: _score_category(counts, None, {}) for name, counts in category_counts.items()}
    # All categories are scored at once, because the cost per call outweighs the cost per document.
    errors = np.array([category_counts[name].errors for name in totals])
    avoided = np.array(list(totals.values())) - errors
    weights = dict(zip(totals, np.stack([avoided, errors, avoided, errors], axis=-1), strict=True))
    views = {name: view.select_cases(rows) for name, rows in weights.items()}
    nonempty, size = [name for name, rows in weights.items() if rows.any()], len(view.statistics)
    if nonempty:
        bounds = [(size * index, size * (index + 1)) for index in range(len(nonempty))]
        rows = np.concatenate([weights[name] for name in nonempty])
        scores_by_category = score_groups(
            view.select_cases(rows), view.select_cases(_sum_groups(rows, bounds)), bounds, _RATES
        )
        for name, scores in zip(nonempty, scores_by_category, strict=True):
            views[name].score_cache.update(scores)
    bounds_by_category = group_intervals([weights[name] for name in nonempty], view, _RATES, interval_options)
    intervals = dict(zip(nonempty, bounds_by_category, strict=True))
    return {
        name: _score_category(counts, views.get(name), intervals.get(name, {}))
        for name, counts in category_counts.items()
    }


def _score_category(
    counts: CategoryCounts, view: View | None, intervals: dict[str, tuple[float, float]]
) -> GroupScores:
    """Return counts and error rates of one error category; `view` counts errors as wrong and avoided ones as correct.

    Without a view or a total, the rates are undefined. `intervals` are the confidence bounds of the rates.
    """
    errors = int(counts.errors.sum()) if counts.is_defined else None
    if view is None or counts.total is None:
        scores = dict.fromkeys(_RATES, Score(None, 0, counts.reason))
        return GroupScores(errors=errors, undecided=counts.undecided, **to_score_fields(scores))
    return GroupScores(
        errors=errors,
        total=int(counts.total.sum()),
        undecided=counts.undecided,
        intervals=intervals,
        **to_score_fields(view.scores(_RATES)),
    )


def check_groups(
    measures: Sequence[MeasureName], groups: Groups, facets: Mapping[str, Facet], views: Mapping[str, View]
) -> None:
    """Raise `UnknownNameError` if a measure of `measures` names a group, or a score of a group, that does not exist.

    Raise `UsageError` if the view of a measure has no scores by its facet. Groups of allowed values that do not occur
    are added to `groups`, scored as empty. `facets` and `views` are by name.
    """
    for name in measures:
        if name.group is None:
            continue
        facet, value = name.group
        if str(name.view) not in groups[facet]:
            raise UsageError(f"{name.view} has no scores by {facet}. Request another view, such as strong.")
        values = groups[facet][str(name.view)]
        if value in facets[facet].allowed_values and str(name.view) in views:
            empty_view = views[str(name.view)].select_cases(np.zeros((1, 4)))
            scores = empty_view.scores(default_short_names(detection=False))
            values.setdefault(value, GroupScores(counts=to_weight_sums(np.zeros(4)), **to_score_fields(scores)))
        if value not in values:
            raise unknown_value_error(facet, value, values)
        if name.short_name not in values[value].measures:
            raise UnknownNameError(f"measure by {facet}", name.short_name, values[value].measures)


_TYPE_FACETS: Final = {
    "types": (
        "type",
        "add types to the predictions, or use --by entity-type with --kb",
        "add types to the predictions, or use --by entity-type",
    ),
    "entity-type": (
        "entity type",
        "pass a knowledge base with types (--kb)",
        "they have no entity, or the knowledge base has no types of it",
    ),
}
"""The facets by type: the singular noun for their values, and the remedies without and with a knowledge base."""

_MIN_UNTYPED_SHARE: Final = 0.1
"""Share of wrong predictions without a known type from which a note says that precision by type is too high."""


def format_untyped_notes(groups: Groups, views: Mapping[str, View], *, has_kb: bool) -> Iterator[str]:
    """Yield notes on views in which many wrong predictions have no known type, so precision by type is too high.

    `has_kb`: whether the user passed a knowledge base.
    """
    for facet, (noun, *remedies) in _TYPE_FACETS.items():
        by_view = groups.get(facet, {})
        views_by_counts: dict[tuple[float, float], list[str]] = {}
        for view, values in by_view.items():
            relation, bracket, _ = view.partition("[")
            if bracket and relation in by_view:  # tables show only the view without filters
                continue
            counts = None if (untyped_group := values.get(NONE)) is None else untyped_group.counts
            untyped = 0 if counts is None else counts.unmatched_predictions
            statistics = views[view].statistics.total()
            wrong = float((statistics.predictions - statistics.matched_predictions).sum())
            if untyped and untyped >= _MIN_UNTYPED_SHARE * wrong:
                views_by_counts.setdefault((untyped, wrong), []).append(view)
        for (untyped, wrong), names in views_by_counts.items():
            yield (
                f"{', '.join(names)}: {untyped:g} of {wrong:g} wrong predictions have no known {noun} and count under "
                f"none, so precision by {facet} is too high: {remedies[has_kb]}"
            )
