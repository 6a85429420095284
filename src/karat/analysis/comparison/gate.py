"""Quality gate: does a new version of a system score worse than the old one by more than allowed?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeAlias

import msgspec

from karat.analysis.comparison.compare import Comparison, compare
from karat.analysis.comparison.entries import Entry
from karat.analysis.comparison.options import ComparisonOptions
from karat.analysis.comparison.significance import DatasetScores, list_test_notes
from karat.evaluation.request import Request
from karat.model.errors import UsageError
from karat.model.output.command_options import format_argument
from karat.model.results.failures import FAILED_DOCUMENTS, MISSING_DOCUMENTS
from karat.model.signature import Signature

NEW: Final = "new"
"""Name of the new version."""
OLD: Final = "old"
"""Name of the old version."""

_OUTCOME_WORDS: Final = {"fn": "missed"}

State: TypeAlias = Literal["dropped", "passed", "inconclusive", "untested", "undefined"]
"""The loss is significantly larger than allowed, significantly smaller or neither, it has no interval, or the new score
is undefined.
"""


@dataclass(frozen=True, slots=True)
class DatasetChange:
    """Both versions on a dataset, and the decision."""

    dataset: str
    """Name of the dataset."""
    old: float | None
    """Score of the old version."""
    new: float | None
    """Score of the new version."""
    difference: float | None
    """New score minus old score."""
    low: float | None
    """Lower end of the confidence interval."""
    high: float | None
    """Upper end of the confidence interval."""
    state: State
    """Decision."""
    reason: str | None = None
    """Reason for a missing interval."""
    failed: int = 0
    """Number of documents on which the new version failed."""
    missing: int = 0
    """Number of documents that the new version does not have."""


@dataclass(frozen=True, slots=True)
class FlippedMention:
    """A mention that only one version links correctly."""

    dataset: str
    """Name of the dataset."""
    document: str
    """Id of the document."""
    start: int
    """Start offset."""
    end: int
    """End offset."""
    text: str | None
    """Text of the mention; None if unknown."""
    gold: str
    """Gold id, `NIL`, or `no link`."""
    correct_version: str
    """Version that links the mention correctly, `new` or `old`."""
    wrong_link: str
    """Prediction of the other version, or its outcome if it has none."""
    gold_name: str | None = None
    """Name of the gold entity."""
    wrong_name: str | None = None
    """Name of the wrongly predicted entity."""


@dataclass(frozen=True, slots=True)
class GateResult:
    """Decision of the quality gate."""

    measure: str
    """Measure that is compared."""
    max_drop: float
    """Largest allowed drop, as a fraction."""
    confidence: float
    """Confidence level of the intervals."""
    datasets: tuple[DatasetChange, ...]
    """Decision on each dataset."""
    flips: tuple[FlippedMention, ...]
    """Mentions that only one version links correctly."""
    signature: Signature
    """Signature of the evaluation."""
    lower_is_better: bool = False
    """Whether lower values of the measure are better, so that a rise is a loss."""
    notes: tuple[str, ...] = ()
    """Notes of the comparison of both versions, warnings first, with what was skipped."""
    max_failed: int | None = None
    """Largest allowed number of failed and missing documents of the new version on a dataset; None for any number."""
    allow_untested: bool = False
    """Whether datasets without an interval pass."""

    @property
    def is_passed(self) -> bool:
        """Whether no dataset dropped significantly by more than `max_drop`, lost its score, or has too many failures.

        Failures are limited by `max_failed`. Datasets without an interval do not pass unless `allow_untested`.
        """
        is_worse = any(change.state in ("dropped", "undefined") for change in self.datasets)
        return not is_worse and not self.get_failed_datasets() and not self.get_untested_datasets()

    def get_failed_datasets(self) -> tuple[DatasetChange, ...]:
        """Return the datasets on which more documents of the new version failed or are missing than allowed."""
        if self.max_failed is None:
            return ()
        return tuple(change for change in self.datasets if change.failed + change.missing > self.max_failed)

    def get_untested_datasets(self) -> tuple[DatasetChange, ...]:
        """Return the datasets on which the difference needs an interval and has none."""
        return tuple(change for change in self.datasets if change.state == "untested" and not self.allow_untested)

    def get_lost_mentions(self) -> tuple[FlippedMention, ...]:
        """Return the mentions that only the old version links correctly."""
        return tuple(flip for flip in self.flips if flip.correct_version == OLD)

    def get_gained_mentions(self) -> tuple[FlippedMention, ...]:
        """Return the mentions that only the new version links correctly."""
        return tuple(flip for flip in self.flips if flip.correct_version == NEW)


def check_gate(
    new: Iterable[Entry],
    old: Iterable[Entry],
    request: Request | None = None,
    *,
    max_drop: float = 0.0,
    confidence: float = 0.95,
    measure: str | None = None,
    resamples: int = 1000,
    max_failed: int | None = None,
    allow_untested: bool = False,
) -> GateResult:
    """Compare two versions of a system on the same datasets and decide whether the new one passes.

    The new version fails if on some dataset the whole interval of the difference, at the level `confidence`, is a drop
    of more than `max_drop`, a share below 1; for a measure whose lower values are better, a rise. It also fails if its
    score is undefined and that of the old version is not, if more than `max_failed` documents of a dataset failed or
    are missing, or, unless `allow_untested`, if the difference has no interval. The systems in `new` and `old` are
    renamed to `new` and `old`.
    """
    if 1 <= max_drop <= 100:
        points = f"{max_drop:g} percentage point{'s' * (max_drop != 1)}"
        raise UsageError(
            f"{format_argument('max_drop')} is {max_drop:g}, which may be {points} or a share. Give a share from 0 up "
            f"to 1: {max_drop / 100:g} is {points}."
        )
    if not 0 <= max_drop < 1:
        raise UsageError(
            f"{format_argument('max_drop')} is {max_drop:g}. Give a share from 0 up to 1: 0.01 is one percentage point."
        )
    if not 0.5 <= confidence < 1:
        raise UsageError(
            f"{format_argument('confidence')} is {confidence}. Give a number from 0.5 up to 1, such as 0.95."
        )
    if max_failed is not None and max_failed < 0:
        raise UsageError(f"{format_argument('max_failed')} is {max_failed}. Give a number of documents of at least 0.")
    entries = [*_rename_entries(new, NEW), *_rename_entries(old, OLD)]
    _check_datasets(entries)
    options = ComparisonOptions(1 - confidence, resamples=resamples, permutations=1000)
    comparison = compare(entries, request, options, measure=measure)
    test_notes = list_test_notes(comparison.datasets, options)  # the gate uses intervals only
    flips = [flip for mentions in comparison.mentions for flip in map(_flip_from_record, mentions.flip_records())]
    return GateResult(
        comparison.measure,
        max_drop,
        confidence,
        tuple(
            replace(
                _compare_versions(scores, max_drop),
                failed=_count_skipped(comparison, scores.name, FAILED_DOCUMENTS),
                missing=_count_skipped(comparison, scores.name, MISSING_DOCUMENTS),
            )
            for scores in comparison.datasets
        ),
        tuple(flips),
        comparison.signature,
        any(pair.lower_is_better for scores in comparison.datasets for pair in scores.pairs),
        tuple(note for note in comparison.notes if note not in test_notes),
        max_failed,
        allow_untested,
    )


def _check_datasets(entries: Iterable[Entry]) -> None:
    """Raise `UsageError` unless each dataset has exactly one entry of each version."""
    versions: dict[str, list[str]] = {}
    for entry in entries:
        versions.setdefault(entry.dataset, []).append(entry.system)
    for dataset, systems in versions.items():
        for version in (NEW, OLD):
            if systems.count(version) > 1:
                raise UsageError(f"{dataset} has several {version} versions. Pass one for each dataset.")
        if len(systems) == 1:
            raise UsageError(f"{dataset} has only the {systems[0]} version. Pass both, scored on the same gold.")


def _rename_entries(entries: Iterable[Entry], version: str) -> Iterator[Entry]:
    """Yield `entries` with their system renamed to `version`."""
    for entry in entries:
        run = None if entry.run is None else replace(entry.run, name=version)
        result = None if entry.result is None else replace(entry.result, run=version)
        yield msgspec.structs.replace(entry, system=version, run=run, result=result)


def _count_skipped(comparison: Comparison, dataset: str, description: str) -> int:
    """Return how many items of the new version were skipped on a dataset under `description`."""
    return comparison.skipped.get(dataset, {}).get(NEW, {}).get(description, 0)


def _compare_versions(scores: DatasetScores, max_drop: float) -> DatasetChange:
    """Decide from the interval of the difference whether the score got worse by more than `max_drop` on a dataset.

    A score gets worse if it drops or, for a measure whose lower values are better, if it rises. Without an interval
    the decision is `untested`, `undefined` if only the new version has no score, or `inconclusive` if only the old one.
    """
    (pair,) = scores.pairs
    sign = 1 if pair.system_a == NEW else -1
    ends = sorted(sign * end for end in (pair.low, pair.high) if end is not None)
    low, high = ends if len(ends) == 2 else (None, None)
    difference = None if pair.difference is None else sign * pair.difference
    state: State = "untested"
    if low is not None and high is not None:
        worst, best = (-high, -low) if pair.lower_is_better else (low, high)  # changes for the better are positive
        state = "dropped" if best < -max_drop else "passed" if worst >= -max_drop else "inconclusive"
    values = scores.scores[OLD].value, scores.scores[NEW].value
    if values[0] is not None and values[1] is None:
        state = "undefined"
    elif values[0] is None and values[1] is not None:
        state = "inconclusive"  # there is no score to lose
    reason = None if low is not None else pair.reason or "too few documents for an interval"
    return DatasetChange(scores.name, *values, difference, low, high, state, reason)


def _flip_from_record(record: dict[str, Any]) -> FlippedMention:
    """Convert a flip record to a `FlippedMention`."""
    (wrong,) = record["wrong"]
    return FlippedMention(
        record["dataset"],
        record["document"],
        record["start"],
        record["end"],
        record.get("text"),
        _format_link(record),
        record["correct"][0],
        _format_link(wrong) if "start" in wrong else _OUTCOME_WORDS.get(wrong["outcome"], wrong["outcome"]),
        record.get("name"),
        wrong.get("name"),
    )


def _format_link(record: dict[str, Any]) -> str:
    """Return the id of a link, `NIL` or `no link`."""
    return "NIL" if record.get("nil") else str(record.get("entity") or "no link")
