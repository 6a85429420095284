"""Weights of mentions in recall, by a membership function."""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace

from karat.matching.weighting.membership import Membership
from karat.model.errors import UsageError
from karat.model.finegrained_scheme import NODES
from karat.model.items import GoldItems
from karat.model.results.verdict import Verdicts
from karat.model.tables.columns import NO_LINK, Floats, Mentions


def membership_weights(labels: Mentions, membership: Membership, *, is_block: bool = False) -> Floats:
    """Return the weight in recall, from 0 to 1, of each label by its categories.

    Raise `UsageError` if no label has a category that the membership function knows, except for a block.
    """
    column = labels.field("categories")
    label_categories = (
        [()] * len(labels) if column is None else [tuple(categories or ()) for categories in column.to_pylist()]
    )
    all_categories = {category for categories in set(label_categories) for category in categories}
    if (
        len(label_categories)
        and not is_block
        and not (all_categories & NODES.keys() if membership.needs_scheme else all_categories)
    ):
        raise UsageError(
            f"membership {membership.name} needs mention categories, and the gold standard has none that it knows. "
            "Assign categories with karat data categorise, or set membership=whole."
        )
    weights = {categories: membership.weight(categories) for categories in set(label_categories)}
    return np.array([weights[categories] for categories in label_categories], np.float64)


def add_weights(
    verdicts: Verdicts, gold: GoldItems, weights: Floats, membership: Membership, *, compares_links: bool
) -> Verdicts:
    """Return the verdicts with the weight of each mention in recall and the credit that a match earns.

    `weights` has the weight of each label of the corpus. Unless `compares_links`, a match earns the weight of the
    mention, independent of the matched alternative.
    """
    label_weights = weights[gold.items.row]
    if membership.alternative_rule == "max":
        unit_weights = np.zeros(len(label_weights))
        np.maximum.at(unit_weights, gold.mention, label_weights)
    else:
        unit_weights = np.ones(len(label_weights))
        np.minimum.at(unit_weights, gold.mention, label_weights)
    weight = _values_by_case(verdicts, gold, unit_weights[gold.mention], len(weights))
    credit = (
        _values_by_case(verdicts, gold, _credit_by_link(gold, label_weights), len(weights))
        if compares_links and membership.alternative_rule == "max"
        else weight
    )
    return replace(verdicts, membership=np.column_stack([credit, weight]))


def _credit_by_link(gold: GoldItems, label_weights: Floats) -> Floats:
    """Return the credit of a correct link to each label: the largest weight of its mention's labels with this link."""
    if not gold.has_alternatives:
        return label_weights
    _, link = np.unique((gold.mention.astype(np.int64) << 32) | (gold.items.entity - NO_LINK), return_inverse=True)
    best = np.zeros(len(label_weights))
    np.maximum.at(best, link, label_weights)
    return best[link]


def _values_by_case(verdicts: Verdicts, gold: GoldItems, values: Floats, n_labels: int) -> Floats:
    """Return the value of the gold label of each case; 0 if the case has none or the label was filtered out.

    `values` has the value of each label in `gold`, and `n_labels` is the number of labels of the corpus.
    """
    by_row = np.zeros(n_labels + 1)
    by_row[gold.items.row] = values
    return by_row[verdicts.gold]
