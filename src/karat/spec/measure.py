"""What a file in `karat.measures` holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, Literal, NamedTuple, Protocol

import msgspec

from karat.model.result import Scored
from karat.model.statistics import Statistics
from karat.model.tables.columns import Bools, Floats
from karat.spec.choices.empty import Empty
from karat.stats.ranking import Ranking


class Lookup(Protocol):
    """What a derived measure may look at: other measures of its view, and totals."""

    def score(self, short: str) -> Scored:
        """Another measure of the same view, such as `macro.p`."""

    def per_document(self, short: str) -> Floats:
        """The values that a macro measure averages, NaN where it is not defined."""

    def total(self) -> Statistics:
        """The statistics of the view, summed over documents."""

    def detection(self) -> Statistics:
        """The same for detection: the mentions of the view with a link, found by any answer at their place."""


class Moments(NamedTuple):
    """The mean of a measure over documents and its standard deviation, one entry per sample of documents."""

    mean: Floats
    deviation: Floats


UNDEFINED: Final[Mapping[str, Callable[[Statistics], Bools]]] = {
    "there are no answers": lambda s: s.answers == 0,
    "there are no gold mentions": lambda s: s.gold == 0,
    "there are neither gold mentions nor answers": lambda s: (s.gold == 0) & (s.answers == 0),
    "nothing could go wrong": lambda s: s.gold == 0,
}
"""When measures of statistics have no value, in words and as a test: contract tests hold the one against the other."""


class Measure(msgspec.Struct, frozen=True):
    """A number made from what a view counts, in one of four ways.

    `values`: one value for each row of statistics, NaN where undefined, from which Karat makes micro (of the sum),
    macro (the mean over documents where defined), intervals and tests. `derive`: from other measures of the view.
    `ranked`: one value for each document from its ranked answers, down to a cut-off, averaged by macro. `scored`: from
    the scores of all answers and how right each is. `undefined` says when there is no value, unless a rule for empty
    sides gives one; other words than those of `UNDEFINED` need a test of their own, `undefined_where`.
    A derived measure has intervals if it says how it follows from sums: `of_means` makes it from the `Moments` of those
    in `means`, sample by sample. What is a `share` says of what, from the statistics of the view and of detection.
    A measure `of_gold` does not look at unmatched answers; one of `spread` says how far scores lie apart. That, and
    what is `on_request`, is computed where it is asked for. Of some measures `lower` values are better.
    """

    title: str
    formula: str
    undefined: str
    aggregates: tuple[str, ...]
    values: Callable[[Statistics, Empty], Floats] | None = None
    derive: Callable[[Lookup], Scored] | None = None
    means: tuple[str, ...] = ()
    of_means: Callable[..., Floats] | None = None
    share: Callable[[Statistics, Statistics], tuple[Floats, Floats]] | None = None
    ranked: Callable[[Ranking, int | None], Floats] | None = None
    scored: Callable[[Floats, Floats], float | None] | None = None
    cutoff: Literal["none", "optional", "required"] = "none"
    needs_detection: bool = False
    of_gold: bool = False
    spread: bool = False
    on_request: bool = False
    undefined_where: Callable[[Statistics], Bools] | None = None
    lower: bool = False
    note: str = ""

    @property
    def usual(self) -> bool:
        """Whether every view has it, asked for or not."""
        return self.ranked is None and self.scored is None and not self.spread and not self.on_request
