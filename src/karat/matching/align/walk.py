"""Who stands where, as the HIPE scorer walks through answers and mentions."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import TypeAlias

import numpy as np

from karat.limits import most
from karat.matching.align.joins import among_first, on_same_span, overlapping, same_span, same_types
from karat.model.items import Items, Pairs
from karat.model.tables.columns import Bools
from karat.spec.relation import Relation

Same: TypeAlias = Callable[[Items, Items, Pairs], Bools]


def walked_by_type(gold: Items, answers: Items) -> Pairs:
    """The pairs of the walk in which the type is the label."""
    return _walked(gold, answers, same_types)


@cache  # strict and fuzzy share a walk
def _walked_by_link(first: int) -> Callable[[Items, Items], Pairs]:
    """The walk in which the link is the label, among so many first links of each answer."""
    return partial(_walked, same=partial(among_first, first))


def _linked(first: int, exact: bool, gold: Items, answers: Items, pairs: Pairs) -> Bools:
    same = among_first(first, gold, answers, pairs)
    return same & same_span(gold, answers, pairs) if exact else same


def linked_within(first: int, *, exact: bool) -> Relation:
    """The relation of the walk in which the label is the link, among so many first links of each answer."""
    places = f"among the first {first} links of the answer" if first > 1 else "the link of the answer"
    span = "has exactly the span of" if exact else "overlaps"
    return Relation(
        title=f"HIPE {'strict' if exact else 'fuzzy'} NEL @{first}",
        says=f"The answer {span} the mention, whose entity is {places}. {PAIRS}",
        located=_walked_by_link(first),
        loose=not exact,
        degree=partial(_linked, first, exact),
        detection="mention" if exact else "mention-weak",
        by_gold=True,
        ordered=True,
    )


PAIRS = (
    "Pairs are those of the HIPE scorer: each answer meets at most one mention, a mention that a wrong answer met is "
    "lost, and of a mention with alternatives only the first counts."
)
"""What all relations of the walk have in common."""


def _walked(gold: Items, answers: Items, same: Same) -> Pairs:
    """For each answer, in the order of the file, at most one mention, right or wrong.

    That is the mention with its span and its label; else the first one in the file that it overlaps. Each mention is
    met once, so that one that a wrong answer met is lost for a right one behind it.
    """
    crowded = len(gold) * len(answers) > most("pairs")
    if crowded and int(overlapping.counts(gold, answers).max()) > most("pairs"):
        return _walked_in_crowd(gold, answers, same)
    pairs = overlapping(gold, answers)
    pairs = pairs.where(_first_on_span(gold)[pairs.gold])
    right = same_span(gold, answers, pairs) & same(gold, answers, pairs)
    taken = (np.bincount(pairs.gold)[pairs.gold] == 1) & (np.bincount(pairs.answer)[pairs.answer] == 1)
    met = set[int]()
    done = set[int]()
    order = np.lexsort((gold.row[pairs.gold], ~right, answers.row[pairs.answer]))  # a right one before all others
    for place in order[~taken[order]].tolist():
        mention, answer = int(pairs.gold[place]), int(pairs.answer[place])
        if answer not in done and mention not in met:
            taken[place] = True
            met.add(mention)
            done.add(answer)
    return pairs.where(taken)


def _first_on_span(gold: Items) -> Bools:
    """Which labels are the first of their span in the file: the others are its alternatives."""
    first = np.zeros(len(gold), np.bool_)
    spans = np.column_stack([gold.document, gold.start, gold.end, gold.row])
    order = np.lexsort(spans.T[::-1])
    spans = spans[order, :3]
    new = np.ones(len(order), np.bool_)
    new[1:] = (spans[1:] != spans[:-1]).any(axis=1)
    first[order[new]] = True
    return first


def _walked_in_crowd(gold: Items, answers: Items, same: Same) -> Pairs:
    """The same walk, in which each answer looks at the mentions and not at pairs: there are too many to hold."""
    exact = on_same_span(gold, answers)
    exact = exact.where(same(gold, answers, exact))
    exact = Pairs(*(side[np.lexsort((gold.row[exact.gold], exact.answer))] for side in exact))
    begin = np.searchsorted(exact.answer, np.arange(len(answers) + 1)).tolist()
    mentions = np.lexsort((gold.row, gold.document))
    lies = (
        np.searchsorted(gold.document[mentions], answers.document),
        np.searchsorted(gold.document[mentions], answers.document, side="right"),
    )
    free, found = _first_on_span(gold), []
    for answer in np.argsort(answers.row, kind="stable").tolist():
        first = exact.gold[begin[answer] : begin[answer + 1]]
        first = first[free[first]]
        if not len(first):
            near = mentions[lies[0][answer] : lies[1][answer]]
            first = near[
                free[near] & (gold.start[near] < answers.end[answer]) & (gold.end[near] > answers.start[answer])
            ]
        if len(first):
            free[first[0]] = False
            found.append((int(first[0]), answer))
    return Pairs(*np.array(found, np.int64).reshape(-1, 2).T)
