"""Who stands where, as the HIPE scorer walks through answers and mentions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from karat.matching.align.joins import overlapping, same_entity, same_span, same_types
from karat.model.items import Items, Pairs
from karat.model.tables.columns import Bools


def walked_by_type(gold: Items, answers: Items) -> Pairs:
    """The pairs of the walk in which the type is the label."""
    return _walked(gold, answers, same_types)


def walked_by_link(gold: Items, answers: Items) -> Pairs:
    """The pairs of the walk in which the link is the label."""
    return _walked(gold, answers, same_entity)


def _walked(gold: Items, answers: Items, same: Callable[[Items, Items, Pairs], Bools]) -> Pairs:
    """For each answer, in the order of the file, at most one mention, right or wrong.

    That is the mention with its span and its label; else the first one in the file that it overlaps. Each mention is
    met once, so that one that a wrong answer met is lost for a right one behind it.
    """
    pairs = overlapping(gold, answers)
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
