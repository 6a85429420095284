"""Mentions that weigh more or less in recall, by a membership function."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from karat.errors import UsageError
from karat.model.columns import Floats, Mentions
from karat.model.items import Gold
from karat.model.verdict import Verdicts
from karat.spec.membership import Membership


def memberships(labels: Mentions, how: Membership, *, block: bool = False) -> Floats:
    """How much each label weighs; a `block` may be without categories."""
    categories = labels.field("categories")
    tags = [()] * len(labels) if categories is None else [tuple(each or ()) for each in categories.to_pylist()]
    if len(tags) and not any(tags) and not block:
        raise UsageError(
            f"membership {how.name} weighs mentions by their categories, and the gold standard has none. Assign them "
            "with karat data categorise, or set membership=whole."
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
    by_row = np.zeros(len(weights) + 1)  # the last stands for no label
    by_row[gold.items.row] = of_unit[gold.unit]
    whole = by_row[cases.gold]
    earned = np.append(weights, 0.0)[cases.gold] if links and how.pick == "max" else whole
    return replace(cases, membership=np.column_stack([earned, whole]))
