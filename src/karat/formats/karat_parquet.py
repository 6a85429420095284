"""Karat's own Parquet: the fields of Karat JSONL as columns, one nested row per document.

A row has what a line has, and one thing more: `linked` is false on a span without link, since a null `entity`
is NIL.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import partial
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from karat.errors import InputError
from karat.model import check
from karat.model.arrow import Arrow
from karat.model.corpus import Corpus, text_facts
from karat.model.run import Run
from karat.model.schema import ANSWERS, GOLD, conformed
from karat.spec.format import Bytes, Format

_ABOUT = b"karat"
_ROWS = 20_000  # a row group: small enough to stream, large enough to compress


def read_corpus(source: Bytes, text: bool) -> Corpus:
    """Gold documents, with their texts or only with what scoring needs of them."""
    file = _opened(source)
    names = _known(file, GOLD, source)
    table = _documents(file, [name for name in names if name != "text"], GOLD, source)
    if "text" in names:
        table = _with_texts(table, file, source, keep=text)
    about = _about(file)
    name = about.pop("name", source.stem)
    return Corpus.checked(table, name=name, about=about, where=lambda row: f"{source.label}: row {row + 1}")


def read_run(source: Bytes) -> Run:
    """A system's replies."""
    file = _opened(source)
    table = _documents(file, _known(file, ANSWERS, source), ANSWERS, source)
    about = _about(file)
    name = about.pop("system", source.stem)
    return Run.checked(table, name=name, about=about, where=lambda row: f"{source.label}: row {row + 1}")


def write_corpus(corpus: Corpus, file: IO[bytes]) -> None:
    """The corpus, with its name and what is known about it in the file's metadata."""
    facts = [name for name in ("length", "text_digest") if name in corpus.table.column_names]
    _write(corpus.table.drop_columns(facts), {"name": corpus.name, **corpus.about}, file)


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
                about = json.dumps({"name": corpus.name, **corpus.about}, sort_keys=True).encode()
                writer = pq.ParquetWriter(file, GOLD.with_metadata({_ABOUT: about}), compression="zstd")
            writer.write_table(pa.table(columns, schema=writer.schema), row_group_size=_ROWS)
    finally:
        if writer is not None:
            writer.close()


def write_run(run: Run, file: IO[bytes]) -> None:
    """The run, with its manifest in the file's metadata."""
    _write(run.table, {"system": run.name, **run.about}, file)


def _write(table: Arrow, about: dict[str, str], file: IO[bytes]) -> None:
    table = table.replace_schema_metadata({_ABOUT: json.dumps(about, sort_keys=True).encode()})
    pq.write_table(table, file, compression="zstd", row_group_size=_ROWS)


def _opened(source: Bytes) -> Arrow:
    direct = not source.passing and not source.compressed
    try:
        return pq.ParquetFile(source.given if direct else pa.BufferReader(source.data()))
    except (pa.ArrowException, OSError) as problem:
        raise _damaged(source, problem) from None


def _damaged(source: Bytes, problem: Exception) -> InputError:
    return InputError(
        source.label,
        found=f"a Parquet file that cannot be read ({problem})",
        expected="a complete Parquet file",
        remedy="Write or fetch the file again",
    )


def _known(file: Arrow, schema: Arrow, source: Bytes) -> list[str]:
    """The columns of the file, all of which must be known, and `id` must be one of them."""
    names = list(file.schema_arrow.names)
    unknown = [name for name in names if name not in schema.names]
    twice = [name for name in names if names.count(name) > 1]
    if unknown or twice or "id" not in names:
        raise InputError(
            source.label,
            found=f"the unknown column {unknown[0]!r}"
            if unknown
            else f"the column {twice[0]!r} twice"
            if twice
            else "no column 'id'",
            expected=f"columns out of {', '.join(schema.names)}",
            remedy="Rename or drop the column, or name the format of the file",
        )
    return [name for name in schema.names if name in names]


def _documents(file: Arrow, names: list[str], schema: Arrow, source: Bytes) -> Arrow:
    table = _table(lambda: file.read(columns=names), schema, source)
    check.some(table, source.label)
    items = "labels" if schema is GOLD else "answers"
    for name in ("start", "end", "entity"):
        if table.schema.field(items).type.value_type.get_field_index(name) < 0:
            raise InputError(
                source.label,
                found=f"{items} without a field `{name}`",
                expected="start, end, and entity (null for NIL; `linked` false where there is no link)",
                remedy="Add the field",
            )
    return table


def _table(read: Callable[[], Arrow], schema: Arrow, source: Bytes) -> Arrow:
    """What a call reads, in the types of the schema."""
    try:
        table = read()
        table.validate(full=True)
        return conformed(table, schema)
    except TypeError as problem:
        raise InputError(
            source.label,
            found=f"a column of another type at {problem}",
            expected="the types of docs/formats.md",
            remedy="Cast the column before writing the file",
        ) from None
    except (pa.ArrowException, OSError, UnicodeDecodeError) as problem:
        raise _damaged(source, problem) from None


def _with_texts(table: Arrow, file: Arrow, source: Bytes, *, keep: bool) -> Arrow:
    """Add the texts, or else read them one row group at a time and keep only their lengths and fingerprints."""
    if keep:
        return table.add_column(1, "text", _table(lambda: file.read(columns=["text"]), GOLD, source).column("text"))
    lengths, digests = [np.zeros(0, np.int32)], [np.zeros(0, np.int64)]
    for group in range(file.num_row_groups):
        texts = _table(partial(file.read_row_group, group, columns=["text"]), GOLD, source).column("text")
        if texts.null_count:
            return _with_texts(table, file, source, keep=True)  # the check will say where
        length, fingerprint = text_facts(texts)
        lengths.append(length.to_numpy())
        digests.append(fingerprint.to_numpy())
    table = table.append_column("length", [np.concatenate(lengths)])
    return table.append_column("text_digest", [np.concatenate(digests)])


def _about(file: Arrow) -> dict[str, str]:
    stored = (file.schema_arrow.metadata or {}).get(_ABOUT)
    try:
        about = json.loads(stored) if stored else {}
    except ValueError:
        return {}
    return {str(key): str(value) for key, value in about.items()} if isinstance(about, dict) else {}


def _holds_gold(source: Bytes) -> bool:
    return "labels" in _opened(source).schema_arrow.names


def _recognises(head: bytes) -> bool:
    return head.startswith(b"PAR1")


FORMAT = Format(
    title="Karat Parquet",
    suffix=".parquet",
    recognises=_recognises,
    certain=_recognises,
    write_blocks=write_blocks,
    holds_gold=_holds_gold,
    read_corpus=read_corpus,
    read_run=read_run,
    write_corpus=write_corpus,
    write_run=write_run,
)
