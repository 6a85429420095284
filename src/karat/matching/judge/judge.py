"""From candidates to verdicts: segment, align, judge. Pure functions of one block of documents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from karat.limits import most, refused
from karat.matching.align.assign import Edges, Preferences, assign, first_in_file, most_wanted
from karat.matching.align.joins import Join, divided
from karat.matching.align.segment import segment
from karat.matching.judge.meetings import Meetings, in_crowd, of_pairs
from karat.matching.judge.policy import TABLE, AnswerState, GoldState
from karat.model.items import Answers, Gold, Items, Pairs
from karat.model.tables.columns import NO_LINK, Bools, Ints, Longs
from karat.model.verdict import Outcome, Tree, Verdicts, beside
from karat.spec.relation import Relation

_Found = TypeVar("_Found")


class _Cases(NamedTuple):
    """Some rows of the verdict table, as places in the block; -1 is none."""

    label: Longs
    answer: Longs
    outcome: Ints


class Located:
    """What stands at the same place in one block: found once for all views that look at the same items."""

    def __init__(self) -> None:
        # The items are kept beside what was found for them, so that identity stays meaningful.
        self._found: list[tuple[tuple[object, ...], Items, Items, Any]] = []

    def pairs(self, gold: Items, answers: Items, relation: Relation) -> Pairs:
        """The pairs that stand at the same place under a relation."""
        find, place = relation.located, relation.place
        candidates = self.few(gold, answers, relation)
        if candidates is None:
            candidates = self.once((find, "all"), gold, answers, lambda: find(gold, answers))
        if place is None:
            return candidates
        return self.once((find, place), gold, answers, lambda: candidates.where(place(gold, answers, candidates)))

    def few(self, gold: Items, answers: Items, relation: Relation) -> Pairs | None:
        """The pairs that may stand at the same place, unless there are more than are held at once."""
        find = relation.located
        return self.once((find,), gold, answers, lambda: (find.few if isinstance(find, Join) else find)(gold, answers))

    def once(self, rule: tuple[object, ...], gold: Items, answers: Items, find: Callable[[], _Found]) -> _Found:
        """What a rule finds for these very items."""
        for known, of_gold, of_answers, found in self._found:
            if known == rule and of_gold is gold and of_answers is answers:
                return cast("_Found", found)
        found = find()
        self._found.append((rule, gold, answers, found))
        return found


def verdicts(
    gold: Gold,
    answers: Answers,
    relation: Relation,
    assignment: str,
    known: Located,
    segment_by: Relation | None = None,
) -> Verdicts:
    """What becomes of every gold mention and every answer under one relation and one way to assign.

    Segmentations are chosen by what could match under `segment_by`, which is the relation itself unless it is given.
    Where many stand at one place, documents are judged a few at a time, so that what is held at once stays bounded.
    """
    parts = _parts(gold, answers, relation, known)
    judged = [_judged(part, relation, assignment, segment_by) for part in parts]
    if len(parts) == 1:
        return judged[0]
    places = ((part.labels, part.own) for part in parts)
    return beside(judged, list(places), gold.items.row, answers.items.row)


class _Part(NamedTuple):
    """Some documents of a block, with the places of their labels and answers in it."""

    gold: Gold
    answers: Answers
    known: Located
    labels: Longs
    own: Longs

    def meetings(self, relation: Relation, prefer: Preferences, *, best: bool) -> Meetings:
        """Who meets whom there."""
        gold, answers = self.gold.items, self.answers.items
        if self.known.few(gold, answers, relation) is None:
            found = in_crowd(self.gold, answers, relation, prefer, best=best)
            if found is not None:
                return found
        return of_pairs(self.gold, answers, relation, self.known.pairs(gold, answers, relation))


def _parts(gold: Gold, answers: Answers, relation: Relation, known: Located) -> list[_Part]:
    """The block, or where it has more pairs than are held at once, parts of it."""
    located = relation.located
    whole = [_Part(gold, answers, known, np.arange(0), np.arange(0))]
    if isinstance(located, Join) and known.few(gold.items, answers.items, relation) is not None:
        return whole

    def find() -> list[tuple[Longs, Longs, Items, Located]]:
        pairs = _pairs_per_document(gold.items, answers.items, relation)
        parts = divided(gold.items, answers.items, pairs) if int(pairs.sum()) > most("pairs") else []
        return [(labels, own, answers.items.take(own), Located()) for labels, own in parts]

    parts = known.once((_parts, located), gold.items, answers.items, find)
    if len(parts) <= 1:
        return whole
    return [
        _Part(_some(gold, labels), Answers(items, answers.score[own]), seen, labels, own)
        for labels, own, items, seen in parts
    ]


def _pairs_per_document(gold: Items, answers: Items, relation: Relation) -> Longs:
    """How many pairs there are in each document, or can be."""
    if isinstance(relation.located, Join):
        return relation.located.counts(gold, answers)
    count = 1 + int(max(gold.document.max(initial=-1), answers.document.max(initial=-1)))
    return np.bincount(gold.document, minlength=count) * np.bincount(answers.document, minlength=count)


def check_trials(gold: Items, answers: Items, relation: Relation, trials: int) -> None:
    """Raise where a document is too crowded to be judged so many times."""
    items = len(gold) + len(answers)
    if trials * (len(gold) * len(answers) + items) <= most("trials"):
        return
    work = trials * (int(_pairs_per_document(gold, answers, relation).sum()) + items)
    if work > most("trials"):
        raise refused(
            "trials",
            f"document number {int(answers.document[0]) + 1:,}",
            f"{trials:,} thresholds at which to score it anew, with {work:,} pairs, labels and answers over all",
            "Round the scores, give a threshold, or choose assignment=optimal",
        )


def _some(gold: Gold, places: Longs) -> Gold:
    """The labels of some documents; units and parents never leave a document."""
    parent = gold.parent[places]
    return Gold(
        gold.items.take(places),
        np.searchsorted(places, gold.unit[places]),
        np.where(parent < 0, -1, np.searchsorted(places, parent)),
        gold.optional[places],
        gold.merged,
    )


def _judged(part: _Part, relation: Relation, assignment: str, segment_by: Relation | None) -> Verdicts:
    gold, answers = part.gold, part.answers
    state = _states(gold, relation)
    prefer = Preferences(gold.items, answers.items, answers.score, state == GoldState.REQUIRED, relation.graded)
    found = part.meetings(relation, prefer, best=assignment == "optimal")
    chosen_by = found.right
    if segment_by is not None and gold.segmented:
        chosen_by = part.meetings(segment_by, prefer, best=False).right
    in_play, spoken_for = segment(gold, chosen_by.label)
    right = found.right if in_play is None else found.right.take(in_play[found.right.label])
    candidates = _one_label_each(right, gold, prefer)
    if assignment in _SHARED:
        matched, (taken, outcome) = candidates, _SHARED[assignment](candidates, state, prefer)
    else:
        matched = taken = candidates.take(assign(candidates, prefer, assignment))
        outcome = TABLE[state[matched.label], AnswerState.RIGHT]
    wrong = _wrong_links(found, matched, in_play, gold, prefer)
    free = _Cases(taken.label, taken.answer, outcome)
    cases = _with_leftovers(free, matched, wrong, found, gold, answers, state, in_play)
    tree = None
    if spoken_for:
        cases, tree = _speaking_for_roots(cases, spoken_for, gold, state, matched)
    credit = None
    if relation.credit is not None or relation.graded:
        credit = np.ones((len(cases.label), 2))
        given = taken.degree.astype(np.float64)
        credit[: len(taken)] = (
            np.column_stack([given, given])
            if relation.credit is None
            else relation.credit(gold.items, answers.items, Pairs(taken.label, taken.answer))
        )
    # Every case has a gold label or an answer; a place of -1 reads the last entry, which is not taken then.
    of_gold = np.append(gold.items.document, -1)[cases.label]
    document = np.where(cases.label >= 0, of_gold, np.append(answers.items.document, -1)[cases.answer])
    return Verdicts(
        document,
        cases.outcome,
        cases.label,
        cases.answer,
        gold.items.row,
        answers.items.row,
        credit,
        relation.credit is not None,
        tree,
    )


def contested(gold: Gold, answers: Answers, relation: Relation, known: Located) -> Ints:
    """The documents in which an answer could match several mentions, or several answers the same."""
    documents = [gold.items.document[:0]]
    for part in _parts(gold, answers, relation, known):
        nobody = np.zeros(len(part.gold.unit), np.bool_)
        prefer = Preferences(part.gold.items, part.answers.items, part.answers.score, nobody, relation.graded)
        edges = _one_of_each(part.meetings(relation, prefer, best=False).right)
        shared = (np.bincount(edges.unit)[edges.unit] > 1) | (np.bincount(edges.answer)[edges.answer] > 1)
        documents.append(part.gold.items.document[edges.label[shared]])
    return np.unique(np.concatenate(documents))


def _one_of_each(edges: Edges) -> Edges:
    """Edges between different units and answers: alternatives of one mention are one."""
    ends = edges.unit * (int(edges.answer.max(initial=0)) + 1) + edges.answer
    return edges.take(np.sort(np.unique(ends, return_index=True)[1]))


def _one_label_each(edges: Edges, gold: Gold, prefer: Preferences) -> Edges:
    """Of several alternatives of a mention that an answer matches, the closest."""
    if not gold.tied:
        return edges
    key = edges.unit * (len(prefer.answers) + 1) + edges.answer
    return edges.take(np.sort(most_wanted(edges, prefer, key)))


def _states(gold: Gold, relation: Relation) -> Ints:
    """The state of each label; a mention is without link if one of its alternatives is."""
    state = np.where(gold.optional, GoldState.OPTIONAL, GoldState.REQUIRED).astype(np.int32)
    if relation.links and gold.without_link:
        bare = np.zeros(len(state), np.bool_)
        bare[gold.unit[gold.items.entity == NO_LINK]] = True
        state[bare[gold.unit]] = GoldState.WITHOUT_LINK
    return state


def _members(edges: Edges, state: Ints, prefer: Preferences) -> tuple[Edges, Ints]:
    """Every answer that matches anything, and every mention that anything matches, each counted once."""
    by_answer = most_wanted(edges, prefer, edges.answer)
    by_unit = most_wanted(edges, prefer, edges.unit)
    counts_both = np.zeros(len(by_answer), np.bool_)
    counts_both[most_wanted(edges.take(by_answer), prefer, edges.unit[by_answer])] = True
    others = by_unit[~np.isin(edges.unit[by_unit], edges.unit[by_answer])]
    places = np.concatenate([by_answer, others])
    outcome = TABLE[state[edges.label[places]], AnswerState.RIGHT]
    counted = np.where(counts_both, Outcome.TP, Outcome.MATCHED_ANSWER)
    counted = np.concatenate([counted, np.full(len(others), Outcome.MATCHED_GOLD)]).astype(np.int32)
    return edges.take(places), np.where(outcome == Outcome.TP, counted, outcome)


def _right_answers(edges: Edges, state: Ints, prefer: Preferences) -> tuple[Edges, Ints]:
    """Every answer that matches anything, counted for precision and for recall; mentions are found or not."""
    by_answer = most_wanted(edges, prefer, edges.answer)
    by_unit = most_wanted(edges, prefer, edges.unit)
    others = by_unit[~np.isin(edges.unit[by_unit], edges.unit[by_answer])]
    outcome = TABLE[state[edges.label[by_answer]], AnswerState.RIGHT]
    places = np.concatenate([by_answer, others])
    return edges.take(places), np.concatenate([outcome, np.full(len(others), Outcome.IGNORED)]).astype(np.int32)


def _first_answers(edges: Edges, state: Ints, prefer: Preferences) -> tuple[Edges, Ints]:
    """For each mention the first answer of the file that matches; each of these counts once."""
    by_unit = first_in_file(edges, prefer, edges.unit)
    once = by_unit[first_in_file(edges.take(by_unit), prefer, edges.answer[by_unit])]
    again = np.setdiff1d(by_unit, once)
    spare = first_in_file(edges, prefer, edges.answer)
    spare = spare[~np.isin(edges.answer[spare], edges.answer[once])]
    outcome = TABLE[state[edges.label[once]], AnswerState.RIGHT]
    ignored = np.full(len(again) + len(spare), Outcome.IGNORED)
    return edges.take(np.concatenate([once, again, spare])), np.concatenate([outcome, ignored]).astype(np.int32)


_SHARED: dict[str, Callable[[Edges, Ints, Preferences], tuple[Edges, Ints]]] = {
    "membership": _members,
    "answers": _right_answers,
    "first": _first_answers,
}
"""Assignments in which one answer may serve several mentions, and one mention several answers."""


def _wrong_links(found: Meetings, matched: Edges, in_play: Bools | None, gold: Gold, prefer: Preferences) -> Edges:
    """Pairs at the same place that are left over: a wrong link is one case, not two."""
    taken = np.zeros(len(gold.unit), np.bool_)
    taken[matched.unit] = True
    labels = ~taken[gold.unit] if in_play is None else in_play & ~taken[gold.unit]
    own = np.ones(len(prefer.answers), np.bool_)
    own[matched.answer] = False
    edges = _one_label_each(found.wrong(labels, own), gold, prefer)
    return edges.take(assign(edges, prefer, "optimal"))


def _with_leftovers(
    free: _Cases,
    matched: Edges,
    wrong: Edges,
    found: Meetings,
    gold: Gold,
    answers: Answers,
    state: Ints,
    in_play: Bools | None,
) -> _Cases:
    """Add the wrong links, the mentions nobody answered and the answers that match nothing."""
    missing = np.ones(len(gold.unit), np.bool_)
    if gold.tied:
        missing &= gold.unit == np.arange(len(gold.unit))
    if in_play is not None:
        missing &= in_play
    missing[matched.unit] = False
    missing[wrong.unit] = False
    spare = np.ones(len(answers.items), np.bool_)
    spare[matched.answer] = False
    spare[wrong.answer] = False
    if answers.items.outside is not None:  # they count only where they match a mention
        spare &= ~answers.items.outside
    labels, extra = np.flatnonzero(missing), np.flatnonzero(spare)
    at = np.full(len(answers.items), GoldState.NONE)
    if gold.without_link:  # any number of answers may stand on a span without link
        bare = state == GoldState.WITHOUT_LINK
        at[found.standing(bare if in_play is None else in_play & bare)] = GoldState.WITHOUT_LINK
    return _Cases(
        np.concatenate([free.label, wrong.label, labels, np.full(len(extra), -1)]),
        np.concatenate([free.answer, wrong.answer, np.full(len(labels), -1), extra]),
        np.concatenate(
            [
                free.outcome,
                TABLE[state[wrong.label], AnswerState.WRONG],
                TABLE[state[labels], AnswerState.NONE],
                TABLE[at[extra], AnswerState.WRONG],
            ]
        ),
    )


def _speaking_for_roots(
    cases: _Cases, parts: dict[int, tuple[int, ...]], gold: Gold, state: Ints, matched: Edges
) -> tuple[_Cases, Tree]:
    """Let each root that is scored by its parts count once: found if no required part of it is missing."""
    found = set(matched.unit.tolist())
    roots = np.array(list(parts), np.int64)
    complete = [all(unit in found or state[unit] != GoldState.REQUIRED for unit in units) for units in parts.values()]
    outcome = TABLE[state[roots], np.where(complete, AnswerState.RIGHT, AnswerState.NONE)]
    speaking = [unit for units in parts.values() for unit in units]
    is_part = (cases.label >= 0) & np.isin(gold.unit[cases.label], speaking)
    is_wrong = (cases.outcome == Outcome.WRONG_LINK) | (cases.outcome == Outcome.FP)
    own = np.where(is_part, np.where(is_wrong, Outcome.FP, Outcome.PART), cases.outcome)
    spoken = _Cases(
        np.concatenate([cases.label, roots]),
        np.concatenate([cases.answer, np.full(len(roots), -1)]),
        np.concatenate([own, outcome]).astype(np.int32),
    )
    tree = Tree(
        factor=np.append(np.ones(len(is_part), np.bool_), np.zeros(len(roots), np.bool_)),
        part=np.append(is_part, np.zeros(len(roots), np.bool_)),
        own=np.append(cases.outcome, np.full(len(roots), Outcome.IGNORED)).astype(np.int32),
    )
    return spoken, tree
