"""Scores by the values of a label, from what was counted under each."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from karat.errors import UnknownNameError
from karat.evaluation.cases.cuts import Cut
from karat.evaluation.cases.errors import Tally
from karat.evaluation.intervals import Draw, ends, view_intervals
from karat.evaluation.measures import short_measure, short_names
from karat.evaluation.view import View, mean, scored_total
from karat.model.name import MeasureName
from karat.model.result import Counted, Group, Scored, counted, fields
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Floats
from karat.model.tables.facet import NONE
from karat.spec.grouping import Grouping

Groups: TypeAlias = dict[str, dict[str, dict[str, Group]]]
"""Scores by label, view and value."""

_RATES = ("micro.error-rate", "macro.error-rate")
Bounds: TypeAlias = Sequence[tuple[int, int]]
"""The first row of each group, and the one behind its last."""


def by_value(
    label: str, cuts: Mapping[str, Cut], views: Mapping[str, View], draw: Draw, also: Sequence[str], *, given: bool
) -> dict[str, dict[str, Group]]:
    """The scores of each value in each view.

    Where answers carry no such label, precision by it is unknown, and so is F1. Measures that not every view has are
    named in `also`.
    """
    shorts = list(dict.fromkeys([*short_names(detection=False), *also]))
    reason = None if given else f"answers carry no {label}: precision by {label} is unknown"
    unknown = {s: Scored(None, 0, reason) for s in shorts if reason and not short_measure(s)[1].of_gold}
    alike: dict[bool, list[str]] = {}
    for name, view in views.items():
        alike.setdefault(view.shape.per_item, []).append(name)
    groups: dict[str, dict[str, Group]] = {name: {} for name in views}
    for members in alike.values():
        # All views at once: there are few values, and each step takes its time whatever there is to do.
        sums: Floats = np.concatenate([cuts[name].sums for name in members]).astype(np.float64, copy=False)
        first = np.cumsum([0, *(len(cuts[name].sums) for name in members)]).tolist()
        rows = [
            (name, value, (start + low, start + high))
            for name, start in zip(members, first[:-1], strict=True)
            for value, (low, high) in zip(cuts[name].names, cuts[name].bounds, strict=True)
        ]
        bounds = [own for _, _, own in rows]
        like = views[members[0]]
        known = known_scores(like.cases_of(sums), like.cases_of(_totals(sums, bounds)), bounds, shorts)
        totals = _counted(sums, bounds)
        for (name, value, (low, high)), scores, count in zip(rows, known, totals, strict=True):
            own = views[name].cases_of(sums[low:high], known=scores)
            groups[name][value] = Group(
                counts=count,
                note=reason,
                intervals=intervals(sums[low:high], views[name], [s for s in shorts if s not in unknown], draw),
                **fields(own.scores(shorts) | unknown),
            )
    return groups


def _totals(sums: Floats, bounds: Bounds) -> Floats:
    return np.add.reduceat(sums, [low for low, _ in bounds]) if bounds else sums


def _counted(sums: Floats, bounds: Bounds) -> list[Counted]:
    """The sums of each group; whole numbers, as there nearly always are, for all at once."""
    whole = sums.astype(np.int64)
    if np.array_equal(whole, sums):
        found = np.add.reduceat(whole, [low for low, _ in bounds]) if bounds else whole
        return [Counted(*row) for row in found.tolist()]
    return [counted(sums[low:high].sum(axis=0)) for low, high in bounds]


def known_scores(rows: View, totals: View, bounds: Bounds, shorts: Sequence[str]) -> list[dict[str, Scored]]:
    """The scores of all groups that are made from statistics, computed for all at once; none of them is empty.

    `rows` shows the documents of all groups one behind the other, and `totals` the sums of each group.
    """
    found: list[dict[str, Scored]] = [{} for _ in bounds]
    for short in shorts:
        _, measure = short_measure(short)
        if measure.values is None or measure.aggregates == ():
            continue
        if short.startswith("micro."):
            for known, value, (low, high) in zip(found, totals.at_totals(short).tolist(), bounds, strict=True):
                known[short] = scored_total(value, measure, high - low)
        else:
            reason = f"in every document {measure.undefined}"
            for known, score in zip(found, _means(rows.per_document(short), bounds, reason), strict=True):
                known[short] = score
    return found


def _means(values: Floats, bounds: Bounds, reason: str) -> list[Scored]:
    """The mean of each group; the same as `mean`, but quick where all values are defined."""
    if np.isnan(values).any():
        return [mean(values[low:high], reason) for low, high in bounds]
    numbers = values.tolist()
    return [Scored(math.fsum(numbers[low:high]) / (high - low), high - low) for low, high in bounds]


def intervals(weights: Floats, view: View, shorts: Sequence[str], draw: Draw) -> dict[str, tuple[float, float]]:
    """Intervals of scores by label; documents in which a value does not occur are drawn like all others."""
    if not draw.resamples:
        return {}
    silent = len(view.statistics) - len(weights)
    return ends(view_intervals(view.cases_of(weights, silent=silent), shorts, draw))


def by_document(ids: Arrow, view: View) -> dict[str, Group]:
    """The scores of each document by itself, computed for all at once."""
    shorts = [short for short in short_names(detection=False) if short.startswith("micro.")]
    reasons = [short_measure(short)[1].undefined for short in shorts]
    apart, weights = view.documents_apart(), view.statistics.weights
    scores = [[None if math.isnan(value) else value for value in apart.at_totals(short).tolist()] for short in shorts]
    totals = _counted(weights, [(row, row + 1) for row in range(len(weights))])
    return {
        document: Group(
            measures=dict(zip(shorts, values, strict=True)),
            n={short: int(value is not None) for short, value in zip(shorts, values, strict=True)},
            undefined={}
            if None not in values
            else {short: why for short, why, value in zip(shorts, reasons, values, strict=True) if value is None},
            counts=counts,
        )
        for document, values, counts in zip(ids.to_pylist(), zip(*scores, strict=True), totals, strict=True)
    }


def by_property(values: Arrow, view: View, draw: Draw, also: Sequence[str]) -> dict[str, Group]:
    """The scores of the documents with each value, as if there were no others."""
    shorts = list(dict.fromkeys([*short_names(detection=view.found is not None), *also]))
    own = values.fill_null(NONE).to_numpy(zero_copy_only=False)
    groups = {}
    for value in sorted(set(own)):
        part = view.of_documents(own == value)
        between = ends(view_intervals(part, shorts, draw)) if draw.resamples else {}
        counts = counted(part.statistics.weights.sum(axis=0))
        groups[value] = Group(counts=counts, intervals=between, **fields(part.scores(shorts)))
    return groups


def by_part(views: Mapping[str, View], draw: Draw) -> dict[str, Group]:
    """The scores of parts of the data, each matched anew, by the value that made them."""
    shorts = list(short_names(detection=False))
    return {
        value: Group(
            counts=counted(view.statistics.weights.sum(axis=0)),
            intervals=intervals(view.statistics.weights, view, shorts, draw),
            **fields(view.scores(shorts)),
        )
        for value, view in views.items()
    }


def rated(tallies: Mapping[str, Tally], view: View, draw: Draw) -> dict[str, Group]:
    """The error rates of all categories in a view."""
    totals = {name: tally.total for name, tally in tallies.items() if tally.total is not None}
    if not totals:
        return {name: _rate(tally, None, draw) for name, tally in tallies.items()}
    # All categories at once: there are few documents, and each step takes its time whatever there is to do.
    errors = np.array([tallies[name].errors for name in totals])
    avoided = np.array(list(totals.values())) - errors
    weights = dict(zip(totals, np.stack([avoided, errors, avoided, errors], axis=-1), strict=True))
    views = {name: view.cases_of(rows) for name, rows in weights.items()}
    filled, size = [name for name, rows in weights.items() if rows.any()], len(view.statistics)
    if filled:
        bounds = [(size * place, size * (place + 1)) for place in range(len(filled))]
        rows = np.concatenate([weights[name] for name in filled])
        known = known_scores(view.cases_of(rows), view.cases_of(_totals(rows, bounds)), bounds, _RATES)
        for name, scores in zip(filled, known, strict=True):
            views[name].known.update(scores)
    return {name: _rate(tally, views.get(name), draw) for name, tally in tallies.items()}


def _rate(tally: Tally, view: View | None, draw: Draw) -> Group:
    errors = int(tally.errors.sum()) if tally.defined else None
    if view is None or tally.total is None:
        scores = dict.fromkeys(_RATES, Scored(None, 0, tally.reason))
        return Group(errors=errors, undecided=tally.undecided, **fields(scores))
    return Group(
        errors=errors,
        total=int(tally.total.sum()),
        undecided=tally.undecided,
        intervals=intervals(view.statistics.weights, view, _RATES, draw),
        **fields(view.scores(_RATES)),
    )


def check_groups(
    wanted: Sequence[MeasureName], groups: Groups, labels: Mapping[str, Grouping], views: Mapping[str, View]
) -> None:
    """Refuse a value that a measure names and that does not occur, unless it could."""
    for name in wanted:
        if name.group is None:
            continue
        label, value = name.group
        there = groups[label].get(str(name.view), {})
        if value in labels[label].possible and str(name.view) in views:
            none = views[str(name.view)].cases_of(np.zeros((1, 4)))
            scores = none.scores(short_names(detection=False))
            there.setdefault(value, Group(counts=counted(np.zeros(4)), **fields(scores)))
        if value not in there:
            raise UnknownNameError(f"value of {label}", value, there)
        if name.short not in there[value].measures:
            raise UnknownNameError(f"measure by {label}", name.short, there[value].measures)


def untyped(groups: Groups) -> Iterator[str]:
    """Where wrong answers count under no type because nobody knows theirs, so that precision by type is too high."""
    for label in ("types", "entity-type"):
        for view, values in groups.get(label, {}).items():
            none = values.get(NONE)
            wrong = 0 if none is None or none.counts is None else none.counts.unmatched_answers
            if wrong and wrong > sum(group.counts.unmatched_answers for group in values.values() if group.counts) / 2:
                yield (
                    f"{view}: {wrong:g} wrong answers have no known {label} and count under none, so that precision by "
                    f"{label} is too high: give types with --kb"
                )
