"""Score a run against a corpus: select, align, judge, count, fold."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeAlias

import numpy as np

from karat.errors import UnknownNameError, UsageError
from karat.matching.judge import Located
from karat.matching.pairing import BLOCK, Pairing, pair
from karat.model.corpus import Corpus
from karat.model.name import MeasureName, parse_measure
from karat.model.result import Group, Result
from karat.model.run import Run
from karat.model.signature import Signature
from karat.model.statistics import Statistics
from karat.model.verdict import Verdicts, joined
from karat.pipeline.folds import View, scored, short_names
from karat.pipeline.groups import by_document, by_label
from karat.pipeline.notes import notes
from karat.pipeline.plan import Plan, Plans, measures_of, plans
from karat.pipeline.tables import verdict_table
from karat.registry import get, identity
from karat.spec.empty import EMPTY
from karat.spec.profile import Profile, chosen
from karat.version import __version__

_AHEAD = 8  # blocks in flight: enough to keep all cores busy, few enough to stay small

Progress: TypeAlias = Callable[[int], None]
"""Called with the number of documents done since the last call."""

Groups: TypeAlias = dict[str, dict[str, dict[str, Group]]]
"""Scores by label, view and value."""


def evaluate(
    corpus: Corpus,
    run: Run,
    *,
    like: str = "karat",
    choices: Mapping[str, str] | None = None,
    measures: Sequence[str] = (),
    by: Sequence[str] = (),
    allow_unknown: bool = False,
    progress: Progress | None = None,
    block: int = BLOCK,
    **choice: object,
) -> Result:
    """Score a run against a corpus under a profile, of which single choices may be overridden.

    `measures` replaces those the profile shows; `by` names labels to group by (`types`, `nil`, `doc`, a
    dimension of `categories`); `allow_unknown` leaves out answers to documents that the corpus does not have.
    Choices are those of `karat.spec.profile.CHOICES`, in a mapping or as keywords: `assignment="greedy"`.
    """
    if not (isinstance(corpus, Corpus) and isinstance(run, Run)):
        raise UsageError("evaluate takes a Corpus and a Run, in this order. Make them with load and load_run.")
    by, measures = ([item] if isinstance(item, str) else item for item in (by, measures))
    profile = get("profiles", like, Profile)
    given = {name: str(value) for name, value in {**(choices or {}), **choice}.items()}
    if block < 1:
        raise UsageError(f"block is {block}. Give a number of documents.")
    shown = measures_of(profile, given.get("match"), measures)
    wanted = [parse_measure(name) for name in shown]
    given["match"] = ",".join(dict.fromkeys(identity("relations", name.view.relation) for name in wanted))
    table = chosen(profile, given)
    labels = tuple(dict.fromkeys([*by, *(name.group[0] for name in wanted if name.group)]))
    pairing = pair(corpus, run, allow_unknown=allow_unknown)
    todo = plans(pairing, wanted, table)
    views, kept = count_views(pairing, todo, table["empty"], block, keep=bool(set(labels) - {"doc"}), progress=progress)
    return Result(
        signature=Signature((("karat", __version__), ("data", f"{corpus.name}@{corpus.digest}"), *table.items())),
        profile=like,
        corpus=corpus.name,
        run=run.name,
        run_digest=run.digest,
        scores={
            f"{name}:{short}": score
            for name, view in views.items()
            for short, score in scored(view, short_names(detection=name in todo.detection)).items()
        },
        views={name: view.statistics for name, view in views.items()},
        ids=corpus.ids,
        skipped=pairing.skipped,
        notes=notes(pairing, {name: view.statistics for name, view in views.items()}),
        by=_grouped(pairing, labels, views, kept, wanted),
        about_corpus=corpus.about,
        about_run=run.about,
        shown=shown,
        make_verdicts=lambda: verdict_table(pairing, _cases(pairing, todo.views, block)),
    )


def count_views(
    pairing: Pairing, todo: Plans, empty: str, block: int, *, keep: bool, progress: Progress | None
) -> tuple[dict[str, View], dict[str, list[Verdicts]]]:
    """The statistics of every view, and its verdicts where they are to be kept."""
    weights = {name: np.empty((len(pairing.corpus), 4)) for name in todo.all}
    kept: dict[str, list[Verdicts]] = {name: [] for name in todo.views}

    def count(first: int, last: int, cases: dict[str, Verdicts]) -> dict[str, Verdicts]:
        for name, table in cases.items():
            weights[name][first:last] = table.per_document(first, last)
        return {name: cases[name] for name in todo.views} if keep else {}

    for (first, last), cases in _judged(pairing, todo.all, block, count):
        for name, table in cases.items():
            kept[name].append(table)
        if progress is not None:
            progress(last - first)
    statistics = {name: Statistics(sums) for name, sums in weights.items()}
    views = {
        name: View(
            statistics[name],
            EMPTY[empty],
            part=bool(plan.view.filters),
            found=statistics[todo.detection[name]] if name in todo.detection else None,
        )
        for name, plan in todo.views.items()
    }
    return views, kept


def _judged(
    pairing: Pairing,
    todo: Mapping[str, Plan],
    size: int,
    then: Callable[[int, int, dict[str, Verdicts]], dict[str, Verdicts]],
) -> Iterator[tuple[tuple[int, int], dict[str, Verdicts]]]:
    """What `then` keeps of the verdicts of every plan, block by block.

    Blocks are judged in parallel, a few ahead, and come in their order.
    """

    def judge(first: int, last: int) -> dict[str, Verdicts]:
        gold, answers, known = pairing.gold(first, last), pairing.answers(first, last), Located()
        return then(first, last, {name: plan.verdicts(gold, answers, known) for name, plan in todo.items()})

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


def _cases(pairing: Pairing, todo: Mapping[str, Plan], block: int) -> Iterator[tuple[str, Verdicts]]:
    for _, found in _judged(pairing, todo, block, lambda first, last, cases: cases):
        yield from found.items()


def _grouped(
    pairing: Pairing,
    labels: Sequence[str],
    views: Mapping[str, View],
    kept: Mapping[str, list[Verdicts]],
    wanted: Sequence[MeasureName],
) -> Groups:
    """The scores by each label; a value that a measure names must be among them."""
    groups: Groups = {}
    for label in labels:
        if label == "doc":
            groups[label] = {name: by_document(pairing.corpus.ids, view) for name, view in views.items()}
        else:
            fold = by_label(pairing, label)
            groups[label] = {name: fold(joined(kept[name]), view.empty) for name, view in views.items()}
    for name in wanted:
        if name.group is not None:
            label, value = name.group
            known = groups[label][str(name.view)]
            if value not in known:
                raise UnknownNameError(f"value of {label}", value, known)
            if name.short not in known[value].measures:
                raise UnknownNameError(f"measure by {label}", name.short, known[value].measures)
    return groups
