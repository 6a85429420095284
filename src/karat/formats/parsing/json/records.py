"""JSON lines and JSON files as typed values, with errors that name the location."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

import msgspec

from karat.formats.parsing.lines import LineSource, read_raw_lines
from karat.model.corpus import Corpus
from karat.model.counts.skip_counter import SkipCounter
from karat.model.defects import UniqueIds, is_skipping, map_valid, skip_or_raise
from karat.model.document import Document
from karat.model.errors import InputError
from karat.model.json.decoder import JsonError, decode_json, decode_json_prefix, read_json_value
from karat.model.spec.format import ByteSource

_BOM = b"\xef\xbb\xbf"
_T = TypeVar("_T")


class Record(NamedTuple):
    """The JSON object on one line."""

    number: int
    """Line number, from 1."""
    location: str
    """File and line, for error messages."""
    fields: dict[str, Any]
    """Fields of the object."""


def read_records(source: LineSource) -> Iterator[Record]:
    """Yield the objects of a file with one JSON object per line.

    Empty lines are ignored. The error policy decides whether an invalid line raises `InputError`, or is skipped and
    counted in `Defects`.
    """
    for number, raw in enumerate(read_raw_lines(source), 1):
        line = raw.removeprefix(_BOM) if number == 1 else raw
        if line.strip():
            location = f"{source.label}:{number}"
            try:
                value = _decode_json(line, location, "one JSON object per line")
                record = Record(number, location, convert_value(value, dict[str, Any], location))
            except InputError as problem:
                skip_or_raise(problem)
                continue
            yield record


def read_record_corpus(
    source: ByteSource, to_document: Callable[[Record, UniqueIds, Counter[str]], Document]
) -> Corpus:
    """Read the gold documents of a file with one JSON object per document, always with their texts.

    `to_document` builds the document of a record, adds its id to the ids so far, and counts what it drops or changes.
    The error policy decides whether an invalid line raises `InputError`, or is skipped and counted in `Defects`.
    """
    skipped = SkipCounter()
    ids = UniqueIds()
    documents, locations = [], []
    for record, document in map_valid(
        read_records(source), lambda record: to_document(record, ids, skipped), lambda record: record.location
    ):
        documents.append(document)
        locations.append(record.location)
    return Corpus.from_reader(documents, name=source.stem, skipped=skipped, locate_row=locations.__getitem__)


def read_json(source: ByteSource) -> Any:  # noqa: ANN401  # the caller knows the type
    """Read the only value of a JSON file; raise `InputError` if the file is not valid JSON."""
    return _decode_json(source.read_bytes().removeprefix(_BOM), source.label, "one complete JSON value")


def _decode_json(data: bytes, location: str, expected: str) -> Any:  # noqa: ANN401
    """Decode a JSON value, or raise `InputError`, which names `location` and the `expected` value."""
    return read_json_value(
        data,
        object,
        location,
        actual="text that is not valid JSON ({problem})",
        expected=f"{expected}, in UTF-8",
        remedy="Check that the file was not cut off",
    )


def convert_value(value: object, value_type: type[_T], location: str) -> _T:
    """Convert a decoded JSON value to `value_type`, such as a struct or `list[int]`.

    Raise `InputError`, which names `location` and the invalid field, if the value does not fit.
    """
    try:
        return msgspec.convert(value, value_type)
    except msgspec.ValidationError as problem:
        message, expected = explain_mismatch(str(problem))
    raise InputError(location, actual=message, expected=expected, remedy="Correct it, or name the format of the file")


def convert_members(value: object, member_type: type[_T], location: str) -> list[_T]:
    """Convert the members of a decoded list to `member_type`.

    The error policy decides whether an invalid member raises `InputError`, or is skipped and counted in `Defects`.
    Raise `InputError` if the value is no list.
    """
    if not is_skipping():
        converted: list[_T] = convert_value(value, list[member_type], location)  # type: ignore[valid-type]
        return converted
    members = enumerate(convert_value(value, list[Any], location), 1)
    return [
        entry
        for _, entry in map_valid(
            members, lambda member: convert_value(member[1], member_type, f"{location}: entry {member[0]}")
        )
    ]


def explain_mismatch(problem: str) -> tuple[str, str]:
    """Rephrase a validation message of msgspec as the actual and the expected value, for an `InputError`."""
    message, _, path = problem.partition(" - at `")
    field = path.rstrip("`").removeprefix("$").removeprefix(".")
    suffix = f" at `{field}`" if field else ""
    if match := re.fullmatch(r"Expected (.*), got (.*)", message):
        return f"{match[2]}{' values' if match[2].isdigit() else ''}{suffix}", match[1]
    if match := re.fullmatch(r"Object missing required field `(.*)`", message):
        return f"no field `{match[1]}`{suffix}", f"the field `{match[1]}`"
    if match := re.fullmatch(r"Object contains unknown field `(.*)`", message):
        return f"the unknown field `{match[1]}`{suffix}", "known fields only"
    return f"another value{suffix}", message.removeprefix("Expected ")


def collect_other_fields(fields: Mapping[str, Any], expected: Collection[str]) -> dict[str, str]:
    """Return the fields whose name is not in `expected`, as strings for `meta`; null values are dropped.

    Values that are not strings become JSON.
    """
    return {
        name: value if isinstance(value, str) else msgspec.json.encode(value).decode()
        for name, value in fields.items()
        if name not in expected and value is not None
    }


def parse_first_object(opening: bytes) -> dict[str, Any]:
    """Parse the object on the first line, for format detection; return an empty dictionary if it is no valid object."""
    line = opening.removeprefix(_BOM).lstrip().partition(b"\n")[0]
    try:
        value = decode_json(line)
    except JsonError:
        return {}
    return value if isinstance(value, dict) else {}


def parse_first_element(opening: bytes) -> object:
    """Parse the first element of a JSON array, for format detection.

    Return None if there is no array or the element is cut off.
    """
    text = opening.removeprefix(_BOM).decode(errors="ignore").lstrip()
    try:
        return decode_json_prefix(text[1:].lstrip())[0] if text.startswith("[") else None
    except JsonError:
        return None
