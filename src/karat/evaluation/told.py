"""Verdicts of blocks, brought into the order of the gold standard on disk, so that nobody holds all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.evaluation.block import Block
from karat.evaluation.cases.rows import case_columns, verdict_table
from karat.matching.read.pairing import Pairing
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Longs
from karat.spec.choices.task import Source
from karat.spec.engine import ROW
from karat.storage.spill import spill

_REPLY = "reply"
_DOCUMENTS = 10_000  # whose cases are brought into order at once


class Sizes(NamedTuple):
    """How many labels each document has, and answers each reply, as one kind of item."""

    labels: Longs
    answers: Longs


class Told(msgspec.Struct, frozen=True):
    """The cases of a block, as bytes by view and by where their documents are in the gold standard.

    `row` and `reply` say which documents and replies of the whole are in the block, for the `sizes`.
    """

    chunks: tuple[tuple[int, int, bytes], ...]
    schema: Arrow
    row: Longs
    reply: Longs
    sizes: Mapping[Source, Sizes]


def told(block: Block, rows: Longs, replies: Longs, views: Sequence[str], columns: Set[str]) -> Told:
    """The cases of some views, with the labels of cases that were asked for."""
    pairings = {name: block.sides.pairing(block.plans.views[name].source) for name in views}
    here = pairings if len(rows) else {}  # replies to documents that the gold standard does not have make no case
    tables = [_numbered(block, name, pairing, rows, replies, columns) for name, pairing in here.items()]
    chunks = [
        (number, part, _written(piece)) for number, table in enumerate(tables) for part, piece in _by_place(table)
    ]
    sizes = {
        block.plans.views[name].source: Sizes(
            np.diff(pairing.corpus.labels.offsets), np.diff(pairing.run.answers.offsets)
        )
        for name, pairing in pairings.items()
    }
    schema = pa.unify_schemas([table.schema for table in tables]) if tables else pa.schema([])
    return Told(tuple(chunks), schema, rows, replies, sizes)


def _numbered(block: Block, view: str, pairing: Pairing, rows: Longs, replies: Longs, columns: Set[str]) -> Arrow:
    """The cases of a view; labels are numbered within their document and answers within their reply."""
    table = verdict_table([(pairing, view, block.verdicts(view), case_columns(block, view, columns))])
    labels, answers = pairing.corpus.labels, pairing.run.answers
    gold, answer = table.column("gold"), table.column("answer")
    label, given = (column.fill_null(0).to_numpy() for column in (gold, answer))
    document = np.append(labels.document, 0)[label]
    reply = np.append(answers.document, 0)[given]
    asked = np.append(pairing.place, 0)[reply]
    has_gold, has_answer = gold.is_valid().to_numpy(), answer.is_valid().to_numpy()
    own = {
        "gold": pa.array(label - labels.offsets[document], mask=~has_gold),
        "answer": pa.array(given - answers.offsets[reply], mask=~has_answer),
    }
    for name, column in own.items():
        table = table.set_column(table.column_names.index(name), name, column)
    place = rows[np.where(has_gold, document, asked)]
    reply_row = np.append(replies, 0)[reply]
    return table.append_column(ROW, pa.array(place)).append_column(_REPLY, pa.array(reply_row))


def _by_place(table: Arrow) -> Iterator[tuple[int, Arrow]]:
    """The cases of some thousand documents of the whole at a time; they come in the order of documents."""
    part = table.column(ROW).to_numpy() // _DOCUMENTS
    parts, begin = np.unique(part, return_index=True)
    for number, low, high in zip(parts.tolist(), begin, np.append(begin, len(part))[1:], strict=True):
        yield number, table.slice(low, high - low)


def _written(table: Arrow) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
        writer.write_table(table.combine_chunks())
    return bytes(sink.getvalue())


def in_order(blocks: Iterable[Told], sources: Sequence[Source]) -> Iterator[Arrow]:
    """The cases of all blocks, view by view and in the order of documents; before them a table without rows.

    `sources` are the kinds of items of the views.
    """
    schemas: dict[str, Arrow] = {}
    sizes: list[tuple[Longs, Longs, Mapping[Source, Sizes]]] = []
    parts: set[int] = set()
    with spill() as place:
        for block in blocks:
            schemas[str(block.schema)] = block.schema
            sizes.append((block.row, block.reply, block.sizes))
            for view, part, chunk in block.chunks:
                place.put(part * len(sources) + view, chunk)
                parts.add(part)
        first = {source: _firsts(sizes, source) for source in dict.fromkeys(sources)}
        whole = pa.unify_schemas(list(schemas.values())).empty_table()
        yield whole.drop_columns([ROW, _REPLY])
        for view, source in enumerate(sources):
            for part in sorted(parts):
                chunks = [pa.ipc.open_stream(chunk).read_all() for chunk in place.take(part * len(sources) + view)]
                if chunks:
                    table = pa.concat_tables([whole, *chunks], promote_options="default")
                    yield _placed(table, first[source])


def _firsts(sizes: Sequence[tuple[Longs, Longs, Mapping[Source, Sizes]]], source: Source) -> Sizes:
    """Which label of the whole is the first of each document, and which answer the first of each reply."""

    def before(parts: Sequence[tuple[Longs, Longs]]) -> Longs:
        rows = np.concatenate([row for row, _ in parts])
        counts = np.zeros(int(rows.max(initial=-1)) + 1, np.int64)
        counts[rows] = np.concatenate([own for _, own in parts])
        return np.cumsum(counts) - counts

    return Sizes(
        before([(row, own[source].labels) for row, _, own in sizes]),
        before([(reply, own[source].answers) for _, reply, own in sizes]),
    )


def _placed(table: Arrow, first: Sizes) -> Arrow:
    """The cases in the order of documents, with labels and answers numbered through the whole."""
    table = table.take(pa.array(np.argsort(table.column(ROW).to_numpy(), kind="stable")))
    before = {"gold": (first.labels, table.column(ROW)), "answer": (first.answers, table.column(_REPLY))}
    for name, (firsts, row) in before.items():
        # What has no answer has no reply either, and stays null whatever is added.
        number = pc.add(table.column(name), pa.array(np.append(firsts, 0)[row.to_numpy()]))
        table = table.set_column(table.column_names.index(name), name, number)
    return table.drop_columns([ROW, _REPLY])
