"""Systems side by side on one or several datasets: who is better, by how much, and whether that is more than chance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from karat.comparison.drops import Drops, drops
from karat.comparison.entries import Entry, chosen, shared_texts, texts_of
from karat.comparison.flips import Detected, Flips, MentionsBySystem, check_labels, mentions, pooled_flips
from karat.comparison.grid import Grid, grid
from karat.comparison.homes import Home, homes
from karat.comparison.means import Mean, MeanPair, mean_pairs, means
from karat.comparison.runtimes import Runtimes, runtimes
from karat.comparison.samples import samples
from karat.comparison.similarity.pooled import Similarities, similarities
from karat.comparison.terms import Terms
from karat.comparison.tests import DatasetScores, compared, too_few_documents, too_few_throws
from karat.comparison.winners import Winners, winners
from karat.display import Displayed, Plotted
from karat.evaluation.request import Request
from karat.model.result import IdHealth
from karat.model.run import chosen_note
from karat.model.signature import Signature
from karat.spec.outside import card_of
from karat.stats.tests.ranks import critical_difference, friedman, groups, ranks


@dataclass(frozen=True, slots=True)
class ComparisonParts:
    """What a comparison has besides scores and tests.

    `match` are the relations under which systems are compared with each other, `best` above which thresholds. `homes`
    say which datasets systems were made for, and `chosen` on which they were chosen among their variants. `winners`
    asks for a map of them, and `drops` for what systems lose between mentions and links.
    """

    match: str | None = None
    best: str | None = None
    homes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    winners: bool = False
    drops: bool = False
    chosen: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ranks:
    """Mean ranks over the datasets that are averaged, after Demšar (2006).

    In a dataset equal scores share the mean of their ranks. `statistic` and `p` are Friedman's: whether any system
    differs. Systems in a group lie no further apart than the critical `difference` of Nemenyi's test.
    """

    means: Mapping[str, float]
    datasets: int
    statistic: float
    p: float
    difference: float
    groups: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Comparison(Displayed, Plotted):
    """Several systems on one or several datasets.

    `systems` are in the order of their unweighted means, the best first. `left_out` are datasets that are not averaged
    over, and why. `detected` and `flips` are about single mentions, over the datasets in `mentions`: those that all
    systems answered, and of which there are gold and answers.
    """

    _page: ClassVar = "karat.pages.comparison"
    _charts: ClassVar = "karat.pages.charts.comparison"

    measure: str
    profile: str
    systems: tuple[str, ...]
    titles: Mapping[str, str]
    datasets: tuple[DatasetScores, ...]
    left_out: Mapping[str, str]
    means: Mapping[str, Mean]
    pairs: tuple[MeanPair, ...]
    ranks: Ranks | None
    detected: Mapping[str, Mapping[str, Detected]]
    flips: tuple[Flips, ...]
    homes: tuple[Home, ...]
    runtimes: Runtimes
    similarity: Similarities | None
    winners: Winners | None
    drops: Drops | None
    id_health: Mapping[str, IdHealth]
    notes: tuple[str, ...]
    rule: Terms
    signature: Signature
    mentions: tuple[MentionsBySystem, ...] = field(default=(), repr=False)

    @property
    def averaged(self) -> tuple[str, ...]:
        """The datasets that averages are taken over."""
        return tuple(dataset.name for dataset in self.datasets if dataset.averaged)

    @property
    def detected_together(self) -> dict[str, Detected]:
        """How systems link over all datasets together."""
        found: dict[str, Detected] = {}
        for row in self.detected.values():
            for system, own in row.items():
                found[system] = found[system].plus(own) if system in found else own
        return found


def compare(
    entries: Iterable[Entry],
    request: Request | None = None,
    terms: Terms | None = None,
    parts: ComparisonParts | None = None,
    *,
    measure: str | None = None,
) -> Comparison:
    """Score every system on every dataset, and test all pairs.

    Systems and datasets are told by their names. Documents are paired by their ids, which must be the same for all
    systems on a dataset. Averages are over the datasets on which all systems have a score. The order of files does not
    matter. The labels of the request are what flips are counted by. Results are taken as they are.
    """
    terms, parts = terms or Terms(), parts or ComparisonParts()
    check_labels(() if request is None else request.given["by"])
    table = grid(chosen(entries, parts.chosen), request, measure)
    drawn = {name: samples(table, name, terms) for name in table.datasets}
    datasets = compared(table, drawn, terms)
    averages = means(table, drawn, terms)
    seen = [found for name in table.common if (found := mentions(table, name)) is not None]
    detected = {each.dataset: own for each in seen if (own := each.detected()) is not None}
    match = parts.match or (None if parts.best is None else "strong,weak,mention-weak,entity")
    alike = None if match is None else similarities(table, match, parts.best)
    return Comparison(
        measure=table.measure,
        profile=table.results[0].profile,
        systems=_best_first(table, averages),
        titles=_titles(table),
        datasets=datasets,
        left_out=table.left_out,
        means=averages,
        pairs=mean_pairs(table, drawn, datasets, terms),
        ranks=_ranks(table, terms),
        detected=detected,
        flips=pooled_flips(seen, table.systems, table.labels),
        homes=homes(table, drawn, parts.homes, terms),
        runtimes=runtimes(table),
        similarity=alike,
        winners=winners(table, terms) if parts.winners else None,
        drops=drops(table, terms) if parts.drops else None,
        id_health=table.id_health,
        notes=tuple(_notes(table, datasets, seen, terms)),
        rule=terms,
        signature=table.signature,
        mentions=tuple(seen),
    )


def _best_first(table: Grid, averages: Mapping[str, Mean]) -> tuple[str, ...]:
    """The systems by their means; where there are none, by what they have on the datasets that they answered."""
    own = {}
    for place, system in enumerate(table.systems):
        values = [table.values(name)[place] for name in table.datasets if not np.isnan(table.values(name)[place])]
        mean = averages[system].unweighted.value
        found = mean if mean is not None else float(np.mean(values)) if values else np.nan
        own[system] = np.nan_to_num(found if table.lower else -found, nan=np.inf)
    return tuple(sorted(table.systems, key=lambda system: (own[system], system)))


def _titles(table: Grid) -> dict[str, str]:
    """What systems call themselves, where they do so in one way."""
    said: dict[str, set[str]] = {}
    for row in table.cells.values():
        for system, cell in row.items():
            said.setdefault(system, set()).update([cell.entry.title] if cell.entry.title else [])
    return {system: next(iter(titles)) for system, titles in sorted(said.items()) if len(titles) == 1}


def _ranks(table: Grid, terms: Terms) -> Ranks | None:
    """Mean ranks; None for one dataset, which ranks nobody twice."""
    if len(table.common) < 2:
        return None
    values = np.stack([table.values(name) for name in table.common])
    ranked = ranks(-values if table.lower else values)
    own = ranked.mean(axis=0).tolist()
    difference = critical_difference(len(own), len(table.common), 1 - terms.level)
    tested = friedman(ranked)
    order = sorted(zip(table.systems, own, strict=True), key=lambda item: (item[1], item[0]))
    return Ranks(
        means=dict(order),
        datasets=len(table.common),
        statistic=tested.statistic,
        p=tested.p,
        difference=difference,
        groups=tuple(tuple(table.systems[place] for place in group) for group in groups(own, difference)),
    )


def _notes(
    table: Grid, datasets: Sequence[DatasetScores], seen: Sequence[MentionsBySystem], terms: Terms
) -> Iterable[str]:
    """What a reader should know before trusting the numbers."""
    corpora = {name: table.corpus(name) for name in table.common}
    yield from shared_texts({name: texts_of(corpus) for name, corpus in corpora.items() if corpus is not None})
    yield from too_few_throws(datasets, terms)
    yield from too_few_documents(datasets, terms)
    flat = sorted(name for name, row in table.additives.items() if None in row.values())
    if flat:
        yield f"{table.measure} does not follow from sums over documents on {', '.join(flat)}: no intervals and tests"
    without = [name for name in table.common if name not in {each.dataset for each in seen}]
    if without:
        yield f"without single mentions (results, or a task that has none): {', '.join(without)}"
    differing = {each.dataset: each.differing for each in seen if each.differing}
    if differing:
        said = ", ".join(f"{count} of {name}" for name, count in differing.items())
        yield f"mentions that count for some systems only, and are not compared one by one: {said}"
    said_by: dict[str, list[str]] = {}
    for row in table.cells.values():
        for system, cell in row.items():
            own = [chosen_note(system, cell.entry.dataset)] if cell.result.chosen else []
            for note in dict.fromkeys([*cell.result.notes, *own]):
                said_by.setdefault(note, []).append(f"{system} on {cell.entry.dataset}")
    yield from _variants(table)
    yield from _made_from(table)
    for note, who in said_by.items():
        more = f" and {len(who) - 1} more" if len(who) > 1 else ""
        yield f"{who[0]}{more}: {note}"


def _variants(table: Grid) -> Iterable[str]:
    """Systems of which several variants are compared, `SYSTEM@VARIANT`: the best of them is chosen by these scores."""
    variants: dict[str, list[str]] = {}
    for system in table.systems:
        name, at, variant = system.partition("@")
        if name and at:
            variants.setdefault(name, []).append(variant)
    for name, own in variants.items():
        if len(own) > 1:
            said = f"{name} has {len(own)} variants here ({', '.join(own)})"
            yield f"{said}: who reports the best of them reports an oracle"


def _made_from(table: Grid) -> Iterable[str]:
    """What the training cards in manifests say differently: then not only methods are compared."""
    cards: dict[str, dict[str, str]] = {}
    for row in table.cells.values():
        for system, cell in row.items():
            cards.setdefault(system, {}).update(card_of(cell.result.about_run))
    for about in dict.fromkeys(about for card in cards.values() for about in card):
        said: dict[str, list[str]] = {}
        for system in table.systems:
            said.setdefault(cards.get(system, {}).get(about, "not stated"), []).append(system)
        if len(said) > 1:
            differing = "; ".join(f"{', '.join(who)}: {it}" for it, who in said.items())
            yield f"systems differ in their training ({about}): {differing}"
