"""Thresholds tuned on one corpus and applied to another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple, TypeGuard

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.evaluation.evaluation import create_evaluation
from karat.evaluation.request import Request
from karat.model.corpus import NO_TEXT_NOTE, Corpus
from karat.model.errors import UsageError
from karat.model.output.command_options import advise_score_column
from karat.model.run import Run
from karat.model.spec.engine import ROW, Partition, PartitionedData, read_ids
from karat.model.spec.settings.threshold import SWEEPS
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Bools, Longs

_ROWS_PER_TABLE = 20_000


def tune_threshold(
    dev: Corpus | PartitionedData, run: Run | PartitionedData, request_options: Request, engine: str | None = None
) -> str:
    """Return the threshold with the best micro F1 on a development corpus, as a value of the setting `threshold`.

    F1 is that of the view of the first measure in `request_options`. Predictions for other documents are skipped.
    Raise `UsageError` if the run has no scores or no response to any document of `dev`.
    """
    request = request_options.replace(settings={"threshold": "oracle"}, allow_unknown=True)
    if request.conventions.task.parts:
        name = request.conventions.task_name
        raise UsageError(f"{name} averages several tasks, each with its own threshold. Tune one of these tasks.")
    evaluation, view = create_evaluation(request, dev, run, engine=engine), request.all_measures[0].view
    if not pc.any(pc.is_in(_get_document_ids(run), _get_document_ids(dev))).as_py():
        raise UsageError(
            f"{run.name} has no response to any document of {dev.name}. Pass predictions for these documents as "
            "well, or in a file of their own with --tune-predictions."
        )
    best = evaluation.find_best_threshold(view, SWEEPS["oracle"])
    if best is None or best.threshold.min_score is None:
        raise UsageError(
            f"{run.name} has no scores, so no threshold can be tuned. Score without a threshold, "
            f"{advise_score_column()}."
        )
    return f"{best.threshold.min_score!r} tuned on {dev.name}@{_compute_digest(dev)} by {view}:micro.f1"


def drop_dev_responses(
    run: Run | PartitionedData, dev: Corpus | PartitionedData, corpus: Corpus | PartitionedData
) -> Run | PartitionedData:
    """Return the run without responses to documents of `dev` that are not in `corpus`; the run itself if none are."""
    ids = _get_document_ids(run)
    only_dev = pc.and_(pc.is_in(ids, _get_document_ids(dev)), pc.invert(pc.is_in(ids, _get_document_ids(corpus))))
    if not pc.any(only_dev).as_py():
        return run
    mask = ~only_dev.to_numpy(zero_copy_only=False)
    if not isinstance(run, Run):
        return _FilteredRun(run, mask)
    rows = np.flatnonzero(mask)
    table = run.table.take(pa.array(rows))
    remaining = Run.from_table(
        table, name=run.name, metadata=run.metadata, locate_row=lambda row: run.locate_row(int(rows[row]))
    )
    texts = None if run.texts is None else run.texts.take(pa.array(rows))
    return replace(remaining, skipped=run.skipped, texts=texts, file=run.file)


class SharedIds(NamedTuple):
    """Numbers of documents of the development corpus whose ids are also in the scored corpus."""

    same_text: int
    """With the same text there, or unknown texts: the same documents."""
    other_text: int
    """With another text there: other documents."""


def count_shared_ids(dev: Corpus | PartitionedData, corpus: Corpus | PartitionedData) -> SharedIds:
    """Count the documents of `dev` whose ids are also in `corpus`."""
    index = pc.index_in(_get_document_ids(dev), _get_document_ids(corpus))
    n_shared = len(index) - index.null_count
    if not (_has_texts(dev) and _has_texts(corpus)):
        return SharedIds(n_shared, 0)
    texts = corpus.table.column("text_digest").take(index)
    n_same = int(pc.sum(pc.equal(dev.table.column("text_digest"), texts)).as_py() or 0)
    return SharedIds(n_same, n_shared - n_same)


def _has_texts(data: Corpus | PartitionedData) -> TypeGuard[Corpus]:
    """Return whether the data are a corpus whose texts can be compared."""
    return isinstance(data, Corpus) and not data.skipped.get(NO_TEXT_NOTE)


def is_same_corpus(dev: Corpus | PartitionedData, corpus: Corpus | PartitionedData) -> bool:
    """Return whether two corpora have the same digest; they are read only if they have the same size."""
    return len(dev) == len(corpus) and _compute_digest(dev) == _compute_digest(corpus)


def _get_document_ids(data: Corpus | Run | PartitionedData) -> Arrow:
    """Return the document ids of a corpus or run, in order."""
    return data.ids if isinstance(data, Corpus | Run) else pa.concat_arrays(read_ids(data).chunks)


def _compute_digest(data: Corpus | PartitionedData) -> str:
    """Return the digest of a corpus (hexadecimal); partitioned data is read for it, table by table."""
    if isinstance(data, Corpus):
        return data.digest
    total = 0
    for table in (table for partition in data.partitions for table in partition.tables(_ROWS_PER_TABLE)):
        rows = table.column(ROW).to_pylist()
        columns, locate_row = table.drop_columns([ROW]), lambda row, rows=rows: data.locate_row(rows[row])
        total += int(Corpus.from_table(columns, name=data.name, metadata={}, locate_row=locate_row).digest, 16)
    return f"{total & 0xFFFFFFFF:08x}"


class _FilteredPartition(msgspec.Struct, frozen=True):
    """The rows of a partition that a mask selects."""

    partition: Partition
    mask: Bools
    first_row: int

    def tables(self, size: int, columns: Sequence[str] | None = None) -> Iterator[Arrow]:
        """Yield the selected rows in order, at most `size` at a time, with `columns` (all by default) and `ROW`.

        `ROW` counts the rows that remain of the whole run.
        """
        n_read, row = 0, self.first_row
        for table in self.partition.tables(size, columns):
            mask = self.mask[n_read : n_read + table.num_rows]
            n_read += table.num_rows
            remaining = table.filter(pa.array(mask))
            if remaining.num_rows:
                numbers = pa.array(np.arange(row, row + remaining.num_rows))
                yield remaining.set_column(remaining.column_names.index(ROW), ROW, numbers)
                row += remaining.num_rows


class _FilteredRun(msgspec.Struct, frozen=True, dict=True):
    """A partitioned run with only the responses that a mask selects."""

    source: PartitionedData
    mask: Bools

    def __len__(self) -> int:
        return int(self.mask.sum())

    @property
    def name(self) -> str:
        """Name of the run."""
        return self.source.name

    @property
    def metadata(self) -> Mapping[str, str]:
        """Metadata of the run."""
        return self.source.metadata

    @property
    def skipped(self) -> Mapping[str, int]:
        """Counts of items that the reader skipped, by description."""
        return self.source.skipped

    @property
    def schema(self) -> Arrow:
        """Schema of the run."""
        return self.source.schema

    @cached_property
    def partitions(self) -> tuple[_FilteredPartition, ...]:
        """The partitions with only the responses that `mask` selects."""
        partitions, low, first_row = [], 0, 0
        for partition in self.source.partitions:
            high = low + sum(table.num_rows for table in partition.tables(_ROWS_PER_TABLE, ["id"]))
            partition_mask = self.mask[low:high]
            partitions.append(_FilteredPartition(partition, partition_mask, first_row))
            low, first_row = high, first_row + int(partition_mask.sum())
        return tuple(partitions)

    @cached_property
    def _rows(self) -> Longs:
        """Rows of the remaining responses in the original run."""
        return np.flatnonzero(self.mask)

    def locate_row(self, row: int) -> str:
        """Return where a row is in its file, for error messages."""
        return self.source.locate_row(int(self._rows[row]))

    def with_text(self) -> _FilteredRun:
        """Return the run itself, because predictions have no texts."""
        return self
