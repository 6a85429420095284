"""Which tables of verdicts an evaluation has to make."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec
import numpy as np
from msgspec.structs import replace

from karat.errors import KaratError, UsageError
from karat.evaluation.measures import check_task, key_named, measure_of, parts_of, staged
from karat.evaluation.request import Request
from karat.evaluation.view import Shape
from karat.kb.hierarchy import Hierarchy
from karat.matching.align.joins import overlapping, same_span
from karat.matching.align.near import credited
from karat.matching.align.typing import typed
from karat.matching.judge.counting import MatchCounts, countable, counts
from karat.matching.judge.judge import Located, verdicts
from karat.matching.judge.keys import KeyNames, KeyReach, kept, key_verdicts, reach
from karat.matching.judge.lookup import Tied, look_up, looked_up
from karat.matching.read.pairing import Bare, Pairing
from karat.matching.select.select import Selection, rules, selection
from karat.matching.weigh.weighing import memberships, weighed
from karat.model.clusters import Held, clusters_of
from karat.model.items import Answers, Gold
from karat.model.name import MeasureName, ViewName
from karat.model.tables.columns import NO_LINK, Floats
from karat.model.verdict import Verdicts
from karat.registry import get
from karat.spec.choices.conventions import Assignment
from karat.spec.choices.task import TASKS, Source
from karat.spec.choices.threshold import Threshold
from karat.spec.clustering import Clustering
from karat.spec.key import Key
from karat.spec.relation import Relation

_ONE_TO_ONE = (Assignment.OPTIMAL, Assignment.GREEDY)

_ANYWHERE = Relation("Any", "Whatever stands there.", overlapping)
"""What items are selected by where a key compares them."""


class Plan(msgspec.Struct, frozen=True):
    """One table of verdicts: which items, under which relation or key."""

    view: ViewName
    source: Source
    relation: Relation
    select: Selection
    assignment: Assignment
    shape: Shape
    segment_by: Relation | None = None
    key: Key | None = None
    tied: Tied | None = None
    weigh: Callable[[Verdicts, Gold], Verdicts] | None = None

    def verdicts(self, gold: Gold, answers: Answers, known: Located) -> Verdicts:
        """The verdicts on a block; what a user's own relation file does wrong is said as such."""
        if self.tied is not None:
            return self._looked_up(gold, answers, known, self.tied)
        gold, answers = self.select.of(gold, answers)
        cases = self._matched(gold, answers, known)
        return cases if self.weigh is None else self.weigh(cases, gold)

    def counts(self, gold: Gold, answers: Answers, known: Located, first: int, last: int) -> MatchCounts | Verdicts:
        """What the verdicts on some documents add up to, or these themselves where there is no shorter way."""
        if self._sizes_suffice:
            found = counts(*self.select.of(gold, answers), self.relation, first, last)
            if found is not None:
                return found
        return self.verdicts(gold, answers, known)

    def counts_all_of(self, both: Bare) -> bool:
        """Whether the weights are known from the sizes of largest matchings among all items as they are."""
        return self._sizes_suffice and countable(self.relation) and self.select.everything(linked=both.linked)

    @property
    def _sizes_suffice(self) -> bool:
        """Whether it does not matter who is matched with whom."""
        plain = self.key is None and self.tied is None and self.weigh is None
        return plain and self.assignment is Assignment.OPTIMAL

    def _matched(self, gold: Gold, answers: Answers, known: Located) -> Verdicts:
        if self.key is not None:
            return key_verdicts(gold, answers, self.key)
        try:
            return verdicts(gold, answers, self.relation, str(self.assignment), known, self.segment_by)
        except Exception as problem:
            if isinstance(problem, KaratError) or not self.view.relation.endswith(".py"):
                raise
            where = f"{self.view.relation}: the relation fails"
            raise KaratError(f"{where} ({type(problem).__name__}: {problem}). Correct the file.") from problem

    def _looked_up(self, gold: Gold, answers: Answers, known: Located, tied: Tied) -> Verdicts:
        """The verdicts where a part of the data is taken after matching."""
        gold, answers = self.select._replace(filters=()).of(gold, answers)
        shown = np.ones(len(gold.unit), np.bool_), np.ones(len(answers.items), np.bool_)
        for masks in self.select.filters:
            left, right = masks(gold, answers)
            shown = shown[0] & left, shown[1] & right
        found = known.once((look_up,), gold.items, answers.items, lambda: look_up(gold, answers.items, tied))
        return looked_up(gold, answers, found, shown, tied, links=self.relation.links, whole=not self.select.filters)

    @property
    def links(self) -> bool:
        """Whether the ids of one side are compared with those of the other."""
        return self.relation.links if self.key is None else not {"kbid", "eid"}.isdisjoint(self.key.fields)

    @property
    def weights_are_whole(self) -> bool:
        """Whether the view cannot be divided into documents: clusters and keys without a document reach across them."""
        return self.key is not None and self.key.reaches_across

    @property
    def reaches(self) -> str:
        """What views have in common that reach across documents and look at the same mentions and clusters."""
        assert self.key is not None
        kind = "mentions" if self.key.clustering is None else "clusters"
        return str(replace(self.view, relation=str(self.key._replace(aggregator=kind))))

    def reach(self, pairing: Pairing, *, by_document: bool) -> KeyReach:
        """What a view that reaches across documents needs of those that are here."""
        assert self.key is not None
        everything = pairing.gold(0, len(pairing.corpus)), pairing.answers(0, len(pairing.corpus))
        gold, answers = self.select.of(*everything)
        sides = kept(gold.items, self.key.conditions), kept(answers.items, self.key.conditions)
        names = None if pairing.reading.whole is None else KeyNames(pairing.cluster_names, pairing.type_names)
        return reach(*sides, self.key, names, by_document=by_document)

    def weights(self, held: Held) -> Floats:
        """The four sums of a view that cannot be divided into documents."""
        assert self.key is not None
        if self.key.clustering is None:
            gold, answers, both = held.counted()
            return np.array([both, answers - both, both, gold - both], np.float64)
        return np.array(get("clusterings", self.key.clustering, Clustering).weights(clusters_of(held)), np.float64)

    def above(self, threshold: Threshold) -> Plan:
        """The same with another threshold."""
        return replace(self, select=self.select._replace(threshold=threshold))


class Plans(msgspec.Struct, frozen=True):
    """The views to score, and for those whose measures ask for it the name under which detection is counted.

    `means` are views whose scores are the means of those of others. `stages` name for views with links the table in
    which the same answers are looked at for their places only, and `unstaged` says of others why there is none.
    """

    views: Mapping[str, Plan]
    detection: Mapping[str, str]
    all: Mapping[str, Plan]
    means: Mapping[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    stages: Mapping[str, str] = msgspec.field(default_factory=dict)
    unstaged: Mapping[str, str] = msgspec.field(default_factory=dict)


def _name_of(stage: Plan, others: Mapping[str, Plan]) -> str:
    """A stage is called like its view, but where another table of this name has another threshold."""
    name, threshold = str(stage.view), stage.select.threshold
    return name if name not in others or others[name].select.threshold == threshold else f"{name} at {threshold}"


def base_of(view: ViewName) -> str:
    """What a view shares its threshold with: all views of the same task and relation."""
    return f"{view.task or ''}/{view.relation}"


class Planner(msgspec.Struct, frozen=True):
    """Makes plans for one corpus and run; thresholds are known by the task and relation that they are for."""

    request: Request
    pairing: Callable[[Source], Pairing]
    thresholds: Mapping[str, Threshold] = msgspec.field(default_factory=dict)
    weights: dict[Source, Floats] = msgspec.field(default_factory=dict)

    def plans(self, wanted: Sequence[MeasureName], *, stages: Sequence[ViewName] = ()) -> Plans:
        """How to make the verdicts that some measures need; in `stages` both stages are to be told apart."""
        views: dict[str, Plan] = {}
        means: dict[str, tuple[str, ...]] = {}
        for view in dict.fromkeys(name.view for name in wanted):
            parts = parts_of(view, self.request.conventions.task_name)
            for part in parts or (view,):
                views.setdefault(str(part), self.plan(part))
            if parts:
                means[str(view)] = tuple(map(str, parts))
        detecting = [name for name in wanted if measure_of(name).needs_detection and str(name.view) not in means]
        found = {str(name.view): self._detection(name, views[str(name.view)]) for name in detecting}
        both = dict(found.values()) | views
        below, unstaged = self._stages({name: views[name] for name in map(str, stages)})
        places: dict[str, str] = {}
        for name, stage in below.items():
            places[name] = _name_of(stage, both)
            both.setdefault(places[name], stage)
        return Plans(views, {view: key for view, (key, _) in found.items()}, both, means, places, unstaged)

    def _stages(self, views: Mapping[str, Plan]) -> tuple[dict[str, Plan], dict[str, str]]:
        """The plans by which some views look at places only, at their own thresholds; or why there is none."""
        below: dict[str, Plan] = {}
        unstaged: dict[str, str] = {}
        for name, plan in views.items():
            stage = staged(plan.view, self.request.conventions.task_name)
            if isinstance(stage, ViewName):
                below[name] = self._made(stage).above(plan.select.threshold)
            elif stage is not None:
                unstaged[name] = stage
        return below, unstaged

    def plan(self, view: ViewName) -> Plan:
        """How to make the verdicts of one view, if it does not contradict its task."""
        check_task(view, self.request.conventions.task_name)
        return self._made(view)

    def _made(self, view: ViewName) -> Plan:
        """How to make the verdicts of a view, whoever asks for it: detection belongs to every task about links."""
        conventions = self.request.conventions
        name = view.task or conventions.task_name
        task, key = TASKS[name], key_named(view.relation)
        relation = _ANYWHERE if key is not None else get("relations", view.relation, Relation)
        pairing = self.pairing(task.source)
        if relation.typed:
            kb = self.request.kb
            hierarchy = kb.hierarchy if kb is not None else Hierarchy.of(())
            prefixes = task.types or conventions.prefixes
            relation = typed(relation, conventions.typing, pairing.type_names, hierarchy, prefixes)
        if relation.least is not None:
            from karat.matching.align.related import related  # which looks into packs

            relation = related(relation, pairing.names, self.request.kb)
        strict = relation if relation.near else None  # what is near earns points, and no other segmentation
        if relation.near is not None:
            relation = credited(relation, pairing.names, self.request.kb)
        threshold = self.thresholds.get(base_of(view), Threshold())
        rule = rules(conventions, given=task.given, annotations=task.needs == "links")
        select = selection(pairing, relation, view.filters, threshold, rule)
        assignment = conventions.assignment
        if relation.level == "document" and not rule.counted and assignment in (*_ONE_TO_ONE, Assignment.LOOKUP):
            assignment = Assignment.MEMBERSHIP  # sets of entities: who is matched with whom does not matter
        tied = None
        if assignment is Assignment.LOOKUP:
            tied = Tied(pairing.trees, pairing.nameless, pairing.gold_kind > 0)
            if relation.place is not same_span or relation.typed or relation.near or relation.least:
                raise UsageError(f"assignment=lookup looks up whole spans, not {view.relation}. Use strong or mention.")
        if self.request.membership is not None and key is not None and key.clustering is not None:
            raise UsageError(f"{view.relation} compares clusters, which no membership weighs. Set membership=whole.")
        weigh = self._weigh(task.source, relation)
        shape = Shape(conventions.empty, bool(view.filters), relation.credit is not None, relation.by_gold)
        return Plan(view, task.source, relation, select, assignment, shape, strict, key=key, tied=tied, weigh=weigh)

    def _weigh(self, source: Source, relation: Relation) -> Callable[[Verdicts, Gold], Verdicts] | None:
        """How mentions are weighed, where they are."""
        how = self.request.membership
        if how is None:
            return None
        if source not in self.weights:
            pairing = self.pairing(source)
            block = pairing.reading.whole is not None
            self.weights[source] = memberships(pairing.corpus.labels, how, block=block)
        weights = self.weights[source]
        return lambda cases, gold: weighed(cases, gold, weights, how, links=relation.links)

    def _detection(self, name: MeasureName, plan: Plan) -> tuple[str, Plan]:
        """How detection is counted: all answers, against the mentions of the view that have a link.

        Where every mention counts, has a link and one segmentation, that is the plain view of the relation.
        """
        if plan.relation.detection is None:
            raise UsageError(
                f"{name} needs a relation with links and places; {name.view.relation} has no detection of its own. "
                "Ask for strong:accuracy or weak:accuracy."
            )
        if plan.tied is not None:  # both stages look at the same cases
            view = replace(name.view, relation=plan.relation.detection)
            return str(view), self._made(view)
        relation = get("relations", plan.relation.detection, Relation)
        corpus = self.pairing(plan.source).corpus
        plain = not (name.view.filters or (corpus.labels.entity == NO_LINK).any() or (corpus.units.parent >= 0).any())
        shared = plain and not plan.select.rules.drop_nil and name.view.task is None and not plan.select.rules.given
        key = plan.relation.detection if shared else f"detection of {name.view}"
        select, weigh = plan.select.detecting(relation), self._weigh(plan.source, relation)
        segment_by = plan.segment_by or plan.relation
        found = replace(plan, relation=relation, select=select, segment_by=segment_by, key=None, weigh=weigh)
        return key, found
