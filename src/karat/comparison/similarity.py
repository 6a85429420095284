"""How alike systems are, what each finds alone, and what they find together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.errors import UsageError
from karat.evaluation.notes import notes
from karat.evaluation.request import Setting, setting
from karat.evaluation.thresholds import best_threshold
from karat.evaluation.view import mean
from karat.kb.protocol import KB
from karat.matching.judge.judge import Located
from karat.matching.read.pairing import BLOCK
from karat.model.corpus import Corpus
from karat.model.name import parse_measure
from karat.model.result import Scored
from karat.model.run import Run
from karat.model.signature import Signature
from karat.model.tables import check
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Bools, Longs, mentions
from karat.model.verdict import Verdicts, joined
from karat.spec.empty import EMPTY
from karat.spec.task import TASKS
from karat.spec.threshold import Sweep, Threshold, threshold_of


class Likeness(NamedTuple):
    """Two systems under one relation: BAT's equations 4 and 5, and what each finds that the other does not.

    `only_one` counts what the first found and the second did not, `right_one` how much of it is right.
    """

    one: str
    two: str
    relation: str
    macro: Scored
    micro: Scored
    only_one: int
    right_one: int
    only_two: int
    right_two: int


class Together(NamedTuple):
    """What several systems find under one relation: the gold mentions that at least one of them found, and so on."""

    relation: str
    gold: int
    found_by_any: int
    found_by_all: int
    missed_by_all: int
    found_alone: Mapping[str, int]
    missed_together: Mapping[tuple[str, str], int]

    @property
    def oracle_recall(self) -> float | None:
        """The recall of a system that knew for each mention whom to believe."""
        return self.found_by_any / self.gold if self.gold else None


@dataclass(frozen=True)
class Similarity:
    """Several systems side by side; `thresholds` holds those at which each was compared, for each relation.

    `oracle` says which of them were chosen on this very corpus; `notes` hint at likely mistakes.
    """

    signature: Signature
    runs: tuple[str, ...]
    likeness: tuple[Likeness, ...]
    together: tuple[Together, ...]
    thresholds: Mapping[str, Mapping[str, float | None]]
    oracle: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def similarity(
    corpus: Corpus,
    runs: Sequence[Run],
    *,
    match: str = "strong,weak,mention-weak,entity",
    like: str = "karat",
    best: str | None = None,
    kb: KB | None = None,
    allow_unknown: bool = False,
    **choice: str,
) -> Similarity:
    """Compare what systems answer, with each other and with the gold standard.

    Whole outputs are compared, or with `best` (such as `oracle-bat-paper`) those above each system's best threshold for
    the relation, as in BAT's Table 9.
    """
    names = [run.name for run in runs]
    if len(runs) < 2 or len(set(names)) < len(names):
        raise UsageError("similarity compares at least two runs with different names. Give them so.")
    given = {"threshold": best or "none", **choice, "match": match}
    if best is not None and choice.get("threshold", best) != best:
        raise UsageError("best and threshold both choose thresholds. Give one of the two.")
    asked = [setting(corpus, run, like=like, choices=given, kb=kb, allow_unknown=allow_unknown) for run in runs]
    rule = threshold_of(asked[0].table)
    todos = {one.run.name: _reduced(one) for one in asked}
    relations = list(dict.fromkeys(name.view.relation for name in asked[0].wanted))
    for view in dict.fromkeys(name.view for name in asked[0].wanted):
        if asked[0].planner().plan(view).weights_are_whole:
            raise UsageError(f"{view} compares clusters, not annotations. Choose a relation.")
    likeness: list[Likeness] = []
    together: list[Together] = []
    thresholds: dict[str, dict[str, float | None]] = {}
    oracle: list[str] = []
    for relation in relations:
        cut = {name: _cut(todo, relation, rule, oracle) for name, todo in todos.items()}
        thresholds[relation] = {name: threshold.at for name, threshold in cut.items()}
        left = {name: _above(todo.run, cut[name]) for name, todo in todos.items()}
        against = {name: _found(replace_sides(todo, todo.corpus, left[name]), relation) for name, todo in todos.items()}
        for one, two in combinations(names, 2):
            likeness.append(_likeness(todos[one], left[one], left[two], relation, against[one], against[two]))
        together.append(_together(relation, against))
    source = TASKS[asked[0].table["task"]].source
    return Similarity(
        asked[0].signature,
        tuple(names),
        tuple(likeness),
        tuple(together),
        thresholds,
        tuple(oracle),
        tuple(f"{one.run.name}: {note}" for one in asked for note in notes(one.pairing(source), {})),
    )


def _reduced(todo: Setting) -> Setting:
    """The setting with what its task compares as plain annotations, so that either side can take the other's place."""
    source = TASKS[todo.table["task"]].source
    if source == "statements" or TASKS[todo.table["task"]].parts:
        raise UsageError(f"similarity compares annotations or entities, not {todo.table['task']}. Choose another task.")
    pairing = todo.pairing(source)
    run = replace(pairing.run, table=_without_tags(pairing.run.table))
    if todo.table["duplicates"] == "once":
        again = np.zeros(len(run.answers), np.bool_)
        again[check.repeated(run.answers)] = True
        run = replace(run, answers=run.answers.where(~again), repeated=0)
    return replace_sides(todo, replace(pairing.corpus, table=_without_tags(pairing.corpus.table)), run)


def _without_tags(table: Arrow) -> Arrow:
    return table.drop_columns(["tags"]) if "tags" in table.column_names else table


class _Found(NamedTuple):
    """Which gold labels count, which of them were found, and which answers are right, by row."""

    gold: Bools
    found: Bools
    right: Bools


def replace_sides(todo: Setting, corpus: Corpus, run: Run, measures: Sequence[str] | None = None) -> Setting:
    """The same setting for another corpus and run."""
    choices = {name: value for name, value in todo.table.items() if name not in ("kb", "match", "threshold")}
    choices["threshold"] = "none"  # what a threshold leaves is chosen before
    shown = todo.shown if measures is None else measures
    return setting(corpus, run, like=todo.like, choices=choices, measures=shown, kb=todo.kb, allow_unknown=True)


def _cut(todo: Setting, relation: str, rule: Threshold | Sweep, oracle: list[str]) -> Threshold:
    """The threshold above which a system is compared: a fixed one, or its best for the relation."""
    if isinstance(rule, Threshold):
        return rule
    plan = todo.planner().plan(next(name.view for name in todo.wanted if name.view.relation == relation))
    found = best_threshold(plan, todo.pairing(plan.source), rule, EMPTY[todo.table["empty"]], BLOCK)
    if found is None:
        return Threshold()
    oracle.append(f"{todo.run.name}, {found.note}")
    return found.threshold


def _above(run: Run, threshold: Threshold) -> Run:
    """The run with only those answers that a threshold leaves."""
    if threshold.at is None:
        return run
    score = run.answers.score()
    low = score <= threshold.at if threshold.strict else score < threshold.at
    return replace(run, answers=run.answers.where(~low))


def _verdicts(todo: Setting, relation: str, assignment: str | None = None) -> Verdicts:
    plan = todo.planner().plan(next(name.view for name in todo.wanted if name.view.relation == relation))
    if assignment is not None:
        plan = replace(plan, assignment=assignment)
    pairing = todo.pairing(plan.source)
    return joined(
        [plan.verdicts(pairing.gold(*block), pairing.answers(*block), Located()) for block in pairing.blocks()]
    )


def _found(todo: Setting, relation: str) -> _Found:
    """What a system found of the gold standard."""
    cases = _verdicts(todo, relation)
    weights = cases.weights()
    gold, found = np.zeros((2, len(todo.corpus.labels)), np.bool_)
    right = np.zeros(len(todo.run.answers), np.bool_)
    # Systems may match different alternatives of one mention: what counts is the mention.
    together = todo.table["alternatives"] == "unit"
    mention = todo.corpus.units.unit if together else np.arange(len(todo.corpus.labels))
    with_gold, with_answer = cases.gold >= 0, cases.answer >= 0
    gold[mention[cases.gold[with_gold & (weights[:, 2:].sum(axis=1) > 0)]]] = True
    found[mention[cases.gold[with_gold & (weights[:, 2] > 0)]]] = True
    right[cases.answer[with_answer & (weights[:, 0] > 0)]] = True
    return _Found(gold, found, right)


def _as_gold(corpus: Corpus, run: Run) -> Corpus:
    """A run in the place of the gold standard."""
    answers = run.answers
    lists = pa.ListArray.from_arrays(pa.array(answers.offsets.astype(np.int32)), answers.values)
    place = pc.index_in(corpus.ids, run.ids)
    taken = lists.take(place)
    return replace(corpus, labels=mentions(pa.chunked_array([taken])))


def _likeness(todo: Setting, one: Run, two: Run, relation: str, first: _Found, second: _Found) -> Likeness:
    """Both systems against each other: what one says is right if the other says something that matches."""
    measures = [name for name in todo.shown if parse_measure(name).view.relation == relation]
    there = replace_sides(todo, _as_gold(todo.corpus, one), two, measures)
    cases = _verdicts(there, relation, "membership")
    sums = cases.per_document(0, len(todo.corpus))
    alike, size = sums[:, 0] + sums[:, 2], sums.sum(axis=1)
    per_document = np.divide(alike, size, out=np.ones(len(size)), where=size > 0)
    total = float(size.sum())
    weights = cases.weights()
    only_one = cases.gold[(weights[:, 3] > 0) & (cases.gold >= 0)]
    only_two = cases.answer[(weights[:, 1] > 0) & (cases.answer >= 0)]
    # Rows of the first system stand in the order of the corpus there, in that of its file here.
    order = _rows(todo.corpus, one)
    return Likeness(
        one.name,
        two.name,
        relation,
        mean(per_document, "there is no document"),
        Scored(float(alike.sum()) / total, int(total)) if total else Scored(None, 0, "both systems answer nothing"),
        len(only_one),
        int(first.right[order[only_one]].sum()),
        len(only_two),
        int(second.right[only_two].sum()),
    )


def _rows(corpus: Corpus, run: Run) -> Longs:
    """The row of each answer in the run, in the order of the corpus."""
    place = pc.index_in(corpus.ids, run.ids).fill_null(-1).to_numpy(zero_copy_only=False)
    offsets = run.answers.offsets
    return np.concatenate([np.arange(offsets[p], offsets[p + 1]) for p in place.tolist() if p >= 0] or [np.arange(0)])


def _together(relation: str, found: Mapping[str, _Found]) -> Together:
    names = list(found)
    gold = np.logical_or.reduce([found[name].gold for name in names])
    hits = np.stack([found[name].found for name in names])[:, gold]
    misses = ~hits
    return Together(
        relation,
        int(gold.sum()),
        int(hits.any(axis=0).sum()),
        int(hits.all(axis=0).sum()),
        int(misses.all(axis=0).sum()),
        {name: int((hits[i] & (hits.sum(axis=0) == 1)).sum()) for i, name in enumerate(names)},
        {
            (one, two): int((misses[i] & misses[j]).sum())
            for (i, one), (j, two) in combinations(list(enumerate(names)), 2)
        },
    )
