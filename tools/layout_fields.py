"""Fields of stored files of any kind: keys of JSON, columns of Parquet, Arrow and SQLite, weights of models."""

from __future__ import annotations

import json
import re
import sqlite3
import struct
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

_SQLITE_MAGIC = b"SQLite format 3\0"
_VARYING_KEY = re.compile(r"[0-9a-f]{12,}|\d+")
"""Keys that differ from file to file: digests, pseudonyms and numbers."""


def list_fields(path: Path) -> set[str]:
    """Return the fields of a file, each with its type, such as `scores[].value: number`."""
    for has_layout, read in _READERS:
        if has_layout(path):
            return set(read(path))
    return {path.name}  # plain text, whose lines have no fields


def list_json_fields(value: object, prefix: str = "") -> Iterator[str]:
    """Yield the fields of a JSON value; all elements of an array share their fields."""
    match value:
        case dict():
            for key, item in value.items():
                name = _VARYING_KEY.sub("*", key) if _VARYING_KEY.fullmatch(key) else key
                yield from list_json_fields(item, f"{prefix}.{name}" if prefix else name)
        case list():
            for item in value:
                yield from list_json_fields(item, f"{prefix}[]")
        case None:
            pass  # absent, as far as fields go
        case _:
            kind = "text" if isinstance(value, str) else "flag" if isinstance(value, bool) else "number"
            yield f"{prefix}: {kind}"


def _read_json_lines(path: Path) -> Iterator[str]:
    for line in path.read_text(encoding="utf-8").splitlines():
        yield from list_json_fields(json.loads(line))


def _read_json(path: Path) -> Iterator[str]:
    text = path.read_text(encoding="utf-8")
    try:
        yield from list_json_fields(json.loads(text))
    except json.JSONDecodeError:  # one object per line
        yield from _read_json_lines(path)


def _list_columns(schema: pa.Schema) -> Iterator[str]:
    for field in schema:
        yield f"{field.name}: {field.type}"
    for key, value in (schema.metadata or {}).items():
        if key == b"karat-layout":
            yield f"layout {value.decode()}"


def _read_parquet(path: Path) -> Iterator[str]:
    yield from _list_columns(pq.read_schema(path))


def _read_arrow(path: Path) -> Iterator[str]:
    data = path.read_bytes()
    opened = pa.ipc.open_file(data) if data.startswith(b"ARROW1") else pa.ipc.open_stream(data)
    yield from _list_columns(opened.schema)


def _read_sqlite(path: Path) -> Iterator[str]:
    with closing(sqlite3.connect(f"file:{path}?immutable=1", uri=True)) as database:
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in tables:
            for column in database.execute(f'PRAGMA table_info("{table}")'):
                yield f"{table}.{column[1]}: {column[2]}"
            for row in database.execute(f'SELECT * FROM "{table}"'):
                for value in row:
                    if isinstance(value, str | bytes) and value[:1] in ("{", b"{"):
                        yield from list_json_fields(json.loads(value), table)


def _read_safetensors(path: Path) -> Iterator[str]:
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    for name, tensor in json.loads(data[8 : 8 + length]).items():
        yield f"{name}: {tensor.get('dtype')} {tensor.get('shape')}"


def _has_suffix(*suffixes: str) -> Callable[[Path], bool]:
    return lambda path: path.suffix in suffixes


_READERS: Iterable[tuple[Callable[[Path], bool], Callable[[Path], Iterator[str]]]] = (
    (lambda path: path.read_bytes()[:16] == _SQLITE_MAGIC, _read_sqlite),
    (_has_suffix(".jsonl"), _read_json_lines),
    (_has_suffix(".json"), _read_json),
    (_has_suffix(".parquet"), _read_parquet),
    (_has_suffix(".arrow"), _read_arrow),
    (_has_suffix(".safetensors"), _read_safetensors),
)
