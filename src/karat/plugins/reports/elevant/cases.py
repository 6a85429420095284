"""All cases of an evaluation in the layout of ELEVANT's case file: mentions, and predictions on no mention.

A view is a match relation with filters, such as `strong[nil]`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.formats.parsing.elevant.articles import NIL as NIL_ID
from karat.formats.parsing.elevant.articles import NO_MAPPING, UNMAPPED
from karat.formats.parsing.elevant.labels import to_gold_labels
from karat.matching.facts.cases import CaseTable
from karat.matching.facts.facts import MENTION_TYPES, Facts
from karat.matching.read.pairing import KINDS
from karat.model.document import Document
from karat.model.errors import KaratError, UsageError
from karat.model.output.command_options import format_option
from karat.model.results.result import Result
from karat.model.results.verdict import Outcome, Verdicts
from karat.model.tables.columns import Bools, Ints, Longs, Mentions
from karat.plugins.reports.elevant.layout import MODES
from karat.plugins.reports.elevant.names import NAMES

EVAL_TYPES: tuple[tuple[str, ...], ...] = tuple(
    {
        Outcome.TP: ("TP",),
        Outcome.FP: ("FP",),
        Outcome.FN: ("FN",),
        Outcome.WRONG_LINK: ("FN", "FP"),
    }.get(outcome, ())
    for outcome in Outcome
)
"""ELEVANT's names of each outcome."""

MENTION_TYPE_NAMES = tuple(name.upper().replace("-", "_").replace("COREFERENCE", "COREF") for name in MENTION_TYPES)
"""ELEVANT's name of each mention type."""

_UNKNOWN, _NO_TYPE = "Unknown", "OTHER"
_MENTION, _PART, _UNMATCHED_PREDICTION = range(3)


class ErrorMasks(Protocol):
    """Masks of the cases of one error category."""

    @property
    def error(self) -> Bools:
        """Cases that are such errors."""

    @property
    def avoided(self) -> Bools | None:
        """Cases that avoided such an error; None if no case could."""

    @property
    def undecided(self) -> Bools:
        """Cases that cannot be decided because facts are missing."""


class CasesWithFacts(Protocol):
    """The cases of a view with their error categories."""

    @property
    def table(self) -> CaseTable:
        """The cases."""

    @property
    def masks(self) -> Mapping[str, ErrorMasks]:
        """Masks by category."""


class JudgedEvaluation(Protocol):
    """The parts of an evaluation that ELEVANT's cases need; unknown views raise an error."""

    @property
    def facts(self) -> Facts:
        """Facts about labels and predictions."""

    def verdicts(self, view: str) -> Verdicts:
        """Return the verdicts of a view."""

    def categorise_cases(self, view: str) -> CasesWithFacts:
        """Return the error categories of a view's cases."""


@dataclass(frozen=True)
class ElevantCases:
    """All cases in ELEVANT's order, one entry per column; iterating yields the cases of each document."""

    facts: Facts
    """Facts about labels and predictions."""
    document: Ints
    """Document of each case."""
    gold: Longs
    """Row of the gold label, -1 if there is none."""
    prediction: Longs
    """Row of the prediction, -1 if there is none."""
    start: Ints
    """Start of the span."""
    end: Ints
    """End of the span."""
    factor: Bools
    """Whether the case counts itself."""
    optional: Bools
    """Whether the gold label is optional."""
    mention_type: Ints
    """Code of the mention type."""
    linking: Mapping[str, Ints]
    """Outcome of linking by mode."""
    detection: Mapping[str, Ints]
    """Outcome of detection by mode."""
    labels: Mapping[str, list[tuple[str, ...]]]
    """ELEVANT's error labels by mode."""
    undecided: Bools
    """Whether a fact for the error labels is missing."""
    counted_parts: Mapping[int, Longs]
    """For each mention that is scored by its parts, the cases of the counted parts."""

    def __len__(self) -> int:
        return len(self.document)

    def __iter__(self) -> Iterator[list[dict[str, Any]]]:
        corpus = self.facts.pairing.corpus
        bounds = np.searchsorted(self.document, np.arange(len(corpus) + 1)).tolist()
        for index, document in enumerate(corpus):
            label_fields = self._build_label_fields(document, int(corpus.labels.offsets[index]))
            yield [
                self._format_case(case, document.text, label_fields) for case in range(bounds[index], bounds[index + 1])
            ]

    def lacks_facts(self, case: int) -> bool:
        """Return whether the error labels of a case are uncertain, for lack of a fact or its text's popularity."""
        kb = self.facts.kb
        text = self.facts.pairing.texts[self.document[case]][self.start[case] : self.end[case]]
        return bool(self.undecided[case]) or kb is None or kb.popular_entities([text]) == [None]

    def list_predicted_ids(self) -> list[str | None]:
        """Return the predicted id of each case as written: empty if unlinked, None without a prediction."""
        return [None if row < 0 else self._predictions.id(row) for row in self.prediction.tolist()]

    def _build_label_fields(self, document: Document, first_row: int) -> dict[int, dict[str, Any]]:
        """Return the fields of each label of a document as ELEVANT's file has them, by row in the corpus.

        `first_row` is the row of the document's first label.
        """
        names = self.facts.gold.names
        return {
            row: msgspec.to_builtins(
                msgspec.structs.replace(label, name=names[row] or _UNKNOWN, type=label.type or _NO_TYPE)
            )
            for row, label in enumerate(to_gold_labels(document.labels), first_row)
        }

    def _format_case(self, case: int, text: str, label_fields: Mapping[int, dict[str, Any]]) -> dict[str, Any]:
        """Return the fields of a case as ELEVANT's file has them.

        `case` is the index of the case, `text` the text of its document.
        """
        gold, prediction = int(self.gold[case]), int(self.prediction[case])
        start, end = int(self.start[case]), int(self.end[case])
        parts = self.counted_parts.get(case)
        return {
            "span": [start, end],
            "text": text[start:end],
            "candidates": self._predictions.candidates(prediction),
            "predicted_by": self.facts.pairing.run.metadata.get("linked_by") if prediction >= 0 else None,
            "error_labels": {mode: labels[case] for mode, labels in self.labels.items()},
            "factor": int(self.factor[case]),
            "linking_eval_types": {mode: EVAL_TYPES[outcomes[case]] for mode, outcomes in self.linking.items()},
            "ner_eval_types": {mode: EVAL_TYPES[outcomes[case]] for mode, outcomes in self.detection.items()},
            "optional": bool(self.optional[case]),
            **({} if gold < 0 else {"true_entity": label_fields[gold]}),
            **({} if prediction < 0 else {"predicted_entity": self._predictions.entity(prediction)}),
            "mention_type": MENTION_TYPE_NAMES[self.mention_type[case]],
            **(
                {}
                if parts is None
                else {
                    "child_linking_eval_types": {
                        mode: _join_outcomes(outcomes[parts]) for mode, outcomes in self.linking.items()
                    },
                    "child_ner_eval_types": {
                        mode: _join_outcomes(outcomes[parts]) for mode, outcomes in self.detection.items()
                    },
                }
            ),
        }

    @cached_property
    def _predictions(self) -> _Predictions:
        """The fields of all predictions in ELEVANT's file, by row."""
        return _Predictions(self.facts)


class _Predictions:
    """The fields of predictions in ELEVANT's file."""

    def __init__(self, facts: Facts) -> None:
        predictions = facts.pairing.run.predictions
        self._ids: list[str] = [*predictions.names.to_pylist(), "", NIL_ID]  # the last two are for NO_LINK and NIL
        self._code = predictions.entity
        self._unmapped = facts.predictions.has_category(UNMAPPED)
        self._read = facts.predictions.entity
        self._names = facts.predictions.names
        self._types = [*map(format_types, facts.types), _NO_TYPE, _NO_TYPE]
        self._facts = facts

    def id(self, row: int) -> str:
        """Return the id of the predicted entity as written; ELEVANT's placeholder for NIL, empty if unlinked."""
        id: str = self._ids[self._code[row]]
        return NO_MAPPING if id == NIL_ID and self._unmapped[row] else id

    def entity(self, row: int) -> dict[str, str]:
        """Return the predicted entity as ELEVANT's file has it: id, name and type."""
        return {
            "entity_id": self.id(row),
            "name": self._names[row] or _UNKNOWN,
            "type": self._types[self._read[row]],
        }

    def candidates(self, row: int) -> list[dict[str, str]]:
        """Return the candidates of a prediction with id and name; empty for row -1, no prediction."""
        if row < 0:
            return []
        offsets = self._facts.predictions.candidates[0]
        return self._candidates[offsets[row] : offsets[row + 1]]

    @cached_property
    def _candidates(self) -> list[dict[str, str]]:
        """The candidates of all predictions, one after the other, with id and name."""
        ids, kb = self._facts.predictions.candidates[1], self._facts.kb
        names = [None] * len(ids) if kb is None else kb.names(ids)
        return [{"entity_id": id, "name": name or _UNKNOWN} for id, name in zip(ids, names, strict=True)]


def format_types(types: frozenset[str] | None) -> str:
    """Return the types of an entity as ELEVANT writes them: sorted, joined by `|`.

    `OTHER` if `types` is None (unknown) or empty. If `types` contains `QUANTITY` or `DATETIME`, only that one is
    returned.
    """
    for kind in KINDS.values():
        if types and kind in types:
            return kind
    return "|".join(sorted(types or ())) or _NO_TYPE


def _join_outcomes(outcomes: Ints) -> list[str]:
    """Return the distinct names that ELEVANT has for `outcomes` (codes of outcomes), sorted."""
    return sorted({name for outcome in outcomes.tolist() for name in EVAL_TYPES[outcome]})


def list_cases(result: Result) -> ElevantCases:
    """Return all cases of an evaluation with ELEVANT's two modes, NIL ignored and NIL required.

    Raise `KaratError` if the result was read from a file, and `UsageError` if views, error categories or
    `assignment=lookup` are missing.
    """
    evaluation: JudgedEvaluation | None = result.evaluation
    if evaluation is None:
        raise KaratError("a result read from a file has no cases. Score the files again.")
    required_views = {name for part in MODES.values() for name in _view_names(part)}
    if required_views - result.views.keys() or "error" not in result.groups:
        raise UsageError(
            f"ELEVANT's cases need the views {', '.join(sorted(required_views))} by error. Score with --layout elevant."
        )
    verdicts = {name: evaluation.verdicts(name) for name in sorted(required_views)}
    link = verdicts["strong"]
    gold, prediction, tree = link.gold, link.prediction, link.tree
    if tree is None or result.signature["assignment"] != "lookup":  # other assignments have different trees
        raise UsageError(f"ELEVANT's cases need assignment=lookup. Score with {format_option('profile', 'elevant')}.")
    facts = evaluation.facts
    labels, predictions = facts.pairing.corpus.labels, facts.pairing.run.predictions
    start, end = (
        _take_by_case(labels.start, predictions.start, gold, prediction),
        _take_by_case(labels.end, predictions.end, gold, prediction),
    )
    side = np.where(gold < 0, _UNMATCHED_PREDICTION, np.where(tree.is_part, _PART, _MENTION))
    order = np.lexsort((np.append(_number_labels(labels), 0)[gold], side, end, start, link.document))
    outcomes = {
        name: _get_case_outcomes(verdicts[name])[order] for part in MODES.values() for name in _view_names(part)
    }
    error_labels, undecided = _find_error_labels(evaluation, order)
    return ElevantCases(
        facts=facts,
        document=link.document[order],
        gold=gold[order],
        prediction=prediction[order],
        start=start[order],
        end=end[order],
        factor=tree.is_counted[order],
        optional=np.append(facts.pairing.corpus.mention_index.optional, False)[gold][order],
        mention_type=_take_by_case(facts.gold.mention_type, facts.predictions.mention_type, gold, prediction)[order],
        linking={mode: outcomes[_view_names(part)[0]] for mode, part in MODES.items()},
        detection={mode: outcomes[_view_names(part)[1]] for mode, part in MODES.items()},
        labels=error_labels,
        undecided=undecided,
        counted_parts=_find_counted_parts(
            facts, gold[order], ~tree.is_counted[order] & (side[order] == _MENTION), tree.is_counted[order]
        ),
    )


def _view_names(part: str) -> tuple[str, str]:
    """Return the names of the linking view and the detection view of a mode; `part` is the filter of its views."""
    return f"strong{part}", f"mention{part}"


def _take_by_case(label_values: Ints, prediction_values: Ints, gold: Longs, prediction: Longs) -> Ints:
    """Return for each case the value of its label, or of its prediction if it has no label.

    `gold` and `prediction` are the rows of each case's label and prediction, -1 if none.
    """
    return np.where(
        gold >= 0, np.append(label_values, np.int32(0))[gold], np.append(prediction_values, np.int32(0))[prediction]
    )


def _get_case_outcomes(verdicts: Verdicts) -> Ints:
    """Return the `Outcome` of each case; parts of a segmentation have their own, before alternatives were combined."""
    assert verdicts.tree is not None
    return np.where(verdicts.tree.is_part, verdicts.tree.own_outcome, verdicts.outcome)


def _number_labels(labels: Mentions) -> Longs:
    """Return numbers that order the labels of one span: numeric mention ids, or else positions in the document."""
    positions = np.arange(len(labels)) - labels.offsets[labels.document]
    mention_ids = labels.field("mention_id")
    if mention_ids is None:
        return positions
    is_number = pc.match_substring_regex(mention_ids, "^[0-9]{1,9}$")
    numbers = pc.if_else(is_number, mention_ids, pa.scalar(None, pa.string())).cast(pa.int64()).fill_null(-1).to_numpy()
    return np.where(numbers >= 0, numbers, positions)


def _find_counted_parts(facts: Facts, gold: Longs, is_split: Bools, factor: Bools) -> dict[int, Longs]:
    """Return for each mention that is scored by its parts, by case, the cases of those parts that count.

    `gold` is the label of each case, `is_split` marks the cases of such mentions, `factor` the cases that count.
    """
    case_by_row = dict(zip(gold.tolist(), range(len(gold)), strict=True)) if is_split.any() else {}
    parts_by_case = {}
    for root in np.flatnonzero(is_split).tolist():
        parts = [
            case_by_row[row]
            for row in sorted(facts.pairing.trees.find_descendants(int(gold[root])))
            if row in case_by_row
        ]
        parts_by_case[root] = np.array([part for part in parts if factor[part]], np.int64)
    return parts_by_case


def _find_error_labels(evaluation: JudgedEvaluation, order: Longs) -> tuple[dict[str, list[tuple[str, ...]]], Bools]:
    """Return ELEVANT's sorted error labels of each case by mode, and a mask of cases undecided in some category.

    `order` lists the verdicts in the order of the cases.
    """
    size = len(order)
    rank = np.empty(size, np.int64)
    rank[order] = np.arange(size)
    undecided = np.zeros(size, np.bool_)
    labels_by_mode: dict[str, list[tuple[str, ...]]] = {}
    for mode, part in MODES.items():
        categorised = evaluation.categorise_cases(_view_names(part)[0])
        cases = rank[categorised.table.verdict_index]
        masks: dict[str, Bools] = {}
        for name, category in categorised.masks.items():
            if name in NAMES:
                name_there = NAMES[name]
                for label, mask in ((name_there.error, category.error), (name_there.avoided, category.avoided)):
                    if label and mask is not None:
                        masks[label] = mask
            undecided[cases[category.undecided]] = True
        lists: list[tuple[str, ...]] = [()] * size
        for case, labels in zip(cases.tolist(), _collect_names(masks), strict=True):
            lists[case] = labels
        labels_by_mode[mode] = lists
    return labels_by_mode, undecided


def _collect_names(masks: Mapping[str, Bools]) -> list[tuple[str, ...]]:
    """Return for each case the sorted names whose mask is true; equal tuples are shared."""
    names = sorted(masks)
    is_held = np.array([masks[name] for name in names])
    bits = np.ascontiguousarray(np.packbits(is_held, axis=0).T)
    keys: list[bytes] = bits.view(f"V{bits.shape[1]}").reshape(-1).tolist()
    sets = {
        key: tuple(name for name, holds in zip(names, is_held[:, case], strict=True) if holds)
        for key, case in dict(zip(keys, range(len(keys)), strict=True)).items()
    }
    return [sets[key] for key in keys]
