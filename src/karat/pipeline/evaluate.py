"""Score a run against a corpus: select, align, judge, count, fold."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from karat.errors import UnknownNameError, UsageError
from karat.matching.judge import Located, verdicts
from karat.matching.pairing import BLOCK, Pairing, pair
from karat.matching.select import Selection, selection
from karat.model.columns import NO_LINK
from karat.model.corpus import Corpus
from karat.model.items import Answers, Gold
from karat.model.name import MeasureName, ViewName, parse_measure
from karat.model.result import Group, Result, counted
from karat.model.run import Run
from karat.model.signature import Signature
from karat.model.statistics import Statistics
from karat.model.verdict import Verdicts, joined
from karat.pipeline.folds import View, needs_detection, scored, short_names
from karat.pipeline.groups import by_label
from karat.pipeline.tables import verdict_table
from karat.registry import get
from karat.spec.empty import EMPTY
from karat.spec.profile import Profile, chosen, threshold_of
from karat.spec.relation import Relation
from karat.version import __version__

_AHEAD = 8  # blocks in flight: enough to keep all cores busy, few enough to stay small

Progress = Callable[[int], None]
"""Called with the number of documents done since the last call."""


@dataclass(frozen=True)
class _Plan:
    """One table of verdicts to make: which items, which relation, and under which name."""

    name: ViewName
    relation: Relation
    select: Selection
    assignment: str

    def verdicts(self, gold: Gold, answers: Answers, known: Located) -> Verdicts:
        """The verdicts on a block."""
        return verdicts(*self.select.of(gold, answers), self.relation, self.assignment, known)


def evaluate(
    corpus: Corpus,
    run: Run,
    *,
    like: str = "karat",
    choices: Mapping[str, str] | None = None,
    measures: Sequence[str] | None = None,
    by: Sequence[str] = (),
    allow_unknown: bool = False,
    progress: Progress | None = None,
    block: int = BLOCK,
    **choice: str,
) -> Result:
    """Score a run against a corpus under a profile, of which single choices may be overridden.

    `measures` replaces those the profile shows; `by` names labels to group by (`types`, `nil`, `doc`, a
    dimension of `categories`); `allow_unknown` leaves out answers to documents that the corpus does not have.
    Choices are those of `karat.spec.profile.CHOICES`, in a mapping or as keywords: `assignment="greedy"`.
    """
    profile = get("profiles", like, Profile)
    table = chosen(profile, {**(choices or {}), **choice})
    pairing = pair(corpus, run, allow_unknown=allow_unknown)
    shown = _shown(profile, table, measures)
    wanted = [parse_measure(name) for name in shown]
    by = tuple(dict.fromkeys([*by, *(name.group[0] for name in wanted if name.group)]))
    plans = _plans(pairing, wanted, table)
    detections = _detections(pairing, wanted, plans, table)
    everything = {**plans, **{name: plan for name, plan in detections.values() if name not in plans}}
    grouping = {label: by_label(pairing, label) for label in by if label != "doc"}
    weights = {name: np.empty((len(corpus), 4)) for name in everything}
    kept: dict[str, list[Verdicts]] = {name: [] for name in plans} if grouping else {}

    def count(first: int, last: int, cases: dict[str, Verdicts]) -> dict[str, Verdicts]:
        for name, rows in cases.items():
            weights[name][first:last] = rows.per_document(first, last)
        return {name: cases[name] for name in kept}

    for (first, last), counted_cases in _judged(pairing, everything, block, count):
        for name, verdicts_of in counted_cases.items():
            kept[name].append(verdicts_of)
        if progress is not None:
            progress(last - first)
    statistics = {name: Statistics(weights[name]) for name in everything}
    found = {name: statistics[other] for name, (other, _) in detections.items()}
    empty = EMPTY[table["empty"]]
    views = {
        name: View(statistics[name], empty, bool(plan.name.filters), found.get(name)) for name, plan in plans.items()
    }
    scores = {
        f"{name}:{short}": value
        for name, view in views.items()
        for short, value in scored(view, short_names(detection=name in found)).items()
    }
    groups: dict[str, dict[str, dict[str, Group]]] = {
        label: {name: fold(joined(kept[name]), empty) for name in plans} for label, fold in grouping.items()
    }
    if "doc" in by:
        groups["doc"] = {name: _by_document(corpus, view) for name, view in views.items()}
    _check_groups(wanted, groups)
    return Result(
        signature=_signature(corpus, table),
        profile=like,
        corpus=corpus.name,
        run=run.name,
        run_digest=run.digest,
        scores=scores,
        views={name: statistics[name] for name in plans},
        ids=corpus.ids,
        skipped=pairing.skipped,
        by={label: groups[label] for label in by},
        about_corpus=corpus.about,
        about_run=run.about,
        shown=shown,
        make_verdicts=lambda: verdict_table(pairing, _cases(pairing, plans, block)),
    )


def _shown(profile: Profile, table: Mapping[str, str], measures: Sequence[str] | None) -> tuple[str, ...]:
    """The measures asked for, or the profile's of the chosen relations; a relation it does not show gets P, R, F1."""
    if measures:
        return tuple(dict.fromkeys(str(parse_measure(name)) for name in measures))
    relations = [name.strip() for name in table["match"].split(",") if name.strip()]
    if not relations:
        raise UsageError("match names no relation. Name at least one, such as strong.")
    usual = [name for name in profile.measures if parse_measure(name).view.relation in relations]
    for relation in relations:
        if not any(parse_measure(name).view.relation == relation for name in usual):
            usual += [f"{relation}:micro.{m}" for m in ("p", "r", "f1")] + [f"{relation}:macro.f1"]
    return tuple(usual)


def _plans(pairing: Pairing, wanted: Sequence[MeasureName], table: Mapping[str, str]) -> dict[str, _Plan]:
    plans = {}
    for view in dict.fromkeys(name.view for name in wanted):
        relation = get("relations", view.relation, Relation)
        select = selection(pairing, relation, view.filters, threshold_of(table))
        plans[str(view)] = _Plan(view, relation, select, table["assignment"])
    return plans


def _detections(
    pairing: Pairing, wanted: Sequence[MeasureName], plans: Mapping[str, _Plan], table: Mapping[str, str]
) -> dict[str, tuple[str, _Plan]]:
    """For views whose measures ask for detection: under which name it is computed, and how.

    All answers count, against the mentions of the view that have a link. Where every mention counts and has a
    link, that is the plain view of the relation.
    """
    found = {}
    bare = bool((pairing.corpus.labels.entity == NO_LINK).any())
    for name in wanted:
        if not needs_detection(name):
            continue
        view, plan = str(name.view), plans[str(name.view)]
        if plan.relation.detection is None:
            raise UsageError(
                f"{name} needs a relation with links and places; {name.view.relation} has no detection of its own. "
                "Ask for strong:accuracy or weak:accuracy."
            )
        relation = get("relations", plan.relation.detection, Relation)
        same = not bare and not name.view.filters
        key = plan.relation.detection if same else f"detection of {view}"
        found[view] = key, _Plan(name.view, relation, plan.select.detecting(relation), table["assignment"])
    return found


def _by_document(corpus: Corpus, view: View) -> dict[str, Group]:
    shorts = [short for short in short_names(detection=False) if short.startswith("micro.")]
    return {
        document: Group(counted(row), scored(View(Statistics(row[None]), view.empty, view.part), shorts))
        for document, row in zip(corpus.ids.to_pylist(), view.statistics.weights, strict=True)
    }


def _check_groups(wanted: Sequence[MeasureName], groups: Mapping[str, Mapping[str, Mapping[str, Group]]]) -> None:
    for name in wanted:
        if name.group is not None:
            label, value = name.group
            known = groups[label][str(name.view)]
            if value not in known:
                raise UnknownNameError(f"value of {label}", value, known)


def _signature(corpus: Corpus, table: Mapping[str, str]) -> Signature:
    data = f"{corpus.name}@{corpus.digest}"
    return Signature((("karat", __version__), ("data", data), *table.items()))


def _judged(
    pairing: Pairing,
    plans: Mapping[str, _Plan],
    size: int,
    then: Callable[[int, int, dict[str, Verdicts]], dict[str, Verdicts]],
) -> Iterator[tuple[tuple[int, int], dict[str, Verdicts]]]:
    """What `then` keeps of the verdicts of every plan, block by block.

    Blocks are judged in parallel, a few ahead, and come in their order.
    """

    def judge(first: int, last: int) -> dict[str, Verdicts]:
        gold, answers, known = pairing.gold(first, last), pairing.answers(first, last), Located()
        return then(first, last, {name: plan.verdicts(gold, answers, known) for name, plan in plans.items()})

    blocks = list(pairing.blocks(size))
    if len(blocks) == 1:
        yield blocks[0], judge(*blocks[0])
        return
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        waiting = deque(pool.submit(judge, *block) for block in blocks[:_AHEAD])
        for place, block in enumerate(blocks):
            if place + _AHEAD < len(blocks):
                waiting.append(pool.submit(judge, *blocks[place + _AHEAD]))
            yield block, waiting.popleft().result()


def _cases(pairing: Pairing, plans: Mapping[str, _Plan], block: int) -> Iterator[tuple[str, Verdicts]]:
    for _, found in _judged(pairing, plans, block, lambda first, last, cases: cases):
        yield from found.items()
