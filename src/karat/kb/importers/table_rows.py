"""The rows that an importer collects for the tables of a snapshot."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from karat.kb.snapshot.table_schemas import TABLE_SCHEMAS
from karat.kb.snapshot.writer import SnapshotWriter


@dataclass(slots=True)
class TableRows:
    """Rows by table, as tuples in the order of the table's columns, and the number of skipped inputs."""

    rows: dict[str, list[tuple[Any, ...]]] = field(default_factory=dict)
    """Rows by table name."""
    skipped: Counter[str] = field(default_factory=Counter)
    """Number of skipped or corrected inputs, by description."""

    def add(self, table: str, *row: Any) -> None:  # noqa: ANN401  # any cell type
        """Append a row, given by its cells, to a table; cells of the last columns may be omitted."""
        self.rows.setdefault(table, []).append(row)

    def write(self, snapshot: SnapshotWriter) -> None:
        """Write all tables to a snapshot, with nulls for omitted cells, and the counts of skipped inputs."""
        for name, rows in self.rows.items():
            columns = list(TABLE_SCHEMAS[name].columns)
            padded = [(*row, *[None] * (len(columns) - len(row))) for row in rows]
            snapshot.write_columns(name, dict(zip(columns, map(list, zip(*padded, strict=True)), strict=True)))
        snapshot.count_repairs(self.skipped)
