"""JSON output files; each names its layout, and each layout has a JSON Schema."""

from __future__ import annotations

import msgspec

from karat.model.output.control_chars import escape_json


class JsonRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A JSON object of an output file."""


def encode_line(content: JsonRecord) -> bytes:
    """Encode a record as one line of JSON, with control characters escaped."""
    return escape_json(msgspec.json.encode(content)) + b"\n"


def encode_indented(content: JsonRecord) -> bytes:
    """Encode a record as indented JSON, with control characters escaped."""
    return msgspec.json.format(escape_json(msgspec.json.encode(content))) + b"\n"
