"""JSON lines as typed objects, a block of lines at a time, for formats with large files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

from karat.formats.parsing.json.records import convert_value
from karat.formats.parsing.lines import read_line_blocks
from karat.model.defects import get_defects, isolate_defects
from karat.model.errors import InputError
from karat.model.json.decoder import JsonDecoder, JsonError, decode_json, decode_json_prefix
from karat.model.spec.format import ByteSource

_BOM = b"\xef\xbb\xbf"
_BLOCK_SIZE = 1 << 18  # decoded objects then stay in the processor cache
_T = TypeVar("_T", bound=msgspec.Struct)


class JsonBlock(NamedTuple, Generic[_T]):
    """The valid objects of a block of lines, with their positions in the file."""

    objects: list[_T]
    """Valid objects."""
    numbers: Sequence[int]
    """Line number of each object."""
    indices: Sequence[int]
    """Index of each object in the file, counting invalid objects as well."""


def read_blocks(
    source: ByteSource,
    object_type: type[_T],
    repair: Callable[[dict[str, Any]], dict[str, Any]],
    fast_decoders: Sequence[Callable[[memoryview], list[_T]]] = (),
) -> Iterator[JsonBlock[_T]]:
    """Yield the objects of a file with one JSON object per line, in blocks of lines; empty lines are ignored.

    `fast_decoders` decode many lines at once. A decoder that fails on a block is not used again. If all fail, lines are
    decoded as `object_type`. A line that does not fit is passed to `repair`, which may remove fields, and must fit
    then. The error policy decides whether a line that does not fit even then raises `InputError`, or is skipped and
    counted in `Defects`.
    """
    decoders = [*fast_decoders, JsonDecoder(object_type).decode_lines]
    numbers: Sequence[int]
    indices: Sequence[int]
    n_before = 0
    for numbers, data in _read_line_blocks(source):
        objects: list[_T] = []
        while True:
            try:
                objects = decoders[0](data)
                break
            except JsonError:
                if len(decoders) == 1:
                    break
                del decoders[0]
        indices = range(n_before, n_before + len(numbers))
        n_before += len(numbers)
        if len(objects) != len(numbers):
            n_before = indices[0] + sum(bool(line.strip()) for line in bytes(data).split(b"\n"))
            objects, numbers, indices = _decode_lines(numbers[0], indices[0], bytes(data), source, object_type, repair)
        if objects:
            yield JsonBlock(objects, numbers, indices)


def _read_line_blocks(source: ByteSource) -> Iterator[tuple[range, memoryview]]:
    """Yield blocks of complete lines as bytes, without byte order mark, each with the range of its line numbers."""
    for numbers, data in read_line_blocks(source, _BLOCK_SIZE):
        without_bom = data.removeprefix(_BOM) if numbers[0] == 1 else data
        if without_bom:
            yield numbers, memoryview(without_bom)


def _decode_lines(
    first_number: int,
    n_before: int,
    data: bytes,
    source: ByteSource,
    object_type: type[_T],
    repair: Callable[[dict[str, Any]], dict[str, Any]],
) -> JsonBlock[_T]:
    """Decode the lines of a block one by one.

    The error policy decides whether an invalid line raises `InputError`, or is skipped and counted in `Defects`.
    `first_number` is the line number of the first line, and `n_before` the number of objects before it in the file.
    """
    decoder = JsonDecoder(object_type)
    objects: list[_T] = []
    numbers: list[int] = []
    indices: list[int] = []
    for number, line in enumerate(data.split(b"\n"), first_number):
        if not line.strip():
            continue
        n_before += 1
        with isolate_defects(f"{source.label}:{number}"):
            try:
                objects.append(decoder.decode(line))
            except JsonError:
                objects.append(_decode_and_repair(line, f"{source.label}:{number}", object_type, repair))
            numbers.append(number)
            indices.append(n_before - 1)
    return JsonBlock(objects, numbers, indices)


def _decode_and_repair(
    line: bytes, location: str, object_type: type[_T], repair: Callable[[dict[str, Any]], dict[str, Any]]
) -> _T:
    """Decode a line, apply `repair` to the fields and convert the result to `object_type`, or raise `InputError`."""
    try:
        value = decode_json(line)
    except JsonError as problem:
        raise InputError(
            location,
            actual=f"a line that is not valid JSON ({problem})",
            expected="one complete JSON object per line, in UTF-8",
            remedy="Check that the line was not cut off and that no object spans several lines",
        ) from None
    value_object: _T = convert_value(repair(convert_value(value, dict, location)), object_type, location)
    return value_object


def empty_file_error(label: str) -> InputError:
    """Build the error for a file without any valid object: the first defect that was skipped, or "no document".

    `label`: the name of the file in messages.
    """
    return get_defects().final_error or InputError(
        label,
        actual="no document",
        expected="one JSON object per line",
        remedy="Check that this is the correct file",
    )


def parse_first_objects(opening: bytes) -> list[dict[str, Any]]:
    """Parse the objects on the first lines, for format detection; return an empty list if a complete line is no object.

    If the opening ends inside an object, that object has its complete fields only, and a truncated array its complete
    entries. Empty objects are dropped.
    """
    objects: list[dict[str, Any]] = []
    *complete, last = opening.removeprefix(_BOM).split(b"\n")
    for line in complete:
        if line.strip():
            value = _try_decode(line)
            if not isinstance(value, dict):
                return []
            objects.append(value)
    if last.strip():
        value = _try_decode(last)
        objects.append(value if isinstance(value, dict) else _parse_truncated_object(last.decode(errors="ignore")))
    return [fields for fields in objects if fields]


def _try_decode(line: bytes) -> object:
    """Decode the JSON value of a line; return None if it is invalid."""
    try:
        return decode_json(line)
    except JsonError:
        return None


def _parse_truncated_object(text: str) -> dict[str, Any]:
    """Parse the complete fields at the beginning of an object that is cut off, and complete entries of a last array."""
    fields: dict[str, Any] = {}
    offset = _skip_mark(text, 0, "{")
    try:
        while offset:
            key, offset = decode_json_prefix(text, offset)
            offset = _skip_mark(text, offset, ":")
            if _skip_mark(text, offset, "["):
                fields[key] = []
                offset = _skip_mark(text, offset, "[")
                while offset and not _skip_mark(text, offset, "]"):
                    entry, offset = decode_json_prefix(text, offset)
                    fields[key].append(entry)
                    offset = _skip_mark(text, offset, ",") or offset
                offset = _skip_mark(text, offset, "]")
            else:
                fields[key], offset = decode_json_prefix(text, offset)
            offset = _skip_mark(text, offset, ",")
    except (JsonError, TypeError):
        pass
    return fields


def _skip_mark(text: str, offset: int, mark: str) -> int:
    """Return the offset behind the character `mark` and white space around it, or 0 if `mark` does not come next."""
    while offset < len(text) and text[offset] in " \t\r":
        offset += 1
    if offset >= len(text) or text[offset] != mark:
        return 0
    offset += 1
    while offset < len(text) and text[offset] in " \t\r":
        offset += 1
    return offset
