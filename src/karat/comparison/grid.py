"""Systems on datasets: every one scored once, in the same way, whatever is then asked of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import msgspec
import numpy as np

from karat.comparison.entries import Entry, left_out
from karat.errors import KaratError, UsageError
from karat.evaluation.evaluation import Evaluation
from karat.evaluation.intervals import seed_of
from karat.evaluation.measures import detection_of, expanded, measure_of
from karat.evaluation.request import Request
from karat.evaluation.stored import stored_view
from karat.model.corpus import Corpus, NamedData
from karat.model.name import MeasureName, parse_measure
from karat.model.result import IdHealth, Result, Scored
from karat.model.signature import Signature
from karat.model.tables.columns import Floats, Longs
from karat.registry import get, names
from karat.signing import profile_named
from karat.spec.grouping import Grouping
from karat.stats.samples.additive import Additive
from karat.stats.samples.documents import same_documents
from karat.work import working

MEASURE = "strong:micro.f1"
"""What is compared unless something else is asked for."""

_MAY_DIFFER = ("data", "match", "profile", "seed", "threshold")
"""A threshold may have been tuned for each system by itself; what else was scored does not matter."""


_NO_ORDER = np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False)
class Cell:
    """A system on a dataset: its result, and the evaluation that made it, unless it was read from a file.

    `order` puts the documents into that of their ids, the same for all systems on the dataset.
    """

    entry: Entry
    order: Longs
    evaluation: Evaluation | None = None

    @property
    def result(self) -> Result:
        """The scores."""
        if self.evaluation is not None:
            return self.evaluation.result
        assert self.entry.result is not None, "an entry is a result, or is evaluated"
        return self.entry.result

    def name(self, measure: str) -> MeasureName:
        """A measure by the name it has here, taken apart."""
        return parse_measure(self.result.aliases.get(measure, measure))

    def score(self, measure: str) -> Scored:
        """A score."""
        return self.result.score(measure)

    def additive(self, measure: str) -> Additive | None:
        """How a score follows from sums over documents in the order of their ids; None where it does not."""
        name = self.name(measure)
        if name.group is not None or str(name.view) not in self.result.views:
            return None
        if self.evaluation is not None:
            view = self.evaluation.views[str(name.view)]
        else:
            view = stored_view(self.result, name.view)
        if measure_of(name).needs_detection and view.found is None:
            return None
        try:
            made = view.additive(name.short)
        except KaratError:  # a measure of something else than sums
            return None
        return None if made is None else made.in_order(self.order)

    @property
    def seconds(self) -> float | None:
        """What the system took."""
        return self.entry.seconds


@dataclass(frozen=True, eq=False)
class Grid:
    """Systems on datasets, both in the order of their names.

    `cells` has for each dataset the systems that answered it, and `labels` are what single mentions are counted by.
    Averages are over the datasets in `common`, on which all
    systems have a score; `left_out` says why not over the others, of which some cannot be compared at all and are not
    among `datasets`.
    """

    measure: str
    systems: tuple[str, ...]
    cells: Mapping[str, Mapping[str, Cell]]
    left_out: Mapping[str, str]
    request: Request
    labels: tuple[str, ...] = ()

    @property
    def datasets(self) -> tuple[str, ...]:
        """All datasets that scores are shown of."""
        return tuple(self.cells)

    @cached_property
    def common(self) -> tuple[str, ...]:
        """The datasets that averages are taken over."""
        return tuple(name for name in self.cells if name not in self.left_out)

    @property
    def results(self) -> list[Result]:
        """All results."""
        return [cell.result for row in self.cells.values() for cell in row.values()]

    @property
    def id_health(self) -> dict[str, IdHealth]:
        """How the ids of each system are written, over all datasets that links were compared on."""
        found: dict[str, IdHealth] = {}
        for row in self.cells.values():
            for system, cell in row.items():
                own = cell.result.id_health
                if own is not None:
                    found[system] = found[system].plus(own) if system in found else own
        return dict(sorted(found.items()))

    @cached_property
    def signature(self) -> Signature:
        """What all evaluations have in common; the data are all datasets."""
        data = ",".join(next(iter(row.values())).entry.data for row in self.cells.values())
        own = self.results[0].signature
        said = {name: sorted({result.signature[name] for result in self.results}) for name, _ in own.parts}
        return Signature(tuple((name, data if name == "data" else ";".join(said[name])) for name, _ in own.parts))

    @property
    def name(self) -> MeasureName:
        """The measure, taken apart."""
        return next(iter(next(iter(self.cells.values())).values())).name(self.measure)

    @property
    def lower(self) -> bool:
        """Whether less of the measure is better."""
        return measure_of(self.name).lower

    def values(self, dataset: str) -> Floats:
        """The score of every system on a dataset; NaN where there is none."""
        row = self.cells[dataset]
        found = [row[system].score(self.measure).value if system in row else None for system in self.systems]
        return np.array([np.nan if value is None else value for value in found])

    @cached_property
    def additives(self) -> Mapping[str, Mapping[str, Additive | None]]:
        """How each score follows from sums over documents."""
        return {
            name: {system: cell.additive(self.measure) for system, cell in row.items()}
            for name, row in self.cells.items()
        }

    def corpus(self, dataset: str) -> Corpus | None:
        """The gold standard of a dataset, where files had it."""
        return next((cell.entry.corpus for cell in self.cells[dataset].values() if cell.entry.corpus), None)

    def seed(self, dataset: str, seed: int) -> int:
        """Where random numbers start for a dataset: the same as where it is scored alone."""
        digest = NamedData.parse(next(iter(self.cells[dataset].values())).entry.data).digest
        return seed_of(seed, digest)

    def under(self, measure: str, request: Request, results: Mapping[str, Mapping[str, Evaluation]]) -> Grid:
        """The same entries under another request, as far as they were evaluated."""
        cells = {
            name: {system: replace(self.cells[name][system], evaluation=own) for system, own in row.items()}
            for name, row in results.items()
        }
        return Grid(measure, self.systems, cells, {}, request)


def grid(entries: Iterable[Entry], request: Request | None, measure: str | None, *, least: int = 2) -> Grid:
    """Score every system on every dataset; files may come in any order.

    Results are taken as they are, and must have been scored alike; without a `request` it is the default profile.
    """
    found: dict[str, dict[str, Entry]] = {}
    for entry in entries:
        row = found.setdefault(entry.dataset, {})
        if entry.system in row:
            raise UsageError(
                f"{entry.system} answers {entry.dataset} twice. Give each system once for each dataset, or rename one."
            )
        row[entry.system] = _light(entry, row)
    systems = tuple(sorted({system for row in found.values() for system in row}))
    if len(systems) < least:
        raise UsageError(f"there is {f'only {systems[0]}' if systems else 'nothing'} to compare. Give two systems.")
    differing = {name for name, row in found.items() if len({entry.data for entry in row.values()}) > 1}
    without = left_out(found, systems, differing)
    given = [entry for row in found.values() for entry in row.values() if entry.result is not None]
    if given and request is not None:
        _check_result(given[0], request)
    asked = request or Request.of()
    measure = expanded(measure or _usual(given[0].result if given else None, asked))[-1]
    asked, labels = _about(asked, measure), asked.given["by"]
    cells = {}
    with working("scoring, datasets", len(found)) as advance:
        for name in sorted(found.keys() - differing):
            cells[name] = _row({system: found[name][system] for system in sorted(found[name])}, asked)
            advance(1)
    if not cells:
        raise UsageError(f"no dataset is the same in all files: {', '.join(sorted(differing))}. Score all on one.")
    _check_alike([cell for row in cells.values() for cell in row.values()])
    return Grid(measure, systems, cells, without | _undefined(cells, measure, without), asked, labels)


def _light(entry: Entry, row: Mapping[str, Entry]) -> Entry:
    """An entry with the gold standard of one before it, where both are the same, so that it is held once."""
    same = next((other.corpus for other in row.values() if other.corpus and other.data == entry.data), None)
    return entry if entry.corpus is None or same is None else msgspec.structs.replace(entry, corpus=same)


def _check_result(entry: Entry, request: Request) -> None:
    given = request.given
    chosen = [name for name in given["choices"] if name != "seed"]  # which is for draws here
    if chosen or given["by"] or given["kb"] is not None or given["like"] != Request.of().profile:
        raise UsageError(
            f"{entry.system} on {entry.dataset} is a result, which is as it was scored. Leave the profile, "
            "choices, labels and knowledge base out, or give gold and answers."
        )


def _usual(result: Result | None, request: Request) -> str:
    """The measure of a profile that is compared unless another is asked for."""
    shown = profile_named(request.profile).measures if result is None else result.shown
    if (result is None and request.task_is_asked) or MEASURE in shown:
        return MEASURE
    usual = next((name for name in shown if ":micro.f1" in name), shown[0] if shown else MEASURE)
    relation = parse_measure(usual).view.relation
    if result is not None and relation.endswith(".py"):  # only what the user names runs, never what a file names
        raise UsageError(f"the results are of {relation!r}, a file that would run. Name the measure if you trust it.")
    return usual


def _about(request: Request, measure: str) -> Request:
    """The request for one measure, of which links are told apart from detection, and for labels of single cases."""
    if "match" in request.given["choices"]:
        raise UsageError("match and measures both choose relations. Give one of the two.")
    by = [name for name in request.given["by"] if _of_cases(name)]
    alone = request.but(measures=[measure], by=by)
    view = alone.wanted[0].view
    if detection_of(view) is None or alone.membership is not None or alone.wanted[0].group is not None:
        return alone
    return alone.but(also=[*alone.given["also"], str(MeasureName(view, "accuracy"))])


def _of_cases(name: str) -> bool:
    """Whether cases have a label, not mentions and answers by themselves."""
    return name in names("labels") and get("labels", name, Grouping).column is not None


def _row(row: Mapping[str, Entry], request: Request) -> dict[str, Cell]:
    """All systems on one dataset, which must have the same documents."""
    evaluations: dict[str, Evaluation] = {}
    first: Evaluation | None = None
    for system, entry in row.items():
        if entry.result is None and entry.corpus is not None and entry.run is not None:
            evaluations[system] = Evaluation.of(request, entry.corpus, entry.run, beside=first)
            first = first or evaluations[system]
    cells = {system: Cell(entry, _NO_ORDER, evaluations.get(system)) for system, entry in row.items()}
    orders = same_documents([cell.result for cell in cells.values()])
    return {system: replace(cell, order=order) for (system, cell), order in zip(cells.items(), orders, strict=True)}


def _check_alike(cells: Sequence[Cell]) -> None:
    """Refuse scores that were made under different conventions."""
    first = cells[0]
    for cell in cells[1:]:
        one, two = first.result.signature.as_dict(), cell.result.signature.as_dict()
        differ = [name for name in {**one, **two} if name not in _MAY_DIFFER and one.get(name) != two.get(name)]
        if differ:
            name = differ[0]
            raise UsageError(
                f"{first.entry.system} on {first.entry.dataset} and {cell.entry.system} on {cell.entry.dataset} were "
                f"scored differently: {name} is {one.get(name)} and {two.get(name)}. Score both in one way."
            )


def _undefined(cells: Mapping[str, Mapping[str, Cell]], measure: str, without: Mapping[str, str]) -> dict[str, str]:
    """Datasets on which some system has no score."""
    found = {}
    for name, row in cells.items():
        scores = {system: cell.score(measure) for system, cell in row.items()}
        lacking = [f"{system}: {score.reason}" for system, score in scores.items() if score.value is None]
        if lacking and name not in without:
            found[name] = f"no score ({'; '.join(lacking)})"
    return found
