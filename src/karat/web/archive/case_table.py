"""Checks of the stored tables of cases, so that pages can rely on their columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from karat.model.errors import InputError
from karat.model.tables.arrow import Arrow
from karat.storage.parquet import check_parquet_size
from karat.web.archive.shape import CASE_KINDS

FACET_PREFIX = "by:"
"""Prefix of columns with facet values."""

_SOURCE: Final = "verdicts"


def _is_text(kind: Arrow) -> bool:
    """Return whether an Arrow type is text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _is_text_list(kind: Arrow) -> bool:
    """Return whether an Arrow type is a list of texts."""
    return bool(pa.types.is_list(kind)) and _is_text(kind.value_type)


_ColumnType = tuple[str, Callable[[Arrow], bool]]
_TEXT: Final[_ColumnType] = ("text", _is_text)
_TEXTS: Final[_ColumnType] = ("lists of texts", _is_text_list)
_INTEGER: Final[_ColumnType] = ("integers", pa.types.is_integer)
_NUMBER: Final[_ColumnType] = ("numbers", pa.types.is_floating)
_BOOLEAN: Final[_ColumnType] = ("true or false", pa.types.is_boolean)

_WEIGHTS: Final = ("matched_prediction", "unmatched_prediction", "matched_gold", "unmatched_gold")
_COLUMNS: Final[Mapping[str, _ColumnType]] = {
    **dict.fromkeys(("document", "outcome", "own", "kind", "mention_entity", "mention_name"), _TEXT),
    **dict.fromkeys(("gold_entity", "gold_name", "gold_description"), _TEXT),
    **dict.fromkeys(("prediction_entity", "prediction_name", "prediction_description"), _TEXT),
    **dict.fromkeys(("gold", "gold_start", "gold_end", "mention"), _INTEGER),
    **dict.fromkeys(("prediction", "prediction_start", "prediction_end"), _INTEGER),
    **dict.fromkeys((*_WEIGHTS, "score", "related"), _NUMBER),
    **dict.fromkeys(("factor", "gold_nil", "prediction_nil"), _BOOLEAN),
}
"""Columns that every table has."""

_OPTIONAL_COLUMNS: Final[Mapping[str, _ColumnType]] = {
    **dict.fromkeys(("text", "mention_type"), _TEXT),
    **dict.fromkeys(("errors", "avoided", "undecided", "candidates"), _TEXTS),
}
"""Columns that some tables have, in addition to those of facets."""

_NEVER_NULL: Final = ("document", "outcome", "kind", *_WEIGHTS)
_NULL_TOGETHER: Final[Mapping[str, tuple[str, ...]]] = {
    "gold": ("gold_start", "gold_end", "mention"),
    "prediction": ("prediction_start", "prediction_end"),
}
"""Columns that have a value if and only if the first one has."""


def invalid_file_error(where: str, finding: str) -> InputError:
    """Return (not raise) the error for a file of an archive that Karat did not write like this."""
    return InputError(
        where,
        actual=f"an invalid archive file ({finding})",
        expected="a file that this version of Karat writes",
        remedy="Build the archive again",
    )


@contextmanager
def report_unreadable_cases() -> Iterator[None]:
    """Raise `InputError` in place of the errors of Arrow for a damaged Parquet file that the block reads."""
    try:
        yield
    except (pa.ArrowException, OSError) as problem:  # Arrow raises OSError for damaged pages
        raise invalid_file_error(_SOURCE, f"{type(problem).__name__}: {problem}") from problem


def read_case_table(data: bytes) -> Arrow:
    """Read a table of cases from the bytes of a Parquet file; raise `InputError` if it is damaged or too large."""
    with report_unreadable_cases():
        file = pq.ParquetFile(BytesIO(data))
        _check_schema(file.schema_arrow)
        check_parquet_size(
            file, _SOURCE, len(data), lambda columns: pq.ParquetFile(BytesIO(data), read_dictionary=columns)
        )
        table = file.read()
        table.validate(full=True)
        _check_values(table)
    return table


def check_case_file(path: Path) -> None:
    """Raise `InputError` if a Parquet file is not a table of cases; its values are not read."""
    with report_unreadable_cases():
        _check_schema(pq.read_schema(path))


def check_mentions(table: Arrow, n_labels: int) -> None:
    """Raise `InputError` if a case refers to a mention outside the `n_labels` labels of the gold standard."""
    largest = pc.max(table.column("mention")).as_py()
    if largest is not None and largest >= n_labels:
        raise invalid_file_error(_SOURCE, f"mention {largest} of {n_labels:,}")


def _check_schema(schema: Arrow) -> None:
    """Raise `InputError` if a column is missing, present twice or of another type than Karat writes."""
    facets = {name: _TEXTS for name in schema.names if name.startswith(FACET_PREFIX)}
    optional = {name: column for name, column in _OPTIONAL_COLUMNS.items() if name in schema.names}
    for name, (description, is_type) in {**_COLUMNS, **optional, **facets}.items():
        indices = schema.get_all_field_indices(name)
        if len(indices) != 1:
            raise invalid_file_error(_SOURCE, f"{len(indices)} columns {name!r}")
        kind = schema.field(indices[0]).type
        if not (is_type(kind) or pa.types.is_null(kind)):  # a column without any value may have no type
            raise invalid_file_error(_SOURCE, f"column {name!r} is {kind}, not {description}")


def _check_values(table: Arrow) -> None:
    """Raise `InputError` for nulls where every case has a value, unknown kinds and negative numbers."""
    for name in _NEVER_NULL:
        if table.column(name).null_count:
            raise invalid_file_error(_SOURCE, f"column {name!r} has nulls")
    for name, others in _NULL_TOGETHER.items():
        for other in others:
            if not table.column(name).is_null().equals(table.column(other).is_null()):
                raise invalid_file_error(_SOURCE, f"nulls in {name!r} and {other!r} differ")
    unknown = {*table.column("kind").unique().to_pylist()} - {*CASE_KINDS}
    if unknown:
        raise invalid_file_error(_SOURCE, f"unknown kind of case {min(unknown)!r}")
    smallest = pc.min(table.column("mention")).as_py()
    if smallest is not None and smallest < 0:
        raise invalid_file_error(_SOURCE, f"mention {smallest}")
