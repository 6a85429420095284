"""RDF in Turtle: read as a stream of resources, and the words to write it with."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from io import BytesIO
from typing import IO, cast

from karat.errors import InputError
from karat.parsing.turtle.lines import by_line
from karat.parsing.turtle.triples import Gathering, Values
from karat.spec.format import Bytes

_BOM = b"\xef\xbb\xbf"
_PLACE = re.compile(r"^Parser error at .*?: (?=\D)")
_NOT_IN_IRI = re.compile(r'[\x00-\x20<>"{}|^`\\]')
_NOT_IN_LITERAL = re.compile(r'[\x00-\x1f"\\\x7f]')
_SHORT = {"\t": "\\t", "\n": "\\n", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


class _Behind:
    """A file behind some bytes."""

    def __init__(self, head: bytes, file: IO[bytes]) -> None:
        self._head = BytesIO(head)
        self._file = file

    def read(self, size: int) -> bytes:
        return self._head.read(size) or self._file.read(size)


def resources(
    source: Bytes,
    prefixes: Mapping[str, str],
    *,
    once: frozenset[str],
    skip: frozenset[str] = frozenset(),
    through: Callable[[IO[bytes]], IO[bytes]] | None = None,
) -> Iterator[tuple[str, Values]]:
    """The subjects of a file in order, each with what consecutive triples say about it (see `Gathering`).

    The prefixes need not be declared, and addresses are taken as they are. `through` changes the bytes before.
    """
    from pyoxigraph import RdfFormat, parse

    state = Gathering(once, skip)
    with source.stream() as stream:
        file = stream if through is None else through(stream)
        opened = cast("IO[bytes]", _Behind(file.read(len(_BOM)).removeprefix(_BOM), file))
        rest = yield from by_line(opened, prefixes, state)
        prelude = "".join(f"@prefix {name}: <{address}> . " for name, address in rest.prefixes.items())
        unread = cast("IO[bytes]", _Behind(prelude.encode() + rest.unread, opened))
        try:
            yield from state.add(parse(unread, RdfFormat.TURTLE, lenient=True))
        except SyntaxError as problem:
            where = f"{source.label}:{rest.lines + (problem.lineno or 1)}"
            raise _no_turtle(where, _PLACE.sub("", problem.msg)) from None
        except AttributeError:  # a triple has no value
            raise _no_turtle(source.label, "a statement about a statement") from None
    yield from state.end()


def _no_turtle(where: str, found: str) -> InputError:
    return InputError(where, found=f"no Turtle ({found})", expected="RDF 1.1 in Turtle", remedy="Correct the statement")


def local(address: str) -> str:
    """The last part of an address or of a name with a prefix."""
    return re.split("[#/:]", address)[-1]


def iri(address: str) -> str:
    """An address in angle brackets; what cannot stand there is escaped, so that every string comes back."""
    return f"<{_NOT_IN_IRI.sub(_code, address)}>"


def literal(text: str) -> str:
    """A text in quotation marks."""
    return f'"{_NOT_IN_LITERAL.sub(lambda found: _SHORT.get(found[0]) or _code(found), text)}"'


def _code(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04X}"
