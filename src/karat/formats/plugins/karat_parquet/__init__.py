"""Karat Parquet: the fields of Karat JSONL as columns, one nested row per document.

A row has the fields of a line, and in addition `linked`, which is false for an unlinked span, since a null `entity` is
NIL. A folder of such files is one corpus or one run, in the order of the file names.

A block is a part of a corpus or run that is written at once.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from karat.formats.plugins.karat_parquet.tables import (
    LAYOUT_KEY,
    METADATA_KEY,
    ParquetPartitions,
    check_columns,
    check_items,
    is_parquet_folder,
    lacks_items,
    list_partition_files,
    open_parquet,
    open_parquet_partitions,
    read_columns,
    read_metadata,
    read_table,
    require_predictions,
)
from karat.model.corpus import NO_LABELS_NOTE, Corpus, compute_text_facts
from karat.model.document import GOLD_LAYOUT, PREDICTIONS_LAYOUT
from karat.model.run import Run
from karat.model.spec.engine import ROW
from karat.model.spec.format import ByteSource, Format
from karat.model.tables import checks
from karat.model.tables.arrow import Arrow
from karat.model.tables.schema import GOLD, PREDICTIONS, code_entities, combine_tables, conform_table

_ROW_GROUP_SIZE = 20_000  # a row group: small enough to stream, large enough to compress


def read_corpus(source: ByteSource, text: bool) -> Corpus:
    """Read the gold documents; without `text`, only with the lengths and digests of texts that scoring needs."""
    if source.is_folder:
        partitions = open_parquet_partitions(source, is_gold=True)
        partitions = partitions.with_text() if text else partitions
        return Corpus.from_table(
            _join_partitions(partitions),
            name=partitions.name,
            metadata=partitions.metadata,
            locate_row=partitions.locate_row,
        )
    file = open_parquet(source)
    names = check_columns(file, GOLD, source)
    table = _read_documents(file, [name for name in names if name != "text"], GOLD, source)
    if "text" in names:
        table = _add_texts(table, file, source, needs_texts=text)
    metadata = read_metadata(file)
    name = metadata.pop("name", source.stem)
    corpus = Corpus.from_table(
        table, name=name, metadata=metadata, locate_row=lambda row: f"{source.label}: row {row + 1}"
    )
    return replace(corpus, skipped={NO_LABELS_NOTE: len(corpus)}) if lacks_items(file, GOLD) else corpus


def read_run(source: ByteSource) -> Run:
    """Read a system's responses from a file, or from all files of a folder; a file may have texts."""
    if source.is_folder:
        partitions = open_parquet_partitions(source, is_gold=False)
        return Run.from_table(
            _join_partitions(partitions),
            name=partitions.name,
            metadata=partitions.metadata,
            locate_row=partitions.locate_row,
        )
    file = open_parquet(source)
    names = check_columns(file, PREDICTIONS, source, has_texts=True)
    require_predictions(file, source)
    table = _read_documents(file, names, PREDICTIONS, source)
    metadata = read_metadata(file)
    name = metadata.pop("system", source.stem)
    has_texts = "text" in file.schema_arrow.names
    texts = read_table(lambda: file.read(columns=["text"]), GOLD, source, has_items=False) if has_texts else None
    return Run.from_table(
        table,
        name=name,
        metadata=metadata,
        locate_row=lambda row: f"{source.label}: row {row + 1}",
        texts=None if texts is None else texts.column("text"),
    )


def write_corpus(corpus: Corpus, file: IO[bytes]) -> None:
    """Write the corpus, with its name and metadata in the metadata of the file.

    Lengths and digests of texts are not written.
    """
    facts = [name for name in ("length", "text_digest") if name in corpus.table.column_names]
    _write_table(
        corpus.table.drop_columns(facts), _encode_metadata({"name": corpus.name, **corpus.metadata}, GOLD_LAYOUT), file
    )


def write_corpus_blocks(blocks: Iterable[Corpus], file: IO[bytes]) -> None:
    """Write a corpus block by block, with all columns regardless of the fields that a block uses.

    Name and metadata are those of the first block.
    """
    writer = None
    try:
        for corpus in blocks:
            table = corpus.table
            columns = [
                table.column(field.name).cast(field.type)
                if field.name in table.column_names
                else pa.nulls(table.num_rows, field.type)
                for field in GOLD
            ]
            if writer is None:
                metadata = _encode_metadata({"name": corpus.name, **corpus.metadata}, GOLD_LAYOUT)
                writer = pq.ParquetWriter(file, GOLD.with_metadata(metadata), compression="zstd")
            writer.write_table(pa.table(columns, schema=writer.schema), row_group_size=_ROW_GROUP_SIZE)
    finally:
        if writer is not None:
            writer.close()


def write_run(run: Run, file: IO[bytes]) -> None:
    """Write the run, with its name and metadata in the metadata of the file."""
    _write_table(run.table, _encode_metadata({"system": run.name, **run.metadata}, PREDICTIONS_LAYOUT), file)


def _encode_metadata(metadata: dict[str, str], layout: str) -> dict[bytes, bytes]:
    """Return the metadata of a Parquet file: the metadata as JSON, and the layout."""
    return {METADATA_KEY: json.dumps(metadata, sort_keys=True).encode(), LAYOUT_KEY: layout.encode()}


def _write_table(table: Arrow, metadata: dict[bytes, bytes], file: IO[bytes]) -> None:
    """Write a table in the types of Karat's columns, with this metadata of the file."""
    conformed_table = conform_table(table, PREDICTIONS if "predictions" in table.column_names else GOLD)
    pq.write_table(
        conformed_table.replace_schema_metadata(metadata), file, compression="zstd", row_group_size=_ROW_GROUP_SIZE
    )


def _join_partitions(partitions: ParquetPartitions) -> Arrow:
    """Read all rows of a folder as one table; files may differ in the fields they use."""
    return pa.concat_tables(partitions.tables(_ROW_GROUP_SIZE), promote_options="permissive").drop_columns([ROW])


def _read_documents(file: Arrow, names: list[str], schema: Arrow, source: ByteSource) -> Arrow:
    """Read the columns `names` of a file in the types of `schema`; raise `InputError` for invalid or no documents."""
    table = read_table(lambda: read_columns(file, names, source), code_entities(schema), source)
    checks.require_documents(table, source.label)
    return combine_tables([check_items(table, schema, source)])


def _add_texts(table: Arrow, file: Arrow, source: ByteSource, *, needs_texts: bool) -> Arrow:
    """Add the column of texts, or without `needs_texts` their lengths and digests, read one row group at a time."""
    if needs_texts:
        return table.add_column(1, "text", read_table(lambda: file.read(columns=["text"]), GOLD, source).column("text"))
    lengths, digests = [np.zeros(0, np.int32)], [np.zeros(0, np.int64)]
    for group in range(file.num_row_groups):
        texts = read_table(partial(file.read_row_group, group, columns=["text"]), GOLD, source).column("text")
        if texts.null_count:
            return _add_texts(table, file, source, needs_texts=True)  # the check reports the row
        length, fingerprint = compute_text_facts(texts)
        lengths.append(length.to_numpy())
        digests.append(fingerprint.to_numpy())
    table = table.append_column("length", [np.concatenate(lengths)])
    return table.append_column("text_digest", [np.concatenate(digests)])


def _has_gold(source: ByteSource) -> bool:
    """Return whether the file, or the first file of a folder, has a column `labels`, or texts without predictions."""
    first = source.get_child(list_partition_files(source)[0]) if source.is_folder else source
    names = open_parquet(first).schema_arrow.names
    return "labels" in names or ("text" in names and "predictions" not in names)


def _recognises(head: bytes) -> bool:
    """Return whether the first bytes are those of a Parquet file."""
    return head.startswith(b"PAR1")


FORMAT = Format(
    title="Karat Parquet",
    suffix=".parquet",
    recognises=_recognises,
    is_certain=_recognises,
    recognises_folder=is_parquet_folder,
    open_partitions=lambda source, is_gold: open_parquet_partitions(source, is_gold=is_gold),
    write_corpus_blocks=write_corpus_blocks,
    has_gold=_has_gold,
    read_corpus=read_corpus,
    read_run=read_run,
    write_corpus=write_corpus,
    write_run=write_run,
)
