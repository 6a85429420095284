"""Staging of candidate sources: rows in buckets on disk, which survive a failure."""

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

from karat.model.errors import UsageError
from karat.model.json.decoder import read_json_value
from karat.model.output.progress import track_progress
from karat.model.tables.arrow import Arrow
from karat.model.tables.digest import hash_strings
from karat.protocols.zelda.candidates.sources import RANK, SOURCES
from karat.protocols.zelda.texts.sections import file_stamp
from karat.protocols.zelda.texts.title_updates import TitleUpdater
from karat.storage.atomic_writing import open_for_writing
from karat.storage.files import printable_path

_SCHEMA: Final = pa.schema({"mention": pa.string(), "entity": pa.string(), "n": pa.int64(), "row_index": pa.int64()})
_ROWS_PER_WRITE: Final = 1 << 18  # rows written together
_DONE: Final = "done.json"  # marks a source that was read completely
_BUCKETS: Final = 64
"""Number of buckets. Each is merged separately to save memory."""


class CandidateSource(NamedTuple):
    """A file or folder with candidates."""

    kind: str
    """Kind of the source, a key of `SOURCES`."""
    path: str
    """Path."""


class StagedSource(NamedTuple):
    """A source whose rows are on disk, in buckets: Parquet files by a hash of the mention."""

    folder: Path
    """Folder of the buckets."""
    rank: int
    """Rank of the source in the merge."""
    offset: int
    """Number added to the positions of its rows."""
    rows: int
    """Number of rows."""
    notes: Mapping[str, int]
    """Number of excluded rows by reason."""

    def to_sql(self, format_table: Callable[[str], str], bucket: str) -> str:
        """Return the SQL query for its rows, of one bucket or all (`*`); `format_table` names Parquet files in SQL."""
        files = format_table(f"{self.folder}/{bucket}.parquet")
        return f"SELECT mention, entity, n, {self.offset} + row_index AS row_index, {self.rank} AS source FROM {files}"


class _SourceSummary(msgspec.Struct, frozen=True):
    """Number of rows of a completely read source, and of excluded rows by reason."""

    rows: int
    notes: dict[str, int]


@contextmanager
def preserve_stage(stage: Path) -> Iterator[None]:
    """Keep completely read sources after a failure of the block; delete incomplete ones when the block ends.

    An `OSError` becomes a `UsageError`.
    """
    try:
        yield
    except OSError as problem:
        reason = problem.strerror or str(problem).splitlines()[0]
        raise UsageError(
            f"{printable_path(str(stage))} cannot be written ({reason}). Free disk space and run again: "
            "completed sources are stored."
        ) from None
    finally:
        for folder in stage.glob("*/"):
            if not (folder / _DONE).exists():
                shutil.rmtree(folder, ignore_errors=True)
        with suppress(OSError):  # removes the stage if nothing was read
            stage.rmdir()


def stage_source(stage: Path, source: CandidateSource, number: int, updater: TitleUpdater) -> StagedSource:
    """Write the rows of a source of candidates to buckets in the folder `stage`, or reuse those of an earlier call.

    A bucket is a file with all rows of the mentions whose hash is in it. `number`: index of the source among all
    sources, which determines the positions of the rows. `updater`: replaces outdated titles.
    """
    folder, summary = _stage_rows(stage, source, updater)
    rank = RANK[source.kind]
    return StagedSource(folder, rank, (rank << 56) + (number << 40), summary.rows, summary.notes)


def _stage_rows(stage: Path, source: CandidateSource, updater: TitleUpdater) -> tuple[Path, _SourceSummary]:
    """Read a source into buckets, unless an earlier call completed that; return their folder and a summary."""
    name = "" if updater.kb is None else updater.kb.digest
    folder = stage / blake2b(repr((source.kind, file_stamp(source.path), name)).encode(), digest_size=8).hexdigest()
    done = folder / _DONE
    if done.exists():
        return folder, read_json_value(
            done.read_bytes(), _SourceSummary, str(done), expected="a stored summary", remedy=f"Delete {folder}"
        )
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    notes: Counter[str] = Counter()
    n_rows = 0
    with track_progress(f"reading {source.kind}") as advance, _Buckets(folder) as buckets:
        for table in SOURCES[source.kind](source.path, notes):
            current = _update_titles(table, updater, notes)
            positions = pa.array(np.arange(n_rows, n_rows + current.num_rows))
            buckets.add(pa.table([*current.columns, positions], schema=_SCHEMA))
            n_rows += current.num_rows
            advance(current.num_rows)
    summary = _SourceSummary(n_rows, dict(notes))
    with open_for_writing(str(done)) as file:
        file.write(msgspec.json.encode(summary))
    return folder, summary


class _Buckets:
    """Writer of rows to files by a hash of their mention, so that all rows of a mention are in the same bucket."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._stack = folder, ExitStack()
        self._files: dict[int, Any] = {}
        self._pending: list[Arrow] = []

    def __enter__(self) -> _Buckets:
        return self

    def __exit__(self, *problem: object) -> None:
        if problem[0] is None:
            self._flush()
        self._stack.close()

    def add(self, table: Arrow) -> None:
        """Add a table of rows; they are written to the files of their buckets once `_ROWS_PER_WRITE` rows are pending.

        A hash of the mention decides the bucket of a row. Rows that still are pending are written on exit.
        """
        self._pending += [table] if table.num_rows else []
        if sum(pending.num_rows for pending in self._pending) >= _ROWS_PER_WRITE:
            self._flush()

    def _flush(self) -> None:
        """Write the pending rows to the files of their buckets, which a hash of the mention decides."""
        if not self._pending:
            return
        rows = pa.concat_tables(self._pending).combine_chunks()
        self._pending.clear()
        bucket = hash_strings(rows.column("mention").combine_chunks()) % np.uint64(_BUCKETS)
        order = np.argsort(bucket, kind="stable")
        numbers, first = np.unique(bucket[order], return_index=True)
        ends = [*first[1:].tolist(), len(order)]
        for number, start, end in zip(numbers.tolist(), first.tolist(), ends, strict=True):
            self._get_writer(number).write_table(rows.take(pa.array(order[start:end])))

    def _get_writer(self, number: int) -> Any:  # noqa: ANN401  # pyarrow ships no types
        """Return the Parquet writer of a bucket, opened on first use."""
        if number not in self._files:
            path = self._folder / f"{number:02}.parquet"
            writer = pq.ParquetWriter(path, _SCHEMA, compression="zstd", compression_level=1)
            self._files[number] = self._stack.enter_context(writer)
        return self._files[number]


def _update_titles(table: Arrow, updater: TitleUpdater, notes: Counter[str]) -> Arrow:
    """Return the table with current titles as entities, without rows of dead titles, which are counted in `notes`."""
    if updater.kb is None:
        return table
    encoded = table.column("entity").combine_chunks().dictionary_encode()
    titles = updater.find_current_titles(encoded.dictionary.to_pylist())
    entity = pa.array(titles, pa.string()).take(encoded.indices)
    table = table.set_column(1, "entity", entity)
    current = table.filter(entity.is_valid())
    if current.num_rows < table.num_rows:
        notes["links to dead or ambiguous pages (excluded)"] += table.num_rows - current.num_rows
    return current
