"""Mentions that weigh more or less in recall, by a membership function."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from karat.model.columns import Floats, Mentions
from karat.model.items import Gold
from karat.model.verdict import Verdicts
from karat.spec.membership import Membership


def memberships(labels: Mentions, how: Membership) -> Floats:
    """How much each label weighs."""
    categories = labels.field("categories")
    tags = [()] * len(labels) if categories is None else [tuple(each or ()) for each in categories.to_pylist()]
    known = {each: how.weight(each) for each in set(tags)}
    return np.array([known[each] for each in tags], np.float64)


def weighed(cases: Verdicts, gold: Gold, weights: Floats, how: Membership) -> Verdicts:
    """The verdicts with how much each mention earns if it is found, and how much it weighs."""
    own = weights[gold.items.row]
    if how.pick == "max":
        whole = np.zeros(len(own))
        np.maximum.at(whole, gold.unit, own)
    else:
        whole = np.ones(len(own))
        np.minimum.at(whole, gold.unit, own)
    whole = np.append(whole[gold.unit], 0.0)[cases.label_place]
    earned = np.append(own, 0.0)[cases.label_place] if how.pick == "max" else whole
    return replace(cases, membership=np.column_stack([earned, whole]))
