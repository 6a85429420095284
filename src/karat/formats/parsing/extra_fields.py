"""Fields of Karat's model that a foreign format has no place for, stored as JSON in a free field of that format."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, TypeVar

import msgspec

from karat.model.corpus import Corpus
from karat.model.errors import InputError
from karat.model.json.decoder import JsonError, decode_json
from karat.model.run import Run

EXTRA_KEY = "karat"
"""The name of the free field."""

_S = TypeVar("_S", bound=msgspec.Struct)


def get_extra_fields(item: msgspec.Struct, stored: Collection[str]) -> dict[str, Any]:
    """Return the fields of `item` that differ from their default, as JSON values, without those in `stored`."""
    fields: dict[str, Any] = msgspec.to_builtins(item)
    return {name: value for name, value in fields.items() if name not in stored}


def count_lost_metadata(data: Corpus | Run, stored: Collection[str] = ()) -> dict[str, int]:
    """Count the metadata of a corpus or run as a whole that are not in `stored`, as a loss."""
    count = len(data.metadata.keys() - {*stored})
    return {"metadata of the data as a whole (guidelines, agreement, provenance)": count} if count else {}


def encode_fields(fields: Mapping[str, Any]) -> str:
    """Return fields as JSON on one line."""
    return msgspec.json.encode(fields).decode()


def parse_fields(text: str, location: str) -> dict[str, Any]:
    """Parse fields that `encode_fields` wrote; raise `InputError` at `location` if they are no JSON object."""
    try:
        fields = decode_json(text)
    except JsonError as problem:
        fields = problem
    if isinstance(fields, dict):
        return fields
    raise InputError(
        location,
        actual=f"{text[:40]!r} in the field {EXTRA_KEY}",
        expected="a JSON object",
        remedy="Restore what Karat wrote there, or delete the field",
    )


def add_fields(item: _S, fields: Mapping[str, Any], location: str) -> _S:
    """Return a copy of `item` with the fields of its class that `fields` has; others, such as a new field, are ignored.

    Raise `InputError` at `location` if a value does not fit.
    """
    own_fields = {name: value for name, value in fields.items() if name in item.__struct_fields__}
    if not own_fields:
        return item
    try:
        return msgspec.convert({**msgspec.to_builtins(item), **own_fields}, type(item))
    except msgspec.ValidationError as problem:
        raise InputError(
            location,
            actual=f"{encode_fields(own_fields)[:60]} ({problem})",
            expected="fields as Karat writes them",
            remedy="Correct the values, or delete the field",
        ) from None
