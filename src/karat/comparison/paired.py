"""Two systems on the same documents: how far apart their scores are, and whether that is more than chance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from karat.errors import UnknownNameError, UsageError
from karat.evaluation.view import View, measure_of
from karat.model.name import MeasureName, parse_measure
from karat.model.result import Result
from karat.model.statistics import Statistics
from karat.registry import get, names
from karat.spec.empty import EMPTY
from karat.spec.relation import Relation
from karat.stats.samples.additive import Additive, difference, standard_error
from karat.stats.samples.bootstrap import Interval
from karat.stats.samples.documents import same_documents
from karat.stats.samples.intervals import RESAMPLES, Method, intervals
from karat.stats.tests.paired import TRIALS, Swap, Tested, effect_size, permutation_test
from karat.stats.tests.power import detectable


class Paired(NamedTuple):
    """The first system's score less the second's, with all that says what it is worth.

    `effect` is Cohen's d_z. `detectable` is the difference that a test on these documents would find with the power
    asked for: what lies below it, the benchmark cannot be relied on to separate.
    """

    tested: Tested
    interval: Interval | None
    effect: float | None
    detectable: float | None


def paired(
    one: Result,
    two: Result,
    measure: str,
    *,
    resamples: int = RESAMPLES,
    trials: int = TRIALS,
    level: float = 0.95,
    power: float = 0.8,
    method: Method = "percentile",
    swap: Swap = "systems",
    seed: int = 0,
) -> Paired:
    """Compare a measure of two results; documents are paired by their ids, in whatever order they come."""
    first, second = side_by_side([one, two], measure)
    both = difference(first, second)
    error = standard_error(both, resamples, seed)
    return Paired(
        permutation_test(first, second, swap=swap, trials=trials, seed=seed),
        intervals([both], resamples=resamples, seed=seed, level=level, method=method)[0],
        effect_size(first, second),
        None if error is None else detectable(error, level=level, power=power),
    )


def side_by_side(results: Sequence[Result], measure: str) -> list[Additive]:
    """A measure of several results as functions of sums over documents, row by row the same documents."""
    orders = same_documents(results)
    data = dict.fromkeys(result.signature["data"] for result in results)
    if len(data) > 1:
        raise UsageError(f"the gold standards differ ({' and '.join(data)}). Score all systems on the same one.")
    return [over_documents(result, measure).in_order(order) for result, order in zip(results, orders, strict=True)]


def over_documents(result: Result, measure: str) -> Additive:
    """A measure of a result as a function of sums over documents."""
    name = parse_measure(result.aliases.get(measure, measure))
    if name.group is not None:
        raise UsageError(f"{measure} picks cases by a label. Compare a view with a filter, such as strong[types=PER].")
    judged = result.evaluation
    view = _from_statistics(result, name) if judged is None else judged.view(str(name.view))
    found: Additive | None = view.additive(name.short)
    if found is None:
        raise UsageError(f"{measure} does not add up over documents. Compare a micro or macro score.")
    return found


def _from_statistics(result: Result, name: MeasureName) -> View:
    """The view of a result that was read from a file, with no more than that holds."""
    if str(name.view) not in result.views:
        raise UnknownNameError("view of this result", str(name.view), result.views)
    measure, table = measure_of(name), result.signature.as_dict()
    by_gold_documents = name.aggregate == "macro" and table.get("macro") == "gold-documents"
    if measure.needs_detection or measure.ranked is not None or by_gold_documents:
        raise UsageError(f"a result file does not hold what {name} is made from. Score the answers again.")
    relation = name.view.relation
    credit = get("relations", relation, Relation).credit if relation in names("relations") else None
    statistics: Statistics = result.views[str(name.view)]
    return View(statistics, EMPTY[table["empty"]], bool(name.view.filters), per_item=credit is not None)
