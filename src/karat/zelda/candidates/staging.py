"""Sources as they wait to be merged: rows in buckets on disk, which outlive a failure."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from karat.errors import UsageError
from karat.model.tables.arrow import Arrow
from karat.model.tables.digest import string_hashes
from karat.storage.files import readable, writing
from karat.work import working
from karat.zelda.candidates.sources import RANK, SOURCES
from karat.zelda.texts.renewal import Renewal
from karat.zelda.texts.sections import file_stamp

_STAGED: Final = pa.schema({"mention": pa.string(), "entity": pa.string(), "n": pa.int64(), "place": pa.int64()})
_PART: Final = 1 << 18  # rows that are written together
_DONE: Final = "done.json"  # in the folder of a source that was read to its end
_BUCKETS: Final = 64
"""Into how many buckets mentions are divided, each of which is merged by itself: all at once takes more memory."""


class CandidateSource(NamedTuple):
    """A file or folder, and what kind of source it is."""

    kind: str
    path: str


class StagedSource(NamedTuple):
    """The buckets of a source, which source it is to the merge, what its places begin with, and what it gave."""

    folder: Path
    rank: int
    offset: int
    rows: int
    notes: Mapping[str, int]

    def view(self, read: Callable[[str], str], bucket: str) -> str:
        """Its rows for SQL, of one bucket or all (`*`)."""
        files = read(f"{self.folder}/{bucket}.parquet")
        return f"SELECT mention, entity, n, {self.offset} + place AS place, {self.rank} AS source FROM {files}"


class _Read(msgspec.Struct, frozen=True):
    """What a source gave."""

    rows: int
    notes: dict[str, int]


@contextmanager
def kept_stage(stage: Path) -> Iterator[None]:
    """What was read to its end stays after a failure, and everything else goes."""
    try:
        yield
    except OSError as problem:
        said = problem.strerror or str(problem).splitlines()[0]
        raise UsageError(
            f"{readable(str(stage))} cannot be written ({said}). Make room and call again: what was read is kept."
        ) from None
    finally:
        for folder in stage.glob("*/"):
            if not (folder / _DONE).exists():
                shutil.rmtree(folder, ignore_errors=True)
        with suppress(OSError):  # where nothing was read
            stage.rmdir()


def staged_source(stage: Path, source: CandidateSource, number: int, renewal: Renewal) -> StagedSource:
    """A source on disk, read now or by an earlier call; `number` is its place among all sources."""
    folder, read = _read(stage, source, renewal)
    rank = RANK[source.kind]
    return StagedSource(folder, rank, (rank << 56) + (number << 40), read.rows, read.notes)


def _read(stage: Path, source: CandidateSource, renewal: Renewal) -> tuple[Path, _Read]:
    name = "" if renewal.kb is None else renewal.kb.digest
    folder = stage / blake2b(repr((source.kind, file_stamp(source.path), name)).encode(), digest_size=8).hexdigest()
    done = folder / _DONE
    if done.exists():
        return folder, msgspec.json.decode(done.read_bytes(), type=_Read)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    notes: Counter[str] = Counter()
    count = 0
    with working(f"reading {source.kind}") as advance, _Buckets(folder) as buckets:
        for table in SOURCES[source.kind](source.path, notes):
            kept = _renewed(table, renewal, notes)
            place = pa.array(np.arange(count, count + kept.num_rows))
            buckets.add(pa.table([*kept.columns, place], schema=_STAGED))
            count += kept.num_rows
            advance(kept.num_rows)
    read = _Read(count, dict(notes))
    with writing(str(done)) as file:
        file.write(msgspec.json.encode(read))
    return folder, read


class _Buckets:
    """Rows in files by a hash of their mentions, so that all of a mention are in the same file of every source."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._stack = folder, ExitStack()
        self._files: dict[int, Any] = {}
        self._waiting: list[Arrow] = []

    def __enter__(self) -> _Buckets:
        return self

    def __exit__(self, *problem: object) -> None:
        if problem[0] is None:
            self._flush()
        self._stack.close()

    def add(self, table: Arrow) -> None:
        """Take some more rows."""
        self._waiting += [table] if table.num_rows else []
        if sum(one.num_rows for one in self._waiting) >= _PART:
            self._flush()

    def _flush(self) -> None:
        if not self._waiting:
            return
        rows = pa.concat_tables(self._waiting).combine_chunks()
        self._waiting.clear()
        bucket = string_hashes(rows.column("mention").combine_chunks()) % np.uint64(_BUCKETS)
        order = np.argsort(bucket, kind="stable")
        numbers, first = np.unique(bucket[order], return_index=True)
        ends = [*first[1:].tolist(), len(order)]
        for number, start, end in zip(numbers.tolist(), first.tolist(), ends, strict=True):
            self._file(number).write_table(rows.take(pa.array(order[start:end])))

    def _file(self, number: int) -> Any:  # noqa: ANN401  # pyarrow ships no types
        if number not in self._files:
            path = self._folder / f"{number:02}.parquet"
            writer = pq.ParquetWriter(path, _STAGED, compression="zstd", compression_level=1)
            self._files[number] = self._stack.enter_context(writer)
        return self._files[number]


def _renewed(table: Arrow, renewal: Renewal, notes: Counter[str]) -> Arrow:
    if renewal.kb is None:
        return table
    coded = table.column("entity").combine_chunks().dictionary_encode()
    titles = renewal.of(coded.dictionary.to_pylist())
    entity = pa.array(titles, pa.string()).take(coded.indices)
    table = table.set_column(1, "entity", entity)
    kept = table.filter(entity.is_valid())
    if kept.num_rows < table.num_rows:
        notes["links to dead or ambiguous pages (left out)"] += table.num_rows - kept.num_rows
    return kept
