"""JSON lines and JSON files as values of a known shape, with errors that say where."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

import msgspec

from karat.errors import InputError
from karat.model.defects import pass_over, skipping, sound
from karat.parsing.lines import raw_lines
from karat.spec.format import Bytes

_BOM = b"\xef\xbb\xbf"
_T = TypeVar("_T")


class Record(NamedTuple):
    """The object on one line, its number, and where it stands, for errors."""

    number: int
    where: str
    fields: dict[str, Any]


def records(source: Bytes) -> Iterator[Record]:
    """The objects of a file with one per line; blank lines are passed over. A defect takes its line with it."""
    for number, raw in enumerate(raw_lines(source), 1):
        line = raw.removeprefix(_BOM) if number == 1 else raw
        if line.strip():
            where = f"{source.label}:{number}"
            try:
                value = _decoded(line, where, "one JSON object per line")
                record = Record(number, where, shaped(value, dict[str, Any], where))
            except InputError as problem:
                pass_over(problem)
                continue
            yield record


def json_file(source: Bytes) -> Any:  # noqa: ANN401  # the caller says the shape
    """The one value of a JSON file."""
    return _decoded(source.data().removeprefix(_BOM), source.label, "one complete JSON value")


def _decoded(data: bytes, where: str, expected: str) -> Any:  # noqa: ANN401
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise InputError(
            where,
            found=f"text that is not valid JSON ({problem})",
            expected=f"{expected}, in UTF-8",
            remedy="Check that the file was not cut off",
        ) from None


def shaped(value: object, kind: type[_T], where: str) -> _T:
    """The value as an object of a kind, or an `InputError` that says which field is not as it should be."""
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as problem:
        found, expected = _explained(str(problem))
    raise InputError(where, found=found, expected=expected, remedy="Correct it, or name the format of the file")


def each_shaped(value: object, kind: type[_T], where: str) -> list[_T]:
    """The members of a list as objects of a kind; a defect takes its member with it, where such are left out."""
    if not skipping():
        found: list[_T] = shaped(value, list[kind], where)  # type: ignore[valid-type]
        return found
    members = enumerate(shaped(value, list[Any], where), 1)
    return [one for _, one in sound(members, lambda given: shaped(given[1], kind, f"{where}: entry {given[0]}"))]


def _explained(problem: str) -> tuple[str, str]:
    """What msgspec found and expected, in Karat's form."""
    message, _, path = problem.partition(" - at `")
    place = path.rstrip("`").removeprefix("$").removeprefix(".")
    at = f" at `{place}`" if place else ""
    if match := re.fullmatch(r"Expected (.*), got (.*)", message):
        return f"{match[2]}{' values' if match[2].isdigit() else ''}{at}", match[1]
    if match := re.fullmatch(r"Object missing required field `(.*)`", message):
        return f"no field `{match[1]}`{at}", f"the field `{match[1]}`"
    return f"another value{at}", message.removeprefix("Expected ")


def others(fields: Mapping[str, Any], known: Collection[str]) -> dict[str, str]:
    """The fields that nobody asked for, as the strings that `meta` holds; what is null is left out."""
    return {
        name: value if isinstance(value, str) else msgspec.json.encode(value).decode()
        for name, value in fields.items()
        if name not in known and value is not None
    }


def first_object(opening: bytes) -> dict[str, Any]:
    """The object on the first line, to tell what a file is; an empty one where there is none."""
    line = opening.removeprefix(_BOM).lstrip().partition(b"\n")[0]
    try:
        value = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def first_element(opening: bytes) -> object:
    """The first element of a JSON array, to tell what a file is; None where there is none or it is cut off."""
    text = opening.removeprefix(_BOM).decode(errors="ignore").lstrip()
    try:
        return json.JSONDecoder().raw_decode(text[1:].lstrip())[0] if text.startswith("[") else None
    except (ValueError, RecursionError):
        return None
