"""Between objects and columns: one row per document."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

import msgspec
import pyarrow as pa

from karat.errors import InputError, UsageError
from karat.model.tables.arrow import Arrow

_T = TypeVar("_T", bound=msgspec.Struct)


def to_table(objects: Iterable[msgspec.Struct], schema: Arrow) -> Arrow:
    """The objects as a table in the given schema."""
    rows = [_to_row(msgspec.to_builtins(item)) for item in objects]
    try:
        return pa.Table.from_pylist(rows, schema=schema)
    except UnicodeEncodeError as problem:
        near = ascii(problem.object[max(0, problem.start - 10) : problem.end + 10])
        raise InputError(
            next(f"document {row.get('id')!a}" for row in rows if not _encodable(row)),
            found=f"half of a surrogate pair in {near}",
            expected="whole characters",
            remedy="Write the character itself",
        ) from None


def _encodable(row: dict[str, Any]) -> bool:
    try:
        msgspec.json.encode(row)
    except UnicodeEncodeError:
        return False
    return True


def objects(given: Iterable[_T], kind: type[_T]) -> list[_T]:
    """The objects, all of which must be of a kind."""
    if isinstance(given, (str, msgspec.Struct)):
        raise UsageError(f"found one {type(given).__name__}. Give a list of {kind.__name__} objects.")
    found = list(given)
    for item in found:
        if not isinstance(item, kind):
            raise UsageError(f"found {type(item).__name__} among them. Give a list of {kind.__name__} objects.")
    return found


def valid(item: _T) -> _T:
    """The object, if its fields hold what their types say, which making it does not check.

    Numbers of NumPy become Python's.
    """
    try:
        plain = msgspec.to_builtins(item, enc_hook=lambda number: number.item())
        msgspec.json.encode(plain)  # refuses half a surrogate pair
        return msgspec.convert(plain, type(item))
    except (msgspec.ValidationError, AttributeError, TypeError, OverflowError, UnicodeEncodeError) as problem:
        raise InputError(
            f"{type(item).__name__} {getattr(item, 'id', '?')!r}",
            found=f"a field of the wrong kind ({problem})",
            expected="the types that help(karat.Document) and help(karat.Reply) show",
            remedy="Correct the value",
        ) from None


def _to_row(row: dict[str, Any]) -> dict[str, Any]:
    for name in ("labels", "answers"):
        if name in row:
            row[name] = [item if "entity" in item else {**item, "linked": False} for item in row[name]]
    if "meta" in row:
        row["meta"] = list(row["meta"].items())
    return row


def from_row(row: dict[str, Any], kind: type[_T]) -> _T:
    """The object that a row of a table says."""
    return msgspec.convert(_from_row(row), kind)


def _from_row(row: dict[str, Any]) -> dict[str, Any]:
    bare = {name: value for name, value in row.items() if value is not None}
    for name in ("labels", "answers"):
        if name in bare:
            bare[name] = [_item(item) for item in bare[name]]
    for name in ("tags", "relations"):
        if name in bare:
            bare[name] = [_given(item) for item in bare[name]]
    if "meta" in bare:
        bare["meta"] = dict(bare["meta"])
    return bare


def _given(item: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in item.items() if value is not None}


def _item(item: dict[str, Any]) -> dict[str, Any]:
    bare = _given(item)
    if bare.pop("linked", True):
        bare.setdefault("entity", None)
    if "candidates" in bare:
        bare["candidates"] = [_given(candidate) for candidate in bare["candidates"]]
    return bare
