"""Evaluation of a run on a corpus: everything a request computes, each part computed once on demand.

A block is a part of the documents with the responses to them. A plan says which items are compared for one table of
verdicts (see `karat.evaluation.plan`). A view is a match relation with filters, such as `strong[nil]`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cached_property
from typing import Any, Protocol

import msgspec
import numpy as np
import pyarrow as pa
from msgspec.structs import replace

from karat.data.inputs import GoldInput, PredictionsInput, load_engine_inputs
from karat.evaluation.block import Block, BlockSums, LazyBlockSums, Progress, SweepSums, Thresholds
from karat.evaluation.cases.case_tables import (
    SENTENCE,
    build_case_columns,
    build_verdict_table,
    drop_candidate_categories,
)
from karat.evaluation.cases.errors import CategorisedCases, CategoryCounts, make_undefined_counts
from karat.evaluation.cases.facet_values import format_undecided_notes, make_value_views, needs_rematching
from karat.evaluation.cases.id_health import assess_ids
from karat.evaluation.cases.input_checks import format_notes, list_reader_warnings
from karat.evaluation.distributed.context import UnsupportedViews
from karat.evaluation.evaluation_sums import EvaluationSums, describe_skipped, merge_sweeps
from karat.evaluation.groups import (
    Groups,
    check_groups,
    format_untyped_notes,
    group_by_document,
    group_by_part,
    group_by_property,
    group_by_value,
    score_error_categories,
)
from karat.evaluation.id_bridge import bridge_ids
from karat.evaluation.measures import BLANC_COMPONENTS, default_short_names, get_measure
from karat.evaluation.plan import Plan, Plans, threshold_key
from karat.evaluation.request import Request
from karat.evaluation.score_intervals import (
    CIUnit,
    IntervalOptions,
    IntervalResult,
    derive_seed,
    format_missing_intervals,
    format_unreliable_intervals,
    to_bounds,
    view_intervals,
)
from karat.evaluation.task_inputs import INVENTED_NOTES, JudgedTables, TaskInputs
from karat.evaluation.thresholds import Curve, TunedThreshold, build_curve, select_best_threshold
from karat.evaluation.view import View, ViewOptions
from karat.formats.parsing.surfaces.search import NOT_FOUND, TOO_FREQUENT
from karat.kb.ids.normalising_kb import unwrap_kb
from karat.kb.protocol import KB
from karat.matching.facts.facts import Facts
from karat.matching.read.pairing import BLOCK
from karat.model.caches.deferred_field import Deferred
from karat.model.corpus import NO_LABELS_NOTE, STEPS_KEY, Corpus, DataName
from karat.model.counts.skip_counter import LocatedCounts, get_locations, name_locations
from karat.model.errors import UnknownNameError, UsageError
from karat.model.keywords import check_keywords
from karat.model.measure_name import MeasureName, ViewName
from karat.model.output.progress import track_progress
from karat.model.output.text_layout import format_count
from karat.model.results.failures import rank_note
from karat.model.results.result import WARNING, GroupScores, IdHealth, Result, Score, warn_of_notes
from karat.model.results.statistics import Statistics
from karat.model.results.usage import UsageSum, complete_usage
from karat.model.results.verdict import Verdicts
from karat.model.run import VOCABULARY, Run, is_selected_on, selection_note
from karat.model.signature import Signature
from karat.model.spec.engine import PartitionedData
from karat.model.spec.facet import Facet
from karat.model.spec.settings.conventions import Ids, Macro, Typing
from karat.model.spec.settings.task import TASKS
from karat.model.spec.settings.threshold import Sweep, Threshold
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Bools, Longs
from karat.model.tables.facet_values import NONE
from karat.stats.samples.confidence_intervals import IntervalMethod

_READER_NOTES = tuple(f"predictions: {note}" for note in (NOT_FOUND, TOO_FREQUENT))
"""Notes of readers on invented mentions, which the notes in `INVENTED_NOTES` replace."""


class BlockSource(Protocol):
    """A source of blocks: one block in memory, or the blocks of an engine."""

    @property
    def planning_block(self) -> Block:
        """A block, possibly without documents, that knows the properties of the whole corpus; used to make plans."""

    @property
    def data(self) -> tuple[Corpus, Run]:
        """Corpus and run as they were loaded; raises `KaratError` if an engine divided them."""

    @property
    def names_and_metadata(self) -> tuple[tuple[str, Mapping[str, str]], tuple[str, Mapping[str, str]]]:
        """Name and metadata of the corpus and of the run."""

    @property
    def skipped(self) -> Mapping[str, int]:
        """Counts of items that the readers skipped, by description."""

    @property
    def usage(self) -> Mapping[str, UsageSum]:
        """The sums of runtime, tokens and cost that the responses state; an engine has them after `count_blocks`."""

    @property
    def excluded(self) -> UnsupportedViews:
        """Views and facets that cannot be counted, with reasons."""

    def count_sweeps(self, views: Sequence[ViewName], grid: int | None) -> Sequence[SweepSums]:
        """Return how the statistics of `views` change as the threshold falls, one entry per block.

        With `grid`, only thresholds that are multiples of `1 / grid` need to be exact.
        """

    def count_blocks(self, thresholds: Thresholds) -> Sequence[BlockSums | LazyBlockSums]:
        """Return the sums of every block at `thresholds`; an engine judges all blocks now."""

    def get_digests(self) -> tuple[str, str]:
        """Return the digests (hexadecimal) of the corpus and of the run."""

    def iterate_tables(self, thresholds: Thresholds, views: Sequence[str], columns: Set[str]) -> Iterator[Arrow]:
        """Yield tables with all cases of `views` at `thresholds`, one row per case.

        `columns` names extra columns to add: those of case facets, such as `errors`, and `SENTENCE`.
        """

    def get_block(self, thresholds: Thresholds) -> Block:
        """Return all documents as one block with verdicts; raise `KaratError` if an engine divided them."""

    def check_totals(self, sums: EvaluationSums) -> None:
        """Raise errors that only show in the whole corpus, such as duplicate ids."""


class InMemorySource(msgspec.Struct, frozen=True, eq=False, dict=True):
    """A corpus and a run in memory, as a single block."""

    inputs: TaskInputs
    """Corpus and run as the tasks of the request use them."""
    data: tuple[Corpus, Run]
    """Corpus and run as they were loaded."""
    block_size: int = BLOCK
    """Number of documents that are judged together."""
    progress: Progress | None = None
    """Called with the number of documents judged since the last call."""
    excluded: UnsupportedViews = msgspec.field(default_factory=UnsupportedViews)
    """Always empty: everything can be counted in memory."""

    @cached_property
    def planning_block(self) -> Block:
        """The block without thresholds."""
        return Block(self.inputs, block_size=self.block_size, progress=self.progress)

    @property
    def names_and_metadata(self) -> tuple[tuple[str, Mapping[str, str]], tuple[str, Mapping[str, str]]]:
        """Name and metadata of the corpus and of the run."""
        corpus, run = self.inputs.corpus, self.inputs.original_run
        return (corpus.name, corpus.metadata), (run.name, run.metadata)

    @property
    def skipped(self) -> Mapping[str, int]:
        """Counts of items that the readers skipped, by description."""
        return describe_skipped(self.inputs.corpus.skipped, self.inputs.run.skipped)

    @property
    def usage(self) -> dict[str, UsageSum]:
        """The sums of runtime, tokens and cost that the responses state."""
        return self.inputs.original_run.sum_usage(self.inputs.corpus)

    def count_sweeps(self, views: Sequence[ViewName], grid: int | None) -> list[SweepSums]:
        """Return how the statistics of `views` change as the threshold falls, as a single entry.

        With `grid`, only thresholds that are multiples of `1 / grid` need to be exact.
        """
        return [self.planning_block.to_sweep_sums(views, grid)]

    def count_blocks(self, thresholds: Thresholds) -> list[LazyBlockSums]:
        """Return the sums of the block at `thresholds`, which are computed on demand."""
        return [LazyBlockSums(self.get_block(thresholds))]

    def get_digests(self) -> tuple[str, str]:
        """Return the digests (hexadecimal) of the corpus and of the run."""
        return self.inputs.corpus.digest, self.inputs.original_run.digest

    def iterate_tables(self, thresholds: Thresholds, views: Sequence[str], columns: Set[str]) -> Iterator[Arrow]:
        """Yield one table with all cases of `views`, with the extra columns named by `columns`."""
        block = self.get_block(thresholds)
        yield build_verdict_table(
            (
                self.inputs.pairing(block.plans.views[name].source),
                name,
                block.verdicts(name),
                build_case_columns(block, name, columns),
            )
            for name in views
        )

    def get_block(self, thresholds: Thresholds) -> Block:
        """Return all documents as one block with the verdicts at `thresholds`."""
        return self.planning_block.at_threshold(thresholds)

    def check_totals(self, sums: EvaluationSums) -> None:
        """Do nothing: corpus and run were checked when they were aligned."""


class Evaluation(msgspec.Struct, frozen=True, eq=False, dict=True):
    """The evaluation of a run on a corpus: thresholds, views, scores, groups, intervals and cases on demand."""

    request: Request
    """What to compute."""
    source: BlockSource
    """Where the blocks come from: memory or an engine. Everything else is the same for both."""

    @classmethod
    def from_data(
        cls,
        request: Request,
        corpus: Corpus,
        run: Run,
        *,
        share_gold_with: Evaluation | None = None,
        judged: JudgedTables | None = None,
        block_size: int = BLOCK,
        progress: Progress | None = None,
    ) -> Evaluation:
        """Prepare an evaluation in memory; nothing is judged yet.

        `share_gold_with` is an evaluation of another run on the same corpus, whose facts about gold labels are reused.
        `judged` has the tables that other evaluations of this run judged; new tables are added to it. `block_size` is
        the number of documents judged together; `progress` is called with the number judged.
        """
        request = bridge_ids(request.with_run_vocabulary(run.metadata, run.file), corpus, [run])
        can_share = share_gold_with is not None and unwrap_kb(share_gold_with.request.kb) is unwrap_kb(request.kb)
        gold_facts = share_gold_with.inputs.gold_facts if share_gold_with is not None and can_share else None
        inputs = TaskInputs.from_data(request, corpus, run, gold_facts, judged)
        return cls(request, InMemorySource(inputs, (corpus, run), block_size, progress))

    def with_request(self, request: Request) -> Evaluation:
        """Return the evaluation of the same corpus and run for another request; what both judge alike is judged once.

        Raise `KaratError` if an engine divided the documents.
        """
        corpus, run = self.source.data
        return Evaluation.from_data(request, corpus, run, judged=self.inputs.judged)

    @property
    def inputs(self) -> TaskInputs:
        """Corpus and run as the tasks use them; without documents if an engine divides them."""
        return self.source.planning_block.inputs

    @property
    def corpus_name(self) -> str:
        """Name of the corpus."""
        return self.source.names_and_metadata[0][0]

    @property
    def run_name(self) -> str:
        """Name of the run."""
        return self.source.names_and_metadata[1][0]

    @property
    def facts(self) -> Facts:
        """Facts about the gold mentions and the predictions of the task."""
        return self.inputs.facts

    @cached_property
    def signature(self) -> Signature:
        """Signature with everything that affects the scores."""
        name, metadata = self.source.names_and_metadata[0]
        return self.request.signature(str(DataName(name, self.source.get_digests()[0], metadata.get(STEPS_KEY, ""))))

    @cached_property
    def thresholds(self) -> Thresholds:
        """The score threshold of every task and relation; those of the rule `oracle` are tuned on this corpus."""
        rule = self.request.conventions.threshold
        if isinstance(rule, Threshold) and rule.min_score is None:
            return Thresholds()
        plans = self.source.planning_block.plans
        views = {
            threshold_key(plan.view): replace(plan.view, filters=())
            for plan in plans.views.values()
            if isinstance(rule, Threshold) or not plan.is_indivisible
        }
        if isinstance(rule, Threshold):
            return Thresholds(dict.fromkeys(views, rule))
        sweeps = self.source.count_sweeps(list(views.values()), rule.steps)
        best = {key: self._find_best_threshold(view, rule, sweeps) for key, view in views.items()}
        tuned = {key: threshold for key, threshold in best.items() if threshold is not None}
        return Thresholds(
            {key: threshold.threshold for key, threshold in tuned.items()},
            {str(views[key]): threshold for key, threshold in tuned.items()},
        )

    def find_best_threshold(self, view: ViewName, sweep: Sweep) -> TunedThreshold | None:
        """Return the threshold of `sweep` that is best for a view on this corpus; None if predictions have no scores.

        `sweep` has the criterion, such as micro F1. On ties, the lowest threshold is best.
        """
        return self._find_best_threshold(view, sweep, self.source.count_sweeps([view], sweep.steps))

    def _find_best_threshold(
        self, view: ViewName, sweep: Sweep, block_sums: Sequence[SweepSums]
    ) -> TunedThreshold | None:
        """Return the best threshold of a view, by the criterion of `sweep`, such as micro F1; None without scores.

        `block_sums`: counts at every threshold, one item per block (some documents of the data).
        """
        if not any(threshold_key(view) in block.scored_keys for block in block_sums):
            return None
        plan = self.plan_view(view)
        return select_best_threshold(
            self._compute_curve(plan, block_sums), str(view), sweep, is_typed=plan.relation.is_typed
        )

    def compute_curve(self, view: ViewName, grid: int | None = None) -> Curve:
        """Return the scores of a view at every threshold; with `grid`, only multiples of `1 / grid` are exact."""
        return self._compute_curve(self.plan_view(view), self.source.count_sweeps([view], grid))

    def _compute_curve(self, plan: Plan, block_sums: Sequence[SweepSums]) -> Curve:
        """Return the threshold curve of the view that `plan` judges.

        `block_sums`: counts at every threshold, one item per block (some documents of the data).
        """
        steps, has_gold = merge_sweeps(block_sums, threshold_key(plan.view))
        return build_curve(
            steps, plan.view_options.create_view(Statistics(steps.base), macro_mask=self._macro_mask(has_gold))
        )

    def plan_view(self, view: ViewName) -> Plan:
        """Return the plan that judges a view without a threshold; raise if its relation contradicts the task."""
        return self.inputs.create_planner().plan_view(view)

    def _macro_mask(self, has_gold: Bools) -> Bools | None:
        """Return the mask of documents that macro scores average over, or None for all with a defined value.

        `has_gold` marks the documents with gold items; the setting `macro` decides whether it is the mask.
        """
        return has_gold if self.request.conventions.macro is Macro.GOLD_DOCUMENTS else None

    @cached_property
    def plans(self) -> Plans:
        """The plans of all tables of verdicts at the thresholds: which items are compared, by which relation or key.

        There is one table per view, detection table and stage (see the module `karat.evaluation.plan`).
        """
        return self.source.planning_block.at_threshold(self.thresholds).plans

    @cached_property
    def sums(self) -> EvaluationSums:
        """The counts of the whole corpus, merged from all blocks; raises for errors such as duplicate ids."""
        sums = EvaluationSums(self.source.count_blocks(self.thresholds))
        self.source.check_totals(sums)
        return sums

    @cached_property
    def block(self) -> Block:
        """All documents as one block with verdicts; raises `KaratError` if an engine divided them."""
        return self.source.get_block(self.thresholds)

    def verdicts(self, view: str) -> Verdicts:
        """Return the verdicts on all cases of a view, or of another table of `plans.all`, such as a detection table.

        Raise `UsageError` if there is no such table, and `KaratError` if an engine divided the documents.
        """
        if view not in self.plans.all:
            raise UsageError(f"{view} was not judged. Request one of its measures.")
        return self.block.verdicts(view)

    def judge_plans(self, plans: Mapping[str, Plan]) -> dict[str, Verdicts]:
        """Judge the documents in memory by plans of the caller, such as those of `plan_view`; return verdicts by name.

        With an engine no documents are in memory, so there are no verdicts.
        """
        return self.source.planning_block.judge_plans(plans)

    def view_at_same_threshold(self, name: ViewName, other: ViewName) -> View:
        """Count the view `other` over the predictions that pass the threshold of the scored view `name`."""
        plan = self.plan_view(other).at_threshold(self.plans.views[str(name)].selection.threshold)
        weights = self.judge_plans({"": plan})[""].document_sums(0, len(self.inputs.corpus))
        return plan.view_options.create_view(
            Statistics(weights), macro_mask=self._macro_mask(self.sums.has_gold(plan.source))
        )

    def detection_verdicts(self, view: str) -> Verdicts | None:
        """Return the verdicts on detection by which accuracy divides, or None if no measure of the view needs them."""
        name = self.plans.detection.get(view)
        return None if name is None else self.block.verdicts(name)

    def categorise_cases(self, view: str) -> CategorisedCases:
        """Return the cases of a view with the facts about them and the masks of their error categories."""
        return self.block.categorise_cases(view)

    def count_categories(self, view: str) -> Mapping[str, CategoryCounts]:
        """Return the errors and opportunities of each error category, by document.

        A view in which detection cannot be told from linking gets undefined counts with the reason.
        """
        if view in self.plans.missing_stages:
            return make_undefined_counts(len(self.sums.ids), self.plans.missing_stages[view])
        return self.sums.category_counts(view)

    @cached_property
    def views(self) -> Mapping[str, View]:
        """All counted views by name, and views that an engine cannot count, with the reason and no statistics."""
        options, no_statistics = ViewOptions(self.request.conventions.empty), Statistics(np.zeros((0, 4)))
        uncounted = {
            name: options.create_view(no_statistics, unknown_reason=reason)
            for name, reason in self.source.excluded.views.items()
        }
        return {name: self._build_view(name, plan) for name, plan in self.plans.views.items()} | uncounted

    @property
    def _counted_views(self) -> dict[str, View]:
        """The views that could be counted."""
        return {name: view for name, view in self.views.items() if view.unknown_reason is None}

    @property
    def _divisible_views(self) -> dict[str, View]:
        """The counted views that can be divided into documents."""
        return {name: view for name, view in self._counted_views.items() if not view.is_indivisible}

    def _build_view(self, name: str, plan: Plan) -> View:
        """Create the view of a plan from the merged sums; it has only a reason if there was too much data to keep."""
        sums = self.sums
        if (size := sums.overflow_size(plan)) is not None:
            reason = f"{size:,} clustered mentions exceed what an engine keeps in memory"
            return plan.view_options.create_view(
                Statistics(np.zeros((0, 4))), is_indivisible=True, unknown_reason=reason
            )
        if plan.is_indivisible:
            members = sums.cluster_members(plan.cross_document_key)
            return plan.view_options.create_view(
                Statistics(plan.sum_members(members)[None]),
                is_indivisible=True,
                recount=lambda keep: Statistics(plan.sum_members(members.select_documents(keep))[None]),
                get_order=self._order_by_id,
            )
        return plan.view_options.create_view(
            sums.statistics(name),
            detection_statistics=sums.detection(name),
            macro_mask=self._macro_mask(sums.has_gold(plan.source)),
            had_cases=sums.had_cases(name),
            get_ranking=(lambda: sums.ranking(name)) if plan.relation.level == "document" else None,
            get_scored=lambda: sums.scored_predictions(name),
            get_case_weights=lambda: sums.case_weights(name),
            get_scored_documents=lambda: sums.scored_documents(name),
            get_order=self._order_by_id,
            undefined_reason=self._missing_gold_reason or (self.mismatch_reason if plan.compares_links else None),
        )

    @cached_property
    def _missing_gold_reason(self) -> str | None:
        """Reason why all scores are undefined: the corpus has texts without labels; None if it has a gold standard."""
        n_unlabelled = self.source.skipped.get(f"gold: {NO_LABELS_NOTE}", 0)
        return "the texts have no gold labels" if n_unlabelled and n_unlabelled == len(self.sums.ids) else None

    @cached_property
    def mismatch_reason(self) -> str | None:
        """Reason why linking scores are undefined: no predicted id can match a gold id; None if some can.

        Only Karat's reading of ids (`ids=normalised`) makes scores undefined. Reference tools report 0.
        """
        return self.sums.mismatch if self.request.conventions.ids is Ids.NORMALISED else None

    def _order_by_id(self) -> Longs:
        """Return the indices that sort the documents by id."""
        return np.argsort(np.array(self.sums.ids.to_pylist(), object), kind="stable")

    @cached_property
    def scores(self) -> dict[str, Score]:
        """Scores by full measure name: the default measures of every view and all requested ones without a group."""
        requested: dict[str, list[str]] = {name: [] for name in [*self.views, *self.plans.components]}
        for measure in self.request.all_measures:
            if measure.group is None:
                requested[str(measure.view)].append(measure.short_name)
        scores: dict[str, Score] = {}
        for name, view in self.views.items():
            shorts = dict.fromkeys([*default_short_names(detection=name in self.plans.detection), *requested[name]])
            scores |= {f"{name}:{short}": score for short, score in view.scores(shorts).items()}
        for name, components in self.plans.components.items():
            pairless_score = self._score_without_pairs(components)
            for short in dict.fromkeys([*default_short_names(detection=False), *requested[name]]):
                scores[f"{name}:{short}"] = (
                    pairless_score
                    if pairless_score is not None and short.startswith("micro.")
                    else _mean_of_components(
                        {part: self._score_component(part, short) for part in self._nonempty_components(components)}
                    )
                )
        return scores

    def score(self, measure: MeasureName) -> Score:
        """Return the score of a requested measure without a group; other measures are not computed."""
        view = self.views.get(str(measure.view))
        return self.scores[str(measure)] if view is None else view.score(measure.short_name)

    def _score_component(self, name: str, short: str) -> Score:
        """Return a score of the view `name` for a mean of views; undefined if the view's total has neither side.

        Otherwise documents without cases would make the macro scores of data perfect that does not exist.
        """
        view = self.views[name]
        total = view.score("micro.f1") if name in self._empty_parts else None
        return view.score(short) if total is None or total.value is not None else total

    @cached_property
    def _empty_parts(self) -> tuple[str, ...]:
        """The parts of tasks that have nothing to count on either side, such as relations."""
        parts = dict.fromkeys(part for parts in self.plans.components.values() for part in parts)
        views = {part: self.views[part] for part in parts}
        return tuple(
            part for part, view in views.items() if not view.is_indivisible and not view.statistics.weights.any()
        )

    def _score_without_pairs(self, components: Sequence[str]) -> Score | None:
        """Return BLANC where neither side has two mentions: 1 if both have the same mention, else 0 (Luo et al., 2014).

        Return None if `components` are not those of BLANC, if there are pairs, or if there are no mentions at all.
        """
        plans = [self.plans.views[part] for part in components]
        clusterings = {None if plan.key is None else plan.key.clustering for plan in plans}
        if clusterings != set(BLANC_COMPONENTS) or not self._empty_clusterings.issuperset(components):
            return None
        gold, predictions, both = self.sums.cluster_members(plans[0].cross_document_key).count_mentions()
        return Score(float(gold == predictions == both), 1) if gold or predictions else None

    @cached_property
    def _empty_clusterings(self) -> frozenset[str]:
        """The views of clusterings that have nothing to count on either side, such as pairs of mentions."""
        return frozenset(
            name
            for name, view in self._counted_views.items()
            if view.is_indivisible and not view.statistics.weights.any()
        )

    def _nonempty_components(self, components: Sequence[str]) -> Sequence[str]:
        """Return `components` without clusterings that have no pair on either side, or all if all are such."""
        return [part for part in components if part not in self._empty_clusterings] or components

    @cached_property
    def facets(self) -> dict[str, Facet]:
        """The facets by which scores are grouped, by name, without those that an engine cannot count."""
        excluded = self.source.excluded.facets
        return {name: self.inputs.get_facet(name) for name in self.request.facets if name not in excluded}

    @cached_property
    def groups(self) -> Groups:
        """Scores by facet, view and value; raises if a measure names a value that does not occur."""
        groups: Groups = {name: self._group_scores(name, facet) for name, facet in self.facets.items()}
        check_groups(self.request.all_measures, groups, self.facets, self.views)
        return groups

    def _is_grouped(self, view: str, facet: str) -> bool:
        """Return whether the scores of a view are grouped by a facet."""
        if self.request.grouped_view in (None, view):
            return True
        return any(
            m.group is not None and m.group[0] == facet and str(m.view) == view for m in self.request.all_measures
        )

    def _group_scores(self, name: str, facet: Facet) -> dict[str, dict[str, GroupScores]]:
        """Return the scores by the facet `facet`, called `name`, as a mapping from view and value.

        Views that cannot be scored by the facet are absent: with `groups=filtered`, views that are means of other
        views, such as BLANC; otherwise also views whose clusters span documents; for error categories, also views that
        do not compare links. Raise `UsageError` if no document has a value, or no view compares links for error
        categories.
        """
        interval_options = self.interval_options
        dispersion_measures = [
            m for m in self.request.all_measures if get_measure(m).is_dispersion and m.group and m.group[0] == name
        ]
        extra_shorts = list(dict.fromkeys(measure.short_name for measure in dispersion_measures))
        views = {view: data for view, data in self._divisible_views.items() if self._is_grouped(view, name)}
        if facet.scores == "documents":
            return {view: group_by_document(self.sums.ids, data) for view, data in views.items()}
        if facet.from_documents is not None:
            values = self.sums.document_values(name)
            if values.null_count == len(values):
                corpus = self.source.names_and_metadata[0][0]
                raise UsageError(f"no document of {corpus} has a value for {name}. Group by another facet.")
            return {
                view: group_by_property(values, data, interval_options, extra_shorts) for view, data in views.items()
            }
        if facet.scores == "errors":
            if not self.plans.stages and not self.plans.missing_stages:
                raise UsageError("error categories need a view that compares links. Request strong, for example.")
            return {
                view: score_error_categories(self.count_categories(view), data, interval_options)
                for view, data in views.items()
                if view in self.plans.stages or view in self.plans.missing_stages
            }
        if needs_rematching(self.inputs, name):
            excluded = {*self.source.excluded.views, *self.plans.components}
            base_views = [
                base for base in self.request.views if str(base) not in excluded and self._is_grouped(str(base), name)
            ]
            parts = {base: make_value_views(self.inputs, name, base) for base in base_views}
            return {
                str(base): group_by_part(
                    {value: self.views[str(part)] for value, part in value_views.items()}, interval_options
                )
                for base, value_views in parts.items()
            }
        grouped_sums = {view: self.sums.get_grouped_sums(name, view) for view in views}
        groups = group_by_value(
            name,
            grouped_sums,
            views,
            interval_options,
            extra_shorts,
            has_predictions=self.sums.has_predicted_facet(name),
        )
        return {view: {value: scores[value] for value in facet.sort_values(scores)} for view, scores in groups.items()}

    def find_group_view(self, name: MeasureName) -> View | None:
        """Return the cases that a micro measure of a group counts, with one row per document; None for other measures.

        Documents without such cases have a row of zeros.
        """
        if name.group is None or name.aggregate != "micro":
            return None
        (facet_name, value), view_name = name.group, str(name.view)
        facet, view = self.facets[facet_name], self._divisible_views.get(view_name)
        if view is None or facet.scores == "documents":
            return None
        if facet.scores == "errors":
            counts = self.count_categories(view_name)[value]
            if counts.total is None:
                return None
            avoided = counts.total - counts.errors
            return view.select_cases(np.stack([avoided, counts.errors, avoided, counts.errors], axis=-1))
        if facet.from_documents is not None:
            values = self.sums.document_values(facet_name).fill_null(NONE).to_numpy(zero_copy_only=False)
            return view.select_cases(view.statistics.weights * (values == value)[:, None])
        if needs_rematching(self.inputs, facet_name):
            part = make_value_views(self.inputs, facet_name, name.view).get(value)
            return None if part is None else self.views[str(part)]
        return view.select_cases(
            self.sums.get_grouped_sums(facet_name, view_name).list_documents(value, len(view.statistics))
        )

    @cached_property
    def interval_results(self) -> dict[str, IntervalResult]:
        """Interval, or the reason why there is none, by requested measure; empty if no intervals are requested.

        Undefined scores and measures of groups are absent.
        """
        if not self.request.interval_options.resamples:
            return {}
        requested: dict[str, list[str]] = {}
        for name in self.request.all_measures:
            if name.group is None:
                requested.setdefault(str(name.view), []).append(name.short_name)
        results: dict[str, IntervalResult] = {}
        for view, shorts in requested.items():
            names = self.plans.components.get(view, (view,))
            if self._score_without_pairs(names) is not None:
                results |= {
                    f"{view}:{short}": IntervalResult(None, "neither side has two mentions") for short in shorts
                }
                continue
            components = [self.views[part] for part in self._nonempty_components(names)]
            if len(components) > 1:
                shorts = [short for short in shorts if self.scores[f"{view}:{short}"].value is not None]
            with track_progress(f"resampling {view}"):
                intervals = view_intervals(components, shorts, self.interval_options)
            results |= {f"{view}:{short}": result for short, result in intervals.items()}
        return results

    def _interval_bounds(self) -> dict[str, tuple[float, float]]:
        """Return lower and upper bounds by requested measure, including those of groups; absent if there is none."""
        intervals = {}
        for name in self.request.all_measures:
            if name.group is not None and self.request.interval_options.resamples:
                facet, value = name.group
                group_intervals = self.groups[facet][str(name.view)][value].intervals
                if name.short_name in group_intervals:
                    intervals[str(name)] = group_intervals[name.short_name]
        return intervals | to_bounds(self.interval_results)

    @cached_property
    def interval_options(self) -> IntervalOptions:
        """Interval options with a random seed that is specific to this corpus."""
        options = self.request.interval_options
        return (
            options._replace(seed=derive_seed(options.seed, self.source.get_digests()[0]))
            if options.resamples
            else options
        )

    @cached_property
    def result(self) -> Result:
        """The scores with their signature, groups, intervals, notes and skipped counts, as `evaluate` returns them."""
        request, interval_options = self.request, self.request.interval_options
        (corpus, corpus_metadata), (run, run_metadata) = self.source.names_and_metadata
        has_intervals = bool(interval_options.resamples)
        views, groups = self._divisible_views, self.groups  # raises if a measure names a group that does not exist
        return Result(
            signature=Deferred(lambda: self.signature),
            profile=request.profile,
            corpus=corpus,
            run=run,
            run_digest=self.source.get_digests()[1],
            scores=self.scores,
            views={name: view.statistics for name, view in views.items()},
            totals={name: view.statistics for name, view in self._counted_views.items() if view.is_indivisible},
            detection={
                name: view.detection_statistics for name, view in views.items() if view.detection_statistics is not None
            },
            group_statistics={
                name.cases: view.statistics
                for name in request.all_measures
                if (view := self.find_group_view(name)) is not None
            },
            per_item_views=tuple(name for name, view in views.items() if view.options.is_mean_of_items),
            macro_documents={name: view.macro_mask for name, view in views.items() if view.macro_mask is not None},
            ids=self.sums.ids,
            skipped=Deferred(self._count_skipped),
            notes=Deferred(self._sort_notes),
            intervals=self._interval_bounds(),
            thresholds=self.oracle_thresholds,
            resamples=interval_options.resamples,
            interval_method=interval_options.method if has_intervals else None,
            confidence=interval_options.confidence if has_intervals else None,
            ci_unit=interval_options.ci_unit if has_intervals else None,
            jackknife_groups=interval_options.jackknife_groups if has_intervals else 0,
            groups=groups,
            corpus_metadata=corpus_metadata,
            run_metadata=run_metadata,
            usage=complete_usage(self.source.usage, run_metadata, run, len(self.sums.ids)),
            id_health=Deferred(lambda: self.id_health),
            table_measures=request.table_measures,
            headline=request.headline,
            aliases=request.aliases,
            evaluation=self,
            make_verdicts=self.tables,
        )

    @cached_property
    def id_health(self) -> IdHealth | None:
        """Summary of how ids are written on both sides and whether they can match; None if no links are compared."""
        id_statistics = self.sums.id_statistics
        if id_statistics is None:
            return None
        request = self.request
        return assess_ids(*id_statistics, request.conventions.ids, request.kb, is_bridge=request.is_bridge)

    def table(self, view: str | None = None) -> Arrow:
        """Return one table with a row per case of all views, or of `view`, with the columns of case facets."""
        tables = list(self.tables(view))
        return tables[0] if len(tables) == 1 else pa.concat_tables(tables)

    def tables(self, view: str | None = None, *, sentences: bool = False) -> Iterator[Arrow]:
        """Return an iterator over tables of the cases of all views, or of `view`, with equal columns.

        With `sentences`, columns with entity names and the sentence of each case are added. The first table may be
        empty. Raise `UnknownNameError` if `view` has no single cases.
        """
        columns = {label.column for label in self.facets.values() if label.column is not None}
        names = [name for name, plan in self.plans.views.items() if not plan.is_indivisible]
        if view is not None and view not in names:
            raise UnknownNameError("view of single cases", view, names)
        requested = {*columns, SENTENCE} if sentences else columns
        tables = self.source.iterate_tables(self.thresholds, names if view is None else [view], requested)
        if "errors" not in requested:
            return tables
        without_candidates = self.plans.stages.keys() - self.sums.views_with_candidates
        return (drop_candidate_categories(table, without_candidates) for table in tables)

    def _count_skipped(self) -> dict[str, int]:
        """Return counts of everything that was skipped, by description, without zeros except for drop rules."""
        sums = self.sums.skipped
        counts = {
            **{note: sums[note] for note in INVENTED_NOTES.values() if note in sums},  # first, below the headline
            **{note: count for note, count in self.source.skipped.items() if note not in _READER_NOTES},
            **sums,
        }
        locations = get_locations(self.source.skipped)
        invented = tuple(dict.fromkeys(location for note in _READER_NOTES for location in locations.get(note, ())))
        listed_counts = {
            description: count
            for description, count in counts.items()
            if (count and WARNING not in description) or description.startswith("predictions dropped by ")
        }
        locations = {**locations, **dict.fromkeys(INVENTED_NOTES.values(), invented)}
        return name_locations(LocatedCounts(listed_counts, locations))

    def _sort_notes(self) -> tuple[str, ...]:
        """Return all notes, sorted by `rank_note`."""
        return tuple(sorted(self._list_notes(), key=rank_note))

    def _list_notes(self) -> Iterator[str]:
        """Yield notes about likely mistakes and about how the scores were computed."""
        yield from list_reader_warnings(self.source.skipped)
        if self.id_health is not None and self.id_health.mismatch:
            yield f"{WARNING}{self.id_health.mismatch}; {self.id_health.remedy}"
        yield from self.request.synonym_notes
        statistics = {name: view.statistics for name, view in self._counted_views.items()}
        from_labels = self.source.names_and_metadata[1][1].get("predictions") == "labels"
        ids_differ = self.id_health is not None and bool(self.id_health.unmatchable)
        read_options = self.inputs.pairing().read_options
        yield from format_notes(
            self.sums.input_checks,
            read_options,
            statistics,
            from_labels=from_labels,
            ids_differ=ids_differ,
            id_remedy="" if self.id_health is None else self.id_health.remedy,
        )
        reasons = {name: view.unknown_reason for name, view in self.views.items() if view.unknown_reason is not None}
        for item, reason in (
            reasons | {f"scores by {name}": reason for name, reason in self.source.excluded.facets.items()}
        ).items():
            yield f"excluded: {item} ({reason}; to include it, load corpus and run into memory)"
        yield from (
            f"{WARNING}{part} has neither gold nor predictions, which the setting empty scores as perfect"
            for part in self._empty_parts
            if self.views[part].score("micro.f1").value is not None
        )
        yield from self._sentence_notes()
        yield from self._hierarchy_notes()
        yield from self._starter_kb_notes()
        yield from format_undecided_notes(self.request.conventions.unknown_names, *self.sums.undecided_counts)
        yield from (f"{n_labels} labels {source}" for source, n_labels in self.sums.source_counts.items())
        yield from format_untyped_notes(self.groups, self.views, has_kb=self.request.kb is not None)
        yield from (best.note for best in self.thresholds.tuned.values())
        (corpus, _), (run, metadata) = self.source.names_and_metadata
        if is_selected_on(metadata, corpus):
            yield selection_note(run, corpus)
        yield from self._gold_mention_notes(metadata)
        if VOCABULARY in self.request.facets:
            from karat.kb.entity_vocabulary import format_vocabulary_note

            yield format_vocabulary_note(self.request.vocabulary)
        yield from format_missing_intervals(self.interval_results)
        yield from format_unreliable_intervals(self.interval_results, self.request.interval_options.ci_unit)

    def _gold_mention_notes(self, metadata: Mapping[str, str]) -> Iterator[str]:
        """Yield a warning if the system was given the gold mentions and a task scores that it detects mentions."""
        names = dict.fromkeys(view.task or self.request.conventions.task_name for view in self.request.component_views)
        detection = [name for name in names if not TASKS[name].has_gold_mentions and TASKS[name].source != "triples"]
        if metadata.get("mentions") == "gold" and detection:
            yield (
                f"{WARNING}the system was given the gold mentions, but {', '.join(detection)} also scores their "
                "detection: use --set task=d2kb (karat run: --task d2kb)"
            )

    def _sentence_notes(self) -> Iterator[str]:
        """Yield a note if the documents have sentences that GERBIL scores as documents (NIF with categories)."""
        table = self.inputs.corpus.table
        if self.request.profile != "gerbil" or "meta" not in table.column_names:
            return
        spans = (dict(meta or ()).get("sentences", "") for meta in table.column("meta").to_pylist())
        if n_sentences := sum(text.count(",") for text in spans if " " in text):
            yield (
                f"{format_count(n_sentences, 'sentence')} with nif:broaderContext are parts of documents here, but "
                "documents in GERBIL: --gold-format nif --predictions-format nif scores them so (macro scores differ)"
            )

    def _hierarchy_notes(self) -> Iterator[str]:
        """Yield a note if types are compared by a class hierarchy that is missing."""
        typing, kb = self.request.conventions.typing, self.request.kb
        typed = any(plan.relation.is_typed for plan in self.plans.views.values())
        if typed and typing is not Typing.SHARED and (kb is None or not kb.hierarchy.superclasses):
            yield f"typing={typing} has no class hierarchy: pass a knowledge base with subclass_of.tsv (--kb)"

    def _starter_kb_notes(self) -> Iterator[str]:
        """Yield a note if facts come from the built-in snapshot."""
        kb = self.request.fact_kb if self.request.needs_facts else None
        if kb is not None and kb is not self.request.kb:
            yield f"names, types and popularity come from the built-in {kb.name}: pass --kb to use another"

    @property
    def oracle_thresholds(self) -> dict[str, float | None]:
        """The thresholds tuned on this corpus, by view; None for views that average tuned views."""
        thresholds = {name: best.threshold.min_score for name, best in self.thresholds.tuned.items()}
        bases = {
            name: {str(replace(self.plans.views[part].view, filters=())) for part in parts}
            for name, parts in self.plans.components.items()
        }
        return thresholds | {name: None for name, parts in bases.items() if parts & thresholds.keys()}


def _mean_of_components(scores: Mapping[str, Score]) -> Score:
    """Return the mean of one measure's scores in several views, by view; undefined if one of them is undefined."""
    values = [score.value for score in scores.values() if score.value is not None]
    for name, score in scores.items():
        if score.value is None:
            return Score(None, 0, f"{name}: {score.reason}")
    return Score(sum(values) / len(values), len(values))


@check_keywords
def evaluate(
    gold: GoldInput | PartitionedData,
    predictions: PredictionsInput | PartitionedData,
    *,
    profile: str = "karat",
    settings: Mapping[str, object] | None = None,
    measures: Sequence[str] | str = (),
    extra_measures: Sequence[str] | str = (),
    by: Sequence[str] | str = (),
    kb: KB | str | os.PathLike[str] | None = None,
    confidence: float | None = None,
    resamples: int | None = None,
    interval: IntervalMethod | None = None,
    ci_unit: CIUnit | None = None,
    jackknife_groups: int | None = None,
    allow_unknown: bool = False,
    progress: Progress | None = None,
    block_size: int = BLOCK,
    engine: str | None = None,
) -> Result:
    """Score predictions against a gold standard under a scoring profile, and return a `Result`.

    `gold` and `predictions` are each a path, a name from the catalogue, plain dictionaries, or an object.
    `settings` override single settings of the profile, as in `{"assignment": "greedy"}`. `measures` replaces the
    profile's measures, and `extra_measures` adds some that tables do not show. `by` names facets to group by, such as
    `types`, `nil`, `doc` or a dimension of `categories`. `kb` is a knowledge base, or the path or name of one, that
    resolves the ids of both sides. `allow_unknown` skips predictions for documents that the gold standard does not
    have.

    Any of the following five asks for intervals. `confidence` is their level (default 0.95) and `resamples` the number
    of bootstrap samples (default 1000; 0 computes no intervals). `interval` is the method (`percentile`, `bca`,
    `wilson`) and `ci_unit` the resampling unit (`documents`, `cases`). With `jackknife_groups`, measures that do not
    add up over documents get an interval too: they are recomputed once without each group of documents.

    `progress` is called with the number of documents done. `block_size` is the number of documents judged together.
    With an `engine` (`local`, `duckdb`, `spark`), the engine divides the documents. Gold standard and predictions may
    then be results of `load_partitioned`, which need not fit into memory.
    """
    if block_size < 1:
        raise UsageError(f"block_size is {block_size}. Pass a positive number of documents.")
    request = Request.from_options(
        profile=profile,
        settings=settings,
        measures=measures,
        extra_measures=extra_measures,
        by=by,
        kb=kb,
        interval_options=IntervalOptions.from_arguments(
            confidence=confidence,
            resamples=resamples,
            method=interval,
            ci_unit=ci_unit,
            jackknife_groups=jackknife_groups,
        ),
        allow_unknown=allow_unknown,
    )
    corpus, run = load_engine_inputs(gold, predictions, engine)
    result = create_evaluation(request, corpus, run, engine=engine, block_size=block_size, progress=progress).result
    warn_of_notes(result.notes)
    return result


def score_run(corpus: Corpus, run: Run, **options: Any) -> Result:  # noqa: ANN401
    """Score a run with options of `Request.from_options`, as `evaluate` does, but without warnings of Python.

    The caller shows the notes of the result, or expects the scores to mislead.
    """
    return create_evaluation(Request.from_options(**options), corpus, run).result


def create_evaluation(
    request: Request,
    corpus: Corpus | PartitionedData,
    run: Run | PartitionedData,
    *,
    engine: str | None = None,
    block_size: int = BLOCK,
    progress: Progress | None = None,
) -> Evaluation:
    """Prepare the evaluation of a request, in memory or with an engine that divides the documents.

    Data in memory without `engine`, or with `local`, is evaluated in memory. `block_size` applies only in memory.
    Raise `UsageError` if `corpus` and `run` are swapped or something else.
    """
    has_data = all(hasattr(side, "skipped") for side in (corpus, run))
    if not has_data or isinstance(corpus, Run) or isinstance(run, Corpus):
        raise UsageError("evaluate expects a Corpus and a Run, in this order. Create them with load and load_run.")
    if isinstance(corpus, Corpus) and isinstance(run, Run) and engine in (None, "local"):
        return Evaluation.from_data(request, corpus, run, block_size=block_size, progress=progress)
    from karat.evaluation.distributed.source import DistributedSource

    request = bridge_ids(request.with_run_vocabulary(run.metadata, getattr(run, "file", None)), corpus, [run])
    return Evaluation(request, DistributedSource.from_data(request, corpus, run, engine or "local", progress))
