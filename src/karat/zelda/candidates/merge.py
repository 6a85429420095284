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
from karat.zelda.candidates.staging import CandidateSource, StagedSource, kept_stage, staged_source
from karat.zelda.texts.renewal import Renewal

LAYOUT: Final = "karat-candidates/1"
MEMORY: Final = "250MB"
"""What DuckDB may hold; reading and writing take some hundred megabytes besides."""

_HASHES: Final = 1 << 20  # that wait to be counted
_BATCH: Final = 1 << 16
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
    staged: list[StagedSource] = []
    with kept_stage(stage):
        stage.mkdir(exist_ok=True)
        for number, source in enumerate(sources):
            one = staged_source(stage, source, number, Renewal(kb))
            notes.update(one.notes)
            rows[f"{source.kind} {source.path}"] = one.rows
            staged += [one] if one.rows else []
        if not staged:
            raise _nothing([source.path for source in sources], notes)
        if vocabulary is not None:
            pq.write_table(pa.table({"entity": pa.array(dict.fromkeys(vocabulary))}), stage / "vocabulary.parquet")
        asked = _Asked(staged, vocabulary is not None, MERGES[merge])
        about = {"layout": LAYOUT, "merge": merge, "sources": msgspec.json.encode(rows).decode()}
        pa.default_memory_pool().release_unused()  # what reading took is DuckDB's now
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


class _Asked(NamedTuple):
    """What is merged: the sources, whether a vocabulary filters them, and the rule."""

    sources: Sequence[StagedSource]
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
                    pa.default_memory_pool().release_unused()

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
        if sum(map(len, self._waiting)) > _HASHES:
            self.count()

    def count(self) -> int:
        """How many there are."""
        self._known = np.unique(np.concatenate([self._known, *self._waiting]))
        self._waiting.clear()
        return len(self._known)
