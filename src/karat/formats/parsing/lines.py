"""Lines of text files, with errors that name the location."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import IO, NamedTuple, Protocol, TypeVar

import numpy as np
import pyarrow as pa

from karat.model.counts.skip_counter import locate_counts
from karat.model.defects import skip_or_raise
from karat.model.errors import InputError
from karat.model.limits import get_limit, limit_error
from karat.model.spec.format import ByteSource

_BOM = b"\xef\xbb\xbf"
_T = TypeVar("_T")
_INTEGER = re.compile(r"\s*[+-]?[0-9]{1,18}\s*", re.ASCII)


class LineSource(Protocol):
    """A file, or a file in an archive, whose lines are read."""

    @property
    def label(self) -> str:
        """The name of the source in messages."""

    def open_stream(self) -> AbstractContextManager[IO[bytes]]:
        """Open the bytes for reading from the start."""


class Line(NamedTuple):
    """A line without its line end."""

    number: int
    """Line number, from 1."""
    text: str
    """Text of the line."""


def read_lines(source: ByteSource) -> Iterator[Line]:
    """Yield the lines of a UTF-8 file without byte order mark and line ends (LF or CRLF).

    Raise `InputError` for a line that is too long or not UTF-8.
    """
    for number, raw in enumerate(read_raw_lines(source), 1):
        without_bom = raw.removeprefix(_BOM) if number == 1 else raw
        yield Line(number, decode_utf8(without_bom.rstrip(b"\r\n"), source, number))


def read_raw_lines(source: LineSource) -> Iterator[bytes]:
    """Yield the lines of a file as bytes with line ends; raise `InputError` for a line longer than the limit."""
    max_length, number = get_limit("line"), 0
    with source.open_stream() as file:
        while raw := file.readline(max_length + 1):
            number += 1
            if len(raw) > max_length:
                raise _line_length_error(source, number)
            yield raw


def read_line_blocks(source: ByteSource, size: int) -> Iterator[tuple[range, bytes]]:
    """Yield blocks of complete lines of about `size` bytes, each with the range of its line numbers.

    Raise `InputError` for a line longer than the limit.
    """
    number, rest, line_length = 1, list[bytes](), 0
    with source.open_stream() as file:
        while chunk := file.read(size):
            end = chunk.rfind(b"\n") + 1
            line_length += len(chunk) if not end else chunk.find(b"\n")
            if line_length > get_limit("line"):
                raise _line_length_error(source, number)
            if not end:
                rest.append(chunk)
                continue
            data = b"".join([*rest, memoryview(chunk)[:end]])
            # NumPy counts line ends faster than `bytes.count`.
            following = number + int(np.count_nonzero(np.frombuffer(data, np.uint8) == ord("\n")))
            yield range(number, following), data
            number, rest, line_length = following, [chunk[end:]], len(chunk) - end
    if any(rest):
        yield range(number, number + 1), b"".join(rest)


def is_utf8(data: bytes | memoryview) -> bool:
    """Return whether the bytes are valid UTF-8; Arrow checks them without creating a string."""
    ends = np.array([0, len(data)], np.int64)
    array = pa.Array.from_buffers(pa.large_string(), 1, [None, pa.py_buffer(ends), pa.py_buffer(data)])
    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _line_length_error(source: LineSource, number: int) -> InputError:
    """Build the error for a line that is longer than the limit."""
    message = f"a line of more than {get_limit('line'):,} bytes"
    return limit_error(
        "line", f"{source.label}:{number}", message, "Check that the file has the line ends of its format"
    )


def parse_lines(source: ByteSource, parse: Callable[[Line], _T | None]) -> Iterator[_T]:
    """Yield `parse(line)` for each line for which it is not None.

    The error policy decides whether an invalid line raises `InputError`, or is skipped and counted in `Defects`.
    """
    for number, raw in enumerate(read_raw_lines(source), 1):
        without_bom = raw.removeprefix(_BOM) if number == 1 else raw
        try:
            with locate_counts(f"{source.label}:{number}"):
                value = parse(Line(number, decode_utf8(without_bom.rstrip(b"\r\n"), source, number)))
        except InputError as problem:
            skip_or_raise(problem)
            continue
        if value is not None:
            yield value


def decode_utf8(data: bytes, source: ByteSource, line_number: int | None = None) -> str:
    """Decode UTF-8 bytes; raise `InputError`, which names file and line, if they are not UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError as problem:
        raise InputError(
            f"{source.label}:{line_number}" if line_number else source.label,
            actual=f"bytes that are not UTF-8 ({problem.object[problem.start : problem.start + 4]!r})",
            expected="UTF-8",
            remedy="Convert the file, for example with iconv -t UTF-8",
        ) from None


def split_columns(line: Line, source: ByteSource, min_columns: int, max_columns: int | None = None) -> list[str]:
    """Split a line into columns; raise `InputError` if there are fewer or more than allowed (None: no maximum)."""
    cells = line.text.split("\t")
    if len(cells) < min_columns or (max_columns is not None and len(cells) > max_columns):
        expected = (
            str(min_columns)
            if max_columns == min_columns
            else f"at least {min_columns}"
            if max_columns is None
            else f"{min_columns} to {max_columns}"
        )
        raise InputError(
            f"{source.label}:{line.number}",
            actual=f"{len(cells)} columns",
            expected=f"{expected} columns",
            remedy="Check the separator, or name the format",
        )
    return cells


def parse_integer(value: str, line: Line, source: ByteSource, field: str) -> int:
    """Parse an integer of at most 18 digits, perhaps with sign and spaces, or raise `InputError`.

    `field` names the column in the error message.
    """
    if not _INTEGER.fullmatch(value):
        raise InputError(
            f"{source.label}:{line.number}",
            actual=f"{value!r} for the {field}",
            expected="an integer",
            remedy="Correct the line",
        )
    return int(value)
