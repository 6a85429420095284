"""Blocks: some documents with all responses to them, judged once and reduced to sums.

A corpus in memory is one block, which keeps its verdicts. An engine processes many blocks and keeps only their sums,
which add up or are stored by document.

A plan says which items are compared for one table of verdicts (see `karat.evaluation.plan`). A view is a match relation
with filters, such as `strong[nil]`.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec
import numpy as np
import pyarrow as pa
from msgspec.structs import replace
from numpy.typing import NDArray

from karat.evaluation.cases.errors import CategorisedCases, CategoryCounts, count_errors, count_evaluated_words
from karat.evaluation.cases.facet_values import (
    count_sources,
    count_undecided,
    get_document_values,
    get_facet_values,
    get_mention_types,
    list_value_views,
    needs_rematching,
)
from karat.evaluation.cases.grouped_sums import GroupedSums, Values, group_cases
from karat.evaluation.cases.id_health import IdStatistics, collect_id_statistics, has_shared_id
from karat.evaluation.cases.input_checks import InputChecks, check_inputs
from karat.evaluation.cases.rankings import build_ranking, get_scored_documents, get_scored_predictions
from karat.evaluation.measures import get_measure
from karat.evaluation.plan import Plan, Plans, threshold_key
from karat.evaluation.task_inputs import JudgedTable, TaskInputs
from karat.evaluation.thresholds import Steps, TunedThreshold, sweep_documents
from karat.matching.facts.cases import CaseRule, StageCases, build_case_table, build_stage_cases
from karat.matching.facts.facts import NOMINAL, PRONOMINAL
from karat.matching.judge.judge import PairCache
from karat.matching.judge.match_counts import MatchCounts, count_span_matches
from karat.matching.judge.neleval_keys import CrossDocumentData
from karat.matching.read.pairing import BLOCK, Pairing
from karat.matching.read.task_data import DataCounts, count_data, count_unscored
from karat.matching.select.selection import BELOW_THRESHOLD, IS_UNLINKED, NOT_BEST, OFF_GOLD_MENTIONS
from karat.model.errors import UsageError
from karat.model.items import PredictedItems
from karat.model.measure_name import MeasureName, ViewName
from karat.model.results.ranking import Ranking
from karat.model.results.verdict import Verdicts, concatenate_verdicts
from karat.model.spec.facet import Facet
from karat.model.spec.settings.conventions import FalseCoreference, NearMentions, Typing
from karat.model.spec.settings.task import MENTION_SOURCES, TaskSource
from karat.model.spec.settings.threshold import Threshold
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import NIL, NO_LINK, Bools, Floats, Longs
from karat.stats.samples.bootstrap import DistinctRows, count_distinct_rows

Progress: TypeAlias = Callable[[int], None]
"""Called with the number of documents done since the last call."""

FURTHER_PREDICTIONS: Final = f"predictions {NOT_BEST}"
"""The description under which predictions on a mention with a better one are counted."""

_BLOCKS_AHEAD = 8  # blocks that threads judge ahead of the one in use; few, to limit memory
_MAX_STORED_ITEMS = 5_000_000  # items times views up to which all verdicts stay in memory


_GOLD_COLUMNS = np.array([0.0, 0.0, 1.0, 1.0])
"""Mask of the two columns of statistics that count gold mentions."""


class Thresholds(NamedTuple):
    """Thresholds below which predictions are excluded."""

    by_key: Mapping[str, Threshold] = {}
    """Thresholds by `threshold_key`, that is, by task and relation."""
    tuned: Mapping[str, TunedThreshold] = {}
    """Thresholds that were tuned on the scored data, by view."""


class ViewSums(NamedTuple):
    """The sums of one view of a block."""

    weights: NDArray[Any]
    """The sums of the four `Weights`, one row per document."""
    detection: NDArray[Any] | None
    """The sums of the four `Weights` of detection, one row per document, if a measure needs them."""
    had_cases: bool
    """Whether there were cases before a tuned threshold."""
    ranking: Ranking | None = None
    """Ranked entities, if a measure needs them."""
    scored_predictions: tuple[Floats, Floats] | None = None
    """Scores of predictions and how correct each is, if a measure needs them."""
    scored_documents: Longs | None = None
    """Document of each scored prediction."""
    case_weights: DistinctRows | None = None
    """Weights of individual cases, if intervals resample cases."""


class BlockSums(msgspec.Struct, frozen=True):
    """The sums of a block, which an engine can transfer; totals or one entry per document."""

    row: Longs
    """Row of each document in the whole corpus."""
    ids: Arrow
    """Ids of the documents."""
    unknown_responses: tuple[tuple[int, str], ...]
    """Row and document id of the responses to documents outside the gold standard."""
    data_counts: tuple[DataCounts, DataCounts]
    """Counts of the data on the gold side and in the predictions."""
    skipped: Mapping[str, int]
    """Counts of excluded items by description."""
    input_checks: InputChecks
    """Findings about suspicious input."""
    id_statistics: tuple[IdStatistics, IdStatistics] | None
    """How ids are written on both sides, if links are compared."""
    undecided_counts: tuple[int, int]
    """Items without known names, and predictions on quantities of unknown kind."""
    source_counts: Mapping[str, int]
    """Numbers of labels by facet and source of its value, as notes describe them."""
    has_gold: Mapping[TaskSource, Bools]
    """Which documents have gold items, by kind of item."""
    views: Mapping[str, ViewSums]
    """Sums by view."""
    grouped_sums: Mapping[str, Mapping[str, GroupedSums]]
    """Sums by facet, view, value and document."""
    predicted_facets: frozenset[str]
    """Facets for which predictions have values."""
    document_values: Mapping[str, Arrow]
    """Value of each document by facet."""
    category_counts: Mapping[str, Mapping[str, CategoryCounts]]
    """Counts of error categories by view and category."""
    views_with_candidates: frozenset[str]
    """Views in which some prediction has several candidates."""
    cross_document_data: Mapping[str, CrossDocumentData] = msgspec.field(default_factory=dict)
    """Data of indivisible views by `Plan.cross_document_key`."""
    overflows: Mapping[str, int] = msgspec.field(default_factory=dict)
    """Number of items of indivisible views that are too large to keep."""


class SweepSums(msgspec.Struct, frozen=True):
    """How the statistics of a block change as the threshold falls."""

    row: Longs
    """Row of each document in the whole corpus."""
    has_gold: Mapping[str, Bools]
    """Which documents have gold items, by `threshold_key`."""
    steps: Mapping[str, Steps]
    """Changes of the statistics by `threshold_key`."""
    scored_keys: frozenset[str]
    """Keys for which some prediction has a score."""


class Block(msgspec.Struct, frozen=True, eq=False, dict=True):
    """Gold standard and predictions at certain thresholds, with their verdicts and sums, each computed once."""

    inputs: TaskInputs
    """Corpus and run as the tasks of the request use them."""
    thresholds: Thresholds = msgspec.field(default_factory=Thresholds)
    """Thresholds that apply."""
    block_size: int = BLOCK
    """Number of documents that are judged together."""
    progress: Progress | None = None
    """Called with the number of documents judged since the last call."""
    _verdicts: dict[str, Verdicts] = msgspec.field(default_factory=dict)
    _siblings: dict[str, Block] = msgspec.field(default_factory=dict)
    _categorised_views: dict[str, CategorisedCases] = msgspec.field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Block of {self.inputs}>"

    def at_threshold(self, thresholds: Thresholds) -> Block:
        """Return the block judged at `thresholds`: the same object for equal ones, and this block if there are none."""
        if not thresholds.by_key:
            return self
        key = repr(sorted(thresholds.by_key.items()))
        if key not in self._siblings:
            self._siblings[key] = replace(
                self, thresholds=thresholds, _verdicts={}, _siblings={}, _categorised_views={}
            )
        return self._siblings[key]

    @cached_property
    def plans(self) -> Plans:
        """The plans of all tables of verdicts: which items are compared for each table, and by which relation or key.

        There is one table per view, detection table and stage (see the module `karat.evaluation.plan`).
        """
        request = self.inputs.request
        facets = [self.inputs.get_facet(name) for name in request.facets]
        measures = [
            *request.all_measures,
            *(MeasureName(view, "f1", "micro") for view in list_value_views(self.inputs)),
        ]
        needs_stages = request.needs_stages or any(label.scores == "errors" for label in facets)
        return self.inputs.create_planner(self.thresholds.by_key).plan_measures(
            measures, stages=request.component_views if needs_stages else ()
        )

    @cached_property
    def _judgements(self) -> tuple[dict[str, Floats], dict[str, list[Verdicts]]]:
        """The sums of the four `Weights` of each document, and lists of verdicts, both by name of the verdict table.

        The lists have the verdicts of consecutive documents, and only for the tables that stay in memory. Tables that
        cannot be divided into documents are absent. The first access judges all documents and reports progress; tables
        that another evaluation of the run judged are taken over.
        """
        inputs, stored_names, size = self.inputs, self._stored_names, len(self.inputs.corpus)
        keys = {name: inputs.table_key(plan) for name, plan in self._divisible_plans.items()}
        shared = {
            name: table
            for name, key in keys.items()
            if (table := inputs.judged.tables.get(key)) is not None
            and (table.verdicts is not None or name not in stored_names)
        }
        plans = {name: plan for name, plan in self._divisible_plans.items() if name not in shared}
        weights = {name: np.empty((size, 4)) for name in plans}
        stored: dict[str, list[Verdicts]] = {name: [] for name in plans if name in stored_names}

        def count(first: int, last: int, cases: dict[str, Verdicts], counts: dict[str, MatchCounts | Verdicts]) -> None:
            for name, part in (*cases.items(), *counts.items()):
                weights[name][first:last] = part.document_sums(first, last)

        counted_plans = {name: plan for name, plan in plans.items() if name not in stored}
        judged_plans = {name: plan for name, plan in plans.items() if name in stored}
        for (first, last), cases in self._judge_in_blocks(judged_plans, counted_plans, count) if plans else ():
            for name, verdicts in cases.items():
                stored[name].append(verdicts)
            if self.progress is not None:
                self.progress(last - first)
        if not plans and self.progress is not None:
            self.progress(size)
        inputs.judged.tables.update({keys[name]: JudgedTable(weights[name], stored.get(name)) for name in plans})
        return (
            {**weights, **{name: table.weights for name, table in shared.items()}},
            {**stored, **{name: list(table.verdicts) for name, table in shared.items() if table.verdicts is not None}},
        )

    @property
    def _divisible_plans(self) -> dict[str, Plan]:
        """The plans whose tables can be divided into documents."""
        return {name: plan for name, plan in self.plans.all.items() if not plan.is_indivisible}

    @property
    def _stored_names(self) -> set[str]:
        """Names of the tables to keep in memory: all if they are small, else those that are used later."""
        request, plans = self.inputs.request, self.plans
        facets = [self.inputs.get_facet(name) for name in request.facets]
        n_items = len(self.inputs.corpus.labels) + len(self.inputs.run.predictions)
        if n_items * len(plans.all) <= _MAX_STORED_ITEMS or (
            request.interval_options.resamples and request.interval_options.ci_unit == "cases"
        ):
            return set(plans.all)
        if any(label.from_documents is None for label in facets):
            return {*plans.views, *plans.stages.values()}
        return {str(name.view) for name in request.all_measures if not get_measure(name).is_default}

    def _judge_in_blocks(
        self,
        plans: Mapping[str, Plan],
        counted_plans: Mapping[str, Plan],
        consume: Callable[[int, int, dict[str, Verdicts], dict[str, MatchCounts | Verdicts]], None],
    ) -> Iterator[tuple[tuple[int, int], dict[str, Verdicts]]]:
        """Judge `block_size` documents at a time in threads; yield the bounds and the verdicts by plan, in order.

        `plans`: plans by name whose verdicts are yielded. `counted_plans`: plans that need only counts, which are not
        yielded.
        `consume`: called in the threads with the first document, the document after the last, the verdicts of `plans`
        and the counts (or verdicts) of `counted_plans`.
        """
        inputs, n_documents = self.inputs, len(self.inputs.corpus)
        all_plans = (*plans.values(), *counted_plans.values())
        pairings = {source: inputs.pairing(source) for source in {plan.source for plan in all_plans}}

        def judge(first: int, last: int) -> dict[str, Verdicts]:
            cases: dict[str, Verdicts] = {}
            counts: dict[str, MatchCounts | Verdicts] = {}
            for source, pairing in pairings.items():
                counts |= self._count_spans(pairing, _plans_for_source(source, counted_plans), first, last)
                judged_here = _plans_for_source(source, plans)
                counted_here = {
                    name: plan for name, plan in _plans_for_source(source, counted_plans).items() if name not in counts
                }
                for keep_duplicates in {
                    plan.only_neighbours for plan in (*judged_here.values(), *counted_here.values())
                }:
                    gold, predictions, pair_cache = (
                        pairing.gold_block(first, last, keep_duplicates=keep_duplicates),
                        pairing.prediction_block(first, last, keep_duplicates=keep_duplicates),
                        PairCache(),
                    )
                    cases |= {
                        name: plan.judge(gold, predictions, pair_cache)
                        for name, plan in judged_here.items()
                        if plan.only_neighbours is keep_duplicates
                    }
                    counts |= {
                        name: plan.count(gold, predictions, pair_cache, first, last)
                        for name, plan in counted_here.items()
                        if plan.only_neighbours is keep_duplicates
                    }
            consume(first, last, cases, counts)
            return cases

        for pairing in pairings.values():
            if pairing.read_options.expand_words:
                _ = pairing.word_gaps  # computed here once instead of in every thread
        blocks = [
            (first, min(first + self.block_size, n_documents)) for first in range(0, n_documents, self.block_size)
        ]
        if len(blocks) == 1:
            yield blocks[0], judge(*blocks[0])
            return
        with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
            waiting = deque(pool.submit(judge, *block) for block in blocks[:_BLOCKS_AHEAD])
            for index, block in enumerate(blocks):
                if index + _BLOCKS_AHEAD < len(blocks):
                    waiting.append(pool.submit(judge, *blocks[index + _BLOCKS_AHEAD]))
                yield block, waiting.popleft().result()

    def _count_spans(
        self, pairing: Pairing, plans: Mapping[str, Plan], first: int, last: int
    ) -> dict[str, MatchCounts]:
        """Return the match counts of those `plans` that need only spans and ids, on documents `first` to `last` - 1.

        The counts are computed from arrays, without items and verdicts. Empty if no plan allows this.
        """
        spans = pairing.span_arrays if plans else None
        names = [] if spans is None else [name for name, plan in plans.items() if plan.can_count_spans(spans)]
        if spans is None or not names:
            return {}
        counts = count_span_matches(spans, [plans[name].relation for name in names], first, last)
        return dict(zip(names, counts, strict=True))

    def weights(self, name: str) -> Floats:
        """Return the sums of the four `Weights` of a table of verdicts, one row per document.

        The columns are matched and unmatched predictions, matched and unmatched gold. `name` is a key of `plans.all`.
        """
        return self._judgements[0][name]

    def verdicts(self, name: str) -> Verdicts:
        """Return a table of verdicts; `name` is a key of `plans.all`. A table too large to store is judged again."""
        if name not in self._verdicts:
            parts = self._judgements[1].get(name)
            self._verdicts[name] = (
                self.judge_plan(self.plans.all[name]) if parts is None else concatenate_verdicts(parts)
            )
        return self._verdicts[name]

    def judge_plan(self, plan: Plan) -> Verdicts:
        """Judge all documents of the block by any plan and return the verdicts."""
        return self.judge_plans({"": plan})[""]

    def judge_plans(self, plans: Mapping[str, Plan]) -> dict[str, Verdicts]:
        """Judge all documents of the block by several plans, which share their items; return the verdicts by name."""
        blocks = [cases for _, cases in self._judge_in_blocks(plans, {}, lambda first, last, cases, others: None)]
        return {name: concatenate_verdicts([cases[name] for cases in blocks]) for name in plans}

    def categorise_cases(self, view: str) -> CategorisedCases:
        """Return the cases of a view with their facts and the masks of their error categories; cached."""
        if view not in self._categorised_views:
            self._categorised_views[view] = self._categorise(view)
        return self._categorised_views[view]

    def _categorise(self, view: str) -> CategorisedCases:
        """Classify the cases of a view into error categories."""
        plan, conventions = self.plans.views[view], self.inputs.request.conventions
        facts = self.inputs.get_facts(plan.source)
        stage_cases = build_stage_cases(self.verdicts(view), self.verdicts(self.plans.stages[view]), facts)
        rule = CaseRule(
            relevant_labels=self._nearby_labels(stage_cases, facts.pairing, is_whole=not plan.view.filters),
            nil_equals_nil=conventions.near_mentions is NearMentions.ALL,
            neuter_only=conventions.false_coreference is FalseCoreference.PRONOUNS,
        )
        has_gold_mentions = plan.selection.rules.gold_mentions is not None
        return CategorisedCases.from_table(
            build_case_table(stage_cases, facts, rule), conventions.categories, has_gold_mentions=has_gold_mentions
        )

    def _nearby_labels(self, stage_cases: StageCases, pairing: Pairing, *, is_whole: bool) -> Bools:
        """Return the mask of gold labels that count as near a wrong prediction, by the setting `near-mentions`.

        Such labels are the labels of the view's cases, or all labels that are no parts. In a filtered view (not
        `is_whole`), the latter must also be required, not NIL, and neither quantities nor datetimes.
        """
        labels = np.zeros(len(pairing.gold_entity), np.bool_)
        if self.inputs.request.conventions.near_mentions is NearMentions.IN_VIEW:
            labels[stage_cases.gold[~stage_cases.is_part & (stage_cases.gold >= 0)]] = True
            return labels
        labels[:] = ~pairing.trees.child
        if not is_whole:
            labels &= (pairing.gold_entity != NIL) & (pairing.gold_kind == 0) & ~pairing.corpus.mention_index.optional
        return labels

    def had_cases(self, plan: Plan) -> bool:
        """Return whether a filtered view had cases before a tuned threshold; False if nothing was filtered or tuned."""
        if not plan.view.filters or str(replace(plan.view, filters=())) not in self.thresholds.tuned:
            return False
        pairing, size = self.inputs.pairing(plan.source), len(self.inputs.corpus)
        gold, predictions = plan.at_threshold(Threshold()).selection.apply(
            pairing.gold_block(0, size), pairing.prediction_block(0, size)
        )
        return bool(len(gold.items) or len(predictions.items))

    def collect_cross_document_data(self, rows: Longs) -> dict[str, CrossDocumentData]:
        """Return the data of indivisible views by `Plan.cross_document_key`; views that need the same data share it.

        `rows` are the rows of the documents in the gold standard.
        """
        plans = {plan.cross_document_key: plan for plan in self.plans.views.values() if plan.is_indivisible}
        by_document = self.inputs.context is None or bool(self.inputs.request.interval_options.jackknife_groups)
        return {
            name: plan.collect_cross_document_data(
                self.inputs.pairing(plan.source), by_document=by_document, document_rows=rows
            )
            for name, plan in plans.items()
        }

    def view_sums(self, name: str) -> ViewSums:
        """Return the sums of one view, with rankings, scores and case weights if a measure or interval needs them."""
        plan, plans = self.plans.views[name], self.plans
        pairing = self.inputs.pairing(plan.source)
        measure_names = self.inputs.request.all_measures
        measures = [
            get_measure(measure) for measure in measure_names if str(measure.view) == name and measure.group is None
        ]
        ranking = scored_predictions = scored_documents = None
        if plan.relation.level == "document" and any(measure.from_ranking is not None for measure in measures):
            ranking = build_ranking(pairing, self.verdicts(name))
        if any(measure.from_scores is not None for measure in measures):
            cases = self.verdicts(name)
            scored_predictions, scored_documents = (
                get_scored_predictions(pairing, cases),
                get_scored_documents(pairing, cases),
            )
        # Only the gold columns of detection count: unmatched predictions depend on the views that share the table.
        detection = self.weights(plans.detection[name]) * _GOLD_COLUMNS if name in plans.detection else None
        interval_options = self.inputs.request.interval_options
        case_weights = (
            count_distinct_rows(self.verdicts(name).weights())
            if interval_options.resamples and interval_options.ci_unit == "cases"
            else None
        )
        return ViewSums(
            self.weights(name),
            detection,
            self.had_cases(plan),
            ranking,
            scored_predictions,
            scored_documents,
            case_weights,
        )

    def group_cases(self, facet: str, views: Sequence[str]) -> dict[str, GroupedSums]:
        """Return the summed weights of cases by facet value and document, for each view.

        Views of the same kind are grouped at once.
        """
        grouped: dict[str, GroupedSums] = {}
        by_kind: dict[tuple[TaskSource, bool], list[str]] = {}
        for name in views:
            plan = self.plans.views[name]
            by_kind.setdefault((plan.source, plan.view_options.groups_by_gold), []).append(name)
        for (source, by_gold), members in by_kind.items():
            values: Values = get_facet_values(self.inputs, facet, source)
            cases = [self._select_facet_cases(facet, self.verdicts(name), source) for name in members]
            sums = group_cases(values, cases, by_gold=by_gold or self.inputs.get_facet(facet).uses_gold_group)
            grouped |= dict(zip(members, sums, strict=True))
        return {name: grouped[name] for name in views}

    def _select_facet_cases(self, facet: str, cases: Verdicts, source: TaskSource) -> Verdicts:
        """Return the cases that a facet applies to; some facets exclude coreference."""
        if not self.inputs.get_facet(facet).excludes_coreference:
            return cases
        return self.drop_coreference(cases, source)

    def drop_coreference(self, cases: Verdicts, source: TaskSource = "mentions") -> Verdicts:
        """Return the cases whose mention, or else prediction, is neither a nominal nor a pronoun."""
        kind = get_mention_types(self.inputs.get_facts(source), cases)
        return cases.select((kind != NOMINAL) & (kind != PRONOMINAL))

    def count_skipped(self) -> dict[str, int]:
        """Count everything that was excluded from this block's scores, by description."""
        inputs, plans = self.inputs, self.plans
        pairing = inputs.pairing()
        sources = {plan.source for plan in plans.views.values()}
        counts = {
            **inputs.invented_counts,
            **pairing.skipped,
            **count_unscored(inputs.corpus, inputs.run, sources, inputs.context),
            **inputs.dropped_counts,
        }
        counts |= self._count_excluded()
        rule = inputs.request.conventions.threshold
        if isinstance(rule, Threshold) and rule.min_score is not None:
            score = pairing.prediction_block(0, len(inputs.corpus)).score
            counts["predictions without a score, which count at every threshold"] = int(np.isnan(score).sum())
        return counts

    def _count_excluded(self) -> dict[str, int]:
        """Count the items that the rules of the profile exclude before matching, each under the first rule only.

        Thresholds that differ by view count nothing here. The first view with a rule decides its counts.
        """
        rule, size = self.inputs.request.conventions.threshold, len(self.inputs.corpus)
        counts: dict[str, int] = {}
        for plan in self.plans.views.values():
            has_unlinked = bool((self.inputs.pairing(plan.source).gold_entity == NO_LINK).any())
            compares_links = plan.relation.compares_links and plan.relation.level == "mention"
            selection = plan.at_threshold(rule if isinstance(rule, Threshold) else Threshold()).selection
            names = {reason: _name_exclusions(reason, plan.view.task) for reason in selection.exclusions}
            counts_links = compares_links and has_unlinked and _ON_UNLINKED not in counts
            if all(name in counts for _, name in names.values()) and not counts_links:
                continue
            pairing = self.inputs.pairing(plan.source)
            gold, predictions = pairing.gold_block(0, size), pairing.prediction_block(0, size)
            if (is_outside := predictions.items.is_outside) is not None:  # another note counts these
                predictions = PredictedItems(predictions.items.take(~is_outside), predictions.score[~is_outside])
            for reason, n_gold, n_predictions in selection.count_excluded(gold, predictions):
                for name, count in zip(names[reason], (n_gold, n_predictions), strict=True):
                    if name is not None:
                        counts.setdefault(name, count)
            if counts_links:
                counts[_ON_UNLINKED] = selection.count_links_on_unlinked(gold, predictions)
        return counts

    def to_sweep_sums(self, views: Sequence[ViewName], grid: int | None, row: Longs | None = None) -> SweepSums:
        """Return how the statistics of `views` change as the threshold falls; raise for indivisible views.

        With `grid`, only thresholds that are multiples of `1 / grid` need to be exact. `row` has the row of each
        document in the whole corpus; by default the block is the whole corpus.
        """
        steps: dict[str, Steps] = {}
        has_gold: dict[str, Bools] = {}
        scored_keys = set()
        for view in views:
            plan, key = self.inputs.create_planner().plan_view(view), threshold_key(view)
            if plan.is_indivisible:
                raise UsageError(
                    f"{view} cannot be divided into documents and has no threshold curve. Choose a match relation."
                )
            pairing = self.inputs.pairing(plan.source)
            if pairing.run.predictions.field("score") is not None:
                scored_keys.add(key)
            if len(self.inputs.corpus):
                table_key = self.inputs.table_key(plan), grid
                if table_key not in self.inputs.judged.sweeps:
                    self.inputs.judged.sweeps[table_key] = sweep_documents(plan, pairing, self.block_size, grid)
                steps[key] = self.inputs.judged.sweeps[table_key]
            has_gold[key] = pairing.has_gold
        return SweepSums(
            np.arange(len(self.inputs.corpus)) if row is None else row, has_gold, steps, frozenset(scored_keys)
        )


_ON_UNLINKED: Final = "links on unlinked gold spans (ignored where links are compared)"


def _name_exclusions(reason: str, task: str | None) -> tuple[str | None, str]:
    """Return the notes on labels and predictions that a rule excludes; None if it cannot exclude labels."""
    if reason == IS_UNLINKED:
        return f"{reason} gold labels", f"{reason} predictions"
    if reason in (BELOW_THRESHOLD, OFF_GOLD_MENTIONS, NOT_BEST):
        return None, f"predictions {reason}{f' of {task}' if task and reason != BELOW_THRESHOLD else ''}"
    return f"gold labels {reason}", f"predictions {reason}"


class LazyBlockSums(msgspec.Struct, frozen=True, eq=False, dict=True):
    """The sums of a block in memory: what `BlockSums` has, each part computed on first use."""

    block: Block
    """The documents with their verdicts."""
    rows: Longs | None = None
    """Row of each document in the whole corpus; None if the block is the whole corpus."""

    def to_sums(self) -> BlockSums:
        """Compute all parts, so that an engine can transfer them."""
        return BlockSums(**{name: getattr(self, name) for name in BlockSums.__struct_fields__})

    @property
    def _inputs(self) -> TaskInputs:
        """Corpus and run of the block."""
        return self.block.inputs

    @cached_property
    def row(self) -> Longs:
        """Row of each document in the whole corpus."""
        return np.arange(len(self._inputs.corpus)) if self.rows is None else self.rows

    @property
    def ids(self) -> Arrow:
        """Ids of the documents."""
        return self._inputs.corpus.ids

    @cached_property
    def unknown_responses(self) -> tuple[tuple[int, str], ...]:
        """Row and document id of the responses to documents outside the gold standard."""
        rows = np.flatnonzero(self._inputs.pairing().document_index < 0)
        ids = self._inputs.original_run.ids.take(pa.array(rows)).to_pylist() if len(rows) else []
        return tuple(zip(rows.tolist(), ids, strict=True))

    @cached_property
    def data_counts(self) -> tuple[DataCounts, DataCounts]:
        """Counts of the data on the gold side and in the predictions."""
        return count_data(self._inputs.corpus), count_data(self._inputs.run)

    @cached_property
    def skipped(self) -> Mapping[str, int]:
        """Counts of excluded items by description."""
        return self.block.count_skipped()

    @cached_property
    def input_checks(self) -> InputChecks:
        """Findings about suspicious input; only the whole corpus is checked for likely mistakes in offsets."""
        inputs = self._inputs
        has_spans = self.rows is None and inputs.request.conventions.task.source in MENTION_SOURCES
        compares_types = self._compares_types
        return check_inputs(
            inputs.pairing(),
            inputs.original_run,
            has_spans=has_spans,
            compares_types=compares_types,
            needs_types=compares_types and any(plan.relation.is_typed for plan in self.block.plans.views.values()),
        )

    @property
    def _compares_types(self) -> bool:
        """Whether scores depend on equal names of types on both sides: by relation, filter or facet.

        With a class hierarchy, types of different names may match, too.
        """
        request, plans = self._inputs.request, self.block.plans.views.values()
        facets = [*request.facets, *(condition for plan in plans for condition in plan.view.filters)]
        has_hierarchy = request.conventions.typing is not Typing.SHARED and request.kb is not None
        return any("types" in facet.partition("=")[0].split("+") for facet in facets) or (
            not has_hierarchy and any(plan.relation.is_typed for plan in plans)
        )

    @cached_property
    def id_statistics(self) -> tuple[IdStatistics, IdStatistics] | None:
        """How ids are written on both sides; None if no links are compared, or only links of triples.

        Each triple holds several ids.
        """
        request, views = self._inputs.request, self.block.plans.views.values()
        if request.conventions.task.source == "triples" or not any(plan.compares_links for plan in views):
            return None
        pairing = self._inputs.pairing()
        kb = pairing.read_options.kb or request.kb  # the former spells ids as these data do
        return collect_id_statistics(pairing, kb)

    @property
    def has_shared_id(self) -> bool:
        """Whether an id occurs on both sides, which is found faster than `id_statistics`."""
        return has_shared_id(self._inputs.pairing())

    @cached_property
    def undecided_counts(self) -> tuple[int, int]:
        """Items without known names, and predictions on quantities of unknown kind."""
        return count_undecided(self._inputs)

    @cached_property
    def source_counts(self) -> Mapping[str, int]:
        """Numbers of labels by facet and source of its value, as notes describe them."""
        return count_sources(self._inputs)

    @cached_property
    def has_gold(self) -> Mapping[TaskSource, Bools]:
        """Which documents have gold items, by kind of item."""
        sources = {plan.source for plan in self.block.plans.views.values()}
        return {source: self._inputs.pairing(source).has_gold for source in sources}

    @cached_property
    def views(self) -> Mapping[str, ViewSums]:
        """Sums by view."""
        return {name: self.block.view_sums(name) for name in self._counted_views}

    @property
    def _counted_views(self) -> list[str]:
        """The views that can be divided into documents; none without documents."""
        views = self.block.plans.views.items() if len(self._inputs.corpus) else ()
        return [name for name, plan in views if not plan.is_indivisible]

    @cached_property
    def _facets(self) -> dict[str, Facet]:
        """The facets of the request by name."""
        return {name: self._inputs.get_facet(name) for name in self._inputs.request.facets}

    @cached_property
    def _value_facets(self) -> list[str]:
        """The facets that divide the cases of a view by value."""
        return [
            name
            for name, facet in self._facets.items()
            if facet.scores == "values" and not facet.from_documents and not needs_rematching(self._inputs, name)
        ]

    @cached_property
    def grouped_sums(self) -> Mapping[str, Mapping[str, GroupedSums]]:
        """Sums by facet, view, value and document."""
        return {name: self.block.group_cases(name, self._counted_views) for name in self._value_facets}

    @cached_property
    def predicted_facets(self) -> frozenset[str]:
        """Facets for which predictions have values."""
        values = {name: get_facet_values(self._inputs, name) for name in self._value_facets}
        return frozenset(name for name, facet_values in values.items() if facet_values.predictions.has_values)

    @cached_property
    def document_values(self) -> Mapping[str, Arrow]:
        """Value of each document by facet."""
        return {
            name: get_document_values(self._inputs, name)
            for name, facet in self._facets.items()
            if facet.from_documents and facet.scores == "values"
        }

    @cached_property
    def _categorised_views(self) -> dict[str, CategorisedCases]:
        """The cases of each view with their error categories, if errors are counted."""
        counts_errors = self._counted_views and any(facet.scores == "errors" for facet in self._facets.values())
        return {view: self.block.categorise_cases(view) for view in self.block.plans.stages} if counts_errors else {}

    @cached_property
    def category_counts(self) -> Mapping[str, Mapping[str, CategoryCounts]]:
        """Counts of error categories by view and category."""
        categorised, size = self._categorised_views, len(self._inputs.corpus)
        words = count_evaluated_words(self._inputs.pairing()) if categorised else None
        return {view: count_errors(cases, size, words) for view, cases in categorised.items()}

    @cached_property
    def views_with_candidates(self) -> frozenset[str]:
        """Views in which some prediction has several candidates."""
        return frozenset(view for view, cases in self._categorised_views.items() if cases.has_candidates)

    @cached_property
    def cross_document_data(self) -> Mapping[str, CrossDocumentData]:
        """Data of indivisible views by `Plan.cross_document_key`."""
        return self.block.collect_cross_document_data(self.row)

    @property
    def overflows(self) -> Mapping[str, int]:
        """Number of items of indivisible views that are too large to keep: none."""
        return {}


def _plans_for_source(source: TaskSource, plans: Mapping[str, Plan]) -> dict[str, Plan]:
    """Return the plans for one kind of item."""
    return {name: plan for name, plan in plans.items() if plan.source == source}
