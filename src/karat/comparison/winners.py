"""Who leads under which conventions: the same answers scored under many of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Final

import numpy as np
import pyarrow.compute as pc

from karat.comparison.grid import Grid
from karat.comparison.samples import Estimate, adding, estimate, samples
from karat.comparison.terms import Terms
from karat.errors import KaratError, UsageError
from karat.evaluation.evaluation import Evaluation
from karat.evaluation.measures import in_task
from karat.evaluation.request import Request
from karat.kb.spelling import SPELLINGS
from karat.matching.weigh.membership import WHOLE
from karat.model.name import parse_measure
from karat.model.scheme import NODES
from karat.model.tables.columns import Floats
from karat.registry import names
from karat.signing import profile_named
from karat.spec.choices.choices import Conventions
from karat.spec.choices.conventions import Nil, Typing
from karat.spec.choices.threshold import SWEEPS
from karat.work import working

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
class Unranked:
    """Conventions that do not apply to some datasets, which therefore rank nobody there, and why not."""

    profile: str
    membership: str
    threshold: str
    datasets: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Winners:
    """The map of winners; `evaluations` is how often a run was scored for it.

    `unranked` are conventions that could be computed but mean nothing on some datasets. `not_possible` says which
    could not be tried, and why; `notes` are hints of single evaluations, with how often each came.
    """

    leads: tuple[Lead, ...]
    datasets: tuple[str, ...]
    evaluations: int
    not_possible: Mapping[str, str] = field(default_factory=dict)
    notes: Mapping[str, int] = field(default_factory=dict)
    unranked: tuple[Unranked, ...] = ()

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

    def request(self, asked: Request, measures: Sequence[str] = ()) -> Request:
        """What is asked for under these conventions; what somebody chose for the comparison holds here too."""
        sweep = profile_named(self.profile).choices["threshold"]
        oracle = sweep if sweep in SWEEPS else "oracle"
        own = {"threshold": oracle if self.threshold == "oracle" else self.threshold, "membership": self.membership}
        without = () if self.by_prefix else ("prefixes",)  # which nobody else makes use of
        chosen = {name: value for name, value in asked.given["choices"].items() if name not in without}
        return Request.of(
            like=self.profile,
            choices={**own, **chosen},
            measures=measures,
            kb=asked.kb,
            allow_unknown=asked.allow_unknown,
        )

    def name(self, measure: str) -> str:
        """What messages call it."""
        special = [self.membership] * (self.membership != WHOLE) + [self.threshold] * (self.threshold != "none")
        return ", ".join([self.profile, measure.partition(":")[0], *special])

    @property
    def by_prefix(self) -> bool:
        own = Conventions.of(profile_named(self.profile).choices)
        return own.nil is Nil.EMERGING or own.typing is Typing.SUBCLASSES


class _Tried:
    """What has been scored, and what could not be."""

    def __init__(self) -> None:
        self.evaluations = 0
        self.not_possible: dict[str, str] = {}
        self.notes: dict[str, int] = {}

    def scored(self, grid: Grid, dataset: str, system: str, request: Request) -> Evaluation:
        """A system under a request, of which the scores have been made."""
        entry = grid.cells[dataset][system].entry
        assert entry.corpus is not None
        assert entry.run is not None
        self.evaluations += 1
        found = Evaluation.of(request, entry.corpus, entry.run)
        _ = found.result  # says now what does not work
        return found

    def noted(self, setup: _Setup, found: Iterable[Evaluation]) -> None:
        """Take down the hints of some evaluations."""
        for note in (note for each in found for note in each.result.notes if "oracle" not in note):
            kind = f"{setup.profile}: {_FACTS.sub('…', note)}"
            self.notes[kind] = self.notes.get(kind, 0) + 1


def winners(grid: Grid, terms: Terms) -> Winners:
    """Score all systems under every profile, relation, alpha and policy of thresholds that the data allows."""
    if not grid.common:
        raise UsageError("no dataset has scores of all systems, so that nobody leads. Give answers of all to one.")
    if any(grid.cells[name][system].entry.run is None for name in grid.common for system in grid.systems):
        raise UsageError("a map of winners scores answers anew, and results have none. Give gold and answers.")
    tried, leads, unranked = _Tried(), list[Lead](), list[Unranked]()
    setups = list(_setups(grid))
    with working("looking for winners, conventions", len(setups)) as advance:
        for setup in setups:
            without = _unknown_prefixes(grid, setup)
            if without:
                unranked.append(_unranked(grid, setup, without, tried))
            applies = tuple(name for name in grid.common if name not in without)
            leads += _under(grid, setup, applies, tried, terms)
            advance(1)
    return Winners(tuple(leads), grid.common, tried.evaluations, tried.not_possible, tried.notes, tuple(unranked))


def _unranked(grid: Grid, setup: _Setup, without: tuple[str, ...], tried: _Tried) -> Unranked:
    """A setup that does not apply to some datasets, and why."""
    why = (
        "no gold id begins as ids of its knowledge base do, so that any two would match: compare with "
        f"--like {setup.profile} --set prefixes=…"
    )
    where = "" if without == grid.common else f" on {', '.join(without)}"
    tried.not_possible[f"{setup.profile}{where}"] = why
    return Unranked(setup.profile, setup.membership, setup.threshold, without, why)


def _under(grid: Grid, setup: _Setup, applies: tuple[str, ...], tried: _Tried, terms: Terms) -> list[Lead]:
    """Who leads under one setup on the datasets it applies to, by relation."""
    possible = _possible(grid, setup, applies, tried) if applies else setup
    return _leads(grid, possible, applies, tried, terms) if possible.measures else []


def _setups(grid: Grid) -> Iterator[_Setup]:
    """Every profile with every alpha and policy of thresholds that may change something."""
    memberships = [WHOLE, *(f"strict:{alpha:g}" for alpha in ALPHAS)] if _categorised(grid) else [WHOLE]
    thresholds = ["none", "oracle"] if _has_scores(grid) else ["none"]
    fixed = grid.request.given["choices"]
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


def _unknown_prefixes(grid: Grid, setup: _Setup) -> tuple[str, ...]:
    """The datasets of which a profile that tells emerging entities by their prefix knows no id, as it reads them."""
    try:
        request = setup.request(grid.request)
    except KaratError:  # which is said of each relation
        return ()
    prefixes, kb = request.conventions.prefixes, request.kb
    if request.conventions.nil is not Nil.EMERGING or prefixes is None:
        return ()
    how = request.conventions.ids
    without = []
    for name in grid.common:
        corpus = grid.corpus(name)
        ids = [] if corpus is None else corpus.labels.names.to_pylist()
        read = kb.canonical(ids) if how.by_kb and kb is not None else ids
        if how in SPELLINGS:
            read = map(SPELLINGS[how].normal, read)
        if ids and not any(id.startswith(prefixes) for id in read):
            without.append(name)
    return tuple(without)


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


def _possible(grid: Grid, setup: _Setup, datasets: Sequence[str], tried: _Tried) -> _Setup:
    """A set-up with the relations that work, tried on the smallest dataset."""
    dataset = min(datasets, key=lambda name: (len(next(iter(grid.cells[name].values())).result.ids), name))
    own = [name for name in map(parse_measure, profile_named(setup.profile).measures) if name.short == "micro.f1"]
    shown = [str(name) for name in own if name.view.relation in names("relations") and not name.view.filters]
    plain = [name for name in shown if "@" not in name]
    found = []
    for measure in dict.fromkeys([*plain, *(f"{relation}:micro.f1" for relation in RELATIONS)]):
        try:
            tried.scored(grid, dataset, grid.systems[0], setup.request(grid.request, [measure]))
        except KaratError as problem:
            tried.not_possible[setup.name(measure)] = str(problem)
        else:
            found.append(measure)
    return replace(setup, measures=_distinct(found, setup, grid.request))


def _distinct(measures: Sequence[str], setup: _Setup, asked: Request) -> tuple[str, ...]:
    """Measures that a task does not take for one another."""
    task = setup.request(asked).conventions.task_name if measures else ""
    return tuple(dict.fromkeys(str(in_task(measure, task)) for measure in measures))


def _leads(grid: Grid, setup: _Setup, datasets: Sequence[str], tried: _Tried, terms: Terms) -> list[Lead]:
    """Who leads under each relation on some datasets."""
    results: dict[str, dict[str, Evaluation]] = {}
    request = setup.request(grid.request, setup.measures)
    for dataset in datasets:
        try:
            row = {system: tried.scored(grid, dataset, system, request) for system in grid.systems}
        except KaratError as problem:
            tried.not_possible[f"{setup.profile} on {dataset}"] = str(problem)
            continue
        results[dataset] = row
        tried.noted(setup, row.values())
    found = []
    for measure in setup.measures:
        lead = _lead(grid.under(measure, request, results), setup, terms)
        if lead is None:
            why = "no dataset has scores of all systems, or all scores are equal"
            tried.not_possible[setup.name(measure)] = why
        else:
            found.append(lead)
    return found


def _lead(grid: Grid, setup: _Setup, terms: Terms) -> Lead | None:
    """Who leads under one relation; None where no dataset has a score of all, or nobody differs."""
    defined = [name for name in grid.cells if not np.isnan(grid.values(name)).any()]
    if not defined or all(np.ptp(grid.values(name)) == 0 for name in defined):
        return None
    drawn = [samples(grid, name, terms) for name in defined]
    values = np.mean([grid.values(name) for name in defined], axis=0)
    # On ties the first by name, so that the order of files does not matter.
    first, second = sorted(range(len(values)), key=lambda place: (-values[place], place))[:2]
    ahead = np.mean([np.subtract(*each.of([first, second]).T) for each in drawn], axis=0)
    alone = np.mean([each.of([first])[:, 0] for each in drawn], axis=0)
    lead = estimate(float(values[first] - values[second]), ahead, adding(drawn, [first, second]), terms.level)
    return Lead(
        profile=setup.profile,
        relation=grid.measure.partition(":")[0],
        membership=setup.membership,
        threshold=setup.threshold,
        leaders=_leaders(grid, values),
        score=estimate(float(values[first]), alone, adding(drawn, [first]), terms.level),
        second=grid.systems[second],
        lead=lead,
        separable=lead.low is not None and lead.low > 0,
        by_dataset={name: _leaders(grid, grid.values(name)) for name in defined},
        scores=dict(zip(grid.systems, values.tolist(), strict=True)),
    )


def _leaders(grid: Grid, values: Floats) -> tuple[str, ...]:
    """Those with the best score."""
    return tuple(system for system, value in zip(grid.systems, values.tolist(), strict=True) if value == values.max())
