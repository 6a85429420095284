"""From statistics to scores."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from karat.errors import UnknownNameError
from karat.model.columns import Floats
from karat.model.name import MeasureName
from karat.model.result import Scored
from karat.model.statistics import Statistics
from karat.registry import get, names
from karat.spec.empty import Empty, EmptyRule
from karat.spec.measure import Measure


@dataclass(frozen=True)
class View:
    """The statistics of a view and all that its measures may look at.

    `part` says that the view shows only a part of the data, so that empty documents say nothing.
    """

    statistics: Statistics
    empty: EmptyRule
    part: bool
    found: Statistics | None = None
    known: dict[str, Scored] = field(default_factory=dict)

    def score(self, short: str) -> Scored:
        """A measure of this view, such as `macro.p`."""
        if short not in self.known:
            self.known[short] = self._score(short)
        return self.known[short]

    def _score(self, short: str) -> Scored:
        aggregate, _, name = short.rpartition(".")
        measure = get("measures", name, Measure)
        if (aggregate and aggregate not in measure.aggregates) or (not aggregate and measure.aggregates):
            raise UnknownNameError("measure", short, short_names())
        if measure.derive is not None:
            return measure.derive(self)
        assert measure.values is not None
        if aggregate == "micro":
            value = float(measure.values(self.total(), self.empty.totals)[0])
            return Scored(None, 0, measure.undefined) if math.isnan(value) else Scored(value, len(self.statistics))
        per_document = measure.values(self.statistics, self._empty_documents)
        return _mean(per_document, f"in every document {measure.undefined}")

    @property
    def _empty_documents(self) -> Empty:
        return self.empty.parts if self.part else self.empty.documents

    def total(self) -> Statistics:
        """The statistics summed over documents."""
        return self.statistics.total()

    def detection(self) -> Statistics:
        """The summed statistics of detection."""
        assert self.found is not None, "evaluate computes detection for the measures that need it"
        return self.found.total()


def _mean(values: Floats, reason: str) -> Scored:
    """The mean where defined; summed exactly, so that the order of documents does not show in the last digit."""
    defined = values[~np.isnan(values)]
    if not len(defined):
        return Scored(None, 0, reason)
    return Scored(math.fsum(defined.tolist()) / len(defined), len(defined))


def short_names(*, detection: bool = True) -> list[str]:
    """All measures a view has, without its name."""
    found = []
    for name in names("measures"):
        measure = get("measures", name, Measure)
        if detection or not measure.needs_detection:
            found += [f"{aggregate}.{name}" for aggregate in measure.aggregates] or [name]
    return found


def scored(view: View, shorts: list[str]) -> dict[str, Scored]:
    """The measures of a view by their short names."""
    return {short: view.score(short) for short in shorts}


def needs_detection(name: MeasureName) -> bool:
    """Whether a measure looks at detection as well; also says whether it exists."""
    if name.short not in short_names():
        raise UnknownNameError("measure", name.short, short_names())
    return get("measures", name.measure, Measure).needs_detection
