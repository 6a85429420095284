"""The order of every pair of systems under every profile, and the differences that are in question."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np

from karat.model.profile_signatures import get_profile
from karat.protocols.suites.conventions.explanations import SystemPair, has_both_signs
from karat.protocols.suites.conventions.scores import OPTIONS, POINT, ProfileScores, subtract_scores
from karat.stats.significance.corrections import holm
from karat.stats.significance.power import documents_needed


class PairOrder(NamedTuple):
    """The differences of two systems on a dataset, or on the mean over datasets, under each profile."""

    pair: SystemPair
    """The systems."""
    differences: Mapping[str, float]
    """By profile, the score of the first system minus that of the second; 0 for a tie."""

    def is_flipped(self, profiles: Iterable[str]) -> bool:
        """Return whether each system is better under some of `profiles`."""
        return has_both_signs(self.differences[name] for name in profiles if name in self.differences)

    @property
    def is_tied_once(self) -> bool:
        """Whether the systems are equal under some profile and differ under another."""
        values = list(self.differences.values())
        return any(values) and not all(values)


class SmallDifference(NamedTuple):
    """A tested difference of less than a point."""

    dataset: ProfileScores
    profile: str
    pair: SystemPair
    difference: float
    p: float | None
    standard_error: float | None

    @property
    def documents_needed(self) -> int | None:
        """The number of documents that would tell the systems apart; None if the standard error is undefined."""
        if not self.standard_error:
            return None
        return documents_needed(
            self.difference,
            self.standard_error,
            self.dataset.n_documents,
            confidence=1 - OPTIONS.alpha,
            power=OPTIONS.power,
        )


@dataclass(frozen=True)
class ConventionFinding:
    """All scores, and what is counted in them."""

    datasets: Sequence[ProfileScores]
    """The scores on each dataset."""
    profiles: tuple[str, ...]
    """The profiles, without those that equal another one here."""

    @cached_property
    def task_profiles(self) -> tuple[str, ...]:
        """The profiles of the default task, in which systems find the mentions themselves."""
        return tuple(name for name in self.profiles if get_profile(name).settings["task"] == "a2kb")

    @cached_property
    def orders(self) -> dict[tuple[str, str], list[PairOrder]]:
        """By collection and dataset, all pairs of systems; only datasets with two systems."""
        return {
            (scores.files.collection, scores.files.name): [
                PairOrder(pair, scores.find_differences(pair)) for pair in scores.pairs
            ]
            for scores in self.datasets
            if scores.pairs
        }

    @cached_property
    def all_orders(self) -> list[PairOrder]:
        """All pairs of systems on all datasets."""
        return [order for orders in self.orders.values() for order in orders]

    @cached_property
    def mean_orders(self) -> dict[str, list[PairOrder]]:
        """By collection, the pairs of systems by their mean score over the datasets that all its systems share.

        Collections without two datasets with the same systems are missing.
        """
        orders = {}
        for collection in dict.fromkeys(scores.files.collection for scores in self.datasets):
            rows = [scores for scores in self.datasets if scores.files.collection == collection and scores.pairs]
            systems = rows[0].systems if rows else ()
            if len(rows) < 2 or any(row.systems != systems for row in rows):
                continue
            means = {
                profile: _average([row.scores[profile] for row in rows], systems)
                for profile in self.profiles
                if all(profile in row.scores for row in rows)
            }
            orders[collection] = [PairOrder(pair, subtract_scores(means, pair)) for pair in combinations(systems, 2)]
        return orders

    @cached_property
    def small_differences(self) -> list[SmallDifference]:
        """All differences of less than a point, under every profile; ties are not differences."""
        return [
            SmallDifference(scores, profile, pair, difference, *scores.tests[profile, pair])
            for scores in self.datasets
            for pair in scores.pairs
            for profile, difference in scores.find_differences(pair).items()
            if 0 < abs(difference) < POINT
        ]

    @cached_property
    def corrected(self) -> list[float | None]:
        """The p-values of `small_differences`, corrected for all of them under the same profile."""
        values = np.array([np.nan if item.p is None else item.p for item in self.small_differences])
        profiles = np.array([item.profile for item in self.small_differences])
        for profile in set(profiles.tolist()):
            values[profiles == profile] = holm(values[profiles == profile])
        return [None if np.isnan(value) else value for value in values.tolist()]

    def count_reversals(self, orders: Iterable[tuple[ProfileScores, PairOrder]]) -> int:
        """Count the pairs whose systems are each significantly better under some profile, without correction."""
        return sum(
            has_both_signs(
                difference
                for profile, difference in order.differences.items()
                if (test := scores.tests.get((profile, order.pair))) and test.p is not None and test.p <= OPTIONS.alpha
            )
            for scores, order in orders
        )


def _average(rows: Sequence[Mapping[str, float]], systems: Sequence[str]) -> dict[str, float]:
    """Return the mean score over datasets of each system that has a score on all of them."""
    return {
        system: sum(row[system] for row in rows) / len(rows) for system in systems if all(system in row for row in rows)
    }
