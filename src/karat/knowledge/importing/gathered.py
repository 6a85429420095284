"""What an import brings together, whatever the source: rows for the tables of a pack."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from karat.kb.pack.shapes import SHAPES
from karat.kb.pack.writer import PackWriter


@dataclass(slots=True)
class Gathered:
    """Rows by table, and what was left out, in words. Rows are tuples in the order of the table's columns."""

    rows: dict[str, list[tuple[Any, ...]]] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)

    def add(self, table: str, *row: Any) -> None:  # noqa: ANN401  # whatever the table's columns take
        """One row; columns at the end may be left out."""
        self.rows.setdefault(table, []).append(row)

    def write(self, pack: PackWriter) -> None:
        """Write everything."""
        for name, rows in self.rows.items():
            columns = list(SHAPES[name].columns)
            padded = [(*row, *[None] * (len(columns) - len(row))) for row in rows]
            pack.columns(name, dict(zip(columns, map(list, zip(*padded, strict=True)), strict=True)))
        pack.repaired(self.left_out)
