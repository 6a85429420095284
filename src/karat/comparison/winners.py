"""Who leads under which conventions: the same answers scored under many of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Final

import numpy as np
import pyarrow.compute as pc

from karat.comparison.asked import Asked
from karat.comparison.grid import Grid, cells_of
from karat.comparison.tests import Estimate, Rule, adding, estimate, samples
from karat.errors import KaratError, UsageError
from karat.evaluation.evaluate import evaluate
from karat.evaluation.plan import in_task
from karat.evaluation.profiles import profile_named
from karat.matching.weigh.membership import WHOLE
from karat.model.name import parse_measure
from karat.model.result import Result
from karat.model.scheme import NODES
from karat.model.tables.columns import Floats
from karat.registry import names
from karat.spec.profile import prefixes_of
from karat.spec.threshold import SWEEPS

RELATIONS: Final = ("strong", "weak", "mention", "mention-weak", "entity")
"""The relations that every profile is tried with, besides its own."""

ALPHAS: Final = (0.0, 0.25, 0.5, 0.75)
"""What mentions weigh that are not strict, where gold carries the categories that say so; 1 is the whole."""

_FACTS: Final = re.compile(r"'[^']*'|[0-9]+")
"""What differs between hints of the same kind: ids and numbers."""


@dataclass(frozen=True, slots=True)
class Lead:
    """Who leads under one table of conventions, on average over datasets that count alike.

    Several lead together if their scores are equal. `lead` is the mean score of the first less that of the `second`;
    `separable` says that its interval does not hold 0 (which is one test for each line, not corrected for how many
    there are). `by_dataset` has the leaders on each dataset that has scores of all systems.
    """

    profile: str
    relation: str
    membership: str
    threshold: str
    leaders: tuple[str, ...]
    score: Estimate
    second: str
    lead: Estimate
    separable: bool
    by_dataset: Mapping[str, tuple[str, ...]]
    scores: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Winners:
    """The map of winners; `evaluations` is how often a run was scored for it.

    `not_possible` says which conventions could not be tried, and why; `notes` are hints of single evaluations, with how
    often each came.
    """

    leads: tuple[Lead, ...]
    datasets: tuple[str, ...]
    evaluations: int
    not_possible: Mapping[str, str] = field(default_factory=dict)
    notes: Mapping[str, int] = field(default_factory=dict)

    @property
    def wins(self) -> dict[str, int]:
        """Under how many conventions each system leads, the most successful first."""
        counts: dict[str, int] = {}
        for name in (name for lead in self.leads for name in lead.leaders):
            counts[name] = counts.get(name, 0) + 1
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


@dataclass(frozen=True, slots=True)
class _Setup:
    """What is scored at once: a profile with two of its choices, under several relations."""

    profile: str
    membership: str
    threshold: str
    measures: tuple[str, ...] = ()

    def choices(self, asked: Asked) -> dict[str, str]:
        sweep = profile_named(self.profile).choices["threshold"]
        oracle = sweep if sweep in SWEEPS else "oracle"
        own = {"threshold": oracle if self.threshold == "oracle" else self.threshold, "membership": self.membership}
        without = () if self.by_prefix else ("prefixes",)  # which nobody else makes use of
        return {**own, **{name: value for name, value in asked.choices.items() if name not in without}}

    def name(self, measure: str) -> str:
        """What messages call it."""
        special = [self.membership] * (self.membership != WHOLE) + [self.threshold] * (self.threshold != "none")
        return ", ".join([self.profile, measure.partition(":")[0], *special])

    @property
    def by_prefix(self) -> bool:
        choices = profile_named(self.profile).choices
        return choices["nil"] == "emerging" or choices["typing"] == "subclasses"


class _Tried:
    """What has been scored, and what could not be."""

    def __init__(self) -> None:
        self.evaluations = 0
        self.not_possible: dict[str, str] = {}
        self.notes: dict[str, int] = {}

    def scored(self, grid: Grid, dataset: str, system: str, setup: _Setup, measures: Sequence[str]) -> Result:
        entry = grid.cells[dataset][system].entry
        assert entry.corpus is not None
        assert entry.run is not None
        self.evaluations += 1
        return evaluate(
            entry.corpus,
            entry.run,
            like=setup.profile,
            choices=setup.choices(grid.asked),
            measures=measures,
            kb=grid.asked.kb,
            allow_unknown=grid.asked.allow_unknown,
        )

    def noted(self, setup: _Setup, results: Sequence[Result]) -> None:
        for note in (note for result in results for note in result.notes if "oracle" not in note):
            kind = f"{setup.profile}: {_FACTS.sub('…', note)}"
            self.notes[kind] = self.notes.get(kind, 0) + 1


def winners(grid: Grid, rule: Rule) -> Winners:
    """Score all systems under every profile, relation, alpha and policy of thresholds that the data allows."""
    if not grid.common:
        raise UsageError("no dataset has scores of all systems, so that nobody leads. Give answers of all to one.")
    if any(grid.cells[name][system].entry.run is None for name in grid.common for system in grid.systems):
        raise UsageError("a map of winners scores answers anew, and results have none. Give gold and answers.")
    tried, leads = _Tried(), []
    for setup in _setups(grid):
        if not _known_prefixes(grid, setup):
            tried.not_possible[setup.profile] = (
                "no gold id begins as ids of its knowledge base do, so that any two would match: compare with "
                f"--like {setup.profile} --set prefixes=…"
            )
            continue
        possible = _possible(grid, setup, tried)
        if possible.measures:
            leads += _leads(grid, possible, tried, rule)
    return Winners(tuple(leads), grid.common, tried.evaluations, tried.not_possible, tried.notes)


def _setups(grid: Grid) -> Iterator[_Setup]:
    """Every profile with every alpha and policy of thresholds that may change something."""
    memberships = [WHOLE, *(f"strict:{alpha:g}" for alpha in ALPHAS)] if _categorised(grid) else [WHOLE]
    thresholds = ["none", "oracle"] if _has_scores(grid) else ["none"]
    fixed = grid.asked.choices
    memberships = [fixed["membership"]] if "membership" in fixed else memberships
    thresholds = [fixed["threshold"]] if "threshold" in fixed else thresholds
    for profile, membership, threshold in product(_profiles(), memberships, thresholds):
        yield _Setup(profile, membership, threshold)


def _profiles() -> list[str]:
    """The profiles that differ in more than the measures they show."""
    known: dict[tuple[tuple[str, str], ...], str] = {}
    for name in names("profiles"):
        choices = {**profile_named(name).choices, "match": ""}
        known.setdefault(tuple(sorted(choices.items())), name)
    return list(known.values())


def _known_prefixes(grid: Grid, setup: _Setup) -> bool:
    """Whether a profile that tells emerging entities by their prefix knows any id."""
    choices = {**profile_named(setup.profile).choices, **setup.choices(grid.asked)}
    prefixes = prefixes_of(choices)
    if choices["nil"] != "emerging" or prefixes is None or grid.asked.kb is not None:
        return True
    ids = [corpus.labels.names for name in grid.common if (corpus := grid.corpus(name)) is not None]
    return any(pc.any(pc.starts_with(each, prefix)).as_py() for each in ids for prefix in prefixes)


def _categorised(grid: Grid) -> bool:
    """Whether all gold standards carry categories of the scheme that weights are made from."""
    columns = [corpus.labels.field("categories") for name in grid.common if (corpus := grid.corpus(name)) is not None]
    return all(
        column is not None and not NODES.keys().isdisjoint(pc.unique(column.flatten()).to_pylist())
        for column in columns
    )


def _has_scores(grid: Grid) -> bool:
    runs = [grid.cells[name][system].entry.run for name in grid.common for system in grid.systems]
    return any(run.answers.field("score") is not None for run in runs if run is not None)


def _possible(grid: Grid, setup: _Setup, tried: _Tried) -> _Setup:
    """A set-up with the relations that work, tried on the smallest dataset."""
    dataset = min(grid.common, key=lambda name: (len(next(iter(grid.cells[name].values())).result.ids), name))
    own = [name for name in map(parse_measure, profile_named(setup.profile).measures) if name.short == "micro.f1"]
    shown = [str(name) for name in own if name.view.relation in names("relations") and not name.view.filters]
    plain = [name for name in shown if "@" not in name]
    found = []
    for measure in dict.fromkeys([*plain, *(f"{relation}:micro.f1" for relation in RELATIONS)]):
        try:
            tried.scored(grid, dataset, grid.systems[0], setup, [measure])
        except KaratError as problem:
            tried.not_possible[setup.name(measure)] = str(problem)
        else:
            found.append(measure)
    return replace(setup, measures=_distinct(found, setup, grid.asked))


def _distinct(measures: Sequence[str], setup: _Setup, asked: Asked) -> tuple[str, ...]:
    """Measures that a task does not take for one another."""
    task = replace(asked, like=setup.profile).task
    return tuple(dict.fromkeys(str(in_task(measure, task)) for measure in measures))


def _leads(grid: Grid, setup: _Setup, tried: _Tried, rule: Rule) -> list[Lead]:
    """Who leads under each relation."""
    results: dict[str, dict[str, Result]] = {}
    for dataset in grid.common:
        try:
            row = {system: tried.scored(grid, dataset, system, setup, setup.measures) for system in grid.systems}
        except KaratError as problem:
            tried.not_possible[f"{setup.profile} on {dataset}"] = str(problem)
            continue
        results[dataset] = row
        tried.noted(setup, list(row.values()))
    found = []
    for measure in setup.measures:
        lead = _lead(grid, setup, measure, results, rule)
        if lead is None:
            why = "no dataset has scores of all systems, or all scores are equal"
            tried.not_possible[setup.name(measure)] = why
        else:
            found.append(lead)
    return found


def _lead(
    grid: Grid, setup: _Setup, measure: str, results: Mapping[str, Mapping[str, Result]], rule: Rule
) -> Lead | None:
    """Who leads under one relation; None where no dataset has a score of all, or nobody differs."""
    entries = {name: {system: cell.entry for system, cell in grid.cells[name].items()} for name in results}
    cells = {
        name: cells_of({s: entries[name][s] for s in row}, row, measure, grid.asked) for name, row in results.items()
    }
    own = Grid(measure, grid.systems, cells, {}, grid.asked)
    defined = [name for name in cells if not np.isnan(own.values(name)).any()]
    if not defined or all(np.ptp(own.values(name)) == 0 for name in defined):
        return None
    drawn = [samples(own, name, rule) for name in defined]
    values = np.mean([own.values(name) for name in defined], axis=0)
    sampled = np.mean([each.values for each in drawn], axis=0)
    # On ties the first by name, so that the order of files does not matter.
    first, second = sorted(range(len(values)), key=lambda place: (-values[place], place))[:2]
    ahead, documents = sampled[:, first] - sampled[:, second], adding(drawn, [first, second])
    lead = estimate(float(values[first] - values[second]), ahead, documents, rule.level)
    return Lead(
        profile=setup.profile,
        relation=measure.partition(":")[0],
        membership=setup.membership,
        threshold=setup.threshold,
        leaders=_leaders(grid, values),
        score=estimate(float(values[first]), sampled[:, first], adding(drawn, [first]), rule.level),
        second=grid.systems[second],
        lead=lead,
        separable=lead.low is not None and lead.low > 0,
        by_dataset={name: _leaders(grid, own.values(name)) for name in defined},
        scores=dict(zip(grid.systems, values.tolist(), strict=True)),
    )


def _leaders(grid: Grid, values: Floats) -> tuple[str, ...]:
    """Those with the best score."""
    return tuple(system for system, value in zip(grid.systems, values.tolist(), strict=True) if value == values.max())
