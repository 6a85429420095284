"""The sums of all blocks merged: the counts of the whole corpus, however it was divided.

A view is a match relation with filters, such as `strong[nil]`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property, reduce
from typing import Any

import numpy as np
import pyarrow as pa
from msgspec.structs import replace
from numpy.typing import NDArray

from karat.evaluation.block import BlockSums, LazyBlockSums, SweepSums, ViewSums
from karat.evaluation.cases.errors import CategoryCounts, mark_missing_candidates
from karat.evaluation.cases.grouped_sums import GroupedSums, join_grouped_sums
from karat.evaluation.cases.id_health import IdStatistics, find_mismatch
from karat.evaluation.cases.input_checks import InputChecks
from karat.evaluation.plan import Plan
from karat.evaluation.thresholds import Steps, join_steps
from karat.matching.judge.neleval_keys import CrossDocumentData, merge_blocks
from karat.matching.read.task_data import DataCounts
from karat.model.counts.skip_counter import SkipCounter, locate_positive, rename_counts
from karat.model.results.clusters import ClusterMembers
from karat.model.results.ranking import Ranking
from karat.model.results.statistics import Statistics
from karat.model.spec.settings.task import TaskSource
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Bools, Floats, Longs

_MERGE_SIZE = 1_000_000  # pairs of mention and cluster that are collected before they are merged
_MAX_PAIRS = 20_000_000  # pairs that are kept at most, about two gigabytes


def describe_skipped(gold: Mapping[str, int], predictions: Mapping[str, int]) -> Mapping[str, int]:
    """Return the counts of both readers by description, each behind the name of its file.

    Systems write their counts with the noun, such as `predictions found in different case`.
    """
    counts = SkipCounter(rename_counts(gold, "gold: {}".format))
    counts.update(rename_counts(predictions, lambda text: f"predictions: {text.removeprefix('predictions ')}"))
    return locate_positive(counts, "")


class DocumentOrder:
    """The order of the documents of all blocks: by their rows in the gold standard."""

    def __init__(self, rows: Sequence[Longs]) -> None:
        self.is_single_block = len(rows) == 1
        all_rows = np.concatenate([np.zeros(0, np.int64), *rows])
        self.order = np.argsort(all_rows, kind="stable")  # fast if they are in order already
        self.rows = all_rows[self.order]
        rank = np.empty(len(all_rows), np.int64)
        rank[self.order] = np.arange(len(all_rows))
        self.positions: list[Longs] = np.split(rank, np.cumsum([len(row) for row in rows])[:-1])

    def arrange(self, parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
        """Concatenate arrays with one entry per document, one array per block, in the order of the gold standard."""
        return parts[0] if self.is_single_block else np.concatenate(parts)[self.order]


class EvaluationSums:
    """The merged sums of all blocks."""

    def __init__(self, blocks: Sequence[BlockSums | LazyBlockSums]) -> None:
        self.blocks = blocks
        self.order = DocumentOrder([block.row for block in blocks])
        self._members_cache: dict[str, ClusterMembers] = {}

    @cached_property
    def ids(self) -> Arrow:
        """Ids of all documents, in the order of the gold standard."""
        if self.order.is_single_block:
            return self.blocks[0].ids
        return pa.concat_arrays([block.ids for block in self.blocks]).take(pa.array(self.order.order))

    def data_counts(self, side: int) -> DataCounts:
        """Return how much data of each kind the gold standard (`side` 0) or the run (`side` 1) has."""
        total = DataCounts()
        for block in self.blocks:
            total = total.merge(block.data_counts[side])
        return total

    @property
    def skipped(self) -> dict[str, int]:
        """Counts of excluded items by description."""
        counts: dict[str, int] = {}
        for block in self.blocks:
            for description, count in block.skipped.items():
                counts[description] = counts.get(description, 0) + count
        return counts

    @property
    def input_checks(self) -> InputChecks:
        """Findings about likely mistakes in the whole input."""
        total, *rest = (block.input_checks for block in self.blocks)
        for checks in rest:
            total = total.merge(checks)
        return total

    @property
    def id_statistics(self) -> tuple[IdStatistics, IdStatistics] | None:
        """How ids are written on both sides, or None if no links are compared."""
        blocks = [block.id_statistics for block in self.blocks if block.id_statistics is not None]
        gold, predictions = ([statistics[side] for statistics in blocks] for side in (0, 1))
        return (reduce(IdStatistics.merge, gold), reduce(IdStatistics.merge, predictions)) if blocks else None

    @property
    def mismatch(self) -> str | None:
        """Why no predicted id can match a gold id; None if some can or no links are compared."""
        if any(isinstance(block, LazyBlockSums) and block.has_shared_id for block in self.blocks):
            return None
        id_statistics = self.id_statistics
        return None if id_statistics is None else find_mismatch(*id_statistics)

    @property
    def undecided_counts(self) -> tuple[int, int]:
        """The two counts of `karat.evaluation.cases.facet_values.count_undecided`."""
        return sum(block.undecided_counts[0] for block in self.blocks), sum(
            block.undecided_counts[1] for block in self.blocks
        )

    @property
    def source_counts(self) -> dict[str, int]:
        """The counts of `karat.evaluation.cases.facet_values.count_sources`, added over blocks."""
        counts: Counter[str] = Counter()
        for block in self.blocks:
            counts.update(block.source_counts)
        return dict(counts)

    def has_gold(self, source: TaskSource) -> Bools:
        """Return the mask of documents that have gold items of a kind."""
        return self.order.arrange([block.has_gold[source] for block in self.blocks])

    def _list_view_sums(self, name: str) -> list[tuple[ViewSums, Longs]]:
        """Return the sums of a view in each block that has documents, with the documents' indices in the whole."""
        blocks = zip(self.blocks, self.order.positions, strict=True)
        return [(block.views[name], positions) for block, positions in blocks if name in block.views]

    def statistics(self, name: str) -> Statistics:
        """Return the sums of the four `Weights` of each document in a view, in the order of the gold standard."""
        return self._join_statistics([sums.weights for sums, _ in self._list_view_sums(name)])

    def detection(self, name: str) -> Statistics | None:
        """Return the sums of the four `Weights` of detection, by document, in a view; None if no measure needs them."""
        parts = [sums.detection for sums, _ in self._list_view_sums(name) if sums.detection is not None]
        return self._join_statistics(parts) if parts else None

    def _join_statistics(self, parts: Sequence[NDArray[Any]]) -> Statistics:
        """Join the sums by document of each block; no blocks give statistics without documents."""
        if not parts:
            return Statistics(np.zeros((0, 4)))
        return Statistics(np.ascontiguousarray(self.order.arrange(parts), np.float64))

    def had_cases(self, name: str) -> bool:
        """Return whether a filtered view had cases in any block before a tuned threshold."""
        return any(sums.had_cases for sums, _ in self._list_view_sums(name))

    def ranking(self, name: str) -> Ranking:
        """Return the ranked entities of all documents in a view whose measures need them."""
        rankings = [
            (ranking.ranking, positions)
            for ranking, positions in self._list_view_sums(name)
            if ranking.ranking is not None
        ]
        document = np.concatenate([positions[ranking.document] for ranking, positions in rankings])
        gold = np.concatenate([positions[ranking.gold_document] for ranking, positions in rankings])
        order, gold_order = np.argsort(document, kind="stable"), np.argsort(gold, kind="stable")
        return Ranking(
            len(self.order.rows),
            document[order],
            np.concatenate([ranking.gain for ranking, _ in rankings])[order],
            gold[gold_order],
            np.concatenate([ranking.gold_gain for ranking, _ in rankings])[gold_order],
        )

    def scored_predictions(self, name: str) -> tuple[Floats, Floats]:
        """Return the scores of a view's counted predictions that have one, and the degree to which each is correct."""
        parts = [
            sums.scored_predictions for sums, _ in self._list_view_sums(name) if sums.scored_predictions is not None
        ]
        return np.concatenate([scores for scores, _ in parts]), np.concatenate([correct for _, correct in parts])

    def scored_documents(self, name: str) -> Longs:
        """Return the document index of each prediction in `scored_predictions`."""
        parts = [(sums.scored_documents, positions) for sums, positions in self._list_view_sums(name)]
        return np.concatenate([positions[documents] for documents, positions in parts if documents is not None])

    def case_weights(self, name: str) -> Floats:
        """Return the four `Weights` of each case of a view, one row per case; intervals must resample cases.

        The columns are matched and unmatched predictions, matched and unmatched gold. Within a block, cases
        with equal weights are adjacent, so that cases are not in the order of the corpus.
        """
        parts = [sums.case_weights for sums, _ in self._list_view_sums(name) if sums.case_weights is not None]
        return np.concatenate([np.repeat(part.rows, part.counts, axis=0) for part in parts])

    def get_grouped_sums(self, facet: str, view: str) -> GroupedSums:
        """Return the summed weights of a view's cases by facet value and document."""
        blocks = zip(self.blocks, self.order.positions, strict=True)
        parts = [
            (block.grouped_sums[facet][view], positions)
            for block, positions in blocks
            if view in block.grouped_sums.get(facet, {})
        ]
        return join_grouped_sums(parts)

    def document_values(self, facet: str) -> Arrow:
        """Return the value of a document facet for each document, null if it has none."""
        parts = [block.document_values[facet] for block in self.blocks]
        return parts[0] if self.order.is_single_block else pa.concat_arrays(parts).take(pa.array(self.order.order))

    def has_predicted_facet(self, facet: str) -> bool:
        """Return whether any prediction has a value of a facet."""
        return any(facet in block.predicted_facets for block in self.blocks)

    def category_counts(self, view: str) -> Mapping[str, CategoryCounts]:
        """Return the errors and opportunities of each error category in a view, by document.

        Candidate categories are undefined if no prediction has several candidates.
        """
        parts = [block.category_counts[view] for block in self.blocks if view in block.category_counts]
        counts = {name: self._join_counts([part[name] for part in parts]) for name in parts[0]}
        return counts if view in self.views_with_candidates else mark_missing_candidates(counts)

    @property
    def views_with_candidates(self) -> frozenset[str]:
        """The views in which some prediction has several candidates."""
        return frozenset().union(*(block.views_with_candidates for block in self.blocks))

    def cluster_members(self, name: str) -> ClusterMembers:
        """Return all mentions of both sides with their clusters; `name` is a `Plan.cross_document_key`."""
        if name not in self._members_cache:
            blocks = zip(self.blocks, self.order.positions, strict=True)
            parts = [
                (block.cross_document_data[name], positions)
                for block, positions in blocks
                if name in block.cross_document_data
            ]
            self._members_cache[name] = merge_blocks(parts).members
        return self._members_cache[name]

    def overflow_size(self, plan: Plan) -> int | None:
        """Return the number of clustered mentions if an indivisible view had too many to keep, else None."""
        return self.blocks[-1].overflows.get(plan.cross_document_key) if plan.is_indivisible else None

    def _join_counts(self, parts: Sequence[CategoryCounts]) -> CategoryCounts:
        """Join the counts of one error category from several blocks."""
        totals = [part.total for part in parts if part.total is not None]
        return CategoryCounts(
            self.order.arrange([part.errors for part in parts]),
            self.order.arrange(totals) if totals else None,
            sum(part.undecided for part in parts),
            parts[0].reason,
            parts[0].is_defined,
        )


class CrossDocumentCollector:
    """Collects the data of indivisible views from blocks, merging it as it arrives to save memory.

    Data that must stay separable by document is not merged. Views with too much data are dropped and counted.
    """

    def __init__(self, *, by_document: bool) -> None:
        self.by_document = by_document
        self.collected: dict[str, list[CrossDocumentData]] = {}
        self.overflows: dict[str, int] = {}

    def add(self, block: BlockSums) -> BlockSums:
        """Collect the cross-document data of a block; return the block without it, or unchanged if `by_document`."""
        for name, data in block.cross_document_data.items():
            if name in self.overflows:
                self.overflows[name] += len(data)
            else:
                self._store_view_data(name, data)
        return block if self.by_document else replace(block, cross_document_data={})

    def _store_view_data(self, name: str, data: CrossDocumentData) -> None:
        """Store the data of one view; merge data that grow, and drop data that grow too large, noting their size."""
        parts = self.collected.setdefault(name, [])
        parts.append(data)
        # Merging once the new data is as large as the old keeps the cost per item constant.
        if not self.by_document and sum(map(len, parts[1:])) > max(len(parts[0]), _MERGE_SIZE):
            parts[:] = [self._merge_view_data(parts)]
        if (size := sum(map(len, parts))) > _MAX_PAIRS + (0 if self.by_document else max(len(parts[0]), _MERGE_SIZE)):
            self.overflows[name] = size
            del self.collected[name]

    def _merge_view_data(self, parts: Sequence[CrossDocumentData]) -> CrossDocumentData:
        """Merge the clusters of several blocks (groups of documents) into one, without the documents."""
        return merge_blocks([(part, np.zeros(0, np.int64)) for part in parts])

    def finish(self, blocks: Sequence[BlockSums]) -> list[BlockSums]:
        """Return `blocks`, the last one with all merged data and the sizes of dropped views."""
        rest = [
            replace(
                b,
                cross_document_data={
                    name: b.cross_document_data[name] for name in b.cross_document_data if name in self.collected
                },
            )
            for b in blocks
        ]
        merged = (
            {} if self.by_document else {name: self._merge_view_data(parts) for name, parts in self.collected.items()}
        )
        last = replace(
            rest[-1], cross_document_data={**rest[-1].cross_document_data, **merged}, overflows=self.overflows
        )
        return [*rest[:-1], last]


def merge_sweeps(blocks: Sequence[SweepSums], key: str) -> tuple[Steps, Bools]:
    """Merge the sweeps of all blocks; return how the statistics change as the threshold falls, and a mask of documents.

    `key` is the `threshold_key` of the view. The mask marks the documents with gold items.
    """
    order = DocumentOrder([block.row for block in blocks])
    has_gold = order.arrange([block.has_gold[key] for block in blocks])
    if order.is_single_block:
        return blocks[0].steps[key], has_gold
    parts = []
    for block, positions in zip(blocks, order.positions, strict=True):
        if key in block.steps:
            steps = block.steps[key]
            parts.append(steps.with_documents(positions[steps.document].astype(np.int32)))
    return _sort_by_document(join_steps(parts), order.arrange([part.base for part in parts])), has_gold


def _sort_by_document(steps: Steps, base: Floats) -> Steps:
    """Return the steps in the order of documents, with equal kinds merged and `base` as statistics without scores."""
    order = np.argsort(steps.document, kind="stable")
    kinds, new = np.unique(steps.kinds, axis=0, return_inverse=True)
    kind = new.reshape(-1)[steps.kind[order]]
    return Steps(base, steps.document[order], steps.score[order], kind, kinds.reshape(-1, 4))
