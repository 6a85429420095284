"""JSON output files; each names its layout, and each layout has a JSON Schema."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from karat.model.output.control_chars import escape_json

_Record = TypeVar("_Record", bound=msgspec.Struct)


class JsonRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A JSON object of an output file."""


class JsonFile(JsonRecord, frozen=True, tag_field="layout"):
    """The JSON object that a command writes; `tag` of its class is the layout, such as `karat-gate/3`."""


def build_record(kind: type[_Record], value: object, **fields: Any) -> _Record:  # noqa: ANN401  # any JSON
    """Build a record of a kind from `fields`, and for its other fields from the attributes of `value`.

    The field `signature` becomes text.
    """
    attributes = {name: getattr(value, name) for name in kind.__struct_fields__ if name not in fields}
    if "signature" in attributes:
        attributes["signature"] = str(attributes["signature"])
    return kind(**attributes, **fields)


def encode_line(content: msgspec.Struct) -> bytes:
    """Encode a record as one line of JSON, with control characters escaped."""
    return escape_json(msgspec.json.encode(content)) + b"\n"


def encode_indented(content: msgspec.Struct | dict[str, Any]) -> bytes:
    """Encode a record or dictionary as indented JSON, with control characters escaped."""
    return msgspec.json.format(escape_json(msgspec.json.encode(content))) + b"\n"
