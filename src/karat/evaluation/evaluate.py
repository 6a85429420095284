"""Score a run against a corpus: select, align, judge, count, fold."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import NamedTuple, TypeAlias

import numpy as np

from karat.errors import UsageError
from karat.evaluation.elevant_cases import elevant_cases
from karat.evaluation.intervals import Between, Draw, Over, ends, view_intervals, without_interval
from karat.evaluation.labels import (
    LABELS_OF_CASES,
    Groups,
    case_labels,
    doubts,
    grouped,
    part_views,
    undecided,
    untyped,
)
from karat.evaluation.notes import notes
from karat.evaluation.plan import Plan, Plans, expanded, in_task
from karat.evaluation.ranked import documents_of_scores, ranking_of, scores_of
from karat.evaluation.request import Setting, as_text, setting
from karat.evaluation.rows import verdict_table
from karat.evaluation.thresholds import Chosen, best_threshold
from karat.evaluation.view import View, measure_of, scored, short_names
from karat.kb.protocol import KB
from karat.matching.judge.judge import Located
from karat.matching.read.pairing import BLOCK, Pairing
from karat.matching.read.reduce import left_out
from karat.matching.select.thinning import longest
from karat.model.corpus import Corpus
from karat.model.name import ViewName
from karat.model.result import Result, Scored
from karat.model.run import Run
from karat.model.statistics import Statistics
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import NIL, NO_LINK
from karat.model.verdict import Verdicts, joined
from karat.spec.empty import EMPTY
from karat.spec.engine import Parts
from karat.spec.task import TASKS
from karat.spec.threshold import Threshold, threshold_of
from karat.stats.samples.intervals import Method

_AHEAD = 8  # blocks in flight: enough to keep all cores busy, few enough to stay small

Progress: TypeAlias = Callable[[int], None]
"""Called with the number of documents done since the last call."""


def evaluate(
    corpus: Corpus | Parts,
    run: Run | Parts,
    *,
    like: str = "karat",
    choices: Mapping[str, str] | None = None,
    measures: Sequence[str] = (),
    also: Sequence[str] = (),
    by: Sequence[str] = (),
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
    Choices are those of `karat.spec.profile.CHOICES`, in a mapping or as keywords: `assignment="greedy"`. With a
    knowledge base (or the folder of its tables), ids are resolved by it on both sides. With `resamples`, the measures
    shown get intervals of a `level` from as many samples of documents, by the method `interval` (`percentile`, `bca`,
    `wilson`), `over` documents or single cases; with `recompute`, also those that do not add up over documents, from
    as many scores without some of the documents.
    With an `engine` (`local`, `duckdb`, `spark`), that divides the documents; both sides may then be what
    `karat.data.load.load_parts` gives, which need not fit into memory.
    """
    by, measures, also = ([item] if isinstance(item, str) else item for item in (by, measures, also))
    if block < 1:
        raise UsageError(f"block is {block}. Give a number of documents.")
    given = as_text({**(choices or {}), **choice})
    how = Draw(resamples, "0", interval, level, over, recompute).checked()
    known = all(hasattr(side, "skipped") for side in (corpus, run))
    if not known or isinstance(corpus, Run) or isinstance(run, Corpus):
        raise UsageError("evaluate takes a Corpus and a Run, in this order. Make them with load and load_run.")
    if not (isinstance(corpus, Corpus) and isinstance(run, Run)) or engine not in (None, "local"):
        from karat.evaluation.spread import evaluate_parts

        return evaluate_parts(
            corpus,
            run,
            engine or "local",
            like=like,
            choices=given,
            measures=measures,
            also=also,
            by=by,
            kb=kb,
            draw=how,
            allow_unknown=allow_unknown,
            progress=progress,
        )
    todo = setting(
        corpus, run, like=like, choices=given, measures=measures, also=also, kb=kb, allow_unknown=allow_unknown
    )
    thresholds, found = _thresholds(todo, block)
    draw = how._replace(seed=todo.table["seed"])
    labels, plans, keep = prepared(todo, by, thresholds)
    if resamples and over == "cases":
        keep |= set(plans.views)
    views, kept = count_views(todo, plans, block, keep=keep, found=found, progress=progress)
    groups = grouped(todo, labels, plans, views, kept, draw)
    pairing = todo.pairing(TASKS[todo.table["task"]].source)
    told = Told(
        corpus=(corpus.name, corpus.about),
        run=(run.name, run.about, run.digest),
        skipped={what: count for what, count in left_out_counts(todo, plans).items() if count or what in todo.left_out},
        noticed=notes(pairing, {name: view.statistics for name, view in views.items()}),
        doubts=doubts(todo, labels),
    )
    return replace(
        result_of(todo, plans, views, groups, found, draw, told, measures),
        make_verdicts=lambda: verdict_table(_cases(todo, plans, block, LABELS_OF_CASES & set(labels))),
        make_cases=lambda: elevant_cases(todo, plans, {name: joined(parts) for name, parts in kept.items()}),
        make_view=views.__getitem__,
    )


class Told(NamedTuple):
    """What a result says beside its scores: who was scored on what, what was left out, and what was noticed."""

    corpus: tuple[str, Mapping[str, str]]
    run: tuple[str, Mapping[str, str], str]
    skipped: Mapping[str, int]
    noticed: Sequence[str]
    doubts: tuple[int, int]


def result_of(
    todo: Setting,
    plans: Plans,
    views: Mapping[str, View],
    groups: Groups,
    found: Mapping[str, Chosen],
    draw: Draw,
    told: Told,
    measures: Sequence[str],
) -> Result:
    """The result of counted views, wherever they were counted; it has no verdicts of its own."""
    intervals, without = shown_intervals(todo, plans.means, views, groups, draw)
    drawn = bool(draw.resamples)
    return Result(
        signature=todo.signature,
        profile=todo.like,
        corpus=told.corpus[0],
        run=told.run[0],
        run_digest=told.run[2],
        scores=scores_of_views(todo, plans, views),
        views={name: view.statistics for name, view in views.items() if not view.whole},
        totals={name: view.statistics for name, view in views.items() if view.whole},
        ids=todo.corpus.ids,
        skipped=told.skipped,
        notes=(
            *told.noticed,
            *no_classes(todo, plans),
            *undecided(todo, *told.doubts),
            *untyped(groups),
            *(best.note for best in found.values()),
            *without,
        ),
        intervals=intervals,
        thresholds=chosen_here(plans, found),
        resamples=draw.resamples,
        interval_method=draw.method if drawn else None,
        interval_level=draw.level if drawn else None,
        interval_over=draw.over if drawn else None,
        recomputed=draw.recompute if drawn else 0,
        by=groups,
        about_corpus=told.corpus[1],
        about_run=told.run[1],
        shown=todo.shown,
        aliases={given: str(in_task(given, todo.table["task"])) for asked in measures for given in expanded(asked)},
    )


def prepared(
    todo: Setting, by: Sequence[str], thresholds: Mapping[str, Threshold]
) -> tuple[tuple[str, ...], Plans, set[str]]:
    """The labels to group by, which tables of verdicts to make, and the names of those that are to be kept."""
    labels = tuple(dict.fromkeys([*by, *(name.group[0] for name in todo.wanted if name.group)]))
    staged = "error" in labels
    plans = todo.planner(thresholds).plans([*todo.wanted, *part_views(todo, labels)], staged=staged)
    keep = {str(name.view) for name in todo.wanted if not measure_of(name).usual}
    if set(labels) - {"doc"}:
        keep = {*plans.views, *plans.stages.values()}
    return labels, plans, keep


def bases_of(plans: Plans) -> dict[str, ViewName]:
    """The views that have a threshold of their own, by the task and relation that plans know them by."""
    return {
        f"{plan.view.task or ''}/{plan.view.relation}": replace(plan.view, filters=()) for plan in plans.views.values()
    }


def chosen_here(plans: Plans, found: Mapping[str, Chosen]) -> dict[str, float | None]:
    """The thresholds found by trying; a view with the mean of others has none of its own, but is an oracle too."""
    own = {name: best.threshold.at for name, best in found.items()}
    bases = {
        name: {str(replace(plans.views[part].view, filters=())) for part in parts}
        for name, parts in plans.means.items()
    }
    return own | {name: None for name, parts in bases.items() if parts & own.keys()}


def _thresholds(todo: Setting, block: int) -> tuple[dict[str, Threshold], dict[str, Chosen]]:
    """The threshold of every relation in every task, and for those found by trying what was found."""
    rule = threshold_of(todo.table)
    if isinstance(rule, Threshold) and rule.at is None:
        return {}, {}
    plans = todo.planner().plans(todo.wanted)
    bases = bases_of(plans)
    if isinstance(rule, Threshold):
        return dict.fromkeys(bases, rule), {}
    how, gold_documents = EMPTY[todo.table["empty"]], todo.table["macro"] == "gold-documents"
    found = {}
    for base, view in bases.items():
        plan = plans.views[str(view)] if str(view) in plans.views else todo.planner().plan(view)
        if not plan.weights_are_whole:
            pairing = todo.pairing(plan.source)
            best = best_threshold(plan, pairing, rule, how, block, gold_documents=gold_documents)
            if best is not None:
                found[base] = best
    return {base: best.threshold for base, best in found.items()}, {str(bases[base]): b for base, b in found.items()}


def count_views(
    todo: Setting,
    plans: Plans,
    block: int,
    *,
    keep: set[str],
    found: Mapping[str, Chosen],
    progress: Progress | None = None,
) -> tuple[dict[str, View], dict[str, list[Verdicts]]]:
    """The statistics of every view, and the verdicts of those views whose verdicts are to be kept."""
    counted = {name: plan for name, plan in plans.all.items() if not plan.weights_are_whole}
    weights = {name: np.empty((len(todo.corpus), 4)) for name in counted}
    kept: dict[str, list[Verdicts]] = {name: [] for name in keep & set(counted)}

    def count(first: int, last: int, cases: dict[str, Verdicts]) -> dict[str, Verdicts]:
        for name, table in cases.items():
            weights[name][first:last] = table.per_document(first, last)
        return {name: cases[name] for name in kept}

    for (first, last), cases in _judged(todo, counted, block, count):
        for name, table in cases.items():
            kept[name].append(table)
        if progress is not None:
            progress(last - first)
    statistics = {name: Statistics(sums) for name, sums in weights.items()}
    return {name: view_of(todo, plans, name, plan, statistics, kept, found) for name, plan in plans.views.items()}, kept


def view_of(
    todo: Setting,
    plans: Plans,
    name: str,
    plan: Plan,
    statistics: Mapping[str, Statistics],
    kept: Mapping[str, list[Verdicts]],
    found: Mapping[str, Chosen],
) -> View:
    """What the measures of one view look at."""
    empty = EMPTY[todo.table["empty"]]
    pairing = todo.pairing(plan.source)
    part = bool(plan.view.filters)
    order = lambda: np.argsort(np.array(todo.corpus.ids.to_pylist(), object), kind="stable")  # noqa: E731
    if plan.weights_are_whole:
        return View(
            Statistics(plan.weights(pairing)[None]),
            empty,
            part,
            whole=True,
            again=lambda keep: Statistics(plan.weights(pairing, keep)[None]),
            order=order,
        )
    own = statistics[name]
    base = found.get(str(replace(plan.view, filters=())))
    return View(
        own,
        empty,
        part,
        found=statistics[plans.detection[name]] if name in plans.detection else None,
        per_item=plan.relation.credit is not None,
        macro=pairing.has_gold if todo.table["macro"] == "gold-documents" else None,
        by_gold=plan.relation.by_gold,
        present=part and base is not None and _present(todo, plan),
        ranking=(lambda: ranking_of(pairing, joined(kept[name]))) if plan.relation.level == "document" else None,
        scored=lambda: scores_of(pairing, joined(kept[name])),
        cases=lambda: joined(kept[name]).weights(),
        scored_in=lambda: documents_of_scores(pairing, joined(kept[name])),
        order=order,
    )


def _present(todo: Setting, plan: Plan) -> bool:
    """Whether a filtered view had any case before its threshold."""
    pairing, everything = todo.pairing(plan.source), plan.above(Threshold())
    size = len(todo.corpus)
    gold, answers = everything.select.of(pairing.gold(0, size), pairing.answers(0, size))
    return bool(len(gold.items) or len(answers.items))


def scores_of_views(todo: Setting, plans: Plans, views: Mapping[str, View]) -> dict[str, Scored]:
    """All measures of every view that it has by itself, and all that were asked for."""
    asked: dict[str, list[str]] = {name: [] for name in [*views, *plans.means]}
    for measure in todo.wanted:
        if measure.group is None:
            asked[str(measure.view)].append(measure.short)
    scores: dict[str, Scored] = {}
    for name, view in views.items():
        shorts = list(dict.fromkeys([*short_names(detection=name in plans.detection), *asked[name]]))
        scores |= {f"{name}:{short}": score for short, score in scored(view, shorts).items()}
    for name, parts in plans.means.items():
        for short in dict.fromkeys([*short_names(detection=False), *asked[name]]):
            scores[f"{name}:{short}"] = _mean_of({part: views[part].score(short) for part in counted(parts, views)})
    return scores


def shown_intervals(
    todo: Setting, means: Mapping[str, Sequence[str]], views: Mapping[str, View], groups: Groups, draw: Draw
) -> tuple[dict[str, tuple[float, float]], list[str]]:
    """The intervals of the measures shown, and why some have none; `means` are views that are means of others."""
    if not draw.resamples:
        return {}, []
    asked: dict[str, list[str]] = {}
    intervals: dict[str, tuple[float, float]] = {}
    for name in todo.wanted:
        if name.group is None:
            asked.setdefault(str(name.view), []).append(name.short)
            continue
        label, value = name.group
        by_label = groups[label][str(name.view)][value].intervals
        if name.short in by_label:
            intervals[str(name)] = by_label[name.short]
    found: dict[str, Between] = {}
    for view, shorts in asked.items():
        own = [views[part] for part in counted(means.get(view, (view,)), views) if part in views]
        made = view_intervals(own, shorts, draw) if own else {}
        found |= {f"{view}:{short}": between for short, between in made.items()}
    return intervals | ends(found), without_interval(found)


def counted(parts: Sequence[str], views: Mapping[str, View]) -> Sequence[str]:
    """The views of a mean that count: not those of clusterings in which neither side has a pair, unless none has."""
    empty = {name for name, view in views.items() if view.whole and not view.statistics.weights.any()}
    return [part for part in parts if part not in empty] or parts


def _mean_of(parts: Mapping[str, Scored]) -> Scored:
    """The mean of the scores of several views; undefined if one of them is."""
    values = [score.value for score in parts.values() if score.value is not None]
    for name, score in parts.items():
        if score.value is None:
            return Scored(None, 0, f"{name}: {score.reason}")
    return Scored(sum(values) / len(values), len(values))


def _judged(
    todo: Setting,
    plans: Mapping[str, Plan],
    size: int,
    then: Callable[[int, int, dict[str, Verdicts]], dict[str, Verdicts]],
) -> Iterator[tuple[tuple[int, int], dict[str, Verdicts]]]:
    """What `then` keeps of the verdicts of every plan, block by block.

    Blocks are judged in parallel, a few ahead, and come in their order.
    """
    pairings = {source: todo.pairing(source) for source in {plan.source for plan in plans.values()}}

    def judge(first: int, last: int) -> dict[str, Verdicts]:
        cases: dict[str, Verdicts] = {}
        for source, pairing in pairings.items():
            gold, answers, known = pairing.gold(first, last), pairing.answers(first, last), Located()
            for name, plan in plans.items():
                if plan.source == source:
                    cases[name] = plan.verdicts(gold, answers, known)
        return then(first, last, cases)

    blocks = [(first, min(first + size, len(todo.corpus))) for first in range(0, len(todo.corpus), size)]
    if len(blocks) == 1:
        yield blocks[0], judge(*blocks[0])
        return
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        waiting = deque(pool.submit(judge, *block) for block in blocks[:_AHEAD])
        for place, block in enumerate(blocks):
            if place + _AHEAD < len(blocks):
                waiting.append(pool.submit(judge, *blocks[place + _AHEAD]))
            yield block, waiting.popleft().result()


def _cases(
    todo: Setting, plans: Plans, block: int, labels: Set[str]
) -> Iterator[tuple[Pairing, str, Verdicts, dict[str, Arrow]]]:
    """Every case of every view, with the labels of cases that were asked for."""
    counted = {name: plan for name, plan in plans.all.items() if not plan.weights_are_whole}
    shown = [name for name in counted if name in plans.views]
    for _, found in _judged(todo, counted, block, lambda first, last, cases: cases):
        for name in shown:
            more = case_labels(todo, plans, name, found, labels)
            yield todo.pairing(counted[name].source), name, found[name], more


def left_out_counts(todo: Setting, plans: Plans) -> dict[str, int]:
    """What was left out, in words."""
    sources = {plan.source for plan in plans.views.values()}
    counts = {f"gold: {what}": count for what, count in todo.corpus.skipped.items()}
    counts |= {f"answers: {what}": count for what, count in todo.run.skipped.items()}
    counts |= todo.pairing(TASKS[todo.table["task"]].source).skipped
    whole = todo.pairing(TASKS[todo.table["task"]].source).reading.whole
    counts |= {**left_out(todo.corpus, todo.run, sources, whole), **todo.left_out}
    rule = threshold_of(todo.table)
    if isinstance(rule, Threshold) and rule.at is not None:
        score = todo.pairing(TASKS[todo.table["task"]].source).run.answers.score()
        counts["answers below the threshold"] = int((score <= rule.at if rule.strict else score < rule.at).sum())
    counts |= _dropped(todo, plans)
    for plan in plans.views.values():
        name = f"answers off the given mentions{f' of {plan.view.task}' if plan.view.task else ''}"
        if plan.select.rules.given is not None and name not in counts:
            pairing, size = todo.pairing(plan.source), len(todo.corpus)
            counts[name] = plan.select.off_given(pairing.gold(0, size), pairing.answers(0, size))
    return counts


def _dropped(todo: Setting, plans: Plans) -> dict[str, int]:
    """What a profile's rules leave out before anything is matched."""
    counts: dict[str, int] = {}
    for plan in plans.views.values():
        pairing, rules = todo.pairing(plan.source), plan.select.rules
        sides = {"gold labels": pairing.gold_entity, "answers": pairing.answer_entity}
        for side, entity in sides.items():
            if rules.drop_nil:
                counts[f"{side} linked to NIL"] = int((entity == NIL).sum())
            if rules.annotations and rules.unlinked == "absent":
                counts[f"{side} without link"] = int((entity == NO_LINK).sum())
        if rules.thin and plan.relation.loose and "answers inside or across longer ones" not in counts:
            size = len(todo.corpus)
            items = pairing.gold(0, size).items, pairing.answers(0, size).items
            for side, found in zip(sides, items, strict=True):
                counts[f"{side} inside or across longer ones"] = int((~longest(found)).sum())
    return counts


def no_classes(todo: Setting, plans: Plans) -> Iterator[str]:
    """Types compared by a hierarchy that is not there."""
    typed = any(plan.relation.typed for plan in plans.views.values())
    if typed and todo.table["typing"] != "shared" and (todo.kb is None or not todo.kb.hierarchy.superclasses):
        yield f"typing={todo.table['typing']} knows no classes above or below others: give subclass_of.tsv with --kb"
