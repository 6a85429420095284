"""Building of candidate lists: every source is staged on disk once, and one SQL statement merges them.

The statement is plain SQL, so DuckDB and Spark run the same. Memory is bounded by DuckDB's limit and some parts. Staged
sources stay next to the target until it is complete, so an interrupted build resumes.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import IO, Any, Final, NamedTuple, TypeAlias

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from karat.kb.protocol import KB
from karat.model.errors import InputError, UsageError
from karat.model.output.json_files import JsonFile
from karat.model.output.progress import track_progress
from karat.model.tables.arrow import Arrow
from karat.model.tables.digest import hash_strings
from karat.protocols.zelda.candidates.keys import coarse_key
from karat.protocols.zelda.candidates.staging import CandidateSource, StagedSource, preserve_stage, stage_source
from karat.protocols.zelda.texts.title_updates import TitleUpdater
from karat.storage.atomic_writing import check_output_path, open_for_writing
from karat.storage.files import printable_path

LAYOUT: Final = "karat-candidates/2"
"""Layout of the Parquet file."""
MEMORY: Final = "250MB"
"""DuckDB's default memory limit; reading and writing take some hundred megabytes more."""

_MAX_PENDING: Final = 1 << 20  # pending hashes
_BATCH_SIZE: Final = 1 << 16
_SCHEMA: Final = pa.schema(
    {"mention": pa.string(), "key": pa.string(), "entity": pa.string(), "count": pa.int64(), "row_index": pa.int64()}
)

MERGES: Final[Mapping[str, str]] = {
    "zelda": "SUM(CASE WHEN e.source = f.source THEN e.n ELSE 1 END)",
    "sum": "SUM(e.n)",
}
"""SQL expression for the count of a pair, by merge rule.

`zelda` as in its scripts: a mention keeps the counts of the first source that has it, and every further source adds 1
for each of its entities. `sum` adds the counts of all sources.
"""

_MERGE_SQL: Final = """
WITH each_source AS (
    SELECT mention, entity, source, SUM(n) AS n, MIN(row_index) AS row_index
    FROM ({candidates}) k GROUP BY mention, entity, source
), firsts AS (
    SELECT mention, MIN(source) AS source FROM each_source GROUP BY mention
)
SELECT e.mention, e.entity, CAST({count} AS BIGINT) AS n, MIN(e.row_index) AS row_index
FROM each_source e JOIN firsts f ON e.mention = f.mention
GROUP BY e.mention, e.entity
ORDER BY mention, row_index, entity
"""
_CANDIDATES_SQL: Final = "SELECT p.mention, p.entity, p.source, p.n, p.row_index FROM ({pairs}) p{join}"
_FILTER_SQL: Final = " JOIN vocabulary v ON p.entity = v.entity"
_OUTSIDE_SQL: Final = (
    "SELECT SUM(p.n) FROM ({pairs}) p LEFT JOIN vocabulary v ON p.entity = v.entity WHERE v.entity IS NULL"
)


class BuildResult(JsonFile, frozen=True, tag="karat-zelda-candidates/2"):
    """Statistics of built candidate lists: the output of `karat zelda candidates --json`."""

    path: str
    """Path of the lists."""
    merge: str
    """Merge rule."""
    pairs: int
    """Number of pairs of mention and entity."""
    mentions: int
    """Number of mentions."""
    entities: int
    """Number of entities."""
    rows: Mapping[str, int]
    """Number of rows by source."""
    excluded: Mapping[str, int]
    """Number of excluded rows by reason."""


def build_candidate_lists(
    sources: Sequence[CandidateSource],
    target: str,
    *,
    merge: str = "zelda",
    vocabulary: Sequence[str] | None = None,
    kb: KB | None = None,
    engine: str = "duckdb",
    memory: str = MEMORY,
) -> BuildResult:
    """Read all sources, merge them and write the lists as one Parquet file, which replaces `target` when complete.

    `merge` is a key of `MERGES`. With `vocabulary` other entities are excluded. With `kb` titles are updated. `engine`
    is `duckdb` or `spark`. `memory` is DuckDB's limit, such as `1GB`. Raise `InputError` if no candidate remains.
    """
    if not sources:
        raise UsageError("no source of candidates. Pass one, such as --text FILE.")
    check_output_path(target)
    stage = Path(target).with_name(f".{Path(target).name}.stage")
    notes: Counter[str] = Counter()
    rows: dict[str, int] = {}
    staged: list[StagedSource] = []
    with preserve_stage(stage):
        stage.mkdir(exist_ok=True)
        for number, source in enumerate(sources):
            staged_source = stage_source(stage, source, number, TitleUpdater(kb))
            notes.update(staged_source.notes)
            rows[f"{source.kind} {source.path}"] = staged_source.rows
            staged += [staged_source] if staged_source.rows else []
        if not staged:
            raise _no_candidates_error([source.path for source in sources], notes)
        if vocabulary is not None:
            pq.write_table(pa.table({"entity": pa.array(dict.fromkeys(vocabulary))}), stage / "vocabulary.parquet")
        query = _MergeQuery(staged, vocabulary is not None, MERGES[merge])
        metadata = {"layout": LAYOUT, "merge": merge, "sources": msgspec.json.encode(rows).decode()}
        pa.default_memory_pool().release_unused()  # frees memory for DuckDB
        with track_progress("merging"), _ENGINES[engine](stage, memory, query) as result:
            if query.has_vocabulary and (n_outside := result.count_outside()):
                notes["occurrences of entities outside the vocabulary (excluded)"] = n_outside
            with open_for_writing(target) as file:
                pairs, mentions, entities = _write_lists(result.iterate_batches(), file, metadata)
                if not pairs:  # no file is written then
                    raise _no_candidates_error([source.path for source in sources], notes)
    shutil.rmtree(stage, ignore_errors=True)
    return BuildResult(target, merge, pairs, mentions, entities, rows, dict(notes))


def _no_candidates_error(paths: Sequence[str], notes: Mapping[str, int]) -> InputError:
    """Return (not raise) the error for sources without candidates."""
    details = "; ".join(f"{reason}: {count:,}" for reason, count in notes.items())
    return InputError(
        ", ".join(paths),
        actual=f"no candidate{f' ({details})' if details else ''}",
        expected="links to entities of the vocabulary",
        remedy="Check that all titles come from the same Wikipedia, and that the files are correct",
    )


class _MergeQuery(NamedTuple):
    """Builder of the SQL that merges staged sources.

    In its methods `format_table` is the engine's way to name Parquet files in SQL, and `bucket` selects the rows of one
    bucket; `*` selects all.
    """

    sources: Sequence[StagedSource]
    """Sources."""
    has_vocabulary: bool
    """Whether a vocabulary filters them."""
    count_sql: str
    """SQL expression for the count."""

    def pairs_sql(self, format_table: Callable[[str], str], bucket: str = "*") -> str:
        """Return the SQL for the rows of all sources: mention, entity, count, position and rank of the source."""
        sources = [source for source in self.sources if bucket == "*" or (source.folder / f"{bucket}.parquet").exists()]
        return " UNION ALL ".join(source.to_sql(format_table, bucket) for source in sources)

    def candidates_sql(self, format_table: Callable[[str], str], bucket: str = "*") -> str:
        """Return the SQL for the rows of all sources whose entity is in the vocabulary, if there is one."""
        return _CANDIDATES_SQL.format(
            pairs=self.pairs_sql(format_table, bucket), join=_FILTER_SQL if self.has_vocabulary else ""
        )

    def merge_sql(self, format_table: Callable[[str], str], bucket: str = "*") -> str:
        """Return the SQL for the merged rows: one per mention and entity, sorted by mention."""
        return _MERGE_SQL.format(candidates=self.candidates_sql(format_table, bucket), count=self.count_sql)

    @property
    def buckets(self) -> list[str]:
        """Sorted names of the buckets that have rows."""
        return sorted({path.stem for source in self.sources for path in source.folder.glob("*.parquet")})


class _MergeResult(NamedTuple):
    """Functions that run an engine: one yields the merged rows, the other counts excluded occurrences.

    Rows are grouped by mention. Occurrences of entities outside the vocabulary are excluded.
    """

    iterate_batches: Callable[[], Iterator[Arrow]]
    count_outside: Callable[[], int]


@contextmanager
def _merge_with_duckdb(stage: Path, memory: str, query: _MergeQuery) -> Iterator[_MergeResult]:
    """Open DuckDB on the staged sources for the block; it merges one bucket at a time and spills to `stage`.

    Raise `UsageError` if DuckDB is missing or fails.
    """
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
            if query.has_vocabulary:
                vocabulary = _duckdb_table(str(stage / "vocabulary.parquet"))
                connection.execute(f"CREATE VIEW vocabulary AS SELECT * FROM {vocabulary}")

            def iterate_batches() -> Iterator[Arrow]:
                for bucket in query.buckets:
                    yield from connection.sql(query.merge_sql(_duckdb_table, bucket)).to_arrow_reader(_BATCH_SIZE)
                    pa.default_memory_pool().release_unused()

            def count_outside() -> int:
                return int(
                    connection.execute(_OUTSIDE_SQL.format(pairs=query.pairs_sql(_duckdb_table))).fetchall()[0][0] or 0
                )

            yield _MergeResult(iterate_batches, count_outside)
    except duckdb.Error as problem:
        reason = str(problem).splitlines()[0]
        raise UsageError(
            f"DuckDB could not merge the sources ({reason}). Free disk space at {printable_path(str(stage))}, "
            "or set more memory with --memory 1GB. Completed sources are stored."
        ) from None
    finally:
        shutil.rmtree(spill, ignore_errors=True)


@contextmanager
def _merge_with_spark(stage: Path, memory: str, query: _MergeQuery) -> Iterator[_MergeResult]:
    """Open Spark on the staged sources for the block; it merges all buckets at once. `memory` is ignored."""
    from karat.plugins.engines.spark import spark_session

    with spark_session() as spark:
        if query.has_vocabulary:
            spark.read.parquet(str(stage / "vocabulary.parquet")).createOrReplaceTempView("vocabulary")
        output = stage / "merged"

        def iterate_batches() -> Iterator[Arrow]:
            spark.sql(query.merge_sql(_spark_table)).write.mode("overwrite").parquet(str(output))
            for path in sorted(output.glob("*.parquet")):
                yield from pq.ParquetFile(path).iter_batches(_BATCH_SIZE)

        def count_outside() -> int:
            return int(spark.sql(_OUTSIDE_SQL.format(pairs=query.pairs_sql(_spark_table))).collect()[0][0] or 0)

        yield _MergeResult(iterate_batches, count_outside)


_Engine: TypeAlias = Callable[[Path, str, _MergeQuery], AbstractContextManager[_MergeResult]]
_ENGINES: Final[Mapping[str, _Engine]] = {"duckdb": _merge_with_duckdb, "spark": _merge_with_spark}


def _duckdb_table(files: str) -> str:
    """Return DuckDB's SQL expression for Parquet files, given by a path that may contain `*`."""
    return f"read_parquet({_quote(files)})"


def _spark_table(files: str) -> str:
    """Return Spark's SQL expression for Parquet files, given by a path that may contain `*`."""
    return f"parquet.`{files}`"


def _quote(path: str) -> str:
    """Return a path as an SQL string literal."""
    return "'" + path.replace("'", "''") + "'"


def _write_lists(batches: Iterator[Arrow], file: IO[bytes], metadata: Mapping[str, str]) -> tuple[int, int, int]:
    """Write the merged rows with their lookup keys, and return the numbers of pairs, mentions and entities.

    All rows of a mention must follow each other, also across batches.
    """
    pairs = mentions = 0
    last_mention: str | None = None
    entities = _DistinctCounter()
    schema = _SCHEMA.with_metadata(metadata)
    with pq.ParquetWriter(file, schema, compression="zstd", compression_level=3) as writer:
        for batch in batches:
            encoded = batch.column("mention").dictionary_encode()
            names: list[str] = encoded.dictionary.to_pylist()
            mentions += len(names) - (bool(names) and names[0] == last_mention)
            last_mention = names[-1] if names else last_mention
            key = pa.array(list(map(coarse_key, names)), pa.string()).take(encoded.indices)
            columns = [batch.column("mention"), key, *(batch.column(name) for name in ("entity", "n", "row_index"))]
            writer.write_batch(pa.record_batch(columns, schema=schema))
            entities.add(hash_strings(batch.column("entity")))
            pairs += batch.num_rows
    return pairs, mentions, entities.count()


class _DistinctCounter:
    """Counter of distinct strings by their 64-bit hashes, eight bytes each."""

    def __init__(self) -> None:
        self._distinct: NDArray[np.uint64] = np.zeros(0, np.uint64)
        self._pending: list[NDArray[np.uint64]] = []

    def add(self, hashes: NDArray[np.uint64]) -> None:
        """Add the hashes of some strings."""
        self._pending.append(np.unique(hashes))
        if sum(map(len, self._pending)) > _MAX_PENDING:
            self.count()

    def count(self) -> int:
        """Return the number of distinct hashes added so far."""
        self._distinct = np.unique(np.concatenate([self._distinct, *self._pending]))
        self._pending.clear()
        return len(self._distinct)
