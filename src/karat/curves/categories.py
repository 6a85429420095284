"""Combinations of categories added one by one, the best first (Figure 4 of the fine-grained paper)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
from msgspec.structs import replace
from numpy.typing import NDArray

from karat.errors import UnknownNameError, UsageError
from karat.evaluation.evaluation import Evaluation
from karat.evaluation.plan import Plan
from karat.evaluation.request import Request
from karat.evaluation.view import View
from karat.kb.protocol import KB
from karat.matching.align.joins import same_span
from karat.matching.judge.judge import Located
from karat.matching.read.facets import label_names
from karat.matching.read.pairing import Pairing
from karat.matching.weigh.membership import WHOLE
from karat.model.corpus import Corpus
from karat.model.items import Answers, Gold
from karat.model.result import Counted
from karat.model.run import Run
from karat.model.scheme import DIMENSIONS
from karat.model.signature import Signature
from karat.model.statistics import Statistics
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import NO_LINK, Bools, Floats, Longs
from karat.model.tables.facet import NONE
from karat.spec.choices.conventions import Alternatives, Given, Groups

MEASURES = ("micro.p", "micro.r", "micro.f1")
DIMENSIONS_TOGETHER = "+".join(DIMENSIONS)


@dataclass(frozen=True)
class CategoryCurve:
    """A measure of ever more of a gold standard: combinations of categories in the order of what each scores alone.

    `alone` and `weights` have one row of sums for each combination: of its own, and of it with all before it.
    `left_out` counts labels that are in no combination.
    """

    signature: Signature
    corpus: str
    run: str
    view: str
    measure: str
    combinations: tuple[str, ...]
    alone: Floats = field(repr=False)
    weights: Floats = field(repr=False)
    shown: View = field(repr=False)
    left_out: Mapping[str, int] = field(default_factory=dict)

    def values(self, short: str | None = None, *, alone: bool = False) -> Floats:
        """A measure after each combination, or of each alone; NaN where it is not defined."""
        return _values(self.alone if alone else self.weights, short or self.measure, self.shown)

    @property
    def mentions(self) -> Longs:
        """How many mentions are in play after each combination."""
        counts: Longs = self.weights[:, 2:].sum(axis=1).astype(np.int64)
        return counts

    @property
    def table(self) -> Arrow:
        """One row for each combination."""
        size = len(self.combinations)
        return pa.table(
            {
                "run": pa.array([self.run] * size),
                "ordered_by": pa.array([self.measure] * size),
                "step": pa.array(range(1, size + 1)),
                "combination": pa.array(self.combinations, pa.string()),
                "alone": pa.array(self.values(alone=True), from_pandas=True),
                "mentions": pa.array(self.mentions),
                **{name: pa.array(self.weights[:, i]) for i, name in enumerate(Counted.__struct_fields__)},
                **{short: pa.array(self.values(short), from_pandas=True) for short in MEASURES},
            }
        )


def category_curve(
    corpus: Corpus,
    run: Run,
    *,
    measure: str = "micro.f1",
    match: str = "strong",
    like: str = "finegrained",
    choices: Mapping[str, str] | None = None,
    kb: KB | None = None,
    allow_unknown: bool = False,
) -> CategoryCurve:
    """The curve of one run; ties go by the order of the scheme, and an undefined score counts as 0 in the order."""
    if measure not in MEASURES:
        raise UnknownNameError("measure over categories", measure, MEASURES)
    given = {**(choices or {}), "match": match}
    request = Request.of(like=like, choices=given, kb=kb, allow_unknown=allow_unknown)
    found = Evaluation.of(request, corpus, run)
    plan = _plan(found)
    pairing, size = found.sides.pairing(plan.source), len(corpus)
    counted = _Counted(*plan.select.of(pairing.gold(0, size), pairing.answers(0, size)), plan, pairing)
    view = replace(plan.shape, part=True).view(Statistics(np.zeros((0, 4))))
    alone = counted.alone()
    score = np.nan_to_num(_values(alone, measure, view))
    order = np.lexsort((_in_scheme(counted.names), -score))
    names = tuple(counted.names[code] for code in order.tolist())
    return CategoryCurve(
        found.signature,
        corpus.name,
        run.name,
        str(plan.view),
        measure,
        names,
        alone[order],
        counted.added(order),
        view,
        counted.left_out,
    )


def _plan(found: Evaluation) -> Plan:
    """The one plan of the curve, where parts are gold standards of their own and answers stand on exact spans."""
    c = found.request.conventions
    needed = {c.alternatives: Alternatives.MERGED, c.groups: Groups.FILTERED}
    other = [f"{type(want).__name__.lower()}={want}" for have, want in needed.items() if have is not want]
    other += [f"membership={WHOLE}"] * (found.request.membership is not None)
    views = [view for view in found.request.views if not view.filters]
    plan = found.plan(views[0])
    relation = plan.relation
    exact = relation.place is same_span and relation.links and not relation.graded
    if other or len(views) != 1 or not exact or plan.select.rules.given is not Given.EXACT:
        more = f" and {', '.join(other)}" if other else ""
        raise UsageError(
            f"a curve over categories needs the relation strong, given mentions (task d2kb, given=exact){more}. "
            "Use --like finegrained."
        )
    return plan


class _Counted:
    """The mentions of every combination, and which of them were found there."""

    def __init__(self, gold: Gold, answers: Answers, plan: Plan, pairing: Pairing) -> None:
        missing = [name for name in DIMENSIONS if name not in label_names(pairing.labels)]
        if missing:
            raise UsageError(
                f"{pairing.corpus.name} has no categories in {', '.join(missing)}. Assign them: karat data categorise."
            )
        facet = pairing.facets.of_gold(DIMENSIONS_TOGETHER)
        code = facet.lists.values[facet.lists.offsets[:-1]][gold.items.row]
        absent = len(facet.names)
        if NONE in facet.names:
            code = np.where(code == facet.names.index(NONE), absent, code)
        skipped = {
            "optional labels": gold.optional,
            "labels without link": gold.items.entity == NO_LINK,
            "labels without one category in every dimension": code == absent,
        }
        self.left_out = {what: int(mask.sum()) for what, mask in skipped.items() if mask.any()}
        here = np.flatnonzero(~np.logical_or.reduce(list(skipped.values())))
        self.answers, hit = _answered(gold, answers, plan)
        present, codes = np.unique(code[here], return_inverse=True)
        self.names = [facet.names[place] for place in present.tolist()]
        pairs, place = np.unique((codes << 32) | gold.unit[here], return_inverse=True)
        self.combination, self.mention = pairs >> 32, pairs & 0xFFFFFFFF
        self.hit = np.bincount(place, hit[here], minlength=len(pairs)) > 0

    def alone(self) -> Floats:
        """The four sums of each combination."""
        size = len(self.names)
        found = np.bincount(self.combination, self.hit, minlength=size)
        mentions = np.bincount(self.combination, minlength=size)
        answers = np.bincount(self.combination, self.answers[self.mention], minlength=size)
        return _sums(found, mentions, answers)

    def added(self, order: Longs) -> Floats:
        """The four sums after each combination of an order: a mention counts from where it comes first, and is found
        from where one of its links is."""
        step = np.empty(len(order), np.int64)
        step[order] = np.arange(len(order))
        at, never = step[self.combination], len(order)
        first, found = (np.full(len(self.answers), never) for _ in range(2))
        np.minimum.at(first, self.mention, at)
        np.minimum.at(found, self.mention[self.hit], at[self.hit])
        counts = [
            np.cumsum(np.bincount(when, weights, minlength=never + 1)[:never])
            for when, weights in ((found, None), (first, None), (first, self.answers))
        ]
        return _sums(*counts)


def _sums(found: NDArray[Any], mentions: NDArray[Any], answers: NDArray[Any]) -> Floats:
    return np.column_stack([found, answers - found, found, mentions - found]).astype(np.float64)


def _answered(gold: Gold, answers: Answers, plan: Plan) -> tuple[Longs, Bools]:
    """How many answers stand on the span of each mention, and which labels one of them is right for."""
    pairs = Located().pairs(gold.items, answers.items, plan.relation)
    grade = plan.relation.degree
    assert grade is not None, "links are compared"
    right = grade(gold.items, answers.items, pairs) > 0
    hit = np.zeros(len(gold.unit), np.bool_)
    hit[pairs.gold[right]] = True
    both = np.unique((gold.unit[pairs.gold].astype(np.int64) << 32) | pairs.answer)
    return np.bincount(both >> 32, minlength=len(gold.unit)), hit


def _values(weights: Floats, short: str, view: View) -> Floats:
    if short not in MEASURES:
        raise UnknownNameError("measure over categories", short, MEASURES)
    return view.counting(Statistics(weights)).at_totals(short)


def _in_scheme(names: list[str]) -> Longs:
    """The rank of each combination in the scheme, of which the first dimension is slowest; unknown ones go last."""
    leaves = [[leaf.partition(":")[2] for leaf in dimension.leaves] for dimension in DIMENSIONS.values()]
    rank = {"+".join(each): place for place, each in enumerate(product(*leaves))}
    others = {name: len(rank) + place for place, name in enumerate(sorted(set(names) - rank.keys()))}
    return np.array([rank[name] if name in rank else others[name] for name in names], np.int64)
