"""Scores at every threshold, exactly and from one sort; and the best threshold."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from karat.errors import UsageError
from karat.evaluation.plan import Plan
from karat.evaluation.view import View
from karat.limits import most
from karat.matching.judge.judge import Located, check_trials, contested
from karat.matching.read.pairing import Pairing
from karat.model.items import Answers, Gold, Items
from karat.model.statistics import Statistics
from karat.model.tables.columns import NO_LINK, Bools, Floats, Ints, Longs
from karat.model.verdict import Outcome, Verdicts
from karat.spec.choices.conventions import Assignment, Given
from karat.spec.choices.threshold import STEPS, Sweep, Threshold

_FEW = 16
_TIE = 1e-12
_PAIRED = (Outcome.TP, Outcome.WRONG_LINK)


class Steps(msgspec.Struct, frozen=True):
    """How the statistics of documents change as the threshold falls.

    `base` are those of each document without any scored answer. As the threshold reaches `score`, those of `document`
    change by `kinds[kind]`.
    """

    base: Floats
    document: Ints
    score: Floats
    kind: Longs
    kinds: Floats

    def moved(self, document: Ints) -> Steps:
        """The same of documents at other places."""
        return replace(self, document=document)


class Curve(msgspec.Struct, frozen=True):
    """Scores over all thresholds.

    `score` are the distinct scores from the highest to the lowest. Row 0 of `weights` is what answers without score
    alone give, row i what those give whose score is at least `score[i - 1]`.
    """

    score: Floats
    weights: Floats
    steps: Steps
    view: View

    def place(self, threshold: Threshold) -> int:
        """The row of a threshold."""
        at = np.nan if threshold.at is None else threshold.at
        return int(self.places(np.array([at]), strict=threshold.strict)[0])

    def places(self, at: Floats, *, strict: bool) -> Longs:
        """The rows of some thresholds, NaN for none."""
        found = np.searchsorted(-self.score, -at, side="left" if strict else "right")
        return np.where(np.isnan(at), len(self.score), found)

    def values(self, short: str) -> Floats:
        """A measure at every row, NaN where it is not defined: `micro.p`, `micro.r`, `micro.f1` or a macro one."""
        if short.startswith("micro."):
            return self.view.counting(Statistics(self.weights)).at_totals(short)
        return self._macro(short)

    def _macro(self, short: str) -> Floats:
        """The mean over documents at every row: each change of a document's value is one step of the sum."""
        steps = self.steps
        documents = len(steps.base)
        order = np.lexsort((-steps.score, steps.document))
        document, score = steps.document[order], steps.score[order]
        running = np.cumsum(steps.kinds[steps.kind[order]], axis=0)
        last = np.ones(len(order), np.bool_)
        last[:-1] = (document[1:] != document[:-1]) | (score[1:] != score[:-1])
        document, score, running = document[last], score[last], running[last]
        first = np.ones(len(document), np.bool_)
        first[1:] = document[1:] != document[:-1]
        before = np.concatenate([np.zeros((1, 4)), running[:-1]])
        # What earlier documents added up to is taken off again.
        own = running - before[np.flatnonzero(first)][np.cumsum(first) - 1] if len(document) else running
        macro = self.view.macro
        start = self.view.counting(Statistics(steps.base), macro).per_document(short)
        later = self.view.counting(
            Statistics(steps.base[document] + own), None if macro is None else macro[document]
        ).per_document(short)
        previous = np.where(first, start[document], np.concatenate([[np.nan], later[:-1]])) if len(document) else later
        change = np.nan_to_num(later) - np.nan_to_num(previous)
        defined = (~np.isnan(later)).astype(np.int64) - (~np.isnan(previous)).astype(np.int64)
        by_score = np.argsort(-score, kind="stable")
        ends = np.searchsorted(-score[by_score], -self.score, side="right")
        sums = np.concatenate([[0.0], np.cumsum(change[by_score])])[np.concatenate([[0], ends])]
        counts = np.concatenate([[0], np.cumsum(defined[by_score])])[np.concatenate([[0], ends])]
        total, number = np.nansum(start) + sums, int((~np.isnan(start)).sum()) + counts
        assert len(start) == documents
        means: Floats = np.divide(total, number, out=np.full(len(total), np.nan), where=number > 0)
        return means


class Chosen(NamedTuple):
    """The best threshold, and a sentence that says so."""

    threshold: Threshold
    note: str


def steps_of(plan: Plan, pairing: Pairing, block: int, grid: int | None) -> Steps:
    """The steps of all documents."""
    return joined_steps(
        [
            _steps(plan, pairing.gold(first, last), pairing.answers(first, last), first, last, grid)
            for first, last in pairing.blocks(block)
        ]
    )


def joined_steps(parts: Sequence[Steps]) -> Steps:
    """The steps of several blocks, whose documents are those of the whole."""
    kinds = np.cumsum([0, *(len(part.kinds) for part in parts)])
    return Steps(
        np.concatenate([part.base for part in parts]),
        np.concatenate([part.document for part in parts]),
        np.concatenate([part.score for part in parts]),
        np.concatenate([part.kind + offset for part, offset in zip(parts, kinds[:-1], strict=True)]),
        np.concatenate([part.kinds for part in parts]),
    )


def curve_through(steps: Steps, view: View) -> Curve:
    """The scores of a view whose statistics are those without any scored answer."""
    score, weights = totals(steps.score, steps.kind, steps.kinds)
    return Curve(score, weights + steps.base.sum(axis=0), steps, view)


def totals(score: Floats, kind: Longs | Ints, kinds: Floats) -> tuple[Floats, Floats]:
    """The distinct scores from the highest on, and what has been added up before any and after each of them."""
    if len(kinds) < _FEW:
        return _totals_of_few(score, kind.astype(np.int8), kinds)
    order = np.argsort(-score)
    ranked, sorted_kind = score[order], kind[order]
    ends = _ends(ranked)
    sums = np.zeros((len(ends) + 1, 4))
    for column in range(4):
        sums[1:, column] = np.cumsum(kinds[:, column][sorted_kind])[ends]
    return ranked[ends], sums


def _totals_of_few(score: Floats, kind: NDArray[np.int8], kinds: Floats) -> tuple[Floats, Floats]:
    """The same for few kinds: the scores of each are sorted by themselves, which then only have to be merged."""
    present = np.flatnonzero(np.bincount(kind, minlength=len(kinds))).tolist()
    parts = [np.sort(-score[kind == number]) for number in present]
    runs = np.concatenate([np.empty(0), *parts])
    order = np.argsort(runs, kind="stable")  # merges runs that are sorted already
    ranked = runs[order]
    ends = _ends(ranked)
    sums = np.zeros((len(ends) + 1, 4))
    low = 0
    for number, part in zip(present, parts, strict=True):
        own = (order >= low) & (order < low + len(part))
        low += len(part)
        count = np.cumsum(own, dtype=np.int32)[ends]
        for column in np.flatnonzero(kinds[number]).tolist():
            sums[1:, column] += count * kinds[number, column]
    return -ranked[ends], sums


def _ends(ranked: Floats) -> Longs:
    """The last place of each run of equal values."""
    last = np.ones(len(ranked), np.bool_)
    np.not_equal(ranked[1:], ranked[:-1], out=last[:-1])
    return np.flatnonzero(last)


def best_on(scores: Curve, view: str, sweep: Sweep, *, typed: bool) -> Chosen:
    """The best threshold of a curve, the lowest on ties."""
    values = scores.values(sweep.criterion)
    candidates = tried(scores, sweep)
    if sweep.typing_drops_zero and typed:
        candidates[0] = 0.0
    found = np.nan_to_num(values[scores.places(candidates, strict=sweep.strict)], nan=-1.0)
    # The same F1 can be computed in ways that differ in the last digit; a peer's ties are those of its own arithmetic.
    near = 0.0 if sweep.typing_drops_zero else _TIE
    best = threshold_at(candidates[int(np.flatnonzero(found >= found.max() - near)[0])], sweep)
    without = values[len(scores.score)]
    found_there = values[scores.place(best)]
    if best.at is None or found_there <= without:
        note = f"{view}: oracle, no threshold gives a better {sweep.criterion} than all answers ({without:.4f})"
    else:
        note = (
            f"{view}: oracle, a score {'>' if best.strict else '>='} {best.at:.6g} gives the best "
            f"{sweep.criterion} on this very corpus ({found_there:.4f}; {without:.4f} with all answers)"
        )
    return Chosen(best, note)


def tried(scores: Curve, sweep: Sweep) -> Floats:
    """The thresholds to try, from the lowest on; where a score must exceed them, none at all (NaN) comes first."""
    grid = np.arange(STEPS + 1) / STEPS if sweep.grid == "steps" else scores.score[::-1]
    unfiltered = sweep.grid == "scores" and (sweep.strict or not len(grid))
    return np.concatenate([[np.nan], grid]) if unfiltered else grid


def threshold_at(at: float, sweep: Sweep) -> Threshold:
    """A threshold that a sweep tries."""
    return Threshold() if np.isnan(at) else Threshold(float(at), sweep.strict)


def _steps(plan: Plan, gold: Gold, answers: Answers, first: int, last: int, grid: int | None) -> Steps:
    """The steps of one block of documents."""
    known = Located()
    chosen_gold, chosen_answers = plan.select.of(gold, answers)
    slow = _slow(plan, chosen_gold, chosen_answers, known, first, last)
    simple = steps_of_cases(plan.verdicts(gold, answers, known), answers, first, last, ~slow)
    if not slow.any():
        return simple
    retried = _of_copies(plan, gold, answers, np.flatnonzero(slow) + first, grid)
    base = simple.base.copy()
    base[slow] = retried.base
    return Steps(
        base,
        np.concatenate([simple.document, retried.document]),
        np.concatenate([simple.score, retried.score]),
        np.concatenate([simple.kind, retried.kind + len(simple.kinds)]),
        np.concatenate([simple.kinds, retried.kinds]),
    )


def _slow(plan: Plan, gold: Gold, answers: Answers, known: Located, first: int, last: int) -> Bools:
    """The documents in which what becomes of an answer may depend on answers with lower scores.

    With optimal assignment it never does, as long as all mentions are required; otherwise not where nobody competes.
    """
    rules = plan.select.rules
    thinned = rules.thin and plan.relation.loose
    if plan.tied is not None:
        raise UsageError("assignment=lookup has no curve over thresholds. Set assignment=optimal, or another.")
    if plan.key is not None or rules.given is Given.BEST_OVERLAP or thinned or gold.segmented or plan.weigh is not None:
        return np.ones(last - first, np.bool_)
    slow = np.zeros(last - first, np.bool_)
    if plan.relation.links and gold.without_link:  # whether a wrong link stands on such a span depends on the others
        slow[gold.items.document[gold.items.entity == NO_LINK] - first] = True
    # With partial credit it matters which mention an answer is matched with, not only whether.
    whole = not plan.relation.graded and plan.relation.credit is None
    if plan.assignment is Assignment.OPTIMAL and whole and not gold.optional.any():
        return slow
    slow[contested(gold, answers, plan.relation, known) - first] = True
    return slow


def steps_of_cases(cases: Verdicts, answers: Answers, first: int, last: int, simple: Bools) -> Steps:
    """Each scored answer is one step: what its case weighs, less the mention that is missed without it."""
    score = np.append(_scores(cases, answers), np.nan)[cases.answer_place]
    scored = ~np.isnan(score)
    if not simple.all():
        scored &= simple[cases.document - first]
    score, document, outcome = score[scored], cases.document[scored], cases.outcome[scored]
    base = cases.per_document(first, last)
    alone = Verdicts.of_outcomes(per_item=cases.per_item)
    kinds = alone - np.where(np.isin(np.arange(len(alone)), _PAIRED)[:, None], alone[Outcome.FN], 0.0)
    if cases.credit is None:
        taken = np.bincount((document - first) * len(kinds) + outcome, minlength=(last - first) * len(kinds))
        return Steps(base - taken.reshape(-1, len(kinds)) @ kinds, document, score, outcome, kinds)
    change = cases.weights()[scored] - (alone - kinds)[outcome]
    for column in range(4):
        base[:, column] -= np.bincount(document - first, change[:, column], last - first)
    kinds, kind = _kinds(change)
    return Steps(base, document, score, kind, kinds)


def _scores(cases: Verdicts, answers: Answers) -> Floats:
    """The score of each answer that the cases speak of."""
    rows = cases.answer_rows
    if len(rows) == len(answers.items):  # none was left out
        return answers.score
    low = int(answers.items.row.min(initial=0))
    by_row = np.full(int(answers.items.row.max(initial=-1)) + 1 - low, np.nan)
    by_row[answers.items.row - low] = answers.score
    scores: Floats = by_row[rows - low]
    return scores


def _kinds(change: Floats) -> tuple[Floats, Longs]:
    """The distinct changes, and which of them each is."""
    kinds, kind = np.unique(change, axis=0, return_inverse=True)
    return kinds.reshape(-1, 4), kind.reshape(-1)


def _of_copies(plan: Plan, gold: Gold, answers: Answers, documents: Longs, grid: int | None) -> Steps:
    """The steps of documents that are scored anew at each of their scores: a copy of the document for each."""
    labels, given = gold.items.document, answers.items.document  # both rise
    gold_rows, answer_rows, levels, owners = [], [], [], []
    for document in documents.tolist():
        own = np.arange(np.searchsorted(given, document), np.searchsorted(given, document, side="right"))
        mentions = np.arange(np.searchsorted(labels, document), np.searchsorted(labels, document, side="right"))
        score = answers.score[own]
        reached = score[~np.isnan(score)]
        if grid is not None:  # between two steps of the grid nothing changes that is looked at
            reached = np.floor(reached * grid) / grid
        tried = [np.nan, *np.unique(reached)[::-1].tolist()]
        check_trials(gold.items.take(mentions), answers.items.take(own), plan.relation, len(tried))
        for level in tried:
            gold_rows.append(mentions)
            answer_rows.append(own[np.isnan(score) | (score >= level)])
            levels.append(level)
            owners.append(document)
    sizes = [len(mentions) + len(own) for mentions, own in zip(gold_rows, answer_rows, strict=True)]
    cuts = np.flatnonzero(np.diff(np.cumsum(sizes) // most("pairs"))) + 1  # not all copies at once
    weights = np.concatenate(
        [
            _of_some_copies(plan, gold, answers, gold_rows[low:high], answer_rows[low:high])
            for low, high in pairwise([0, *cuts.tolist(), len(sizes)])
        ]
    )
    at, owner = np.array(levels), np.array(owners, np.int32)
    bottom = np.isnan(at)
    change = weights - np.concatenate([weights[:1], weights[:-1]])
    kinds, kind = _kinds(change[~bottom])
    return Steps(weights[bottom], owner[~bottom], at[~bottom], kind, kinds)


def _of_some_copies(
    plan: Plan, gold: Gold, answers: Answers, gold_rows: list[Longs], answer_rows: list[Longs]
) -> Floats:
    rows = np.concatenate(answer_rows)
    copy = np.repeat(np.arange(len(answer_rows)), [len(part) for part in answer_rows])
    copied = Answers(_moved(answers.items.take(rows), copy), answers.score[rows])
    return plan.verdicts(_copied_gold(gold, gold_rows), copied, Located()).per_document(0, len(gold_rows))


def _copied_gold(gold: Gold, parts: list[Longs]) -> Gold:
    """Some labels, several times, each copy in a document of its own; units and parents point within the copy."""
    rows = np.concatenate(parts)
    sizes = np.array([len(part) for part in parts])
    shift = np.arange(len(rows)) - rows  # the labels of a document lie together, so that all of a copy move alike
    parent = gold.parent[rows]
    return Gold(
        _moved(gold.items.take(rows), np.repeat(np.arange(len(parts)), sizes)),
        gold.unit[rows] + shift,
        np.where(parent < 0, -1, parent + shift),
        gold.optional[rows],
    )


def _moved(items: Items, document: Longs) -> Items:
    return replace(items, document=document.astype(np.int32))
