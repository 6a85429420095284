"""Karat's own Parquet: the fields of Karat JSONL as columns, one nested row per document.

A row has what a line has, and one thing more: `linked` is false on a span without link, since a null `entity`
is NIL. A folder of such files is one corpus or one run, in the order of their names.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import partial
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from karat.formats.karat_parquet.tables import (
    ABOUT,
    LAYOUT,
    ParquetParts,
    about_of,
    are_parts,
    by_group,
    complete,
    known_columns,
    opened,
    parquet_parts,
    part_names,
    read,
)
from karat.model.corpus import Corpus, text_facts
from karat.model.document import ANSWERS_LAYOUT, GOLD_LAYOUT
from karat.model.run import Run
from karat.model.tables import check
from karat.model.tables.arrow import Arrow
from karat.model.tables.schema import ANSWERS, GOLD, coded, conformed, in_one_piece
from karat.spec.engine import ROW
from karat.spec.format import Bytes, Format

_ROWS = 20_000  # a row group: small enough to stream, large enough to compress


def read_corpus(source: Bytes, text: bool) -> Corpus:
    """Gold documents, with their texts or only with what scoring needs of them."""
    if source.folder:
        found = parts(source, True)
        found = found.with_text() if text else found
        return Corpus.checked(_joined(found), name=found.name, about=found.about, where=found.where)
    file = opened(source)
    names = known_columns(file, GOLD, source)
    table = _documents(file, [name for name in names if name != "text"], GOLD, source)
    if "text" in names:
        table = _with_texts(table, file, source, keep=text)
    about = about_of(file)
    name = about.pop("name", source.stem)
    return Corpus.checked(table, name=name, about=about, where=lambda row: f"{source.label}: row {row + 1}")


def read_run(source: Bytes) -> Run:
    """A system's replies."""
    if source.folder:
        found = parts(source, False)
        return Run.checked(_joined(found), name=found.name, about=found.about, where=found.where)
    file = opened(source)
    table = _documents(file, known_columns(file, ANSWERS, source), ANSWERS, source)
    about = about_of(file)
    name = about.pop("system", source.stem)
    return Run.checked(table, name=name, about=about, where=lambda row: f"{source.label}: row {row + 1}")


def write_corpus(corpus: Corpus, file: IO[bytes]) -> None:
    """The corpus, with its name and what is known about it in the file's metadata."""
    facts = [name for name in ("length", "text_digest") if name in corpus.table.column_names]
    _write(corpus.table.drop_columns(facts), _metadata({"name": corpus.name, **corpus.about}, GOLD_LAYOUT), file)


def write_blocks(blocks: Iterable[Corpus], file: IO[bytes]) -> None:
    """A corpus that comes in blocks, one after another; all columns are there, whatever a block uses."""
    writer = None
    try:
        for corpus in blocks:
            given = corpus.table
            columns = [
                given.column(field.name).cast(field.type)
                if field.name in given.column_names
                else pa.nulls(given.num_rows, field.type)
                for field in GOLD
            ]
            if writer is None:
                about = _metadata({"name": corpus.name, **corpus.about}, GOLD_LAYOUT)
                writer = pq.ParquetWriter(file, GOLD.with_metadata(about), compression="zstd")
            writer.write_table(pa.table(columns, schema=writer.schema), row_group_size=_ROWS)
    finally:
        if writer is not None:
            writer.close()


def write_run(run: Run, file: IO[bytes]) -> None:
    """The run, with its manifest in the file's metadata."""
    _write(run.table, _metadata({"system": run.name, **run.about}, ANSWERS_LAYOUT), file)


def _metadata(about: dict[str, str], layout: str) -> dict[bytes, bytes]:
    return {ABOUT: json.dumps(about, sort_keys=True).encode(), LAYOUT: layout.encode()}


def _write(table: Arrow, metadata: dict[bytes, bytes], file: IO[bytes]) -> None:
    plain = conformed(table, ANSWERS if "answers" in table.column_names else GOLD)
    pq.write_table(plain.replace_schema_metadata(metadata), file, compression="zstd", row_group_size=_ROWS)


def parts(source: Bytes, gold: bool) -> ParquetParts:
    """The documents or replies of a file or a folder, to be read piece by piece."""
    return parquet_parts(source, gold=gold)


def _joined(found: ParquetParts) -> Arrow:
    """All rows of a folder at once; files may differ in the fields they use."""
    return pa.concat_tables(found.tables(_ROWS), promote_options="permissive").drop_columns([ROW])


def _documents(file: Arrow, names: list[str], schema: Arrow, source: Bytes) -> Arrow:
    table = read(lambda: by_group(file, names, source), coded(schema), source)
    check.some(table, source.label)
    return in_one_piece([complete(table, schema, source)])


def _with_texts(table: Arrow, file: Arrow, source: Bytes, *, keep: bool) -> Arrow:
    """Add the texts, or else read them one row group at a time and keep only their lengths and fingerprints."""
    if keep:
        return table.add_column(1, "text", read(lambda: file.read(columns=["text"]), GOLD, source).column("text"))
    lengths, digests = [np.zeros(0, np.int32)], [np.zeros(0, np.int64)]
    for group in range(file.num_row_groups):
        texts = read(partial(file.read_row_group, group, columns=["text"]), GOLD, source).column("text")
        if texts.null_count:
            return _with_texts(table, file, source, keep=True)  # the check will say where
        length, fingerprint = text_facts(texts)
        lengths.append(length.to_numpy())
        digests.append(fingerprint.to_numpy())
    table = table.append_column("length", [np.concatenate(lengths)])
    return table.append_column("text_digest", [np.concatenate(digests)])


def _holds_gold(source: Bytes) -> bool:
    first = source.inside(part_names(source)[0]) if source.folder else source
    return "labels" in opened(first).schema_arrow.names


def _recognises(head: bytes) -> bool:
    return head.startswith(b"PAR1")


FORMAT = Format(
    title="Karat Parquet",
    suffix=".parquet",
    recognises=_recognises,
    certain=_recognises,
    recognises_folder=are_parts,
    parts=parts,
    write_blocks=write_blocks,
    holds_gold=_holds_gold,
    read_corpus=read_corpus,
    read_run=read_run,
    write_corpus=write_corpus,
    write_run=write_run,
)
