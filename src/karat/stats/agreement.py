"""Coefficients of inter-annotator agreement.

`codes` has one row per annotator and one column per item; -1 means not judged. Codes are nominal categories. `weights`
say how often each item counts (default 1), for resampled documents. Coefficients are NaN if there is nothing to compare
or if chance alone would always agree.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import TypeAlias

import numpy as np

from karat.model.errors import UsageError
from karat.model.tables.columns import Bools, Floats, Longs
from karat.stats.samples.bootstrap import DistinctRows, draw_counts

Coefficient: TypeAlias = Callable[[Longs, Floats | None], float]
"""A function of codes and weights that returns an agreement coefficient."""


def cohen_kappa(codes: Longs, weights: Floats | None = None) -> float:
    """Return Cohen's kappa of two annotators over the items that both judged.

    (agreement - chance) / (1 - chance), where chance assumes that both use each category as often as they do. Cohen, A
    Coefficient of Agreement for Nominal Scales, Educational and Psychological Measurement 20(1), 1960.
    """
    if len(codes) != 2:
        raise UsageError(f"Cohen's kappa compares two annotators, not {len(codes)}. Use Fleiss' kappa.")
    codes, weights = _select_complete_items(codes, weights)
    total = float(weights.sum())
    first, second = (_category_counts(row, weights, int(codes.max(initial=0)) + 1) for row in codes)
    return _correct_for_chance(float(weights[codes[0] == codes[1]].sum()), float(first @ second), total)


def full_agreement(codes: Longs, weights: Floats | None = None) -> float:
    """Return the share of items on which all annotators agree, among items that at least two judged."""
    is_judged = (codes >= 0).sum(axis=0) > 1
    codes, weights = codes[:, is_judged], _default_weights(codes, weights)[is_judged]
    total = float(weights.sum())
    is_equal = (codes == codes.max(axis=0, initial=-1)) | (codes < 0)
    return float(weights[is_equal.all(axis=0)].sum()) / total if total else float("nan")


def fleiss_kappa(codes: Longs, weights: Floats | None = None) -> float:
    """Return Fleiss' kappa over all items that at least two annotators judged, with all judgements on them.

    (agreement - chance) / (1 - chance). Agreement is the mean over items of the share of equal pairs of judgements.
    Chance is that of two judgements drawn from all. If all items have equally many judgements, this is the coefficient
    of Fleiss, Measuring Nominal Scale Agreement Among Many Raters, Psychological Bulletin 76(5), 1971.
    """
    if len(codes) < 2:
        raise UsageError("agreement needs at least two annotators. Give more.")
    codes, n_judgements, weights = _select_shared_items(codes, weights)
    equal_pairs = np.zeros(len(n_judgements))
    for first, second in combinations(codes, 2):
        equal_pairs += 2.0 * ((first == second) & (first >= 0))
    agreement = float(weights @ (equal_pairs / (n_judgements * (n_judgements - 1))))
    category_counts = sum(_category_counts(row, weights, int(codes.max(initial=0)) + 1) for row in codes)
    n_all, n_items = float(weights @ n_judgements), float(weights.sum())
    chance = float(np.sum(category_counts**2)) / n_all**2 if n_all else 0.0
    return _correct_for_chance(agreement, chance * n_items**2, n_items)


def krippendorff_alpha(codes: Longs, weights: Floats | None = None) -> float:
    """Return Krippendorff's nominal alpha over all items that at least two annotators judged.

    1 - disagreement / chance disagreement. An item with m judgements counts m times. Chance draws two judgements
    without replacement from all. Krippendorff, Content Analysis, 2004, chapter 11.
    """
    codes, n_judgements, weights = _select_shared_items(codes, weights)
    total = float(weights @ n_judgements)
    disagreements = np.zeros(len(n_judgements))
    for first, second in combinations(codes, 2):
        disagreements += 2.0 * ((first != second) & (first >= 0) & (second >= 0))
    category_counts = sum(_category_counts(row, weights, int(codes.max(initial=0)) + 1) for row in codes)
    expected = total**2 - float(np.sum(category_counts**2))  # ordered pairs of judgements that differ
    if not expected > 0:
        return float("nan")
    return 1 - (total - 1) * float(weights @ (disagreements / (n_judgements - 1))) / expected


def resample_coefficient(
    coefficient: Coefficient, codes: Longs, document: Longs, n_documents: int, *, resamples: int, seed: int
) -> Floats:
    """Return the values of a coefficient on `resamples` bootstrap samples of documents.

    `document` has the index of each item's document, below `n_documents`.
    """
    documents = DistinctRows(np.arange(n_documents, dtype=np.float64)[:, None], np.ones(n_documents, np.int64))
    values = [
        coefficient(codes, draws[document].astype(np.float64)) for draws in draw_counts(documents, resamples, seed)
    ]
    return np.array(values)


def _correct_for_chance(agreement: float, chance_pairs: float, total: float) -> float:
    """Return (agreement - chance) / (1 - chance) as a share of `total` items; NaN if undefined.

    `agreement` is the number of items with agreement. `chance_pairs` is `total`² times the chance of agreement.
    """
    if not total or chance_pairs == total**2:
        return float("nan")
    chance = chance_pairs / total**2
    return (agreement / total - chance) / (1 - chance)


def _select_complete_items(codes: Longs, weights: Floats | None) -> tuple[Longs, Floats]:
    """Return the columns of `codes` that all annotators judged, and the weights of these items."""
    is_complete: Bools = np.asarray((codes >= 0).all(axis=0))
    return codes[:, is_complete], _default_weights(codes, weights)[is_complete]


def _select_shared_items(codes: Longs, weights: Floats | None) -> tuple[Longs, Longs, Floats]:
    """Return the columns of `codes` that at least two annotators judged, their numbers of judgements and weights."""
    n_judgements: Longs = (codes >= 0).sum(axis=0)
    is_shared: Bools = n_judgements > 1
    return codes[:, is_shared], n_judgements[is_shared], _default_weights(codes, weights)[is_shared]


def _default_weights(codes: Longs, weights: Floats | None) -> Floats:
    """Return `weights`, or 1 for each item."""
    return np.ones(codes.shape[1]) if weights is None else weights


def _category_counts(row: Longs, weights: Floats, n_categories: int) -> Floats:
    """Return how often an annotator, whose codes are `row`, used each category; items count by weight."""
    is_judged = row >= 0
    return np.asarray(np.bincount(row[is_judged], weights[is_judged], n_categories), np.float64)
