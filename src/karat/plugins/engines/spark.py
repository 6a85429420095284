"""Spark engine: workers read the partitions, divide them by id and evaluate them; only results are fetched.

A block is a part of the documents with the responses to them.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from karat.model.errors import KaratError, UsageError
from karat.model.spec.engine import BlockFunction, Engine, PartitionedData
from karat.model.tables.arrow import Arrow
from karat.model.tables.scatter import BucketPlan, gather_blocks, plan_buckets, scatter_rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PARTITION_SCHEMA = "gold boolean, piece binary"
_BUCKET_SCHEMA = "bucket int, gold boolean, blob binary"
_RESULT_SCHEMA = "outcome binary"

_LOCAL_CONFIG = {
    "spark.app.name": "karat",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.maxResultSize": "0",
    "spark.driver.memory": "2g",
    "spark.log.level": "ERROR",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
"""Spark configuration if there is no session: on this machine, without log output."""

_BATCH_SETTING = "spark.sql.execution.arrow.maxRecordsPerBatch"
_BATCH_SIZE = "16"  # blobs per Arrow batch; each blob has many documents


def _distribute(
    gold: PartitionedData, predictions: PartitionedData, evaluate_block: BlockFunction
) -> Generator[Any, None, None]:
    """Yield the result of `evaluate_block` for each block of documents and all responses to them, in any order.

    Spark's workers read and evaluate. Raise `UsageError` if PySpark is not installed, and `KaratError` if Spark fails.
    """
    plan = plan_buckets(max(len(gold), len(predictions)))
    pickled_partitions = [
        (parts is gold, pickle.dumps(partition)) for parts in (gold, predictions) for partition in parts.partitions
    ]
    with spark_session() as spark:
        inputs = spark.createDataFrame(pickled_partitions, _PARTITION_SCHEMA).repartition(len(pickled_partitions))
        buckets = inputs.mapInArrow(partial(_divide_by_bucket, plan=plan), _BUCKET_SCHEMA)
        n_partitions = min(plan.n_buckets, int(str(spark.conf.get("spark.sql.shuffle.partitions"))))
        by_bucket = buckets.repartition(n_partitions, "bucket").sortWithinPartitions("bucket")
        results = by_bucket.mapInArrow(
            partial(_evaluate_buckets, evaluate_block=evaluate_block), _RESULT_SCHEMA
        ).persist(_get_storage_level())
        try:
            results.count()  # compute on all workers at once, then fetch one partition after the other
            for row in results.toLocalIterator():
                yield pickle.loads(row.outcome)
        finally:
            results.unpersist()


def _get_storage_level() -> Any:  # noqa: ANN401  # the type's package may not be installed
    """Return Spark's storage level for results, on disk only."""
    from pyspark import StorageLevel

    return StorageLevel.DISK_ONLY


def _divide_by_bucket(batches: Iterator[Arrow], plan: BucketPlan) -> Iterator[Arrow]:
    """Yield the rows of pickled partitions as record batches of `SCATTER_SCHEMA`, one for each bucket.

    This function runs on Spark's workers; `batches` have the columns of `_PARTITION_SCHEMA`.
    """
    for batch in batches:
        for gold, pickled in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            for table in pickle.loads(pickled).tables(plan.rows_at_once):
                yield from scatter_rows(table, plan.n_buckets, gold=gold)


def _evaluate_buckets(batches: Iterator[Arrow], evaluate_block: BlockFunction) -> Iterator[Arrow]:
    """Yield the pickled result of `evaluate_block` for each block, as record batches of one row.

    This function runs on Spark's workers; `batches` are the results of `_divide_by_bucket`, sorted by bucket.
    """
    for gold, predictions in gather_blocks(batches):
        yield pa.record_batch({"outcome": pa.array([pickle.dumps(evaluate_block(gold, predictions))], pa.binary())})


@contextmanager
def spark_session() -> Iterator[SparkSession]:
    """Yield the active Spark session, or a new one that is stopped when the block ends.

    The block uses small Arrow batches. Raise `UsageError` if PySpark is not installed, and `KaratError` if Spark fails.
    """
    try:
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ImportError:
        raise UsageError("the engine spark needs PySpark: pip install 'karat[spark]'") from None
    active = SparkSession.getActiveSession()
    try:
        spark = active or _start_session(SparkSession.builder)
        previous_size = str(spark.conf.get(_BATCH_SETTING))
        spark.conf.set(_BATCH_SETTING, _BATCH_SIZE)
        try:
            yield spark
        finally:
            spark.conf.set(_BATCH_SETTING, previous_size)
            if active is None:
                spark.stop()
    except (PySparkException, Py4JError) as error:
        raise KaratError(f"Spark failed: {_first_line(error)}") from error


def _start_session(builder: SparkSession.Builder) -> SparkSession:
    """Start a session with the configuration of `spark-submit`, or else on all cores of this machine.

    The latter sets environment variables of this process, unless they are set.
    """
    if "PYSPARK_GATEWAY_PORT" in os.environ:
        return builder.getOrCreate()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # workers use the same Python as this process
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    for name, value in _LOCAL_CONFIG.items():
        builder = builder.config(name, value)
    return builder.master("local[*]").getOrCreate()


def _first_line(error: Exception) -> str:
    """Return the first line of an error's message that is not blank, or the name of its type."""
    lines = [line for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__


ENGINE = Engine(
    title="Spark",
    description="Spark's workers read the partitions, divide them into buckets by id and evaluate the buckets "
    "(mapInArrow). The results are fetched one partition after the other. All workers must see the data "
    "under the same paths.",
    distribute=_distribute,
    extra="spark",
)
