"""Plans: which tables of verdicts an evaluation computes, and how.

A view is a match relation with filters; its measures are computed from its table of verdicts. Two further tables judge
a view by spans only: its detection table, for measures that need it, and its (detection) stage, by which error
categories tell detection from linking. A block is a part of the documents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec
import numpy as np
from msgspec.structs import replace

from karat.evaluation.measures import check_relation, component_views, detection_stage, find_key, get_measure
from karat.evaluation.request import Request
from karat.evaluation.view import ViewOptions
from karat.kb.hierarchy import Hierarchy
from karat.matching.align.near_miss_credit import add_near_miss_credit
from karat.matching.align.overlap import find_overlaps, same_span
from karat.matching.align.type_matching import compare_types
from karat.matching.judge.elevant_lookup import LookupTables, judge_lookup, look_up_predictions
from karat.matching.judge.judge import PairCache, judge_block
from karat.matching.judge.match_counts import MatchCounts, count_matches, is_countable
from karat.matching.judge.neleval_keys import (
    CrossDocumentData,
    KeyNames,
    NelevalClusters,
    collect_cross_document_data,
    filter_by_conditions,
    judge_keys,
)
from karat.matching.read.pairing import Pairing, SpanArrays
from karat.matching.select.selection import Selection, build_rules, build_selection
from karat.matching.weighting.recall_weights import add_weights, membership_weights
from karat.model.errors import KaratError, UsageError
from karat.model.items import GoldItems, PredictedItems
from karat.model.measure_name import MeasureName, ViewName
from karat.model.registry import get_plugin
from karat.model.results.clusters import ClusterMembers, compare_members
from karat.model.results.verdict import Verdicts
from karat.model.spec.clustering import Clustering
from karat.model.spec.key import Key
from karat.model.spec.relation import MatchRelation
from karat.model.spec.settings.conventions import Assignment, ClusterMembership, Overlaps
from karat.model.spec.settings.task import TASKS, TaskSource
from karat.model.spec.settings.threshold import Threshold
from karat.model.tables.columns import NO_LINK, Floats, Longs

_ONE_TO_ONE = (Assignment.OPTIMAL, Assignment.GREEDY)

_ANYWHERE = MatchRelation("Any", "Any overlap.", find_overlaps)
"""Relation that selects the items if a key compares them."""


class Plan(msgspec.Struct, frozen=True):
    """One table of verdicts: which items are compared, and by which relation or key."""

    view: ViewName
    """View that the verdicts belong to."""
    source: TaskSource
    """Kind of item: mentions, entities or triples."""
    relation: MatchRelation
    """Relation that decides which items match."""
    selection: Selection
    """Filters and rules that select gold items and predictions."""
    assignment: Assignment
    """How gold items and predictions are assigned to each other."""
    view_options: ViewOptions
    """How the statistics become scores."""
    segmentation_relation: MatchRelation | None = None
    """Relation that chooses among alternative segmentations, if it is not `relation`."""
    key: Key | None = None
    """Fields that are compared in place of a relation, as in neleval."""
    only_neighbours: bool = False
    """Whether shares of characters count duplicates and compare only neighbours, under `overlaps=neleval`."""
    is_neleval_clustering: bool = False
    """Whether a mention in several clusters counts as in neleval, under `clusters=neleval`."""
    lookup_tables: LookupTables | None = None
    """Tables for ELEVANT's assignment by lookup."""
    weight_cases: Callable[[Verdicts, GoldItems], Verdicts] | None = None
    """Function that weights the verdicts by membership, or None."""

    def judge(self, gold: GoldItems, predictions: PredictedItems, pair_cache: PairCache) -> Verdicts:
        """Select the items of a block that the view compares, match them and return the verdicts.

        `pair_cache` shares matches between plans for the same block. An error in a user's relation file is raised as
        `KaratError` with the name of the file.
        """
        if self.lookup_tables is not None:
            return self._look_up(gold, predictions, pair_cache, self.lookup_tables)
        gold, predictions = self.selection.apply(gold, predictions)
        cases = self._match(gold, predictions, pair_cache)
        return cases if self.weight_cases is None else self.weight_cases(cases, gold)

    def count(
        self,
        gold: GoldItems,
        predictions: PredictedItems,
        pair_cache: PairCache,
        first_document: int,
        end_document: int,
    ) -> MatchCounts | Verdicts:
        """Return the match counts of a block's documents, or the verdicts if they cannot be counted without them.

        Both have `document_sums`. The block has the documents from `first_document` to before `end_document`.
        """
        if self._needs_only_match_size:
            match_counts = count_matches(
                *self.selection.apply(gold, predictions), self.relation, first_document, end_document
            )
            if match_counts is not None:
                return match_counts
        return self.judge(gold, predictions, pair_cache)

    def can_count_spans(self, spans: SpanArrays) -> bool:
        """Return whether the sums follow from how many of all `spans` can be matched, without filters and verdicts."""
        return (
            self._needs_only_match_size
            and is_countable(self.relation)
            and self.selection.keeps_everything(is_fully_linked=spans.is_fully_linked)
        )

    @property
    def _needs_only_match_size(self) -> bool:
        """Whether the sums depend only on how many items match, not on which."""
        is_plain = self.key is None and self.lookup_tables is None and self.weight_cases is None
        return is_plain and self.assignment is Assignment.OPTIMAL

    def _match(self, gold: GoldItems, predictions: PredictedItems, pair_cache: PairCache) -> Verdicts:
        """Match the selected items by key or relation and return their verdicts."""
        if self.key is not None:
            return judge_keys(gold, predictions, self.key, only_neighbours=self.only_neighbours)
        try:
            return judge_block(
                gold, predictions, self.relation, self.assignment, pair_cache, self.segmentation_relation
            )
        except Exception as error:
            if isinstance(error, KaratError) or not self.view.relation.endswith(".py"):
                raise
            message = f"{self.view.relation}: the relation raised an error"
            raise KaratError(f"{message} ({type(error).__name__}: {error}). Correct the file.") from error

    def _look_up(
        self, gold: GoldItems, predictions: PredictedItems, pair_cache: PairCache, tables: LookupTables
    ) -> Verdicts:
        """Judge by ELEVANT's lookup and return the verdicts; here filters apply after matching."""
        gold, predictions = self.selection._replace(filters=()).apply(gold, predictions)
        visible = np.ones(len(gold.mention), np.bool_), np.ones(len(predictions.items), np.bool_)
        for masks in self.selection.filters:
            gold_mask, prediction_mask = masks(gold, predictions)
            visible = visible[0] & gold_mask, visible[1] & prediction_mask
        matches = pair_cache.get_or_compute(
            (look_up_predictions,),
            gold.items,
            predictions.items,
            lambda: look_up_predictions(gold, predictions.items, tables),
        )
        return judge_lookup(
            gold,
            predictions,
            matches,
            visible,
            tables,
            compares_links=self.relation.compares_links,
            is_whole=not self.selection.filters,
        )

    @property
    def compares_links(self) -> bool:
        """Whether the ids of gold items and predictions are compared."""
        return self.relation.compares_links if self.key is None else not {"kbid", "eid"}.isdisjoint(self.key.fields)

    @property
    def is_indivisible(self) -> bool:
        """Whether the view cannot be divided into documents, because clusters or keys span documents."""
        return self.key is not None and self.key.is_across_documents

    @property
    def cross_document_key(self) -> str:
        """Name shared by the indivisible views that need the same mentions and clusters; only for such views."""
        assert self.key is not None
        kind = "mentions" if self.key.clustering is None else "clusters"
        return str(replace(self.view, relation=str(self.key._replace(aggregator=kind))))

    def collect_cross_document_data(
        self, pairing: Pairing, *, by_document: bool, document_rows: Longs
    ) -> CrossDocumentData:
        """Collect the keys and clusters that an indivisible view compares from the documents of `pairing`.

        With `by_document`, the data keeps the document of each item, so that documents can be excluded later.
        `document_rows` are the rows of the documents in the gold standard.
        """
        assert self.key is not None
        everything = pairing.gold_block(0, len(pairing.corpus)), pairing.prediction_block(0, len(pairing.corpus))
        gold, predictions = self.selection.apply(*everything)
        sides = (
            filter_by_conditions(gold.items, self.key.conditions),
            filter_by_conditions(predictions.items, self.key.conditions),
        )
        names = None if pairing.read_options.context is None else KeyNames(pairing.cluster_names, pairing.type_names)
        return collect_cross_document_data(
            *sides,
            self.key,
            names,
            by_document=by_document,
            neleval=NelevalClusters(document_rows, pairing.unlinked_cluster) if self.is_neleval_clustering else None,
        )

    def sum_members(self, members: ClusterMembers) -> Floats:
        """Return the sums of the four `Weights` of a view that cannot be divided into documents, as one row.

        `members` has all mentions and clusters of the view. The entries of the row are matched and unmatched
        predictions, matched and unmatched gold.
        """
        assert self.key is not None
        if self.key.clustering is None:
            gold, predictions, n_both = members.count_mentions()
            return np.array([n_both, predictions - n_both, n_both, gold - n_both], np.float64)
        return np.array(
            get_plugin("clusterings", self.key.clustering, Clustering).weights(compare_members(members)), np.float64
        )

    def at_threshold(self, threshold: Threshold) -> Plan:
        """Return the plan with another score threshold."""
        return replace(self, selection=self.selection._replace(threshold=threshold))


class Plans(msgspec.Struct, frozen=True):
    """All plans of an evaluation by name."""

    views: Mapping[str, Plan]
    """Plans of the views to score."""
    detection: Mapping[str, str]
    """Name of the plan that counts detection, for views with a measure that needs it."""
    all: Mapping[str, Plan]
    """All plans: those of views, of detection and of stages."""
    components: Mapping[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    """For views that are means of other views, the names of these views."""
    stages: Mapping[str, str] = msgspec.field(default_factory=dict)
    """Name of the plan that compares only spans, for views that compare links."""
    missing_stages: Mapping[str, str] = msgspec.field(default_factory=dict)
    """Why a view has no such plan."""


def _name_stage(stage: Plan, plans: Mapping[str, Plan]) -> str:
    """Return a name for the plan of a stage: its view, with the threshold if `plans` has the name at another one."""
    name, threshold = str(stage.view), stage.selection.threshold
    return name if name not in plans or plans[name].selection.threshold == threshold else f"{name} at {threshold}"


def threshold_key(view: ViewName) -> str:
    """Return the key under which all views of the same task and relation share a threshold."""
    return f"{view.task or ''}/{view.relation}"


class Planner(msgspec.Struct, frozen=True):
    """Creates the plans for one corpus and run."""

    request: Request
    """What the evaluation computes."""
    pairing: Callable[[TaskSource], Pairing]
    """Returns the aligned corpus and run for a kind of item."""
    thresholds: Mapping[str, Threshold] = msgspec.field(default_factory=dict)
    """Thresholds by `threshold_key`."""
    weights: dict[TaskSource, Floats] = msgspec.field(default_factory=dict)
    """Membership weights of the gold items, cached by kind of item."""

    def plan_measures(self, measures: Sequence[MeasureName], *, stages: Sequence[ViewName] = ()) -> Plans:
        """Return the plans that `measures` need: one per view or component view, and those of detection.

        The views in `stages` also get a plan that compares only spans, for error categories.
        """
        views: dict[str, Plan] = {}
        components: dict[str, tuple[str, ...]] = {}
        for view in dict.fromkeys(name.view for name in measures):
            parts = component_views(view, self.request.conventions.task_name)
            for part in parts or (view,):
                views.setdefault(str(part), self.plan_view(part))
            if parts:
                components[str(view)] = tuple(map(str, parts))
        detection_measures = [
            name for name in measures if get_measure(name).needs_detection and str(name.view) not in components
        ]
        detection_plans = {
            str(name.view): self._plan_detection(name, views[str(name.view)]) for name in detection_measures
        }
        all_plans = dict(detection_plans.values()) | views
        stage_plans, missing_stages = self._plan_stages({name: views[name] for name in map(str, stages)})
        stage_names: dict[str, str] = {}
        for name, stage in stage_plans.items():
            stage_names[name] = _name_stage(stage, all_plans)
            all_plans.setdefault(stage_names[name], stage)
        return Plans(
            views,
            {view: key for view, (key, _) in detection_plans.items()},
            all_plans,
            components,
            stage_names,
            missing_stages,
        )

    def _plan_stages(self, views: Mapping[str, Plan]) -> tuple[dict[str, Plan], dict[str, str]]:
        """Return plans that compare only the spans of `views`, by view name, and the reason where there is none.

        The plans have the thresholds of the views. Views that compare no links are in neither.
        """
        stage_plans: dict[str, Plan] = {}
        missing_stages: dict[str, str] = {}
        for name, plan in views.items():
            stage = detection_stage(plan.view, self.request.conventions.task_name)
            if isinstance(stage, ViewName):
                stage_plans[name] = self._create_plan(stage).at_threshold(plan.selection.threshold)
            elif stage is not None:
                missing_stages[name] = stage
        return stage_plans, missing_stages

    def plan_view(self, view: ViewName) -> Plan:
        """Return the plan of one view; raise if its relation contradicts the task."""
        check_relation(view, self.request.conventions.task_name)
        return self._create_plan(view)

    def _create_plan(self, view: ViewName) -> Plan:
        """Create the plan of a view without checking its relation against the task.

        Raise `UsageError` for settings that contradict the relation, such as lookup with overlapping spans.
        """
        conventions = self.request.conventions
        task_name = view.task or conventions.task_name
        task, key = TASKS[task_name], find_key(view.relation)
        relation = _ANYWHERE if key is not None else get_plugin("relations", view.relation, MatchRelation)
        pairing = self.pairing(task.source)
        if relation.is_typed:
            kb = self.request.kb
            hierarchy = kb.hierarchy if kb is not None else Hierarchy.from_pairs(())
            prefixes = task.type_prefixes or conventions.prefixes
            relation = compare_types(relation, conventions.typing, pairing.type_names, hierarchy, prefixes)
        if relation.min_relatedness is not None:
            from karat.matching.align.relatedness import compare_by_relatedness  # imported late: it reads snapshots

            relation = compare_by_relatedness(relation, pairing.names, self.request.kb)
        segmentation_relation = (
            relation if relation.partial_credit else None
        )  # partial credit does not change the segmentation
        if relation.partial_credit is not None:
            relation = add_near_miss_credit(relation, pairing.names, self.request.kb)
        threshold = self.thresholds.get(threshold_key(view), Threshold())
        rules = build_rules(
            conventions, has_gold_mentions=task.has_gold_mentions, compares_links=task.required_data == "links"
        )
        selection = build_selection(pairing, relation, view.filters, threshold, rules)
        assignment = conventions.assignment
        if (
            relation.level == "document"
            and not rules.count_repeated_entities
            and assignment in (*_ONE_TO_ONE, Assignment.LOOKUP)
        ):
            assignment = Assignment.MEMBERSHIP  # entities are compared as sets, so the assignment does not matter
        lookup_tables = None
        if assignment is Assignment.LOOKUP:
            lookup_tables = LookupTables(pairing.trees, pairing.unlinked_code, pairing.gold_kind > 0)
            if (
                relation.spans_match is not same_span
                or relation.is_typed
                or relation.partial_credit
                or relation.min_relatedness
            ):
                raise UsageError(
                    f"assignment=lookup compares exact spans, unlike {view.relation}. Use strong or mention."
                )
        if self.request.membership is not None and key is not None and key.clustering is not None:
            raise UsageError(
                f"{view.relation} compares clusters, which membership cannot weight. Set membership=whole."
            )
        weight_cases = self._case_weighting(task.source, relation)
        view_options = ViewOptions(
            conventions.empty, bool(view.filters), relation.credit is not None, relation.uses_gold_group
        )
        return Plan(
            view,
            task.source,
            relation,
            selection,
            assignment,
            view_options,
            segmentation_relation,
            key=key,
            only_neighbours=key is not None and key.is_overlap and conventions.overlaps is Overlaps.NELEVAL,
            is_neleval_clustering=conventions.clusters is ClusterMembership.NELEVAL,
            lookup_tables=lookup_tables,
            weight_cases=weight_cases,
        )

    def _case_weighting(
        self, source: TaskSource, relation: MatchRelation
    ) -> Callable[[Verdicts, GoldItems], Verdicts] | None:
        """Return a function that weights verdicts by the membership of gold mentions, or None if all count fully."""
        membership = self.request.membership
        if membership is None:
            return None
        if source not in self.weights:
            pairing = self.pairing(source)
            is_block = pairing.read_options.context is not None
            self.weights[source] = membership_weights(pairing.corpus.labels, membership, is_block=is_block)
        weights = self.weights[source]
        return lambda cases, gold: add_weights(cases, gold, weights, membership, compares_links=relation.compares_links)

    def _plan_detection(self, name: MeasureName, plan: Plan) -> tuple[str, Plan]:
        """Return name and plan of the detection table that accuracy (`name`) divides by, for the view of `plan`.

        All predictions are compared with the linked mentions of the view. If every mention counts, is linked and has a
        single segmentation, this equals the plain view of the detection relation. Raise `UsageError` if the relation
        has no detection.
        """
        if plan.relation.detection is None:
            raise UsageError(
                f"{name} needs a relation that compares spans and links; {name.view.relation} has no detection. "
                "Request strong:accuracy or weak:accuracy."
            )
        if plan.lookup_tables is not None:  # both stages use the same cases
            view = replace(name.view, relation=plan.relation.detection)
            return str(view), self._create_plan(view)
        relation = get_plugin("relations", plan.relation.detection, MatchRelation)
        corpus = self.pairing(plan.source).corpus
        is_plain = not (
            name.view.filters or (corpus.labels.entity == NO_LINK).any() or (corpus.mention_index.parent >= 0).any()
        )
        uses_plain_view = (
            is_plain
            and not plan.selection.rules.drop_nil
            and name.view.task is None
            and not plan.selection.rules.gold_mentions
        )
        name_in_plans = plan.relation.detection if uses_plain_view else f"detection of {name.view}"
        selection, weight_cases = plan.selection.for_detection(relation), self._case_weighting(plan.source, relation)
        segmentation_relation = plan.segmentation_relation or plan.relation
        detection_plan = replace(
            plan,
            relation=relation,
            selection=selection,
            segmentation_relation=segmentation_relation,
            key=None,
            weight_cases=weight_cases,
        )
        return name_in_plans, detection_plan
