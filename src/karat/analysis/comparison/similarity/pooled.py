"""Similarity of systems over several datasets, by dataset and pooled."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from karat.analysis.comparison.grid import Grid
from karat.analysis.comparison.similarity import PairSimilarity, Similarity, compute_similarity, request_similarity
from karat.model.errors import UsageError


@dataclass(frozen=True, slots=True)
class PooledSimilarity:
    """Similarity of two systems under one match relation, pooled over several datasets."""

    system_a: str
    """First system."""
    system_b: str
    """Second system."""
    relation: str
    """Match relation."""
    macro: float | None
    """Mean similarity over documents; None if undefined."""
    micro: float | None
    """Similarity over all predictions; None if both systems predict nothing."""


@dataclass(frozen=True, slots=True)
class Similarities:
    """Similarities on each dataset and pooled."""

    relations: tuple[str, ...]
    """Match relations."""
    datasets: Mapping[str, Similarity]
    """Similarities by dataset."""
    pooled: tuple[PooledSimilarity, ...]
    """Similarities pooled over the datasets with predictions of all systems."""


def compute_similarities(grid: Grid, match: str, best_threshold: str | None) -> Similarities:
    """Compare the predictions of all systems with each other on each dataset, and pool over the common datasets.

    `match` lists match relations, separated by commas; for `best_threshold` see `similarity`. Raises `UsageError` for
    results, which contain no predictions.
    """
    by_dataset: dict[str, Similarity] = {}
    request = request_similarity(grid.request, best_threshold, match)
    for name, row in grid.cells.items():
        corpus, runs = grid.corpus(name), [cell.entry.run for cell in row.values() if cell.entry.run is not None]
        if corpus is None or len(runs) < len(row):
            raise UsageError(
                "similarity compares predictions, and result files contain none. Pass gold and predictions."
            )
        if len(runs) > 1:
            by_dataset[name] = compute_similarity(corpus, runs, request)
    if not by_dataset:
        raise UsageError("no dataset has predictions of two systems. Pass the files of two systems for one dataset.")
    relations = list(dict.fromkeys(pair.relation for s in by_dataset.values() for pair in s.pairs))
    common = [by_dataset[name] for name in grid.common_datasets if name in by_dataset]
    pooled = [
        _pool_pair(a, b, relation, [pair for s in common for pair in s.pairs])
        for relation in relations
        for a, b in combinations(grid.systems, 2)
        if common
    ]
    return Similarities(tuple(relations), by_dataset, tuple(pooled))


def _pool_pair(system_a: str, system_b: str, relation: str, pairs: Sequence[PairSimilarity]) -> PooledSimilarity:
    """Return the similarity of two systems under one relation, pooled over `pairs` of several datasets.

    Pairs of other systems and relations are ignored.
    """
    selected = [
        pair for pair in pairs if (pair.system_a, pair.system_b, pair.relation) == (system_a, system_b, relation)
    ]
    return PooledSimilarity(
        system_a,
        system_b,
        relation,
        _weighted_mean(pair.macro for pair in selected),
        _weighted_mean(pair.micro for pair in selected),
    )


def _weighted_mean(scores: Iterable[tuple[float | None, int, str | None]]) -> float | None:
    """Return the mean weighted by sample sizes: documents for macro, predictions for micro.

    None if all are undefined.
    """
    defined = [(value, number) for value, number, _ in scores if value is not None]
    total = sum(number for _, number in defined)
    return sum(value * number for value, number in defined) / total if total else None
