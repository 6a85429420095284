"""Evaluation of all systems on all datasets, each scored once under the same request.

A view is a match relation with filters, such as `strong[nil]`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import msgspec
import numpy as np

from karat.analysis.comparison.entries import Entry, check_result, find_excluded
from karat.evaluation.evaluation import Evaluation
from karat.evaluation.measures import detection_view, expand_measure, get_measure
from karat.evaluation.request import Request
from karat.evaluation.score_intervals import derive_seed
from karat.evaluation.view import View, load_stored_group, load_stored_view
from karat.model.corpus import Corpus, DataName
from karat.model.errors import KaratError, UsageError
from karat.model.measure_name import MeasureName, parse_measure
from karat.model.output.progress import track_progress
from karat.model.profile_signatures import get_profile
from karat.model.registry import get_plugin, list_plugins
from karat.model.results.failures import rank_note
from karat.model.results.result import IdHealth, Result, Score, find_special_headline
from karat.model.run import selection_note
from karat.model.signature import Signature
from karat.model.spec.facet import Facet
from karat.model.tables.columns import Floats, Longs
from karat.stats.samples.additive import AdditiveScore
from karat.stats.samples.documents import align_documents

MEASURE = "strong:micro.f1"
"""Measure that is compared by default."""

_MAY_DIFFER = ("data", "match", "profile", "seed", "threshold")
"""Signature parts that may differ between compared results: a threshold may be tuned per system, and other
measures do not matter.
"""


_NO_ORDER = np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False)
class GridCell:
    """A system on a dataset with its scores."""

    entry: Entry
    """System and dataset."""
    order: Longs
    """Permutation that sorts the documents by id, the same order for all systems on the dataset."""
    evaluation: Evaluation | None = None
    """Evaluation behind the result; None if the result was read from a file."""

    @property
    def result(self) -> Result:
        """The result of the system on the dataset, computed or read from a file."""
        if self.evaluation is not None:
            return self.evaluation.result
        assert self.entry.result is not None, "an entry is a result, or is evaluated"
        return self.entry.result

    def parse_name(self, measure: str) -> MeasureName:
        """Parse the name of a measure, or an alias of one in the result."""
        return parse_measure(self.result.aliases.get(measure, measure))

    def score(self, measure: str) -> Score:
        """Return the score of the system on the dataset for `measure`."""
        return self.result.score(measure)

    def additive_score(self, measure: str) -> AdditiveScore | None:
        """Return `measure` as a function of sums over documents, sorted by id; None if it is no such function."""
        name = self.parse_name(measure)
        view = self._find_view(name)
        if view is None or (name.group is not None and self.score(measure).value is None):
            return None
        if get_measure(name).needs_detection and view.detection_statistics is None:
            return None
        try:
            additive = view.to_additive(name.short_name)
        except KaratError:  # the measure is not computed from sums
            return None
        return None if additive is None else additive.reorder(self.order)

    def explain_missing_sums(self, measure: str) -> str:
        """Return why `additive_score` of `measure` is None, so that it has no interval and no test."""
        name = self.parse_name(measure)
        is_stored_group = self.evaluation is None and name.group is not None and name.aggregate == "micro"
        if is_stored_group and str(name) not in self.result.table_measures:
            return f"the result file lacks its sums over documents: score with -m '{name}'"
        return "the score is not a function of sums over documents"

    def _find_view(self, name: MeasureName) -> View | None:
        """Return the statistics of a measure by document; None if they cannot be divided or a file lacks them."""
        if name.group is not None:
            if self.evaluation is None:
                return load_stored_group(self.result, name)
            return self.evaluation.find_group_view(name)
        if str(name.view) not in self.result.views:
            return None
        return (
            load_stored_view(self.result, name.view)
            if self.evaluation is None
            else self.evaluation.views[str(name.view)]
        )


@dataclass(frozen=True, eq=False)
class Grid:
    """All systems on all datasets, both sorted by name unless `sort_systems` changed the order of the systems."""

    measure: str
    """Measure that is compared."""
    systems: tuple[str, ...]
    """All systems."""
    cells: Mapping[str, Mapping[str, GridCell]]
    """By dataset, the systems with predictions for it."""
    excluded: Mapping[str, str]
    """Datasets excluded from averages, with the reason. Some cannot be compared at all and are not in `datasets`."""
    request: Request
    """Request under which predictions are scored."""
    facets: tuple[str, ...] = ()
    """Facets by which individual mentions are counted."""

    @property
    def datasets(self) -> tuple[str, ...]:
        """The names of all scored datasets."""
        return tuple(self.cells)

    @cached_property
    def common_datasets(self) -> tuple[str, ...]:
        """The names of the datasets on which all systems have a score; averages are over these."""
        return tuple(name for name in self.cells if name not in self.excluded)

    @property
    def results(self) -> list[Result]:
        """The results of all systems on all datasets."""
        return [cell.result for row in self.cells.values() for cell in row.values()]

    @property
    def id_health(self) -> dict[str, IdHealth]:
        """Statistics on the spelling of each system's ids, over all datasets on which links were compared."""
        totals: dict[str, IdHealth] = {}
        for row in self.cells.values():
            for system, cell in row.items():
                health = cell.result.id_health
                if health is not None:
                    totals[system] = totals[system].merge(health) if system in totals else health
        return {system: totals[system] for system in self.systems if system in totals}

    @cached_property
    def signature(self) -> Signature:
        """One signature (the settings and data behind a score) for all evaluations of the grid.

        Its part `data` lists all datasets. Other values that differ between evaluations are joined by semicolons.
        """
        data = ",".join(next(iter(row.values())).entry.data_signature for row in self.cells.values())
        first = self.results[0].signature
        values = {name: sorted({result.signature[name] for result in self.results}) for name, _ in first.parts}
        return Signature(tuple((name, data if name == "data" else ";".join(values[name])) for name, _ in first.parts))

    @property
    def measure_name(self) -> MeasureName:
        """The parsed name of the measure."""
        return next(iter(next(iter(self.cells.values())).values())).parse_name(self.measure)

    @property
    def lower_is_better(self) -> bool:
        """Whether lower values of the measure are better."""
        return get_measure(self.measure_name).is_lower_better

    def values(self, dataset: str) -> Floats:
        """Return the score of each system on a dataset, in the order of `systems`; NaN without a score."""
        row = self.cells[dataset]
        scores = [row[system].score(self.measure).value if system in row else None for system in self.systems]
        return np.array([np.nan if value is None else value for value in scores])

    @cached_property
    def additive_scores(self) -> Mapping[str, Mapping[str, AdditiveScore | None]]:
        """By dataset and system, the score as a function of sums over documents.

        None if the score is no such function.
        """
        return {
            name: {system: cell.additive_score(self.measure) for system, cell in row.items()}
            for name, row in self.cells.items()
        }

    def sort_by_name(self, indices: Iterable[int]) -> list[int]:
        """Return indices of systems by the names of the systems, so that draws do not depend on the grid's order."""
        return sorted(indices, key=lambda index: self.systems[index])

    def sort_systems(self) -> Grid:
        """Return the grid with the systems by their mean score over the common datasets, the best first.

        Without common datasets, the mean over all datasets counts. Systems without any score come last.
        """
        names = self.common_datasets or self.datasets
        values = np.stack([self.values(name) for name in names])
        n_scores = (~np.isnan(values)).sum(axis=0)
        means = np.divide(np.nansum(values, axis=0), n_scores, out=np.full(len(n_scores), np.nan), where=n_scores > 0)
        costs = np.nan_to_num(means if self.lower_is_better else -means, nan=np.inf).tolist()
        systems = tuple(name for _, name in sorted(zip(costs, self.systems, strict=True)))
        cells = {name: {system: row[system] for system in systems if system in row} for name, row in self.cells.items()}
        return replace(self, systems=systems, cells=cells)

    def list_run_notes(self) -> Iterator[str]:
        """Yield the notes on all runs and what was skipped in them, as in results, with the runs concerned."""
        runs_by_note: dict[str, list[str]] = {}
        for row in self.cells.values():
            for system, cell in row.items():
                skip_notes = [f"{description}: {count:,}" for description, count in cell.result.skipped.items()]
                is_selected = cell.result.is_selected_on_corpus
                selection_notes = [selection_note(system, cell.entry.dataset)] if is_selected else []
                for note in dict.fromkeys([*cell.result.notes, *skip_notes, *selection_notes]):
                    runs_by_note.setdefault(note, []).append(f"{system} on {cell.entry.dataset}")
        for note, runs in sorted(runs_by_note.items(), key=lambda item: rank_note(item[0])):
            names = " and ".join(runs) if len(runs) <= 2 else f"{runs[0]} and {len(runs) - 1} more"
            yield f"{names}: {note}"

    def corpus(self, dataset: str) -> Corpus | None:
        """Return the gold standard of a dataset; None if only results were loaded."""
        return next((cell.entry.corpus for cell in self.cells[dataset].values() if cell.entry.corpus), None)

    def document_ids(self, dataset: str) -> frozenset[str]:
        """Return the ids of the documents of a dataset."""
        corpus = self.corpus(dataset)
        ids = next(iter(self.cells[dataset].values())).result.ids if corpus is None else corpus.ids
        return frozenset(ids.to_pylist())

    def derive_seed(self, dataset: str, seed: int) -> int:
        """Return the random seed for a dataset, derived from `seed` and its digest as in a separate evaluation."""
        digest = DataName.parse(next(iter(self.cells[dataset].values())).entry.data_signature).digest
        return derive_seed(seed, digest)

    def replace_evaluations(
        self, measure: str, request: Request, evaluations: Mapping[str, Mapping[str, Evaluation]]
    ) -> Grid:
        """Return a grid of the same entries with other `evaluations`, given by dataset and system.

        `measure` and `request` are those of the evaluations. The new grid excludes no dataset from averages.
        """
        cells = {
            name: {
                system: replace(self.cells[name][system], evaluation=evaluation) for system, evaluation in row.items()
            }
            for name, row in evaluations.items()
        }
        return Grid(measure, self.systems, cells, {}, request)


def build_grid(entries: Iterable[Entry], request: Request | None, measure: str | None, *, min_systems: int = 2) -> Grid:
    """Score every system on every dataset and return the grid.

    `entries` may come in any order. Results are used as scored, and must have been scored alike. Without a `request`
    the default profile is used, without a `measure` the profile's main measure. Datasets that differ between entries
    are excluded. Raises `UsageError` for fewer than `min_systems` systems, or if a system has two entries for a
    dataset.
    """
    rows: dict[str, dict[str, Entry]] = {}
    for entry in entries:
        row = rows.setdefault(entry.dataset, {})
        if entry.system in row:
            raise UsageError(
                f"{entry.system} has two entries for {entry.dataset}. Pass each system once per dataset, or "
                "name them: NAME=FILE."
            )
        row[entry.system] = _share_corpus(entry, row)
    systems = tuple(sorted({system for row in rows.values() for system in row}))
    if len(systems) < min_systems:
        raise UsageError(
            f"a comparison needs two systems, and there is {f'only {systems[0]!r}' if systems else 'none'}. Pass two."
        )
    differing = {name for name, row in rows.items() if len({entry.data_signature for entry in row.values()}) > 1}
    without = find_excluded(rows, systems, differing)
    result_entries = [entry for row in rows.values() for entry in row.values() if entry.result is not None]
    if result_entries and request is not None:
        check_result(result_entries[0], request)
    effective_request = request or Request.from_options()
    measure = expand_measure(
        measure or _default_measure(result_entries[0].result if result_entries else None, effective_request)
    )[-1]
    effective_request, labels = _narrow_request(effective_request, measure), effective_request.requested_facets
    cells = {}
    with track_progress("scoring, datasets", len(rows)) as advance:
        for name in sorted(rows.keys() - differing):
            cells[name] = _score_row({system: rows[name][system] for system in sorted(rows[name])}, effective_request)
            advance(1)
    if not cells:
        raise UsageError(
            f"no dataset is the same in all files: {', '.join(sorted(differing))}. Score all systems on the same data."
        )
    _check_same_settings([cell for row in cells.values() for cell in row.values()])
    return Grid(measure, systems, cells, without | _find_undefined(cells, measure, without), effective_request, labels)


def _share_corpus(entry: Entry, row: Mapping[str, Entry]) -> Entry:
    """Return the entry with the corpus object of an earlier entry for the same data, to hold it in memory once.

    `row` contains the earlier entries for the dataset, by system.
    """
    corpus = next(
        (other.corpus for other in row.values() if other.corpus and other.data_signature == entry.data_signature), None
    )
    return entry if entry.corpus is None or corpus is None else msgspec.structs.replace(entry, corpus=corpus)


def choose_main_measure(headline: Mapping[str, str], measures: Sequence[str]) -> str:
    """Return the measure that comparisons, leaderboards and reports lead with.

    This is the first headline if none is F1, such as the accuracy of ZELDA; else `MEASURE` if it is one of the table's
    `measures`; else the first headline, the first micro F1 or the first measure.
    """
    special_headline = find_special_headline(headline)
    if special_headline is not None:
        return special_headline
    f1_measures = [name for name in measures if name.endswith(":micro.f1")]
    return MEASURE if MEASURE in measures else next(iter([*headline.values(), *f1_measures, *measures]), MEASURE)


def _default_measure(result: Result | None, request: Request) -> str:
    """Return the measure that is compared by default; with a result, the measures that it shows decide."""
    headline = request.headline if result is None else result.headline
    measures = get_profile(request.profile).measures if result is None else result.table_measures
    if result is None and request.has_explicit_task:
        return find_special_headline(headline) or MEASURE
    measure = choose_main_measure(headline, measures)
    relation = parse_measure(measure).view.relation
    if result is not None and relation.endswith(
        ".py"
    ):  # code named in a file must not run unless the user names it too
        raise UsageError(f"the results use {relation!r}, a file of Python code. Name the measure to run it.")
    return measure


def _narrow_request(request: Request, measure: str) -> Request:
    """Return the request with `measure` as its only table measure and with only those facets that describe cases.

    If the measure's view has a detection view, linking accuracy is added to obtain detection statistics. Raises
    `UsageError` if the setting `match` is given too.
    """
    if "match" in request.overrides:
        raise UsageError("match and measures both set the relation. Pass one of them.")
    by = [name for name in request.requested_facets if _is_case_facet(name)]
    narrow = request.replace(measures=[measure], by=by)
    view = narrow.all_measures[0].view
    if detection_view(view) is None or narrow.membership is not None or narrow.all_measures[0].group is not None:
        return narrow
    return narrow.replace(extra_measures=[*narrow.extra_measures, str(MeasureName(view, "accuracy"))])


def _is_case_facet(name: str) -> bool:
    """Return whether a facet describes cases, such as error categories, not gold mentions or predictions."""
    return name in list_plugins("facets") and get_plugin("facets", name, Facet).column is not None


def _score_row(row: Mapping[str, Entry], request: Request) -> dict[str, GridCell]:
    """Evaluate all systems on one dataset; `row` has their entries, which must have the same documents."""
    evaluations: dict[str, Evaluation] = {}
    first: Evaluation | None = None
    for system, entry in row.items():
        if entry.result is None and entry.corpus is not None and entry.run is not None:
            evaluations[system] = Evaluation.from_data(
                request, entry.corpus, entry.run, share_gold_with=first, judged=entry.judged
            )
            first = first or evaluations[system]
    cells = {system: GridCell(entry, _NO_ORDER, evaluations.get(system)) for system, entry in row.items()}
    orders = align_documents([cell.result for cell in cells.values()])
    return {system: replace(cell, order=order) for (system, cell), order in zip(cells.items(), orders, strict=True)}


def get_fixed_settings(signature: Signature) -> dict[str, str]:
    """Return the parts of a signature in which all compared results must agree, by name."""
    return {name: value for name, value in signature.to_dict().items() if name not in _MAY_DIFFER}


def _check_same_settings(cells: Sequence[GridCell]) -> None:
    """Raise `UsageError` if signatures of `cells` differ in a part that is not in `_MAY_DIFFER`.

    Another dataset may have another knowledge base, since its ids may need another one. So may a system whose ids alone
    need an id bridge, as in scoring by itself.
    """
    firsts: dict[str, GridCell] = {}
    for cell in cells:
        first = firsts.setdefault(cell.entry.dataset, cell)
        is_other_dataset = first is cell
        first = cells[0] if is_other_dataset else first
        a, b = get_fixed_settings(first.result.signature), get_fixed_settings(cell.result.signature)
        may_differ = is_other_dataset or any(
            result.id_health is not None and result.id_health.bridge for result in (first.result, cell.result)
        )
        differing = [name for name in {**a, **b} if a.get(name) != b.get(name) and not (may_differ and name == "kb")]
        if differing:
            name = differing[0]
            raise UsageError(
                f"{first.entry.system} on {first.entry.dataset} and {cell.entry.system} on {cell.entry.dataset} were "
                f"scored differently: {name} is {a.get(name)} and {b.get(name)}. Score both with the same settings."
            )


def _find_undefined(
    cells: Mapping[str, Mapping[str, GridCell]], measure: str, excluded: Mapping[str, str]
) -> dict[str, str]:
    """Return the datasets on which a system's score is undefined, with the reason; without those in `excluded`."""
    reasons = {}
    for name, row in cells.items():
        scores = {system: cell.score(measure) for system, cell in row.items()}
        lacking = [f"{system}: {score.reason}" for system, score in scores.items() if score.value is None]
        if lacking and name not in excluded:
            reasons[name] = f"no score ({'; '.join(lacking)})"
    return reasons
