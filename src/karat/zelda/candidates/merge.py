"""Candidate lists are put together: every source is read once, in parts on disk, and one statement merges them.

The statement is plain SQL, so that DuckDB and Spark run the same. Memory is bounded by what DuckDB may hold and by some
parts; sources that were read stay beside the target until it is complete, so that a broken build goes on.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import IO, Any, Final, NamedTuple, TypeAlias

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from karat.errors import InputError, UsageError
from karat.kb.protocol import KB
from karat.model.tables.arrow import Arrow
from karat.model.tables.digest import string_hashes
from karat.storage.files import check_target, readable, writing
from karat.work import working
from karat.zelda.candidates.keys import coarse_key
from karat.zelda.candidates.sources import RANK, SOURCES
from karat.zelda.texts.renewal import Renewal
from karat.zelda.texts.sections import file_stamp

LAYOUT: Final = "karat-candidates/1"
MEMORY: Final = "400MB"
"""What DuckDB may hold; reading and writing take some hundred megabytes besides."""

_PART: Final = 1 << 18  # rows that are written together
_HASHES: Final = 1 << 20  # that wait to be counted
_BATCH: Final = 1 << 17
_STAGED: Final = pa.schema({"mention": pa.string(), "entity": pa.string(), "n": pa.int64(), "place": pa.int64()})
_LISTS: Final = pa.schema(
    {"mention": pa.string(), "key": pa.string(), "entity": pa.string(), "count": pa.int64(), "place": pa.int64()}
)

_DONE: Final = "done.json"  # in the folder of a source that was read to its end

MERGES: Final[Mapping[str, str]] = {
    "zelda": "SUM(CASE WHEN e.source = f.source THEN e.n ELSE 1 END)",
    "sum": "SUM(e.n)",
}
"""What the count of a pair is: `zelda` as its scripts merge, a mention keeps the counts of the first source that has it
and every further source adds 1 for each of its entities; `sum` adds the counts of all sources."""

_STATEMENT: Final = """
WITH each_source AS (
    SELECT mention, entity, source, SUM(n) AS n, MIN(place) AS place
    FROM ({kept}) k GROUP BY mention, entity, source
), firsts AS (
    SELECT mention, MIN(source) AS source FROM each_source GROUP BY mention
)
SELECT e.mention, e.entity, CAST({merged} AS BIGINT) AS n, MIN(e.place) AS place
FROM each_source e JOIN firsts f ON e.mention = f.mention
GROUP BY e.mention, e.entity
ORDER BY mention, place, entity
"""
_KEPT: Final = "SELECT p.mention, p.entity, p.source, p.n, p.place FROM ({pairs}) p{filtered}"
_FILTER: Final = " JOIN vocabulary v ON p.entity = v.entity"
_OUTSIDE: Final = (
    "SELECT SUM(p.n) FROM ({pairs}) p LEFT JOIN vocabulary v ON p.entity = v.entity WHERE v.entity IS NULL"
)
_BUCKETS: Final = 64
"""Into how many buckets mentions are divided, each of which is merged by itself: all at once takes more memory."""


class CandidateSource(NamedTuple):
    """A file or folder, and what kind of source it is."""

    kind: str
    path: str


@dataclass(frozen=True, slots=True)
class BuiltLists:
    """What a build made: pairs, mentions and entities of the lists, what each source gave, and what was left out."""

    path: str
    merge: str
    pairs: int
    mentions: int
    entities: int
    rows: Mapping[str, int]
    left_out: Mapping[str, int]


class _Read(msgspec.Struct, frozen=True):
    """What a source gave."""

    rows: int
    notes: dict[str, int]


def build_lists(
    sources: Sequence[CandidateSource],
    target: str,
    *,
    merge: str = "zelda",
    vocabulary: Sequence[str] | None = None,
    kb: KB | None = None,
    engine: str = "duckdb",
    memory: str = MEMORY,
) -> BuiltLists:
    """Read all sources, merge them and write the lists as one Parquet file, in place only once it is complete."""
    if not sources:
        raise UsageError("no source of candidates is given. Name one, such as --text FILE.")
    check_target(target)
    stage = Path(target).with_name(f".{Path(target).name}.stage")
    notes: Counter[str] = Counter()
    rows: dict[str, int] = {}
    staged: list[_StagedSource] = []
    with _room(stage):
        stage.mkdir(exist_ok=True)
        for number, source in enumerate(sources):
            folder, read = _staged(stage, source, Renewal(kb))
            notes.update(read.notes)
            rows[f"{source.kind} {source.path}"] = read.rows
            rank = RANK[source.kind]
            staged += [_StagedSource(folder, rank, (rank << 56) + (number << 40))] if read.rows else []
        if not staged:
            raise _nothing([source.path for source in sources], notes)
        if vocabulary is not None:
            pq.write_table(pa.table({"entity": pa.array(dict.fromkeys(vocabulary))}), stage / "vocabulary.parquet")
        asked = _Asked(staged, vocabulary is not None, MERGES[merge])
        about = {"layout": LAYOUT, "merge": merge, "sources": msgspec.json.encode(rows).decode()}
        with working("merging"), _ENGINES[engine](stage, memory, asked) as merged:
            if asked.filtered and (outside := merged.outside()):
                notes["occurrences of entities outside the vocabulary (left out)"] = outside
            with writing(target) as file:
                pairs, mentions, entities = _written(merged.batches(), file, about)
                if not pairs:  # and no file either
                    raise _nothing([source.path for source in sources], notes)
    shutil.rmtree(stage, ignore_errors=True)
    return BuiltLists(target, merge, pairs, mentions, entities, rows, dict(notes))


def _nothing(paths: Sequence[str], notes: Mapping[str, int]) -> InputError:
    said = "; ".join(f"{what}: {count:,}" for what, count in notes.items())
    return InputError(
        ", ".join(paths),
        found=f"no candidate{f' ({said})' if said else ''}",
        expected="links to entities of the vocabulary",
        remedy="Check that titles are those of the same Wikipedia, and that the right files are given",
    )


@contextmanager
def _room(stage: Path) -> Iterator[None]:
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


def _staged(stage: Path, source: CandidateSource, renewal: Renewal) -> tuple[Path, _Read]:
    """The rows of a source in parts on disk, read now or by an earlier call."""
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


class _StagedSource(NamedTuple):
    """The buckets of a source, which source it is to the merge, and what its places begin with."""

    folder: Path
    rank: int
    offset: int

    def view(self, read: Callable[[str], str], bucket: str) -> str:
        """Its rows for SQL, of one bucket or all (`*`)."""
        files = read(f"{self.folder}/{bucket}.parquet")
        return f"SELECT mention, entity, n, {self.offset} + place AS place, {self.rank} AS source FROM {files}"


class _Asked(NamedTuple):
    """What is merged: the sources, whether a vocabulary filters them, and the rule."""

    sources: Sequence[_StagedSource]
    filtered: bool
    merged: str

    def pairs(self, read: Callable[[str], str], bucket: str = "*") -> str:
        """All rows, as an engine reads files; of one bucket or of all."""
        there = [one for one in self.sources if bucket == "*" or (one.folder / f"{bucket}.parquet").exists()]
        return " UNION ALL ".join(one.view(read, bucket) for one in there)

    def kept(self, read: Callable[[str], str], bucket: str = "*") -> str:
        """Those that may become candidates."""
        return _KEPT.format(pairs=self.pairs(read, bucket), filtered=_FILTER if self.filtered else "")

    def statement(self, read: Callable[[str], str], bucket: str = "*") -> str:
        """How they are merged."""
        return _STATEMENT.format(kept=self.kept(read, bucket), merged=self.merged)

    @property
    def buckets(self) -> list[str]:
        """The buckets that have rows."""
        return sorted({path.stem for one in self.sources for path in one.folder.glob("*.parquet")})


class _Merged(NamedTuple):
    """What an engine gives: merged rows, those of a mention one after the other, and what the vocabulary leaves out."""

    batches: Callable[[], Iterator[Arrow]]
    outside: Callable[[], int]


@contextmanager
def _duckdb(stage: Path, memory: str, asked: _Asked) -> Iterator[_Merged]:
    try:
        import duckdb
    except ImportError:
        raise UsageError("candidate lists are merged by DuckDB: pip install 'karat[duckdb]'") from None
    spill = stage / "spill"
    config: dict[str, Any] = {
        "memory_limit": memory,
        "temp_directory": str(spill),
        "preserve_insertion_order": "false",
        "threads": "2",
    }
    try:
        with duckdb.connect(config=config) as connection:
            connection.execute("SET enable_progress_bar = false")
            if asked.filtered:
                vocabulary = _parquet(str(stage / "vocabulary.parquet"))
                connection.execute(f"CREATE VIEW vocabulary AS SELECT * FROM {vocabulary}")

            def batches() -> Iterator[Arrow]:
                for bucket in asked.buckets:
                    yield from connection.sql(asked.statement(_parquet, bucket)).to_arrow_reader(_BATCH)

            def outside() -> int:
                return int(connection.execute(_OUTSIDE.format(pairs=asked.pairs(_parquet))).fetchall()[0][0] or 0)

            yield _Merged(batches, outside)
    except duckdb.Error as problem:
        said = str(problem).splitlines()[0]
        raise UsageError(
            f"DuckDB could not merge the sources ({said}). Make room at {readable(str(stage))}, or give it more memory "
            "with --memory 1GB; what was read is kept."
        ) from None
    finally:
        shutil.rmtree(spill, ignore_errors=True)


@contextmanager
def _spark(stage: Path, memory: str, asked: _Asked) -> Iterator[_Merged]:
    from karat.engines.spark import spark_session

    with spark_session() as spark:
        if asked.filtered:
            spark.read.parquet(str(stage / "vocabulary.parquet")).createOrReplaceTempView("vocabulary")
        merged = stage / "merged"

        def batches() -> Iterator[Arrow]:
            spark.sql(asked.statement(_in_spark)).write.mode("overwrite").parquet(str(merged))
            for path in sorted(merged.glob("*.parquet")):
                yield from pq.ParquetFile(path).iter_batches(_BATCH)

        def outside() -> int:
            return int(spark.sql(_OUTSIDE.format(pairs=asked.pairs(_in_spark))).collect()[0][0] or 0)

        yield _Merged(batches, outside)


_Open: TypeAlias = Callable[[Path, str, _Asked], AbstractContextManager[_Merged]]
_ENGINES: Final[Mapping[str, _Open]] = {"duckdb": _duckdb, "spark": _spark}


def _parquet(files: str) -> str:
    return f"read_parquet({_quoted(files)})"


def _in_spark(files: str) -> str:
    return f"parquet.`{files}`"


def _quoted(path: str) -> str:
    return "'" + path.replace("'", "''") + "'"


def _written(merged: Iterator[Arrow], file: IO[bytes], about: Mapping[str, str]) -> tuple[int, int, int]:
    """Write the merged rows with the key by which mentions are found; gives how many pairs, mentions and entities."""
    pairs = mentions = 0
    last: str | None = None
    entities = _Distinct()
    schema = _LISTS.with_metadata(about)
    with pq.ParquetWriter(file, schema, compression="zstd", compression_level=3) as writer:
        for batch in merged:
            coded = batch.column("mention").dictionary_encode()
            names: list[str] = coded.dictionary.to_pylist()
            mentions += len(names) - (bool(names) and names[0] == last)
            last = names[-1] if names else last
            key = pa.array(list(map(coarse_key, names)), pa.string()).take(coded.indices)
            columns = [batch.column("mention"), key, *(batch.column(name) for name in ("entity", "n", "place"))]
            writer.write_batch(pa.record_batch(columns, schema=schema))
            entities.add(string_hashes(batch.column("entity")))
            pairs += batch.num_rows
    return pairs, mentions, entities.count()


class _Distinct:
    """Counts distinct strings by their hashes, eight bytes each."""

    def __init__(self) -> None:
        self._known: NDArray[np.uint64] = np.zeros(0, np.uint64)
        self._waiting: list[NDArray[np.uint64]] = []

    def add(self, hashes: NDArray[np.uint64]) -> None:
        """Note some strings."""
        self._waiting.append(np.unique(hashes))
        if sum(map(len, self._waiting)) > max(_HASHES, len(self._known)):
            self.count()

    def count(self) -> int:
        """How many there are."""
        self._known = np.unique(np.concatenate([self._known, *self._waiting]))
        self._waiting.clear()
        return len(self._known)
