"""Statistical power: the smallest difference that a test on the documents of a dataset can detect.

Based on the standard error of the difference of two systems on the same documents, assumed normal.
"""

from __future__ import annotations

from itertools import count
from math import ceil

from karat.model.errors import UsageError
from karat.stats.normal import normal_quantile
from karat.stats.samples.bootstrap import check_confidence


def detectable_difference(standard_error: float, *, confidence: float = 0.95, power: float = 0.8) -> float:
    """Return the difference that a two-sided test detects with probability `power` at the level 1 - `confidence`.

    `standard_error` is that of the difference. Smaller true differences are detected less often.
    """
    check_confidence(confidence)
    _check_arguments(standard_error, power)
    return standard_error * (normal_quantile((1 + confidence) / 2) + normal_quantile(power))


def smallest_permutation_p(n_documents: int) -> float:
    """Return the smallest two-sided p-value that a permutation test of so many documents can have.

    Of the 2^n permutations, the observed one and its mirror image are always as extreme as the observed one.
    """
    return min(1.0, 2.0 ** (1 - n_documents))


def fewest_documents(alpha: float) -> int:
    """Return the smallest number of documents on which a permutation test can have a p-value of at most `alpha`."""
    return next(n for n in count(1) if smallest_permutation_p(n) <= alpha)


def documents_needed(
    true_difference: float, standard_error: float, n_documents: int, *, confidence: float = 0.95, power: float = 0.8
) -> int | None:
    """Return how many documents a test needs to detect a true difference with probability `power`; None for 0.

    `standard_error` is that of the difference on `n_documents` similar documents. On fewer documents than
    `fewest_documents` no permutation test detects any difference.
    """
    if not true_difference:
        return None
    ratio = detectable_difference(standard_error, confidence=confidence, power=power) / true_difference
    return max(ceil(n_documents * ratio**2), fewest_documents(1 - confidence))


def _check_arguments(standard_error: float, power: float) -> None:
    """Raise `UsageError` unless the standard error is at least 0 and the power from 0.5 to below 1."""
    if not standard_error >= 0:
        raise UsageError(f"the standard error is {standard_error}. Give a number of at least 0.")
    if not 0.5 <= power < 1:
        raise UsageError(f"power is {power}. Give a probability from 0.5 to below 1, such as 0.8.")
