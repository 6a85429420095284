"""Scores of data that an engine divides: blocks are counted, and what is left of them is put together."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NoReturn, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from karat.errors import InputError, KaratError, UsageError
from karat.evaluation.count import Counts, Job, Refusal, Share, Swept, counted_block, swept_block
from karat.evaluation.drop import rules_of
from karat.evaluation.errors import Tally, without_candidates
from karat.evaluation.evaluate import (
    Progress,
    Told,
    bases_of,
    prepared,
    result_of,
)
from karat.evaluation.groups import Cut, Label, by_cut, by_document
from karat.evaluation.intervals import Draw
from karat.evaluation.labels import Groups, by_part, by_parts, check_groups, rated
from karat.evaluation.notes import Noticed, said
from karat.evaluation.pieces import in_parts
from karat.evaluation.plan import Plans, parts_of
from karat.evaluation.request import Setting, reads_text
from karat.evaluation.survey import check_values, surveyed
from karat.evaluation.thresholds import Chosen, Steps, best_on, curve_through, joined_steps
from karat.evaluation.view import View, measure_of, short_names
from karat.kb.folder import read_kb
from karat.kb.protocol import KB
from karat.matching.read.facets import Facet
from karat.matching.read.pairing import unknown_document
from karat.matching.read.reduce import Census, demand_of
from karat.model.corpus import Corpus
from karat.model.items import Lists
from karat.model.result import Group, Result
from karat.model.run import Run
from karat.model.statistics import Statistics
from karat.model.tables import check
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Floats, Longs
from karat.registry import get
from karat.spec.empty import EMPTY
from karat.spec.engine import ROW, Engine, Parts, Spread
from karat.spec.task import TASKS
from karat.spec.threshold import Sweep, Threshold, threshold_of
from karat.stats.ranking import Ranking

_T = TypeVar("_T")
_BITS = 0xFFFFFFFF  # of a digest


def evaluate_parts(
    gold: Corpus | Parts,
    answers: Run | Parts,
    engine: str,
    *,
    like: str,
    choices: Mapping[str, str],
    measures: Sequence[str],
    also: Sequence[str],
    by: Sequence[str],
    kb: KB | str | os.PathLike[str] | None,
    draw: Draw,
    allow_unknown: bool,
    progress: Progress | None,
) -> Result:
    """Score answers that an engine divides, with the gold standard, into blocks; see `evaluate`.

    The result is that of `evaluate`, to the last digit, but has no verdicts.
    """
    spread = get("engines", engine, Engine).spread
    if draw.resamples and draw.over == "cases":
        raise UsageError("an engine keeps no single cases to draw. Take intervals over documents.")
    gold, answers = in_parts(gold), in_parts(answers)
    if reads_text(like, choices, measures, by):
        gold = gold.with_text()
    job = Job(
        like,
        dict(choices),
        tuple(measures),
        tuple(also),
        tuple(by),
        read_kb(kb) if isinstance(kb, str | os.PathLike) else kb,
        (gold.name, answers.name),
        (_columns(gold), _columns(answers)),
    )
    todo = job.on_nothing()
    _refuse_undivided(todo)
    whole = surveyed(todo, _labels(todo, by), gold, answers)
    job = replace(job, whole=whole)
    todo = job.on_nothing()
    check_values(todo, _labels(todo, by), whole)
    sides = _Sides(gold, answers)
    thresholds, found = _thresholds(todo, job, sides, spread)
    job = replace(job, thresholds=thresholds, found={name: best.threshold for name, best in found.items()})
    labels, plans, _ = prepared(todo, by, thresholds)
    blocks = []
    for block in sides.answered(spread, partial(counted_block, job=job)):
        blocks.append(block)
        if progress is not None:
            progress(len(block.row))
    sums = _Sums(blocks, sides, plans)
    sums.check(todo, job, allow_unknown=allow_unknown)
    return _result(todo, job, plans, labels, sums, found, draw._replace(seed=todo.table["seed"]))


def _columns(parts: Parts) -> tuple[str, ...]:
    return tuple(name for name in parts.schema.names if name != ROW)


def _labels(todo: Setting, by: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*by, *(name.group[0] for name in todo.wanted if name.group)]))


def _refuse_undivided(todo: Setting) -> None:
    """Refuse what no block can count, and nothing that is left of blocks can make up for."""
    for rule in rules_of(todo.table["drop"]):
        if rule.startswith("type:"):
            raise UsageError(f"{rule} looks at all gold labels, which no engine has at once. {_INSTEAD}")
    for name in todo.wanted:
        for view in parts_of(name.view, todo.table["task"]) or (name.view,):
            if todo.planner().plan(replace(view, filters=())).weights_are_whole:
                raise UsageError(f"{view} compares clusters, which reach across documents. {_INSTEAD}")


_INSTEAD = "Load both sides and score them in memory (karat.evaluate(karat.load(…), karat.load_run(…)))."


@dataclass(frozen=True)
class _Sides:
    gold: Parts
    answers: Parts

    def answered(self, spread: Spread, work: Callable[[Arrow, Arrow], _T | Refusal]) -> Iterator[_T]:
        """What the work gives for each block; the first error is raised as if everything had been read at once."""
        with closing(spread(self.gold, self.answers, work)) as blocks:
            for block in blocks:
                if isinstance(block, Refusal):
                    self._raise(block)
                yield block

    def _raise(self, refusal: Refusal) -> NoReturn:
        if not refusal.side:
            raise UsageError(refusal.message)
        where = (self.gold if refusal.of_gold else self.answers).where(refusal.row)
        raise InputError(where, found=refusal.found, expected=refusal.expected, remedy=refusal.remedy)


def _thresholds(
    todo: Setting, job: Job, sides: _Sides, spread: Spread
) -> tuple[dict[str, Threshold], dict[str, Chosen]]:
    """As in `evaluate`: the thresholds that are given, or those that are best on this very corpus."""
    rule = threshold_of(todo.table)
    plans = todo.planner().plans(todo.wanted)
    bases = bases_of(plans)
    if isinstance(rule, Threshold):
        return dict.fromkeys(bases, rule), {}
    blocks = list(sides.answered(spread, partial(swept_block, job=job)))
    if not any(block.scored for block in blocks):
        return {}, {}
    found = {base: _best(todo, base, blocks, rule) for base in bases}
    return {base: best.threshold for base, best in found.items()}, {str(bases[base]): b for base, b in found.items()}


def _best(todo: Setting, base: str, blocks: Sequence[Swept], rule: Sweep) -> Chosen:
    order = _Order([block.row for block in blocks])
    parts = [
        replace(block.steps[base], document=place[block.steps[base].document].astype(np.int32))
        for block, place in zip(blocks, order.places, strict=True)
        if base in block.steps
    ]
    steps = _in_order(joined_steps(parts), order.laid_out([part.base for part in parts]))
    view = bases_of(todo.planner().plans(todo.wanted))[base]
    plan = todo.planner().plan(view)
    macro = None
    if todo.table["macro"] == "gold-documents":
        macro = order.laid_out([block.has_gold[base] for block in blocks])
    shown = View(
        Statistics(steps.base),
        EMPTY[todo.table["empty"]],
        part=False,
        per_item=plan.relation.credit is not None,
        macro=macro,
    )
    return best_on(curve_through(steps, shown), str(view), rule, typed=plan.relation.typed)


def _in_order(steps: Steps, base: Floats) -> Steps:
    """The steps in the order of documents; equal kinds are one."""
    order = np.argsort(steps.document, kind="stable")
    kinds, new = np.unique(steps.kinds, axis=0, return_inverse=True)
    kind = new.reshape(-1)[steps.kind[order]]
    return Steps(base, steps.document[order], steps.score[order], kind, kinds.reshape(-1, 4))


class _Order:
    """Where the documents of blocks belong: in the order of their rows in the gold standard."""

    def __init__(self, rows: Sequence[Longs]) -> None:
        every = np.concatenate([np.zeros(0, np.int64), *rows])
        self.rows = np.sort(every)
        self.order = np.argsort(every, kind="stable")
        rank = np.empty(len(every), np.int64)
        rank[self.order] = np.arange(len(every))
        self.places: list[Longs] = np.split(rank, np.cumsum([len(row) for row in rows])[:-1])

    def laid_out(self, parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
        """What blocks have by document, for all documents."""
        return np.concatenate(parts)[self.order]


class _Sums:
    """What is left of all blocks."""

    def __init__(self, blocks: Sequence[Counts], sides: _Sides, plans: Plans) -> None:
        self.blocks, self.sides, self.plans = blocks, sides, plans
        self.order = _Order([block.row for block in blocks])

    @cached_property
    def ids(self) -> Arrow:
        """The documents, in order."""
        return pa.concat_arrays([block.ids for block in self.blocks]).take(pa.array(self.order.order))

    def digest(self, side: int) -> str:
        """The fingerprint of all documents, or of all replies."""
        return f"{sum(block.digests[side] for block in self.blocks) & _BITS:08x}"

    def census(self, side: int) -> Census:
        """What there is in all documents, or in all replies."""
        total = Census()
        for block in self.blocks:
            total = total.plus(block.census[side])
        return total

    @property
    def skipped(self) -> dict[str, int]:
        """What was left out, in words; only what occurs."""
        gold, answers = self.sides.gold.skipped, self.sides.answers.skipped
        counts = {f"gold: {what}": count for what, count in gold.items()}
        counts |= {f"answers: {what}": count for what, count in answers.items()}
        for block in self.blocks:
            for what, count in block.skipped.items():
                counts[what] = counts.get(what, 0) + count
        return {what: count for what, count in counts.items() if count or what.startswith("answers dropped by ")}

    @property
    def noticed(self) -> Noticed:
        """What there is to notice."""
        total = Noticed()
        for block in self.blocks:
            total = total.plus(block.noticed)
        return total

    @property
    def doubts(self) -> tuple[int, int]:
        """See `karat.evaluation.labels.doubts`."""
        return sum(block.doubts[0] for block in self.blocks), sum(block.doubts[1] for block in self.blocks)

    def check(self, todo: Setting, job: Job, *, allow_unknown: bool) -> None:
        """Refuse what only the whole shows: ids given twice, unknown documents, data that is not that of the task."""
        gold, answers = self.sides.gold, self.sides.answers
        check.refuse(check.identified(self.ids), lambda place: gold.where(int(self.order.rows[place])))
        unknown = sorted(pair for block in self.blocks for pair in block.unknown)
        if unknown and not allow_unknown:
            raise unknown_document(answers.where(unknown[0][0]), unknown[0][1], gold.name, len(unknown) - 1)
        sizes = (gold.name, self.census(0)), (answers.name, self.census(1))
        for task in dict.fromkeys(name.view.task or todo.table["task"] for name in todo.wanted):
            demand_of(task, *sizes, asked="task" in job.choices)
        rule = threshold_of(todo.table)
        if isinstance(rule, Threshold) and rule.at is not None and not (sizes[1][1].scored or sizes[1][1].scored_tags):
            raise UsageError(f"{answers.name} has no scores to compare with a threshold. Score without one.")

    def views(self, todo: Setting) -> dict[str, View]:
        """What the measures of each view look at."""
        return {name: self._view(todo, name) for name in self.plans.views}

    def _view(self, todo: Setting, name: str) -> View:
        plan = self.plans.views[name]
        counted = [block.views[name] for block in self.blocks if name in block.views]
        rows = [len(block.row) for block in self.blocks]
        assert sum(rows) == sum(len(each.weights) for each in counted)
        detection = [each.detection for each in counted if each.detection is not None]
        macro = None
        if todo.table["macro"] == "gold-documents":
            macro = self.order.laid_out([block.has_gold[plan.source] for block in self.blocks])
        return View(
            self._statistics([each.weights for each in counted]),
            EMPTY[todo.table["empty"]],
            bool(plan.view.filters),
            found=self._statistics(detection) if detection else None,
            per_item=plan.relation.credit is not None,
            macro=macro,
            by_gold=plan.relation.by_gold,
            present=any(each.present for each in counted),
            ranking=(lambda: self._ranking(name)) if plan.relation.level == "document" else None,
            scored=lambda: self._scored(name),
            scored_in=lambda: self._scored_in(name),
            order=lambda: np.argsort(np.array(self.ids.to_pylist(), object), kind="stable"),
        )

    def _statistics(self, parts: Sequence[NDArray[Any]]) -> Statistics:
        return Statistics(np.ascontiguousarray(self.order.laid_out(parts), np.float64))

    def _ranking(self, name: str) -> Ranking:
        found = [
            (block.views[name].ranked, place)
            for block, place in zip(self.blocks, self.order.places, strict=True)
            if name in block.views
        ]
        ranked = [(each, place) for each, place in found if each is not None]
        document = np.concatenate([place[each.document] for each, place in ranked])
        gold = np.concatenate([place[each.gold_document] for each, place in ranked])
        order, gold_order = np.argsort(document, kind="stable"), np.argsort(gold, kind="stable")
        return Ranking(
            len(self.order.rows),
            document[order],
            np.concatenate([each.gain for each, _ in ranked])[order],
            gold[gold_order],
            np.concatenate([each.gold_gain for each, _ in ranked])[gold_order],
        )

    def _scored(self, name: str) -> tuple[Floats, Floats]:
        found = [block.views[name].scored for block in self.blocks if name in block.views]
        parts = [each for each in found if each is not None]
        return np.concatenate([scores for scores, _ in parts]), np.concatenate([right for _, right in parts])

    def _scored_in(self, name: str) -> Longs:
        found = zip(self.blocks, self.order.places, strict=True)
        parts = [(block.views[name].scored_in, place) for block, place in found if name in block.views]
        return np.concatenate([place[documents] for documents, place in parts if documents is not None])

    def cut(self, label: str, view: str) -> Cut:
        """The cases of a view by value of a label, and document."""
        found: dict[str, list[tuple[Longs, Share]]] = {}
        for block, place in zip(self.blocks, self.order.places, strict=True):
            for share in block.shares.get(label, {}).get(view, ()):
                found.setdefault(share.value, []).append((place[share.document], share))
        names = sorted(found)
        documents, sums, bounds = [np.zeros(0, np.int64)], [np.zeros((0, 4))], []
        end = 0
        for name in names:
            document = np.concatenate([place for place, _ in found[name]])
            order = np.argsort(document)
            documents.append(document[order])
            sums.append(np.concatenate([share.sums for _, share in found[name]]).astype(np.float64)[order])
            bounds.append((end, end + len(order)))
            end += len(order)
        present = [(0, value) for value in range(len(names))]
        return Cut(names, np.concatenate(documents), np.concatenate(sums), present, bounds)

    def given(self, label: str) -> bool:
        """Whether answers carry a label."""
        return any(label in block.given for block in self.blocks)

    def tallies(self, view: str) -> dict[str, Tally]:
        """The counts of error categories."""
        parts = [block.tallies[view] for block in self.blocks if view in block.tallies]
        found = {name: self._tally([part[name] for part in parts]) for name in parts[0]}
        several = any(view in block.candidates for block in self.blocks)
        return found if several else without_candidates(found)

    def _tally(self, parts: Sequence[Tally]) -> Tally:
        totals = [part.total for part in parts if part.total is not None]
        return Tally(
            self.order.laid_out([part.errors for part in parts]),
            self.order.laid_out(totals) if totals else None,
            sum(part.undecided for part in parts),
            parts[0].reason,
        )


def _result(
    nothing: Setting,
    job: Job,
    plans: Plans,
    labels: Sequence[str],
    sums: _Sums,
    found: Mapping[str, Chosen],
    draw: Draw,
) -> Result:
    gold, answers = sums.sides.gold, sums.sides.answers
    corpus = replace(nothing.corpus, table=pa.table({"id": sums.ids}), digest=sums.digest(0))
    todo = replace(nothing, corpus=corpus)
    views = sums.views(todo)
    groups = _grouped(todo, labels, plans, views, sums, draw)
    statistics = {name: view.statistics for name, view in views.items()}
    how = todo.pairing(TASKS[todo.table["task"]].source).reading
    told = Told(
        corpus=(gold.name, gold.about),
        run=(answers.name, answers.about, sums.digest(1)),
        skipped=sums.skipped,
        noticed=said(sums.noticed, how, statistics, from_labels=answers.about.get("answers") == "labels"),
        doubts=sums.doubts,
    )
    result = result_of(todo, plans, views, groups, found, draw, told, job.measures)
    return replace(result, make_verdicts=_no_verdicts)


def _no_verdicts() -> NoReturn:
    raise KaratError(f"an engine keeps no verdicts. {_INSTEAD}")


def _grouped(
    todo: Setting, labels: Sequence[str], plans: Plans, views: Mapping[str, View], sums: _Sums, draw: Draw
) -> Groups:
    """The scores by each label, as `karat.evaluation.labels.grouped` has them."""
    groups: Groups = {}
    for label in labels:
        if label == "doc":
            groups[label] = {name: by_document(todo.corpus.ids, view) for name, view in views.items()}
        elif by_parts(todo, label):
            groups[label] = by_part(todo, label, views, draw)
        elif label == "error":
            groups[label] = {view: rated(sums.tallies(view), todo, draw) for view in plans.stages}
        else:
            groups[label] = {name: _by_label(todo, label, name, view, sums, draw) for name, view in views.items()}
    check_groups(todo, groups)
    return groups


def _by_label(todo: Setting, label: str, name: str, view: View, sums: _Sums, draw: Draw) -> dict[str, Group]:
    spread = [each.short for each in todo.wanted if measure_of(each).spread and each.group and each.group[0] == label]
    shorts = list(dict.fromkeys([*short_names(detection=False), *spread]))
    nothing = Facet(Lists(np.zeros(1, np.int64), np.zeros(0, np.int32)), [])
    values = Label(label, nothing, nothing._replace(given=sums.given(label)))
    return by_cut(values, sums.cut(label, name), {name: view}, shorts, draw)[name]
