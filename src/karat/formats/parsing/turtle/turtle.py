"""RDF in Turtle: a stream of resources to read, and terms to write."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from io import BytesIO
from typing import IO, cast

from karat.formats.parsing.turtle.lines import read_by_line
from karat.formats.parsing.turtle.triples import ResourceBuilder, Values
from karat.model.errors import InputError
from karat.model.spec.format import ByteSource

_BOM = b"\xef\xbb\xbf"
_ERROR_POSITION = re.compile(r"^Parser error at .*?: (?=\D)")
_NOT_IN_IRI = re.compile(r'[\x00-\x20<>"{}|^`\\]')
_NOT_IN_LITERAL = re.compile(r'[\x00-\x1f"\\\x7f]')
_SHORT_ESCAPES = {"\t": "\\t", "\n": "\\n", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


class _PrefixedFile:
    """A binary file to read from, preceded by other bytes."""

    def __init__(self, head: bytes, file: IO[bytes]) -> None:
        self._head = BytesIO(head)
        self._file = file

    def read(self, size: int) -> bytes:
        """Return up to `size` bytes: first of the prefix declarations, then of the file."""
        return self._head.read(size) or self._file.read(size)


def read_resources(
    source: ByteSource,
    prefixes: Mapping[str, str],
    *,
    single_valued: frozenset[str],
    skipped_predicates: frozenset[str] = frozenset(),
    transform: Callable[[IO[bytes]], IO[bytes]] | None = None,
) -> Iterator[tuple[str, Values]]:
    """Yield the subjects of a file in order, each with the values of consecutive triples (see `ResourceBuilder`).

    The prefixes need not be declared, and IRIs are not normalised. `transform` changes the bytes before parsing.
    Invalid Turtle raises `InputError`.
    """
    from pyoxigraph import RdfFormat, parse

    state = ResourceBuilder(single_valued, skipped_predicates, source.label)
    with source.open_stream() as stream:
        file = stream if transform is None else transform(stream)
        without_bom = cast("IO[bytes]", _PrefixedFile(file.read(len(_BOM)).removeprefix(_BOM), file))
        rest = yield from read_by_line(without_bom, prefixes, state)
        prelude = "".join(f"@prefix {name}: <{address}> . " for name, address in rest.prefixes.items())
        unread = cast("IO[bytes]", _PrefixedFile(prelude.encode() + rest.data, without_bom))
        try:
            yield from state.add_quads(parse(unread, RdfFormat.TURTLE, lenient=True))
        except SyntaxError as problem:
            location = f"{source.label}:{rest.n_lines + (problem.lineno or 1)}"
            raise _turtle_error(location, _ERROR_POSITION.sub("", problem.msg)) from None
        except AttributeError:  # a triple as object has no value
            raise _turtle_error(source.label, "a statement about a statement") from None
    yield from state.finish()


def _turtle_error(location: str, problem: str) -> InputError:
    """Build the error for invalid Turtle."""
    return InputError(
        location, actual=f"invalid Turtle ({problem})", expected="RDF 1.1 in Turtle", remedy="Correct the statement"
    )


def get_local_name(iri: str) -> str:
    """Return the part of an IRI or prefixed name behind the last `#`, `/` or `:`."""
    return re.split("[#/:]", iri)[-1]


def format_iri(iri: str) -> str:
    """Format an IRI in angle brackets, with escapes for characters that are not allowed there."""
    return f"<{_NOT_IN_IRI.sub(_escape_unicode, iri)}>"


def format_literal(text: str) -> str:
    """Format a text as a Turtle literal: in double quotes, with escapes."""
    return f'"{_NOT_IN_LITERAL.sub(lambda match: _SHORT_ESCAPES.get(match[0]) or _escape_unicode(match), text)}"'


def _escape_unicode(match: re.Match[str]) -> str:
    """Return the matched character as a Turtle escape sequence."""
    return f"\\u{ord(match[0]):04X}"
