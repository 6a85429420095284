"""What a comparison is made from: every system on every dataset, scored in the same way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from karat.comparison.asked import Asked
from karat.comparison.entries import Entry, left_out
from karat.comparison.sums import additive_of
from karat.errors import UsageError
from karat.evaluation.evaluate import evaluate
from karat.evaluation.labels import LABELS_OF_CASES
from karat.evaluation.plan import expanded
from karat.evaluation.profiles import profile_named
from karat.model.corpus import Corpus
from karat.model.name import MeasureName, parse_measure
from karat.model.result import Result, Scored
from karat.model.signature import Signature
from karat.model.tables.columns import Floats
from karat.stats.samples.additive import Additive
from karat.stats.samples.documents import same_documents

MEASURE = "strong:micro.f1"
"""What is compared unless something else is asked for."""

_MAY_DIFFER = ("data", "match", "seed", "threshold")
"""A threshold may have been tuned for each system by itself; what else was scored does not matter."""


@dataclass(frozen=True, eq=False, slots=True)
class Cell:
    """A system on a dataset: its score, and how it follows from sums over documents in the order of their ids."""

    entry: Entry
    result: Result
    score: Scored
    additive: Additive | None


@dataclass(frozen=True, eq=False)
class Grid:
    """Systems on datasets, both in the order of their names.

    `cells` has for each dataset the systems that answered it. Averages are over the datasets in `common`, on which all
    systems have a score; `left_out` says why not over the others, of which some cannot be compared at all and are not
    among `datasets`.
    """

    measure: str
    systems: tuple[str, ...]
    cells: Mapping[str, Mapping[str, Cell]]
    left_out: Mapping[str, str]
    asked: Asked

    @property
    def datasets(self) -> tuple[str, ...]:
        """All datasets that scores are shown of."""
        return tuple(self.cells)

    @cached_property
    def common(self) -> tuple[str, ...]:
        """The datasets that averages are taken over."""
        return tuple(name for name in self.cells if name not in self.left_out)

    @property
    def results(self) -> list[Result]:
        """All results."""
        return [cell.result for row in self.cells.values() for cell in row.values()]

    @cached_property
    def signature(self) -> Signature:
        """What all evaluations have in common; the data are all datasets."""
        data = ",".join(next(iter(row.values())).entry.data for row in self.cells.values())
        own = self.results[0].signature
        said = {name: sorted({result.signature[name] for result in self.results}) for name, _ in own.parts}
        return Signature(tuple((name, data if name == "data" else ";".join(said[name])) for name, _ in own.parts))

    @property
    def name(self) -> MeasureName:
        """The measure, taken apart."""
        result = self.results[0]
        return parse_measure(result.aliases.get(self.measure, self.measure))

    def values(self, dataset: str) -> Floats:
        """The score of every system on a dataset; NaN where there is none."""
        row = self.cells[dataset]
        found = [row[system].score.value if system in row else None for system in self.systems]
        return np.array([np.nan if value is None else value for value in found])

    def corpus(self, dataset: str) -> Corpus | None:
        """The gold standard of a dataset, where files had it."""
        return next((cell.entry.corpus for cell in self.cells[dataset].values() if cell.entry.corpus), None)


def grid(entries: Iterable[Entry], asked: Asked) -> Grid:
    """Score every system on every dataset; files may come in any order."""
    found: dict[str, dict[str, Entry]] = {}
    for entry in entries:
        row = found.setdefault(entry.dataset, {})
        if entry.system in row:
            raise UsageError(
                f"{entry.system} answers {entry.dataset} twice. Give each system once for each dataset, or rename one."
            )
        row[entry.system] = _light(entry, row)
    systems = tuple(sorted({system for row in found.values() for system in row}))
    if len(systems) < 2:
        raise UsageError(f"there is {f'only {systems[0]}' if systems else 'nothing'} to compare. Give two systems.")
    differing = {name for name, row in found.items() if len({entry.data for entry in row.values()}) > 1}
    without = left_out(found, systems, differing)
    _check_results(found.values(), asked)
    measure = expanded(asked.measure or _usual(found.values(), asked))[-1]
    cells = {
        name: _row({system: found[name][system] for system in sorted(found[name])}, measure, asked)
        for name in sorted(found)
        if name not in differing
    }
    if not cells:
        raise UsageError(f"no dataset is the same in all files: {', '.join(sorted(differing))}. Score all on one.")
    _check_alike([cell for row in cells.values() for cell in row.values()])
    return Grid(measure, systems, cells, without | _undefined(cells, without), asked)


def _light(entry: Entry, row: Mapping[str, Entry]) -> Entry:
    """An entry with the gold standard of one before it, where both are the same, so that it is held once."""
    same = next((other.corpus for other in row.values() if other.corpus and other.data == entry.data), None)
    return entry if entry.corpus is None or same is None else replace(entry, corpus=same)


def _check_results(rows: Iterable[Mapping[str, Entry]], asked: Asked) -> None:
    given = [entry for row in rows for entry in row.values() if entry.result is not None]
    chosen = [name for name in asked.choices if name != "seed"]  # which is for draws here
    if given and (asked.like is not None or chosen or asked.by or asked.kb is not None):
        raise UsageError(
            f"{given[0].system} on {given[0].dataset} is a result, which is as it was scored. Leave the profile, "
            "choices, labels and knowledge base out, or give gold and answers."
        )


def _usual(rows: Iterable[Mapping[str, Entry]], asked: Asked) -> str:
    """The measure of a profile that is compared unless another is asked for."""
    result = next((entry.result for row in rows for entry in row.values() if entry.result is not None), None)
    shown = profile_named(asked.profile).measures if result is None else result.shown
    if (result is None and asked.choices.get("task", "")) or MEASURE in shown:
        return MEASURE
    return next((name for name in shown if ":micro.f1" in name), shown[0] if shown else MEASURE)


def _row(row: Mapping[str, Entry], measure: str, asked: Asked) -> dict[str, Cell]:
    """All systems on one dataset."""
    results = {system: entry.result or _scored(entry, measure, asked) for system, entry in row.items()}
    return cells_of(row, results, measure, asked)


def cells_of(row: Mapping[str, Entry], results: Mapping[str, Result], measure: str, asked: Asked) -> dict[str, Cell]:
    """The scores of systems on one dataset, which must have the same documents in all results."""
    orders = same_documents(list(results.values()))
    return {
        system: Cell(
            row[system], result, result.score(measure), additive_of(result, measure, order, row[system], asked)
        )
        for (system, result), order in zip(results.items(), orders, strict=True)
    }


def _scored(entry: Entry, measure: str, asked: Asked) -> Result:
    assert entry.corpus is not None
    assert entry.run is not None
    return evaluate(
        entry.corpus,
        entry.run,
        like=asked.profile,
        choices=asked.choices,
        measures=[measure],
        by=[label for label in asked.by if label in LABELS_OF_CASES],
        kb=asked.kb,
        allow_unknown=asked.allow_unknown,
    )


def _check_alike(cells: list[Cell]) -> None:
    """Refuse scores that were made under different conventions."""
    first = cells[0]
    for cell in cells[1:]:
        one, two = first.result.signature.as_dict(), cell.result.signature.as_dict()
        differ = [name for name in {**one, **two} if name not in _MAY_DIFFER and one.get(name) != two.get(name)]
        if differ:
            name = differ[0]
            raise UsageError(
                f"{first.entry.system} on {first.entry.dataset} and {cell.entry.system} on {cell.entry.dataset} were "
                f"scored differently: {name} is {one.get(name)} and {two.get(name)}. Score both in one way."
            )


def _undefined(cells: Mapping[str, Mapping[str, Cell]], without: Mapping[str, str]) -> dict[str, str]:
    """Datasets on which some system has no score."""
    found = {}
    for name, row in cells.items():
        lacking = [f"{system}: {cell.score.reason}" for system, cell in row.items() if cell.score.value is None]
        if lacking and name not in without:
            found[name] = f"no score ({'; '.join(lacking)})"
    return found
