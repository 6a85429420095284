"""Conversion between objects and table rows, one row per document."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

import msgspec
import pyarrow as pa

from karat.model.errors import InputError, UsageError
from karat.model.tables.arrow import Arrow

_T = TypeVar("_T", bound=msgspec.Struct)


def check_names(where: str, *names: str) -> None:
    """Raise `InputError`, located at `where`, if a name has a lone surrogate, which no file can hold."""
    for name in names:
        if any("\ud800" <= character <= "\udfff" for character in str(name)):
            raise InputError(
                where,
                actual=f"a lone surrogate in the name {name!r}",
                expected="complete characters",
                remedy="Write the character itself",
            )


def to_table(objects: Iterable[msgspec.Struct], schema: Arrow) -> Arrow:
    """Return documents or responses as an Arrow table with `schema`, one row each.

    Raise `InputError` if a string has a lone surrogate, which UTF-8 cannot encode.
    """
    rows = [_to_row(msgspec.to_builtins(item)) for item in objects]
    try:
        return pa.Table.from_pylist(rows, schema=schema)
    except UnicodeEncodeError as problem:
        excerpt = ascii(problem.object[max(0, problem.start - 10) : problem.end + 10])
        raise InputError(
            next(f"document {row.get('id')!a}" for row in rows if not _is_encodable(row)),
            actual=f"a lone surrogate in {excerpt}",
            expected="whole characters",
            remedy="Write the character itself",
        ) from None


def _is_encodable(row: dict[str, Any]) -> bool:
    """Return whether all strings of a row can be encoded in UTF-8."""
    try:
        msgspec.json.encode(row)
    except UnicodeEncodeError:
        return False
    return True


def check_objects(candidates: Iterable[_T], object_type: type[_T]) -> list[_T]:
    """Return the objects as a list; raise `UsageError` for a single object, or if any is not of type `object_type`."""
    if isinstance(candidates, (str, msgspec.Struct)):
        raise UsageError(f"got a single {type(candidates).__name__}. Pass a list of {object_type.__name__} objects.")
    objects = list(candidates)
    for item in objects:
        if not isinstance(item, object_type):
            raise UsageError(f"got a list with a {type(item).__name__}. Pass a list of {object_type.__name__} objects.")
    return objects


def to_builtin(value: Any) -> Any:  # noqa: ANN401  # msgspec passes any object
    """Return a value of NumPy or Arrow, such as an element of `Corpus.ids`, as Python's own.

    Raise `TypeError` for other objects.
    """
    for method in ("as_py", "tolist"):
        if hasattr(value, method):
            return getattr(value, method)()
    raise TypeError(f"the type {type(value).__name__}")


def validate_object(item: _T) -> _T:
    """Return a copy of a document or response; raise `InputError` if a field has the wrong type or an invalid value.

    The constructor of the object does not check this. Values of NumPy and Arrow become Python's own.
    """
    try:
        content = msgspec.to_builtins(item, enc_hook=to_builtin)
        msgspec.json.encode(content)  # rejects lone surrogates
        return msgspec.convert(content, type(item))
    except (msgspec.ValidationError, TypeError, OverflowError, UnicodeEncodeError) as problem:
        raise InputError(
            f"{type(item).__name__} {getattr(item, 'id', '?')!r}",
            actual=f"a field of the wrong type ({problem})",
            expected="the types that help(karat.Document) and help(karat.Response) show",
            remedy="Correct the value",
        ) from None


def _to_row(row: dict[str, Any]) -> dict[str, Any]:
    """Change the fields of an object, in place, to the fields of a table row, and return them.

    Unlinked labels, predictions and invented mentions get `linked` false, and `meta` becomes a list of pairs.
    """
    for name in ("labels", "predictions", "invented"):
        if name in row:
            row[name] = [item if "entity" in item else {**item, "linked": False} for item in row[name]]
    if "meta" in row:
        row["meta"] = list(row["meta"].items())
    return row


def from_row(row: dict[str, Any], object_type: type[_T]) -> _T:
    """Return the document or response of type `object_type` that a table row describes; the inverse of `to_table`."""
    return msgspec.convert(_from_row(row), object_type)


def _from_row(row: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of an object from those of a table row; fields without value are omitted."""
    fields = {name: value for name, value in row.items() if value is not None}
    for name in ("labels", "predictions", "invented"):
        if name in fields:
            fields[name] = [_to_item(item) for item in fields[name]]
    for name in ("tags", "relations"):
        if name in fields:
            fields[name] = [_drop_nulls(item) for item in fields[name]]
    if "meta" in fields:
        fields["meta"] = dict(fields["meta"])
    return fields


def _drop_nulls(item: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that are not None."""
    return {name: value for name, value in item.items() if value is not None}


def _to_item(item: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a label or prediction from those of a row: no `entity` if unlinked, None for NIL."""
    fields = _drop_nulls(item)
    if fields.pop("linked", True):
        fields.setdefault("entity", None)
    if "candidates" in fields:
        fields["candidates"] = [_drop_nulls(candidate) for candidate in fields["candidates"]]
    return fields
