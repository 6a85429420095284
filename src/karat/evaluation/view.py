"""A view and its measures: from statistics to scores."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import replace

from karat.errors import InputError, KaratError
from karat.evaluation.measures import short_measure
from karat.model.name import MeasureName
from karat.model.result import Scored
from karat.model.statistics import Statistics, exact_sum, ratio
from karat.model.tables.columns import Bools, Floats, Longs
from karat.spec.choices.empty import Empty, EmptyRule
from karat.spec.measure import Measure, Moments
from karat.stats.ranking import Ranking
from karat.stats.samples.additive import Additive, mean_of
from karat.stats.samples.bootstrap import Distinct, distinct


class Shape(msgspec.Struct, frozen=True):
    """How a view is to be read, whatever it counts.

    `part` says that it shows only a part of the data, so that empty documents say nothing; `per_item` that its scores
    are means over items; `by_gold` that groups put wrong links where the mention belongs.
    """

    empty: EmptyRule
    part: bool = False
    per_item: bool = False
    by_gold: bool = False

    def view(self, statistics: Statistics, **more: Any) -> View:  # noqa: ANN401  # the other fields of a view
        """The view that counts this."""
        return View(self, statistics, **more)


class View(msgspec.Struct, frozen=True, dict=True):
    """The statistics of a view and all that its measures may look at.

    `unknown` says why nobody counted it, and `whole` that it cannot be divided into documents. `macro` marks the
    documents over which macro scores are taken, None for all. `found` are the statistics of detection. `present` says
    that there were cases before a threshold. `ranking` and `scored` make what some measures ask for. For intervals,
    `silent` counts further documents in which there is nothing to count, `cases` makes the weights of single cases,
    `scored_in` says in which document each scored answer is, `again` counts some of the documents anew where they
    cannot be divided, and `order` sorts documents by their ids.
    """

    shape: Shape
    statistics: Statistics
    found: Statistics | None = None
    unknown: str | None = None
    whole: bool = False
    macro: Bools | None = None
    present: bool = False
    ranking: Callable[[], Ranking] | None = None
    scored: Callable[[], tuple[Floats, Floats]] | None = None
    known: dict[str, Scored] = msgspec.field(default_factory=dict)
    silent: int = 0
    cases: Callable[[], Floats] | None = None
    scored_in: Callable[[], Longs] | None = None
    again: Callable[[Bools], Statistics] | None = None
    order: Callable[[], Longs] | None = None

    def counting(self, statistics: Statistics, macro: Bools | None = None) -> View:
        """The same view of other documents, of which `macro` marks those that macro scores are taken over."""
        return replace(self, statistics=statistics, macro=macro, known={})

    def cases_of(self, weights: Floats, *, silent: int = 0, known: dict[str, Scored] | None = None) -> View:
        """A part of the cases, such as those with one value of a label: what each document that has some adds.

        `silent` counts the documents that have none, and `known` are scores that have been computed already.
        """
        return View(self._part, Statistics(weights), silent=silent, known={} if known is None else known)

    @cached_property
    def _part(self) -> Shape:
        return replace(self.shape, part=True)

    def of_documents(self, keep: Bools | slice) -> View:
        """The same view of some documents, as if there were no others."""
        found = None if self.found is None else Statistics(self.found.weights[keep])
        macro = None if self.macro is None else self.macro[keep]
        return self.shape.view(Statistics(self.statistics.weights[keep]), found=found, macro=macro)

    def documents_apart(self) -> View:
        """Each document as a total of its own, for which the rule about documents holds, not that about totals."""
        rule = self.shape.empty
        alone = rule._replace(totals=rule.documents, part_totals=rule.part_documents)
        return replace(self.shape, empty=alone).view(self.statistics)

    def score(self, short: str) -> Scored:
        """A measure of this view, such as `macro.p`."""
        if short not in self.known:
            self.known[short] = self._score(*short_measure(short))
        return self.known[short]

    def scores(self, shorts: Iterable[str]) -> dict[str, Scored]:
        """Several measures by their short names."""
        return {short: self.score(short) for short in shorts}

    def _score(self, name: MeasureName, measure: Measure) -> Scored:
        if self.unknown is not None:
            return Scored(None, 0, self.unknown)
        if measure.derive is not None:
            return measure.derive(self)
        if measure.scored is not None:
            return self._of_scores(measure.scored, measure.undefined)
        if self.absent:
            return Scored(None, 0, measure.undefined)
        if name.aggregate == "micro":
            assert measure.values is not None
            value = float(measure.values(self.total(), self._rule.totals)[0])
            return scored_total(value, measure, len(self.statistics))
        if self.whole:
            return Scored(None, 0, "clusters reach across documents")
        return mean(self.per_document(name.short), f"in every document {measure.undefined}")

    def per_document(self, short: str) -> Floats:
        """The values that a macro measure averages, NaN where it is not defined."""
        name, measure = short_measure(short)
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
        _, measure = short_measure(short)
        assert measure.values is not None, "only measures of statistics have a value for each total"
        values = measure.values(self.statistics, self._rule.totals)
        return np.where(self.statistics.weights.any(axis=1), values, np.nan) if self._leaves_out_empty else values

    def _of_scores(self, compute: Callable[[Floats, Floats], float | None], reason: str) -> Scored:
        if self.scored is None:
            return Scored(None, 0, reason)
        scores, right = self.scored()
        try:
            value = compute(scores, right)
        except InputError as problem:
            return Scored(None, 0, f"{problem.found} where {problem.expected} is needed")
        return Scored(None, 0, reason) if value is None else Scored(value, len(scores))

    def additive(self, short: str) -> Additive | None:
        """A measure as a function of sums over documents; None where it is none."""
        name, measure = short_measure(short)
        if self.whole or self.absent or measure.scored is not None:
            return None
        if measure.ranked is not None:
            return mean_of(self.per_document(short))
        if measure.of_means is not None:
            return self._of_means(measure.means, measure.of_means)
        if measure.derive is not None:
            return None if measure.share is None else self._of_shares(measure.share)
        if name.aggregate == "micro":
            return self._folded(self._at(measure), lambda rows: rows[:, :4])
        return self._folded(lambda sums: ratio(sums[:, 0], sums[:, 1]), self._values_and_number(short))

    def additive_of_cases(self, short: str) -> Additive | None:
        """A measure as a function of sums over single cases; None where it is none."""
        name, measure = short_measure(short)
        if self.whole or self.absent or name.aggregate == "macro":
            return None
        if measure.values is not None and self.cases is not None:
            return Additive(self.cases(), self._at(measure))
        if measure.share is None or (part_and_whole := self.part_of(short)) is None:
            return None
        part, whole = map(round, part_and_whole)
        rows = np.repeat([[1.0, 1.0], [0.0, 1.0]], [part, whole - part], axis=0)
        return Additive(rows, lambda sums: ratio(sums[:, 0], sums[:, 1]))

    def part_of(self, short: str) -> tuple[float, float] | None:
        """How many of how many a measure is the share of; None where it is no share of whole cases."""
        name, measure = short_measure(short)
        share = measure.share
        if share is None or name.aggregate == "macro" or self.whole or self.absent:
            return None
        links = self.total()
        part, whole = (float(count[0]) for count in share(links, links if self.found is None else self.detection()))
        return (part, whole) if part.is_integer() and whole.is_integer() and part <= whole else None

    def without(self, short: str, keep: Bools) -> float:
        """A measure that does not add up, computed anew for some of the documents; NaN where it is not defined."""
        _, measure = short_measure(short)
        if measure.scored is not None and self.scored is not None and self.scored_in is not None:
            (scores, right), document = self._scored_answers
            value = measure.scored(scores[keep[document]], right[keep[document]])
        elif self.again is not None:
            value = self.counting(self.again(keep)).score(short).value
        else:
            value = None
        return math.nan if value is None else value

    @cached_property
    def _scored_answers(self) -> tuple[tuple[Floats, Floats], Longs]:
        assert self.scored is not None
        assert self.scored_in is not None
        return self.scored(), self.scored_in()

    @cached_property
    def _base(self) -> Floats:
        """All that the measures of a document are made from."""
        weights = self.statistics.weights
        return weights if self.macro is None else np.column_stack([weights, self.macro])

    @cached_property
    def _merged(self) -> Distinct:
        return distinct(self._base)

    def _folded(self, of: Callable[[Floats], Floats], adds: Callable[[Floats], Floats]) -> Additive:
        """A score of this view; all of them share the draws."""
        return Additive(self._base, of, adds, self.silent, self._merged)

    def _at(self, measure: Measure) -> Callable[[Floats], Floats]:
        """A measure for each row of sums."""
        values, rule = measure.values, self._rule.totals
        assert values is not None
        return lambda sums: values(Statistics(sums), rule)

    def _values_and_number(self, short: str, centre: float | None = None) -> Callable[[Floats], Floats]:
        """What a document adds to the mean of a measure: its value and 1, or nothing where it has none.

        With a centre, values are taken from there on, and their squares too.
        """
        _, measure = short_measure(short)
        compute, rule = measure.values, self._rule.documents
        assert compute is not None

        def adds(rows: Floats) -> Floats:
            values = compute(Statistics(rows[:, :4]), rule)
            defined = ~np.isnan(values) if self.macro is None else ~np.isnan(values) & (rows[:, 4] > 0)
            away = np.where(defined, values - (centre or 0.0), 0.0)
            return np.column_stack([away, defined] if centre is None else [away, defined, away**2])

        return adds

    def _of_means(self, means: Sequence[str], how: Callable[..., Floats]) -> Additive:
        """A measure made from the means of others."""
        centres = [self.score(short).value or 0.0 for short in means]
        parts = [self._values_and_number(short, centre) for short, centre in zip(means, centres, strict=True)]

        def of(sums: Floats) -> Floats:
            found = []
            for centre, (away, number, squares) in zip(centres, sums.T.reshape(-1, 3, len(sums)), strict=True):
                mean_away = ratio(away, number)
                spread = np.sqrt(np.maximum(ratio(squares, number) - mean_away**2, 0.0))
                found.append(Moments(centre + mean_away, spread))
            return how(*found)

        return self._folded(of, lambda rows: np.hstack([adds(rows) for adds in parts]))

    def _of_shares(self, share: Callable[[Statistics, Statistics], tuple[Floats, Floats]]) -> Additive:
        """A share of what two views count: both are drawn side by side."""
        assert self.found is not None, "evaluate computes detection for the measures that need it"
        part, whole = share(self.statistics, self.found)
        return Additive(np.column_stack([part, whole]), lambda sums: ratio(sums[:, 0], sums[:, 1]), silent=self.silent)

    @property
    def absent(self) -> bool:
        """Whether the view shows a part of the data in which there is nothing, and the rule leaves it out then.

        What a threshold took away was there.
        """
        return self._leaves_out_empty and not self.statistics.weights.any()

    @property
    def _leaves_out_empty(self) -> bool:
        return self.shape.part and not self.present and self.shape.empty.part_totals.both.p is None

    @cached_property
    def _rule(self) -> _Rule:
        rule, part = self.shape.empty, self.shape.part
        documents, totals = (rule.part_documents, rule.part_totals) if part else (rule.documents, rule.totals)
        if part and self.present:  # a threshold emptied it: then it is empty like any document
            totals = rule.part_documents
        if self.shape.per_item:  # a mean over no items is no number
            undefined = rule.part_totals.both._replace(p=None, r=None, f1=None)
            documents, totals = documents._replace(both=undefined), totals._replace(both=undefined)
        return _Rule(documents, totals)

    def total(self) -> Statistics:
        """The statistics summed over documents."""
        return self._total

    @cached_property
    def _total(self) -> Statistics:
        return self.statistics.total()

    def detection(self) -> Statistics:
        """The summed statistics of detection."""
        assert self.found is not None, "evaluate computes detection for the measures that need it"
        return self.found.total()


class _Rule(msgspec.Struct, frozen=True):
    documents: Empty
    totals: Empty


def scored_total(value: float, measure: Measure, documents: int) -> Scored:
    """A measure of the sums over so many documents, NaN where it is not defined."""
    return Scored(None, 0, measure.undefined) if math.isnan(value) else Scored(value, documents)


def mean(values: Floats, reason: str) -> Scored:
    """The mean where defined; summed exactly, so that the order of documents does not show in the last digit."""
    defined = values[~np.isnan(values)]
    if not len(defined):
        return Scored(None, 0, reason)
    return Scored(exact_sum(defined) / len(defined), len(defined))
