"""How alike systems are, what each finds alone, and what they find together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.errors import UsageError
from karat.evaluation.cases.notes import notes
from karat.evaluation.evaluation import Evaluation
from karat.evaluation.request import Request
from karat.evaluation.view import mean
from karat.kb.protocol import KB
from karat.model.corpus import Corpus
from karat.model.name import ViewName
from karat.model.result import Scored
from karat.model.run import Run
from karat.model.signature import Signature
from karat.model.tables import check
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Bools, Longs, mentions
from karat.spec.choices.conventions import Assignment, Duplicates
from karat.spec.choices.threshold import Sweep, Threshold


class Likeness(NamedTuple):
    """Two systems under one relation: BAT's equations 4 and 5, and what each finds that the other does not.

    `only_one` counts what the first found and the second did not, `right_one` how much of it is right. `documents` has
    equation 4 for every document by its id: 1 where both say nothing.
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
    documents: Mapping[str, float]


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
    request = Request.of(like=like, choices=given, kb=kb, allow_unknown=allow_unknown)
    asked = {run.name: Evaluation.of(request, corpus, run) for run in runs}
    views = {view.relation: view for view in reversed(request.views)}  # of each relation the first, which is whole
    for view in views.values():
        if next(iter(asked.values())).plan(view).weights_are_whole:
            raise UsageError(f"{view} compares clusters, not annotations. Choose a relation.")
    sides = {name: _Reduced.of(own) for name, own in asked.items()}
    likeness: list[Likeness] = []
    together: list[Together] = []
    thresholds: dict[str, dict[str, float | None]] = {}
    oracle: list[str] = []
    for relation, view in reversed(views.items()):
        cut = {name: own.cut(view, request.conventions.threshold, oracle) for name, own in sides.items()}
        thresholds[relation] = {name: threshold.at for name, threshold in cut.items()}
        left = {name: _above(own.run, cut[name]) for name, own in sides.items()}
        against = {name: own.found(left[name], view) for name, own in sides.items()}
        for one, two in combinations(names, 2):
            likeness.append(_likeness(sides[one], left[one], left[two], view, against[one], against[two]))
        together.append(_together(relation, against))
    first = next(iter(asked.values()))
    return Similarity(
        first.signature,
        tuple(names),
        tuple(likeness),
        tuple(together),
        thresholds,
        tuple(oracle),
        tuple(f"{name}: {note}" for name, own in asked.items() for note in notes(own.sides.pairing(), {})),
    )


@dataclass(frozen=True, eq=False)
class _Reduced:
    """A run with what its task compares as plain annotations, so that either side can take the other's place."""

    request: Request
    corpus: Corpus
    run: Run

    @classmethod
    def of(cls, asked: Evaluation) -> _Reduced:
        conventions = asked.request.conventions
        if conventions.task.source == "statements" or conventions.task.parts:
            name = conventions.task_name
            raise UsageError(f"similarity compares annotations or entities, not {name}. Choose another task.")
        pairing = asked.sides.pairing()
        run = replace(pairing.run, table=_without_tags(pairing.run.table))
        if conventions.duplicates is Duplicates.ONCE:
            again = np.zeros(len(run.answers), np.bool_)
            again[check.repeated(run.answers)] = True
            run = replace(run, answers=run.answers.where(~again), repeated=0)
        # What a threshold leaves is chosen before.
        request = asked.request.but(choices={"threshold": "none"}, measures=asked.request.shown, allow_unknown=True)
        return cls(request, replace(pairing.corpus, table=_without_tags(pairing.corpus.table)), run)

    def beside(self, corpus: Corpus, run: Run) -> Evaluation:
        """The same request for another corpus and run."""
        return Evaluation.of(self.request, corpus, run)

    def cut(self, view: ViewName, rule: Threshold | Sweep, oracle: list[str]) -> Threshold:
        """The threshold above which a system is compared: a fixed one, or its best for the relation."""
        if isinstance(rule, Threshold):
            return rule
        found = self.beside(self.corpus, self.run).best(view, rule)
        if found is None:
            return Threshold()
        oracle.append(f"{self.run.name}, {found.note}")
        return found.threshold

    def found(self, run: Run, view: ViewName) -> _Found:
        """What answers find of the gold standard."""
        evaluation = self.beside(self.corpus, run)
        cases = evaluation.judged(evaluation.plan(view))
        weights = cases.weights()
        gold, found = np.zeros((2, len(self.corpus.labels)), np.bool_)
        right = np.zeros(len(run.answers), np.bool_)
        # Systems may match different alternatives of one mention: what counts is the mention.
        mention = evaluation.sides.pairing().units.unit
        with_gold, with_answer = cases.gold >= 0, cases.answer >= 0
        gold[mention[cases.gold[with_gold & (weights[:, 2:].sum(axis=1) > 0)]]] = True
        found[mention[cases.gold[with_gold & (weights[:, 2] > 0)]]] = True
        right[cases.answer[with_answer & (weights[:, 0] > 0)]] = True
        return _Found(gold, found, right)


def _without_tags(table: Arrow) -> Arrow:
    return table.drop_columns(["tags"]) if "tags" in table.column_names else table


class _Found(NamedTuple):
    """Which gold labels count, which of them were found, and which answers are right, by row."""

    gold: Bools
    found: Bools
    right: Bools


def _above(run: Run, threshold: Threshold) -> Run:
    """The run with only those answers that a threshold leaves."""
    if threshold.at is None:
        return run
    score = run.answers.score()
    low = score <= threshold.at if threshold.strict else score < threshold.at
    return replace(run, answers=run.answers.where(~low))


def _as_gold(corpus: Corpus, run: Run) -> Corpus:
    """A run in the place of the gold standard."""
    answers = run.answers
    lists = pa.ListArray.from_arrays(pa.array(answers.offsets.astype(np.int32)), answers.values)
    place = pc.index_in(corpus.ids, run.ids)
    taken = lists.take(place)
    return replace(corpus, labels=mentions(pa.chunked_array([taken])))


def _likeness(sides: _Reduced, one: Run, two: Run, view: ViewName, first: _Found, second: _Found) -> Likeness:
    """Both systems against each other: what one says is right if the other says something that matches."""
    there, relation = sides.beside(_as_gold(sides.corpus, one), two), view.relation
    cases = there.judged(msgspec.structs.replace(there.plan(view), assignment=Assignment.MEMBERSHIP))
    sums = cases.per_document(0, len(sides.corpus))
    alike, size = sums[:, 0] + sums[:, 2], sums.sum(axis=1)
    per_document = np.divide(alike, size, out=np.ones(len(size)), where=size > 0)
    total = float(size.sum())
    weights = cases.weights()
    only_one = cases.gold[(weights[:, 3] > 0) & (cases.gold >= 0)]
    only_two = cases.answer[(weights[:, 1] > 0) & (cases.answer >= 0)]
    # Rows of the first system stand in the order of the corpus there, in that of its file here.
    order = _rows(sides.corpus, one)
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
        dict(zip(sides.corpus.ids.to_pylist(), per_document.tolist(), strict=True)),
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
