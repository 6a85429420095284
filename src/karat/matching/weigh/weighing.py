"""Mentions that weigh more or less in recall, by a membership function."""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace

from karat.errors import UsageError
from karat.matching.weigh.membership import Membership
from karat.model.items import Gold
from karat.model.scheme import NODES
from karat.model.tables.columns import NO_LINK, Floats, Mentions
from karat.model.verdict import Verdicts


def memberships(labels: Mentions, how: Membership, *, block: bool = False) -> Floats:
    """How much each label weighs; a `block` may be without categories."""
    categories = labels.field("categories")
    tags = [()] * len(labels) if categories is None else [tuple(each or ()) for each in categories.to_pylist()]
    given = {category for each in set(tags) for category in each}
    if len(tags) and not block and not (given & NODES.keys() if how.of_scheme else given):
        raise UsageError(
            f"membership {how.name} weighs mentions by their categories, and the gold standard has none that it knows. "
            "Assign them with karat data categorise, or set membership=whole."
        )
    known = {each: how.weight(each) for each in set(tags)}
    return np.array([known[each] for each in tags], np.float64)


def weighed(cases: Verdicts, gold: Gold, weights: Floats, how: Membership, *, links: bool) -> Verdicts:
    """The verdicts with how much each mention earns if it is found, and how much it weighs.

    Where `links` are not compared, a mention is found as a whole, whichever alternative it is found by.
    """
    own = weights[gold.items.row]
    if how.pick == "max":
        of_unit = np.zeros(len(own))
        np.maximum.at(of_unit, gold.unit, own)
    else:
        of_unit = np.ones(len(own))
        np.minimum.at(of_unit, gold.unit, own)
    whole = _of_cases(cases, gold, of_unit[gold.unit], len(weights))
    earned = _of_cases(cases, gold, _by_link(gold, own), len(weights)) if links and how.pick == "max" else whole
    return replace(cases, membership=np.column_stack([earned, whole]))


def _by_link(gold: Gold, own: Floats) -> Floats:
    """What a right answer earns: alternatives with the same link cannot be told apart, and the heaviest counts."""
    if not gold.tied:
        return own
    _, link = np.unique((gold.unit.astype(np.int64) << 32) | (gold.items.entity - NO_LINK), return_inverse=True)
    best = np.zeros(len(own))
    np.maximum.at(best, link, own)
    return best[link]


def _of_cases(cases: Verdicts, gold: Gold, values: Floats, labels: int) -> Floats:
    """Values of the gold labels at hand for each case, by rows: a key may have left some out; 0 where there is none."""
    by_row = np.zeros(labels + 1)
    by_row[gold.items.row] = values
    return by_row[cases.gold]
