"""The specification of a measure: the constant `MEASURE` of a file in `karat.plugins.measures`.

A view is a match relation with filters, such as `strong[nil]`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, Literal, NamedTuple, Protocol

import msgspec

from karat.model.results.ranking import Ranking
from karat.model.results.result import Score
from karat.model.results.statistics import Statistics
from karat.model.spec.settings.empty import Empty
from karat.model.tables.columns import Bools, Floats


class MeasureLookup(Protocol):
    """The other measures and totals of a view, from which a derived measure is computed."""

    def score(self, short: str) -> Score:
        """Return the score of another measure of the same view by its short name, such as `macro.p`."""

    def document_values(self, short: str) -> Floats:
        """Return the values that a macro measure averages, one per document, NaN where undefined."""

    def total(self) -> Statistics:
        """Return the statistics of the view, summed over documents: a single row."""

    def detection(self) -> Statistics:
        """Return the statistics of detection, summed over documents: a single row.

        The statistics cover linked gold mentions, which any prediction on the span detects, linked or not.
        """


class Moments(NamedTuple):
    """The mean and standard deviation of a measure over documents, with one entry per resample."""

    mean: Floats
    """The mean over documents."""
    standard_deviation: Floats
    """The standard deviation over documents."""


UNDEFINED_CASES: Final[Mapping[str, Callable[[Statistics], Bools]]] = {
    "there are no predictions": lambda s: s.predictions == 0,
    "there are no gold mentions": lambda s: s.gold == 0,
    "there are neither gold mentions nor predictions": lambda s: (s.gold == 0) & (s.predictions == 0),
    "nothing could go wrong": lambda s: s.gold == 0,
}
"""The cases in which a measure is undefined: description and test. A contract test checks that both agree."""


class Measure(msgspec.Struct, frozen=True):
    """A number computed from a view.

    A measure sets exactly one of `from_statistics`, `from_measures`, `from_ranking` and `from_scores`.
    """

    # Description
    title: str
    """The name in lists and tables."""
    formula: str
    """The definition as a formula."""
    undefined_case: str
    """When the measure is undefined, unless an `empty` rule gives a value; a key of `UNDEFINED_CASES` or free text."""
    aggregates: tuple[str, ...]
    """The aggregates it has, such as `micro` and `macro`."""

    # Computation
    from_statistics: Callable[[Statistics, Empty], Floats] | None = None
    """Compute one value per row of statistics, NaN where undefined.

    Karat derives the micro value (of the sum), the macro value (the mean over documents), intervals and tests.
    """
    from_measures: Callable[[MeasureLookup], Score] | None = None
    """Compute the value from other measures of the view."""
    source_measures: tuple[str, ...] = ()
    """The measures that `from_moments` takes, in order."""
    from_moments: Callable[..., Floats] | None = None
    """Compute the value in each resample from the `Moments` of `source_measures`, for intervals."""
    share_counts: Callable[[Statistics, Statistics], tuple[Floats, Floats]] | None = None
    """Return numerator and denominator from the statistics of the view and of detection, if it is a share."""
    from_ranking: Callable[[Ranking, int | None], Floats] | None = None
    """Compute one value per document from its ranked predictions up to a cut-off."""
    from_scores: Callable[[Floats, Floats], float | None] | None = None
    """Compute the value from the scores of all predictions and the correctness of each."""

    # Properties
    cutoff: Literal["none", "optional", "required"] = "none"
    """Whether the name takes a cut-off, as in `p@5`."""
    needs_detection: bool = False
    """Whether it needs the statistics of detection."""
    is_gold_only: bool = False
    """Whether it ignores unmatched predictions."""
    is_dispersion: bool = False
    """Whether it measures how far scores vary; computed on request only."""
    is_on_request: bool = False
    """Whether it is computed on request only."""
    undefined_mask: Callable[[Statistics], Bools] | None = None
    """Return where the measure is undefined, if `undefined_case` is free text."""
    is_lower_better: bool = False
    """Whether lower values are better."""
    note: str = ""
    """A remark for the explanation."""

    @property
    def is_default(self) -> bool:
        """Whether Karat computes it for every view without request."""
        return (
            self.from_ranking is None and self.from_scores is None and not self.is_dispersion and not self.is_on_request
        )
