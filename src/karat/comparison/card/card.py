"""What systems are good and bad at: averages over benchmarks, and for each system a card of strengths and weaknesses.

Averages are those of Tables 1 and 4 of Bast, Hertel and Prange, A Fair and In-Depth Evaluation of Existing End-to-End
Entity Linking Systems, EMNLP 2023.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Final, Literal, TypeAlias

import numpy as np

from karat.comparison.card.benchmarks import Benchmark, stage_of
from karat.comparison.card.figures import ACCURACY, CardCounts, Figure, Making, figures, gathered, making
from karat.comparison.entries import Entry, shared_texts
from karat.comparison.grid import grid
from karat.comparison.means import mean_p
from karat.comparison.samples import estimate
from karat.comparison.terms import Terms
from karat.display import Displayed
from karat.evaluation.request import Request
from karat.model.result import IdHealth
from karat.model.signature import Signature
from karat.model.tables.columns import Floats
from karat.stats.tests.contrast import against_others, mean_of_strata, resampled
from karat.stats.tests.holm import holm
from karat.stats.tests.permutation import swap_test
from karat.work import working

VIEW: Final = "strong"
"""What is compared unless something else is asked for: the view of what `compare` compares."""

Verdict: TypeAlias = Literal["strength", "weakness", "none", "too few"]

_KINDS_OF_MENTIONS = frozenset(
    {
        "disambiguation-demonym",
        "disambiguation-metonymy",
        "disambiguation-partial-name",
        "disambiguation-rare",
        "hyperlink",
    }
)
"""Categories that are called by the mentions in them, not by the error."""


@dataclass(frozen=True, slots=True)
class CardTerms(Terms):
    """What decides about an average and a strength, besides the level and the draws of every comparison.

    `min_share`: a benchmark counts for demonyms and metonyms if they are at least this share of its linked mentions.
    `min_cases`: what a system is judged by is at least this many cases. `min_effect`: a smaller difference is tiny.
    """

    min_share: float = 0.02
    min_cases: int = 20
    min_effect: float = 0.01


@dataclass(frozen=True, slots=True)
class Average:
    """A figure of one system: the mean over benchmarks, each of which counts alike; None with the reason.

    Of a count it is the mean number of errors. `cases` is what it was taken from in all: mentions for scores, what
    could have gone wrong for rates, errors for counts. `undecided` cases are those for which facts are missing.
    """

    value: float | None
    cases: int
    undecided: int = 0
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Contrast:
    """A figure of one system minus the mean of the other systems; None with the reason.

    Of a count it is that of errors per mention. `low` and `high` hold all but a share `Terms.level` of the resamples;
    `p` is of the permutation test, `corrected` by Holm over everything that was tested.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    corrected: float | None = None
    verdict: Verdict | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Card:
    """A system: its averages, its differences to the others, and in words what it is good and bad at."""

    system: str
    averages: Mapping[str, Average]
    differences: Mapping[str, Contrast]
    judgement: str


@dataclass(frozen=True, slots=True)
class Cards(Displayed):
    """All systems side by side. `counted` names for each figure the benchmarks that it is an average over.

    `left_out` has benchmarks that no average is taken over, and why; `not_counted` the same by figure.
    """

    _page: ClassVar = "karat.pages.card"

    cards: tuple[Card, ...]
    figures: tuple[Figure, ...]
    benchmarks: tuple[str, ...]
    counted: Mapping[str, tuple[str, ...]]
    left_out: Mapping[str, str]
    not_counted: Mapping[str, Mapping[str, str]]
    id_health: Mapping[str, IdHealth]
    notes: tuple[str, ...]
    rule: CardTerms
    signature: Signature
    view: str = VIEW


def cards(
    entries: Iterable[Entry], request: Request | None = None, terms: CardTerms | None = None, *, view: str = VIEW
) -> Cards:
    """Score every system on every dataset, average over the datasets that all systems answered, and compare.

    A system is strong (weak) in what it is better (worse) in than the mean of the others, if the difference is
    significant after correction, its interval does not hold 0, and it is not tiny. For what is tested see
    `karat.stats.tests.permutation.swap_test`.
    """
    terms, stage = terms or CardTerms(), stage_of(view)
    asked = (request or Request.of()).but(also=[f"{stage}:micro.f1"], staged=True)
    grown = grid(entries, asked, f"{view}:micro.f1", least=1)
    table = gathered(grown, view)
    lines = figures(view)
    not_counted = {figure.name: _not_counted(figure, table, terms) for figure in lines}
    counted = {name: tuple(b for b in table.names if b not in without) for name, without in not_counted.items()}
    averages = {figure.name: _averages(figure, table, counted[figure.name]) for figure in lines}
    differences = _compared(lines, table, counted, terms)
    return Cards(
        cards=tuple(
            Card(
                system,
                {name: each[place] for name, each in averages.items()},
                differences[system],
                _judgement(lines, differences[system]),
            )
            for place, system in sorted(
                enumerate(table.systems), key=lambda each: (-_rank(averages["f1"][each[0]]), each)
            )
        ),
        figures=lines,
        benchmarks=table.names,
        counted=counted,
        left_out=grown.left_out,
        not_counted={name: without for name, without in not_counted.items() if without},
        id_health=grown.id_health,
        notes=(
            *_perfect(table, averages["f1"]),
            *shared_texts({name: own.texts for name, own in table.benchmarks.items()}),
            *_too_few_throws(differences, terms),
        ),
        rule=terms,
        signature=grown.signature,
        view=view,
    )


def _rank(average: Average) -> float:
    """What systems are ordered by, the best first."""
    return -1.0 if average.value is None else average.value


def _not_counted(figure: Figure, table: CardCounts, terms: CardTerms) -> dict[str, str]:
    """The benchmarks that a figure is not averaged over, and why."""
    found = {}
    for name in table.names:
        reason = _too_rare(figure, table.benchmarks[name], terms) or _undefined(figure, table, name)
        if reason is not None:
            found[name] = reason
    return found


def _too_rare(figure: Figure, own: Benchmark, terms: CardTerms) -> str | None:
    share = own.shares.get(figure.name)
    if share is None or not terms.min_share:
        return None
    if share.value is None:
        return share.reason or "no linked mentions"
    if share.value >= terms.min_share:
        return None
    undecided = f", {share.undecided} undecided" if share.undecided else ""
    return f"{100 * share.value:.1f} % of {share.linked:,} linked mentions{undecided}"


def _undefined(figure: Figure, table: CardCounts, name: str) -> str | None:
    """Why a benchmark has no such figure for some system: then it is not averaged for any."""
    values = making(figure, table).of(table.totals[name])
    reasons: dict[str, list[str]] = {}
    for system, value in zip(table.systems, values.tolist(), strict=True):
        tally = table.adds[name][system].categories.get(figure.name)
        if tally is not None and (not tally.defined or (figure.kind == "rate" and tally.total is None)):
            reasons.setdefault(tally.reason or "not known", []).append(system)
        elif np.isnan(value):
            undecided = tally is not None and tally.undecided
            reasons.setdefault("no case that facts decide" if undecided else "no case", []).append(system)
    every = len(table.systems)
    said = [why if len(who) == every else f"{why} ({', '.join(who)})" for why, who in reasons.items()]
    return "; ".join(said) or None


def _cases(read: Making, table: CardCounts, names: Sequence[str]) -> Floats:
    """How many cases a figure of each system is about."""
    found: Floats = np.zeros(len(table.systems))
    for name in names:
        found = found + table.totals[name][:, read.cases].sum(axis=-1)
    return found


def _averages(figure: Figure, table: CardCounts, names: Sequence[str]) -> list[Average]:
    """The mean of each system."""
    read = making(figure, table)
    cases = _cases(read, table, names)
    undecided = [_undecided(figure, table, names, system) for system in table.systems]
    if not names:
        return [Average(None, 0, reason="no benchmark counts")] * len(table.systems)
    values = mean_of_strata(read.of(table.totals[name]) for name in names)
    if figure.kind == "count":
        values = cases / len(names)
    found = zip(values.tolist(), cases.tolist(), undecided, strict=True)
    return [Average(value, round(number), open_) for value, number, open_ in found]


def _undecided(figure: Figure, table: CardCounts, names: Sequence[str], system: str) -> int:
    name = ACCURACY if figure.name == "accuracy" else figure.name
    tallies = [table.adds[benchmark][system].categories.get(name) for benchmark in names]
    return sum(tally.undecided for tally in tallies if tally is not None)


def _compared(
    lines: Sequence[Figure], table: CardCounts, counted: Mapping[str, Sequence[str]], terms: CardTerms
) -> dict[str, dict[str, Contrast]]:
    """The differences of every system in every figure, tested together."""
    systems = len(table.systems)
    if systems < 2:
        alone = Contrast(None, reason="there is no other system")
        return {table.systems[0]: {figure.name: alone for figure in lines}}
    rows = []
    with working("resampling, figures", len(lines)) as advance:
        for figure in lines:
            rows.append(_differences(figure, table, counted[figure.name], terms))
            advance(1)
    p = np.array([[np.nan if each.p is None else each.p for each in row] for row in rows])
    # Of two systems each is the other's opposite: that is one test, not two.
    corrected = holm(p) if systems > 2 else np.repeat(holm(p[:, :1]), 2, axis=1)
    judged = [
        [_judged(figure, each, value, terms) for each, value in zip(row, values, strict=True)]
        for figure, row, values in zip(lines, rows, corrected.tolist(), strict=True)
    ]
    return {
        system: {figure.name: row[place] for figure, row in zip(lines, judged, strict=True)}
        for place, system in enumerate(table.systems)
    }


def _differences(figure: Figure, table: CardCounts, names: Sequence[str], terms: CardTerms) -> list[Contrast]:
    """The differences in one figure, before the correction."""
    if not names:
        return [Contrast(None, reason="no benchmark counts")] * len(table.systems)
    read = making(figure, table)
    strata = {name: table.strata[name][:, :, read.columns] for name in names}
    values = mean_of_strata(against_others(read.measure(own.sum(axis=0))) for own in strata.values())
    # Drawn from the columns of the figure alone, which for F1 is what `compare` draws.
    samples = mean_of_strata(
        against_others(read.measure(resampled(own, terms.resamples, table.grid.seed(name, terms.seed))))
        for name, own in strata.items()
    )
    enough = _enough(figure, _cases(read, table, names), terms)
    p = _p(figure, table, list(strata.values()), read, terms) if any(enough) else np.full(len(enough), np.nan)
    documents = sum(int(own.any(axis=(1, 2)).sum()) for own in strata.values())
    found = []
    for place, value in enumerate(values.tolist()):
        own = estimate(value, samples[:, place], documents, terms.level)
        if enough[place]:
            found.append(Contrast(own.value, own.low, own.high, p=float(p[place])))
        else:
            too_few = f"fewer than {terms.min_cases} cases"
            found.append(Contrast(own.value, own.low, own.high, verdict="too few", reason=too_few))
    return found


def _p(figure: Figure, table: CardCounts, strata: Sequence[Floats], read: Making, terms: CardTerms) -> Floats:
    """The p-value of each system's difference; between two systems that of F1 is the one that `compare` gives."""
    if figure.name == "f1" and len(table.systems) == 2:
        return np.repeat(mean_p(table.grid, [(0, 1)], terms), 2)
    return swap_test(strata, read.measure, size=read.size, resamples=terms.permutations, seed=terms.seed)


def _enough(figure: Figure, cases: Floats, terms: CardTerms) -> list[bool]:
    """Whether there is enough to judge each system by: of its own cases, and on average of the others'.

    Of errors that are counted, one side is enough: none where others have many says something.
    """
    others = (cases.sum() - cases) / (len(cases) - 1)
    sides = np.maximum(cases, others) if figure.kind == "count" else np.minimum(cases, others)
    enough: list[bool] = (sides >= terms.min_cases).tolist()
    return enough


def _judged(figure: Figure, found: Contrast, corrected: float, terms: CardTerms) -> Contrast:
    """A difference with its corrected p-value and what that makes of it."""
    if found.p is None or found.value is None:
        return found
    apart = found.low is not None and found.high is not None and (found.low > 0 or found.high < 0)
    verdict: Verdict = "none"
    if corrected <= terms.level and apart and abs(found.value) >= terms.min_effect:
        verdict = "strength" if (found.value > 0) == (figure.kind == "score") else "weakness"
    return replace(found, corrected=corrected, verdict=verdict)


def _judgement(lines: Sequence[Figure], differences: Mapping[str, Contrast]) -> str:
    """The error categories that are significant, the largest effects first."""
    parts = []
    for verdict, words, number in (("strength", "strong on", "few"), ("weakness", "weak on", "many")):
        own = [figure for figure in lines if figure.kind != "score" and differences[figure.name].verdict == verdict]
        own.sort(key=lambda figure: -abs(differences[figure.name].value or 0.0))
        for start, named in ((words, True), (number, False)):
            some = [
                f"{figure.words} ({figure.effect(differences[figure.name].value or 0.0)})"
                for figure in own
                if (figure.name in _KINDS_OF_MENTIONS) == named
            ]
            parts += [f"{start} {', '.join(some)}"] if some else []
    if not parts and any(each.p is not None for each in differences.values()):
        return "in no category significantly better or worse than the others"
    return "; ".join(parts)


def _perfect(table: CardCounts, f1: Sequence[Average]) -> list[str]:
    """Systems that make no mistake: beside them all others are weak in everything."""
    names = [system for system, average in zip(table.systems, f1, strict=True) if average.value == 1]
    if not names or len(table.systems) < 3:
        return []
    return [f"without any mistake: {', '.join(names)}. That lifts the mean of the others for all: leave it out"]


def _too_few_throws(differences: Mapping[str, Mapping[str, Contrast]], terms: CardTerms) -> list[str]:
    """Whether a p-value can be small enough to survive the correction at all."""
    tests = sum(each.p is not None for own in differences.values() for each in own.values())
    said = terms.too_few(tests // 2 if len(differences) == 2 else tests)
    return [] if said is None else [said]
