"""What all files of JSON share: each says first which layout it has, and each layout has a schema."""

from __future__ import annotations

import msgspec

from karat.printable import shown_json


class Written(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A part of a file, or all of it; the fields are what its schema says."""


def line(content: Written) -> bytes:
    """One object on a line of its own: several make a file too."""
    return shown_json(msgspec.json.encode(content)) + b"\n"


def indented(content: Written) -> bytes:
    """The same, laid out for people."""
    return msgspec.json.format(shown_json(msgspec.json.encode(content))) + b"\n"
