"""The rows that an importer collects for the tables of a snapshot."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from karat.kb.snapshot.table_schemas import TABLE_SCHEMAS
from karat.kb.snapshot.writer import SnapshotWriter
from karat.model.errors import InputError


@dataclass(slots=True)
class TableRows:
    """Rows by table, as tuples in the order of the table's columns, and the number of skipped inputs."""

    rows: dict[str, list[tuple[Any, ...]]] = field(default_factory=dict)
    """Rows by table name."""
    skipped: Counter[str] = field(default_factory=Counter)
    """Number of skipped or corrected inputs, by description."""

    _entities: dict[str, tuple[tuple[Any, ...], str]] = field(default_factory=dict)
    """Row and location of each entity, by id."""

    def add(self, table: str, *row: Any) -> None:  # noqa: ANN401  # any cell type
        """Append a row, given by its cells, to a table; cells of the last columns may be omitted."""
        self.rows.setdefault(table, []).append(row)

    def check_entity(self, where: str) -> None:
        """Raise `InputError` if the last entity, read at `where`, has no id or the id of another row."""
        row = self.rows["entities"][-1]
        if not row[0]:
            raise InputError(where, actual="an empty id", expected="an id", remedy="Give the entity an id")
        other, first = self._entities.setdefault(row[0], (row, where))
        if other != row:
            raise InputError(
                where,
                actual=f"the id {row[0]!r} repeated with other content than at {first}",
                expected="one entry per entity",
                remedy="Join both entries, or correct the id",
            )

    def write(self, snapshot: SnapshotWriter) -> None:
        """Write all tables to a snapshot, with nulls for omitted cells, and the counts of skipped inputs."""
        for name, rows in self.rows.items():
            columns = list(TABLE_SCHEMAS[name].columns)
            padded = [(*row, *[None] * (len(columns) - len(row))) for row in rows]
            snapshot.write_columns(name, dict(zip(columns, map(list, zip(*padded, strict=True)), strict=True)))
        snapshot.count_repairs(self.skipped)
