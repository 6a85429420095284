"""From statistics to scores."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache, cached_property

import numpy as np

from karat.errors import InputError, KaratError, UnknownNameError
from karat.model.columns import Bools, Floats
from karat.model.name import MeasureName, parse_measure
from karat.model.result import Scored
from karat.model.statistics import Statistics
from karat.registry import get, names
from karat.spec.empty import Empty, EmptyRule
from karat.spec.measure import Measure
from karat.stats.bootstrap import Interval, interval, resampled_means, resampled_totals
from karat.stats.ranking import Ranking


@dataclass(frozen=True)
class View:
    """The statistics of a view and all that its measures may look at.

    `part` says that the view shows only a part of the data, so that empty documents say nothing, and `whole` that it
    cannot be divided into documents. `macro` marks the documents over which macro scores are taken, None for all.
    `present` says that there were cases before a threshold, and `by_gold` that groups put wrong links where the mention
    belongs. `ranking` and `scored` make what some measures ask for.
    """

    statistics: Statistics
    empty: EmptyRule
    part: bool
    found: Statistics | None = None
    per_item: bool = False
    whole: bool = False
    macro: Bools | None = None
    present: bool = False
    by_gold: bool = False
    ranking: Callable[[], Ranking] | None = None
    scored: Callable[[], tuple[Floats, Floats]] | None = None
    known: dict[str, Scored] = field(default_factory=dict)
    draws: dict[tuple[int, int], Floats] = field(default_factory=dict)

    def score(self, short: str) -> Scored:
        """A measure of this view, such as `macro.p`."""
        if short not in self.known:
            self.known[short] = self._score(parse_measure(f"view:{short}"))
        return self.known[short]

    def _score(self, name: MeasureName) -> Scored:
        measure = measure_of(name)
        if measure.derive is not None:
            return measure.derive(self)
        if measure.scored is not None:
            return self._of_scores(measure.scored, measure.undefined)
        if self.absent:
            return Scored(None, 0, measure.undefined)
        if name.aggregate == "micro":
            assert measure.values is not None
            value = float(measure.values(self.total(), self._rule.totals)[0])
            return Scored(None, 0, measure.undefined) if math.isnan(value) else Scored(value, len(self.statistics))
        if self.whole:
            return Scored(None, 0, "clusters reach across documents")
        return mean(self.per_document(name.short), f"in every document {measure.undefined}")

    def per_document(self, short: str) -> Floats:
        """The values that a macro measure averages, NaN where it is not defined."""
        name = parse_measure(f"view:{short}")
        measure = measure_of(name)
        if measure.ranked is not None:
            if self.ranking is None:
                raise KaratError(f"{short} looks at the ranked entities of documents. Ask for entity:{short}.")
            values = measure.ranked(self.ranking(), name.cutoff)
        else:
            assert measure.values is not None
            values = measure.values(self.statistics, self._rule.documents)
        return values if self.macro is None else np.where(self.macro, values, np.nan)

    def at_totals(self, short: str) -> Floats:
        """A micro measure for each row of statistics, taken as a total; NaN where it is not defined."""
        measure = measure_of(parse_measure(f"view:{short}"))
        assert measure.values is not None, "only measures of statistics have a value for each total"
        return measure.values(self.statistics, self._rule.totals)

    def _of_scores(self, compute: Callable[[Floats, Floats], float | None], reason: str) -> Scored:
        if self.scored is None:
            return Scored(None, 0, reason)
        scores, right = self.scored()
        try:
            value = compute(scores, right)
        except InputError as problem:
            return Scored(None, 0, f"{problem.found} where {problem.expected} is needed")
        return Scored(None, 0, reason) if value is None else Scored(value, len(scores))

    def interval(self, short: str, resamples: int, seed: int) -> Interval | None:
        """Between what a score lies in most samples of as many documents; None where it does not add up."""
        name = parse_measure(f"view:{short}")
        measure = measure_of(name)
        if self.whole or self.absent or measure.derive is not None or measure.scored is not None:
            return None
        if name.aggregate == "micro":
            drawn = replace(self, statistics=Statistics(self._drawn(resamples, seed)), known={})
            return interval(drawn.at_totals(short))
        return interval(resampled_means(self.per_document(short), resamples, seed))

    def _drawn(self, resamples: int, seed: int) -> Floats:
        if (resamples, seed) not in self.draws:
            self.draws[resamples, seed] = resampled_totals(self.statistics.weights, resamples, seed)
        return self.draws[resamples, seed]

    @property
    def absent(self) -> bool:
        """Whether the view shows a part of the data in which there is nothing, and the rule leaves it out then.

        What a threshold took away was there.
        """
        if not self.part or self.empty.part_totals.both.p is not None:
            return False
        return not (self.present or self.statistics.weights.any())

    @cached_property
    def _rule(self) -> _Rule:
        rule = self.empty
        documents, totals = (rule.part_documents, rule.part_totals) if self.part else (rule.documents, rule.totals)
        if self.part and self.present:  # a threshold emptied it: then it is empty like any document
            totals = rule.part_documents
        if self.per_item:  # a mean over no items is no number
            undefined = rule.part_totals.both._replace(p=None, r=None, f1=None)
            documents, totals = documents._replace(both=undefined), totals._replace(both=undefined)
        return _Rule(documents, totals)

    def total(self) -> Statistics:
        """The statistics summed over documents."""
        return self.statistics.total()

    def detection(self) -> Statistics:
        """The summed statistics of detection."""
        assert self.found is not None, "evaluate computes detection for the measures that need it"
        return self.found.total()


@dataclass(frozen=True, slots=True)
class _Rule:
    documents: Empty
    totals: Empty


def mean(values: Floats, reason: str) -> Scored:
    """The mean where defined; summed exactly, so that the order of documents does not show in the last digit."""
    defined = values[~np.isnan(values)]
    if not len(defined):
        return Scored(None, 0, reason)
    return Scored(math.fsum(defined.tolist()) / len(defined), len(defined))


@cache
def measure_of(name: MeasureName) -> Measure:
    """The measure that a name asks for, if there is one with this aggregate and cut-off."""
    plugin = f"{name.measure}-at" if name.cutoff and f"{name.measure}-at" in names("measures") else name.measure
    if plugin in names("measures"):
        measure = get("measures", plugin, Measure)
        aggregates = measure.aggregates or (None,)
        cutoffs = {"none": not name.cutoff, "optional": True, "required": bool(name.cutoff)}
        if name.aggregate in aggregates and cutoffs[measure.cutoff]:
            return measure
    raise UnknownNameError("measure", name.short, every_short())


def every_short() -> list[str]:
    """All measures there are, without the name of a view."""
    found = []
    for name in names("measures"):
        measure = get("measures", name, Measure)
        shown = f"{name.removesuffix('-at')}@5" if measure.cutoff == "required" else name
        found += [f"{aggregate}.{shown}" for aggregate in measure.aggregates] or [shown]
    return found


@cache
def short_names(*, detection: bool = True) -> tuple[str, ...]:
    """All measures that every view has, without its name."""
    found = []
    for name in names("measures"):
        measure = get("measures", name, Measure)
        if measure.usual and (detection or not measure.needs_detection):
            found += [f"{aggregate}.{name}" for aggregate in measure.aggregates] or [name]
    return tuple(found)


def scored(view: View, shorts: list[str]) -> dict[str, Scored]:
    """The measures of a view by their short names."""
    return {short: view.score(short) for short in shorts}


def needs_detection(name: MeasureName) -> bool:
    """Whether a measure looks at detection as well; also says whether it exists."""
    return measure_of(name).needs_detection
