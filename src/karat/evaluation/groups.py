"""Scores by the values of a label: a fold over verdicts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from karat.evaluation.intervals import Draw, ends, view_intervals
from karat.evaluation.view import View, mean, measure_of, scored, short_names
from karat.matching.read.facets import Facet
from karat.matching.read.pairing import Pairing
from karat.model.name import parse_measure
from karat.model.result import Counted, Group, Scored, counted, fields
from karat.model.statistics import Statistics
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Floats, Longs
from karat.model.verdict import Verdicts
from karat.registry import get
from karat.spec.measure import Measure


class Label(NamedTuple):
    """The values of a label on both sides.

    Unmatched answers are credited to the answer's values, or, if `by_gold`, to those of the mention they met; all else
    to the gold's. A case with several values counts under each.
    """

    name: str
    gold: Facet
    answers: Facet
    by_gold: bool = False


def label_of(pairing: Pairing, name: str) -> Label:
    """A label that labels and answers carry."""
    return Label(name, pairing.facets.of_gold(name), pairing.facets.of_answers(name))


def by_label(
    label: Label, cases: Mapping[str, Verdicts], views: Mapping[str, View], draw: Draw, also: Sequence[str] = ()
) -> dict[str, dict[str, Group]]:
    """The verdicts of each view grouped by a label.

    Where answers carry no such label, precision by it is unknown, and so is F1. Measures that not every view has are
    named in `also`.
    """
    shorts = list(dict.fromkeys([*short_names(detection=False), *also]))
    alike: dict[tuple[bool, bool], list[str]] = {}
    for name, view in views.items():
        alike.setdefault((view.per_item, view.by_gold or label.by_gold), []).append(name)
    found: dict[str, dict[str, Group]] = {}
    for (_, by_gold), members in alike.items():
        summed = cut_cases(label, [cases[name] for name in members], by_gold=by_gold)
        found |= by_cut(label, summed, {name: views[name] for name in members}, shorts, draw)
    return {name: found[name] for name in views}


_Bounds: TypeAlias = Sequence[tuple[int, int]]
"""The first row of each group, and the one behind its last."""


class Cut(NamedTuple):
    """Cases of several views by view, value and document: the weights of each, and where the rows of a value lie."""

    names: list[str]
    document: Longs
    sums: Floats
    present: list[tuple[int, int]]
    bounds: _Bounds


def cut_cases(label: Label, cases: Sequence[Verdicts], *, by_gold: bool) -> Cut:
    """All views at once: a label has few values, and each step takes its time whatever there is to do."""
    gold, answer = (np.concatenate(sides) for sides in ([c.gold for c in cases], [c.answer for c in cases]))
    weights = np.concatenate([c.weights() for c in cases])
    view = np.repeat(np.arange(len(cases)), [len(c) for c in cases])
    document = np.concatenate([c.document for c in cases]).astype(np.int64)
    to_gold, to_answer = weights.copy(), np.zeros_like(weights)
    own_side = (gold < 0) if by_gold else np.ones(len(weights), np.bool_)
    to_answer[own_side, 1], to_gold[own_side, 1] = weights[own_side, 1], 0
    names = sorted({*label.gold.names, *label.answers.names})
    place = {name: code for code, name in enumerate(names)}
    rows: list[tuple[Longs, NDArray[Any]]] = []
    for side, own, share in ((gold, label.gold, to_gold), (answer, label.answers, to_answer)):
        counts = np.flatnonzero((side >= 0) & share.any(axis=1))
        picked = own.lists.take(side[counts])
        case = np.repeat(counts, np.diff(picked.offsets))
        code = np.array([place[name] for name in own.names], np.int64)[picked.values]
        rows.append((((view[case] * len(names) + code) << 32) | document[case], share[case]))
    key, share = (np.concatenate(column) for column in zip(*rows, strict=True))
    keys, group = np.unique(key, return_inverse=True)
    sums: Floats = np.column_stack([np.bincount(group, share[:, i], len(keys)) for i in range(share.shape[1])])
    found, begin = np.unique(keys >> 32, return_index=True)
    bounds = list(zip(begin.tolist(), [*begin[1:].tolist(), len(keys)], strict=True)) if len(found) else []
    return Cut(names, keys & 0xFFFFFFFF, sums, [divmod(each, len(names)) for each in found.tolist()], bounds)


def by_cut(
    label: Label, cut: Cut, views: Mapping[str, View], shorts: list[str], draw: Draw
) -> dict[str, dict[str, Group]]:
    """The scores of each value in views that count alike."""
    reason = None if label.answers.given else f"answers carry no {label.name}: precision by {label.name} is unknown"
    unknown = {
        s: Scored(None, 0, reason)
        for s in shorts
        if reason and not get("measures", s.rpartition(".")[2], Measure).of_gold
    }
    groups: dict[str, dict[str, Group]] = {name: {} for name in views}
    members = list(views.items())
    first = members[0][1]
    found = known_scores(cut.sums, cut.bounds, first, shorts)
    counts = _counted(cut.sums, cut.bounds)
    for (of_view, value), (low, high), known, count in zip(cut.present, cut.bounds, found, counts, strict=True):
        name, view = members[of_view]
        sums = cut.sums[low:high]
        own = View(Statistics(sums), view.empty, part=True, per_item=view.per_item, known=known)
        scores = {short: known.get(short) or own.score(short) for short in shorts}
        groups[name][cut.names[value]] = Group(
            counts=count,
            note=reason,
            intervals=intervals(sums, view, [s for s in shorts if s not in unknown], draw),
            **fields(scores | unknown),
        )
    return groups


def _totals(sums: NDArray[Any], bounds: _Bounds) -> NDArray[Any]:
    return np.add.reduceat(sums, [low for low, _ in bounds]) if bounds else sums


def _counted(sums: Floats, bounds: _Bounds) -> list[Counted]:
    """The sums of each group; whole numbers, as there nearly always are, for all at once."""
    whole = sums.astype(np.int64)
    if np.array_equal(whole, sums):
        return [Counted(*row) for row in _totals(whole, bounds).tolist()]
    return [counted(sums[low:high].sum(axis=0)) for low, high in bounds]


def known_scores(sums: Floats, bounds: _Bounds, view: View, shorts: Sequence[str]) -> list[dict[str, Scored]]:
    """The scores of all groups that are made from statistics, computed for all at once; none of them is empty."""
    found: list[dict[str, Scored]] = [{} for _ in bounds]
    rows = View(Statistics(sums), view.empty, part=True, per_item=view.per_item)
    totals = View(Statistics(_totals(sums, bounds)), view.empty, part=True, per_item=view.per_item)
    for short in shorts:
        measure = measure_of(parse_measure(f"view:{short}"))
        if measure.values is None or measure.aggregates == ():
            continue
        if short.startswith("micro."):
            for known, value, (low, high) in zip(found, totals.at_totals(short).tolist(), bounds, strict=True):
                undefined = math.isnan(value)
                known[short] = Scored(None, 0, measure.undefined) if undefined else Scored(value, high - low)
        else:
            reason = f"in every document {measure.undefined}"
            for known, score in zip(found, _means(rows.per_document(short), bounds, reason), strict=True):
                known[short] = score
    return found


def _means(values: Floats, bounds: _Bounds, reason: str) -> list[Scored]:
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
    part = View(Statistics(weights), view.empty, part=True, per_item=view.per_item, silent=silent)
    return ends(view_intervals(part, shorts, draw))


def by_document(ids: Arrow, view: View) -> dict[str, Group]:
    """The scores of each document by itself."""
    shorts = [short for short in short_names(detection=False) if short.startswith("micro.")]
    rule = view.empty._replace(totals=view.empty.documents, part_totals=view.empty.part_documents)
    return {
        document: Group(
            counts=counted(row),
            **fields(scored(View(Statistics(row[None]), rule, view.part, per_item=view.per_item), shorts)),
        )
        for document, row in zip(ids.to_pylist(), view.statistics.weights, strict=True)
    }
