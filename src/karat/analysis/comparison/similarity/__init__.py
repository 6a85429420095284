"""Similarity of the systems' predictions, and what systems find alone and together.

A view is a match relation with filters, such as `strong[nil]`.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, combinations
from typing import NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.data.inputs import GoldInput, SystemsInput, load_system_inputs
from karat.evaluation.cases.input_checks import format_input_notes
from karat.evaluation.evaluation import Evaluation
from karat.evaluation.request import Request
from karat.evaluation.view import mean_score
from karat.kb.protocol import KB
from karat.model.corpus import Corpus
from karat.model.errors import UsageError
from karat.model.keywords import check_keywords
from karat.model.measure_name import ViewName
from karat.model.results.result import Score
from karat.model.results.verdict import Verdicts
from karat.model.run import Run
from karat.model.signature import Signature
from karat.model.spec.settings.conventions import Assignment, Duplicates
from karat.model.spec.settings.threshold import Sweep, Threshold
from karat.model.tables import checks
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Bools, Floats, Longs, flatten_mentions

_RELATIONS = "strong,weak,mention-weak,entity"


class PairSimilarity(NamedTuple):
    """Similarity of two systems under one match relation, after BAT's equations 4 and 5."""

    system_a: str
    """First system."""
    system_b: str
    """Second system."""
    relation: str
    """Match relation."""
    macro: Score
    """Mean similarity over documents (equation 4)."""
    micro: Score
    """Similarity over all predictions (equation 5)."""
    only_a: int
    """Number of predictions of `system_a` that `system_b` does not have."""
    correct_a: int
    """Number of these that are correct."""
    only_b: int
    """Number of predictions of `system_b` that `system_a` does not have."""
    correct_b: int
    """Number of these that are correct."""
    documents: Mapping[str, float]
    """Similarity by document id; 1 if both systems predict nothing."""


class JointCoverage(NamedTuple):
    """Gold mentions that several systems find under one match relation."""

    relation: str
    """Match relation."""
    gold: int
    """Number of gold mentions."""
    found_by_any: int
    """Number of mentions that at least one system finds."""
    found_by_all: int
    """Number of mentions that all systems find."""
    missed_by_all: int
    """Number of mentions that no system finds."""
    found_alone: Mapping[str, int]
    """By system, the number of mentions that no other system finds."""
    missed_together: Mapping[tuple[str, str], int]
    """By pair of systems, the number of mentions that both miss."""

    @property
    def oracle_recall(self) -> float | None:
        """Recall of an oracle that selects the best system for each mention; None without gold mentions."""
        return self.found_by_any / self.gold if self.gold else None


@dataclass(frozen=True)
class Similarity:
    """Similarities and joint coverage of several systems on one corpus."""

    def __repr__(self) -> str:
        return f"<Similarity of {', '.join(self.runs)}: {len(self.pairs)} pairs>"

    signature: Signature
    """Signature of the first system's evaluation."""
    runs: tuple[str, ...]
    """Names of the runs."""
    pairs: tuple[PairSimilarity, ...]
    """Similarity of each pair of systems under each match relation."""
    coverage: tuple[JointCoverage, ...]
    """Joint coverage under each match relation."""
    thresholds: Mapping[str, Mapping[str, float | None]]
    """By match relation and system, the threshold above which predictions are compared."""
    oracle: tuple[str, ...] = ()
    """Thresholds that were selected on this corpus."""
    notes: tuple[str, ...] = ()
    """Hints at likely mistakes."""


@check_keywords
def similarity(
    gold: GoldInput,
    systems: SystemsInput,
    *,
    profile: str = "karat",
    settings: Mapping[str, object] | None = None,
    best_threshold: str | None = None,
    kb: KB | str | os.PathLike[str] | None = None,
    allow_unknown: bool = False,
) -> Similarity:
    """Compare the predictions of several systems with each other and with the gold standard.

    `gold` and each of `systems` are a path, a name from the catalogue, plain dictionaries, or an object; `systems` may
    be a mapping from names to predictions.
    All predictions are compared, or with `best_threshold` (such as `oracle-bat-paper`) the predictions above each
    system's best threshold for the relation, as in BAT's Table 9. The setting `match` lists the match relations, by
    default `strong,weak,mention-weak,entity`. `profile`, `settings`, `kb` and `allow_unknown` are as in `evaluate`.
    """
    corpus, runs = load_system_inputs(gold, systems)
    all_settings = {"match": _RELATIONS, **(settings or {})}
    request = Request.from_options(profile=profile, settings=all_settings, kb=kb, allow_unknown=allow_unknown)
    return compute_similarity(corpus, runs, request_similarity(request, best_threshold))


def request_similarity(request: Request, best_threshold: str | None, match: str | None = None) -> Request:
    """Return a request as one that compares systems, by the relations `match` or else by its own, as in `similarity`.

    Raise `UsageError` if `best_threshold` contradicts a threshold of the request.
    """
    threshold = request.overrides.get("threshold", best_threshold)
    if best_threshold is not None and threshold != best_threshold:
        raise UsageError("best_threshold and threshold both set the threshold. Pass one of them.")
    relations = {} if match is None else {"match": match}
    return request.reduce_to(settings={**relations, "threshold": threshold or "none"})


def compute_similarity(corpus: Corpus, runs: Sequence[Run], request: Request) -> Similarity:
    """Compare the predictions of several systems under a request of `request_similarity`."""
    names = [run.name for run in runs]
    if len(runs) < 2 or len(set(names)) < len(names):
        raise UsageError(
            "similarity needs at least two runs with different names. Pass such runs, or a mapping from names."
        )
    evaluations = {run.name: Evaluation.from_data(request, corpus, run) for run in runs}
    views = {
        view.relation: view for view in reversed(request.views)
    }  # for each relation the first view, which has no filters
    for view in views.values():
        if view.filters:
            raise UsageError(f"{view}: similarity compares all annotations. Pass {view.relation} without filters.")
        if next(iter(evaluations.values())).plan_view(view).is_indivisible:
            raise UsageError(f"{view} compares clusters, not annotations. Choose a match relation.")
    reduced_runs = [_ReducedRun.from_evaluation(evaluation) for evaluation in evaluations.values()]
    thresholds: dict[str, dict[str, float | None]] = {}
    oracle: list[str] = []
    selections: dict[ViewName, list[_SelectedRun]] = {}
    matches: dict[ViewName, list[_GoldMatches]] = {}
    for relation, view in reversed(views.items()):
        threshold_by_run = [
            reduced.find_threshold(view, request.conventions.threshold, oracle) for reduced in reduced_runs
        ]
        thresholds[relation] = {
            name: threshold.min_score for name, threshold in zip(names, threshold_by_run, strict=True)
        }
        selections[view] = [
            reduced.select(threshold) for reduced, threshold in zip(reduced_runs, threshold_by_run, strict=True)
        ]
    for index in range(len(names)):
        for view, gold_matches in _match_gold({view: runs[index] for view, runs in selections.items()}).items():
            matches.setdefault(view, []).append(gold_matches)
    pairs: dict[ViewName, list[PairSimilarity]] = {view: [] for view in selections}
    for a, b in combinations(range(len(names)), 2):
        selected = {view: (runs[a], runs[b]) for view, runs in selections.items()}
        shared_a, shared_b = _match_run(selected), _match_run({view: (y, x) for view, (x, y) in selected.items()})
        for view in selected:
            side_a = _PairSide(selected[view][0], shared_a[view], matches[view][a])
            side_b = _PairSide(selected[view][1], shared_b[view], matches[view][b])
            pairs[view].append(_compare_runs(side_a, side_b, view))
    coverage = tuple(
        _count_coverage(view.relation, dict(zip(names, matches[view], strict=True))) for view in selections
    )
    first = next(iter(evaluations.values()))
    return Similarity(
        first.signature,
        tuple(names),
        tuple(chain.from_iterable(pairs.values())),
        coverage,
        thresholds,
        tuple(oracle),
        tuple(
            f"{name}: {note}"
            for name, reduced in evaluations.items()
            for note in format_input_notes(reduced.inputs.pairing(), {})
        ),
    )


@dataclass(frozen=True, eq=False)
class _ReducedRun:
    """A run and its corpus, reduced to plain mentions, so that the run can replace the gold standard of another run."""

    request: Request
    corpus: Corpus
    run: Run

    @classmethod
    def from_evaluation(cls, evaluation: Evaluation) -> _ReducedRun:
        """Reduce the run and corpus of an evaluation: drop document-level entities and, if set, duplicate predictions.

        Raises `UsageError` for tasks that compare triples or combine other tasks.
        """
        conventions = evaluation.request.conventions
        if conventions.task.source == "triples" or conventions.task.parts:
            name = conventions.task_name
            raise UsageError(f"similarity compares annotations or entities, not {name}. Choose another task.")
        pairing = evaluation.inputs.pairing()
        run = replace(pairing.run, table=_drop_tags(pairing.run.table))
        if conventions.duplicates is Duplicates.ONCE:
            is_duplicate = np.zeros(len(run.predictions), np.bool_)
            is_duplicate[checks.find_duplicates(run.predictions)] = True
            run = replace(run, predictions=run.predictions.select(~is_duplicate), n_duplicates=0)
        # Thresholds are applied before predictions are compared.
        request = evaluation.request.replace(
            settings={"threshold": "none"}, measures=evaluation.request.table_measures, allow_unknown=True
        )
        return cls(request, replace(pairing.corpus, table=_drop_tags(pairing.corpus.table)), run)

    @cached_property
    def _selected_runs(self) -> dict[Threshold, _SelectedRun]:
        """The predictions above each threshold that was used."""
        return {}

    def select(self, threshold: Threshold) -> _SelectedRun:
        """Return the predictions above a threshold; the same object for equal thresholds."""
        if threshold not in self._selected_runs:
            self._selected_runs[threshold] = _SelectedRun(
                self.request, self.corpus, _apply_threshold(self.run, threshold)
            )
        return self._selected_runs[threshold]

    def find_threshold(self, view: ViewName, rule: Threshold | Sweep, oracle_notes: list[str]) -> Threshold:
        """Return `rule` if it is a fixed threshold, else the best threshold for `view` on the gold standard.

        In the second case a note is appended to `oracle_notes`. If the sweep finds none, all predictions are included.
        """
        if isinstance(rule, Threshold):
            return rule
        best = self.select(Threshold()).evaluation.find_best_threshold(view, rule)
        if best is None:
            return Threshold()
        oracle_notes.append(f"{self.run.name}, {best.note}")
        return best.threshold


@dataclass(frozen=True, eq=False)
class _SelectedRun:
    """The predictions of a reduced run above a threshold, which all comparisons with other runs share."""

    request: Request
    corpus: Corpus
    run: Run

    @cached_property
    def evaluation(self) -> Evaluation:
        """The evaluation of the predictions on the gold standard."""
        return Evaluation.from_data(self.request, self.corpus, self.run)

    @cached_property
    def as_gold(self) -> Corpus:
        """The corpus with the predictions as gold labels, in place of its own."""
        predictions = self.run.predictions
        lists = pa.ListArray.from_arrays(pa.array(predictions.offsets.astype(np.int32)), predictions.values)
        index = pc.index_in(self.corpus.ids, self.run.ids)
        return replace(self.corpus, labels=flatten_mentions(pa.chunked_array([lists.take(index)])))

    @cached_property
    def rows_as_gold(self) -> Longs:
        """The prediction row of each label of `as_gold`, where predictions are in corpus order, not in file order."""
        index = pc.index_in(self.corpus.ids, self.run.ids).fill_null(-1).to_numpy(zero_copy_only=False)
        offsets = self.run.predictions.offsets
        rows = [np.arange(offsets[p], offsets[p + 1]) for p in index.tolist() if p >= 0]
        return np.concatenate(rows or [np.arange(0)])

    @cached_property
    def document_ids(self) -> list[str]:
        """Ids of the documents of the corpus."""
        ids: list[str] = self.corpus.ids.to_pylist()
        return ids


def _match_gold(selected: Mapping[ViewName, _SelectedRun]) -> dict[ViewName, _GoldMatches]:
    """Match the predictions of a run that each view compares with the gold standard; return masks by view."""
    matches: dict[ViewName, _GoldMatches] = {}
    for views in _group_views(selected):
        selected_run = selected[views[0]]
        evaluation = selected_run.evaluation
        plans = {str(view): evaluation.plan_view(view) for view in views}
        verdicts = evaluation.judge_plans(plans)
        # Systems may match different alternatives of one mention: what counts is the mention.
        mention = evaluation.inputs.pairing().mention_index.mention
        for view in views:
            cases = verdicts[str(view)]
            weights = cases.weights()
            gold, is_found = np.zeros((2, len(selected_run.corpus.labels)), np.bool_)
            correct = np.zeros(len(selected_run.run.predictions), np.bool_)
            with_gold, with_prediction = cases.gold >= 0, cases.prediction >= 0
            gold[mention[cases.gold[with_gold & (weights[:, 2:].sum(axis=1) > 0)]]] = True
            is_found[mention[cases.gold[with_gold & (weights[:, 2] > 0)]]] = True
            correct[cases.prediction[with_prediction & (weights[:, 0] > 0)]] = True
            plan = plans[str(view)]
            if plan.relation.level == "document" and not plan.selection.rules.count_repeated_entities:
                correct = _spread_to_repetitions(correct, evaluation)
            matches[view] = _GoldMatches(gold, is_found, correct)
    return matches


def _spread_to_repetitions(correct: Bools, evaluation: Evaluation) -> Bools:
    """Return the mask of the predictions of a document whose entity a correct prediction of the document has.

    If each entity counts once per document, gold labels and predictions keep another one of several equal entities.
    """
    pairing = evaluation.inputs.pairing()
    offsets = pairing.run.predictions.offsets
    document = np.repeat(np.arange(len(offsets) - 1, dtype=np.int64), np.diff(offsets))
    key = (document << 32) | pairing.prediction_entity
    return np.isin(key, key[correct]) & (pairing.prediction_entity >= 0)


def _match_run(selected: Mapping[ViewName, tuple[_SelectedRun, _SelectedRun]]) -> dict[ViewName, Verdicts]:
    """Match the predictions of a run, as gold labels, with those of another run, and return the verdicts by view.

    A prediction counts as shared if it matches any prediction of the other run. Views with the same thresholds are
    judged together. Only the verdicts on the gold labels describe the first run: profiles ignore some predictions
    because of the gold standard, such as links on unlinked spans.
    """
    verdicts: dict[ViewName, Verdicts] = {}
    for views in _group_views(selected):
        first, second = selected[views[0]]
        evaluation = Evaluation.from_data(first.request, first.as_gold, second.run)
        plans = {
            str(view): msgspec.structs.replace(evaluation.plan_view(view), assignment=Assignment.MEMBERSHIP)
            for view in views
        }
        judged = evaluation.judge_plans(plans)
        verdicts |= {view: judged[str(view)] for view in views}
    return verdicts


def _group_views(selected: Mapping[ViewName, Hashable]) -> list[list[ViewName]]:
    """Return lists of views for which the same predictions were selected."""
    groups: dict[Hashable, list[ViewName]] = {}
    for view, runs in selected.items():
        groups.setdefault(runs, []).append(view)
    return list(groups.values())


def _drop_tags(table: Arrow) -> Arrow:
    """Return the table without document-level entities (column `tags`)."""
    return table.drop_columns(["tags"]) if "tags" in table.column_names else table


class _GoldMatches(NamedTuple):
    """Masks of the result of matching: `gold` are labels that count, `is_found` labels that were found.

    Labels stand for their mention: only its first row is marked. `correct` is a mask of the run's predictions.
    """

    gold: Bools
    is_found: Bools
    correct: Bools


def _apply_threshold(run: Run, threshold: Threshold) -> Run:
    """Return the run without predictions below the threshold."""
    if threshold.min_score is None:
        return run
    score = run.predictions.score()
    low = score <= threshold.min_score if threshold.is_strict else score < threshold.min_score
    return replace(run, predictions=run.predictions.select(~low))


class _PairSide(NamedTuple):
    """A run of a pair: its predictions, the verdicts on them as gold labels of the other run, and the gold matches."""

    selected: _SelectedRun
    verdicts: Verdicts
    gold_matches: _GoldMatches

    def count_shared(self) -> Floats:
        """Return by document the number of predictions that the other run has, and of those that it does not have."""
        return self.verdicts.document_sums(0, len(self.selected.corpus))[:, 2:]

    def find_unshared(self) -> Longs:
        """Return the rows of the predictions that the other run does not have."""
        gold = self.verdicts.gold
        return self.selected.rows_as_gold[gold[(self.verdicts.weights()[:, 3] > 0) & (gold >= 0)]]


def _compare_runs(first: _PairSide, second: _PairSide, view: ViewName) -> PairSimilarity:
    """Compute the similarity of two runs in a view; it is the same in both orders of the runs."""
    sums = first.count_shared() + second.count_shared()
    shared, size = sums[:, 0], sums.sum(axis=1)
    per_document = np.divide(shared, size, out=np.ones(len(size)), where=size > 0)
    total = float(size.sum())
    only_first, only_second = first.find_unshared(), second.find_unshared()
    return PairSimilarity(
        first.selected.run.name,
        second.selected.run.name,
        view.relation,
        mean_score(per_document, "there is no document"),
        Score(float(shared.sum()) / total, int(total)) if total else Score(None, 0, "both systems predict nothing"),
        len(only_first),
        int(first.gold_matches.correct[only_first].sum()),
        len(only_second),
        int(second.gold_matches.correct[only_second].sum()),
        dict(zip(first.selected.document_ids, per_document.tolist(), strict=True)),
    )


def _count_coverage(relation: str, matches: Mapping[str, _GoldMatches]) -> JointCoverage:
    """Count the gold mentions that systems find alone and together; `matches` has the gold matches by system."""
    names = list(matches)
    gold = np.logical_or.reduce([matches[name].gold for name in names])
    hits = np.stack([matches[name].is_found for name in names])[:, gold]
    misses = ~hits
    return JointCoverage(
        relation,
        int(gold.sum()),
        int(hits.any(axis=0).sum()),
        int(hits.all(axis=0).sum()),
        int(misses.all(axis=0).sum()),
        {name: int((hits[i] & (hits.sum(axis=0) == 1)).sum()) for i, name in enumerate(names)},
        {(a, b): int((misses[i] & misses[j]).sum()) for (i, a), (j, b) in combinations(list(enumerate(names)), 2)},
    )
