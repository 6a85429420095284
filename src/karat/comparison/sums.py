"""Scores as functions of sums over documents, of results as well, and what systems detect."""

from __future__ import annotations

from dataclasses import replace
from math import isclose, isnan

from karat.comparison.asked import Asked
from karat.comparison.entries import Entry
from karat.errors import KaratError
from karat.evaluation.request import setting
from karat.evaluation.view import View, measure_of
from karat.matching.judge.judge import Located
from karat.model.name import MeasureName, ViewName, parse_measure
from karat.model.result import Result
from karat.model.statistics import Statistics
from karat.model.tables.columns import Longs
from karat.model.verdict import Verdicts, joined
from karat.registry import get, names
from karat.spec.empty import EMPTY
from karat.spec.relation import Relation
from karat.spec.threshold import Threshold, threshold_of
from karat.stats.samples.additive import Additive


def additive_of(result: Result, measure: str, order: Longs, entry: Entry, asked: Asked) -> Additive | None:
    """How a score follows from sums over documents; None where it does not, or the result does not say enough.

    A result has no more than the sums. Whether they were read in the right way shows in the score.
    """
    name = parse_measure(result.aliases.get(measure, measure))
    known = result.views.get(str(name.view))
    if name.group is not None or known is None:
        return None
    found = _detection(result, name, entry, asked) if measure_of(name).needs_detection else None
    gold_only = known.gold > 0 if result.signature["macro"] == "gold-documents" else None
    value = result.score(measure).value
    for per_item in (False, True):
        empty, part = EMPTY[result.signature["empty"]], bool(name.view.filters)
        view = View(known, empty, part, found=found, per_item=per_item, macro=gold_only)
        try:
            made = view.additive(name.short)
        except (AssertionError, KaratError):  # a measure of something else than sums
            return None
        if made is not None and _equal(made.value, value):
            return made.in_order(order)
    return None


def _detection(result: Result, name: MeasureName, entry: Entry, asked: Asked) -> Statistics | None:
    """What was detected in each document; of a result, what the view of places says."""
    below = detection_of(name.view)
    if entry.corpus is None or below is None:
        return None if below is None else result.views.get(str(below))
    cases = detection(entry, result, name.view, asked)
    return None if cases is None else Statistics(cases.per_document(0, len(entry.corpus)))


def detection(entry: Entry, result: Result, view: ViewName, asked: Asked) -> Verdicts | None:
    """What was detected, as accuracy counts it; None where a view looks at no links or no places, and of results."""
    if detection_of(view) is None or entry.corpus is None or entry.run is None:
        return None
    measure = MeasureName(view, "accuracy")
    todo = setting(
        entry.corpus,
        entry.run,
        like=asked.profile,
        choices=asked.choices,
        measures=[str(measure)],
        kb=asked.kb,
        allow_unknown=asked.allow_unknown,
    )
    rule = threshold_of(todo.table)
    if not isinstance(rule, Threshold):  # the one that was found when scores were made
        rule = Threshold(result.thresholds.get(str(replace(view, filters=()))), rule.strict)
    plans = todo.planner({f"{view.task or ''}/{view.relation}": rule}).plans([measure])
    plan = plans.all[plans.detection[str(view)]]
    pairing = todo.pairing(plan.source)
    return joined(
        [plan.verdicts(pairing.gold(*block), pairing.answers(*block), Located()) for block in pairing.blocks()]
    )


def _equal(one: float, two: float | None) -> bool:
    return isnan(one) if two is None else isclose(one, two, abs_tol=1e-9)


def detection_of(view: ViewName) -> ViewName | None:
    """The view that looks at places only, where a view looks at links at places."""
    if view.relation not in names("relations") and not view.relation.endswith(".py"):
        return None
    relation = get("relations", view.relation, Relation)
    return replace(view, relation=relation.detection) if relation.links and relation.detection is not None else None
