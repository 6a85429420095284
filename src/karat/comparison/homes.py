"""How much better a system is on the dataset it was made for than elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from karat.comparison.grid import Grid
from karat.comparison.samples import Estimate, Samples, adding, estimate
from karat.comparison.terms import Terms
from karat.errors import UnknownNameError, UsageError
from karat.model.tables.columns import Floats


@dataclass(frozen=True, slots=True)
class Home:
    """A system at home and elsewhere: means over datasets, each of which counts alike.

    `index` is the score at `home` less that `elsewhere`. Some datasets are easier than others for everybody: `beside`
    is the index less the mean of the same difference of the `others`, systems that were not made for these datasets,
    over the datasets that all of them answered; None with the reason where there are none.
    """

    system: str
    home: tuple[str, ...]
    elsewhere: tuple[str, ...]
    at_home: Estimate
    away: Estimate
    index: Estimate
    others: tuple[str, ...]
    beside: Estimate
    reason: str | None = None


def homes(
    grid: Grid, drawn: Mapping[str, Samples], given: Mapping[str, Sequence[str]], terms: Terms
) -> tuple[Home, ...]:
    """The overfitting index of every system whose home is given."""
    for system, datasets in given.items():
        if system not in grid.systems:
            raise UnknownNameError("system", system, grid.systems)
        for name in datasets:
            if name not in grid.cells:
                raise UnknownNameError("dataset", name, grid.cells)
            if np.isnan(grid.values(name)[grid.systems.index(system)]):
                raise UsageError(f"{system} has no score on {name}, which is given as its home. Give its answers.")
    return tuple(_home(grid, drawn, system, sorted(set(given[system])), given, terms) for system in sorted(given))


def _home(
    grid: Grid,
    drawn: Mapping[str, Samples],
    system: str,
    home: Sequence[str],
    given: Mapping[str, Sequence[str]],
    terms: Terms,
) -> Home:
    place = grid.systems.index(system)
    elsewhere = [name for name in grid.datasets if name not in home and not np.isnan(grid.values(name)[place])]
    if not elsewhere:
        raise UsageError(f"{system} has scores at home only ({', '.join(home)}). Give its answers to other datasets.")
    others = tuple(other for other in grid.systems if other != system and not set(home) & set(given.get(other, ())))
    own = _Contrast(grid, drawn, terms, [place])
    beside, reason = Estimate(None), None
    shared = [name for name in grid.common if name not in home]
    if not others:
        reason = "all others were made for the same datasets"
    elif not shared or not set(home) <= set(grid.common):
        reason = "not all systems answered these datasets"
    else:
        places = [place, *(grid.systems.index(other) for other in others)]
        beside = _Contrast(grid, drawn, terms, places).of(home, shared)
    return Home(
        system=system,
        home=tuple(home),
        elsewhere=tuple(elsewhere),
        at_home=own.of(home, []),
        away=own.of(elsewhere, []),
        index=own.of(home, elsewhere),
        others=others,
        beside=beside,
        reason=reason,
    )


@dataclass(frozen=True, eq=False, slots=True)
class _Contrast:
    """The first of some systems, less the mean of the others where there are any."""

    grid: Grid
    drawn: Mapping[str, Samples]
    terms: Terms
    places: Sequence[int]

    def of(self, here: Sequence[str], there: Sequence[str]) -> Estimate:
        """Its mean over some datasets, less that over others where there are any."""
        documents = adding([self.drawn[name] for name in (*here, *there)], self.places)
        own = list(self.places)
        value = self._of(*([self.grid.values(name)[None, own] for name in side] for side in (here, there)))
        sampled = self._of(*([self.drawn[name].of(own) for name in side] for side in (here, there)))
        return estimate(float(value[0]), sampled, documents, self.terms.level)

    def _of(self, here: Sequence[Floats], there: Sequence[Floats]) -> Floats:
        mean: Floats = np.mean(here, axis=0) - (np.mean(there, axis=0) if there else 0.0)
        own: Floats = mean[:, 0]
        return own - mean[:, 1:].mean(axis=1) if len(self.places) > 1 else own
