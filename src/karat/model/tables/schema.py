"""The Arrow schemas of a corpus and of a run, one row per document.

They follow `karat.model.document` field by field, which a test checks. The column `linked` has no counterpart: it is
false for unlinked spans, since a column cannot distinguish an `entity` of null (NIL) from a missing one.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from karat.model.tables.arrow import Arrow
from karat.model.tables.scatter import concatenate_tables

_strings = pa.list_(pa.string())

_TAG = pa.struct([("entity", pa.string()), ("same_as", _strings), ("rank", pa.int32()), ("score", pa.float64())])

_TRIPLE = pa.struct(
    [
        ("subject", pa.string()),
        ("predicate", pa.string()),
        ("object", pa.string()),
        ("subject_same_as", _strings),
        ("predicate_same_as", _strings),
        ("object_same_as", _strings),
        ("score", pa.float64()),
    ]
)

_LABEL = pa.struct(
    [
        ("start", pa.int32()),
        ("end", pa.int32()),
        ("entity", pa.string()),
        ("linked", pa.bool_()),
        ("same_as", _strings),
        ("name", pa.string()),
        ("types", _strings),
        ("categories", _strings),
        ("difficulty", pa.string()),
        ("kind", pa.string()),
        ("optional", pa.bool_()),
        ("mention_id", pa.string()),
        ("parent", pa.string()),
        ("nil_cluster", pa.string()),
    ]
)

_PREDICTION = pa.struct(
    [
        ("start", pa.int32()),
        ("end", pa.int32()),
        ("entity", pa.string()),
        ("linked", pa.bool_()),
        ("same_as", _strings),
        ("types", _strings),
        ("categories", _strings),
        ("score", pa.float64()),
        ("candidates", pa.list_(pa.struct([("entity", pa.string()), ("score", pa.float64())]))),
        ("nil_cluster", pa.string()),
    ]
)

_INVENTED = pa.struct(
    [
        ("text", pa.string()),
        ("entity", pa.string()),
        ("linked", pa.bool_()),
        ("types", _strings),
        ("score", pa.float64()),
    ]
)

GOLD = pa.schema(
    [
        ("id", pa.string()),
        ("text", pa.string()),
        ("labels", pa.list_(_LABEL)),
        ("evaluation_span", pa.list_(pa.int32())),
        ("tags", pa.list_(_TAG)),
        ("relations", pa.list_(_TRIPLE)),
        ("meta", pa.map_(pa.string(), pa.string())),
    ]
)

PREDICTIONS = pa.schema(
    [
        ("id", pa.string()),
        ("predictions", pa.list_(_PREDICTION)),
        ("tags", pa.list_(_TAG)),
        ("relations", pa.list_(_TRIPLE)),
        ("seconds", pa.float64()),
        ("tokens", pa.int64()),
        ("cost", pa.float64()),
        ("error", pa.string()),
        ("invented", pa.list_(_INVENTED)),
    ]
)


CODED_STRING = pa.dictionary(pa.int32(), pa.string())
"""Dictionary-encoded strings, for values that occur many times."""


def code_entities(schema: Arrow) -> Arrow:
    """Return `GOLD` or `PREDICTIONS` with dictionary-encoded entity ids in labels or predictions.

    This saves `flatten_mentions` the encoding.
    """
    items = _item_column(schema)
    fields = [
        pa.field(field.name, CODED_STRING) if field.name == "entity" else field
        for field in schema.field(items).type.value_type
    ]
    return schema.set(schema.get_field_index(items), pa.field(items, pa.list_(pa.struct(fields))))


def _item_column(schema: Arrow) -> str:
    """Return the name of the column that lists the items of a document: `labels`, or `predictions` if it exists."""
    return "predictions" if "predictions" in schema.names else "labels"


class UnknownFieldError(TypeError):
    """A field that no type of Karat's tables has."""

    def __init__(self, path: str, known_names: Iterable[str]) -> None:
        self.path, self.known_names = path, tuple(known_names)
        super().__init__(f"{path} (unknown field; known: {', '.join(self.known_names)})")


def conform_array(array: Arrow, target: Arrow, path: str) -> Arrow:
    """Return an Arrow array with the same values in the type `target`.

    Fields of structs may be in any order, and those that the array lacks stay absent. Numbers, strings and lists of
    other widths are cast, and lists of `key` and `value` become maps. Raise `TypeError` with the path of a field that
    is unknown or has another type; `path` is that of the array.
    """
    source_type = array.type
    if target == CODED_STRING:
        return array if source_type == CODED_STRING else conform_array(array, pa.string(), path).dictionary_encode()
    if pa.types.is_dictionary(source_type):
        return conform_array(array.dictionary_decode(), target, path)
    if pa.types.is_null(source_type):
        return pa.nulls(len(array), target)
    if pa.types.is_struct(target) and pa.types.is_struct(source_type):
        names = [source_type.field(i).name for i in range(source_type.num_fields)]
        field_types = {target.field(i).name: target.field(i).type for i in range(target.num_fields)}
        for name in names:
            if name not in field_types:
                raise UnknownFieldError(f"{path}.{name}", field_types)
        present_fields = [name for name in field_types if name in names]
        children = [conform_array(array.field(name), field_types[name], f"{path}.{name}") for name in present_fields]
        mask = array.is_null() if array.null_count else None
        return pa.StructArray.from_arrays(children, names=present_fields, mask=mask)
    is_list = (
        pa.types.is_list(source_type) or pa.types.is_large_list(source_type) or pa.types.is_fixed_size_list(source_type)
    )
    if pa.types.is_list(target) and is_list:
        values = conform_array(array.flatten(), target.value_type, f"{path}[]")
        # `flatten` drops the values of null lists, so the offsets are rebuilt from the lengths.
        lengths = array.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
        offsets = np.zeros(len(array) + 1, np.int32)
        np.cumsum(lengths, out=offsets[1:])
        return pa.ListArray.from_arrays(pa.array(offsets), values, mask=array.is_null() if array.null_count else None)
    if pa.types.is_map(target) and is_list:
        return _to_maps(array, target, path)
    is_text = pa.types.is_string(target) and (
        pa.types.is_large_string(source_type) or pa.types.is_string_view(source_type)
    )
    is_number = pa.types.is_integer(source_type) and (pa.types.is_integer(target) or pa.types.is_floating(target))
    is_float = pa.types.is_floating(source_type) and pa.types.is_floating(target)
    if source_type == target:
        return array
    if is_text or is_number or is_float or (pa.types.is_map(target) and pa.types.is_map(source_type)):
        try:
            return array.cast(target)
        except pa.ArrowInvalid as problem:
            raise TypeError(f"{path} ({problem})") from None
    raise TypeError(f"{path} ({source_type} instead of {target})")


def _to_maps(array: Arrow, target: Arrow, path: str) -> Arrow:
    """Convert lists of `key` and `value` to maps, since the library datasets has no maps; else raise `TypeError`."""
    try:
        pairs = [None if e is None else [(str(p["key"]), str(p["value"])) for p in e] for e in array.to_pylist()]
    except (KeyError, TypeError):
        raise TypeError(f"{path} ({array.type} instead of {target})") from None
    return pa.array(pairs, target)


def conform_table(table: Arrow, schema: Arrow) -> Arrow:
    """Return the table with its columns in the types of `schema`, without the columns of `schema` that the table lacks.

    All columns must be in `schema`. A missing column of labels or predictions is added, with an empty list for each
    row, if there is an `id`. Raise `TypeError` with the path of a field that is unknown or has another type.
    """
    columns = {}
    for name in table.column_names:
        target = schema.field(name).type
        chunks = [conform_array(chunk, target, name) for chunk in table.column(name).chunks]
        columns[name] = pa.chunked_array(chunks, None if chunks else target)
    items = _item_column(schema)
    if items not in columns and "id" in columns:
        columns[items] = pa.chunked_array([pa.array([[]] * table.num_rows, schema.field(items).type)])
    return pa.table(columns)


def combine_tables(tables: list[Arrow]) -> Arrow:
    """Return the rows of all tables as one table, with its labels or predictions in a single chunk.

    `flatten_mentions` then need not copy them. The list `tables` is emptied, to save memory.
    """
    combined = concatenate_tables(tables)
    tables.clear()
    items = _item_column(combined.schema)
    position, chunks = combined.column_names.index(items), combined.column(items).chunks
    rest = combined.drop_columns([items])
    del combined
    return rest.add_column(position, items, _combine_chunks(chunks))


def _combine_chunks(chunks: list[Arrow]) -> Arrow:
    """Return Arrow arrays of one type as one array, copied field by field; empties the list `chunks` to save memory."""
    kind = chunks[0].type
    if len(chunks) == 1:
        return chunks.pop()
    if any(chunk.null_count for chunk in chunks) or not (pa.types.is_list(kind) or pa.types.is_struct(kind)):
        array = pa.concat_arrays(chunks)
        chunks.clear()
        return array
    if pa.types.is_struct(kind):
        fields = [[chunk.field(index) for chunk in chunks] for index in range(kind.num_fields)]
        chunks.clear()
        return pa.StructArray.from_arrays([_combine_chunks(parts) for parts in fields], fields=list(kind))
    offsets = np.zeros(sum(map(len, chunks)) + 1, np.int32)
    np.cumsum(np.concatenate([chunk.value_lengths().to_numpy() for chunk in chunks]), out=offsets[1:])
    values = [chunk.flatten() for chunk in chunks]
    chunks.clear()
    return pa.ListArray.from_arrays(pa.array(offsets), _combine_chunks(values))
