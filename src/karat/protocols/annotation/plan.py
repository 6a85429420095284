"""How many documents a dataset needs to tell two systems apart, from runs on documents that have gold labels.

The standard error of the difference of two systems on the same documents shrinks with the square root of the number of
documents. So a dataset at hand tells how large another dataset of similar documents must be.
"""

from __future__ import annotations

from collections.abc import Iterable

from karat.analysis.comparison.compare import Comparison
from karat.analysis.comparison.compare import compare as compare_entries
from karat.analysis.comparison.entries import Entry
from karat.analysis.comparison.options import ComparisonOptions
from karat.analysis.comparison.significance import DatasetScores, Pair
from karat.evaluation.request import Request
from karat.model.errors import UsageError
from karat.model.output.json_files import JsonFile, JsonRecord
from karat.stats.samples.confidence_intervals import RESAMPLES
from karat.stats.significance.power import documents_needed


class PairPlan(JsonRecord, frozen=True):
    """The number of documents that tells two systems apart."""

    dataset: str
    """Dataset on which both systems ran."""
    system_a: str
    """First system."""
    system_b: str
    """Second system."""
    observed: float | None
    """Score of the first system minus score of the second one."""
    standard_error: float | None
    """Standard error of the difference on the dataset."""
    detectable: float | None
    """True difference that the dataset at hand detects with the required power."""
    documents: int | None
    """Number of documents that detect the required difference; null if unknown."""
    mentions: int | None
    """Number of gold mentions in so many documents like those at hand; null if unknown."""
    undefined: str | None = None
    """Reason for missing numbers."""


class AnnotationPlan(JsonFile, frozen=True, tag="karat-annotation-plan/1"):
    """The output of `karat annotate plan --json`."""

    measure: str
    """Measure that is compared."""
    profile: str
    """Profile under which systems are scored."""
    difference: float
    """True difference to detect."""
    alpha: float
    """Significance level of the two-sided test."""
    power: float
    """Probability of detecting the difference."""
    documents_at_hand: int
    """Number of documents with gold labels, in all datasets."""
    documents: int | None
    """Number of documents that suffices for every pair; null if it is unknown for a pair."""
    pairs: tuple[PairPlan, ...]
    """All pairs of systems on all datasets."""


def plan_documents(
    entries: Iterable[Entry],
    request: Request | None = None,
    *,
    difference: float,
    measure: str | None = None,
    alpha: float = 0.05,
    power: float = 0.8,
    resamples: int = RESAMPLES,
) -> AnnotationPlan:
    """Compute how many documents detect a true difference between any two of the systems.

    `entries` are runs with their gold standard; `request` has the profile and settings of scoring. `difference` is in
    units of the measure, such as 0.02 for two points of F1. Raise `UsageError` for fewer than two systems.
    """
    if not 0 < difference < 1:
        raise UsageError(f"the difference is {difference:g}. Pass a number between 0 and 1, such as 0.02.")
    request = request or Request.from_options()
    options = ComparisonOptions(
        alpha=alpha, resamples=resamples, permutations=1, power=power, seed=request.interval_options.seed
    )
    comparison = compare_entries(list(entries), request, options, measure=measure)
    if not any(dataset.pairs for dataset in comparison.datasets):
        raise UsageError("a plan needs two systems on the same documents. Pass the predictions of two systems.")
    pairs = tuple(
        _plan_pair(dataset, pair, difference, options) for dataset in comparison.datasets for pair in dataset.pairs
    )
    needed = [pair.documents for pair in pairs]
    return AnnotationPlan(
        measure=comparison.measure,
        profile=comparison.profile,
        difference=difference,
        alpha=alpha,
        power=power,
        documents_at_hand=_count_documents(comparison),
        documents=None if None in needed else max(number for number in needed if number is not None),
        pairs=pairs,
    )


def _plan_pair(dataset: DatasetScores, pair: Pair, difference: float, options: ComparisonOptions) -> PairPlan:
    """Return the number of documents for one pair."""
    if not pair.standard_error:
        return PairPlan(
            dataset.name, pair.system_a, pair.system_b, pair.difference, None, None, None, None, undefined=pair.reason
        )
    n_documents = documents_needed(
        difference, pair.standard_error, dataset.documents, confidence=1 - options.alpha, power=options.power
    )
    mentions = None
    if n_documents is not None and dataset.mentions is not None:
        mentions = round(n_documents * dataset.mentions / dataset.documents)
    return PairPlan(
        dataset.name,
        pair.system_a,
        pair.system_b,
        pair.difference,
        pair.standard_error,
        pair.detectable,
        n_documents,
        mentions,
        undefined=pair.reason,
    )


def _count_documents(comparison: Comparison) -> int:
    """Return the number of documents in all datasets."""
    return sum(dataset.documents for dataset in comparison.datasets)
