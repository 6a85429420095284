"""JSON lines as typed objects, a block of lines at a time, for formats in which files are large."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

from karat.errors import InputError
from karat.model.defects import by_itself, current
from karat.parsing.json.records import shaped
from karat.parsing.lines import whole_lines
from karat.spec.format import Bytes

_BOM = b"\xef\xbb\xbf"
_BLOCK = 1 << 18  # what is decoded from it stays in the cache of a processor until it is taken apart
_REFUSED = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_T = TypeVar("_T", bound=msgspec.Struct)


class JsonBlock(NamedTuple, Generic[_T]):
    """The objects of some lines, the number of the line of each, and how many there were before it, sound or not."""

    objects: list[_T]
    numbers: Sequence[int]
    places: Sequence[int]


def blocks(
    source: Bytes,
    kind: type[_T],
    mend: Callable[[dict[str, Any]], dict[str, Any]],
    quickly: Sequence[Callable[[memoryview], list[_T]]] = (),
) -> Iterator[JsonBlock[_T]]:
    """The objects of a file with one per line; blank lines are passed over.

    `quickly` are decoders of many lines at once, of which one that refused a block is not tried again. Where all did,
    lines are of the kind. A line that does not fit it is given to `mend`, which may take fields away, and has to fit
    then.
    """
    decoders = [*quickly, msgspec.json.Decoder(kind).decode_lines]
    numbers: Sequence[int]
    places: Sequence[int]
    before = 0
    for numbers, data in _pieces(source):
        objects: list[_T] = []
        while True:
            try:
                objects = decoders[0](data)
                break
            except _REFUSED:
                if len(decoders) == 1:
                    break
                del decoders[0]
        places = range(before, before + len(numbers))
        before += len(numbers)
        if len(objects) != len(numbers):
            before = places[0] + sum(bool(line.strip()) for line in bytes(data).split(b"\n"))
            objects, numbers, places = _one_by_one(numbers[0], places[0], bytes(data), source, kind, mend)
        if objects:
            yield JsonBlock(objects, numbers, places)


def _pieces(source: Bytes) -> Iterator[tuple[range, memoryview]]:
    """The bytes of the file in whole lines, with the numbers of these."""
    for numbers, data in whole_lines(source, _BLOCK):
        bare = data.removeprefix(_BOM) if numbers[0] == 1 else data
        if bare:
            yield numbers, memoryview(bare)


def _one_by_one(
    first: int,
    before: int,
    data: bytes,
    source: Bytes,
    kind: type[_T],
    mend: Callable[[dict[str, Any]], dict[str, Any]],
) -> JsonBlock[_T]:
    decoder = msgspec.json.Decoder(kind)
    objects: list[_T] = []
    numbers: list[int] = []
    places: list[int] = []
    for number, line in enumerate(data.split(b"\n"), first):
        if not line.strip():
            continue
        before += 1
        with by_itself():
            try:
                objects.append(decoder.decode(line))
            except _REFUSED:
                objects.append(_mended(line, f"{source.label}:{number}", kind, mend))
            numbers.append(number)
            places.append(before - 1)
    return JsonBlock(objects, numbers, places)


def _mended(line: bytes, where: str, kind: type[_T], mend: Callable[[dict[str, Any]], dict[str, Any]]) -> _T:
    try:
        value = msgspec.json.decode(line)
    except _REFUSED as problem:
        raise InputError(
            where,
            found=f"a line that is not valid JSON ({problem})",
            expected="one complete JSON object per line, in UTF-8",
            remedy="Check that the line was not cut off, and that no object goes over several lines",
        ) from None
    found: _T = shaped(mend(shaped(value, dict, where)), kind, where)
    return found


def nothing(source: Bytes) -> InputError:
    """What to say about a file without any object, or without any that is sound."""
    return current().first or InputError(
        source.label,
        found="no document",
        expected="one JSON object per line",
        remedy="Check that this is the file you meant",
    )


def first_objects(opening: bytes) -> list[dict[str, Any]]:
    """The objects on the first lines, to tell what a file is.

    Where the opening ends in the middle of an object, that one has the fields that are complete, and of an array that
    is cut off the entries that are complete. Lines that are no objects give an empty list.
    """
    found: list[dict[str, Any]] = []
    *whole, last = opening.removeprefix(_BOM).split(b"\n")
    for line in whole:
        if line.strip():
            value = _value(line)
            if not isinstance(value, dict):
                return []
            found.append(value)
    if last.strip():
        value = _value(last)
        found.append(value if isinstance(value, dict) else _cut(last.decode(errors="ignore")))
    return [one for one in found if one]


def _value(line: bytes) -> object:
    try:
        return msgspec.json.decode(line)
    except _REFUSED:
        return None


def _cut(text: str) -> dict[str, Any]:
    """The beginning of an object, as far as it goes."""
    found: dict[str, Any] = {}
    decode = json.JSONDecoder().raw_decode
    place = _after(text, 0, "{")
    try:
        while place:
            key, place = decode(text, place)
            place = _after(text, place, ":")
            if _after(text, place, "["):
                found[key] = []
                place = _after(text, place, "[")
                while place and not _after(text, place, "]"):
                    entry, place = decode(text, place)
                    found[key].append(entry)
                    place = _after(text, place, ",") or place
                place = _after(text, place, "]")
            else:
                found[key], place = decode(text, place)
            place = _after(text, place, ",")
    except (ValueError, RecursionError, TypeError):
        pass
    return found


def _after(text: str, place: int, mark: str) -> int:
    """The place of what follows a mark, or 0 where the mark does not come next."""
    while place < len(text) and text[place] in " \t\r":
        place += 1
    if place >= len(text) or text[place] != mark:
        return 0
    place += 1
    while place < len(text) and text[place] in " \t\r":
        place += 1
    return place
