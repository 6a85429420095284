"""Spark: its workers read the pieces, divide them by id and count; only what was counted comes back."""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from karat.errors import KaratError, UsageError
from karat.model.tables.arrow import Arrow
from karat.model.tables.scatter import BucketSize, gathered, scattered, size_for
from karat.spec.engine import Engine, Parts, Work

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PIECE = "gold boolean, piece binary"
_SCATTERED = "bucket int, gold boolean, blob binary"
_OUTCOME = "outcome binary"

_OWN = {
    "spark.app.name": "karat",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.maxResultSize": "0",
    "spark.driver.memory": "2g",
    "spark.log.level": "ERROR",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
"""How Spark is set up where nobody has done so: on this machine, quietly."""

_BATCHES = "spark.sql.execution.arrow.maxRecordsPerBatch"
_AT_ONCE = "16"  # blobs in an Arrow batch: each has many documents


def _spread(gold: Parts, answers: Parts, work: Work) -> Generator[Any, None, None]:
    size = size_for(max(len(gold), len(answers)))
    pieces = [(parts is gold, pickle.dumps(piece)) for parts in (gold, answers) for piece in parts.pieces]
    with spark_session() as spark:
        given = spark.createDataFrame(pieces, _PIECE).repartition(len(pieces))
        divided = given.mapInArrow(partial(_divided, size=size), _SCATTERED)
        partitions = min(size.buckets, int(str(spark.conf.get("spark.sql.shuffle.partitions"))))
        by_bucket = divided.repartition(partitions, "bucket").sortWithinPartitions("bucket")
        found = by_bucket.mapInArrow(partial(_counted, work=work), _OUTCOME).persist(_kept())
        try:
            found.count()  # on all workers at once; then what they found is fetched one partition after the other
            for row in found.toLocalIterator():
                yield pickle.loads(row.outcome)
        finally:
            found.unpersist()


def _kept() -> Any:  # noqa: ANN401  # of a package that may not be installed
    from pyspark import StorageLevel

    return StorageLevel.DISK_ONLY


def _divided(batches: Iterator[Arrow], size: BucketSize) -> Iterator[Arrow]:
    """The documents or replies of some pieces, by bucket."""
    for batch in batches:
        for gold, pickled in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            for table in pickle.loads(pickled).tables(size.rows):
                yield from scattered(table, size.buckets, gold=gold)


def _counted(batches: Iterator[Arrow], work: Work) -> Iterator[Arrow]:
    """What the work gives for each bucket."""
    for gold, answers in gathered(batches):
        yield pa.record_batch({"outcome": pa.array([pickle.dumps(work(gold, answers))], pa.binary())})


@contextmanager
def spark_session() -> Iterator[SparkSession]:
    """The session that is there, or one of our own, which is stopped in the end."""
    try:
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ImportError:
        raise UsageError("the engine spark needs PySpark: pip install 'karat[spark]'") from None
    given = SparkSession.getActiveSession()
    try:
        spark = given or _started(SparkSession.builder)
        before = str(spark.conf.get(_BATCHES))
        spark.conf.set(_BATCHES, _AT_ONCE)
        try:
            yield spark
        finally:
            spark.conf.set(_BATCHES, before)
            if given is None:
                spark.stop()
    except (PySparkException, Py4JError) as problem:
        raise KaratError(f"Spark fails: {_first_line(problem)}") from problem


def _started(builder: SparkSession.Builder) -> SparkSession:
    """A session as `spark-submit` asks for it, else on all cores of this machine."""
    if "PYSPARK_GATEWAY_PORT" in os.environ:
        return builder.getOrCreate()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # its workers have what this process has
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    for name, value in _OWN.items():
        builder = builder.config(name, value)
    return builder.master("local[*]").getOrCreate()


def _first_line(problem: Exception) -> str:
    lines = [line for line in str(problem).splitlines() if line.strip()]
    return lines[0] if lines else type(problem).__name__


ENGINE = Engine(
    title="Spark",
    says="Spark's workers read the pieces, divide them into buckets by id and count the buckets (mapInArrow); what was "
    "counted is fetched from them, one partition after the other. The paths must be the same for all workers.",
    spread=_spread,
    extra="spark",
)
