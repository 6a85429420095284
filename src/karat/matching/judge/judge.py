"""Verdicts from match candidates: segment, assign and judge. Pure functions of one block of documents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from karat.matching.align.assignment import Edges, Preferences, assign, choose_first_in_file, choose_preferred
from karat.matching.align.overlap import Join, divide_documents
from karat.matching.align.segmentation import choose_segmentation
from karat.matching.judge.match_candidates import MatchCandidates, candidates_from_pairs, find_crowded_candidates
from karat.matching.judge.policy import OUTCOMES, GoldState, PredictionState
from karat.model.items import GoldItems, Items, Pairs, PredictedItems
from karat.model.limits import get_limit, limit_error
from karat.model.results.verdict import Outcome, SegmentationTree, Verdicts, merge_block_verdicts
from karat.model.spec.relation import MatchRelation
from karat.model.spec.settings.conventions import Assignment
from karat.model.tables.columns import NO_LINK, Bools, Floats, Ints, Longs

_Result = TypeVar("_Result")


class _Cases(NamedTuple):
    """Rows of the verdict table, as indexes into the block; -1 is none."""

    label: Longs
    prediction: Longs
    outcome: Ints


class PairCache:
    """Cache of the pairs in one block, shared by all views of the same items."""

    def __init__(self) -> None:
        # Entries hold their items, so that a comparison by identity remains valid.
        self._entries: list[tuple[tuple[object, ...], Items, Items, Any]] = []

    def find_pairs(self, gold: Items, predictions: Items, relation: MatchRelation) -> Pairs:
        """Return all pairs at the same location under `relation`; cached. Raise `InputError` if there are too many."""
        find, spans_match = relation.find_pairs, relation.spans_match
        candidates = self.find_few_pairs(gold, predictions, relation)
        if candidates is None:
            candidates = self.get_or_compute((find, "all"), gold, predictions, lambda: find(gold, predictions))
        if spans_match is None:
            return candidates
        return self.get_or_compute(
            (find, spans_match),
            gold,
            predictions,
            lambda: candidates.select(spans_match(gold, predictions, candidates)),
        )

    def find_few_pairs(self, gold: Items, predictions: Items, relation: MatchRelation) -> Pairs | None:
        """Return the pairs of `relation.find_pairs`, or None if there are too many to hold at once; cached."""
        find = relation.find_pairs
        return self.get_or_compute(
            (find,),
            gold,
            predictions,
            lambda: (find.find_few if isinstance(find, Join) else find)(gold, predictions),
        )

    def get_or_compute(
        self, key: tuple[object, ...], gold: Items, predictions: Items, compute: Callable[[], _Result]
    ) -> _Result:
        """Return the result of `compute`, cached under `key` for these item objects (by identity)."""
        for cached_key, cached_gold, cached_predictions, result in self._entries:
            if cached_key == key and cached_gold is gold and cached_predictions is predictions:
                return cast("_Result", result)
        result = compute()
        self._entries.append((key, gold, predictions, result))
        return result


def judge_block(
    gold: GoldItems,
    predictions: PredictedItems,
    relation: MatchRelation,
    assignment: Assignment,
    cache: PairCache,
    segment_by: MatchRelation | None = None,
) -> Verdicts:
    """Match the labels and predictions of a block under `relation` and `assignment`, and return all verdicts.

    `segment_by` is the relation that chooses segmentations, by default `relation` itself. Crowded blocks are judged a
    few documents at a time, which bounds the memory.
    """
    parts = _split_block(gold, predictions, relation, cache)
    judged = [_judge_part(part, relation, assignment, segment_by) for part in parts]
    if len(parts) == 1:
        return judged[0]
    rows = ((part.label_rows, part.prediction_rows) for part in parts)
    return merge_block_verdicts(judged, list(rows), gold.items.row, predictions.items.row)


class _BlockPart(NamedTuple):
    """Some documents of a block, with the rows of their labels and predictions in the block."""

    gold: GoldItems
    predictions: PredictedItems
    cache: PairCache
    label_rows: Longs
    prediction_rows: Longs

    def find_candidates(
        self, relation: MatchRelation, preferences: Preferences, *, is_optimal: bool
    ) -> MatchCandidates:
        """Return the match candidates of these documents under `relation`.

        In crowded documents, with `is_optimal`, only those that an optimal assignment by `preferences` needs.
        """
        gold, predictions = self.gold.items, self.predictions.items
        if self.cache.find_few_pairs(gold, predictions, relation) is None:
            candidates = find_crowded_candidates(self.gold, predictions, relation, preferences, is_optimal=is_optimal)
            if candidates is not None:
                return candidates
        return candidates_from_pairs(
            self.gold, predictions, relation, self.cache.find_pairs(gold, predictions, relation)
        )


def _split_block(
    gold: GoldItems, predictions: PredictedItems, relation: MatchRelation, cache: PairCache
) -> list[_BlockPart]:
    """Return the whole block as one part, or several parts if it has more pairs than are held at once."""
    join = relation.find_pairs
    whole = [_BlockPart(gold, predictions, cache, np.arange(0), np.arange(0))]
    if isinstance(join, Join) and cache.find_few_pairs(gold.items, predictions.items, relation) is not None:
        return whole

    def find() -> list[tuple[Longs, Longs, Items, PairCache]]:
        pairs = _count_pairs(gold.items, predictions.items, relation)
        parts = divide_documents(gold.items, predictions.items, pairs) if int(pairs.sum()) > get_limit("pairs") else []
        return [
            (label_rows, prediction_rows, predictions.items.take(prediction_rows), PairCache())
            for label_rows, prediction_rows in parts
        ]

    parts = cache.get_or_compute((_split_block, join), gold.items, predictions.items, find)
    if len(parts) <= 1:
        return whole
    return [
        _BlockPart(
            _take_documents(gold, label_rows),
            PredictedItems(items, predictions.score[prediction_rows]),
            part_cache,
            label_rows,
            prediction_rows,
        )
        for label_rows, prediction_rows, items, part_cache in parts
    ]


def _count_pairs(gold: Items, predictions: Items, relation: MatchRelation) -> Longs:
    """Return an upper bound of the number of pairs in each document."""
    if isinstance(relation.find_pairs, Join):
        return relation.find_pairs.count_pairs(gold, predictions)
    count = 1 + int(max(gold.document.max(initial=-1), predictions.document.max(initial=-1)))
    return np.bincount(gold.document, minlength=count) * np.bincount(predictions.document, minlength=count)


def check_trials(gold: Items, predictions: Items, relation: MatchRelation, n_trials: int) -> None:
    """Raise `InputError` if judging a document `n_trials` times exceeds the limit `trials`.

    `gold` and `predictions` are the items of the document.
    """
    items = len(gold) + len(predictions)
    if n_trials * (len(gold) * len(predictions) + items) <= get_limit("trials"):
        return
    work = n_trials * (int(_count_pairs(gold, predictions, relation).sum()) + items)
    if work > get_limit("trials"):
        raise limit_error(
            "trials",
            f"document number {int(predictions.document[0]) + 1:,}",
            f"{n_trials:,} thresholds that need a new assignment each: {work:,} pairs, labels and predictions in total",
            "Round the scores, set a threshold, or use assignment=optimal",
        )


def _take_documents(gold: GoldItems, rows: Longs) -> GoldItems:
    """Return the labels `rows`, sorted and of whole documents, with mentions and parents renumbered."""
    parent = gold.parent[rows]
    return GoldItems(
        gold.items.take(rows),
        np.searchsorted(rows, gold.mention[rows]),
        np.where(parent < 0, -1, np.searchsorted(rows, parent)),
        gold.optional[rows],
        gold.is_merged,
    )


def _judge_part(
    part: _BlockPart, relation: MatchRelation, assignment: Assignment, segment_by: MatchRelation | None
) -> Verdicts:
    """Judge one part of a block and return the verdicts; see `judge_block`."""
    gold, predictions = part.gold, part.predictions
    state = _gold_states(gold, relation)
    preferences = Preferences(
        gold.items, predictions.items, predictions.score, state == GoldState.REQUIRED, relation.is_graded
    )
    candidates = part.find_candidates(relation, preferences, is_optimal=assignment is Assignment.OPTIMAL)
    segment_matches = candidates.matches
    if segment_by is not None and gold.has_segmentations:
        segment_matches = part.find_candidates(segment_by, preferences, is_optimal=False).matches
    in_play, parts_by_root = choose_segmentation(gold, segment_matches.label)
    matches = candidates.matches if in_play is None else candidates.matches.take(in_play[candidates.matches.label])
    edges = _closest_labels(matches, gold, preferences)
    if assignment in _SHARED_ASSIGNMENTS:
        matched, (case_edges, outcome) = edges, _SHARED_ASSIGNMENTS[assignment](edges, state, preferences)
    else:
        matched = case_edges = edges.take(assign(edges, preferences, assignment))
        outcome = OUTCOMES[state[matched.label], PredictionState.CORRECT]
    earned = _compute_credit(case_edges, gold.items, predictions.items, relation)
    if earned is not None:  # a pair at the same location that earns nothing is wrong
        outcome = np.where((outcome == Outcome.TP) & ~earned.any(axis=1), Outcome.WRONG_LINK, outcome)
    wrong = _find_wrong_links(candidates, matched, in_play, gold, preferences)
    matched_cases = _Cases(case_edges.label, case_edges.prediction, outcome)
    cases = _add_unmatched(matched_cases, matched, wrong, candidates, gold, predictions, state, in_play)
    tree = None
    if parts_by_root:
        cases, tree = _count_roots_by_parts(cases, parts_by_root, gold, state, matched)
    credit = None
    if earned is not None:
        credit = np.ones((len(cases.label), 2))
        credit[: len(case_edges)] = earned
    # Every case has a label or a prediction; index -1 reads the appended entry, which is not used then.
    gold_document = np.append(gold.items.document, -1)[cases.label]
    document = np.where(cases.label >= 0, gold_document, np.append(predictions.items.document, -1)[cases.prediction])
    return Verdicts(
        document,
        cases.outcome,
        cases.label,
        cases.prediction,
        gold.items.row,
        predictions.items.row,
        credit,
        relation.credit is not None,
        tree,
    )


def _compute_credit(edges: Edges, gold: Items, predictions: Items, relation: MatchRelation) -> Floats | None:
    """Return the credit of each pair for precision and recall (two columns); None if all pairs are fully correct."""
    if relation.credit is not None:
        return relation.credit(gold, predictions, Pairs(edges.label, edges.prediction))
    if not relation.is_graded:
        return None
    degree = edges.degree.astype(np.float64)
    return np.column_stack([degree, degree])


def find_contested_documents(
    gold: GoldItems, predictions: PredictedItems, relation: MatchRelation, cache: PairCache
) -> Ints:
    """Return the indices of documents in which a prediction or a mention could be matched with several others."""
    documents = [gold.items.document[:0]]
    for part in _split_block(gold, predictions, relation, cache):
        no_mask = np.zeros(len(part.gold.mention), np.bool_)
        preferences = Preferences(
            part.gold.items, part.predictions.items, part.predictions.score, no_mask, relation.is_graded
        )
        edges = _unique_edges(part.find_candidates(relation, preferences, is_optimal=False).matches)
        shared = (np.bincount(edges.mention)[edges.mention] > 1) | (np.bincount(edges.prediction)[edges.prediction] > 1)
        documents.append(part.gold.items.document[edges.label[shared]])
    return np.unique(np.concatenate(documents))


def _unique_edges(edges: Edges) -> Edges:
    """Return the first edge for each pair of a mention and a prediction, since alternatives are one mention."""
    ends = edges.mention * (int(edges.prediction.max(initial=0)) + 1) + edges.prediction
    return edges.take(np.sort(np.unique(ends, return_index=True)[1]))


def _closest_labels(edges: Edges, gold: GoldItems, preferences: Preferences) -> Edges:
    """Return one edge for each pair of a mention and a prediction: that of the most preferred alternative.

    If the label that represents the mention, its literal sense, has an edge of the same degree and span, it is taken.
    """
    if not gold.has_alternatives or not len(edges):
        return edges
    key = edges.mention * (len(preferences.predictions) + 1) + edges.prediction
    sorted_key = np.sort(key)
    if (sorted_key[1:] != sorted_key[:-1]).all():  # no pair has two edges
        return edges
    chosen = choose_preferred(edges, preferences, key)
    representatives = np.flatnonzero(edges.label == edges.mention)
    if len(representatives):
        representatives = representatives[np.argsort(key[representatives], kind="stable")]
        keys = key[representatives]
        index = np.minimum(np.searchsorted(keys, key[chosen]), len(keys) - 1)
        others = representatives[index]
        is_better = (keys[index] == key[chosen]) & (edges.degree[others] == edges.degree[chosen])
        first, second, items = edges.label[others], edges.label[chosen], gold.items
        is_better &= (items.start[first] == items.start[second]) & (items.end[first] == items.end[second])
        is_better &= items.entity[first] != items.entity[second]  # else the order in the file would decide
        chosen = np.where(is_better, others, chosen)
    return edges.take(np.sort(chosen))


def _gold_states(gold: GoldItems, relation: MatchRelation) -> Ints:
    """Return the `GoldState` of each label.

    If links are compared, a mention is unlinked if one of its alternatives is.
    """
    state = np.where(gold.optional, GoldState.OPTIONAL, GoldState.REQUIRED).astype(np.int32)
    if relation.compares_links and gold.has_unlinked:
        is_unlinked = np.zeros(len(state), np.bool_)
        is_unlinked[gold.mention[gold.items.entity == NO_LINK]] = True
        state[is_unlinked[gold.mention]] = GoldState.UNLINKED
    return state


def _assign_membership(edges: Edges, state: Ints, preferences: Preferences) -> tuple[Edges, Ints]:
    """Count every prediction that matches any mention and every mention that any prediction matches, each once.

    Return the edges that become cases, and their outcomes; `state` is the `GoldState` of each label.
    """
    by_prediction = choose_preferred(edges, preferences, edges.prediction)
    by_mention = choose_preferred(edges, preferences, edges.mention)
    counts_both = np.zeros(len(by_prediction), np.bool_)
    counts_both[choose_preferred(edges.take(by_prediction), preferences, edges.mention[by_prediction])] = True
    others = by_mention[~np.isin(edges.mention[by_mention], edges.mention[by_prediction])]
    rows = np.concatenate([by_prediction, others])
    outcome = OUTCOMES[state[edges.label[rows]], PredictionState.CORRECT]
    counted_outcome = np.where(counts_both, Outcome.TP, Outcome.MATCHED_PREDICTION)
    counted_outcome = np.concatenate([counted_outcome, np.full(len(others), Outcome.MATCHED_GOLD)]).astype(np.int32)
    return edges.take(rows), np.where(outcome == Outcome.TP, counted_outcome, outcome)


def _assign_predictions(edges: Edges, state: Ints, preferences: Preferences) -> tuple[Edges, Ints]:
    """Count every prediction that matches any mention, for precision and recall; further mentions are ignored.

    Return the edges that become cases, and their outcomes; `state` is the `GoldState` of each label.
    """
    by_prediction = choose_preferred(edges, preferences, edges.prediction)
    by_mention = choose_preferred(edges, preferences, edges.mention)
    others = by_mention[~np.isin(edges.mention[by_mention], edges.mention[by_prediction])]
    outcome = OUTCOMES[state[edges.label[by_prediction]], PredictionState.CORRECT]
    rows = np.concatenate([by_prediction, others])
    return edges.take(rows), np.concatenate([outcome, np.full(len(others), Outcome.IGNORED)]).astype(np.int32)


def _assign_first(edges: Edges, state: Ints, preferences: Preferences) -> tuple[Edges, Ints]:
    """Match each mention with the first matching prediction in the file, and count each of these predictions once.

    Return the edges that become cases, and their outcomes; `state` is the `GoldState` of each label. Further mentions
    and predictions that match are ignored.
    """
    by_mention = choose_first_in_file(edges, preferences, edges.mention)
    first_use = by_mention[choose_first_in_file(edges.take(by_mention), preferences, edges.prediction[by_mention])]
    repeated_use = np.setdiff1d(by_mention, first_use)
    spare = choose_first_in_file(edges, preferences, edges.prediction)
    spare = spare[~np.isin(edges.prediction[spare], edges.prediction[first_use])]
    outcome = OUTCOMES[state[edges.label[first_use]], PredictionState.CORRECT]
    ignored = np.full(len(repeated_use) + len(spare), Outcome.IGNORED)
    return edges.take(np.concatenate([first_use, repeated_use, spare])), np.concatenate([outcome, ignored]).astype(
        np.int32
    )


_SHARED_ASSIGNMENTS: dict[Assignment, Callable[[Edges, Ints, Preferences], tuple[Edges, Ints]]] = {
    Assignment.MEMBERSHIP: _assign_membership,
    Assignment.PREDICTIONS: _assign_predictions,
    Assignment.FIRST: _assign_first,
}
"""Assignments in which a prediction may match several mentions, and a mention several predictions."""


def _find_wrong_links(
    candidates: MatchCandidates, matched: Edges, in_play: Bools | None, gold: GoldItems, preferences: Preferences
) -> Edges:
    """Assign the remaining predictions to remaining mentions at their location: a wrong link is one case, not two.

    `matched` are the correct pairs, and `in_play` marks the labels that the segmentation chose. Return the wrong pairs.
    """
    is_taken = np.zeros(len(gold.mention), np.bool_)
    is_taken[matched.mention] = True
    labels = ~is_taken[gold.mention] if in_play is None else in_play & ~is_taken[gold.mention]
    free = np.ones(len(preferences.predictions), np.bool_)
    free[matched.prediction] = False
    edges = _closest_labels(candidates.find_mismatches(labels, free), gold, preferences)
    return edges.take(assign(edges, preferences, Assignment.OPTIMAL))


def _add_unmatched(
    matched_cases: _Cases,
    matched: Edges,
    wrong: Edges,
    candidates: MatchCandidates,
    gold: GoldItems,
    predictions: PredictedItems,
    state: Ints,
    in_play: Bools | None,
) -> _Cases:
    """Return the matched cases, followed by the wrong links, the missed mentions and the spurious predictions.

    `matched` are the correct pairs, `wrong` the wrong links, `state` the `GoldState` of each label, and `in_play` marks
    the labels that the segmentation chose.
    """
    missing = np.ones(len(gold.mention), np.bool_)
    if gold.has_alternatives:
        missing &= gold.mention == np.arange(len(gold.mention))
    if in_play is not None:
        missing &= in_play
    missing[matched.mention] = False
    missing[wrong.mention] = False
    spare = np.ones(len(predictions.items), np.bool_)
    spare[matched.prediction] = False
    spare[wrong.prediction] = False
    if predictions.items.is_outside is not None:  # they count only if they match a mention
        spare &= ~predictions.items.is_outside
    labels, extra = np.flatnonzero(missing), np.flatnonzero(spare)
    prediction_gold_state = np.full(len(predictions.items), GoldState.NONE)
    if gold.has_unlinked:  # any number of predictions may be on an unlinked span
        is_unlinked = state == GoldState.UNLINKED
        prediction_gold_state[
            candidates.find_predictions_at(is_unlinked if in_play is None else in_play & is_unlinked)
        ] = GoldState.UNLINKED
    return _Cases(
        np.concatenate([matched_cases.label, wrong.label, labels, np.full(len(extra), -1)]),
        np.concatenate([matched_cases.prediction, wrong.prediction, np.full(len(labels), -1), extra]),
        np.concatenate(
            [
                matched_cases.outcome,
                OUTCOMES[state[wrong.label], PredictionState.WRONG],
                OUTCOMES[state[labels], PredictionState.NONE],
                OUTCOMES[prediction_gold_state[extra], PredictionState.WRONG],
            ]
        ),
    )


def _count_roots_by_parts(
    cases: _Cases, parts_by_root: dict[int, tuple[int, ...]], gold: GoldItems, state: Ints, matched: Edges
) -> tuple[_Cases, SegmentationTree]:
    """Add a case for each mention that is scored by its parts: found if no required part is missing.

    Return all cases, in which the parts themselves no longer count unless they are wrong, and their segmentations.
    """
    matched_mentions = set(matched.mention.tolist())
    roots = np.array(list(parts_by_root), np.int64)
    complete = [
        all(mention in matched_mentions or state[mention] != GoldState.REQUIRED for mention in mentions)
        for mentions in parts_by_root.values()
    ]
    outcome = OUTCOMES[state[roots], np.where(complete, PredictionState.CORRECT, PredictionState.NONE)]
    part_mentions = [mention for mentions in parts_by_root.values() for mention in mentions]
    is_part = (cases.label >= 0) & np.isin(gold.mention[cases.label], part_mentions)
    is_wrong = (cases.outcome == Outcome.WRONG_LINK) | (cases.outcome == Outcome.FP)
    part_outcome = np.where(is_part, np.where(is_wrong, Outcome.FP, Outcome.PART), cases.outcome)
    new_cases = _Cases(
        np.concatenate([cases.label, roots]),
        np.concatenate([cases.prediction, np.full(len(roots), -1)]),
        np.concatenate([part_outcome, outcome]).astype(np.int32),
    )
    tree = SegmentationTree(
        is_counted=np.append(np.ones(len(is_part), np.bool_), np.zeros(len(roots), np.bool_)),
        is_part=np.append(is_part, np.zeros(len(roots), np.bool_)),
        own_outcome=np.append(cases.outcome, np.full(len(roots), Outcome.IGNORED)).astype(np.int32),
    )
    return new_cases, tree
