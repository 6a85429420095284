"""How far annotators agree beyond chance.

Judgements are a table of codes: one row per annotator, one column per item, -1 where an annotator did not judge it.
Codes are names of categories, whose order means nothing. `weight` says how often each item counts, once as a rule:
documents that are drawn several times count as often. Where there is nothing to compare, or chance alone would always
agree, values are NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import TypeAlias

import numpy as np

from karat.errors import UsageError
from karat.model.tables.columns import Bools, Floats, Longs
from karat.stats.samples.bootstrap import Distinct, draws

Coefficient: TypeAlias = Callable[[Longs, Floats | None], float]


def cohen_kappa(codes: Longs, weight: Floats | None = None) -> float:
    """Cohen's kappa of two annotators, over the items that both judged.

    (agreement - chance) / (1 - chance), where chance is that of two annotators who use each category as often as these
    do. Cohen, A Coefficient of Agreement for Nominal Scales, Educational and Psychological Measurement 20(1), 1960.
    """
    if len(codes) != 2:
        raise UsageError(f"Cohen's kappa compares two annotators, not {len(codes)}. Ask for Fleiss' kappa.")
    codes, weight = _judged_by_all(codes, weight)
    total = float(weight.sum())
    one, two = (_used(row, weight, int(codes.max(initial=0)) + 1) for row in codes)
    return _beyond(float(weight[codes[0] == codes[1]].sum()), float(one @ two), total)


def all_the_same(codes: Longs, weight: Floats | None = None) -> float:
    """The share of the items on which all who judged them agree; at least two must have."""
    judged = (codes >= 0).sum(axis=0) > 1
    codes, weight = codes[:, judged], _weight(codes, weight)[judged]
    total = float(weight.sum())
    alike = (codes == codes.max(axis=0, initial=-1)) | (codes < 0)
    return float(weight[alike.all(axis=0)].sum()) / total if total else float("nan")


def fleiss_kappa(codes: Longs, weight: Floats | None = None) -> float:
    """Fleiss' kappa, over the items that all annotators judged.

    Like Cohen's, but agreement is that of all pairs of annotators, and chance that of annotators who all use each
    category as often as it is used on the whole. Fleiss, Measuring Nominal Scale Agreement Among Many Raters,
    Psychological Bulletin 76(5), 1971.
    """
    if len(codes) < 2:
        raise UsageError("agreement is that of at least two annotators. Give more.")
    codes, weight = _judged_by_all(codes, weight)
    total = float(weight.sum())
    pairs = list(combinations(range(len(codes)), 2))
    agreed = sum(float(weight[codes[a] == codes[b]].sum()) for a, b in pairs) / len(pairs)
    used = sum(_used(row, weight, int(codes.max(initial=0)) + 1) for row in codes) / len(codes)
    return _beyond(agreed, float(np.sum(used**2)), total)


def krippendorff_alpha(codes: Longs, weight: Floats | None = None) -> float:
    """Krippendorff's alpha for categories, over all items that at least two annotators judged.

    1 - disagreement / chance disagreement. An item that m annotators judged counts m times; chance draws two judgements
    without replacement from all. Krippendorff, Content Analysis, 2004, chapter 11.
    """
    judged = (codes >= 0).sum(axis=0)
    codes, judged, weight = codes[:, judged > 1], judged[judged > 1], _weight(codes, weight)[judged > 1]
    number = float(weight @ judged)
    differ = np.zeros(len(judged))
    for one, two in combinations(codes, 2):
        differ += 2.0 * ((one != two) & (one >= 0) & (two >= 0))
    used = sum(_used(row, weight, int(codes.max(initial=0)) + 1) for row in codes)
    expected = number**2 - float(np.sum(used**2))  # ordered pairs of judgements that differ
    if not expected > 0:
        return float("nan")
    return 1 - (number - 1) * float(weight @ (differ / (judged - 1))) / expected


def over_documents(
    coefficient: Coefficient, codes: Longs, document: Longs, documents: int, *, resamples: int, seed: int
) -> Floats:
    """A coefficient in samples of documents drawn with replacement; `document` says where each item is."""
    every = Distinct(np.arange(documents, dtype=np.float64)[:, None], np.ones(documents, np.int64))
    found = [coefficient(codes, times[document].astype(np.float64)) for times in draws(every, resamples, seed)]
    return np.array(found)


def _beyond(agreed: float, by_chance: float, total: float) -> float:
    """Agreement beyond chance; `by_chance` is the product of two counts."""
    if not total or by_chance == total**2:
        return float("nan")
    chance = by_chance / total**2
    return (agreed / total - chance) / (1 - chance)


def _judged_by_all(codes: Longs, weight: Floats | None) -> tuple[Longs, Floats]:
    there: Bools = np.asarray((codes >= 0).all(axis=0))
    return codes[:, there], _weight(codes, weight)[there]


def _weight(codes: Longs, weight: Floats | None) -> Floats:
    return np.ones(codes.shape[1]) if weight is None else weight


def _used(row: Longs, weight: Floats, categories: int) -> Floats:
    """How often an annotator used each category."""
    there = row >= 0
    return np.asarray(np.bincount(row[there], weight[there], categories), np.float64)
