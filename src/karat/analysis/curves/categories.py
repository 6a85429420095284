"""Scores as combinations of categories are added one by one, the best first (fine-grained paper, Figure 4)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
from msgspec.structs import replace
from numpy.typing import NDArray

from karat.analysis.curves.threshold import RunCurve, get_single_view
from karat.data.inputs import GoldInput, PredictionsInput, load_inputs
from karat.evaluation.evaluation import Evaluation
from karat.evaluation.plan import Plan
from karat.evaluation.request import Request
from karat.evaluation.view import View
from karat.kb.protocol import KB
from karat.matching.align.overlap import same_span
from karat.matching.judge.judge import PairCache
from karat.matching.read.facets import facet_names
from karat.matching.read.pairing import Pairing
from karat.matching.weighting.membership import WHOLE
from karat.model.errors import UnknownNameError, UsageError
from karat.model.finegrained_scheme import DIMENSIONS
from karat.model.items import GoldItems, PredictedItems
from karat.model.keywords import check_keywords
from karat.model.output.command_options import format_option
from karat.model.results.result import WeightSums
from karat.model.results.statistics import Statistics
from karat.model.spec.settings.conventions import Alternatives, GoldMentionAlignment, Groups
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import NO_LINK, Bools, Floats, Longs
from karat.model.tables.facet_values import NONE

MEASURES = ("micro.p", "micro.r", "micro.f1")
DIMENSIONS_TOGETHER = "+".join(DIMENSIONS)


@dataclass(frozen=True)
class CategoryCurve(RunCurve):
    """A measure as combinations of categories are added, in the order of their separate scores."""

    measure: str
    """Measure that orders the combinations."""
    combinations: tuple[str, ...]
    """Combinations of categories, the best first."""
    alone: Floats = field(repr=False)
    """The sums of the four `Weights` of each combination separately, one row each."""
    weights: Floats = field(repr=False)
    """The sums of the four `Weights` of each combination and all combinations before it, one row each."""
    view_data: View = field(repr=False)
    """View whose measures are computed."""
    excluded: Mapping[str, int] = field(default_factory=dict)
    """Number of labels in no combination, by reason."""

    def values(self, short: str | None = None, *, alone: bool = False) -> Floats:
        """Return the measure `short` after each combination, or with `alone` of each separately; NaN if undefined.

        `short` is by default the measure that orders the combinations.
        """
        return _compute_measure(self.alone if alone else self.weights, short or self.measure, self.view_data)

    @property
    def mentions(self) -> Longs:
        """Number of mentions in each combination and all before it."""
        counts: Longs = self.weights[:, 2:].sum(axis=1).astype(np.int64)
        return counts

    @property
    def table(self) -> Arrow:
        """One row per combination: its own score, and counts and scores of all combinations up to this one."""
        size = len(self.combinations)
        return pa.table(
            {
                "run": pa.array([self.run] * size),
                "ordered_by": pa.array([self.measure] * size),
                "step": pa.array(range(1, size + 1)),
                "combination": pa.array(self.combinations, pa.string()),
                "alone": pa.array(self.values(alone=True), from_pandas=True),
                "mentions": pa.array(self.mentions),
                **{name: pa.array(self.weights[:, i]) for i, name in enumerate(WeightSums.__struct_fields__)},
                **{short: pa.array(self.values(short), from_pandas=True) for short in MEASURES},
            }
        )


@check_keywords
def category_curve(
    gold: GoldInput,
    predictions: PredictionsInput,
    *,
    measure: str = "micro.f1",
    profile: str = "finegrained",
    settings: Mapping[str, object] | None = None,
    kb: KB | str | os.PathLike[str] | None = None,
    allow_unknown: bool = False,
) -> CategoryCurve:
    """Compute how the scores of a run change as combinations of categories are added, the best first.

    `gold` and `predictions` are each a path, a name from the catalogue, plain dictionaries, or an object.
    Combinations are ordered by `measure` on their mentions alone. Ties are ordered as in the scheme. An undefined score
    counts as 0 in the order. Raises `UsageError` if gold lacks categories or the settings do not suit.
    The setting `match` is the match relation, by default `strong`.
    """
    corpus, run = load_inputs(gold, predictions)
    merged_settings = {"match": "strong", **(settings or {})}
    request = Request.from_options(profile=profile, settings=merged_settings, kb=kb, allow_unknown=allow_unknown)
    return compute_category_curve(Evaluation.from_data(request, corpus, run), measure)


def compute_category_curve(evaluation: Evaluation, measure: str = "micro.f1") -> CategoryCurve:
    """Compute how the scores of an evaluation change as combinations of categories are added; see `category_curve`.

    `measure` orders the combinations.
    """
    if measure not in MEASURES:
        raise UnknownNameError("measure over categories", measure, MEASURES)
    plan = _plan_exact_view(evaluation)
    pairing, size = evaluation.inputs.pairing(plan.source), len(evaluation.inputs.corpus)
    counts = _CombinationCounts(
        *plan.selection.apply(pairing.gold_block(0, size), pairing.prediction_block(0, size)), plan, pairing
    )
    view = replace(plan.view_options, is_partial=True).create_view(Statistics(np.zeros((0, 4))))
    separate = counts.separate_sums()
    score = np.nan_to_num(_compute_measure(separate, measure, view))
    order = np.lexsort((_rank_in_scheme(counts.names), -score))
    names = tuple(counts.names[code] for code in order.tolist())
    return CategoryCurve(
        evaluation.signature,
        evaluation.corpus_name,
        evaluation.run_name,
        str(plan.view),
        measure,
        names,
        separate[order],
        counts.cumulative_sums(order),
        view,
        counts.excluded,
    )


def _plan_exact_view(evaluation: Evaluation) -> Plan:
    """Return the plan of the view of `get_single_view`, which must compare exact spans and links of given mentions.

    Raises `UsageError` otherwise, and unless alternatives are merged, groups are filtered and mentions are unweighted.
    """
    conventions = evaluation.request.conventions
    required = {conventions.alternatives: Alternatives.MERGED, conventions.groups: Groups.FILTERED}
    missing_settings = [f"{type(want).__name__.lower()}={want}" for have, want in required.items() if have is not want]
    missing_settings += [f"membership={WHOLE}"] * (evaluation.request.membership is not None)
    plan = evaluation.plan_view(get_single_view(evaluation.request))
    relation = plan.relation
    compares_exact_links = relation.spans_match is same_span and relation.compares_links and not relation.is_graded
    if (
        missing_settings
        or not compares_exact_links
        or plan.selection.rules.gold_mentions is not GoldMentionAlignment.EXACT
    ):
        hint = f" and {', '.join(missing_settings)}" if missing_settings else ""
        raise UsageError(
            f"a category curve needs the relation strong and given mentions (task d2kb, gold-mentions=exact){hint}. "
            f"Use {format_option('profile', 'finegrained')}."
        )
    return plan


class _CombinationCounts:
    """Mentions of every combination of categories, and which of them have a correct prediction.

    `names` are the combinations. `combination`, `mention` and `is_correct` have one element for each combination that
    occurs on a mention. `predictions` has the number of predictions on each mention. `excluded` counts labels by the
    reason for which they are in no combination.
    """

    def __init__(self, gold: GoldItems, predictions: PredictedItems, plan: Plan, pairing: Pairing) -> None:
        missing = [name for name in DIMENSIONS if name not in facet_names(pairing.labels)]
        if missing:
            raise UsageError(
                f"{pairing.corpus.name} has no categories in {', '.join(missing)}. Assign them: karat data categorise."
            )
        facet = pairing.facets.gold_values(DIMENSIONS_TOGETHER)
        code = facet.lists.values[facet.lists.offsets[:-1]][gold.items.row]
        no_code = len(facet.names)
        if NONE in facet.names:
            code = np.where(code == facet.names.index(NONE), no_code, code)
        skipped = {
            "optional labels": gold.optional,
            "unlinked labels": gold.items.entity == NO_LINK,
            "labels without one category in every dimension": code == no_code,
        }
        self.excluded = {description: int(mask.sum()) for description, mask in skipped.items() if mask.any()}
        rows = np.flatnonzero(~np.logical_or.reduce(list(skipped.values())))
        self.predictions, is_correct = _match_predictions(gold, predictions, plan)
        codes_present, codes = np.unique(code[rows], return_inverse=True)
        self.names = [facet.names[present] for present in codes_present.tolist()]
        pairs, pair_index = np.unique((codes << 32) | gold.mention[rows], return_inverse=True)
        self.combination, self.mention = pairs >> 32, pairs & 0xFFFFFFFF
        self.is_correct = np.bincount(pair_index, is_correct[rows], minlength=len(pairs)) > 0

    def separate_sums(self) -> Floats:
        """Return the sums of the four `Weights` of each combination separately, one row per combination.

        The columns are matched and unmatched predictions, matched and unmatched gold.
        """
        size = len(self.names)
        matched = np.bincount(self.combination, self.is_correct, minlength=size)
        mentions = np.bincount(self.combination, minlength=size)
        predictions = np.bincount(self.combination, self.predictions[self.mention], minlength=size)
        return _to_weight_columns(matched, mentions, predictions)

    def cumulative_sums(self, order: Longs) -> Floats:
        """Return the sums of the four `Weights` of each combination in `order` and all combinations before it.

        `order` are indices into `names`; the result has one row for each. The columns are matched and unmatched
        predictions, matched and unmatched gold. A mention counts from its first combination on, and is matched from its
        first combination with a correct link on.
        """
        step = np.empty(len(order), np.int64)
        step[order] = np.arange(len(order))
        pair_step, n_steps = step[self.combination], len(order)
        first_step, matched_step = (np.full(len(self.predictions), n_steps) for _ in range(2))
        np.minimum.at(first_step, self.mention, pair_step)
        np.minimum.at(matched_step, self.mention[self.is_correct], pair_step[self.is_correct])
        counts = [
            np.cumsum(np.bincount(when, weights, minlength=n_steps + 1)[:n_steps])
            for when, weights in ((matched_step, None), (first_step, None), (first_step, self.predictions))
        ]
        return _to_weight_columns(*counts)


def _to_weight_columns(matched: NDArray[Any], mentions: NDArray[Any], predictions: NDArray[Any]) -> Floats:
    """Return the columns matched and unmatched predictions, matched and unmatched gold, from parallel counts.

    `matched` counts the correctly linked mentions, `mentions` the gold mentions and `predictions` the predictions of
    each row.
    """
    return np.column_stack([matched, predictions - matched, matched, mentions - matched]).astype(np.float64)


def _match_predictions(gold: GoldItems, predictions: PredictedItems, plan: Plan) -> tuple[Longs, Bools]:
    """Return the number of predictions on the span of each mention, and a mask of the correctly predicted labels."""
    pairs = PairCache().find_pairs(gold.items, predictions.items, plan.relation)
    grade = plan.relation.degree
    assert grade is not None, "links are compared"
    is_correct_pair = grade(gold.items, predictions.items, pairs) > 0
    is_correct = np.zeros(len(gold.mention), np.bool_)
    is_correct[pairs.gold[is_correct_pair]] = True
    mention_predictions = np.unique((gold.mention[pairs.gold].astype(np.int64) << 32) | pairs.prediction)
    return np.bincount(mention_predictions >> 32, minlength=len(gold.mention)), is_correct


def _compute_measure(weights: Floats, short: str, view: View) -> Floats:
    """Return the measure `short` for each row of `weights`, sums of the four `Weights`; NaN if undefined.

    Raises `UnknownNameError` for a measure that is not in `MEASURES`.
    """
    if short not in MEASURES:
        raise UnknownNameError("measure over categories", short, MEASURES)
    return view.with_statistics(Statistics(weights)).total_values(short)


def _rank_in_scheme(names: list[str]) -> Longs:
    """Return the rank of each combination in the scheme, whose first dimension varies slowest.

    Unknown ones come last.
    """
    leaves = [[leaf.partition(":")[2] for leaf in dimension.leaves] for dimension in DIMENSIONS.values()]
    rank = {"+".join(names_of_leaves): i for i, names_of_leaves in enumerate(product(*leaves))}
    others = {name: len(rank) + i for i, name in enumerate(sorted(set(names) - rank.keys()))}
    return np.array([rank[name] if name in rank else others[name] for name in names], np.int64)
