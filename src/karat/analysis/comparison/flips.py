"""Comparison of systems on individual mentions: flips, and linking of commonly detected mentions.

A view is a match relation with filters, such as `strong[nil]`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import astuple, force_setattr

from karat.analysis.comparison.grid import Grid
from karat.evaluation.evaluation import Evaluation
from karat.matching.facts.facts import Facts
from karat.matching.facts.sentence import sentence_around
from karat.matching.read.facets import corpus_facet_values, get_facet
from karat.model.corpus import NO_TEXT_NOTE, Corpus
from karat.model.errors import UsageError
from karat.model.output.json_files import JsonRecord
from karat.model.registry import get_plugin, list_plugins
from karat.model.spec.facet import Facet
from karat.model.spec.settings.task import TASKS
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import NIL, Bools, Longs, group_by_span
from karat.model.tables.facet_values import FacetValues
from karat.stats.significance.mcnemar import mcnemar_from_counts

ERROR: Final = "error"
"""Name of the facet of error categories."""

OUTCOME: Final = "outcome"
"""Facet by which flips are always counted: how the other system failed."""

_FAILURE_COLUMNS: Final = (
    "outcome",
    "prediction",
    "prediction_start",
    "prediction_end",
    "prediction_nil",
    "prediction_entity",
    "mention_type",
    "errors",
)
"""Columns of the verdict table that describe a failure."""


class DetectionStats(JsonRecord, frozen=True):
    """Counts of detected and correctly linked mentions of one system."""

    mentions: int
    """Number of mentions."""
    detected: int
    """Number of mentions that the system detects."""
    correct: int
    """Number of detected mentions that it links correctly."""
    common: int
    """Number of mentions that all systems detect. Mentions on one span are counted, not compared: if a system detects
    two of them and another system one, one is common."""
    common_correct: int
    """Number of `common` mentions that the system links correctly."""
    coverage: float | None = None
    """Share of mentions that are detected, computed by the constructor; None without mentions."""
    accuracy: float | None = None
    """Share of detected mentions that are linked correctly, computed likewise; None if none is detected."""
    common_accuracy: float | None = None
    """Share of the `common` mentions that are linked correctly, computed likewise; None if there are none."""

    def __post_init__(self) -> None:
        force_setattr(self, "coverage", self.detected / self.mentions if self.mentions else None)
        force_setattr(self, "accuracy", self.correct / self.detected if self.detected else None)
        force_setattr(self, "common_accuracy", self.common_correct / self.common if self.common else None)

    def merge(self, other: DetectionStats) -> DetectionStats:
        """Return new counts, the sums of both."""
        sums = (a + b for a, b in zip(astuple(self)[:5], astuple(other)[:5], strict=True))
        return DetectionStats(*sums)


@dataclass(frozen=True, slots=True)
class Flips:
    """Counts of mentions that only one of two systems links correctly."""

    system_a: str
    """First system."""
    system_b: str
    """Second system."""
    only_a: int
    """Number of mentions that only `system_a` links correctly."""
    only_b: int
    """Number of mentions that only `system_b` links correctly."""
    both: int
    """Number of mentions that both link correctly."""
    neither: int
    """Number of mentions that neither links correctly."""
    p: float | None
    """P-value of McNemar's test over mentions. Mentions of a document are not independent."""
    by: Mapping[str, Mapping[str, tuple[int, int]]]
    """By facet and value, the pair of `only_a` and `only_b`. The facet `outcome` is how the other system failed."""


class _MentionOutcomes(NamedTuple):
    """Outcomes of one system on all mentions, as arrays over label rows; a mention is at its first label row.

    `case_row` is the row of the mention's case in `cases`, or -1. `is_counted`, `correct` and `is_detected` are masks;
    `is_detected` is None for a view without detection.
    """

    case_row: Longs
    is_counted: Bools
    correct: Bools
    is_detected: Bools | None
    cases: Arrow
    facts: Facts


@dataclass(frozen=True, eq=False)
class MentionsBySystem:
    """Outcomes of all systems on the mentions of one dataset. A mention is identified by its first label row."""

    dataset: str
    """Name of the dataset."""
    view: str
    """View that is compared."""
    corpus: Corpus
    """Gold standard."""
    facets: tuple[str, ...]
    """Facets by which flips are counted."""
    outcomes: Mapping[str, _MentionOutcomes]
    """Outcomes by system."""

    @cached_property
    def common_rows(self) -> Longs:
        """Label rows of the mentions that count for every system."""
        return np.flatnonzero(np.logical_and.reduce([outcomes.is_counted for outcomes in self.outcomes.values()]))

    @property
    def n_differing(self) -> int:
        """Number of mentions that count for some systems only."""
        return int(np.logical_or.reduce([outcomes.is_counted for outcomes in self.outcomes.values()]).sum()) - len(
            self.common_rows
        )

    def detection_stats(self) -> dict[str, DetectionStats] | None:
        """Count detected and correctly linked mentions by system; None if the view has no detection.

        Only mentions that count for every system are counted.
        """
        rows = self.common_rows
        masks = {
            system: outcomes.is_detected[rows]
            for system, outcomes in self.outcomes.items()
            if outcomes.is_detected is not None
        }
        if len(masks) < len(self.outcomes):
            return None
        span, n_labels = group_by_span(self.corpus.labels)[rows], len(self.corpus.labels)
        common = np.min([np.bincount(span[detected], minlength=n_labels) for detected in masks.values()], axis=0)
        counts = {}
        for system, detected in masks.items():
            is_linked = detected & self.outcomes[system].correct[rows]
            common_linked = np.minimum(np.bincount(span[is_linked], minlength=n_labels), common)
            sums = map(int, (detected.sum(), is_linked.sum(), common.sum(), common_linked.sum()))
            counts[system] = DetectionStats(len(rows), *sums)
        return counts

    def flips(self, system_a: str, system_b: str) -> Flips:
        """Count the mentions that only one of two systems links correctly, in total and by facet.

        Only mentions that count for every system are counted.
        """
        correct_a, correct_b = (self.outcomes[name].correct[self.common_rows] for name in (system_a, system_b))
        only = [self.common_rows[correct_a & ~correct_b], self.common_rows[correct_b & ~correct_a]]
        counts = [self._count_values(rows, loser) for rows, loser in zip(only, (system_b, system_a), strict=True)]
        by = {
            facet: {
                value: (counts[0][facet].get(value, 0), counts[1][facet].get(value, 0))
                for value in sorted({*counts[0][facet], *counts[1][facet]})
            }
            for facet in (OUTCOME, *self.facets)
        }
        both = int((correct_a & correct_b).sum())
        sizes = len(only[0]), len(only[1])
        return Flips(
            system_a, system_b, *sizes, both, len(correct_a) - both - sum(sizes), mcnemar_from_counts(*sizes).p, by
        )

    def _count_values(self, rows: Longs, loser: str) -> dict[str, dict[str, int]]:
        """Count the values of each facet over the mentions in `rows`, on which the system `loser` fails."""
        counts = {}
        for facet in (OUTCOME, *self.facets):
            values = pc.value_counts(self._get_facet_values(rows, loser, facet)).to_pylist() if len(rows) else []
            counts[facet] = {item["values"]: item["counts"] for item in values if item["values"] is not None}
        return counts

    def _get_facet_values(self, rows: Longs, loser: str, facet: str) -> Arrow:
        """Return the values of a facet on the mentions in `rows`, in one flat array.

        A mention may have several values or none. A facet of cases, such as the outcome, is read from the cases of the
        system `loser`.
        """
        column_name = OUTCOME if facet == OUTCOME else _case_column(facet)
        if column_name is not None:
            outcomes = self.outcomes[loser]
            column = outcomes.cases.column(column_name).take(pa.array(outcomes.case_row[rows]))
            flat = column.combine_chunks()
            return flat.flatten() if pa.types.is_list(flat.type) else flat
        values = self._mention_values(facet)
        return pa.array(values.names).take(pa.array(values.lists.take(rows).values))

    def _mention_values(self, name: str) -> FacetValues:
        """Return the values of a facet for all labels, from the data, the knowledge base or the systems' outcomes."""
        facet = get_facet(name, self.corpus.labels)
        if facet.from_outcomes is not None:
            return facet.from_outcomes(np.stack([outcomes.correct for outcomes in self.outcomes.values()]))
        if facet.from_facts is not None:
            facts = next(iter(self.outcomes.values())).facts
            return facet.from_facts(facts, facts.gold)
        return corpus_facet_values(self.corpus, name)

    def flip_records(self) -> Iterator[dict[str, Any]]:
        """Yield a record for each mention that some systems link correctly and others do not, by document and span.

        A record has the mention, the systems that are `correct`, and how the other systems are `wrong`.
        """
        correct = np.stack([outcomes.correct[self.common_rows] for outcomes in self.outcomes.values()])
        rows = self._sort_rows(self.common_rows[correct.any(axis=0) & ~correct.all(axis=0)])
        failures = {system: self._describe_failures(system, rows) for system in self.outcomes}
        for index, (row, record) in enumerate(zip(rows.tolist(), self._describe_mentions(rows), strict=True)):
            record["correct"] = [system for system, outcomes in self.outcomes.items() if outcomes.correct[row]]
            record["wrong"] = [
                failures[system][index] for system, outcomes in self.outcomes.items() if not outcomes.correct[row]
            ]
            yield record

    def _sort_rows(self, rows: Longs) -> Longs:
        """Sort label rows by document id and offsets."""
        labels, ids = self.corpus.labels, self.corpus.ids.to_pylist()
        document = [ids[index] for index in labels.document[rows].tolist()]
        keys = zip(document, labels.start[rows].tolist(), labels.end[rows].tolist(), rows.tolist(), strict=True)
        return np.array([key[-1] for key in sorted(keys)], np.int64)

    def _describe_mentions(self, rows: Longs) -> Iterator[dict[str, Any]]:
        """Yield for each mention in `rows` the fields of a flip record that do not depend on the systems."""
        labels, ids = self.corpus.labels, self.corpus.ids.to_pylist()
        texts = None if self.corpus.skipped.get(NO_TEXT_NOTE) or not self.corpus.has_text else self.corpus.texts
        names = next(iter(self.outcomes.values())).facts.gold.names
        facet_values = {facet: self._mention_values(facet) for facet in self.facets if _case_column(facet) is None}
        cases = self._select_cases(next(iter(self.outcomes)), rows) if "mention-type" in self.facets else []
        spans = zip(labels.document[rows].tolist(), labels.start[rows].tolist(), labels.end[rows].tolist(), strict=True)
        entities = labels.entity_ids(rows).to_pylist()
        for index, (row, (document, start, end)) in enumerate(zip(rows.tolist(), spans, strict=True)):
            record: dict[str, Any] = {"dataset": self.dataset, "view": self.view, "document": ids[document]}
            record |= {"start": start, "end": end}
            if texts is not None:
                sentence = sentence_around(texts[document], start, end)
                record |= {
                    "text": texts[document][start:end],
                    "sentence": sentence.text,
                    "sentence_start": sentence.offset,
                }
            record |= {"nil": True} if labels.entity[row] == NIL else {"entity": entities[index]}
            record |= {"name": names[row]} if names[row] else {}
            for facet, values in facet_values.items():
                codes = values.lists.values[values.lists.offsets[row] : values.lists.offsets[row + 1]]
                record[facet] = [values.names[code] for code in codes.tolist()]
            yield record | ({"mention-type": cases[index]["mention_type"]} if cases else {})

    def _select_cases(self, system: str, rows: Longs) -> list[dict[str, Any]]:
        """Return the case of a system on each mention in `rows` as a record.

        A record has those of `_FAILURE_COLUMNS` that the verdict table has.
        """
        outcomes = self.outcomes[system]
        columns = [name for name in _FAILURE_COLUMNS if name in outcomes.cases.column_names]
        cases: list[dict[str, Any]] = outcomes.cases.select(columns).take(pa.array(outcomes.case_row[rows])).to_pylist()
        return cases

    def _describe_failures(self, system: str, rows: Longs) -> list[dict[str, Any]]:
        """Describe what a system did on each mention in `rows`: outcome, and its prediction if there is one."""
        records, names = [], self.outcomes[system].facts.prediction_names(use_labels=True)
        for case in self._select_cases(system, rows):
            record = {"system": system, "outcome": case["outcome"]}
            if case["prediction_start"] is not None:
                record |= {"start": case["prediction_start"], "end": case["prediction_end"]}
                record |= {"nil": True} if case["prediction_nil"] else {"entity": case["prediction_entity"]}
                record |= {"name": names[case["prediction"]]} if names[case["prediction"]] else {}
            records.append(record | ({"errors": case["errors"]} if ERROR in self.facets else {}))
        return records


def collect_mentions(grid: Grid, dataset: str) -> MentionsBySystem | None:
    """Return the outcomes of all systems on the mentions of a dataset, in the view of the grid's measure.

    Returns None for results, for fewer than two systems, and if the measure has no individual mentions.
    """
    row, corpus, name = grid.cells[dataset], grid.corpus(dataset), grid.measure_name
    evaluations = {system: cell.evaluation for system, cell in row.items() if cell.evaluation is not None}
    if corpus is None or len(evaluations) < len(row) or len(row) < 2:
        return None
    task = name.view.task or grid.request.conventions.task_name
    if name.group is not None or TASKS[task].source != "mentions":
        return None
    if str(name.view) not in next(iter(row.values())).result.views:
        return None
    mention_row = next(iter(evaluations.values())).inputs.pairing().mention_index.mention
    outcomes = {
        system: _collect_outcomes(evaluation, str(name.view), mention_row) for system, evaluation in evaluations.items()
    }
    return MentionsBySystem(dataset, str(name.view), corpus, grid.facets, outcomes)


def _case_column(facet: str) -> str | None:
    """Return the column of the verdict table that has the values of `facet`, or None.

    None if the facet is computed from gold mentions, not stored in a column, or is a category dimension of the data.
    """
    return get_plugin("facets", facet, Facet).column if facet in list_plugins("facets") else None


def check_facets(by: Sequence[str]) -> None:
    """Raise `UsageError` if `by` contains `doc`, which does not describe individual mentions."""
    if "doc" in by:
        raise UsageError("flips cannot be counted by doc, which is not a facet of mentions. Use mention-type or types.")


def _collect_outcomes(evaluation: Evaluation, view: str, mention_row: Longs) -> _MentionOutcomes:
    """Return the outcomes of a system on all mentions in a view.

    `mention_row` has, for each label, the first label row of its mention.
    """
    cases = evaluation.table(view)
    gold, matched, missed = (_column_to_numpy(cases, name) for name in ("gold", "matched_gold", "unmatched_gold"))
    is_counting = (gold >= 0) & (matched + missed > 0)
    case_row = np.full(len(mention_row), -1, np.int64)
    is_counted, correct = np.zeros((2, len(mention_row)), np.bool_)
    rows = mention_row[gold[is_counting].astype(np.int64)]
    case_row[rows] = np.flatnonzero(is_counting)
    is_counted[rows] = True
    is_linked = is_counting & (matched > 0)
    correct[mention_row[gold[is_linked].astype(np.int64)]] = True
    linking_predictions = _column_to_numpy(cases, "prediction")[is_linked]
    detected = _find_detected(evaluation, view, mention_row, is_counted, correct, linking_predictions)
    facts = evaluation.inputs.get_facts(evaluation.plans.views[view].source)
    return _MentionOutcomes(case_row, is_counted, correct, detected, cases, facts)


def _find_detected(
    evaluation: Evaluation,
    view: str,
    mention_row: Longs,
    is_counted: Bools,
    correct: Bools,
    linking_predictions: Longs,
) -> Bools | None:
    """Return a mask over label rows of the detected mentions, as accuracy counts them.

    Returns None for a view without detection. A correctly linked mention is detected. If several mentions share a span,
    a prediction may detect another mention than it links correctly; only the linked mention is marked. If the marked
    mentions are still not as many as accuracy counts, as many are marked in each document, if there are enough. (Under
    BAT's conventions accuracy may count a mention once per prediction, or fewer mentions than are linked correctly.)
    """
    cases, statistics = evaluation.detection_verdicts(view), evaluation.views[view].detection_statistics
    if cases is None or statistics is None:
        return None
    is_match = (cases.gold >= 0) & (cases.weights()[:, 2] > 0)
    links_no_other = is_match & ~np.isin(cases.prediction, linking_predictions)
    flagged, detected = np.zeros(len(mention_row), np.bool_), correct.copy()
    flagged[mention_row[cases.gold[is_match]]] = True
    detected[mention_row[cases.gold[links_no_other]]] = True
    labels, n_matched = evaluation.inputs.corpus.labels, statistics.matched_gold
    is_ambiguous = np.bincount(labels.document[detected], minlength=len(n_matched)) != n_matched
    for document in np.flatnonzero(is_ambiguous).tolist():
        rows = np.arange(*labels.offsets[document : document + 2])
        spans = {(labels.start[row], labels.end[row]) for row in rows[detected[rows]].tolist()}
        candidates = sorted(
            rows[is_counted[rows] & ~correct[rows]].tolist(),
            key=lambda row: (
                not detected[row],
                not flagged[row],
                (labels.start[row], labels.end[row]) not in spans,
                labels.start[row],
                labels.end[row],
                row,
            ),
        )
        detected[rows] = correct[rows]
        detected[candidates[: max(0, round(n_matched[document]) - int(correct[rows].sum()))]] = True
    return detected


def _column_to_numpy(table: Arrow, name: str) -> Any:  # noqa: ANN401  # integer or float, depending on the column
    """Return a column of a table as an array, with -1 for null."""
    column = table.column(name)
    filled = pc.fill_null(column, pa.scalar(-1, column.type)) if column.null_count else column
    return filled.to_numpy()


def pooled_flips(
    mentions: Sequence[MentionsBySystem], systems: Sequence[str], facets: Sequence[str]
) -> tuple[Flips, ...]:
    """Return the flips of each pair of systems, summed over datasets; pairs that share no dataset are omitted."""
    pooled = []
    for a, b in combinations(systems, 2):
        parts = [m.flips(a, b) for m in mentions if a in m.outcomes and b in m.outcomes]
        if not parts:
            continue
        only_a, only_b = sum(part.only_a for part in parts), sum(part.only_b for part in parts)
        pooled.append(
            Flips(
                a,
                b,
                only_a,
                only_b,
                both=sum(part.both for part in parts),
                neither=sum(part.neither for part in parts),
                p=mcnemar_from_counts(only_a, only_b).p,
                by={facet: _sum_pairs([part.by[facet] for part in parts]) for facet in (OUTCOME, *facets)},
            )
        )
    return tuple(pooled)


def _sum_pairs(parts: Sequence[Mapping[str, tuple[int, int]]]) -> dict[str, tuple[int, int]]:
    """Add pairs of counts (only the first system correct, only the second) by facet value."""
    values = sorted({value for part in parts for value in part})
    sums = {value: [part.get(value, (0, 0)) for part in parts] for value in values}
    return {value: (sum(a for a, _ in pairs), sum(b for _, b in pairs)) for value, pairs in sums.items()}
