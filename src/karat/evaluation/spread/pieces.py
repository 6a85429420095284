"""Corpora and runs in memory, cut into pieces like those that lie in files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import msgspec
import numpy as np
import pyarrow as pa
from msgspec.structs import replace

from karat.errors import UsageError
from karat.model.corpus import Corpus
from karat.model.run import Run
from karat.model.tables.arrow import Arrow
from karat.model.tables.check import Where
from karat.spec.engine import ROW, Parts

_PIECE = 20_000


class TablePiece(msgspec.Struct, frozen=True):
    """Some rows of a table, of which the first is row `first` of the whole."""

    table: Arrow
    first: int

    def tables(self, size: int, only: Sequence[str] | None = None) -> Iterator[Arrow]:
        """The rows in order, at most `size` at a time: some columns or all of them, and `ROW`."""
        table = self.table if only is None else self.table.select([n for n in only if n in self.table.column_names])
        table = table.append_column(ROW, pa.array(np.arange(self.first, self.first + table.num_rows)))
        for low in range(0, table.num_rows, size):
            yield table.slice(low, size)


class TableParts(msgspec.Struct, frozen=True, dict=True):
    """The documents of a corpus, or the replies of a run."""

    name: str
    about: Mapping[str, str]
    table: Arrow
    where: Where
    skipped: Mapping[str, int]
    text: bool = False

    def __len__(self) -> int:
        return int(self.table.num_rows)

    @property
    def schema(self) -> Arrow:
        """The columns and fields of the table, with `ROW`."""
        return self._rows.schema.append(pa.field(ROW, pa.int64()))

    @cached_property
    def _rows(self) -> Arrow:
        spare = ["text"] if "text" in self.table.column_names and not self.text else []
        return self.table.drop_columns(spare)

    @cached_property
    def pieces(self) -> tuple[TablePiece, ...]:
        """Slices of the table."""
        table = self._rows
        return tuple(TablePiece(table.slice(low, _PIECE), low) for low in range(0, table.num_rows, _PIECE))

    def with_text(self) -> TableParts:
        """The same with the texts of documents."""
        return replace(self, text=True)


def in_parts(given: Corpus | Run | Parts) -> Parts:
    """A corpus or a run in pieces, whatever it is."""
    if isinstance(given, Corpus):
        ids = given.table.column("id")
        where = lambda row: f"document {ids[row].as_py()!r}"  # noqa: E731
        return TableParts(given.name, given.about, given.table, where, given.skipped)
    if isinstance(given, Run):
        return TableParts(given.name, given.about, given.table, given.where, given.skipped)
    if not hasattr(given, "pieces"):
        raise UsageError("evaluate takes a Corpus and a Run, in this order. Make them with load and load_run.")
    return given
