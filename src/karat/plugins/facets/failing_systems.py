"""Failing systems."""

from karat.model.spec.facet import Facet
from karat.model.tables.columns import Bools
from karat.model.tables.facet_values import FacetValues, single_values


def count_failing_systems(correct: Bools) -> FacetValues:
    """Return for each mention how many systems fail on it, as in `2 of 7`; `correct` has one row per system."""
    n_systems = len(correct)
    width = len(str(n_systems))  # so that the values are sorted by number
    names = [f"{failing:0{width}} of {n_systems}" for failing in range(n_systems + 1)]
    return single_values((~correct).sum(axis=0), names)


FACET = Facet(
    title="Failing systems",
    description="How many of the compared systems fail on a mention, as in `2 of 7`; only in comparisons.",
    from_outcomes=count_failing_systems,
    example="A mention that two of seven systems miss or link wrongly is in the group `2 of 7`.",
)
