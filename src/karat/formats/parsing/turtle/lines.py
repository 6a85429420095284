"""Turtle as most programs write it: one line per predicate, with many repeated lines.

Long files are read by statement patterns (`karat.formats.parsing.turtle.statement_patterns`) first, and statements
without a pattern by line. Each distinct line is parsed once, with a subject of its own. If the parser returns triples
for each of these subjects, no line begins or ends inside a literal, and statements can be joined from their lines.
Other statements are parsed as they are. If that fails as well, the parser reads the rest of the file. Blank nodes that
the same line describes are one node. docs/explanation/architecture.md has the measured gain.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping
from typing import IO, Any, NamedTuple, TypeAlias
from uuid import uuid4

from karat.formats.parsing.turtle.statement_patterns import PatternReader
from karat.formats.parsing.turtle.triples import BlankNodeId, ResourceBuilder, Values

_BLOCK_SIZE = 1 << 20
_MAX_NEW_LINES = 1_000  # lines
_MAX_KNOWN_LINES = 200_000  # lines
_LONG_LINE = 1_000
_MAX_STATEMENT = 16 << 20
_MAX_FAILURES = 3
_PATTERN_THRESHOLD = 1 << 19  # characters after which patterns are worth learning
_WHITE_SPACE = " \t\r"  # as Turtle defines it
_NO_PREDICATES: frozenset[str] = frozenset()
_IRI = r'<([^\x00-\x20<>"{}|^`\\]*)>'
_SUBJECT = re.compile(_IRI + r"(?=[ \t\r]|$)")
_PREFIX = re.compile(rf"@prefix[ \t]+([A-Za-z][A-Za-z0-9]*):[ \t]+{_IRI}[ \t]*\.[ \t\r]*$")


class UnreadRest(NamedTuple):
    """The part of a file that could not be read by line and is left to the parser."""

    prefixes: dict[str, str]
    """Prefixes in force at that point."""
    data: bytes
    """Bytes that were read but not understood."""
    n_lines: int
    """Number of lines before them."""


_ParsedLine: TypeAlias = tuple[tuple[tuple[str, tuple[str, ...]], ...], bool, dict[str, Values]]
"""Objects of a line by predicate, whether it ends the statement, and its blank nodes."""


def read_by_line(
    file: IO[bytes], prefixes: Mapping[str, str], state: ResourceBuilder
) -> Generator[tuple[str, Values], None, UnreadRest]:
    """Yield subject and values of the resources of a file as far as it can be read by pattern or line; return the rest.

    `state` keeps the last resource, which the rest may continue, and all blank nodes.
    """
    reader = _LineReader(dict(prefixes), state)
    n_lines, block = 0, b""
    while True:
        chunk = file.read(_BLOCK_SIZE)
        block += chunk
        end = block.rfind(b"\n<") + 1 if chunk else len(block)
        try:
            text = block[:end].decode()
        except UnicodeDecodeError:
            return UnreadRest(reader.prefixes, block, n_lines)
        unread = yield from reader.read_block(text)
        n_lines += text.count("\n") - unread.count("\n")
        if unread or not chunk or (not end and len(block) > _MAX_STATEMENT):
            return UnreadRest(reader.prefixes, unread.encode() + block[end:], n_lines)
        block = block[end:]


class _LineReader:
    """A reader that remembers parsed lines and learnt patterns of a file."""

    def __init__(self, prefixes: dict[str, str], state: ResourceBuilder) -> None:
        self.prefixes = prefixes
        self._state = state
        self._parsed_lines: dict[str, _ParsedLine] = {}
        self._long_lines: list[str] = []  # lines of the last block that will hardly occur again
        self._failures = 0
        self._patterns = PatternReader(self._parse_quads, state)
        self._n_characters = 0  # characters

    def read_block(self, text: str) -> Generator[tuple[str, Values], None, str]:
        """Yield the resources of a text of complete statements; return the part at its end that could not be read."""
        offset = 0
        while offset < len(text):
            if self._n_characters >= _PATTERN_THRESHOLD:
                offset = yield from self._patterns.read_statements(text, offset)
                end = self._patterns.find_next_statement(text, offset)
            else:
                end = len(text)
            lines = text[offset:end].split("\n")
            n_read = yield from self.read_resources(lines)
            if n_read < len(lines) and end < len(text):  # an apparent statement begins inside a literal
                lines = lines[n_read:-1] + (lines[-1] + text[end:]).split("\n")
                end, n_read = len(text), (yield from self.read_resources(lines))
            if n_read < len(lines):
                return "\n".join(lines[n_read:])
            offset = end
        self._n_characters += len(text)
        return ""

    def read_resources(self, lines: list[str]) -> Generator[tuple[str, Values], None, int]:
        """Yield the resources of lines; return the number of lines read, fewer than all if some are too irregular."""
        if not self._parsed_lines:
            self._read_prefixes(lines)
        if not self._learn_lines(lines):
            quads = self._parse_quads(lines) if self._failures < _MAX_FAILURES else None
            self._failures += quads is None or len(lines) > _MAX_NEW_LINES
            if quads is None:
                return 0
            yield from self._state.add_quads(quads)
            return len(lines)
        n_read = yield from self._read_statements(lines, 0)
        while n_read < len(lines):
            quads, end = self._parse_irregular(lines, n_read)
            if quads is None:
                break
            yield from self._state.add_quads(quads)
            n_read = yield from self._read_statements(lines, end)
        return n_read

    def _read_prefixes(self, lines: list[str]) -> None:
        """Store the prefixes declared in `lines`, the beginning of a file, up to the first line of another kind.

        Blank lines and comments are skipped. A new or changed prefix discards the statement patterns learnt so far.
        """
        for line in lines:
            match = _PREFIX.match(line)
            if match:
                if self.prefixes.get(match[1]) != match[2]:
                    self.prefixes[match[1]] = match[2]
                    self._patterns = PatternReader(self._parse_quads, self._state)
            elif line.strip(_WHITE_SPACE) and not line.startswith("#"):
                return

    def _learn_lines(self, lines: list[str]) -> bool:
        """Parse the lines that were not seen before; return False if one seems incomplete or too many are new."""
        for line in self._long_lines:
            self._parsed_lines.pop(line, None)
        if len(self._parsed_lines) > _MAX_KNOWN_LINES:
            self._parsed_lines.clear()
        new_lines: dict[str, None] = {}
        for line in dict.fromkeys(lines):
            if line not in self._parsed_lines and line[-1:] != ">":
                match = _SUBJECT.match(line)
                predicate_part = line[match.end() :] if match else line
                if (
                    predicate_part[:1] in (" ", "\t")
                    and predicate_part.rstrip(_WHITE_SPACE)[-1:] in (";", ".")
                    and predicate_part not in self._parsed_lines
                ):
                    new_lines[predicate_part] = None
        self._long_lines = [line for line in new_lines if len(line) > _LONG_LINE]
        if len(new_lines) > _MAX_NEW_LINES and 2 * len(new_lines) > len(lines):
            return False  # most lines are new, and parsing each would be slower
        return self._parse_lines(list(new_lines))

    def _parse_lines(self, lines: list[str]) -> bool:
        """Parse lines of predicates, each with a subject of its own, and store the results.

        Return False if a line is incomplete.
        """
        mark = f"{uuid4().hex}:"  # occurs in no file
        quads = self._parse_quads(
            [f"<{mark}{index}>{line.rstrip(_WHITE_SPACE)[:-1]} ." for index, line in enumerate(lines)]
        )
        builder = ResourceBuilder(self._state.single_valued, _NO_PREDICATES, self._state.label)
        resources = list(builder.add_quads(quads or ()))
        if builder.subject is not None:
            resources.append((builder.subject, builder.values))
        if [name for name, _ in resources] != [f"{mark}{index}" for index in range(len(lines))]:
            return False
        for line, (_, values) in zip(lines, resources, strict=True):
            blank_nodes = _collect_blank_nodes(values, builder.blank_nodes) if builder.blank_nodes else {}
            for predicate in self._state.skipped_predicates & values.keys():
                del values[predicate]
            self._parsed_lines[line] = tuple(values.items()), line.rstrip(_WHITE_SPACE)[-1] == ".", blank_nodes
        return True

    def _parse_quads(self, lines: list[str]) -> list[Any] | None:
        """Parse lines with the known prefixes; return their triples, which pyoxigraph calls quads, or None.

        None if there is a syntax error, such as an incomplete line, if the lines change prefixes or the base IRI, or if
        they quote triples.
        """
        from pyoxigraph import RdfFormat, Triple, parse

        text = "".join(f"@prefix {name}: <{address}> .\n" for name, address in self.prefixes.items())
        parser = parse(text + "\n".join(lines), RdfFormat.TURTLE, lenient=True)
        try:
            quads: list[Any] = list(parser)
        except SyntaxError:
            return None
        is_unchanged = parser.base_iri is None and parser.prefixes == self.prefixes
        return quads if is_unchanged and not any(type(quad.object) is Triple for quad in quads) else None

    def _read_statements(self, lines: list[str], n_read: int) -> Generator[tuple[str, Values], None, int]:
        """Yield subject and values of the resources that are complete in `lines`, from index `n_read` on.

        Return the index of the line after the last complete statement: there, a line has no entry in `_parsed_lines`,
        or `lines` end.
        """
        get_parsed = self._parsed_lines.get
        subject: str | None = None
        statement: list[tuple[str, tuple[str, ...]]] = []
        blank_nodes: dict[str, Values] = {}
        for line_end, line in enumerate(lines[n_read:], n_read + 1):
            parsed = get_parsed(line)
            if subject is None:
                match = _SUBJECT.match(line)
                if match is None:
                    if parsed is not None or (line.strip(_WHITE_SPACE) and not self._is_ignorable(line)):
                        break
                    n_read = line_end
                    continue
                subject, statement, blank_nodes = match[1], [], {}
                line = line[match.end() :]
                parsed = get_parsed(line)
            if parsed is None:
                if line.strip(_WHITE_SPACE):
                    break
                continue
            values, is_last, nodes = parsed
            statement += values
            blank_nodes |= nodes
            if is_last:
                self._state.blank_nodes |= blank_nodes
                if statement:
                    yield from self._state.add_statement(subject, statement)
                subject, n_read = None, line_end
        return n_read

    def _is_ignorable(self, line: str) -> bool:
        """Return whether a line between statements adds nothing: a comment, or a prefix declared before."""
        match = _PREFIX.match(line)
        return line.startswith("#") if match is None else self.prefixes.get(match[1]) == match[2]

    def _parse_irregular(self, lines: list[str], start: int) -> tuple[list[Any] | None, int]:
        """Parse the statement from line `start` up to where another may begin; return its triples and the next line.

        The triples are None if no end is found within the next 1000 lines.
        """
        for end in range(start + 1, min(len(lines), start + _MAX_NEW_LINES)):
            if lines[end - 1].rstrip(_WHITE_SPACE).endswith(".") and (
                not lines[end].strip(_WHITE_SPACE) or _SUBJECT.match(lines[end])
            ):
                statement_lines = lines[start:end]
                if (
                    "\n".join(statement_lines).count('"""') % 2 == 0
                    and (quads := self._parse_quads(statement_lines)) is not None
                ):
                    return quads, end
        return None, start


def _collect_blank_nodes(values: Values, blank_nodes: dict[str, Values]) -> dict[str, Values]:
    """Return the blank nodes that the values refer to, directly or indirectly."""
    nodes: dict[str, Values] = {}
    queue = [values]
    for current in queue:
        for name in (value for objects in current.values() for value in objects if type(value) is BlankNodeId):
            if name in blank_nodes and name not in nodes:
                nodes[name] = blank_nodes[name]
                queue.append(blank_nodes[name])
    return nodes
