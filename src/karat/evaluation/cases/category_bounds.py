"""Bounds of error categories from cases that cannot be decided for lack of facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from karat.evaluation.cases.errors import categories, evaluate_avoided, evaluate_error
from karat.model.results.cases import CaseArrays
from karat.model.spec.settings.conventions import Categories
from karat.model.tables.columns import Bools
from karat.model.truth import NO, YES, Truth, any_of


@dataclass(frozen=True, slots=True)
class CategoryBounds:
    """The smallest and largest numbers of errors and avoided errors of a category that the known facts allow."""

    min_errors: int
    """Cases that surely are errors of the category."""
    max_errors: int
    """These, and the errors that may belong to the category."""
    min_avoided: int
    """Cases that surely avoided such an error."""
    max_avoided: int
    """These, and the correct cases that may belong to the category."""

    @property
    def min_total(self) -> int:
        """The smallest number of cases in which there could have been an error."""
        return self.min_errors + self.min_avoided

    @property
    def max_total(self) -> int:
        """The largest number of cases in which there could have been an error."""
        return self.max_errors + self.max_avoided

    @property
    def rates(self) -> tuple[float, float] | None:
        """The smallest and the largest error rate, of all choices with at least one case; None if there is no case.

        The rate is smallest if undecided correct cases belong to the category and undecided errors do not.
        """
        if not self.max_total:
            return None
        low, high = self.min_errors + self.max_avoided, self.max_errors + self.min_avoided
        return (self.min_errors / low if low else 1.0), (self.max_errors / high if high else 0.0)


def bound_categories(cases: CaseArrays, rule: Categories) -> dict[str, CategoryBounds]:
    """Return the bounds of each ranked category whose errors and avoided errors exclude those of later ones.

    `rule` is the setting `categories`. A case surely belongs to a category if the category holds and all earlier ones
    do not; it may belong if the category may hold and no earlier one surely does. Under the rule `all`, earlier
    categories matter only for the last one, which covers the remaining cases.
    """
    groups: dict[str, list[str]] = {}
    for name, category in categories().items():  # ordered by rank within each group
        if category.exclusive_among == "both" and category.is_avoided is not None:
            groups.setdefault(category.group, []).append(name)
    return {name: bounds for names in groups.values() for name, bounds in _bound_group(names, cases, rule).items()}


def _bound_group(names: Sequence[str], cases: CaseArrays, rule: Categories) -> dict[str, CategoryBounds]:
    """Return the bounds of the ranked categories `names`, in the order given."""
    members = categories()
    errors = _bound_conditions({name: evaluate_error(members[name], cases, rule) for name in names}, rule)
    avoided = _bound_conditions({name: evaluate_avoided(members[name], cases) for name in names}, rule)

    def count(mask: Bools) -> int:
        return int((mask & cases.is_counted).sum())

    return {name: CategoryBounds(*map(count, errors[name]), *map(count, avoided[name])) for name in names}


def _bound_conditions(conditions: Mapping[str, Truth], rule: Categories) -> dict[str, tuple[Bools, Bools]]:
    """Return by condition, in the order given, where it surely counts, and where it may count."""
    bounds: dict[str, tuple[Bools, Bools]] = {}
    earlier: Truth | None = None
    last = list(conditions)[-1]
    for name, condition in conditions.items():
        if earlier is None or (rule is Categories.ALL and name != last):
            bounds[name] = condition == YES, condition != NO
        else:
            bounds[name] = (condition == YES) & (earlier == NO), (condition != NO) & (earlier != YES)
        earlier = condition if earlier is None else any_of(earlier, condition)
    return bounds
