"""What is read from dumps before a pack is made of it: tables in parts, in a folder that outlives a failure.

    stage = Stage(folder)
    stage.read(dump, "items en", b"\\n", parse)     # goes on where an earlier call stopped
    with stage.database() as db:
        db.sql(f"SELECT * FROM {stage.table('items')}")

Nothing is held but some blocks of a dump and DuckDB's share of memory; the rest is on disk.
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

from karat.errors import InputError, UsageError
from karat.model.tables.arrow import Arrow
from karat.storage.dumps import Dump, DumpBlock, Progress, ResumePoint
from karat.storage.files import readable, writing

MEMORY: Final = "2GB"
"""What DuckDB may hold; parsing needs some hundred megabytes besides."""

_PART: Final = 96 << 20  # bytes of Arrow tables that are written together


class Parsed(NamedTuple):
    """What a block of a dump says: rows of tables by name, and what was counted on the way, in words."""

    tables: Mapping[str, Arrow]
    counts: Mapping[str, int]


Parse: TypeAlias = Callable[[DumpBlock], Parsed]


class _Reading(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How far a dump was read, and under which wishes."""

    wishes: str
    point: ResumePoint = ResumePoint()
    seal: str = ""
    parts: int = 0
    counts: Mapping[str, int] = {}
    done: bool = False


class Stage:
    """Tables that are gathered from dumps."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise UsageError(f"{readable(str(folder))} cannot be made ({problem.strerror}).") from None
        self._readings = self._stored()

    def read(
        self, dump: Dump, wishes: str, ending: bytes, parse: Parse, progress: Progress | None = None
    ) -> Counter[str]:
        """Read a dump to its end, or what is left of it; gives what was counted in all of it.

        `wishes` says what is taken from it: a dump that was read under others is read again. What was read before a
        defect is kept, so that a mended copy of the dump can be continued.
        """
        name = dump.path.name
        state = self._continued(dump, wishes)
        counts = Counter(state.counts)
        if state.done:
            return counts
        rows: dict[str, list[Arrow]] = {}
        held, point = 0, state.point

        def keep(*, done: bool = False) -> None:
            nonlocal state, held
            for table, each in rows.items():
                self._write(f"{table}/{name}.{state.parts:06}.parquet", pa.concat_tables(each))
            state = _Reading(wishes, point, dump.seal(point), state.parts + bool(rows), dict(counts), done)
            rows.clear()
            held = 0
            self._store(name, state)

        try:
            for block in dump.blocks(ending, state.point, progress):
                found = parse(block)
                for table, each in found.tables.items():
                    if each.num_rows:
                        rows.setdefault(table, []).append(each)
                        held += each.nbytes
                counts.update(found.counts)
                point = block.point
                if held > _PART:
                    keep()
        except InputError:
            keep()
            raise
        keep(done=True)
        return counts

    def table(self, name: str, like: Mapping[str, str]) -> str:
        """All rows of a table, for SQL; `like` has its columns with their types, for when there is no row."""
        if any((self.folder / name).glob("*.parquet")):
            return f"(SELECT {', '.join(like)} FROM read_parquet({_quoted(self.folder / name)} || '/*.parquet'))"
        columns = ", ".join(f"NULL::{kind} AS {column}" for column, kind in like.items())
        return f"(SELECT {columns} WHERE false)"

    @property
    def scratch(self) -> Path:
        """Where files may lie as long as the database is there."""
        return self.folder / "database"

    @contextmanager
    def database(self, memory: str = MEMORY) -> Iterator[Any]:
        """A database on disk, in bounded memory; it is gone afterwards."""
        try:
            import duckdb
        except ImportError:
            raise UsageError("building from dumps needs DuckDB: pip install 'karat[duckdb]'") from None
        place = self.scratch
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        config: dict[str, Any] = {
            "memory_limit": memory,
            "temp_directory": str(place / "spill"),
            "preserve_insertion_order": "false",
        }
        try:
            with duckdb.connect(str(place / "build.duckdb"), config=config) as connection:
                connection.execute("SET enable_progress_bar = false")
                yield connection
        except duckdb.Error as problem:
            said = str(problem).splitlines()[0]
            raise UsageError(
                f"DuckDB could not put the tables together ({said}). Give it room at {readable(str(place))}, or more "
                "memory with --memory 4GB; what was read is kept."
            ) from None
        finally:
            shutil.rmtree(place, ignore_errors=True)

    def remove(self) -> None:
        """Delete everything, once it is of no more use."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _continued(self, dump: Dump, wishes: str) -> _Reading:
        """How far a dump was read already; what does not belong to it any more is deleted."""
        name = dump.path.name
        state = self._readings.get(name, _Reading(wishes))
        if state.wishes != wishes or state.seal not in ("", dump.seal(state.point)) or dump.size < state.point.read:
            state = _Reading(wishes)
        for part in self.folder.glob(f"*/{_escaped(name)}.??????.parquet"):
            if int(part.name.split(".")[-2]) >= state.parts:
                part.unlink()
        return state

    def _write(self, name: str, table: Arrow) -> None:
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        try:
            pq.write_table(table, path, compression="zstd")
        except OSError as problem:
            raise UsageError(f"{readable(str(path))} cannot be written ({problem}). Make room.") from None

    @property
    def _list(self) -> Path:
        return self.folder / "read.json"

    def _stored(self) -> dict[str, _Reading]:
        try:
            return msgspec.json.decode(self._list.read_bytes(), type=dict[str, _Reading])
        except (OSError, msgspec.DecodeError):  # none, or of a killed build: then all is read again
            return {}

    def _store(self, name: str, state: _Reading) -> None:
        self._readings[name] = state
        with writing(str(self._list)) as file:
            file.write(msgspec.json.encode(self._readings))


def _quoted(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"


def _escaped(name: str) -> str:
    """A name in which nothing is a wildcard."""
    return "".join(f"[{sign}]" if sign in "*?[" else sign for sign in name)
