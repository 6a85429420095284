r"""Staging tables that are read from dumps before a snapshot is built, in a folder that survives a failure.

    stage = DumpStage(folder)
    stage.read_dump(dump, "items en", b"\n", parse)  # resumes an earlier call
    with stage.open_database() as db:
        db.sql(f"SELECT * FROM {stage.table_sql('items', columns)}")

Memory holds only some blocks of a dump and DuckDB's share; the rest is on disk.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from karat.model.errors import InputError, UsageError
from karat.model.json.decoder import JsonError, decode_json
from karat.model.tables.arrow import Arrow
from karat.storage.atomic_writing import open_for_writing
from karat.storage.dumps import Dump, DumpBlock, Progress, ResumePoint
from karat.storage.files import printable_path

DEFAULT_MEMORY: Final = "2GB"
"""Memory limit of DuckDB; parsing needs some hundred megabytes more."""

_PART_SIZE: Final = 96 << 20  # bytes of Arrow tables written together


class ParsedBlock(NamedTuple):
    """Rows of several tables, and counts, parsed from a block of a dump."""

    tables: Mapping[str, Arrow]
    """Rows by table name."""
    counts: Mapping[str, int]
    """Counts by description."""


BlockParser: TypeAlias = Callable[[DumpBlock], ParsedBlock]


class _ReadState(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How far a dump was read."""

    description: str
    """What is read from the dump."""
    point: ResumePoint = ResumePoint()
    """Position at which reading resumes."""
    fingerprint: str = ""
    """Fingerprint of the dump before that position."""
    n_parts: int = 0
    """Number of files written so far."""
    counts: Mapping[str, int] = {}
    """Counts so far, by description."""
    is_done: bool = False
    """Whether the dump was read to its end."""


class DumpStage:
    """A folder of tables that are collected from dumps, in which reading can resume after an interruption."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise UsageError(
                f"{printable_path(str(folder))} cannot be created ({problem.strerror}). Choose another path."
            ) from None
        self._states = self._load_states()

    def read_dump(
        self, dump: Dump, description: str, ending: bytes, parse: BlockParser, progress: Progress | None = None
    ) -> Counter[str]:
        """Parse a dump to its end into tables, resuming an earlier call; return the counts for the whole dump.

        `description` says what is read: a dump that was read under another description is read again. `ending` is the
        mark at which blocks end, and `parse` turns a block into rows. Content before a defect stays, so that reading
        resumes with a repaired copy of the dump. Raise `InputError` for a damaged dump.
        """
        name = dump.path.name
        state = self._load_state(dump, description)
        counts = Counter(state.counts)
        if state.is_done:
            return counts
        tables: dict[str, list[Arrow]] = {}
        n_bytes, point = 0, state.point

        def store(*, is_done: bool = False) -> None:
            """Write the collected rows to files, and save how far the dump was read."""
            nonlocal state, n_bytes
            for table, blocks in tables.items():
                self._write_table(f"{table}/{name}.{state.n_parts:06}.parquet", pa.concat_tables(blocks))
            state = _ReadState(
                description, point, dump.fingerprint(point), state.n_parts + bool(tables), dict(counts), is_done
            )
            tables.clear()
            n_bytes = 0
            self._save_state(name, state)

        try:
            for block in dump.iterate_blocks(ending, state.point, progress):
                parsed = parse(block)
                for table, rows in parsed.tables.items():
                    if rows.num_rows:
                        tables.setdefault(table, []).append(rows)
                        n_bytes += rows.nbytes
                counts.update(parsed.counts)
                point = block.point
                if n_bytes > _PART_SIZE:
                    store()
        except InputError:
            store()
            raise
        store(is_done=True)
        return counts

    def table_sql(self, name: str, columns: Mapping[str, str]) -> str:
        """Return a DuckDB expression for all rows of a table; an empty table if no dump had rows for it.

        `columns` has the SQL type by column.
        """
        if any((self.folder / name).glob("*.parquet")):
            return f"(SELECT {', '.join(columns)} FROM read_parquet({_quote_sql(self.folder / name)} || '/*.parquet'))"
        nulls = ", ".join(f"NULL::{kind} AS {column}" for column, kind in columns.items())
        return f"(SELECT {nulls} WHERE false)"

    @property
    def scratch(self) -> Path:
        """Folder for temporary files while the database is open; its files are deleted with the database."""
        return self.folder / "database"

    @contextmanager
    def open_database(self, memory: str = DEFAULT_MEMORY) -> Iterator[Any]:
        """Open a temporary DuckDB database on disk with bounded memory, such as `2GB`, and delete it after the block.

        Raise `UsageError` if DuckDB is missing or fails.
        """
        try:
            import duckdb
        except ImportError:
            raise UsageError("building from dumps needs DuckDB: pip install 'karat[duckdb]'") from None
        folder = self.scratch
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        config: dict[str, Any] = {
            "memory_limit": memory,
            "temp_directory": str(folder / "spill"),
            "preserve_insertion_order": "false",
        }
        try:
            with duckdb.connect(str(folder / "build.duckdb"), config=config) as connection:
                connection.execute("SET enable_progress_bar = false")
                yield connection
        except duckdb.Error as problem:
            reason = str(problem).splitlines()[0]
            raise UsageError(
                f"DuckDB failed to build the tables ({reason}). Free disk space at {printable_path(str(folder))}, "
                "or give it more memory with --memory 4GB. Tables read so far are kept."
            ) from None
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def remove(self) -> None:
        """Delete the folder with all tables."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _load_state(self, dump: Dump, description: str) -> _ReadState:
        """Return how far a dump was read, and delete files that do not belong to that state.

        The state is a new one if the dump was read under another description, or is another file.
        """
        name = dump.path.name
        state = self._states.get(name, _ReadState(description))
        if (
            state.description != description
            or state.fingerprint not in ("", dump.fingerprint(state.point))
            or dump.size < state.point.n_read
        ):
            state = _ReadState(description)
        for part in self.folder.glob(f"*/{_escape_glob(name)}.??????.parquet"):
            if int(part.name.split(".")[-2]) >= state.n_parts:
                part.unlink()
        return state

    def _write_table(self, name: str, table: Arrow) -> None:
        """Write rows to a Parquet file in the folder; raise `UsageError` if that fails."""
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        try:
            pq.write_table(table, path, compression="zstd")
        except OSError as problem:
            raise UsageError(f"{printable_path(str(path))} cannot be written ({problem}). Free disk space.") from None

    @property
    def _states_path(self) -> Path:
        """File with the states of all dumps."""
        return self.folder / "read.json"

    def _load_states(self) -> dict[str, _ReadState]:
        """Load the stored states by name of the dump; none if the file is missing or damaged."""
        try:
            return decode_json(self._states_path.read_bytes(), dict[str, _ReadState])
        except (OSError, JsonError):  # missing, or left by a killed build: everything is read again
            return {}

    def _save_state(self, name: str, state: _ReadState) -> None:
        """Store how far the dump `name` was read."""
        self._states[name] = state
        with open_for_writing(str(self._states_path)) as file:
            file.write(msgspec.json.encode(self._states))


def _quote_sql(path: Path) -> str:
    """Return a path as an SQL string literal."""
    return "'" + str(path).replace("'", "''") + "'"


def _escape_glob(name: str) -> str:
    """Return a name in which glob wildcards are escaped, so that it matches only itself."""
    return "".join(f"[{character}]" if character in "*?[" else character for character in name)
