"""Blocks that an engine processes: how the request reaches them, and how their sums return.

A view is a match relation with filters, such as `strong[nil]`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import closing
from functools import cached_property, partial
from typing import Any, NamedTuple, NoReturn, TypeVar

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace
from numpy.typing import NDArray

from karat.evaluation.block import Block, BlockSums, LazyBlockSums, Progress, SweepSums, Thresholds, ViewSums
from karat.evaluation.cases.case_tables import build_verdict_table
from karat.evaluation.distributed.context import (
    UnsupportedViews,
    check_values,
    collect_context,
    drop_unsupported,
    find_unsupported_views,
)
from karat.evaluation.distributed.table_partitions import to_partitioned
from karat.evaluation.evaluation_sums import CrossDocumentCollector, EvaluationSums, describe_skipped
from karat.evaluation.request import Request
from karat.evaluation.task_inputs import TaskInputs
from karat.evaluation.thresholds import Steps
from karat.evaluation.verdict_stream import BlockVerdicts, collect_verdicts, sort_verdicts
from karat.matching.read.document_id_check import unknown_document_error
from karat.matching.read.extra_documents import EXTRA_DOCUMENTS, add_extra_documents
from karat.matching.read.offset_fit import OffsetFit, check_offsets, mask_sample
from karat.matching.read.read_options import CorpusContext
from karat.matching.read.task_data import check_task_counts
from karat.matching.read.text_alignment import align_with_corpus, align_with_texts
from karat.model.corpus import Corpus, add_text_facts
from karat.model.errors import InputError, KaratError, UsageError
from karat.model.measure_name import ViewName
from karat.model.registry import get_plugin
from karat.model.results.usage import UsageSum, add_usage
from karat.model.run import Run
from karat.model.spec.engine import ROW, Engine, PartitionedData
from karat.model.spec.settings.task import MENTION_SOURCES
from karat.model.spec.settings.threshold import Threshold
from karat.model.tables import checks
from karat.model.tables.arrow import Arrow
from karat.model.tables.checks import RowLocator
from karat.model.tables.columns import Longs, flatten_mentions
from karat.model.tables.schema import GOLD, PREDICTIONS

_T = TypeVar("_T")
_DIGEST_MASK = 0xFFFFFFFF  # digests have 32 bits
_EMPTY_DIGEST = "00000000"
_ROWS_PER_READ = 20_000
_GOLD, _PREDICTIONS = "gold\0", "predictions\0"
_DOCUMENT_FACTS = pa.schema([("length", pa.int32()), ("text_digest", pa.int64())])
_IN_MEMORY_HINT = (
    "Load corpus and run into memory and score them there (karat.evaluate(karat.load(…), karat.load_run(…)))."
)


class Job(msgspec.Struct, frozen=True):
    """Everything a block needs besides its documents; can be pickled."""

    request: Request
    """What to compute."""
    names: tuple[str, str]
    """Names of the gold standard and of the run."""
    columns: tuple[tuple[str, ...], tuple[str, ...]]
    """Columns of the gold standard and of the run."""
    metadata: Mapping[str, str] = msgspec.field(default_factory=dict)
    """Metadata of the gold standard."""
    context: CorpusContext = msgspec.field(default_factory=CorpusContext)
    """Properties of the whole corpus."""
    thresholds: Thresholds = msgspec.field(default_factory=Thresholds)
    """Thresholds that apply."""
    n_gold_documents: int | None = None
    """Number of gold documents, if documents that only the predictions have are appended to them."""

    def create_block(self, gold: Arrow, predictions: Arrow) -> Block:
        """Create the block of some gold documents and all responses to them; raise if a row is invalid.

        Both tables use Karat's schema with a column `ROW`. Empty tables need no columns.
        """
        corpus, run = self._build_corpus(gold), self._build_run(predictions)
        if self.n_gold_documents is not None:
            corpus = add_extra_documents(corpus, run)
        inputs = TaskInputs(self.request, corpus, run, self.context)
        return Block(inputs, block_size=max(1, len(inputs.corpus))).at_threshold(self.thresholds)

    def find_rows(self, block: Block, gold: Arrow, predictions: Arrow) -> Longs:
        """Return the row of each document of a block in the whole corpus.

        `gold` and `predictions` are the tables of the block. Documents that only the predictions have follow all
        others.
        """
        rows, document_index = _get_sorted_rows(gold), block.inputs.pairing().document_index
        if self.n_gold_documents is None or not (document_index >= len(rows)).any():
            return rows
        return np.concatenate(
            [rows, self.n_gold_documents + _get_sorted_rows(predictions)[document_index >= len(rows)]]
        )

    def _build_corpus(self, table: Arrow) -> Corpus:
        """Convert a table of gold documents to a corpus; raise if a row is invalid."""
        table = _add_missing_columns(
            table,
            self.columns[0],
            pa.unify_schemas([GOLD, _DOCUMENT_FACTS]),
            ("text", "labels", *_DOCUMENT_FACTS.names),
        )
        if table.num_rows:
            locate_row = _make_locator(_GOLD, table)
            return Corpus.from_table(
                table.drop_columns([ROW]), name=self.names[0], metadata=self.metadata, locate_row=locate_row
            )
        return Corpus(
            table.drop_columns([ROW]),
            self.names[0],
            self.metadata,
            _EMPTY_DIGEST,
            flatten_mentions(table.column("labels")),
        )

    def _build_run(self, table: Arrow) -> Run:
        """Convert a table of responses to a run; raise if a row is invalid."""
        table = _add_missing_columns(table, self.columns[1], PREDICTIONS, ("predictions",))
        locate_row = _make_locator(_PREDICTIONS, table)
        if table.num_rows:
            return Run.from_table(table.drop_columns([ROW]), name=self.names[1], metadata={}, locate_row=locate_row)
        columns = table.drop_columns([ROW])
        return Run(
            columns, self.names[1], {}, _EMPTY_DIGEST, flatten_mentions(table.column("predictions")), 0, locate_row
        )


def _add_missing_columns(table: Arrow, columns: Sequence[str], schema: Arrow, required: Sequence[str]) -> Arrow:
    """Return the table sorted by `ROW`, with all `columns` that other blocks have; texts are not added.

    An empty table also gets the `required` columns. `schema` has the type of each column.
    """
    if not table.num_rows:
        names = dict.fromkeys(["id", *columns, *required])
        empty = {name: pa.array([], schema.field(name).type) for name in names}
        return pa.table({**empty, ROW: pa.array([], pa.int64())})
    for name in columns:
        if name not in table.column_names and name != "text":
            table = table.append_column(name, pa.nulls(table.num_rows, schema.field(name).type))
    row = table.column(ROW).to_numpy()
    return table if np.all(row[1:] > row[:-1]) else table.take(pa.array(np.argsort(row, kind="stable")))


def _make_locator(side: str, table: Arrow) -> RowLocator:
    """Return a function that encodes side and row in the whole data as text, which the main process decodes.

    `side` is `_GOLD` or `_PREDICTIONS`; see `_to_failure`.
    """
    rows = table.column(ROW).to_numpy()
    return lambda row: f"{side}{int(rows[row])}"


class BlockFailure(NamedTuple):
    """An error from a block, in a form that can be transferred."""

    message: str
    """Text of the error."""
    side: str = ""
    """Prefix of the side that the error concerns, or empty."""
    row: int = 0
    """Row in the whole corpus or run."""
    actual: str = ""
    """What was found."""
    expected: str = ""
    """What was expected."""
    remedy: str = ""
    """How to fix it."""

    @property
    def concerns_gold(self) -> bool:
        """Whether the error concerns a gold document and not a response."""
        return self.side == _GOLD


def _to_failure(error: KaratError) -> BlockFailure:
    """Convert an error of a block to a form that can be transferred, with side and row if it has a place."""
    if isinstance(error, InputError) and "\0" in error.where:
        side, _, row = error.where.partition("\0")
        return BlockFailure(str(error), f"{side}\0", int(row), error.actual, error.expected, error.remedy)
    return BlockFailure(str(error))


class CountedBlock(msgspec.Struct, frozen=True):
    """The sums of a block with the digests of its gold documents and its responses, and what the responses used."""

    sums: BlockSums
    digests: tuple[int, int]
    usage: Mapping[str, UsageSum]


def count_block(gold: Arrow, predictions: Arrow, job: Job) -> CountedBlock | BlockFailure:
    """Judge a block of gold documents and responses; return its sums, or the error if it fails.

    Runs in the engine's processes, and has no side effects if plugins and knowledge base have none.
    """
    try:
        block, responses = job.create_block(gold, predictions), _get_sorted_rows(predictions)
        rows = job.find_rows(block, gold, predictions)
        sums = _compact_sums(LazyBlockSums(block, rows).to_sums())
    except KaratError as error:
        return _to_failure(error)
    inputs = block.inputs
    extra = {f"gold: {EXTRA_DOCUMENTS}": len(rows) - gold.num_rows} if len(rows) > gold.num_rows else {}
    located = replace(
        sums,
        skipped={**sums.skipped, **extra},
        unknown_responses=tuple((int(responses[row]), id) for row, id in sums.unknown_responses),
    )
    digests = (int(inputs.corpus.digest, 16), int(inputs.original_run.digest, 16))
    return CountedBlock(located, digests, inputs.original_run.sum_usage(inputs.corpus))


def sweep_block(
    gold: Arrow, predictions: Arrow, job: Job, views: Sequence[ViewName], grid: int | None
) -> SweepSums | BlockFailure:
    """Return how the statistics of `views` in a block change as the threshold falls, or the error if it fails.

    With `grid`, only thresholds that are multiples of `1 / grid` need to be exact.
    """
    try:
        block = job.create_block(gold, predictions)
        sums = block.to_sweep_sums(views, grid, job.find_rows(block, gold, predictions))
    except KaratError as error:
        return _to_failure(error)
    return replace(sums, steps={key: _compact_steps(steps) for key, steps in sums.steps.items()})


def collect_block_verdicts(
    gold: Arrow, predictions: Arrow, job: Job, views: Sequence[str], columns: Set[str]
) -> BlockVerdicts | BlockFailure:
    """Return the cases of `views` in a block with the extra `columns`, or the error if it fails."""
    try:
        block = job.create_block(gold, predictions)
        return collect_verdicts(
            block, job.find_rows(block, gold, predictions), _get_sorted_rows(predictions), views, columns
        )
    except KaratError as error:
        return _to_failure(error)


def _get_sorted_rows(table: Arrow) -> Longs:
    """Return the values of the column `ROW` in ascending order; empty for an empty table."""
    rows = table.column(ROW).to_numpy() if table.num_rows else np.zeros(0, np.int64)
    return np.sort(rows)


def _compact_sums(sums: BlockSums) -> BlockSums:
    """Return the same sums with small integers where the values are whole numbers."""

    def compact_view(view: ViewSums) -> ViewSums:
        return view._replace(
            weights=_compact_array(view.weights),
            detection=None if view.detection is None else _compact_array(view.detection),
        )

    return replace(
        sums,
        views={name: compact_view(view) for name, view in sums.views.items()},
        grouped_sums={
            facet: {name: group._replace(sums=_compact_array(group.sums)) for name, group in groups.items()}
            for facet, groups in sums.grouped_sums.items()
        },
    )


def _compact_array(weights: NDArray[Any]) -> NDArray[Any]:
    """Return the weights as 32-bit integers if they are whole numbers of that range."""
    integers = weights.astype(np.int32)
    return integers if np.array_equal(integers, weights) else weights


def _compact_steps(steps: Steps) -> Steps:
    """Return the steps with small integers for their kinds, if there are few."""
    kind: Any = steps.kind.astype(np.uint8) if len(steps.kinds) <= 256 else steps.kind
    return replace(steps, kind=kind)


class DistributedSource(msgspec.Struct, frozen=True, eq=False, dict=True):
    """A gold standard and predictions that an engine divides into blocks.

    The results equal those in memory to the last digit. Verdicts are recomputed each time they are requested.
    """

    engine: Engine
    """Engine that divides the documents."""
    gold: PartitionedData
    """Gold standard."""
    predictions: PartitionedData
    """Run."""
    job: Job
    """What each block needs."""
    request: Request
    """What the caller requested."""
    excluded: UnsupportedViews
    """Views and facets that blocks cannot count."""
    progress: Progress | None = None
    """Called with the number of documents counted since the last call."""
    _digests: list[tuple[int, int]] = msgspec.field(default_factory=list)
    _usage: list[Mapping[str, UsageSum]] = msgspec.field(default_factory=list)

    @classmethod
    def from_data(
        cls,
        request: Request,
        gold: Corpus | PartitionedData,
        predictions: Run | PartitionedData,
        engine: str,
        progress: Progress | None,
    ) -> DistributedSource:
        """Create a source of blocks, and read from all data what blocks must know about the whole.

        `engine` is the name of an engine plugin. Raise for requests and values that the engine does not support.
        """
        excluded = find_unsupported_views(request)
        engine_spec = get_plugin("engines", engine, Engine)
        if isinstance(predictions, Run):
            predictions = _align_texts(gold, predictions)
        gold, predictions = to_partitioned(gold), to_partitioned(predictions)
        if request.needs_text:
            gold = gold.with_text()
        supported = drop_unsupported(request, excluded)
        block_request = supported.replace(allow_unknown=True)  # a block does not know all documents
        n_gold_documents = len(gold) if request.adds_predicted_documents else None
        columns = (_column_names(gold), _column_names(predictions))
        job = Job(
            block_request,
            (gold.name, predictions.name),
            columns,
            dict(gold.metadata),
            n_gold_documents=n_gold_documents,
        )
        empty_inputs = job.create_block(pa.table({}), pa.table({})).inputs
        job = replace(job, context=collect_context(empty_inputs, gold, predictions))
        check_values(job.create_block(pa.table({}), pa.table({})).inputs, job.context, gold)
        return cls(engine_spec, gold, predictions, job, request, excluded, progress)

    @cached_property
    def planning_block(self) -> Block:
        """A block without documents that knows the properties of the whole corpus."""
        return self.job.create_block(pa.table({}), pa.table({}))

    @property
    def names_and_metadata(self) -> tuple[tuple[str, Mapping[str, str]], tuple[str, Mapping[str, str]]]:
        """Name and metadata of the corpus and of the run."""
        return (self.gold.name, self.gold.metadata), (self.predictions.name, self.predictions.metadata)

    @property
    def skipped(self) -> Mapping[str, int]:
        """Counts of items that the readers skipped, by description."""
        return describe_skipped(self.gold.skipped, self.predictions.skipped)

    @property
    def usage(self) -> dict[str, UsageSum]:
        """The sums of runtime, tokens and cost that the responses state; call `count_blocks` first."""
        return add_usage(self._usage)

    def count_sweeps(self, views: Sequence[ViewName], grid: int | None) -> list[SweepSums]:
        """Return how the statistics of `views` change as the threshold falls, one entry per block of documents.

        With `grid`, only thresholds that are multiples of `1 / grid` need to be exact.
        """
        return list(self._process_blocks(partial(sweep_block, job=self.job, views=tuple(views), grid=grid)))

    def count_blocks(self, thresholds: Thresholds) -> list[BlockSums]:
        """Judge all blocks at `thresholds` and return their sums; records the digests and what the responses used."""
        sums: list[BlockSums] = []
        collector = CrossDocumentCollector(by_document=bool(self.request.interval_options.jackknife_groups))
        self._digests.clear()
        self._usage.clear()
        for block in self._process_blocks(partial(count_block, job=replace(self.job, thresholds=thresholds))):
            sums.append(collector.add(block.sums))
            self._digests.append(block.digests)
            self._usage.append(block.usage)
            if self.progress is not None:
                self.progress(len(block.sums.row))
        first, *others = collector.finish(sums)
        return [replace(first, input_checks=first.input_checks._replace(offset_fit=self._offset_fit)), *others]

    @cached_property
    def _offset_fit(self) -> OffsetFit:
        """How well the offsets of predictions fit the texts, checked in the same documents as in memory."""
        gold, size = self.gold.with_text(), len(self.gold)
        if self.request.conventions.task.source not in MENTION_SOURCES or "text" not in gold.schema.names:
            return OffsetFit()
        # Predictions may be shifted by a document, so that the documents before and after are needed too.
        is_near = np.convolve(mask_sample(_read_all_ids(gold), size), [True] * 3)[1:-1] > 0
        documents = add_text_facts(_read_rows(gold, lambda table: pa.array(is_near[table.column(ROW).to_numpy()])))
        ids = documents.column("id").combine_chunks()
        responses = _read_rows(self.predictions, lambda table: pc.is_in(table.column("id"), ids))
        job = replace(self.job, columns=(_column_names(gold), self.job.columns[1]))
        inputs = job.create_block(documents, responses).inputs
        pairing = inputs.pairing()
        return check_offsets(pairing.corpus, inputs.original_run, pairing.document_index, size)

    def get_digests(self) -> tuple[str, str]:
        """Return the digests (hexadecimal) of all documents and of all responses; call `count_blocks` first."""
        gold, predictions = (f"{sum(digests[side] for digests in self._digests) & _DIGEST_MASK:08x}" for side in (0, 1))
        return gold, predictions

    def iterate_tables(self, thresholds: Thresholds, views: Sequence[str], columns: Set[str]) -> Iterator[Arrow]:
        """Return an iterator over tables with all cases of `views`, with the extra columns named by `columns`.

        The first table has no rows. All documents are judged again.
        """
        if not views:
            return iter([build_verdict_table([])])
        gold = self.gold.with_text()
        job = replace(self.job, thresholds=thresholds, columns=(_column_names(gold), self.job.columns[1]))
        work = partial(collect_block_verdicts, job=job, views=tuple(views), columns=frozenset(columns))
        sources = [self.planning_block.plans.views[name].source for name in views]
        return sort_verdicts(self._process_blocks(work, gold), sources)

    @property
    def data(self) -> NoReturn:
        """Raise `KaratError`, because an engine never holds all documents at once."""
        raise KaratError(f"an engine never holds all documents at once. {_IN_MEMORY_HINT}")

    def get_block(self, thresholds: Thresholds) -> NoReturn:
        """Raise `KaratError`, because an engine never holds all documents at once."""
        raise KaratError(f"an engine never holds all documents at once. {_IN_MEMORY_HINT}")

    def check_totals(self, sums: EvaluationSums) -> None:
        """Raise for errors that only show in the whole: duplicate ids, unknown documents, missing data of a task."""
        gold, predictions = self.gold, self.predictions
        checks.raise_first(checks.check_ids(sums.ids), lambda index: gold.locate_row(int(sums.order.rows[index])))
        named_counts = (gold.name, sums.data_counts(0)), (predictions.name, sums.data_counts(1))
        for task in self.request.tasks:
            check_task_counts(task, *named_counts, is_requested=task in self.request.explicit_tasks)
        unknown_responses = sorted(pair for block in sums.blocks for pair in block.unknown_responses)
        if unknown_responses and not self.request.allow_unknown:
            row, id = unknown_responses[0]
            raise unknown_document_error(
                predictions.locate_row(row),
                id,
                gold.name,
                len(unknown_responses) - 1,
                _read_all_ids(gold),
                _read_all_ids(predictions),
            )
        rule = self.request.conventions.threshold
        if (
            isinstance(rule, Threshold)
            and rule.min_score is not None
            and not (named_counts[1][1].scored_mentions or named_counts[1][1].scored_tags)
        ):
            raise UsageError(
                f"{predictions.name} has no scores to compare with a threshold. Score without a threshold."
            )

    def _process_blocks(
        self, work: Callable[[Arrow, Arrow], _T | BlockFailure], gold: PartitionedData | None = None
    ) -> Iterator[_T]:
        """Yield the result of `work` for each block; raise the first error as if all data had been read at once."""
        with closing(self.engine.distribute(gold or self.gold, self.predictions, work)) as blocks:
            for block in blocks:
                if isinstance(block, BlockFailure):
                    self._raise_failure(block)
                yield block

    def _raise_failure(self, failure: BlockFailure) -> NoReturn:
        """Raise the error of a block as `InputError` at a row of the file, or as `UsageError` if it has no row."""
        if not failure.side:
            raise UsageError(failure.message)
        where = (self.gold if failure.concerns_gold else self.predictions).locate_row(failure.row)
        raise InputError(where, actual=failure.actual, expected=failure.expected, remedy=failure.remedy)


def _align_texts(gold: Corpus | PartitionedData, run: Run) -> Run:
    """Move the spans of a run to the gold texts if its own texts differ; gold texts are read only if it has texts."""
    if isinstance(gold, Corpus) or run.texts is None:
        return align_with_corpus(gold, run) if isinstance(gold, Corpus) else run
    rows = _read_columns(gold.with_text(), "id", "text")
    return align_with_texts(rows.column("id").combine_chunks(), rows.column("text"), run)


def _read_all_ids(data: PartitionedData) -> Arrow:
    """Read the ids of all documents or responses."""
    return _read_columns(data, "id").column("id").combine_chunks()


def _read_columns(data: PartitionedData, *columns: str) -> Arrow:
    """Read some columns of all partitions into one table, with `ROW`."""
    return pa.concat_tables(
        table for partition in data.partitions for table in partition.tables(_ROWS_PER_READ, [*columns])
    )


def _read_rows(data: PartitionedData, mask: Callable[[Arrow], Arrow]) -> Arrow:
    """Read the rows for which `mask`, a function of tables, returns true, with all columns and `ROW`."""
    columns = [name for name in data.schema.names if name not in (ROW, *_DOCUMENT_FACTS.names)]
    tables = (table for partition in data.partitions for table in partition.tables(_ROWS_PER_READ, columns))
    return pa.concat_tables((table.filter(mask(table)) for table in tables), promote_options="permissive")


def _column_names(data: PartitionedData) -> tuple[str, ...]:
    """Return the names of all columns except `ROW`."""
    return tuple(name for name in data.schema.names if name != ROW)
