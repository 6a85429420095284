"""Differences between all pairs of systems, with intervals and p-values, per dataset and tested measure."""

from __future__ import annotations

from collections.abc import Sequence

from karat.model.output.json_files import JsonRecord
from karat.web.archive.archive import Archive
from karat.web.archive.leaderboard import ComparedSystems, compare_systems
from karat.web.archive.resource import Resource
from karat.web.archive.rounding import round_score


class PairTable(JsonRecord, frozen=True):
    """One measure on one dataset: the differences between all pairs of systems that were scored alike.

    The columns have one value per pair, in the order (0, 1), (0, 2), …, (1, 2), … of `systems`; null if undefined.
    """

    measure: str
    dataset: int
    systems: list[int]
    difference: list[float | None]
    """Score of the first minus score of the second system."""
    low: list[float | None]
    """Lower end of the confidence interval."""
    high: list[float | None]
    """Upper end of the confidence interval."""
    p: list[float | None]
    """P-value of the paired test; empty if no pair was tested."""
    corrected: list[float | None]
    """P-value after the correction for all pairs on all datasets; empty if no pair was tested."""
    reasons: dict[str, str]
    """Why pairs have no p-value, by the index of the pair."""


class PairsResource(JsonRecord, frozen=True):
    """`pairs`: the differences between all pairs of systems under the main profile."""

    tables: list[PairTable]


def build_pairs(archive: Archive) -> PairsResource:
    """Build the differences between all pairs of systems by each tested measure on each dataset."""
    systems = archive.systems
    return PairsResource(
        [
            _build_table(measure, dataset, compared, systems)
            for measure, rows in compare_systems(archive).items()
            for dataset, tests in enumerate(rows)
            for compared in tests.compared
        ]
    )


def _build_table(measure: str, dataset: int, compared: ComparedSystems, systems: Sequence[str]) -> PairTable:
    """Build the table of the systems that were scored alike; `systems` is the order of indices."""
    pairs = compared.pairs
    is_tested = any(pair.p is not None for pair in pairs)
    return PairTable(
        measure,
        dataset,
        [systems.index(system) for system in compared.systems],
        [round_score(pair.difference) for pair in pairs],
        [round_score(pair.low) for pair in pairs],
        [round_score(pair.high) for pair in pairs],
        [round_score(pair.p) for pair in pairs] if is_tested else [],
        [round_score(pair.corrected) for pair in pairs] if is_tested else [],
        {str(index): pair.reason for index, pair in enumerate(pairs) if is_tested and pair.reason is not None},
    )


def _has_pairs(archive: Archive, _: str) -> bool:
    """Return whether any two systems of the archive can be compared."""
    return any(tests.compared for rows in compare_systems(archive).values() for tests in rows)


RESOURCE = Resource(PairsResource, build_pairs, is_available=_has_pairs)
