"""Lines of text files, with errors that say where."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeVar

import numpy as np
import pyarrow as pa

from karat.errors import InputError
from karat.limits import most, refused
from karat.model.defects import pass_over
from karat.spec.format import Bytes

_BOM = b"\xef\xbb\xbf"
_T = TypeVar("_T")
_WHOLE = re.compile(r"\s*[+-]?[0-9]{1,18}\s*", re.ASCII)


class Line(NamedTuple):
    """A line without its end, and its number from 1."""

    number: int
    text: str


def lines(source: Bytes) -> Iterator[Line]:
    """The lines of a UTF-8 file; a byte order mark is skipped, and both ways to end a line are understood."""
    for number, raw in enumerate(raw_lines(source), 1):
        bare = raw.removeprefix(_BOM) if number == 1 else raw
        yield Line(number, decoded(bare.rstrip(b"\r\n"), source, number))


def raw_lines(source: Bytes) -> Iterator[bytes]:
    """The lines of a file with their ends, none of them longer than the limit."""
    longest, number = most("line"), 0
    with source.stream() as file:
        while raw := file.readline(longest + 1):
            number += 1
            if len(raw) > longest:
                raise _too_long(source, number)
            yield raw


def whole_lines(source: Bytes, size: int) -> Iterator[tuple[range, bytes]]:
    """The bytes of a file, about so many at a time, up to the end of a line; with the numbers of these lines."""
    number, rest, held = 1, list[bytes](), 0
    with source.stream() as file:
        while piece := file.read(size):
            end = piece.rfind(b"\n") + 1
            held += len(piece) if not end else piece.find(b"\n")
            if held > most("line"):
                raise _too_long(source, number)
            if not end:
                rest.append(piece)
                continue
            data = b"".join([*rest, memoryview(piece)[:end]])
            # NumPy compares and counts faster than `bytes.count` looks for them.
            following = number + int(np.count_nonzero(np.frombuffer(data, np.uint8) == ord("\n")))
            yield range(number, following), data
            number, rest, held = following, [piece[end:]], len(piece) - end
    if any(rest):
        yield range(number, number + 1), b"".join(rest)


def is_utf8(data: bytes | memoryview) -> bool:
    """Whether all bytes are UTF-8; Arrow says so without making a string of them."""
    ends = np.array([0, len(data)], np.int64)
    whole = pa.Array.from_buffers(pa.large_string(), 1, [None, pa.py_buffer(ends), pa.py_buffer(data)])
    try:
        whole.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _too_long(source: Bytes, number: int) -> InputError:
    found = f"a line of more than {most('line'):,} bytes"
    return refused("line", f"{source.label}:{number}", found, "Check that the file has the line ends of its format")


def each_line(source: Bytes, read: Callable[[Line], _T | None]) -> Iterator[_T]:
    """What is read of each line, without None, where lines say nothing of each other: a defect takes its line."""
    for number, raw in enumerate(raw_lines(source), 1):
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


def columns(line: Line, source: Bytes, least: int, greatest: int | None = None, separator: str = "\t") -> list[str]:
    """The columns of a line, of which there must be a certain number."""
    found = line.text.split(separator)
    if len(found) < least or (greatest is not None and len(found) > greatest):
        wanted = (
            str(least) if greatest == least else f"at least {least}" if greatest is None else f"{least} to {greatest}"
        )
        raise InputError(
            f"{source.label}:{line.number}",
            found=f"{len(found)} columns",
            expected=f"{wanted} columns",
            remedy="Check the separator, or name the format",
        )
    return found


def whole(value: str, line: Line, source: Bytes, what: str) -> int:
    """A whole number from a column, of at most 18 digits."""
    if not _WHOLE.fullmatch(value):
        raise InputError(
            f"{source.label}:{line.number}",
            found=f"{value!r} for the {what}",
            expected="a whole number",
            remedy="Correct the line",
        )
    return int(value)
