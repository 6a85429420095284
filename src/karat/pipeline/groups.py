"""Scores by the values of a label: a fold over verdicts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat.matching.facets import Facet, answer_facet, facet
from karat.matching.pairing import Pairing
from karat.model.arrow import Arrow
from karat.model.columns import Floats, Longs
from karat.model.result import Group, Scored, counted, fields
from karat.model.statistics import Statistics
from karat.model.verdict import Verdicts
from karat.pipeline.folds import View, scored, short_names
from karat.registry import get
from karat.spec.measure import Measure


def by_label(pairing: Pairing, label: str, also: Sequence[str] = ()) -> Callable[[Verdicts, View], dict[str, Group]]:
    """How to group the verdicts of this corpus and run by a label.

    Unmatched answers are credited to the answer's values (or, where a relation says so, to those of the mention they
    met), all else to the gold's. A case with several values
    counts under each. Where answers carry no such label, precision by it is unknown, and so is F1. Measures that not
    every view has are named in `also`.
    """
    labels = pairing.labels
    gold, answers = facet(labels, label, labels), answer_facet(pairing.answered, label, labels)
    names = sorted({*gold.names, *answers.names})
    reason = None if answers.given else f"answers carry no {label}: precision by {label} is unknown"
    shorts = list(dict.fromkeys([*short_names(detection=False), *also]))
    return lambda cases, view: _grouped(cases, names, gold, answers, view, reason, shorts)


def _grouped(
    cases: Verdicts,
    names: list[str],
    gold: Facet,
    answers: Facet,
    view: View,
    note: str | None,
    shorts: list[str],
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
    for value, low, high in zip(present.tolist(), begin, np.append(begin, len(keys))[1:], strict=True):
        statistics = Statistics(sums[low:high])
        scores = scored(View(statistics, view.empty, part=True, per_item=view.per_item), shorts) | unknown
        groups[names[value]] = Group(counts=counted(statistics.weights.sum(axis=0)), note=note, **fields(scores))
    return groups


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
