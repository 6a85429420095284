"""How alike systems are over several datasets: `karat.comparison.similarity` on each, and all of them together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from karat.comparison.grid import Grid
from karat.comparison.similarity import Likeness, Similarity, similarity
from karat.errors import UsageError


@dataclass(frozen=True, slots=True)
class Alike:
    """Two systems under one relation over all documents of several datasets; None where both answer nothing."""

    one: str
    two: str
    relation: str
    macro: float | None
    micro: float | None


@dataclass(frozen=True, slots=True)
class Similarities:
    """Systems side by side on each dataset, and pooled over those that all of them answered."""

    relations: tuple[str, ...]
    datasets: Mapping[str, Similarity]
    pooled: tuple[Alike, ...]


def similarities(grid: Grid, match: str, best: str | None) -> Similarities:
    """Compare what systems answer, dataset by dataset."""
    found: dict[str, Similarity] = {}
    for name, row in grid.cells.items():
        corpus, runs = grid.corpus(name), [cell.entry.run for cell in row.values() if cell.entry.run is not None]
        if corpus is None or len(runs) < len(row):
            raise UsageError("similarity compares answers, and results have none. Give gold and answers.")
        if len(runs) > 1:
            found[name] = similarity(
                corpus,
                runs,
                match=match,
                like=grid.request.profile,
                best=best,
                kb=grid.request.kb,
                allow_unknown=grid.request.allow_unknown,
                **{choice: value for choice, value in grid.request.given["choices"].items() if choice != "match"},
            )
    if not found:
        raise UsageError("no dataset has answers of two systems. Give files of two systems for one dataset.")
    relations = list(dict.fromkeys(pair.relation for each in found.values() for pair in each.likeness))
    common = [found[name] for name in grid.common if name in found]
    pooled = [
        _pooled(one, two, relation, [pair for each in common for pair in each.likeness])
        for relation in relations
        for one, two in combinations(grid.systems, 2)
        if common
    ]
    return Similarities(tuple(relations), found, tuple(pooled))


def _pooled(one: str, two: str, relation: str, pairs: Sequence[Likeness]) -> Alike:
    own = [pair for pair in pairs if (pair.one, pair.two, pair.relation) == (one, two, relation)]
    return Alike(one, two, relation, _mean(pair.macro for pair in own), _mean(pair.micro for pair in own))


def _mean(scores: Iterable[tuple[float | None, int, str | None]]) -> float | None:
    """The mean weighted by what each was taken over: documents for macro, answers for micro."""
    known = [(value, number) for value, number, _ in scores if value is not None]
    total = sum(number for _, number in known)
    return sum(value * number for value, number in known) / total if total else None
