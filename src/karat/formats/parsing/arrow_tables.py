"""Tables in Arrow streams, Parquet files and folders of the library datasets, read with pyarrow alone."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import pyarrow as pa

from karat.formats.parsing.surfaces.columns import suggest_roles
from karat.model.errors import InputError
from karat.model.json.decoder import decode_json
from karat.model.spec.format import ByteSource
from karat.model.tables.arrow import Arrow
from karat.model.tables.checks import require_documents
from karat.model.tables.schema import UnknownFieldError

STREAM_MAGIC = b"\xff\xff\xff\xff"
"""The first bytes of an Arrow stream."""

_PARQUET_MAGIC = b"PAR1"


def is_arrow(source: ByteSource) -> bool:
    """Return whether a source is an Arrow stream, a Parquet file, or a folder of the library datasets."""
    if source.is_folder:
        return is_saved_dataset(source.file_names) or is_hub_folder(source.file_names)
    return source.first_bytes.startswith((STREAM_MAGIC, _PARQUET_MAGIC))


def is_saved_dataset(names: Sequence[str]) -> bool:
    """Return whether a folder is one that `save_to_disk` of the library datasets wrote, of one or several splits."""
    return {"state.json", "dataset_info.json"} <= set(names) or "dataset_dict.json" in names


def is_hub_folder(names: Sequence[str]) -> bool:
    """Return whether a folder has a dataset card and Parquet files, and nothing else but texts about them."""
    data_files = [name for name in names if not name.startswith((".", "LICENSE")) and name != "README.md"]
    return "README.md" in names and bool(data_files) and all(name.endswith(".parquet") for name in data_files)


def read_arrow_table(source: ByteSource) -> Arrow:
    """Read all rows of a folder or file; raise `InputError` for a folder of several splits or damaged data."""
    if not source.is_folder:
        return _read_file(source)
    if is_hub_folder(source.file_names):
        return _read_file(source.get_child(_get_split_file(source)))
    if "state.json" not in source.file_names:
        splits = sorted({name.partition("/")[0] for name in source.file_names if name.endswith("/state.json")})
        if len(splits) == 1:
            return read_arrow_table(source.get_child(splits[0]))
        raise InputError(
            source.label,
            actual=f"several splits in one folder ({', '.join(splits)})" if splits else "a folder without splits",
            expected="one split",
            remedy="Pass the folder of a split",
        )
    try:
        state = decode_json(source.get_child("state.json").read_bytes())
        names = [entry["filename"] for entry in state["_data_files"]]
    except (ValueError, KeyError, TypeError) as problem:
        raise damaged_file_error(source.get_child("state.json").label, problem) from None
    tables = [_read_file(source.get_child(str(name))) for name in names]
    if not tables:
        raise damaged_file_error(source.label, "it names no data files")
    return pa.concat_tables(tables)


def _get_split_file(source: ByteSource) -> str:
    """Return the only Parquet file of a folder; raise `InputError` if there are several."""
    names = [name for name in source.file_names if name.endswith(".parquet")]
    if len(names) > 1:
        raise InputError(
            source.label,
            actual=f"several files ({', '.join(names)})",
            expected="one split",
            remedy="Pass a file, with the format hf-hub",
        )
    return names[0]


def _read_file(source: ByteSource) -> Arrow:
    """Read an Arrow stream or Parquet file; raise `InputError` if it is damaged, empty or has duplicate columns."""
    import pyarrow.parquet as pq  # imported late: most commands read no such file

    from karat.storage.parquet import check_arrow_table, check_parquet_size, check_stream_size

    data = source.read_bytes()
    try:
        if data.startswith(_PARQUET_MAGIC):
            buffer = pa.BufferReader(data)
            file = pq.ParquetFile(buffer)
            check_parquet_size(
                file, source.label, len(data), lambda columns: pq.ParquetFile(buffer, read_dictionary=columns)
            )
            table = file.read()
            table.validate(full=True)
        else:
            check_stream_size(data, source.label)
            table = pa.ipc.open_stream(data).read_all()
            check_arrow_table(table, source.label, len(data))
        names = table.column_names
    except (pa.ArrowException, OSError, ValueError, struct.error) as problem:
        raise damaged_file_error(source.label, problem) from None
    require_documents(table, source.label)
    if duplicates := [name for name in names if names.count(name) > 1]:
        raise InputError(
            source.label,
            actual=f"the duplicate column {duplicates[0]!r}",
            expected="distinct columns",
            remedy="Rename or drop one of the two",
        )
    return table


def suggest_table_roles(table: Arrow) -> str:
    """Suggest roles for the columns of a table and for the fields of its lists of objects, as users name them."""
    names = []
    for field in table.schema:
        is_list_of_objects = pa.types.is_list(field.type) and pa.types.is_struct(field.type.value_type)
        names += (
            [f"{field.name}.{member.name}" for member in field.type.value_type] if is_list_of_objects else [field.name]
        )
    return suggest_roles(names)


def unknown_field_error(label: str, problem: UnknownFieldError, table: Arrow) -> InputError:
    """Build the error for a field of labels or predictions that Karat's tables do not have."""
    return InputError(
        label,
        actual=f"the unknown field {problem.path}",
        expected=f"the fields {', '.join(problem.known_names)}",
        remedy=f"Rename it, or name the fields by role, with {suggest_table_roles(table)}",
    )


def damaged_file_error(label: str, problem: object) -> InputError:
    """Build the error for a file that cannot be read."""
    return InputError(
        label,
        actual=f"data that cannot be read ({problem})",
        expected="an Arrow stream or a Parquet file, as the library datasets writes them",
        remedy="Write or fetch the file again",
    )
