"""Some documents with all replies to them: judged once, counted, and left as sums that any engine can carry.

A corpus in memory is one block, which keeps its verdicts; an engine makes many, of which nothing is left but what adds
up, or says to which document it belongs.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import msgspec
import numpy as np
import pyarrow as pa
from msgspec.structs import replace
from numpy.typing import NDArray

from karat.errors import UsageError
from karat.evaluation.cases.cuts import Cut, Values, cut_cases
from karat.evaluation.cases.errors import Categorised, Tally, evaluated_words, tallies
from karat.evaluation.cases.health import SeenIds, seen
from karat.evaluation.cases.labels import documents_in, doubts, mention_type, part_views, parted, values_in
from karat.evaluation.cases.notes import Noticed, noticed
from karat.evaluation.cases.ranked import documents_of_scores, ranking_of, scores_of
from karat.evaluation.measures import measure_of
from karat.evaluation.plan import Plan, Plans, base_of
from karat.evaluation.sides import Sides
from karat.evaluation.thresholds import Chosen, Steps, steps_of
from karat.facts.cases import CaseRule, Stages, stages, table
from karat.facts.facts import NOMINAL, PRONOMINAL
from karat.matching.judge.counting import MatchCounts, counts_at_once
from karat.matching.judge.judge import Located
from karat.matching.judge.keys import KeyReach
from karat.matching.read.pairing import BLOCK, Pairing
from karat.matching.read.reduce import Census, census, left_out
from karat.matching.select.thinning import longest
from karat.model.name import MeasureName, ViewName
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import NIL, NO_LINK, Bools, Floats, Longs
from karat.model.verdict import Verdicts, joined
from karat.spec.choices.conventions import FalseCoreference, Near
from karat.spec.choices.task import Source
from karat.spec.choices.threshold import Threshold
from karat.stats.ranking import Ranking
from karat.stats.samples.bootstrap import Distinct, distinct

Progress: TypeAlias = Callable[[int], None]
"""Called with the number of documents done since the last call."""

_AHEAD = 8  # documents are judged in parallel, some thousands at a time, and few enough ahead to stay small
_KEPT = 5_000_000  # mentions and answers, in all views together, up to which all verdicts are kept


_OF_MENTIONS = np.array([0.0, 0.0, 1.0, 1.0])


class Thresholds(NamedTuple):
    """Below which scores answers are left out, by task and relation; `found` are those found by trying, by view."""

    at: Mapping[str, Threshold] = {}
    found: Mapping[str, Chosen] = {}


class ViewSums(NamedTuple):
    """One view of a block: per document its four sums, and where a measure asks for it those of detected mentions.

    `cases` are the weights of single cases, where these are drawn.
    """

    weights: NDArray[Any]
    detection: NDArray[Any] | None
    present: bool
    ranking: Ranking | None = None
    scored: tuple[Floats, Floats] | None = None
    scored_in: Longs | None = None
    cases: Distinct | None = None


class BlockSums(msgspec.Struct, frozen=True):
    """What is left of a block: by document, in the order of the rows that these are of the whole, or in sums.

    `unknown` are the replies to documents that the gold standard does not have, by row and id; `seen` are the ids of
    both sides, where links are compared. `cuts` are by label and view, and `given` says which labels answers carry;
    `values` are those of documents, by label. `tallies` of error categories are by view and category, and `candidates`
    names the views in which some answer has several. `reaches` is for views that reach across documents, by what they
    have in common, and `too_many` says of which of them there is more than can be kept.
    """

    row: Longs
    ids: Arrow
    unknown: tuple[tuple[int, str], ...]
    census: tuple[Census, Census]
    skipped: Mapping[str, int]
    noticed: Noticed
    seen: tuple[SeenIds, SeenIds] | None
    doubts: tuple[int, int]
    has_gold: Mapping[Source, Bools]
    views: Mapping[str, ViewSums]
    cuts: Mapping[str, Mapping[str, Cut]]
    given: frozenset[str]
    values: Mapping[str, Arrow]
    tallies: Mapping[str, Mapping[str, Tally]]
    candidates: frozenset[str]
    reaches: Mapping[str, KeyReach] = msgspec.field(default_factory=dict)
    too_many: Mapping[str, int] = msgspec.field(default_factory=dict)


class Swept(msgspec.Struct, frozen=True):
    """How the statistics of a block change as the threshold falls, for some views.

    `scored` are those in which some answer has a score.
    """

    row: Longs
    has_gold: Mapping[str, Bools]
    steps: Mapping[str, Steps]
    scored: frozenset[str]


class Block(msgspec.Struct, frozen=True, eq=False, dict=True):
    """Both sides at certain thresholds: the tables of verdicts, each made once, and what they count.

    `size` is how many documents are judged at once.
    """

    sides: Sides
    thresholds: Thresholds = msgspec.field(default_factory=Thresholds)
    size: int = BLOCK
    progress: Progress | None = None
    _cases: dict[str, Verdicts] = msgspec.field(default_factory=dict)
    _others: dict[str, Block] = msgspec.field(default_factory=dict)
    _tagged: dict[str, Categorised] = msgspec.field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Block of {self.sides}>"

    def above(self, thresholds: Thresholds) -> Block:
        """The same at other thresholds, always the same one for the same; itself if there are none."""
        if not thresholds.at:
            return self
        key = repr(sorted(thresholds.at.items()))
        if key not in self._others:
            self._others[key] = replace(self, thresholds=thresholds, _cases={}, _others={}, _tagged={})
        return self._others[key]

    @cached_property
    def plans(self) -> Plans:
        """Which tables of verdicts there are."""
        request = self.sides.request
        labels = [self.sides.label(name) for name in request.labels]
        wanted = [*request.wanted, *(MeasureName(view, "f1", "micro") for view in part_views(self.sides))]
        staged = request.staged or any(label.scores == "errors" for label in labels)
        return self.sides.planner(self.thresholds.at).plans(wanted, stages=request.parts if staged else ())

    @cached_property
    def _judged(self) -> tuple[dict[str, Floats], dict[str, list[Verdicts]]]:
        """The sums of every table by document, and the tables that are kept."""
        plans = self._divided
        size = len(self.sides.corpus)
        weights = {name: np.empty((size, 4)) for name in plans}
        kept: dict[str, list[Verdicts]] = {name: [] for name in plans if name in self._kept}

        def count(first: int, last: int, cases: dict[str, Verdicts], others: dict[str, MatchCounts | Verdicts]) -> None:
            for name, own in (*cases.items(), *others.items()):
                weights[name][first:last] = own.per_document(first, last)

        counted = {name: plan for name, plan in plans.items() if name not in kept}
        judged = {name: plan for name, plan in plans.items() if name in kept}
        for (first, last), cases in self._in_blocks(judged, counted, count):
            for name, own in cases.items():
                kept[name].append(own)
            if self.progress is not None:
                self.progress(last - first)
        return weights, kept

    @property
    def _divided(self) -> dict[str, Plan]:
        return {name: plan for name, plan in self.plans.all.items() if not plan.weights_are_whole}

    @property
    def _kept(self) -> set[str]:
        """The tables to keep: all of them where that takes little room, else those that something is made from."""
        request, plans = self.sides.request, self.plans
        labels = [self.sides.label(name) for name in request.labels]
        items = len(self.sides.corpus.labels) + len(self.sides.run.answers)
        if items * len(plans.all) <= _KEPT or (request.draw.resamples and request.draw.over == "cases"):
            return set(plans.all)
        if any(label.documents is None for label in labels):
            return {*plans.views, *plans.stages.values()}
        return {str(name.view) for name in request.wanted if not measure_of(name).usual}

    def _in_blocks(
        self,
        plans: Mapping[str, Plan],
        counted: Mapping[str, Plan],
        then: Callable[[int, int, dict[str, Verdicts], dict[str, MatchCounts | Verdicts]], None],
    ) -> Iterator[tuple[tuple[int, int], dict[str, Verdicts]]]:
        """The verdicts of some plans; some documents after the other, judged in parallel.

        `then` is told of them, and of what those of the plans add up to that are only `counted`.
        """
        sides, documents = self.sides, len(self.sides.corpus)
        every = (*plans.values(), *counted.values())
        pairings = {source: sides.pairing(source) for source in {plan.source for plan in every}}

        def judge(first: int, last: int) -> dict[str, Verdicts]:
            cases: dict[str, Verdicts] = {}
            others: dict[str, MatchCounts | Verdicts] = {}
            for source, pairing in pairings.items():
                others |= self._at_once(pairing, _of(source, counted), first, last)
                whole = _of(source, plans)
                rest = {name: plan for name, plan in _of(source, counted).items() if name not in others}
                if whole or rest:
                    gold, answers, known = pairing.gold(first, last), pairing.answers(first, last), Located()
                    cases |= {name: plan.verdicts(gold, answers, known) for name, plan in whole.items()}
                    others |= {name: plan.counts(gold, answers, known, first, last) for name, plan in rest.items()}
            then(first, last, cases, others)
            return cases

        for pairing in pairings.values():
            if pairing.reading.words:
                _ = pairing.words  # once, and not by every thread
        blocks = [(first, min(first + self.size, documents)) for first in range(0, documents, self.size)]
        if len(blocks) == 1:
            yield blocks[0], judge(*blocks[0])
            return
        with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
            waiting = deque(pool.submit(judge, *block) for block in blocks[:_AHEAD])
            for place, block in enumerate(blocks):
                if place + _AHEAD < len(blocks):
                    waiting.append(pool.submit(judge, *blocks[place + _AHEAD]))
                yield block, waiting.popleft().result()

    def _at_once(self, pairing: Pairing, plans: Mapping[str, Plan], first: int, last: int) -> dict[str, MatchCounts]:
        """What those of some plans count that look at all there is, where that is only spans with an id each."""
        both = pairing.bare if plans else None
        names = [] if both is None else [name for name, plan in plans.items() if plan.counts_all_of(both)]
        if both is None or not names:
            return {}
        found = counts_at_once(both, [plans[name].relation for name in names], first, last)
        return {} if found is None else dict(zip(names, found, strict=True))

    def weights(self, name: str) -> Floats:
        """The four sums of each document in a table."""
        return self._judged[0][name]

    def verdicts(self, name: str) -> Verdicts:
        """A table of verdicts; one that was too large to keep is made again."""
        if name not in self._cases:
            parts = self._judged[1].get(name)
            self._cases[name] = self.judged(self.plans.all[name]) if parts is None else joined(parts)
        return self._cases[name]

    def judged(self, plan: Plan) -> Verdicts:
        """The verdicts of any plan on both sides."""
        found = self._in_blocks({"": plan}, {}, lambda first, last, cases, others: None)
        return joined([cases[""] for _, cases in found])

    def categorised(self, view: str) -> Categorised:
        """The cases of a view with what is known about each, and the error categories that each is in."""
        if view not in self._tagged:
            self._tagged[view] = self._categorised(view)
        return self._tagged[view]

    def _categorised(self, view: str) -> Categorised:
        plan, conventions = self.plans.views[view], self.sides.request.conventions
        facts = self.sides.facts_of(plan.source)
        found = stages(self.verdicts(view), self.verdicts(self.plans.stages[view]), facts)
        rule = CaseRule(
            relevant=self._relevant(found, facts.pairing, whole=not plan.view.filters),
            nil_alike=conventions.near is Near.LABELLED,
            neuter_only=conventions.false_coreference is FalseCoreference.PRONOUNS,
        )
        given = plan.select.rules.given is not None
        return Categorised.of(table(found, facts, rule), conventions.categories, given=given)

    def _relevant(self, found: Stages, pairing: Pairing, *, whole: bool) -> Bools:
        """The labels that an answer may be near to; see the convention `near`."""
        labels = np.zeros(len(pairing.gold_entity), np.bool_)
        if self.sides.request.conventions.near is Near.SHOWN:
            labels[found.gold[~found.part & (found.gold >= 0)]] = True
            return labels
        labels[:] = ~pairing.trees.child
        if not whole:
            labels &= (pairing.gold_entity != NIL) & (pairing.gold_kind == 0) & ~pairing.corpus.units.optional
        return labels

    def present(self, plan: Plan) -> bool:
        """Whether a part of the data had any case before a threshold that was found by trying."""
        if not plan.view.filters or str(replace(plan.view, filters=())) not in self.thresholds.found:
            return False
        pairing, size = self.sides.pairing(plan.source), len(self.sides.corpus)
        gold, answers = plan.above(Threshold()).select.of(pairing.gold(0, size), pairing.answers(0, size))
        return bool(len(gold.items) or len(answers.items))

    def sums(self, row: Longs | None = None) -> BlockSums:
        """What is left of the block, whose documents are these rows of the whole."""
        sides, plans = self.sides, self.plans
        request, pairing = sides.request, sides.pairing()
        unknown = np.flatnonzero(pairing.place < 0)
        ids = sides.given.ids.take(pa.array(unknown)).to_pylist() if len(unknown) else []
        divided = [name for name, plan in plans.views.items() if not plan.weights_are_whole]
        counted = divided if len(sides.corpus) else []
        labels = {name: sides.label(name) for name in request.labels}
        of_documents = [name for name, label in labels.items() if label.documents and label.scores == "values"]
        by_value = [
            name
            for name, label in labels.items()
            if label.scores == "values" and not label.documents and not parted(sides, name)
        ]
        rated = any(label.scores == "errors" for label in labels.values()) and counted
        tagged = {view: self.categorised(view) for view in plans.stages} if rated else {}
        words = evaluated_words(pairing) if tagged else None
        return BlockSums(
            row=np.arange(len(sides.corpus)) if row is None else row,
            ids=sides.corpus.ids,
            unknown=tuple(zip(unknown.tolist(), ids, strict=True)),
            census=(census(sides.corpus), census(sides.run)),
            skipped=self.skipped(),
            noticed=noticed(pairing),
            seen=self._seen(pairing),
            doubts=doubts(sides),
            has_gold={source: sides.pairing(source).has_gold for source in {p.source for p in plans.views.values()}},
            views={name: self._view_sums(name) for name in counted},
            cuts={label: self._cuts(label, counted) for label in by_value},
            given=frozenset(label for label in by_value if values_in(sides, label).answers.given),
            values={label: documents_in(sides, label) for label in of_documents},
            tallies={view: tallies(each, len(sides.corpus), words) for view, each in tagged.items()},
            candidates=frozenset(view for view, each in tagged.items() if each.table.cases.several_candidates.any()),
            reaches=self._reaches(),
        )

    def _seen(self, pairing: Pairing) -> tuple[SeenIds, SeenIds] | None:
        """The ids of both sides, where links are compared; a statement has several in one."""
        request, views = self.sides.request, self.plans.views.values()
        by_id = request.conventions.task.source != "statements" and any(plan.links for plan in views)
        return seen(pairing, request.kb) if by_id else None

    def _reaches(self) -> dict[str, KeyReach]:
        """What views that reach across documents need of these; views that look at the same share it."""
        plans = {plan.reaches: plan for plan in self.plans.views.values() if plan.weights_are_whole}
        by_document = self.sides.whole is None or bool(self.sides.request.draw.recompute)
        return {
            name: plan.reach(self.sides.pairing(plan.source), by_document=by_document) for name, plan in plans.items()
        }

    def _view_sums(self, name: str) -> ViewSums:
        plan, plans = self.plans.views[name], self.plans
        pairing = self.sides.pairing(plan.source)
        wanted = self.sides.request.wanted
        asked = [measure_of(measure) for measure in wanted if str(measure.view) == name and measure.group is None]
        ranking = scored = scored_in = None
        if plan.relation.level == "document" and any(measure.ranked is not None for measure in asked):
            ranking = ranking_of(pairing, self.verdicts(name))
        if any(measure.scored is not None for measure in asked):
            cases = self.verdicts(name)
            scored, scored_in = scores_of(pairing, cases), documents_of_scores(pairing, cases)
        # Of detection only mentions count; which answers are spare there depends on what other views share its table.
        detection = self.weights(plans.detection[name]) * _OF_MENTIONS if name in plans.detection else None
        draw = self.sides.request.draw
        single = distinct(self.verdicts(name).weights()) if draw.resamples and draw.over == "cases" else None
        return ViewSums(self.weights(name), detection, self.present(plan), ranking, scored, scored_in, single)

    def _cuts(self, label: str, views: Sequence[str]) -> dict[str, Cut]:
        """The cases of each view by the values of a label; views of one kind of item that count alike at once."""
        found: dict[str, Cut] = {}
        alike: dict[tuple[Source, bool], list[str]] = {}
        for name in views:
            plan = self.plans.views[name]
            alike.setdefault((plan.source, plan.shape.by_gold), []).append(name)
        for (source, by_gold), members in alike.items():
            values: Values = values_in(self.sides, label, source)
            cases = [self._about(label, self.verdicts(name), source) for name in members]
            cuts = cut_cases(values, cases, by_gold=by_gold or self.sides.label(label).by_gold)
            found |= dict(zip(members, cuts, strict=True))
        return {name: found[name] for name in views}

    def _about(self, label: str, cases: Verdicts, source: Source) -> Verdicts:
        """The cases that a label is about."""
        if not self.sides.label(label).entities:
            return cases
        return self.entities_only(cases, source)

    def entities_only(self, cases: Verdicts, source: Source = "mentions") -> Verdicts:
        """The cases that are no coreference."""
        kind = mention_type(self.sides.facts_of(source), cases)
        return cases.where((kind != NOMINAL) & (kind != PRONOMINAL))

    def skipped(self) -> dict[str, int]:
        """What was left out, in words."""
        sides, plans = self.sides, self.plans
        pairing = sides.pairing()
        sources = {plan.source for plan in plans.views.values()}
        counts = {**pairing.skipped, **left_out(sides.corpus, sides.run, sources, sides.whole), **sides.left_out}
        rule = sides.request.conventions.threshold
        if isinstance(rule, Threshold) and rule.at is not None:
            score = pairing.run.answers.score()
            counts["answers below the threshold"] = int((score <= rule.at if rule.strict else score < rule.at).sum())
        counts |= self._dropped()
        for plan in plans.views.values():
            name = f"answers off the given mentions{f' of {plan.view.task}' if plan.view.task else ''}"
            if plan.select.rules.given is not None and name not in counts:
                own, size = sides.pairing(plan.source), len(sides.corpus)
                counts[name] = plan.select.off_given(own.gold(0, size), own.answers(0, size))
        return counts

    def _dropped(self) -> dict[str, int]:
        """What a profile's rules leave out before anything is matched."""
        counts: dict[str, int] = {}
        for plan in self.plans.views.values():
            pairing, rules = self.sides.pairing(plan.source), plan.select.rules
            entities = {"gold labels": pairing.gold_entity, "answers": pairing.answer_entity}
            for side, entity in entities.items():
                if rules.drop_nil:
                    counts[f"{side} linked to NIL"] = int((entity == NIL).sum())
                if rules.annotations and rules.absent:
                    counts[f"{side} without link"] = int((entity == NO_LINK).sum())
            if rules.thin and plan.relation.loose and "answers inside or across longer ones" not in counts:
                size = len(self.sides.corpus)
                items = pairing.gold(0, size).items, pairing.answers(0, size).items
                for side, found in zip(entities, items, strict=True):
                    counts[f"{side} inside or across longer ones"] = int((~longest(found)).sum())
        return counts

    def swept(self, views: Sequence[ViewName], grid: int | None, row: Longs | None = None) -> Swept:
        """What has to be known to find the best thresholds of some views, or to draw their curves."""
        steps: dict[str, Steps] = {}
        has_gold: dict[str, Bools] = {}
        scored = set()
        for view in views:
            plan, base = self.sides.planner().plan(view), base_of(view)
            if plan.weights_are_whole:
                raise UsageError(f"{view} cannot be divided into documents, and has no curve. Choose a relation.")
            pairing = self.sides.pairing(plan.source)
            if pairing.run.answers.field("score") is not None:
                scored.add(base)
            if len(self.sides.corpus):
                steps[base] = steps_of(plan, pairing, self.size, grid)
            has_gold[base] = pairing.has_gold
        return Swept(np.arange(len(self.sides.corpus)) if row is None else row, has_gold, steps, frozenset(scored))


def _of(source: Source, plans: Mapping[str, Plan]) -> dict[str, Plan]:
    """The plans that look at one kind of item."""
    return {name: plan for name, plan in plans.items() if plan.source == source}
