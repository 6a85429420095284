"""Corpora and runs in memory, divided into partitions like those in files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import msgspec
import numpy as np
import pyarrow as pa
from msgspec.structs import replace

from karat.model.corpus import Corpus
from karat.model.errors import UsageError
from karat.model.run import Run
from karat.model.spec.engine import ROW, PartitionedData
from karat.model.tables.arrow import Arrow
from karat.model.tables.checks import RowLocator

_PARTITION_SIZE = 20_000


class TablePartition(msgspec.Struct, frozen=True):
    """Some rows of a table."""

    table: Arrow
    """The rows."""
    first_row: int
    """Row number of the first row in the whole table."""

    def tables(self, size: int, columns: Sequence[str] | None = None) -> Iterator[Arrow]:
        """Yield the rows in order, at most `size` at a time, with `columns` (all by default) and `ROW`."""
        table = (
            self.table if columns is None else self.table.select([n for n in columns if n in self.table.column_names])
        )
        table = table.append_column(ROW, pa.array(np.arange(self.first_row, self.first_row + table.num_rows)))
        for low in range(0, table.num_rows, size):
            yield table.slice(low, size)


class PartitionedTable(msgspec.Struct, frozen=True, dict=True):
    """The documents of a corpus or the responses of a run, divided into partitions."""

    name: str
    """Name of the corpus or run."""
    metadata: Mapping[str, str]
    """Metadata of the corpus or run."""
    table: Arrow
    """All rows."""
    locate_row: RowLocator
    """Returns the place of a row, for error messages."""
    skipped: Mapping[str, int]
    """Counts of items that the reader skipped, by description."""
    has_text: bool = False
    """Whether partitions contain the texts of documents."""

    def __len__(self) -> int:
        return int(self.table.num_rows)

    @property
    def schema(self) -> Arrow:
        """Schema of the table with `ROW`."""
        return self._rows.schema.append(pa.field(ROW, pa.int64()))

    @cached_property
    def _rows(self) -> Arrow:
        """The table, without texts unless `has_text`."""
        unused = ["text"] if "text" in self.table.column_names and not self.has_text else []
        return self.table.drop_columns(unused)

    @cached_property
    def partitions(self) -> tuple[TablePartition, ...]:
        """Slices of the table in order."""
        table = self._rows
        return tuple(
            TablePartition(table.slice(low, _PARTITION_SIZE), low) for low in range(0, table.num_rows, _PARTITION_SIZE)
        )

    def with_text(self) -> PartitionedTable:
        """Return the same data with the texts of documents."""
        return replace(self, has_text=True)


def to_partitioned(data: Corpus | Run | PartitionedData) -> PartitionedData:
    """Return a corpus or run as partitioned data; partitioned data is returned unchanged."""
    if isinstance(data, Corpus):
        ids = data.table.column("id")
        locate_row = lambda row: f"document {ids[row].as_py()!r}"  # noqa: E731
        return PartitionedTable(data.name, data.metadata, data.table, locate_row, data.skipped)
    if isinstance(data, Run):
        return PartitionedTable(data.name, data.metadata, data.table, data.locate_row, data.skipped)
    if not hasattr(data, "partitions"):
        raise UsageError("evaluate expects a Corpus and a Run, in this order. Create them with load and load_run.")
    return data
