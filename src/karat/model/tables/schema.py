"""The columns behind the objects: Arrow types of a corpus and of a run, one row per document.

They follow `karat.model.document` field by field (a test compares the two). One column has no field of its
own: `linked` is false where a span was marked but not linked, since a column cannot tell an `entity` of null
(NIL) from one that was left out.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from karat.model.tables.arrow import Arrow
from karat.model.tables.scatter import joined

_strings = pa.list_(pa.string())

_TAG = pa.struct([("entity", pa.string()), ("same_as", _strings), ("rank", pa.int32()), ("score", pa.float64())])

_STATEMENT = pa.struct(
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
        ("unit", pa.string()),
        ("parent", pa.string()),
        ("nil_cluster", pa.string()),
    ]
)

_ANSWER = pa.struct(
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

GOLD = pa.schema(
    [
        ("id", pa.string()),
        ("text", pa.string()),
        ("labels", pa.list_(_LABEL)),
        ("evaluation_span", pa.list_(pa.int32())),
        ("tags", pa.list_(_TAG)),
        ("relations", pa.list_(_STATEMENT)),
        ("meta", pa.map_(pa.string(), pa.string())),
    ]
)

ANSWERS = pa.schema(
    [
        ("id", pa.string()),
        ("answers", pa.list_(_ANSWER)),
        ("tags", pa.list_(_TAG)),
        ("relations", pa.list_(_STATEMENT)),
        ("seconds", pa.float64()),
        ("tokens", pa.int64()),
        ("cost", pa.float64()),
        ("error", pa.string()),
    ]
)


CODED = pa.dictionary(pa.int32(), pa.string())
"""Strings that come again and again, each held once."""


def coded(schema: Arrow) -> Arrow:
    """The schema with the entities of labels or answers as codes, as `mentions` wants them."""
    items = _items(schema)
    fields = [pa.field(own.name, CODED) if own.name == "entity" else own for own in schema.field(items).type.value_type]
    return schema.set(schema.get_field_index(items), pa.field(items, pa.list_(pa.struct(fields))))


def _items(schema: Arrow) -> str:
    return "answers" if "answers" in schema.names else "labels"


def conform(array: Arrow, target: Arrow, path: str) -> Arrow:
    """The array in the target type: fields by name in any order, absent fields left out, values never changed.

    Raises `TypeError` with the path of a field that is unknown or holds another kind of value.
    """
    found = array.type
    if target == CODED:
        return array if found == CODED else conform(array, pa.string(), path).dictionary_encode()
    if pa.types.is_dictionary(found):
        return conform(array.dictionary_decode(), target, path)
    if pa.types.is_null(found):
        return pa.nulls(len(array), target)
    if pa.types.is_struct(target) and pa.types.is_struct(found):
        names = [found.field(i).name for i in range(found.num_fields)]
        known = {target.field(i).name: target.field(i).type for i in range(target.num_fields)}
        for name in names:
            if name not in known:
                raise TypeError(f"{path}.{name} (unknown field; known: {', '.join(known)})")
        kept = [name for name in known if name in names]
        children = [conform(array.field(name), known[name], f"{path}.{name}") for name in kept]
        mask = array.is_null() if array.null_count else None
        return pa.StructArray.from_arrays(children, names=kept, mask=mask)
    lists = pa.types.is_list(found) or pa.types.is_large_list(found) or pa.types.is_fixed_size_list(found)
    if pa.types.is_list(target) and lists:
        values = conform(array.flatten(), target.value_type, f"{path}[]")
        # `flatten` drops what stands behind null lists, so that the offsets are rebuilt from the lengths.
        lengths = array.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
        offsets = np.zeros(len(array) + 1, np.int32)
        np.cumsum(lengths, out=offsets[1:])
        return pa.ListArray.from_arrays(pa.array(offsets), values, mask=array.is_null() if array.null_count else None)
    text = pa.types.is_string(target) and (pa.types.is_large_string(found) or pa.types.is_string_view(found))
    number = pa.types.is_integer(found) and (pa.types.is_integer(target) or pa.types.is_floating(target))
    real = pa.types.is_floating(found) and pa.types.is_floating(target)
    if found == target:
        return array
    if text or number or real or (pa.types.is_map(target) and pa.types.is_map(found)):
        try:
            return array.cast(target)
        except pa.ArrowInvalid as problem:
            raise TypeError(f"{path} ({problem})") from None
    raise TypeError(f"{path} ({found} instead of {target})")


def conformed(table: Arrow, schema: Arrow) -> Arrow:
    """The table in the types of the schema; labels and answers are there even if no document has any."""
    columns = {}
    for name in table.column_names:
        target = schema.field(name).type
        chunks = [conform(chunk, target, name) for chunk in table.column(name).chunks]
        columns[name] = pa.chunked_array(chunks, None if chunks else target)
    items = _items(schema)
    if items not in columns and "id" in columns:
        columns[items] = pa.chunked_array([pa.array([[]] * table.num_rows, schema.field(items).type)])
    return pa.table(columns)


def in_one_piece(tables: list[Arrow]) -> Arrow:
    """The tables as one, with all labels or answers in one chunk, so that `mentions` need not copy them.

    The list is emptied: who keeps no table himself has no more than one field of labels or answers in memory twice.
    """
    whole = joined(tables)
    tables.clear()
    items = _items(whole.schema)
    place, chunks = whole.column_names.index(items), whole.column(items).chunks
    rest = whole.drop_columns([items])
    del whole
    return rest.add_column(place, items, _in_one_piece(chunks))


def _in_one_piece(chunks: list[Arrow]) -> Arrow:
    """The chunks, which are taken out of the list, field by field as one."""
    kind = chunks[0].type
    if len(chunks) == 1:
        return chunks.pop()
    if any(chunk.null_count for chunk in chunks) or not (pa.types.is_list(kind) or pa.types.is_struct(kind)):
        one = pa.concat_arrays(chunks)
        chunks.clear()
        return one
    if pa.types.is_struct(kind):
        fields = [[chunk.field(index) for chunk in chunks] for index in range(kind.num_fields)]
        chunks.clear()
        return pa.StructArray.from_arrays([_in_one_piece(pieces) for pieces in fields], fields=list(kind))
    offsets = np.zeros(sum(map(len, chunks)) + 1, np.int32)
    np.cumsum(np.concatenate([chunk.value_lengths().to_numpy() for chunk in chunks]), out=offsets[1:])
    values = [chunk.flatten() for chunk in chunks]
    chunks.clear()
    return pa.ListArray.from_arrays(pa.array(offsets), _in_one_piece(values))
