"""Custom tables: files whose columns the user names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from karat.formats.parsing.surfaces.columns import ColumnRoles
from karat.model.errors import KaratError, UsageError
from karat.model.spec.format import ByteSource, Format


@dataclass(frozen=True)
class CustomTables:
    """The columns to read tables with.

    `columns`: sets of column roles, tried in order.
    `strict`: every file must have one of the sets; otherwise other files are read as usual.
    `report`: callback with a file's label and the interpretation of its first rows.
    """

    columns: tuple[ColumnRoles, ...] = ()
    strict: bool = False
    report: Callable[[str, Sequence[str]], None] | None = field(default=None, compare=False)
    _used: set[ColumnRoles] = field(default_factory=set, compare=False, repr=False)
    _missing: dict[str, list[str]] = field(default_factory=dict, compare=False, repr=False)
    _passed_over: dict[str, tuple[str, ColumnRoles]] = field(default_factory=dict, compare=False, repr=False)

    def find_format(self, source: ByteSource) -> Format | None:
        """Return the table format for the first set of columns that a file has, or None.

        Records which sets were used. With `strict`, a file without any of the sets is an error.
        """
        if not self.columns:
            return None
        from karat.formats.parsing.surfaces.table import find_missing_columns, make_table_format

        for number, columns in enumerate(self.columns, 1):
            if columns.is_token_table:
                token_format = _find_token_format(source, columns)
                if token_format is not None:
                    self._used.add(columns)
                    return token_format
                self._missing.setdefault(str(columns), []).append(f"{source.label} has no such columns of tokens")
                continue
            missing_columns = find_missing_columns(source, columns)
            if not missing_columns:
                self._used.add(columns)
                for other in self.columns[number:]:
                    if not other.is_token_table and not find_missing_columns(source, other):
                        self._passed_over.setdefault(str(other), (source.label, columns))
                return make_table_format(columns, self.report)
            is_headerless = columns.is_headerless
            reason = _describe_missing(source, missing_columns, is_headerless=is_headerless)
            self._missing.setdefault(str(columns), []).append(reason)
        if self.strict:
            self.check_readable(source)
        return None

    def find_format_by_header(self, source: ByteSource) -> Format | None:
        """Return the format of a CSV or TSV file whose header consists of the names of roles, or None."""
        from karat.formats.parsing.surfaces.table_rows import is_nested, read_column_names

        names = [] if source.is_folder or is_nested(source) else read_column_names(source)
        columns = ColumnRoles.from_header(names)
        return None if columns is None else CustomTables((columns,), report=self.report).find_format(source)

    def check_readable(self, source: ByteSource) -> None:
        """Raise an error that explains why a file in no known format is not a table with the requested columns.

        Nothing is raised if every set of columns matched some file and the file can be read as a table.
        """
        if self.columns and not source.is_folder:
            from karat.formats.parsing.surfaces.table_rows import read_rows

            next(read_rows(source, is_headerless=False), None)  # a file that cannot be read raises its own error here
        self.check_unused()

    def check_unused(self) -> None:
        """Raise `UsageError` if a set of columns has matched no file so far, with the reasons."""
        for columns in self.columns:
            if columns not in self._used:
                raise UsageError(self._describe_unused(columns))

    def list_unused(self) -> list[str]:
        """Return a message for each set of columns that no file has among those that were read."""
        return [
            self._describe_unused(columns)
            for columns in self.columns
            if columns not in self._used and str(columns) in self._missing
        ]

    def _describe_unused(self, columns: ColumnRoles) -> str:
        """Return a message that says why a set of columns matched no file, or was not used for the file with them."""
        if str(columns) in self._passed_over:
            label, first = self._passed_over[str(columns)]
            return (
                f"the columns {columns} are used for no file: {label} has them, but is read with {first}, which come "
                "first. To read it with both, convert it once with each (karat data convert), and pass the new files."
            )
        reasons = "; ".join(dict.fromkeys(self._missing.get(str(columns), ["no table was read"])))
        return f"the columns {columns} match no file: {reasons}. Correct the column names."


def _find_token_format(source: ByteSource, columns: ColumnRoles) -> Format | None:
    """Return the format of a CoNLL file or a table with lists of tokens with these columns; None if it lacks one."""
    from karat.formats.parsing.surfaces.table_rows import is_nested
    from karat.formats.plugins.conll import make_format, resolve_columns

    if is_nested(source):
        from karat.formats.parsing.surfaces.table import find_missing_columns
        from karat.formats.plugins.hf_datasets import make_token_format

        return None if find_missing_columns(source, columns) else make_token_format(columns.by_role)
    token_columns = resolve_columns(columns.by_role, source)
    if token_columns is None:
        return None
    if unused := columns.by_role.keys() & {"doc", "text"}:
        raise UsageError(
            f"{source.label} is a CoNLL file, which has no role {min(unused)}: it divides documents by -DOCSTART- and "
            "joins the tokens to texts. Leave the role out."
        )
    return make_format(token_columns, has_header=not columns.is_headerless)


def _describe_missing(source: ByteSource, missing_columns: Sequence[str], *, is_headerless: bool) -> str:
    """Return which columns a file lacks and which columns it has; raise the error of an Arrow table without any."""
    from karat.formats.parsing.arrow_tables import is_arrow, read_arrow_table
    from karat.formats.parsing.surfaces.table_rows import is_nested, read_column_names

    names = read_column_names(source, is_headerless=is_headerless)
    if not names and is_arrow(source):
        read_arrow_table(source)  # says what is wrong, such as a folder of several splits
    title = "columns, counted from 1" if is_headerless and not is_nested(source) else "columns"
    content = f"{title}: {', '.join(names[:20])}" if names else "not a table"
    return f"{source.label} has no {', '.join(missing_columns)} ({content})"


_CURRENT: ContextVar[CustomTables] = ContextVar("_ASKED", default=CustomTables())  # noqa: B039  # nothing is noted in an empty one


def get_custom_tables() -> CustomTables:
    """Return the custom tables that `use_custom_tables` set for the current context; by default none."""
    return _CURRENT.get()


@contextmanager
def use_custom_tables(tables: CustomTables) -> Iterator[None]:
    """Apply `tables` to everything read inside the `with` block.

    Raises `UsageError` at its end if a set of columns matched no file. A `KaratError` in the block, which may be due to
    such a set, gets a note.
    """
    token = _CURRENT.set(tables)
    try:
        yield
    except KaratError as problem:
        for message in tables.list_unused():
            if message != str(problem):
                problem.add_note(message)
        raise
    finally:
        _CURRENT.reset(token)
    tables.check_unused()
