"""A request on a corpus and a run: everything that can be asked is asked here, and every view is judged once."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cached_property
from typing import Protocol

import msgspec
import numpy as np
import pyarrow as pa
from msgspec.structs import replace

from karat.errors import UnknownNameError, UsageError
from karat.evaluation.block import Block, BlockSums, Progress, Swept, Thresholds
from karat.evaluation.cases.errors import Categorised, Tally, senseless
from karat.evaluation.cases.health import health
from karat.evaluation.cases.labels import parted, parts_by, undecided
from karat.evaluation.cases.notes import said
from karat.evaluation.cases.rows import SENTENCE, case_columns, verdict_table
from karat.evaluation.fold import Folded, steps_through
from karat.evaluation.groups import Groups, by_document, by_part, by_property, by_value, check_groups, rated, untyped
from karat.evaluation.intervals import Between, Draw, Over, ends, seed_of, view_intervals, without_interval
from karat.evaluation.measures import measure_of, short_names
from karat.evaluation.plan import Plan, Plans, base_of
from karat.evaluation.request import Request
from karat.evaluation.sides import Sides
from karat.evaluation.spread.survey import Undivided
from karat.evaluation.thresholds import Chosen, Curve, best_on, curve_through
from karat.evaluation.view import Shape, View
from karat.facts.facts import Facts
from karat.kb.protocol import KB
from karat.matching.read.pairing import BLOCK
from karat.model.corpus import STEPS, Corpus, NamedData
from karat.model.name import ViewName
from karat.model.result import Group, IdHealth, Result, Scored
from karat.model.run import VOCABULARY, Run, chosen_note, chosen_on
from karat.model.signature import Signature
from karat.model.statistics import Statistics
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Bools, Longs
from karat.model.verdict import Verdicts
from karat.spec.choices.conventions import Macro, Typing
from karat.spec.choices.threshold import Sweep, Threshold
from karat.spec.engine import Parts
from karat.spec.grouping import Grouping
from karat.stats.samples.intervals import Method
from karat.work import working


class Feed(Protocol):
    """What gives blocks: the memory, which is one, or an engine."""

    @property
    def planning(self) -> Block:
        """A block that knows what the whole has, to make plans by; it need not have documents."""

    @property
    def names(self) -> tuple[tuple[str, Mapping[str, str]], tuple[str, Mapping[str, str]]]:
        """The corpus and the run: what they are called, and what is known about them."""

    @property
    def skipped(self) -> Mapping[str, int]:
        """What readers left out, in words."""

    @property
    def left_out(self) -> Undivided:
        """What is not counted, and why."""

    def swept(self, views: Sequence[ViewName], grid: int | None) -> Sequence[Swept]:
        """How statistics change with the threshold, block by block."""

    def counted(self, thresholds: Thresholds) -> Sequence[BlockSums]:
        """What is counted, block by block."""

    def digests(self) -> tuple[str, str]:
        """The fingerprints of the corpus and the run."""

    def tables(self, thresholds: Thresholds, views: Sequence[str], columns: Set[str]) -> Iterator[Arrow]:
        """Every case of some views with columns for labels of cases, in tables of the same columns."""

    def block(self, thresholds: Thresholds) -> Block:
        """Everything as one block, which has verdicts; `KaratError` where nobody has them."""

    def check(self, sums: Folded) -> None:
        """Refuse what only the whole shows."""


class Memory(msgspec.Struct, frozen=True, eq=False, dict=True):
    """A corpus and a run in memory: one block."""

    sides: Sides
    size: int = BLOCK
    progress: Progress | None = None
    left_out: Undivided = msgspec.field(default_factory=Undivided)

    @cached_property
    def planning(self) -> Block:
        """The block, at no threshold."""
        return Block(self.sides, size=self.size, progress=self.progress)

    @property
    def names(self) -> tuple[tuple[str, Mapping[str, str]], tuple[str, Mapping[str, str]]]:
        """What both sides are called, and what is known about them."""
        corpus, run = self.sides.corpus, self.sides.given
        return (corpus.name, corpus.about), (run.name, run.about)

    @property
    def skipped(self) -> dict[str, int]:
        """What readers left out, in words."""
        counts = {f"gold: {what}": count for what, count in self.sides.corpus.skipped.items()}
        return counts | {f"answers: {what}": count for what, count in self.sides.run.skipped.items()}

    def swept(self, views: Sequence[ViewName], grid: int | None) -> list[Swept]:
        """How statistics change with the threshold."""
        return [self.planning.swept(views, grid)]

    def counted(self, thresholds: Thresholds) -> list[BlockSums]:
        """What is counted."""
        return [self.block(thresholds).sums()]

    def digests(self) -> tuple[str, str]:
        """The fingerprints of the corpus and the run."""
        return self.sides.corpus.digest, self.sides.given.digest

    def tables(self, thresholds: Thresholds, views: Sequence[str], columns: Set[str]) -> Iterator[Arrow]:
        """Every case of some views, in one table."""
        block = self.block(thresholds)
        yield verdict_table(
            (
                self.sides.pairing(block.plans.views[name].source),
                name,
                block.verdicts(name),
                case_columns(block, name, columns),
            )
            for name in views
        )

    def block(self, thresholds: Thresholds) -> Block:
        """The block at some thresholds."""
        return self.planning.above(thresholds)

    def check(self, sums: Folded) -> None:
        """Nothing: both sides were checked when they were laid beside each other."""


class Evaluation(msgspec.Struct, frozen=True, eq=False, dict=True):
    """A request on a corpus and a run: thresholds, views, scores, groups, intervals, cases, each made when asked for.

    In memory or divided by an engine, it differs only in the `feed` that gives blocks. Views are made here alone.
    """

    request: Request
    feed: Feed

    @classmethod
    def of(
        cls,
        request: Request,
        corpus: Corpus,
        run: Run,
        *,
        beside: Evaluation | None = None,
        size: int = BLOCK,
        progress: Progress | None = None,
    ) -> Evaluation:
        """An evaluation in memory; what is known about the gold is shared with that of another run `beside` it."""
        request = request.for_run(run.about, run.file)
        gold = None if beside is None else beside.sides.gold_facts
        return cls(request, Memory(Sides.of(request, corpus, run, gold), size, progress))

    @property
    def sides(self) -> Sides:
        """Both sides, as far as there are documents at hand."""
        return self.feed.planning.sides

    @property
    def facts(self) -> Facts:
        """What is known about the mentions and the answers."""
        return self.sides.facts

    @cached_property
    def signature(self) -> Signature:
        """Everything that decided the numbers."""
        name, about = self.feed.names[0]
        return self.request.signature(str(NamedData(name, self.feed.digests()[0], about.get(STEPS, ""))))

    @cached_property
    def thresholds(self) -> Thresholds:
        """The threshold of every relation in every task, and for those found by trying what was found."""
        rule = self.request.conventions.threshold
        if isinstance(rule, Threshold) and rule.at is None:
            return Thresholds()
        plans = self.feed.planning.plans
        bases = {
            base_of(plan.view): replace(plan.view, filters=())
            for plan in plans.views.values()
            if isinstance(rule, Threshold) or not plan.weights_are_whole
        }
        if isinstance(rule, Threshold):
            return Thresholds(dict.fromkeys(bases, rule))
        swept = self.feed.swept(list(bases.values()), rule.steps)
        best = {base: self._best_of(view, rule, swept) for base, view in bases.items()}
        found = {base: chosen for base, chosen in best.items() if chosen is not None}
        return Thresholds(
            {base: chosen.threshold for base, chosen in found.items()},
            {str(bases[base]): chosen for base, chosen in found.items()},
        )

    def best(self, view: ViewName, sweep: Sweep) -> Chosen | None:
        """The threshold that is best on this very corpus, the lowest on ties; None where answers have no scores."""
        return self._best_of(view, sweep, self.feed.swept([view], sweep.steps))

    def _best_of(self, view: ViewName, sweep: Sweep, swept: Sequence[Swept]) -> Chosen | None:
        if not any(base_of(view) in block.scored for block in swept):
            return None
        plan = self.plan(view)
        return best_on(self._curve(plan, swept), str(view), sweep, typed=plan.relation.typed)

    def curve(self, view: ViewName, grid: int | None = None) -> Curve:
        """The scores of a view at every threshold; with a `grid`, only those at its steps (`1 / grid`) are needed."""
        return self._curve(self.plan(view), self.feed.swept([view], grid))

    def _curve(self, plan: Plan, swept: Sequence[Swept]) -> Curve:
        steps, has_gold = steps_through(swept, base_of(plan.view))
        return curve_through(steps, plan.shape.view(Statistics(steps.base), macro=self._averaged(has_gold)))

    def plan(self, view: ViewName) -> Plan:
        """How the verdicts of a view are made, at no threshold."""
        return self.sides.planner().plan(view)

    def _averaged(self, has_gold: Bools) -> Bools | None:
        """The documents over which macro scores are means, None for all in which a measure is defined."""
        return has_gold if self.request.conventions.macro is Macro.GOLD_DOCUMENTS else None

    @cached_property
    def plans(self) -> Plans:
        """Which tables of verdicts there are."""
        return self.feed.planning.above(self.thresholds).plans

    @cached_property
    def folded(self) -> Folded:
        """What all blocks count."""
        found = Folded(self.feed.counted(self.thresholds))
        self.feed.check(found)
        return found

    @cached_property
    def block(self) -> Block:
        """Everything as one block with its verdicts; `KaratError` where an engine divided it."""
        return self.feed.block(self.thresholds)

    def verdicts(self, view: str) -> Verdicts:
        """What became of every case of a view, or of the table in which its detection is counted."""
        if view not in self.plans.all:
            raise UsageError(f"{view} was not judged. Ask for a measure of it.")
        return self.block.verdicts(view)

    def judged(self, plan: Plan) -> Verdicts:
        """What a plan of the caller's own makes of both sides."""
        return self.feed.planning.judged(plan)

    def beside(self, name: ViewName, other: ViewName) -> View:
        """Another view of the answers that a view looks at: at its threshold."""
        plan = self.plan(other).above(self.plans.views[str(name)].select.threshold)
        weights = self.judged(plan).per_document(0, len(self.sides.corpus))
        return plan.shape.view(Statistics(weights), macro=self._averaged(self.folded.has_gold(plan.source)))

    def detected(self, view: str) -> Verdicts | None:
        """What was detected, as accuracy counts it; None where a view looks at no links or no places."""
        name = self.plans.detection.get(view)
        return None if name is None else self.block.verdicts(name)

    def categorised(self, view: str) -> Categorised:
        """The cases of a view and the error categories that each is in."""
        return self.block.categorised(view)

    def tallies(self, view: str) -> Mapping[str, Tally]:
        """How many errors of each category there are, by document, and how many there could have been."""
        if view in self.plans.unstaged:
            return senseless(len(self.folded.ids), self.plans.unstaged[view])
        return self.folded.tallies(view)

    @cached_property
    def views(self) -> Mapping[str, View]:
        """What the measures of each view look at."""
        shape, nothing = Shape(self.request.conventions.empty), Statistics(np.zeros((0, 4)))
        unknown = {name: shape.view(nothing, unknown=why) for name, why in self.feed.left_out.views.items()}
        return {name: self._view(name, plan) for name, plan in self.plans.views.items()} | unknown

    @property
    def _known(self) -> dict[str, View]:
        """The views that somebody counted."""
        return {name: view for name, view in self.views.items() if view.unknown is None}

    @property
    def _divided(self) -> dict[str, View]:
        """Those of them that can be divided into documents."""
        return {name: view for name, view in self._known.items() if not view.whole}

    def _view(self, name: str, plan: Plan) -> View:
        folded = self.folded
        if (number := folded.too_many(plan)) is not None:
            why = f"{number:,} mentions in clusters are more than an engine keeps at once"
            return plan.shape.view(Statistics(np.zeros((0, 4))), whole=True, unknown=why)
        if plan.weights_are_whole:
            held = folded.held(plan.reaches)
            return plan.shape.view(
                Statistics(plan.weights(held)[None]),
                whole=True,
                again=lambda keep: Statistics(plan.weights(held.within(keep))[None]),
                order=self._by_id,
            )
        return plan.shape.view(
            folded.statistics(name),
            found=folded.detection(name),
            macro=self._averaged(folded.has_gold(plan.source)),
            present=folded.present(name),
            ranking=(lambda: folded.ranking(name)) if plan.relation.level == "document" else None,
            scored=lambda: folded.scored(name),
            cases=lambda: folded.cases(name),
            scored_in=lambda: folded.scored_in(name),
            order=self._by_id,
        )

    def _by_id(self) -> Longs:
        return np.argsort(np.array(self.folded.ids.to_pylist(), object), kind="stable")

    @cached_property
    def scores(self) -> dict[str, Scored]:
        """All measures of every view that it has by itself, and all that were asked for."""
        asked: dict[str, list[str]] = {name: [] for name in [*self.views, *self.plans.means]}
        for measure in self.request.wanted:
            if measure.group is None:
                asked[str(measure.view)].append(measure.short)
        scores: dict[str, Scored] = {}
        for name, view in self.views.items():
            shorts = dict.fromkeys([*short_names(detection=name in self.plans.detection), *asked[name]])
            scores |= {f"{name}:{short}": score for short, score in view.scores(shorts).items()}
        for name, parts in self.plans.means.items():
            for short in dict.fromkeys([*short_names(detection=False), *asked[name]]):
                scores[f"{name}:{short}"] = _mean_of(
                    {part: self.views[part].score(short) for part in self._counted(parts)}
                )
        return scores

    def _counted(self, parts: Sequence[str]) -> Sequence[str]:
        """The views of a mean that count: no clustering in which neither side has a pair, unless none has."""
        empty = {name for name, view in self._known.items() if view.whole and not view.statistics.weights.any()}
        return [part for part in parts if part not in empty] or parts

    @cached_property
    def labels(self) -> dict[str, Grouping]:
        """What scores are grouped by."""
        left_out = self.feed.left_out.labels
        return {name: self.sides.label(name) for name in self.request.labels if name not in left_out}

    @cached_property
    def groups(self) -> Groups:
        """The scores by each label; a value that a measure names must be among them."""
        groups: Groups = {name: self._grouped(name, label) for name, label in self.labels.items()}
        check_groups(self.request.wanted, groups, self.labels, self.views)
        return groups

    def _grouped(self, name: str, label: Grouping) -> dict[str, dict[str, Group]]:
        draw = self.draw
        spread = [m for m in self.request.wanted if measure_of(m).spread and m.group and m.group[0] == name]
        also = list(dict.fromkeys(measure.short for measure in spread))
        divided = self._divided
        if label.scores == "documents":
            return {view: by_document(self.folded.ids, own) for view, own in divided.items()}
        if label.documents is not None:
            values = self.folded.values(name)
            if values.null_count == len(values):
                corpus = self.feed.names[0][0]
                raise UsageError(f"no document of {corpus} says what its {name} is. Group by another label.")
            return {view: by_property(values, own, draw, also) for view, own in divided.items()}
        if label.scores == "errors":
            if not self.plans.stages and not self.plans.unstaged:
                raise UsageError("error categories are those of links, and no view compares any. Ask for strong.")
            return {
                view: rated(self.tallies(view), own, draw)
                for view, own in divided.items()
                if view in self.plans.stages or view in self.plans.unstaged
            }
        if parted(self.sides, name):
            counted = [base for base in self.request.views if str(base) not in self.feed.left_out.views]
            parts = {base: parts_by(self.sides, name, base) for base in counted}
            return {
                str(base): by_part({value: self.views[str(part)] for value, part in own.items()}, draw)
                for base, own in parts.items()
            }
        cuts = {view: self.folded.cut(name, view) for view in divided}
        return by_value(name, cuts, divided, draw, also, given=self.folded.given(name))

    @cached_property
    def between(self) -> dict[str, Between]:
        """The intervals of the measures that are asked for, and why some have none; nothing if nobody asks."""
        if not self.request.draw.resamples:
            return {}
        asked: dict[str, list[str]] = {}
        for name in self.request.wanted:
            if name.group is None:
                asked.setdefault(str(name.view), []).append(name.short)
        found: dict[str, Between] = {}
        for view, shorts in asked.items():
            own = [self.views[part] for part in self._counted(self.plans.means.get(view, (view,)))]
            with working(f"resampling {view}"):
                made = view_intervals(own, shorts, self.draw)
            found |= {f"{view}:{short}": between for short, between in made.items()}
        return found

    def _intervals(self) -> dict[str, tuple[float, float]]:
        intervals = {}
        for name in self.request.wanted:
            if name.group is not None and self.request.draw.resamples:
                label, value = name.group
                by_label = self.groups[label][str(name.view)][value].intervals
                if name.short in by_label:
                    intervals[str(name)] = by_label[name.short]
        return intervals | ends(self.between)

    @cached_property
    def draw(self) -> Draw:
        """How intervals are made; random numbers start from a place of this corpus's own."""
        draw = self.request.draw
        return draw._replace(seed=seed_of(draw.seed, self.feed.digests()[0])) if draw.resamples else draw

    @cached_property
    def result(self) -> Result:
        """Scores with everything that made them."""
        request, draw = self.request, self.request.draw
        (corpus, about_corpus), (run, about_run) = self.feed.names
        drawn = bool(draw.resamples)
        divided = self._divided
        return Result(
            signature=self.signature,
            profile=request.profile,
            corpus=corpus,
            run=run,
            run_digest=self.feed.digests()[1],
            scores=self.scores,
            views={name: view.statistics for name, view in divided.items()},
            totals={name: view.statistics for name, view in self._known.items() if view.whole},
            detection={name: view.found for name, view in divided.items() if view.found is not None},
            per_item=tuple(name for name, view in divided.items() if view.shape.per_item),
            averaged={name: view.macro for name, view in divided.items() if view.macro is not None},
            ids=self.folded.ids,
            skipped=self._skipped(),
            notes=tuple(self._notes()),
            intervals=self._intervals(),
            thresholds=self._oracles(),
            resamples=draw.resamples,
            interval_method=draw.method if drawn else None,
            interval_level=draw.level if drawn else None,
            interval_over=draw.over if drawn else None,
            recomputed=draw.recompute if drawn else 0,
            by=self.groups,
            about_corpus=about_corpus,
            about_run=about_run,
            id_health=self.id_health,
            shown=request.shown,
            headline=request.headline,
            aliases=request.aliases,
            evaluation=self,
            make_verdicts=self.tables,
        )

    @cached_property
    def id_health(self) -> IdHealth | None:
        """Whether the ids of both sides can meet; None where no links are compared."""
        seen = self.folded.seen
        return None if seen is None else health(*seen, self.request.conventions.ids, self.request.kb)

    def table(self, view: str | None = None) -> Arrow:
        """Every case of every view, or of one, with the labels of cases that were asked for."""
        tables = list(self.tables(view))
        return tables[0] if len(tables) == 1 else pa.concat_tables(tables)

    def tables(self, view: str | None = None, *, sentences: bool = False) -> Iterator[Arrow]:
        """The same piece by piece, in tables of the same columns, of which the first may have no rows.

        With `sentences`, what entities are called and the sentence of each case are columns too.
        """
        columns = {label.column for label in self.labels.values() if label.column is not None}
        every = [name for name, plan in self.plans.views.items() if not plan.weights_are_whole]
        if view is not None and view not in every:
            raise UnknownNameError("view of single cases", view, every)
        wanted = {*columns, SENTENCE} if sentences else columns
        return self.feed.tables(self.thresholds, every if view is None else [view], wanted)

    def _skipped(self) -> dict[str, int]:
        counts = {**self.feed.skipped, **self.folded.skipped}
        return {what: count for what, count in counts.items() if count or what.startswith("answers dropped by ")}

    def _notes(self) -> Iterator[str]:
        yield from self.request.synonyms
        statistics = {name: view.statistics for name, view in self._known.items()}
        from_labels = self.feed.names[1][1].get("answers") == "labels"
        apart = self.id_health is not None and bool(self.id_health.unmatchable)
        how = self.sides.pairing().reading
        yield from said(self.folded.noticed, how, statistics, from_labels=from_labels, apart=apart)
        reasons = {name: view.unknown for name, view in self.views.items() if view.unknown is not None}
        for what, why in (
            reasons | {f"scores by {name}": why for name, why in self.feed.left_out.labels.items()}
        ).items():
            yield f"left out: {what} ({why}; load both sides for it)"
        yield from self._without_classes()
        yield from self._told_by_starter()
        yield from undecided(self.request.conventions.unnamed, *self.folded.doubts)
        yield from untyped(self.groups)
        yield from (best.note for best in self.thresholds.found.values())
        (corpus, _), (run, about) = self.feed.names
        if chosen_on(about, corpus):
            yield chosen_note(run, corpus)
        if VOCABULARY in self.request.labels:
            from karat.kb.vocabulary import vocabulary_note

            yield vocabulary_note(self.request.vocabulary)
        yield from without_interval(self.between)

    def _without_classes(self) -> Iterator[str]:
        """Types compared by a hierarchy that is not there."""
        typing, kb = self.request.conventions.typing, self.request.kb
        typed = any(plan.relation.typed for plan in self.plans.views.values())
        if typed and typing is not Typing.SHARED and (kb is None or not kb.hierarchy.superclasses):
            yield f"typing={typing} knows no classes above or below others: give subclass_of.tsv with --kb"

    def _told_by_starter(self) -> Iterator[str]:
        """That facts come from the pack that is built in."""
        known = self.request.knowledge if self.request.reads_facts else None
        if known is not None and known is not self.request.kb:
            yield f"names, types and popular entities are those of {known.name}, which is built in: --kb takes others"

    def _oracles(self) -> dict[str, float | None]:
        """The thresholds found by trying; a view with the mean of others has none of its own, but is an oracle too."""
        own = {name: best.threshold.at for name, best in self.thresholds.found.items()}
        bases = {
            name: {str(replace(self.plans.views[part].view, filters=())) for part in parts}
            for name, parts in self.plans.means.items()
        }
        return own | {name: None for name, parts in bases.items() if parts & own.keys()}


def _mean_of(parts: Mapping[str, Scored]) -> Scored:
    """The mean of the scores of several views; undefined if one of them is."""
    values = [score.value for score in parts.values() if score.value is not None]
    for name, score in parts.items():
        if score.value is None:
            return Scored(None, 0, f"{name}: {score.reason}")
    return Scored(sum(values) / len(values), len(values))


def evaluate(
    corpus: Corpus | Parts,
    run: Run | Parts,
    *,
    like: str = "karat",
    choices: Mapping[str, object] | None = None,
    measures: Sequence[str] | str = (),
    also: Sequence[str] | str = (),
    by: Sequence[str] | str = (),
    kb: KB | str | os.PathLike[str] | None = None,
    resamples: int = 0,
    interval: Method = "percentile",
    level: float = 0.95,
    over: Over = "documents",
    recompute: int = 0,
    allow_unknown: bool = False,
    progress: Progress | None = None,
    block: int = BLOCK,
    engine: str | None = None,
    **choice: object,
) -> Result:
    """Score a run against a corpus under a profile, of which single choices may be overridden.

    `measures` replaces those the profile shows, and `also` adds some that tables do not show; `by` names labels to
    group by (`types`, `nil`, `doc`, a dimension of `categories`); `allow_unknown` leaves out answers to documents that
    the corpus does not have.
    Choices are those of `karat.explain`, in a mapping or as keywords: `assignment="greedy"`. With a knowledge base (or
    the folder of its tables), ids are resolved by it on both sides. With `resamples`, the measures shown get intervals
    of a `level` from as many samples of documents, by the method `interval` (`percentile`, `bca`, `wilson`), `over`
    documents or single cases; with `recompute`, also those that do not add up over documents, from as many scores
    without some of the documents.
    With an `engine` (`local`, `duckdb`, `spark`), that divides the documents; both sides may then be what `load_parts`
    gives, which need not fit into memory.
    """
    if block < 1:
        raise UsageError(f"block is {block}. Give a number of documents.")
    request = Request.of(
        like=like,
        choices={**(choices or {}), **choice},
        measures=measures,
        also=also,
        by=by,
        kb=kb,
        draw=Draw(resamples, 0, interval, level, over, recompute),
        allow_unknown=allow_unknown,
    )
    return evaluation(request, corpus, run, engine=engine, size=block, progress=progress).result


def evaluation(
    request: Request,
    corpus: Corpus | Parts,
    run: Run | Parts,
    *,
    engine: str | None = None,
    size: int = BLOCK,
    progress: Progress | None = None,
) -> Evaluation:
    """The evaluation of a request, in memory or divided by an engine."""
    known = all(hasattr(side, "skipped") for side in (corpus, run))
    if not known or isinstance(corpus, Run) or isinstance(run, Corpus):
        raise UsageError("evaluate takes a Corpus and a Run, in this order. Make them with load and load_run.")
    if isinstance(corpus, Corpus) and isinstance(run, Run) and engine in (None, "local"):
        return Evaluation.of(request, corpus, run, size=size, progress=progress)
    from karat.evaluation.spread.spread import Spread

    request = request.for_run(run.about, getattr(run, "file", None))
    return Evaluation(request, Spread.of(request, corpus, run, engine or "local", progress))
