"""Individual cases of a view, each with the predictions of all systems."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Final, overload

import numpy as np

from karat.analysis.comparison.grid import Grid
from karat.evaluation.cases.errors import NO_CANDIDATES, categories, list_candidate_categories
from karat.evaluation.evaluation import Evaluation
from karat.matching.facts.facts import Facts
from karat.matching.facts.sentence import Sentence, sentence_around
from karat.matching.read.facet_titles import unknown_value_error
from karat.matching.read.invented_mentions import find_invented_text, is_invented
from karat.matching.read.pairing import Pairing
from karat.model.corpus import NO_TEXT_NOTE, Corpus
from karat.model.errors import UnknownNameError, UsageError
from karat.model.results.display import TableDisplay
from karat.model.results.result import IdHealth
from karat.model.results.verdict import Outcome, Verdicts
from karat.model.signature import Signature
from karat.model.spec.settings.task import TASKS
from karat.model.tables.columns import NIL, Bools, Floats, Ints, Longs, Mentions
from karat.model.tables.facet_values import NONE, FacetValues, string_values

_CORRECT: Final = (Outcome.TP, Outcome.MATCHED_PREDICTION, Outcome.MATCHED_GOLD)
_WRONG: Final = (Outcome.FP, Outcome.FN, Outcome.WRONG_LINK)

OUTCOMES: Final[Mapping[str, tuple[Outcome, ...]]] = {
    **{outcome.title.replace(" ", "-"): (outcome,) for outcome in Outcome},
    "correct": _CORRECT,
    "wrong": _WRONG,
}
"""Outcomes by the names that filters accept; `correct` and `wrong` stand for several."""


@dataclass(frozen=True, slots=True)
class NamedLink:
    """A span and the entity that it is linked to."""

    start: int
    """Start offset."""
    end: int
    """End offset."""
    entity: str | None
    """Id of the entity; None if NIL or unlinked."""
    nil: bool = False
    """Whether the span is linked to NIL."""
    name: str | None = None
    """Name of the entity; None if unknown."""


@dataclass(frozen=True, slots=True)
class SystemCase:
    """Outcome of one system on a mention."""

    system: str
    """Name of the system."""
    outcome: str
    """Outcome."""
    prediction: NamedLink | None = None
    """Prediction; None if there is none."""
    score: float | None = None
    """Score of the prediction; None if it has none."""
    errors: tuple[str, ...] = ()
    """Error categories."""
    undecided: tuple[str, ...] = ()
    """Error categories that cannot be decided, since facts are missing."""
    overlapping: tuple[NamedLink, ...] = ()
    """Other predictions that overlap the mention, if `prediction` is None."""
    invented: str | None = None
    """Text of the prediction if the document does not have it, else None."""
    types: tuple[str, ...] = ()
    """Entity types of the prediction, in a view that compares types."""


@dataclass(frozen=True, slots=True)
class MentionCase:
    """A mention, or a span that only systems annotate, with the predictions of all systems."""

    document: str
    """Id of the document."""
    start: int
    """Start offset."""
    end: int
    """End offset."""
    sentence: Sentence | None
    """Sentence around the mention; None without text."""
    gold: tuple[NamedLink, ...]
    """Alternatives of the gold mention; empty if there is no gold mention."""
    types: tuple[str, ...]
    """Entity types."""
    optional: bool
    """Whether the mention is optional."""
    systems: tuple[SystemCase, ...]
    """Outcomes. A system may occur several times, or not at all if it has no case there."""


@dataclass(frozen=True, slots=True)
class CaseFilter:
    """Filter of cases: a case passes if every field that is not empty holds."""

    outcomes: tuple[str, ...] = ()
    """The case of one of the `systems` has one of these outcomes."""
    errors: tuple[str, ...] = ()
    """The case of one of the `systems` has one of these error categories."""
    types: tuple[str, ...] = ()
    """The mention has one of these types; without a mention, the prediction."""
    entities: tuple[str, ...] = ()
    """The mention or a prediction is linked to one of these entities, by id or name."""
    systems: tuple[str, ...] = ()
    """Systems for `outcomes` and `errors`; empty means all."""
    documents: tuple[str, ...] = ()
    """The case is in one of these documents."""
    flips: tuple[str, str] | None = None
    """Exactly one of these two systems is correct."""

    def check_names(self, systems: Sequence[str]) -> CaseFilter:
        """Return this filter unchanged, or raise an error if it contains a name that does not exist.

        Raises `UnknownNameError` for a system that is not in `systems` and for an unknown outcome or error category,
        and `UsageError` if `flips` names the same system twice.
        """
        system_names = ((*self.systems, *(self.flips or ())), systems, "system")
        for names, allowed, kind in (
            system_names,
            (self.outcomes, OUTCOMES, "outcome"),
            (self.errors, categories(), "error"),
        ):
            for name in names:
                if name not in allowed and not (kind == "outcome" and _find_outcome(name) in allowed):
                    raise UnknownNameError(kind, name, allowed)
        if self.flips is not None and self.flips[0] == self.flips[1]:
            raise UsageError(f"{self.flips[0]} cannot flip against itself. Name two systems.")
        return self


def _find_outcome(name: str) -> str:
    """Return the key of `OUTCOMES` for an outcome, which may be a title such as `wrong link`."""
    return name.replace(" ", "-")


@dataclass(frozen=True, eq=False)
class _SystemCases:
    """The cases of one system in one view. Arrays "of each case" have one element per row of `cases`."""

    system: str
    evaluation: Evaluation
    view: str

    @cached_property
    def cases(self) -> Verdicts:
        """The verdicts of all cases."""
        return self.evaluation.verdicts(self.view)

    @cached_property
    def prediction(self) -> Longs:
        """Prediction row of each case in the run; -1 without prediction. Cached, since each case reads it."""
        return self.cases.prediction

    @cached_property
    def score(self) -> Floats:
        """The score of each prediction of the run; NaN if it has none."""
        return self.pairing.run.predictions.score()

    @cached_property
    def pairing(self) -> Pairing:
        """Gold standard and predictions as paired for the view."""
        return self.evaluation.inputs.pairing(self.evaluation.plans.views[self.view].source)

    @cached_property
    def facts(self) -> Facts:
        """The facts about mentions and predictions."""
        return self.evaluation.inputs.get_facts(self.evaluation.plans.views[self.view].source)

    @cached_property
    def names(self) -> list[str | None]:
        """The entity name of each prediction of the run; None if unknown."""
        return self.facts.prediction_names(use_labels=True)

    @cached_property
    def prediction_types(self) -> FacetValues | None:
        """The types of each prediction of the run as written; None if the view does not compare types."""
        predictions = self.pairing.run.predictions
        is_typed = self.evaluation.plans.views[self.view].relation.is_typed
        return string_values(predictions.field("types"), len(predictions)) if is_typed else None

    @cached_property
    def mention_row(self) -> Longs:
        """The first label row of the gold mention of each case; -1 for a prediction without gold mention."""
        return np.append(self.pairing.mention_index.mention, -1)[self.cases.gold]

    @cached_property
    def spans(self) -> tuple[Longs, Longs]:
        """Start and end offsets of each case's gold mention, or of its prediction if the case has no mention."""
        labels, predictions = self.pairing.corpus.labels, self.pairing.run.predictions
        ends = []
        for gold, prediction in ((labels.start, predictions.start), (labels.end, predictions.end)):
            ends.append(
                np.where(
                    self.mention_row >= 0,
                    np.append(gold, 0)[self.mention_row],
                    np.append(prediction, 0)[self.prediction],
                )
            )
        return ends[0], ends[1]

    @cached_property
    def error_masks(self) -> dict[str, tuple[Bools, Bools]]:
        """By error category, masks of the cases with the error and of undecided cases.

        Empty if no categories are assigned; without candidate categories if the system gives no candidates.
        """
        if self.view not in self.evaluation.plans.stages:
            return {}
        categorised = self.evaluation.categorise_cases(self.view)
        # rows beyond the cases are mentions outside the view; others are scored by their parts
        is_shown = (categorised.table.verdict_index < len(self.cases)) & categorised.table.cases.is_counted
        rows, error_masks = categorised.table.verdict_index[is_shown], {}
        for name, tag in categorised.masks.items():
            if name in list_candidate_categories() and not categorised.has_candidates:
                continue
            error, undecided = np.zeros((2, len(self.cases)), np.bool_)
            error[rows[tag.error[is_shown]]] = True
            undecided[rows[tag.undecided[is_shown]]] = True
            error_masks[name] = error, undecided
        return error_masks

    def build_case(self, row: int) -> SystemCase:
        """Build the description of the case in `row`: outcome, prediction, score and error categories."""
        predictions, prediction = self.pairing.run.predictions, int(self.prediction[row])
        errors = tuple(name for name, (error, _) in self.error_masks.items() if error[row])
        undecided = tuple(name for name, (_, is_undecided) in self.error_masks.items() if is_undecided[row])
        score = np.nan if prediction < 0 else float(self.score[prediction])
        return SystemCase(
            self.system,
            Outcome(int(self.cases.outcome[row])).title,
            None if prediction < 0 else _make_link(predictions, prediction, self.names[prediction]),
            None if np.isnan(score) else score,
            errors,
            undecided,
            () if prediction >= 0 else self._find_overlapping(row),
            None if prediction < 0 else find_invented_text(self.pairing.run, prediction),
            () if prediction < 0 or self.prediction_types is None else _facet_values(self.prediction_types, prediction),
        )

    @cached_property
    def _sorted_predictions(self) -> tuple[Longs, Longs, Longs]:
        """All predictions that have a case, sorted by document and start, for finding overlaps by binary search.

        Three arrays: prediction rows, their start keys, and the running maximum of their end keys; for keys see
        `_position_key`.
        """
        predictions, document = self.pairing.run.predictions, np.zeros(len(self.pairing.run.predictions), np.int64)
        document[self.prediction[self.prediction >= 0]] = self.cases.document[self.prediction >= 0]
        rows = np.unique(self.prediction[self.prediction >= 0])
        start, end = (_position_key(document[rows], ends[rows]) for ends in (predictions.start, predictions.end))
        order = np.argsort(start, kind="stable")
        return rows[order], start[order], np.maximum.accumulate(end[order])

    def _find_overlapping(self, row: int) -> tuple[NamedLink, ...]:
        """Return the links of all predictions that overlap the span of the case in `row`."""
        predictions, (rows, starts, max_ends) = self.pairing.run.predictions, self._sorted_predictions
        start, end = (int(ends[row]) for ends in self.spans)
        low = np.searchsorted(max_ends, _position_key(self.cases.document[row], start), "right")
        high = np.searchsorted(starts, _position_key(self.cases.document[row], end), "left")
        overlapping = rows[low:high][predictions.end[rows[low:high]] > start]
        return tuple(_make_link(predictions, prediction, self.names[prediction]) for prediction in overlapping.tolist())

    def get_types(self, mention_row: int, row: int) -> tuple[str, ...]:
        """Return the entity types of a gold mention, given by its first label row; if that is -1, of the prediction."""
        facets = self.pairing.facets
        if mention_row >= 0:
            return _facet_values(facets.gold_values("types"), mention_row)
        return _facet_values(facets.prediction_values("types"), int(self.prediction[row]))

    def types_mask(self, types: Collection[str]) -> Bools:
        """Return a mask of the cases whose gold mention, or prediction if there is none, has one of `types`."""
        facets, mentions = self.pairing.facets, self.pairing.mention_index.mention
        gold = np.zeros(len(mentions) + 1, np.bool_)
        label_rows, predictions = np.arange(len(mentions)), np.flatnonzero(self.mention_row < 0)
        mask = np.zeros(len(self.cases), np.bool_)
        for value in types:
            gold[mentions[facets.gold_values("types").mask(label_rows, value)]] = True
            mask[predictions] |= facets.prediction_values("types").mask(self.prediction[predictions], value)
        return mask | gold[self.mention_row]

    def entities_mask(self, entities: Collection[str]) -> Bools:
        """Return a mask of the cases whose gold mention or prediction is linked to one of `entities`, by id or name."""
        mentions = self.pairing.mention_index.mention
        gold = np.zeros(len(mentions) + 1, np.bool_)
        gold[mentions[_linked_mask(self.pairing.corpus.labels, self.facts.gold.names, entities)]] = True
        predictions = np.append(_linked_mask(self.pairing.run.predictions, self.names, entities), False)
        mask: Bools = gold[self.mention_row] | predictions[self.prediction]
        return mask

    @property
    def counted_masks(self) -> tuple[Bools, Bools]:
        """Two masks of cases: the counted gold mentions, and the correct ones among the counted gold mentions."""
        weights = self.cases.weights()
        mentions = (self.mention_row >= 0) & (weights[:, 2] + weights[:, 3] > 0)
        return mentions, mentions & (weights[:, 2] > 0)


def _position_key(document: Ints | Longs, offset: Ints | int) -> Longs:
    """Combine document number and offset into one integer that sorts by document, then offset."""
    return (np.asarray(document, np.int64) << 32) + offset


def _make_link(side: Mentions, row: int, name: str | None) -> NamedLink:
    """Return the link in a row of labels or predictions, with `name` as the name of its entity."""
    code = int(side.entity[row])
    entity = None if code < 0 else str(side.names[code].as_py())
    return NamedLink(int(side.start[row]), int(side.end[row]), entity, code == NIL, None if code < 0 else name)


def _facet_values(facet: FacetValues, row: int) -> tuple[str, ...]:
    """Return the values of a facet in a row, without the placeholder for no value."""
    codes = facet.lists.values[facet.lists.offsets[row] : facet.lists.offsets[row + 1]]
    return tuple(facet.names[code] for code in codes.tolist() if facet.names[code] != NONE)


def _linked_mask(side: Mentions, names: Sequence[str | None], entities: Collection[str]) -> Bools:
    """Return a mask of the labels or predictions linked to one of `entities`, each an id, a name or `NIL`.

    `names` are the entity names by row.
    """
    ids = [id in entities for id in side.names.to_pylist()]
    by_id = np.array([*ids, "NIL" in entities, False])[_to_indices(side.entity, len(ids))]
    return by_id | np.fromiter((name in entities for name in names), np.bool_, len(names))


def _to_indices(codes: Ints, n_ids: int) -> Longs:
    """Convert entity codes to indices into a list of `n_ids` ids, followed by NIL and unlinked."""
    return np.where(codes >= 0, codes, np.where(codes == NIL, n_ids, n_ids + 1)).astype(np.int64)


def _mention_by_span(pairing: Pairing) -> dict[tuple[int, int, int], int]:
    """Map (document, start, end) to the first label row of the gold mention there; of several mentions, the first."""
    labels, mentions = pairing.corpus.labels, pairing.mention_index
    rows = np.flatnonzero(mentions.mention == np.arange(len(labels)))[::-1]
    spans = np.column_stack([labels.document[rows], labels.start[rows], labels.end[rows]]).tolist()
    return {(document, start, end): row for (document, start, end), row in zip(spans, rows.tolist(), strict=True)}


@dataclass(frozen=True, eq=False)
class _AlignedCases:
    """The cases of all systems, merged into one case per mention or span, sorted by document and span."""

    corpus: Corpus
    """Gold standard."""
    systems: tuple[_SystemCases, ...]
    """Cases of each system."""
    case: tuple[Longs, ...]
    """For each system, the aligned case of each of its rows."""
    document: Longs
    """Document of each aligned case."""
    mention_row: Longs
    """First label row of the mention of each aligned case, or -1."""
    ids: list[str]
    """Ids of the documents."""

    @classmethod
    def from_systems(cls, corpus: Corpus, systems: tuple[_SystemCases, ...]) -> _AlignedCases:
        """Align the cases of `systems`, which are on the same dataset and view.

        Cases of different systems are the same aligned case if they have the same gold mention, or else the same span.
        A prediction without gold mention joins the mention that has its span.
        """
        document_index: dict[str, int] = {}
        keys = []
        mention = _mention_by_span(systems[0].pairing)
        for system in systems:  # documents without gold follow the others, and may differ between systems
            documents = np.array(
                [document_index.setdefault(id, len(document_index)) for id in system.pairing.corpus.ids.to_pylist()],
                np.int64,
            )
            spans, mention_row = (
                np.column_stack([documents[system.cases.document], *system.spans]),
                system.mention_row.copy(),
            )
            unmatched = np.flatnonzero(mention_row < 0)
            mention_row[unmatched] = [
                mention.get((document, start, end), -1) for document, start, end in spans[unmatched].tolist()
            ]
            keys.append(np.column_stack([spans, mention_row]))
        unique_keys, inverse = np.unique(np.concatenate(keys), axis=0, return_inverse=True)
        sizes = np.cumsum([len(k) for k in keys])[:-1]
        return cls(
            corpus,
            systems,
            tuple(np.split(inverse.ravel(), sizes)),
            unique_keys[:, 0],
            unique_keys[:, 3],
            list(document_index),
        )

    @cached_property
    def _rows(self) -> tuple[tuple[Longs, Longs], ...]:
        """For each system, its case rows sorted by aligned case, and where in this order each aligned case starts."""
        bounds = np.arange(len(self.document) + 1)
        orders = [np.argsort(case, kind="stable") for case in self.case]
        return tuple(
            (order, np.searchsorted(case[order], bounds)) for case, order in zip(self.case, orders, strict=True)
        )

    @cached_property
    def _texts(self) -> list[str] | None:
        """The texts of all documents; None if the corpus has none."""
        lacks_text = self.corpus.skipped.get(NO_TEXT_NOTE) or not self.corpus.has_text
        return None if lacks_text else self.corpus.texts

    @cached_property
    def _labels_by_mention(self) -> dict[int, list[int]]:
        """Label rows of each gold mention in order, by the first label row of the mention."""
        members: dict[int, list[int]] = {}
        for label, mention_row in enumerate(self.systems[0].pairing.mention_index.mention.tolist()):
            members.setdefault(mention_row, [mention_row]).extend([label] * (label != mention_row))
        return members

    def build_case(self, case: int) -> MentionCase:
        """Build the description of the aligned case with the index `case`, with the outcomes of all systems."""
        rows = [
            (first_system, row)
            for first_system, (order, bounds) in zip(self.systems, self._rows, strict=True)
            for row in order[bounds[case] : bounds[case + 1]].tolist()
        ]
        first_system, row = rows[0]
        mention_row, document = int(self.mention_row[case]), int(self.document[case])
        start, end = (int(ends[row]) for ends in first_system.spans)
        texts, names = self._texts, first_system.facts.gold.names
        return MentionCase(
            self.ids[document],
            start,
            end,
            sentence_around(texts[document], start, end)
            if texts is not None and document < len(texts) and not is_invented(start)
            else None,
            tuple(
                _make_link(self.corpus.labels, label, names[label])
                for label in self._labels_by_mention.get(mention_row, ())
            ),
            first_system.get_types(mention_row, row),
            mention_row >= 0 and bool(first_system.pairing.mention_index.optional[mention_row]),
            tuple(system.build_case(system_row) for system, system_row in rows),
        )

    def filter_mask(self, case_filter: CaseFilter) -> Bools:
        """Return a mask of the aligned cases that pass the filter.

        Outcome and error category must hold for the same case of the same system.
        """
        mask = np.zeros(len(self.document), np.bool_)
        outcomes = [outcome for name in case_filter.outcomes for outcome in OUTCOMES[_find_outcome(name)]]
        for system, case in zip(self.systems, self.case, strict=True):
            if case_filter.systems and system.system not in case_filter.systems:
                continue
            rows = np.ones(len(case), np.bool_)
            if outcomes:
                rows &= np.isin(system.cases.outcome, outcomes)
            if case_filter.errors:
                masks = [system.error_masks[name][0] for name in case_filter.errors if name in system.error_masks]
                rows &= np.logical_or.reduce([np.zeros(len(case), np.bool_), *masks])
            mask[case[rows]] = True
        for values, match in (
            (case_filter.types, _SystemCases.types_mask),
            (case_filter.entities, _SystemCases.entities_mask),
        ):
            if values:
                mask &= self._any_system_mask(match(system, values) for system in self.systems)
        if case_filter.documents:
            mask &= np.isin(self.document, [self.ids.index(name) for name in case_filter.documents])
        if case_filter.flips is not None:
            a, b = (self._counted_masks(name) for name in case_filter.flips)
            mask &= a[0] & b[0] & (a[1] != b[1])
        return mask

    def _any_system_mask(self, masks: Iterable[Bools]) -> Bools:
        """Return a mask of the aligned cases that contain a case in the mask of its system.

        `masks` has a mask for each system.
        """
        result = np.zeros(len(self.document), np.bool_)
        for case, mask in zip(self.case, masks, strict=True):
            result[case[mask]] = True
        return result

    def _counted_masks(self, system: str) -> tuple[Bools, Bools]:
        """Return two masks of aligned cases: counted gold mentions for a system, and correct ones among these."""
        index = [s.system for s in self.systems].index(system)
        is_counted, is_correct = np.zeros((2, len(self.document)), np.bool_)
        for mask, rows in zip((is_counted, is_correct), self.systems[index].counted_masks, strict=True):
            mask[self.case[index][rows]] = True
        return is_counted, is_correct

    def check_filter(self, case_filter: CaseFilter) -> None:
        """Raise an error if no case has a type, document or entity of the filter, or if it needs error categories.

        Error categories need a view with links, and texts, and some need candidates. Without this check the filter
        would select no case.
        """
        types = {
            name
            for system in self.systems
            for values in (system.pairing.facets.gold_values("types"), system.pairing.facets.prediction_values("types"))
            for name in values.names
        }
        for name in case_filter.types:
            if name not in types:
                raise unknown_value_error("types", name, types - {NONE}, "type")
        for name in case_filter.documents:
            if name not in self.ids:
                raise UnknownNameError("document", name, set(self.ids) - {NONE})
        if case_filter.errors and not self.systems[0].error_masks:
            raise UsageError("error categories need a view with links, and texts. Choose such a view.")
        searched = [s for s in self.systems if not case_filter.systems or s.system in case_filter.systems]
        for name in case_filter.errors:
            if not any(name in system.error_masks for system in searched):
                systems = ", ".join(system.system for system in searched)
                raise UsageError(
                    f"{categories()[name].title} is undefined for {systems}: {NO_CANDIDATES}. Choose another category."
                )
        for name in case_filter.entities:
            if not any(system.entities_mask([name]).any() for system in self.systems):
                raise UsageError(f"no mention or prediction is linked to {name}. Give an id, an exact name, or NIL.")


@dataclass(frozen=True, eq=False)
class CaseList(TableDisplay, Sequence[MentionCase]):
    """The cases of a view that pass a filter, sorted by document and span. Each case is built on access."""

    _page: ClassVar = "karat.render.cases"

    dataset: str
    """Name of the dataset."""
    view: str
    """View."""
    profile: str
    """Profile."""
    signature: Signature
    """Signature of the evaluations."""
    systems: tuple[str, ...]
    """Names of the systems."""
    outcomes: Mapping[str, Mapping[str, int]]
    """By system, the number of cases with each outcome, before filtering."""
    case_filter: CaseFilter
    """Filter."""
    n_cases: int
    """Number of cases of all systems together, before filtering."""
    _aligned: _AlignedCases
    _indices: Longs

    @property
    def id_health(self) -> dict[str, IdHealth]:
        """By system, how the ids of gold and predictions are written and whether they can match."""
        healths = {system.system: system.evaluation.id_health for system in self._aligned.systems}
        return {name: health for name, health in healths.items() if health is not None}

    def __len__(self) -> int:
        return len(self._indices)

    @overload
    def __getitem__(self, index: int) -> MentionCase: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[MentionCase, ...]: ...
    def __getitem__(self, index: int | slice) -> MentionCase | tuple[MentionCase, ...]:
        if isinstance(index, slice):
            return tuple(map(self._aligned.build_case, self._indices[index].tolist()))
        return self._aligned.build_case(int(self._indices[index]))

    def __repr__(self) -> str:
        return (
            f"<CaseList {', '.join(self.systems)} on {self.dataset}, {self.view}: {len(self)} of {self.n_cases} cases>"
        )


def collect_cases(grid: Grid, systems: Sequence[str], case_filter: CaseFilter | None = None) -> CaseList:
    """Return the cases of `systems` that pass `case_filter`, on the only dataset of a grid, in the view of its measure.

    Systems are listed in the given order. Raises `UsageError` for several datasets, for results, and for a view without
    individual mentions.
    """
    if len(grid.datasets) != 1:
        raise UsageError(f"cases can be shown for one dataset only, not {', '.join(grid.datasets)}. Pass one dataset.")
    (dataset,) = grid.datasets
    corpus, name = grid.corpus(dataset), grid.measure_name
    row = {system: grid.cells[dataset][system] for system in systems}
    if corpus is None or any(cell.evaluation is None for cell in row.values()):
        raise UsageError("result files contain no cases. Pass the gold file and the predictions.")
    task, view = name.view.task or grid.request.conventions.task_name, str(name.view)
    if TASKS[task].source != "mentions" or view not in next(iter(row.values())).result.views:
        raise UsageError(f"{view} has no individual mentions. Choose a view such as strong or mention.")
    checked_filter = (case_filter or CaseFilter()).check_names(tuple(row))
    system_cases = tuple(
        _SystemCases(system, cell.evaluation, view) for system, cell in row.items() if cell.evaluation is not None
    )
    aligned = _AlignedCases.from_systems(corpus, system_cases)
    aligned.check_filter(checked_filter)
    return CaseList(
        dataset,
        view,
        grid.request.profile,
        grid.signature,
        tuple(row),
        {s.system: _count_outcomes(s.cases) for s in system_cases},
        checked_filter,
        len(aligned.document),
        aligned,
        np.flatnonzero(aligned.filter_mask(checked_filter)),
    )


def _count_outcomes(cases: Verdicts) -> dict[str, int]:
    """Count cases by the title of their outcome, without outcomes that do not occur."""
    counts = np.bincount(cases.outcome, minlength=len(Outcome)).tolist()
    return {outcome.title: counts[outcome] for outcome in Outcome if counts[outcome]}
