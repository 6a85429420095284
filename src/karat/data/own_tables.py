"""OwnTables of the user's own: which columns were named, and which of them some file has."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from karat.errors import UsageError
from karat.parsing.surfaces.columns import ColumnRoles
from karat.parsing.surfaces.rows import names_in, rows
from karat.parsing.surfaces.table import missing, own_table
from karat.spec.format import Bytes, Format


@dataclass(frozen=True)
class OwnTables:
    """The columns to read tables by; `understood` is told of each what its first rows were understood to say.

    Where it is `strict`, every file has to have them; else others are read as ever.
    """

    columns: tuple[ColumnRoles, ...] = ()
    strict: bool = False
    understood: Callable[[str, Sequence[str]], None] | None = field(default=None, compare=False)
    _used: set[ColumnRoles] = field(default_factory=set, compare=False, repr=False)
    _lacking: dict[str, list[str]] = field(default_factory=dict, compare=False, repr=False)

    def format(self, source: Bytes) -> Format | None:
        """The first that a file has all columns of, None where it has of none."""
        for columns in self.columns:
            lacking = missing(source, columns)
            if not lacking:
                self._used.add(columns)
                return own_table(columns, self.understood)
            self._lacking.setdefault(str(columns), []).append(_said(source, lacking))
        if self.strict:
            self.refuse(source)
        return None

    def refuse(self, source: Bytes) -> None:
        """Say why a file that nobody else knows was not read by its columns."""
        if self.columns and not source.folder:
            next(rows(source, numbered=False), None)  # what cannot be read at all is no matter of columns
        self.refuse_unused()

    def refuse_unused(self) -> None:
        """Raise an error about columns that no file has."""
        for columns in self.columns:
            if columns not in self._used:
                said = "; ".join(self._lacking.get(str(columns), ["no file was read by its columns"]))
                raise UsageError(f"the columns {columns} fit no file: {said}. Correct the names of the columns.")


def _said(source: Bytes, lacking: Sequence[str]) -> str:
    found = [] if source.folder else names_in(source)
    has = f"it has {', '.join(found[:20])}" if found else "it is no table"
    return f"{source.label} has no {', '.join(lacking)} ({has})"


_ASKED: ContextVar[OwnTables] = ContextVar("_ASKED", default=OwnTables())  # noqa: B039  # nothing is noted in an empty one


def own_tables() -> OwnTables:
    """What was asked for, wherever nothing else is said."""
    return _ASKED.get()


@contextmanager
def reading_own_tables(asked: OwnTables) -> Iterator[None]:
    """Ask for it, for all that is read inside; columns that fit no file are an error."""
    token = _ASKED.set(asked)
    try:
        yield
    finally:
        _ASKED.reset(token)
    asked.refuse_unused()
