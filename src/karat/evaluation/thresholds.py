"""Scores at every threshold, computed exactly with one sort, and the best threshold.

A view is a match relation with filters, such as `strong[nil]`. A block is a part of the documents with the responses to
them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from karat.evaluation.plan import Plan
from karat.evaluation.view import View
from karat.matching.judge.judge import PairCache, check_trials, find_contested_documents
from karat.matching.read.pairing import Pairing
from karat.model.errors import UsageError
from karat.model.items import GoldItems, Items, PredictedItems
from karat.model.limits import get_limit
from karat.model.results.statistics import Statistics
from karat.model.results.verdict import Outcome, Verdicts
from karat.model.spec.settings.conventions import Assignment, GoldMentionAlignment
from karat.model.spec.settings.threshold import STEPS, Sweep, Threshold
from karat.model.tables.columns import NO_LINK, Bools, Floats, Ints, Longs

_MAX_SMALL_KINDS = 16
_TOLERANCE = 1e-12
_MATCH_OUTCOMES = (Outcome.TP, Outcome.WRONG_LINK)


class Steps(msgspec.Struct, frozen=True):
    """Changes of the documents' statistics as the threshold falls."""

    base: Floats
    """Statistics of each document without any scored prediction."""
    document: Ints
    """Document of each step."""
    score: Floats
    """Score at which the step occurs."""
    kind: Longs
    """Index of the step's change in `kinds`."""
    kinds: Floats
    """Distinct changes of the sums of the four `Weights`, one row each."""

    def with_documents(self, document: Ints) -> Steps:
        """Return the steps with other document indices, one per step."""
        return replace(self, document=document)


class Curve(msgspec.Struct, frozen=True):
    """Scores over all thresholds."""

    score: Floats
    """Distinct scores in descending order."""
    weights: Floats
    """Row 0: sums of the predictions without score. Row i: sums if scores of at least `score[i - 1]` are included."""
    steps: Steps
    """Changes from which the curve was built."""
    view: View
    """View whose measures are computed."""

    def row_for(self, threshold: Threshold) -> int:
        """Return the row of `weights` with the sums of the predictions that pass a threshold."""
        min_score = np.nan if threshold.min_score is None else threshold.min_score
        return int(self.rows_for(np.array([min_score]), strict=threshold.is_strict)[0])

    def rows_for(self, min_scores: Floats, *, strict: bool) -> Longs:
        """Return the rows of `weights` for several thresholds; NaN stands for no threshold.

        If `strict`, scores must exceed the threshold, else reach it.
        """
        rows = np.searchsorted(-self.score, -min_scores, side="left" if strict else "right")
        return np.where(np.isnan(min_scores), len(self.score), rows)

    def values(self, short: str) -> Floats:
        """Return a measure, such as `micro.f1` or `macro.p`, for every row of `weights`; NaN if undefined."""
        if short.startswith("micro."):
            return self.view.with_statistics(Statistics(self.weights)).total_values(short)
        return self._sweep_macro_measure(short)

    def _sweep_macro_measure(self, short: str) -> Floats:
        """Return a macro measure for every row of `weights`, by adding up the changes of the documents' values."""
        steps = self.steps
        n_documents = len(steps.base)
        order = np.lexsort((-steps.score, steps.document))
        document, score = steps.document[order], steps.score[order]
        cumulative = np.cumsum(steps.kinds[steps.kind[order]], axis=0)
        is_last = np.ones(len(order), np.bool_)
        is_last[:-1] = (document[1:] != document[:-1]) | (score[1:] != score[:-1])
        document, score, cumulative = document[is_last], score[is_last], cumulative[is_last]
        is_first = np.ones(len(document), np.bool_)
        is_first[1:] = document[1:] != document[:-1]
        preceding = np.concatenate([np.zeros((1, 4)), cumulative[:-1]])
        # Subtract the sums of earlier documents.
        document_sums = (
            cumulative - preceding[np.flatnonzero(is_first)][np.cumsum(is_first) - 1] if len(document) else cumulative
        )
        macro_mask = self.view.macro_mask
        initial = self.view.with_statistics(Statistics(steps.base), macro_mask).document_values(short)
        following = self.view.with_statistics(
            Statistics(steps.base[document] + document_sums), None if macro_mask is None else macro_mask[document]
        ).document_values(short)
        previous = (
            np.where(is_first, initial[document], np.concatenate([[np.nan], following[:-1]]))
            if len(document)
            else following
        )
        change = np.nan_to_num(following) - np.nan_to_num(previous)
        defined = (~np.isnan(following)).astype(np.int64) - (~np.isnan(previous)).astype(np.int64)
        by_score = np.argsort(-score, kind="stable")
        ends = np.searchsorted(-score[by_score], -self.score, side="right")
        sums = np.concatenate([[0.0], np.cumsum(change[by_score])])[np.concatenate([[0], ends])]
        counts = np.concatenate([[0], np.cumsum(defined[by_score])])[np.concatenate([[0], ends])]
        total, n_defined = np.nansum(initial) + sums, int((~np.isnan(initial)).sum()) + counts
        assert len(initial) == n_documents
        means: Floats = np.divide(total, n_defined, out=np.full(len(total), np.nan), where=n_defined > 0)
        return means


class TunedThreshold(NamedTuple):
    """The best threshold and a note about it."""

    threshold: Threshold
    note: str


def sweep_documents(plan: Plan, pairing: Pairing, block: int, grid: int | None) -> Steps:
    """Judge all documents by a plan and return how their statistics change as the threshold falls.

    `block` is the number of documents judged at a time. With `grid`, only thresholds that are multiples of
    `1 / grid` need to be exact.
    """
    return join_steps(
        [
            _find_steps(
                plan,
                pairing.gold_block(first_document, end_document, keep_duplicates=plan.only_neighbours),
                pairing.prediction_block(first_document, end_document, keep_duplicates=plan.only_neighbours),
                first_document,
                end_document,
                grid,
            )
            for first_document, end_document in pairing.blocks(block)
        ]
    )


def join_steps(parts: Sequence[Steps]) -> Steps:
    """Join the steps of consecutive blocks, whose document indices already refer to the whole corpus."""
    kinds = np.cumsum([0, *(len(part.kinds) for part in parts)])
    return Steps(
        np.concatenate([part.base for part in parts]),
        np.concatenate([part.document for part in parts]),
        np.concatenate([part.score for part in parts]),
        np.concatenate([part.kind + offset for part, offset in zip(parts, kinds[:-1], strict=True)]),
        np.concatenate([part.kinds for part in parts]),
    )


def build_curve(steps: Steps, view: View) -> Curve:
    """Return the threshold curve of a view; `view` provides options and documents, `steps` the statistics."""
    score, weights = cumulate_changes(steps.score, steps.kind, steps.kinds)
    return Curve(score, weights + steps.base.sum(axis=0), steps, view)


def cumulate_changes(score: Floats, kind: Longs | Ints, kinds: Floats) -> tuple[Floats, Floats]:
    """Add up changes as the threshold falls; return the distinct scores in descending order, and the sums.

    Each change has a score and a row of `kinds` (index `kind`). The first row of sums is 0; row i includes the changes
    with the i highest distinct scores.
    """
    if len(kinds) < _MAX_SMALL_KINDS:
        return _totals_by_kind(score, kind.astype(np.int8), kinds)
    order = np.argsort(-score)
    ranked, sorted_kind = score[order], kind[order]
    ends = _last_of_runs(ranked)
    sums = np.zeros((len(ends) + 1, 4))
    for column in range(4):
        sums[1:, column] = np.cumsum(kinds[:, column][sorted_kind])[ends]
    return ranked[ends], sums


def _totals_by_kind(score: Floats, kind: NDArray[np.int8], kinds: Floats) -> tuple[Floats, Floats]:
    """Return the same as `cumulate_changes` for few kinds: sort the scores of each kind, then merge them."""
    present = np.flatnonzero(np.bincount(kind, minlength=len(kinds))).tolist()
    parts = [np.sort(-score[kind == code]) for code in present]
    runs = np.concatenate([np.empty(0), *parts])
    order = np.argsort(runs, kind="stable")  # timsort merges runs that are already sorted
    ranked = runs[order]
    ends = _last_of_runs(ranked)
    sums = np.zeros((len(ends) + 1, 4))
    low = 0
    for code, part in zip(present, parts, strict=True):
        is_member = (order >= low) & (order < low + len(part))
        low += len(part)
        count = np.cumsum(is_member, dtype=np.int32)[ends]
        for column in np.flatnonzero(kinds[code]).tolist():
            sums[1:, column] += count * kinds[code, column]
    return -ranked[ends], sums


def _last_of_runs(ranked: Floats) -> Longs:
    """Return the index of the last element of each run of equal values in a sorted array."""
    last = np.ones(len(ranked), np.bool_)
    np.not_equal(ranked[1:], ranked[:-1], out=last[:-1])
    return np.flatnonzero(last)


def select_best_threshold(curve: Curve, view: str, sweep: Sweep, *, is_typed: bool) -> TunedThreshold:
    """Return the candidate threshold of a sweep with the best criterion on a curve, the lowest on ties, with a note.

    `view` names the view in the note. `is_typed`: the view compares types, where GERBIL's sweep drops scores of 0.
    """
    values = curve.values(sweep.criterion)
    candidates = candidate_thresholds(curve, sweep)
    if sweep.needs_positive_type_scores and is_typed:
        candidates[0] = 0.0
    criterion_values = np.nan_to_num(values[curve.rows_for(candidates, strict=sweep.is_strict)], nan=-1.0)
    # Equal F1 may differ in the last digit; a reference tool's ties depend on its own arithmetic.
    tolerance = 0.0 if sweep.needs_positive_type_scores else _TOLERANCE
    best = threshold_at(
        candidates[int(np.flatnonzero(criterion_values >= criterion_values.max() - tolerance)[0])], sweep
    )
    unfiltered_value = values[len(curve.score)]
    best_value = values[curve.row_for(best)]
    if np.isnan(best_value):
        note = f"{view}: oracle threshold: {sweep.criterion} is undefined at every threshold"
    elif best.min_score is None or best_value <= unfiltered_value:
        note = (
            f"{view}: oracle threshold: no threshold gives a better {sweep.criterion} than all predictions "
            f"({unfiltered_value:.4f})"
        )
    else:
        note = (
            f"{view}: oracle threshold: a score {'>' if best.is_strict else '>='} {best.min_score:.6g} gives the best "
            f"{sweep.criterion} on this corpus ({best_value:.4f}; {unfiltered_value:.4f} with all predictions)"
        )
    return TunedThreshold(best, note)


def candidate_thresholds(curve: Curve, sweep: Sweep) -> Floats:
    """Return the thresholds that a sweep tries, in ascending order: a grid from 0 to 1, or all scores of the curve.

    NaN (no threshold) comes first among the scores if scores must exceed the threshold or there are none.
    """
    grid = np.arange(STEPS + 1) / STEPS if sweep.grid == "steps" else curve.score[::-1]
    starts_unfiltered = sweep.grid == "scores" and (sweep.is_strict or not len(grid))
    return np.concatenate([[np.nan], grid]) if starts_unfiltered else grid


def threshold_at(min_score: float, sweep: Sweep) -> Threshold:
    """Return `min_score` as a threshold that is strict if the sweep's are; NaN gives no threshold."""
    return Threshold() if np.isnan(min_score) else Threshold(float(min_score), sweep.is_strict)


def _find_steps(
    plan: Plan, gold: GoldItems, predictions: PredictedItems, first_document: int, end_document: int, grid: int | None
) -> Steps:
    """Judge one block of documents and return its steps; see `sweep_documents`.

    Documents in which predictions are independent are judged once, the others once per score.
    """
    pair_cache = PairCache()
    selected_gold, selected_predictions = plan.selection.apply(gold, predictions)
    needs_rescoring = _find_dependent_documents(
        plan, selected_gold, selected_predictions, pair_cache, first_document, end_document
    )
    simple = steps_from_cases(
        plan.judge(gold, predictions, pair_cache), predictions, first_document, end_document, ~needs_rescoring
    )
    if not needs_rescoring.any():
        return simple
    rescored = _rescore_copies(plan, gold, predictions, np.flatnonzero(needs_rescoring) + first_document, grid)
    base = simple.base.copy()
    base[needs_rescoring] = rescored.base
    return Steps(
        base,
        np.concatenate([simple.document, rescored.document]),
        np.concatenate([simple.score, rescored.score]),
        np.concatenate([simple.kind, rescored.kind + len(simple.kinds)]),
        np.concatenate([simple.kinds, rescored.kinds]),
    )


def _find_dependent_documents(
    plan: Plan,
    gold: GoldItems,
    predictions: PredictedItems,
    pair_cache: PairCache,
    first_document: int,
    end_document: int,
) -> Bools:
    """Return the mask of documents to rescore at each score, as predictions may affect each other's outcomes there.

    Predictions are independent with optimal assignment and only required mentions, and where none compete. Raise
    `UsageError` for assignment by lookup.
    """
    rules = plan.selection.rules
    keeps_longest = rules.keep_longest and plan.relation.is_lenient
    if plan.lookup_tables is not None:
        raise UsageError("assignment=lookup has no threshold curve. Set assignment=optimal, for example.")
    if (
        plan.key is not None
        or rules.gold_mentions is GoldMentionAlignment.BEST_OVERLAP
        or keeps_longest
        or gold.has_segmentations
        or plan.weight_cases is not None
    ):
        return np.ones(end_document - first_document, np.bool_)
    needs_rescoring = np.zeros(end_document - first_document, np.bool_)
    if (
        plan.relation.compares_links and gold.has_unlinked
    ):  # whether a wrong link is on such a span depends on the other predictions
        needs_rescoring[gold.items.document[gold.items.entity == NO_LINK] - first_document] = True
    # With partial credit it matters which mention a prediction matches, not only whether it matches.
    has_full_credit = not plan.relation.is_graded and plan.relation.credit is None
    if plan.assignment is Assignment.OPTIMAL and has_full_credit and not gold.optional.any():
        return needs_rescoring
    needs_rescoring[find_contested_documents(gold, predictions, plan.relation, pair_cache) - first_document] = True
    return needs_rescoring


def steps_from_cases(
    cases: Verdicts, predictions: PredictedItems, first_document: int, end_document: int, simple: Bools
) -> Steps:
    """Return one step per scored prediction of independent documents: its weights, less the miss that it avoids.

    `simple` is the mask of these documents, which are numbered from `first_document`.
    """
    score = np.append(_get_prediction_scores(cases, predictions), np.nan)[cases.prediction_index]
    has_score = ~np.isnan(score)
    if not simple.all():
        has_score &= simple[cases.document - first_document]
    score, document, outcome = score[has_score], cases.document[has_score], cases.outcome[has_score]
    base = cases.document_sums(first_document, end_document)
    outcome_weights = Verdicts.outcome_weights(per_item=cases.is_per_item)
    kinds = outcome_weights - np.where(
        np.isin(np.arange(len(outcome_weights)), _MATCH_OUTCOMES)[:, None], outcome_weights[Outcome.FN], 0.0
    )
    if cases.credit is None:
        scored_counts = np.bincount(
            (document - first_document) * len(kinds) + outcome, minlength=(end_document - first_document) * len(kinds)
        )
        return Steps(base - scored_counts.reshape(-1, len(kinds)) @ kinds, document, score, outcome, kinds)
    change = cases.weights()[has_score] - (outcome_weights - kinds)[outcome]
    for column in range(4):
        base[:, column] -= np.bincount(document - first_document, change[:, column], end_document - first_document)
    kinds, kind = _distinct_changes(change)
    return Steps(base, document, score, kind, kinds)


def _get_prediction_scores(cases: Verdicts, predictions: PredictedItems) -> Floats:
    """Return the score of each prediction that `cases` refers to, in the order of `cases.prediction_rows`."""
    rows = cases.prediction_rows
    if len(rows) == len(predictions.items):  # none was excluded
        return predictions.score
    low = int(predictions.items.row.min(initial=0))
    by_row = np.full(int(predictions.items.row.max(initial=-1)) + 1 - low, np.nan)
    by_row[predictions.items.row - low] = predictions.score
    scores: Floats = by_row[rows - low]
    return scores


def _distinct_changes(change: Floats) -> tuple[Floats, Longs]:
    """Return the distinct rows of `change`, and the index of each row among them."""
    kinds, kind = np.unique(change, axis=0, return_inverse=True)
    return kinds.reshape(-1, 4), kind.reshape(-1)


def _rescore_copies(
    plan: Plan, gold: GoldItems, predictions: PredictedItems, documents: Longs, grid: int | None
) -> Steps:
    """Judge `documents` once for each score that their predictions have, and return how their counts change.

    For each score, a copy of the document has only the predictions with at least this score, or without any. With
    `grid`, scores are rounded down to multiples of `1 / grid`, so there are fewer copies. `plan`: how the view is
    judged.
    """
    gold_documents, prediction_documents = gold.items.document, predictions.items.document  # both are sorted
    gold_rows, prediction_rows, levels, owners = [], [], [], []
    for document in documents.tolist():
        predictions_here = np.arange(
            np.searchsorted(prediction_documents, document),
            np.searchsorted(prediction_documents, document, side="right"),
        )
        gold_here = np.arange(
            np.searchsorted(gold_documents, document), np.searchsorted(gold_documents, document, side="right")
        )
        score = predictions.score[predictions_here]
        distinct_scores = score[~np.isnan(score)]
        if grid is not None:  # scores between two grid points are equivalent
            distinct_scores = np.floor(distinct_scores * grid) / grid
        levels_here = [np.nan, *np.unique(distinct_scores)[::-1].tolist()]
        check_trials(
            gold.items.take(gold_here), predictions.items.take(predictions_here), plan.relation, len(levels_here)
        )
        for level_here in levels_here:
            gold_rows.append(gold_here)
            prediction_rows.append(predictions_here[np.isnan(score) | (score >= level_here)])
            levels.append(level_here)
            owners.append(document)
    sizes = [
        len(gold_here) + len(predictions_here)
        for gold_here, predictions_here in zip(gold_rows, prediction_rows, strict=True)
    ]
    cuts = np.flatnonzero(np.diff(np.cumsum(sizes) // get_limit("pairs"))) + 1  # to limit memory
    weights = np.concatenate(
        [
            _rescore_batch(plan, gold, predictions, gold_rows[low:high], prediction_rows[low:high])
            for low, high in pairwise([0, *cuts.tolist(), len(sizes)])
        ]
    )
    score_level, owner = np.array(levels), np.array(owners, np.int32)
    is_base = np.isnan(score_level)
    change = weights - np.concatenate([weights[:1], weights[:-1]])
    kinds, kind = _distinct_changes(change[~is_base])
    return Steps(weights[is_base], owner[~is_base], score_level[~is_base], kind, kinds)


def _rescore_batch(
    plan: Plan, gold: GoldItems, predictions: PredictedItems, gold_rows: list[Longs], prediction_rows: list[Longs]
) -> Floats:
    """Judge copies of documents and return the sums of the four `Weights`, one row per copy.

    Copy i has the labels `gold_rows[i]` and the predictions `prediction_rows[i]`.
    """
    rows = np.concatenate(prediction_rows)
    copy = np.repeat(np.arange(len(prediction_rows)), [len(part) for part in prediction_rows])
    copied = PredictedItems(_assign_documents(predictions.items.take(rows), copy), predictions.score[rows])
    return plan.judge(_copy_gold(gold, gold_rows), copied, PairCache()).document_sums(0, len(gold_rows))


def _copy_gold(gold: GoldItems, rows_by_copy: list[Longs]) -> GoldItems:
    """Return the labels of each entry's rows as a document of its own; mention ids and parents refer to the copy."""
    rows = np.concatenate(rows_by_copy)
    sizes = np.array([len(part) for part in rows_by_copy])
    shift = np.arange(len(rows)) - rows  # the labels of a document are adjacent, so each copy is shifted as a whole
    parent = gold.parent[rows]
    return GoldItems(
        _assign_documents(gold.items.take(rows), np.repeat(np.arange(len(rows_by_copy)), sizes)),
        gold.mention[rows] + shift,
        np.where(parent < 0, -1, parent + shift),
        gold.optional[rows],
    )


def _assign_documents(items: Items, document: Longs) -> Items:
    """Return the items with other document indices, one per item."""
    return replace(items, document=document.astype(np.int32))
