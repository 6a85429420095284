"""Scores by the values of a label: a fold over verdicts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat.errors import UsageError
from karat.matching.facets import Facet, answer_facet, facet
from karat.matching.pairing import Pairing
from karat.model.arrow import Arrow
from karat.model.columns import Floats, Longs
from karat.model.name import parse_measure
from karat.model.result import Group, Scored, counted, fields
from karat.model.statistics import Statistics
from karat.model.verdict import Verdicts
from karat.pipeline.folds import View, mean, measure_of, scored, short_names
from karat.registry import get
from karat.spec.measure import Measure


class Draw(NamedTuple):
    """How many samples of documents intervals are made from, none if 0, and the seed."""

    resamples: int
    seed: str

    @property
    def number(self) -> int:
        """The seed as a number."""
        try:
            return int(self.seed)
        except ValueError:
            raise UsageError(f"seed is {self.seed!r}. Give a whole number.") from None


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
    labels = pairing.labels
    return Label(name, facet(labels, name, labels), answer_facet(pairing.answered, name, labels))


def by_label(label: Label, cases: Verdicts, view: View, draw: Draw, also: Sequence[str] = ()) -> dict[str, Group]:
    """The verdicts of a view grouped by a label.

    Where answers carry no such label, precision by it is unknown, and so is F1. Measures that not every view has are
    named in `also`.
    """
    gold, answers = label.gold, label.answers
    names = sorted({*gold.names, *answers.names})
    reason = None if answers.given else f"answers carry no {label.name}: precision by {label.name} is unknown"
    shorts = list(dict.fromkeys([*short_names(detection=False), *also]))
    if label.by_gold:
        view = replace(view, by_gold=True)
    return _grouped(cases, names, gold, answers, view, reason, shorts, draw)


def _grouped(
    cases: Verdicts,
    names: list[str],
    gold: Facet,
    answers: Facet,
    view: View,
    note: str | None,
    shorts: list[str],
    draw: Draw,
) -> dict[str, Group]:
    place = {name: code for code, name in enumerate(names)}
    weights = cases.weights()
    to_gold, to_answer = weights.copy(), np.zeros_like(weights)
    own_side = (cases.gold < 0) if view.by_gold else np.ones(len(weights), np.bool_)
    to_answer[own_side, 1], to_gold[own_side, 1] = weights[own_side, 1], 0
    rows: list[tuple[Longs, Longs, NDArray[Any]]] = []
    for side, own, share in ((cases.gold, gold, to_gold), (cases.answer, answers, to_answer)):
        counts = np.flatnonzero((side >= 0) & share.any(axis=1))
        picked = own.lists.take(side[counts])
        case = np.repeat(counts, np.diff(picked.offsets))
        code = np.array([place[name] for name in own.names], np.int64)[picked.values]
        rows.append((code, cases.document[case].astype(np.int64), share[case]))
    code, document, share = (np.concatenate(column) for column in zip(*rows, strict=True))
    keys, group = np.unique((code << 32) | document, return_inverse=True)
    sums: Floats = np.column_stack([np.bincount(group, share[:, i], len(keys)) for i in range(share.shape[1])])
    present, begin = np.unique(keys >> 32, return_index=True)
    unknown = {
        s: Scored(None, 0, note) for s in shorts if note and not get("measures", s.rpartition(".")[2], Measure).of_gold
    }
    groups = {}
    end = np.append(begin, len(keys))[1:]
    found = _known(sums, begin, end, view, shorts)
    for value, low, high, known in zip(present.tolist(), begin, end, found, strict=True):
        statistics = Statistics(sums[low:high])
        scores = scored(View(statistics, view.empty, part=True, per_item=view.per_item, known=known), shorts) | unknown
        groups[names[value]] = Group(
            counts=counted(statistics.weights.sum(axis=0)),
            note=note,
            intervals=intervals(sums[low:high], view, [s for s in shorts if s not in unknown], draw),
            **fields(scores),
        )
    return groups


def _known(sums: Floats, begin: Longs, end: Longs, view: View, shorts: Sequence[str]) -> list[dict[str, Scored]]:
    """The scores of all groups that are made from statistics, computed for all at once."""
    found: list[dict[str, Scored]] = [{} for _ in begin]
    rows = View(Statistics(sums), view.empty, part=True, per_item=view.per_item)
    totals = replace(rows, statistics=Statistics(np.add.reduceat(sums, begin) if len(begin) else sums))
    for short in shorts:
        measure = measure_of(parse_measure(f"view:{short}"))
        if measure.values is None or measure.aggregates == ():
            continue
        if short.startswith("micro."):
            for known, value, low, high in zip(found, totals.at_totals(short).tolist(), begin, end, strict=True):
                undefined = math.isnan(value)
                known[short] = Scored(None, 0, measure.undefined) if undefined else Scored(value, int(high - low))
        else:
            values = rows.per_document(short)
            for known, low, high in zip(found, begin, end, strict=True):
                known[short] = mean(values[low:high], f"in every document {measure.undefined}")
    return found


def intervals(weights: Floats, view: View, shorts: Sequence[str], draw: Draw) -> dict[str, tuple[float, float]]:
    """Intervals of micro scores; documents in which a value does not occur are drawn like all others."""
    if not draw.resamples:
        return {}
    others = np.zeros((len(view.statistics) - len(weights), weights.shape[1]))
    part = View(Statistics(np.concatenate([weights, others])), view.empty, part=True, per_item=view.per_item)
    found = {s: part.interval(s, draw.resamples, draw.number) for s in shorts if s.startswith("micro.")}
    return {short: (between.low, between.high) for short, between in found.items() if between is not None}


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
