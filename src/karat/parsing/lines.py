"""Lines of text files, with errors that say where."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeVar

from karat.errors import InputError
from karat.model.defects import pass_over
from karat.spec.format import Bytes

_BOM = b"\xef\xbb\xbf"
_T = TypeVar("_T")


class Line(NamedTuple):
    """A line without its end, and its number from 1."""

    number: int
    text: str


def lines(source: Bytes) -> Iterator[Line]:
    """The lines of a UTF-8 file; a byte order mark is skipped, and both ways to end a line are understood."""
    with source.stream() as file:
        for number, raw in enumerate(file, 1):
            bare = raw.removeprefix(_BOM) if number == 1 else raw
            yield Line(number, decoded(bare.rstrip(b"\r\n"), source, number))


def each_line(source: Bytes, read: Callable[[Line], _T | None]) -> Iterator[_T]:
    """What is read of each line, without None, where lines say nothing of each other: a defect takes its line."""
    with source.stream() as file:
        for number, raw in enumerate(file, 1):
            bare = raw.removeprefix(_BOM) if number == 1 else raw
            try:
                found = read(Line(number, decoded(bare.rstrip(b"\r\n"), source, number)))
            except InputError as problem:
                pass_over(problem)
                continue
            if found is not None:
                yield found


def decoded(data: bytes, source: Bytes, number: int | None = None) -> str:
    """Bytes as UTF-8 text, or an `InputError` that says where they are none."""
    try:
        return data.decode()
    except UnicodeDecodeError as problem:
        raise InputError(
            f"{source.label}:{number}" if number else source.label,
            found=f"bytes that are no UTF-8 text ({problem.object[problem.start : problem.start + 4]!r})",
            expected="UTF-8",
            remedy="Convert the file, for example with iconv -t UTF-8",
        ) from None


def columns(line: Line, source: Bytes, least: int, most: int | None = None, separator: str = "\t") -> list[str]:
    """The columns of a line, of which there must be a certain number."""
    found = line.text.split(separator)
    if len(found) < least or (most is not None and len(found) > most):
        wanted = str(least) if most == least else f"at least {least}" if most is None else f"{least} to {most}"
        raise InputError(
            f"{source.label}:{line.number}",
            found=f"{len(found)} columns",
            expected=f"{wanted} columns",
            remedy="Check the separator, or name the format",
        )
    return found


def whole(value: str, line: Line, source: Bytes, what: str) -> int:
    """A whole number from a column."""
    try:
        return int(value)
    except ValueError:
        raise InputError(
            f"{source.label}:{line.number}",
            found=f"{value!r} for the {what}",
            expected="a whole number",
            remedy="Correct the line",
        ) from None
