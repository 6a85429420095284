"""Verdicts of blocks, sorted into the order of the gold standard on disk to save memory.

A view is a match relation with filters, such as `strong[nil]`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.evaluation.block import Block
from karat.evaluation.cases.case_tables import build_case_columns, build_verdict_table
from karat.matching.read.pairing import Pairing
from karat.model.spec.engine import ROW
from karat.model.spec.settings.task import TaskSource
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Longs
from karat.storage.spill_files import open_spill

_RESPONSE = "response"
_DOCUMENTS_PER_PART = 10_000  # documents whose cases are sorted together


class ItemCounts(NamedTuple):
    """Number of labels of each document and of predictions of each response, for one kind of item."""

    labels: Longs
    predictions: Longs


class BlockVerdicts(msgspec.Struct, frozen=True):
    """The cases of a block as bytes, divided by view and by position in the gold standard."""

    chunks: tuple[tuple[int, int, bytes], ...]
    """View number, part number and table of the cases as bytes."""
    schema: Arrow
    """Schema of the tables."""
    row: Longs
    """Rows of the block's documents in the gold standard."""
    response: Longs
    """Rows of the block's responses in the run."""
    item_counts: Mapping[TaskSource, ItemCounts]
    """Number of labels and predictions by kind of item."""


def collect_verdicts(
    block: Block, rows: Longs, responses: Longs, views: Sequence[str], columns: Set[str]
) -> BlockVerdicts:
    """Return the cases of `views` in a block as compressed tables, with the extra columns that `columns` names.

    `rows` are the rows of the block's documents in the gold standard, `responses` the rows of its responses in the run.
    """
    pairings = {name: block.inputs.pairing(block.plans.views[name].source) for name in views}
    pairings_here = pairings if len(rows) else {}  # responses to unknown documents have no cases
    tables = [
        _number_locally(block, name, pairing, rows, responses, columns) for name, pairing in pairings_here.items()
    ]
    chunks = [
        (number, part, _to_bytes(piece))
        for number, table in enumerate(tables)
        for part, piece in _split_by_document(table)
    ]
    sizes = {
        block.plans.views[name].source: ItemCounts(
            np.diff(pairing.corpus.labels.offsets), np.diff(pairing.run.predictions.offsets)
        )
        for name, pairing in pairings.items()
    }
    schema = pa.unify_schemas([table.schema for table in tables]) if tables else pa.schema([])
    return BlockVerdicts(tuple(chunks), schema, rows, responses, sizes)


def _number_locally(
    block: Block, view: str, pairing: Pairing, rows: Longs, responses: Longs, columns: Set[str]
) -> Arrow:
    """Return the cases of a view, with labels numbered within their document and predictions within their response.

    Two more columns, `ROW` and the row of the response in the run, serve to number them in the whole data later.
    """
    table = build_verdict_table([(pairing, view, block.verdicts(view), build_case_columns(block, view, columns))])
    labels, predictions = pairing.corpus.labels, pairing.run.predictions
    gold, prediction = table.column("gold"), table.column("prediction")
    gold_row, prediction_row = (column.fill_null(0).to_numpy() for column in (gold, prediction))
    document = np.append(labels.document, 0)[gold_row]
    response = np.append(predictions.document, 0)[prediction_row]
    response_document = np.append(pairing.document_index, 0)[response]
    has_gold, has_prediction = gold.is_valid().to_numpy(), prediction.is_valid().to_numpy()
    local_numbers = {
        "gold": pa.array(gold_row - labels.offsets[document], mask=~has_gold),
        "prediction": pa.array(prediction_row - predictions.offsets[response], mask=~has_prediction),
    }
    for name, column in local_numbers.items():
        table = table.set_column(table.column_names.index(name), name, column)
    document_row = rows[np.where(has_gold, document, response_document)]
    response_row = np.append(responses, 0)[response]
    return table.append_column(ROW, pa.array(document_row)).append_column(_RESPONSE, pa.array(response_row))


def _split_by_document(table: Arrow) -> Iterator[tuple[int, Arrow]]:
    """Split a table of cases, sorted by document, into parts of the gold standard; yield number and cases of each."""
    part_numbers = table.column(ROW).to_numpy() // _DOCUMENTS_PER_PART
    parts, begin = np.unique(part_numbers, return_index=True)
    for number, low, high in zip(parts.tolist(), begin, np.append(begin, len(part_numbers))[1:], strict=True):
        yield number, table.slice(low, high - low)


def _to_bytes(table: Arrow) -> bytes:
    """Encode a table in Arrow's stream format, compressed."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
        writer.write_table(table.combine_chunks())
    return bytes(sink.getvalue())


def sort_verdicts(blocks: Iterable[BlockVerdicts], sources: Sequence[TaskSource]) -> Iterator[Arrow]:
    """Yield tables with the cases of all blocks, by view and then in the order of documents in the gold standard.

    `sources` has the kind of item of each view. The first table has all columns and no rows. Cases that have arrived
    wait in a temporary file.
    """
    schemas: dict[str, Arrow] = {}
    sizes: list[tuple[Longs, Longs, Mapping[TaskSource, ItemCounts]]] = []
    parts: set[int] = set()
    with open_spill() as spill_file:
        for block in blocks:
            schemas[str(block.schema)] = block.schema
            sizes.append((block.row, block.response, block.item_counts))
            for view, part, chunk in block.chunks:
                spill_file.append(part * len(sources) + view, chunk)
                parts.add(part)
        offsets = {source: _compute_offsets(sizes, source) for source in dict.fromkeys(sources)}
        empty_table = pa.unify_schemas(list(schemas.values())).empty_table()
        yield empty_table.drop_columns([ROW, _RESPONSE])
        for view, source in enumerate(sources):
            for part in sorted(parts):
                chunks = [
                    pa.ipc.open_stream(chunk).read_all() for chunk in spill_file.pop_chunks(part * len(sources) + view)
                ]
                if chunks:
                    table = pa.concat_tables([empty_table, *chunks], promote_options="default")
                    yield _number_globally(table, offsets[source])


def _compute_offsets(
    block_counts: Sequence[tuple[Longs, Longs, Mapping[TaskSource, ItemCounts]]], source: TaskSource
) -> ItemCounts:
    """Return the number of labels before each document and of predictions before each response, in the whole data.

    `block_counts` has the document rows, the response rows and the item counts of each block.
    """

    def cumulate(parts: Sequence[tuple[Longs, Longs]]) -> Longs:
        rows = np.concatenate([row for row, _ in parts])
        counts = np.zeros(int(rows.max(initial=-1)) + 1, np.int64)
        counts[rows] = np.concatenate([counts_here for _, counts_here in parts])
        return np.cumsum(counts) - counts

    return ItemCounts(
        cumulate([(row, items[source].labels) for row, _, items in block_counts]),
        cumulate([(response, items[source].predictions) for _, response, items in block_counts]),
    )


def _number_globally(table: Arrow, offsets: ItemCounts) -> Arrow:
    """Sort cases by document and number their labels and predictions in the whole data instead of their document.

    `offsets` has the number of the first label of each document and of the first prediction of each response.
    """
    table = table.take(pa.array(np.argsort(table.column(ROW).to_numpy(), kind="stable")))
    offset_columns = {
        "gold": (offsets.labels, table.column(ROW)),
        "prediction": (offsets.predictions, table.column(_RESPONSE)),
    }
    for name, (firsts, row) in offset_columns.items():
        # Cases without a prediction have no response either and stay null.
        number = pc.add(table.column(name), pa.array(np.append(firsts, 0)[row.to_numpy()]))
        table = table.set_column(table.column_names.index(name), name, number)
    return table.drop_columns([ROW, _RESPONSE])
