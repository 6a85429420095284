"""Turtle as most programs write it: a line for each predicate, and many lines that come again and again.

Long files are read by shape (`karat.parsing.turtle.shapes`) first of all, and what has none by line:

Each different line is given to the parser once, behind a subject of its own. If triples come back for every one of
these subjects, no line begins or ends inside a literal, and statements can be put together from their lines. Other
statements are given to the parser as they are. Where that fails as well, the rest of the file is left to it. Nodes
without address that the same line describes are one.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping
from typing import IO, Any, NamedTuple, TypeAlias
from uuid import uuid4

from karat.parsing.turtle.shapes import Shapes
from karat.parsing.turtle.triples import Blank, Gathering, Values

_BLOCK = 1 << 20
_FEW = 1_000  # lines
_MOST = 200_000  # lines
_LONG = 1_000
_LONGEST = 16 << 20
_PATIENCE = 3
_SMALL = 1 << 19  # characters, behind which shapes are worth the while
_WHITE = " \t\r"  # as Turtle has it
_NOTHING: frozenset[str] = frozenset()
_IRI = r'<([^\x00-\x20<>"{}|^`\\]*)>'
_SUBJECT = re.compile(_IRI + r"(?=[ \t\r]|$)")
_PREFIX = re.compile(rf"@prefix[ \t]+([A-Za-z][A-Za-z0-9]*):[ \t]+{_IRI}[ \t]*\.[ \t\r]*$")


class Rest(NamedTuple):
    """What was read but not understood, behind how many lines, and the prefixes that hold there."""

    prefixes: dict[str, str]
    unread: bytes
    lines: int


_Said: TypeAlias = tuple[tuple[tuple[str, tuple[str, ...]], ...], bool, dict[str, Values]]
"""What a line says about its subject, by predicate, whether it ends the statement, and the nodes without address."""


def by_line(
    file: IO[bytes], prefixes: Mapping[str, str], state: Gathering
) -> Generator[tuple[str, Values], None, Rest]:
    """The resources of a file as far as it can be read by shape or by line; returns where that ends."""
    reader = _Lines(dict(prefixes), state)
    before, block = 0, b""
    while True:
        piece = file.read(_BLOCK)
        block += piece
        end = block.rfind(b"\n<") + 1 if piece else len(block)
        try:
            text = block[:end].decode()
        except UnicodeDecodeError:
            return Rest(reader.prefixes, block, before)
        unread = yield from reader.block(text)
        before += text.count("\n") - unread.count("\n")
        if unread or not piece or (not end and len(block) > _LONGEST):
            return Rest(reader.prefixes, unread.encode() + block[end:], before)
        block = block[end:]


class _Lines:
    """What has been understood of a file so far."""

    def __init__(self, prefixes: dict[str, str], state: Gathering) -> None:
        self.prefixes = prefixes
        self._state = state
        self._known: dict[str, _Said] = {}
        self._long: list[str] = []  # lines of the last block that will hardly come again
        self._failures = 0
        self._shapes = Shapes(self._quads, state)
        self._before = 0  # characters

    def block(self, text: str) -> Generator[tuple[str, Values], None, str]:
        """The resources of a text in which no statement is cut in two; returns what could not be read."""
        place = 0
        while place < len(text):
            if self._before >= _SMALL:
                place = yield from self._shapes.statements(text, place)
                end = self._shapes.next(text, place)
            else:
                end = len(text)
            lines = text[place:end].split("\n")
            read = yield from self.resources(lines)
            if read < len(lines) and end < len(text):  # what seemed to be a statement begins inside a literal
                lines = lines[read:-1] + (lines[-1] + text[end:]).split("\n")
                end, read = len(text), (yield from self.resources(lines))
            if read < len(lines):
                return "\n".join(lines[read:])
            place = end
        self._before += len(text)
        return ""

    def resources(self, lines: list[str]) -> Generator[tuple[str, Values], None, int]:
        """The resources of a block; returns how many lines were read, which are not all if some are too odd."""
        if not self._known:
            self._declare(lines)
        if not self._learn(lines):
            quads = self._quads(lines) if self._failures < _PATIENCE else None
            self._failures += quads is None or len(lines) > _FEW
            if quads is None:
                return 0
            yield from self._state.add(quads)
            return len(lines)
        read = yield from self._statements(lines, 0)
        while read < len(lines):
            quads, end = self._odd(lines, read)
            if quads is None:
                break
            yield from self._state.add(quads)
            read = yield from self._statements(lines, end)
        return read

    def _declare(self, lines: list[str]) -> None:
        """Take the prefixes at the beginning of a file."""
        for line in lines:
            found = _PREFIX.match(line)
            if found:
                if self.prefixes.get(found[1]) != found[2]:
                    self.prefixes[found[1]] = found[2]
                    self._shapes = Shapes(self._quads, self._state)
            elif line.strip(_WHITE) and not line.startswith("#"):
                return

    def _learn(self, lines: list[str]) -> bool:
        """Find out what the new lines of a block say, unless one of them seems to be incomplete."""
        for line in self._long:
            self._known.pop(line, None)
        if len(self._known) > _MOST:
            self._known.clear()
        new: dict[str, None] = {}
        for line in dict.fromkeys(lines):
            if line not in self._known and line[-1:] != ">":
                opened = _SUBJECT.match(line)
                said = line[opened.end() :] if opened else line
                if said[:1] in (" ", "\t") and said.rstrip(_WHITE)[-1:] in (";", ".") and said not in self._known:
                    new[said] = None
        self._long = [line for line in new if len(line) > _LONG]
        if len(new) > _FEW and 2 * len(new) > len(lines):
            return False  # most lines are new, and reading each would be slower
        return self._parsed(list(new))

    def _parsed(self, lines: list[str]) -> bool:
        """Learn what these lines say, if every one of them is complete."""
        mark = f"{uuid4().hex}:"  # no file knows it
        quads = self._quads([f"<{mark}{place}>{line.rstrip(_WHITE)[:-1]} ." for place, line in enumerate(lines)])
        alone = Gathering(self._state.once, _NOTHING)
        said = list(alone.add(quads or ()))
        if alone.subject is not None:
            said.append((alone.subject, alone.values))
        if [name for name, _ in said] != [f"{mark}{place}" for place in range(len(lines))]:
            return False
        for line, (_, values) in zip(lines, said, strict=True):
            nameless = _reached(values, alone.nameless) if alone.nameless else {}
            for predicate in self._state.skip & values.keys():
                del values[predicate]
            self._known[line] = tuple(values.items()), line.rstrip(_WHITE)[-1] == ".", nameless
        return True

    def _quads(self, lines: list[str]) -> list[Any] | None:
        """The triples of some lines, unless they are incomplete, say what prefixes stand for, or quote triples."""
        from pyoxigraph import RdfFormat, Triple, parse

        text = "".join(f"@prefix {name}: <{address}> .\n" for name, address in self.prefixes.items())
        parser = parse(text + "\n".join(lines), RdfFormat.TURTLE, lenient=True)
        try:
            quads: list[Any] = list(parser)
        except SyntaxError:
            return None
        plain = parser.base_iri is None and parser.prefixes == self.prefixes
        return quads if plain and not any(type(quad.object) is Triple for quad in quads) else None

    def _statements(self, lines: list[str], read: int) -> Generator[tuple[str, Values], None, int]:
        """Statements made of known lines, beginning with some line; returns where they end."""
        known = self._known.get
        about: str | None = None
        statement: list[tuple[str, tuple[str, ...]]] = []
        nameless: dict[str, Values] = {}
        for place, line in enumerate(lines[read:], read + 1):
            said = known(line)
            if about is None:
                opened = _SUBJECT.match(line)
                if opened is None:
                    if said is not None or (line.strip(_WHITE) and not self._idle(line)):
                        break
                    read = place
                    continue
                about, statement, nameless = opened[1], [], {}
                line = line[opened.end() :]
                said = known(line)
            if said is None:
                if line.strip(_WHITE):
                    break
                continue
            found, ends, nodes = said
            statement += found
            nameless |= nodes
            if ends:
                self._state.nameless |= nameless
                if statement:
                    yield from self._state.join(about, statement)
                about, read = None, place
        return read

    def _idle(self, line: str) -> bool:
        """Whether a line between statements says nothing new."""
        found = _PREFIX.match(line)
        return line.startswith("#") if found is None else self.prefixes.get(found[1]) == found[2]

    def _odd(self, lines: list[str], begin: int) -> tuple[list[Any] | None, int]:
        """The triples from a line up to where another statement may begin, and where that is."""
        for end in range(begin + 1, min(len(lines), begin + _FEW)):
            if lines[end - 1].rstrip(_WHITE).endswith(".") and (
                not lines[end].strip(_WHITE) or _SUBJECT.match(lines[end])
            ):
                piece = lines[begin:end]
                if "\n".join(piece).count('"""') % 2 == 0 and (quads := self._quads(piece)) is not None:
                    return quads, end
        return None, begin


def _reached(values: Values, nameless: dict[str, Values]) -> dict[str, Values]:
    """The nodes without address that some values name, and those that these name."""
    found: dict[str, Values] = {}
    waiting = [values]
    for said in waiting:
        for name in (value for several in said.values() for value in several if type(value) is Blank):
            if name in nameless and name not in found:
                found[name] = nameless[name]
                waiting.append(nameless[name])
    return found
