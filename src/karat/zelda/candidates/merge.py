"""Candidate lists are put together: every source is read once, in parts on disk, and one statement merges them.

The statement is plain SQL, so that DuckDB and Spark run the same. Memory is bounded by what DuckDB may hold and by some
parts; sources that were read stay beside the target until it is complete, so that a broken build goes on.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from karat.errors import InputError, UsageError
from karat.kb.protocol import KB
from karat.model.tables.arrow import Arrow
from karat.storage.files import check_target, readable, writing
from karat.work import working
from karat.zelda.candidates.keys import coarse_key
from karat.zelda.candidates.sources import RANK, SOURCES
from karat.zelda.texts.renewal import Renewal
from karat.zelda.texts.sections import file_stamp

LAYOUT: Final = "karat-candidates/1"
MEMORY: Final = "400MB"
"""What DuckDB may hold; reading and writing take some hundred megabytes besides."""

_PART: Final = 1 << 20  # rows that are written together
_BATCH: Final = 1 << 17
_STAGED: Final = pa.schema({"mention": pa.string(), "entity": pa.string(), "n": pa.int64(), "place": pa.int64()})
_LISTS: Final = pa.schema(
    {"mention": pa.string(), "key": pa.string(), "entity": pa.string(), "count": pa.int64(), "place": pa.int64()}
)

MERGES: Final[Mapping[str, str]] = {
    "zelda": "SUM(CASE WHEN e.source = f.source THEN e.n ELSE 1 END)",
    "sum": "SUM(e.n)",
}
"""What the count of a pair is: `zelda` as its scripts merge, a mention keeps the counts of the first source that has it
and every further source adds 1 for each of its entities; `sum` adds the counts of all sources."""

_STATEMENT: Final = """
WITH each_source AS (
    SELECT mention, entity, source, SUM(n) AS n, MIN(place) AS place FROM {kept} GROUP BY mention, entity, source
), firsts AS (
    SELECT mention, MIN(source) AS source FROM each_source GROUP BY mention
)
SELECT e.mention, e.entity, CAST({merged} AS BIGINT) AS n, MIN(e.place) AS place
FROM each_source e JOIN firsts f ON e.mention = f.mention
GROUP BY e.mention, e.entity
ORDER BY mention, place, entity
"""
_KEPT: Final = "SELECT p.mention, p.entity, p.source, p.n, p.place FROM pairs p"
_FILTER: Final = " JOIN vocabulary v ON p.entity = v.entity"
_OUTSIDE: Final = "SELECT SUM(p.n) FROM pairs p LEFT JOIN vocabulary v ON p.entity = v.entity WHERE v.entity IS NULL"
_ENTITIES: Final = "SELECT COUNT(*) FROM (SELECT entity FROM kept GROUP BY entity) e"
_BUCKET: Final = 1_000_000  # rows that are merged at a time, as many mentions as that are of
_BUCKETS: Final = 64
_FLUSHED: Final = 1 << 15  # rows that wait in the buckets


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
    views: list[str] = []
    with _room(stage):
        stage.mkdir(exist_ok=True)
        for number, source in enumerate(sources):
            folder, read = _staged(stage, source, Renewal(kb))
            notes.update(read.notes)
            rows[f"{source.kind} {Path(source.path).name}"] = read.rows
            if read.rows:
                offset = (RANK[source.kind] << 56) + (number << 40)
                views.append(_view(folder, RANK[source.kind], offset))
        if not views:
            raise _nothing([source.path for source in sources], notes)
        if vocabulary is not None:
            pq.write_table(pa.table({"entity": pa.array(dict.fromkeys(vocabulary))}), stage / "vocabulary.parquet")
        asked = _Asked(" UNION ALL ".join(views), sum(rows.values()), vocabulary is not None, MERGES[merge])
        about = {"layout": LAYOUT, "merge": merge, "sources": msgspec.json.encode(rows).decode()}
        with working("merging"), _ENGINES[engine](stage, memory, asked) as merged:
            if asked.filtered and (outside := merged.one(_OUTSIDE)):
                notes["occurrences of entities outside the vocabulary (left out)"] = outside
            entities = merged.one(_ENTITIES)
            if not entities:
                raise _nothing([source.path for source in sources], notes)
            pairs, mentions = _written(merged.batches(), target, about)
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


def _staged(stage: Path, source: CandidateSource, renewal: Renewal) -> tuple[Path, _Read]:
    """The rows of a source in parts on disk, read now or by an earlier call."""
    name = "" if renewal.kb is None else renewal.kb.digest
    folder = stage / blake2b(repr((source.kind, file_stamp(source.path), name)).encode(), digest_size=8).hexdigest()
    done = folder / "done.json"
    if done.exists():
        return folder, msgspec.json.decode(done.read_bytes(), type=_Read)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    notes: Counter[str] = Counter()
    count = part = held = 0
    waiting: list[Arrow] = []
    with working(f"reading {source.kind}") as advance:
        for table in SOURCES[source.kind](source.path, notes):
            kept = _renewed(table, renewal, notes)
            place = pa.array(np.arange(count, count + kept.num_rows))
            waiting.append(pa.table([*kept.columns, place], schema=_STAGED))
            count += kept.num_rows
            held += kept.num_rows
            advance(kept.num_rows)
            if held >= _PART:
                _write(folder, part, waiting)
                part, held = part + 1, 0
    if waiting:
        _write(folder, part, waiting)
    read = _Read(count, dict(notes))
    with writing(str(done)) as file:
        file.write(msgspec.json.encode(read))
    return folder, read


def _write(folder: Path, part: int, waiting: list[Arrow]) -> None:
    pq.write_table(pa.concat_tables(waiting), folder / f"{part:05}.parquet", compression="zstd", compression_level=1)
    waiting.clear()


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


def _view(folder: Path, rank: int, offset: int) -> str:
    """A source for SQL, in the words that both engines understand; `{files}` is how the engine reads a folder."""
    return f"SELECT mention, entity, n, {offset} + place AS place, {rank} AS source FROM {{{folder}}}"


class _Asked(NamedTuple):
    """What is merged: the sources for SQL, how many rows they have, whether a vocabulary filters them, and the rule."""

    views: str
    rows: int
    filtered: bool
    merged: str

    def kept(self) -> str:
        """The rows that may become candidates."""
        return _KEPT + (_FILTER if self.filtered else "")

    def statement(self, kept: str) -> str:
        """How they are merged."""
        return _STATEMENT.format(kept=kept, merged=self.merged)


class _Merged(NamedTuple):
    """What an engine gives: merged rows, those of a mention one after the other, and a number that is asked for."""

    batches: Callable[[], Iterator[Arrow]]
    one: Callable[[str], int]


@contextmanager
def _duckdb(stage: Path, memory: str, asked: _Asked) -> Iterator[_Merged]:
    """Mentions are put into buckets first, each of which is merged in memory: sorting all at once takes more disk."""
    try:
        import duckdb
    except ImportError:
        raise UsageError("candidate lists are merged by DuckDB: pip install 'karat[duckdb]'") from None
    spill, folder = stage / "spill", stage / "buckets"
    shutil.rmtree(folder, ignore_errors=True)
    config: dict[str, Any] = {
        "memory_limit": memory,
        "temp_directory": str(spill),
        "preserve_insertion_order": "false",
        "threads": "2",
    }
    buckets = min(_BUCKETS, 1 + asked.rows // _BUCKET)
    try:
        with duckdb.connect(config=config) as connection:
            connection.execute("SET enable_progress_bar = false")
            connection.execute(f"CREATE VIEW pairs AS {_read_by(asked.views, _parquet)}")
            if asked.filtered:
                vocabulary = _parquet(str(stage / "vocabulary.parquet"))
                connection.execute(f"CREATE VIEW vocabulary AS SELECT * FROM {vocabulary}")
            connection.execute(f"SET partitioned_write_flush_threshold = {_FLUSHED}")  # beside what it may hold
            connection.execute(
                f"COPY (SELECT *, hash(mention) % {buckets} AS bucket FROM ({asked.kept()})) "
                f"TO {_quoted(str(folder))} (FORMAT parquet, PARTITION_BY (bucket), "
                f"ROW_GROUP_SIZE {_FLUSHED})"
            )
            parts = sorted(folder.glob("bucket=*"))
            if parts:
                connection.execute(f"CREATE VIEW kept AS SELECT * FROM {_parquet(str(folder) + '/*')}")

            def batches() -> Iterator[Arrow]:
                for part in parts:
                    merged = connection.sql(asked.statement(_parquet(str(part))))
                    yield from merged.to_arrow_reader(_BATCH)

            yield _Merged(batches, lambda sql: int(connection.execute(sql).fetchall()[0][0] or 0) if parts else 0)
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
        spark.sql(_read_by(asked.views, _spark_folder)).createOrReplaceTempView("pairs")
        if asked.filtered:
            spark.read.parquet(str(stage / "vocabulary.parquet")).createOrReplaceTempView("vocabulary")
        spark.sql(asked.kept()).createOrReplaceTempView("kept")
        merged = stage / "merged"

        def batches() -> Iterator[Arrow]:
            spark.sql(asked.statement("kept")).write.mode("overwrite").parquet(str(merged))
            for path in sorted(merged.glob("*.parquet")):
                yield from pq.ParquetFile(path).iter_batches(_BATCH)

        yield _Merged(batches, lambda sql: int(spark.sql(sql).collect()[0][0] or 0))


_Open: TypeAlias = Callable[[Path, str, _Asked], AbstractContextManager[_Merged]]
_ENGINES: Final[Mapping[str, _Open]] = {"duckdb": _duckdb, "spark": _spark}


def _read_by(views: str, how: Callable[[str], str]) -> str:
    """Views whose folders, in braces, are read as an engine does."""
    parts = views.split("{")
    return parts[0] + "".join(how(folder) + rest for folder, rest in (part.split("}", 1) for part in parts[1:]))


def _parquet(path: str) -> str:
    return f"read_parquet({_quoted(path if path.endswith('.parquet') else path + '/*.parquet')})"


def _spark_folder(path: str) -> str:
    return f"parquet.`{path}/*.parquet`"


def _quoted(path: str) -> str:
    return "'" + path.replace("'", "''") + "'"


def _written(merged: Iterator[Arrow], target: str, about: Mapping[str, str]) -> tuple[int, int]:
    """Write the merged rows with the key by which mentions are found; gives how many pairs and mentions there are."""
    pairs = mentions = 0
    last: str | None = None
    schema = _LISTS.with_metadata(about)
    with writing(target) as file, pq.ParquetWriter(file, schema, compression="zstd", compression_level=3) as writer:
        for batch in merged:
            coded = batch.column("mention").dictionary_encode()
            names: list[str] = coded.dictionary.to_pylist()
            mentions += len(names) - (bool(names) and names[0] == last)
            last = names[-1] if names else last
            key = pa.array(list(map(coarse_key, names)), pa.string()).take(coded.indices)
            columns = [batch.column("mention"), key, *(batch.column(name) for name in ("entity", "n", "place"))]
            writer.write_batch(pa.record_batch(columns, schema=schema))
            pairs += batch.num_rows
    return pairs, mentions
