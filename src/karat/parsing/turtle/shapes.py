"""Statements that differ in nothing but addresses, literals and numbers: read by their shape.

A shape is learnt from a statement whose like was often seen. The parser gets it once, with a mark in each place that
may differ, and says which mark is the object of which predicate. Other statements of the shape are then found by a
regular expression: a token stands where another of its kind stood, so that the parser would say the same of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Generator
from typing import Any, NamedTuple, TypeAlias
from uuid import uuid4

from karat.parsing.turtle.triples import Gathering, Values

_ADDRESS = r'<([^\x00-\x20<>"{}|^`\\]*+)>'
_LITERAL = r'"([^"\\\x00-\x1f\x7f]*+(?:\\[tbnrf"\'\\][^"\\\x00-\x1f\x7f]*+)*+)"'
_NUMBER = r"([0-9]++)(?=[ \t\r\n])"
_KINDS = {"<": _ADDRESS, '"': _LITERAL, "0": _NUMBER}
"""The tokens that may differ, by what they begin with; whatever has to be looked at more closely is none."""

_TOKEN = re.compile(rf"(?<!\^\^){_ADDRESS}|{_LITERAL}|(?<=[ \t]){_NUMBER}")
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}
_BLANK = " \t\r\n"
_MOST = 60  # shapes
_OFTEN = 20  # statements of a kind, before it is worth the while to learn its shape
_PATIENCE = 500  # statements without a shape, beyond those that have one

Parsed: TypeAlias = Callable[[list[str]], "list[Any] | None"]
"""The triples of some lines; None where these are not complete."""


class _Group(NamedTuple):
    """The token that is said in this place."""

    number: int


class _Shape:
    """What finds statements of a shape, and what they say; and the shape that came behind it the last time."""

    def __init__(
        self, pattern: str, said: dict[str, list[str | _Group]], groups: int, skip: frozenset[str] = frozenset()
    ) -> None:
        self.match = re.compile(pattern).match
        self.then = self
        owner = {part.number: name for name, parts in said.items() for part in parts if type(part) is _Group}
        self._owners = tuple(owner[number] for number in range(1, groups))
        self._skipped = tuple(skip & said.keys())
        self._said: Values = {name: tuple(part for part in parts if type(part) is str) for name, parts in said.items()}
        self._several = tuple(
            (name, parts) for name, parts in said.items() if name in owner.values() and len(parts) > 1
        )

    def values(self, tokens: tuple[str, ...]) -> Values:
        """What a statement with these tokens says."""
        values = self._said.copy()
        values.update(zip(self._owners, zip(tokens[1:], strict=False), strict=False))
        for name, parts in self._several:
            values[name] = tuple(tokens[part.number] if type(part) is _Group else str(part) for part in parts)
        for name in self._skipped:
            del values[name]
        return values


class Shapes:
    """The shapes of a file, under the prefixes that the parser knows."""

    def __init__(self, parsed: Parsed, state: Gathering) -> None:
        self._parsed = parsed
        self._state = state
        self._shapes: list[_Shape] = []
        self._last = _Shape("(?!)", {}, 0)  # before the first one
        self._seen: Counter[str] = Counter()  # by what does not differ
        self._shapeless: set[str] = set()
        self._found = self._odd = 0

    def statements(self, text: str, place: int) -> Generator[tuple[str, Values], None, int]:
        """The resources of statements that have a shape, beginning at some place; returns where they end."""
        state, last = self._state, self._last
        subject, values = state.subject, state.values
        while True:
            shape = last.then
            found = shape.match(text, place)
            if found is None:
                shape, found = self._find(text, place, shape)
                if found is None:
                    break
                last.then = shape
            tokens, begin, place = found.groups(), place, found.end()
            if text.find("\\", begin, place) >= 0:
                tokens = tuple(_ESCAPE.sub(_character, token) for token in tokens)
            said = shape.values(tokens)
            if tokens[0] != subject:
                if subject is not None:
                    yield subject, values
                subject, values = tokens[0], said
            else:
                state.subject, state.values = subject, values
                yield from state.join(tokens[0], said.items())
                values = state.values
            last = shape
            self._found += 1
        self._last, state.subject, state.values = last, subject, values
        return place

    def _find(self, text: str, place: int, shape: _Shape) -> tuple[_Shape, re.Match[str] | None]:
        """The shape of a statement; if there is none, the one that was given."""
        for known in self._shapes:
            if found := known.match(text, place):
                return known, found
        return shape, None

    def next(self, text: str, begin: int) -> int:
        """Where, behind a place, a statement may begin that has a shape; what stands before it has to be parsed."""
        place = begin
        while True:
            after = text.find("\n<", place) + 1 or len(text)
            if self._odd > self._found + _PATIENCE:
                return len(text)
            if text.startswith("<", place):
                self._odd += 1
                if self._learn(text[place:after].strip(_BLANK)):
                    return place
            if after == len(text) or self._find(text, after, self._last)[1]:
                return after
            place = after

    def _learn(self, statement: str) -> bool:
        """Find out which shape a statement has, if it is one of many of its kind."""
        likes = _TOKEN.sub(_kind, statement)
        if len(self._seen) > _PATIENCE:
            self._seen.clear()  # hardly any comes again
        self._seen[likes] += 1
        if self._seen[likes] <= _OFTEN or likes in self._shapeless or len(self._shapes) >= _MOST:
            return False
        shape = self._shape(statement) if statement.endswith(".") else None
        if shape is None:
            self._shapeless.add(likes)
            return False
        self._shapes.append(shape)
        return True

    def _shape(self, statement: str) -> _Shape | None:
        constant: frozenset[int] = frozenset()
        for _ in range(2):  # the second time with addresses of predicates as they are
            marks, pattern, marked = _marked(statement, constant)
            quads = self._parsed(marked.split("\n"))
            subject = next(iter(marks), None)
            if quads is None or any(quad.subject.value != subject for quad in quads):
                return None
            predicates = {quad.predicate.value for quad in quads} & marks.keys()
            if not predicates:
                return self._made(quads, list(marks), pattern)
            constant = frozenset(marks[mark] for mark in predicates)
        return None

    def _made(self, quads: list[Any], marks: list[str], pattern: str) -> _Shape | None:
        from pyoxigraph import BlankNode

        numbers = {mark: number for number, mark in enumerate(marks)}
        said: dict[str, list[str | _Group]] = {}
        for quad in quads:
            if type(quad.object) is BlankNode:
                return None
            value = quad.object.value
            said.setdefault(quad.predicate.value, []).append(_Group(numbers[value]) if value in numbers else value)
        grouped = [part.number for parts in said.values() for part in parts if type(part) is _Group]
        twice = any(len(said.get(name, ())) > 1 for name in self._state.once)
        if twice or sorted(grouped) != list(range(1, len(marks))) or said.keys() <= self._state.skip:
            return None
        return _Shape(pattern, said, len(marks), self._state.skip)


def _kind(token: re.Match[str]) -> str:
    return f"\0{token[0][0] if token[0][0] in _KINDS else '0'}"


def _marked(statement: str, constant: frozenset[int]) -> tuple[dict[str, int], str, str]:
    """The marks, each with which token it stands for, a pattern with groups for these, and the statement with marks."""
    marks: dict[str, int] = {}
    unique = uuid4().int
    pattern, marked, place = "", "", 0
    for number, token in enumerate(_TOKEN.finditer(statement)):
        if number in constant:
            continue
        between, kind = statement[place : token.start()], _kind(token)[1]
        mark = str(unique + len(marks))
        marks[mark] = number
        pattern += re.escape(between) + _KINDS[kind]
        marked += between + {"<": f"<{mark}>", '"': f'"{mark}"', "0": mark}[kind]
        place = token.end()
    rest = statement[place:]
    return marks, rf"{pattern}{re.escape(rest)}(?:[ \t\r\n]++|\Z)", marked + rest


def _character(found: re.Match[str]) -> str:
    return _ESCAPED.get(found[1], found[1])
