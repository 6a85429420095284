"""Statements that differ only in IRIs, literals and numbers, read by patterns.

A pattern is learnt from a statement of a frequent template. The parser gets the statement once, with a mark in place of
each variable token, and shows which mark is the object of which predicate. A regular expression then finds other
statements of the pattern. Their tokens are of the same kinds, so the parser would return the same triples.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Generator
from typing import Any, NamedTuple, TypeAlias
from uuid import uuid4

from karat.formats.parsing.turtle.triples import ResourceBuilder, Values

_ADDRESS = r'<([^\x00-\x20<>"{}|^`\\]*+)>'
_LITERAL = r'"([^"\\\x00-\x1f\x7f]*+(?:\\[tbnrf"\'\\][^"\\\x00-\x1f\x7f]*+)*+)"'
_NUMBER = r"([0-9]++)(?=[ \t\r\n])"
_TOKEN_PATTERNS = {"<": _ADDRESS, '"': _LITERAL, "0": _NUMBER}
"""Patterns of variable tokens, by their first character; tokens that need the parser are excluded."""

# No token begins with an escaped quotation mark, so that a literal without end is tried once.
_TOKEN = re.compile(rf"(?<!\^\^){_ADDRESS}|(?<!\\){_LITERAL}|(?<=[ \t]){_NUMBER}")
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED_CHARACTERS = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}
_WHITE_SPACE = " \t\r\n"
_MAX_PATTERNS = 60  # patterns
_MIN_FREQUENCY = 20  # statements of a template before its pattern is worth learning
_MAX_UNMATCHED = 500  # statements without a pattern, beyond those with one

ParseLines: TypeAlias = Callable[[list[str]], "list[Any] | None"]
"""Parser of lines to triples; None if the lines are incomplete."""


class _TokenGroup(NamedTuple):
    """The number of a token of the statement, whose value takes this position among the values of a predicate."""

    number: int


class _StatementPattern:
    """A regular expression for statements of one form, and the predicates to which its tokens belong.

    `successor` is the pattern that followed last time, which is tried first.
    """

    def __init__(
        self,
        pattern: str,
        parts_by_predicate: dict[str, list[str | _TokenGroup]],
        n_groups: int,
        skipped_predicates: frozenset[str] = frozenset(),
    ) -> None:
        self.match = re.compile(pattern).match
        self.successor = self
        owner = {
            part.number: name
            for name, parts in parts_by_predicate.items()
            for part in parts
            if type(part) is _TokenGroup
        }
        self._owners = tuple(owner[number] for number in range(1, n_groups))
        self._skipped_predicates = tuple(skipped_predicates & parts_by_predicate.keys())
        self._constants: Values = {
            name: tuple(part for part in parts if type(part) is str) for name, parts in parts_by_predicate.items()
        }
        self._multivalued = tuple(
            (name, parts) for name, parts in parts_by_predicate.items() if name in owner.values() and len(parts) > 1
        )

    def get_values(self, tokens: tuple[str, ...]) -> Values:
        """Return the values by predicate of a statement with these tokens; the first token is the subject."""
        values = self._constants.copy()
        values.update(zip(self._owners, zip(tokens[1:], strict=False), strict=False))
        for name, parts in self._multivalued:
            values[name] = tuple(tokens[part.number] if type(part) is _TokenGroup else str(part) for part in parts)
        for name in self._skipped_predicates:
            del values[name]
        return values


class PatternReader:
    """The patterns learnt from a file so far; they are valid under the prefixes that `parse` uses."""

    def __init__(self, parse: ParseLines, state: ResourceBuilder) -> None:
        self._parse = parse
        self._state = state
        self._patterns: list[_StatementPattern] = []
        self._last_pattern = _StatementPattern("(?!)", {}, 0)  # before the first match
        self._template_counts: Counter[str] = Counter()  # by template
        self._rejected_templates: set[str] = set()
        self._n_matched = self._n_unmatched = 0

    def read_statements(self, text: str, offset: int) -> Generator[tuple[str, Values], None, int]:
        """Yield the resources of statements that match a pattern, from `offset` on; return where they end."""
        state, previous = self._state, self._last_pattern
        subject, values = state.subject, state.values
        while True:
            pattern = previous.successor
            match = pattern.match(text, offset)
            if match is None:
                pattern, match = self._find_pattern(text, offset, pattern)
                if match is None:
                    break
                previous.successor = pattern
            tokens, start, offset = match.groups(), offset, match.end()
            if text.find("\\", start, offset) >= 0:
                tokens = tuple(
                    _ESCAPE.sub(lambda match: _ESCAPED_CHARACTERS.get(match[1], match[1]), token) for token in tokens
                )
            new_values = pattern.get_values(tokens)
            if tokens[0] != subject:
                if subject is not None:
                    yield subject, values
                subject, values = tokens[0], new_values
            else:
                state.subject, state.values = subject, values
                yield from state.add_statement(tokens[0], new_values.items())
                values = state.values
            previous = pattern
            self._n_matched += 1
        self._last_pattern, state.subject, state.values = previous, subject, values
        return offset

    def _find_pattern(
        self, text: str, offset: int, default: _StatementPattern
    ) -> tuple[_StatementPattern, re.Match[str] | None]:
        """Return the first pattern that matches at `offset` with its match, or `default` and None."""
        for pattern in self._patterns:
            if match := pattern.match(text, offset):
                return pattern, match
        return default, None

    def find_next_statement(self, text: str, start: int) -> int:
        """Return the offset, from `start` on, at which a statement may begin that a known pattern can read.

        A general parser must read the text before it. The statements on the way are counted, and patterns are made for
        forms that are frequent.
        """
        offset = start
        while True:
            next_offset = text.find("\n<", offset) + 1 or len(text)
            if self._n_unmatched > self._n_matched + _MAX_UNMATCHED:
                return len(text)
            if text.startswith("<", offset):
                self._n_unmatched += 1
                if self._learn_pattern(text[offset:next_offset].strip(_WHITE_SPACE)):
                    return offset
            if next_offset == len(text) or self._find_pattern(text, next_offset, self._last_pattern)[1]:
                return next_offset
            offset = next_offset

    def _learn_pattern(self, statement: str) -> bool:
        """Count the template of a statement (without its variable tokens); learn the pattern of a frequent template.

        Return whether a pattern was learnt.
        """
        template = _TOKEN.sub(_get_kind, statement)
        if len(self._template_counts) > _MAX_UNMATCHED:
            self._template_counts.clear()  # hardly any occurs again
        self._template_counts[template] += 1
        if (
            self._template_counts[template] <= _MIN_FREQUENCY
            or template in self._rejected_templates
            or len(self._patterns) >= _MAX_PATTERNS
        ):
            return False
        pattern = self._derive_pattern(statement) if statement.endswith(".") else None
        if pattern is None:
            self._rejected_templates.add(template)
            return False
        self._patterns.append(pattern)
        return True

    def _derive_pattern(self, statement: str) -> _StatementPattern | None:
        """Derive a pattern from a statement by parsing the statement with marks for its tokens.

        Return None if parsing fails.
        """
        constant_tokens: frozenset[int] = frozenset()
        for _ in range(2):  # the second time with IRIs of predicates unchanged
            marks, pattern, marked_statement = _insert_marks(statement, constant_tokens)
            quads = self._parse(marked_statement.split("\n"))
            subject = next(iter(marks), None)
            if quads is None or any(quad.subject.value != subject for quad in quads):
                return None
            predicates = {quad.predicate.value for quad in quads} & marks.keys()
            if not predicates:
                return self._build_pattern(quads, list(marks), pattern)
            constant_tokens = frozenset(marks[mark] for mark in predicates)
        return None

    def _build_pattern(self, quads: list[Any], marks: list[str], pattern: str) -> _StatementPattern | None:
        """Build a pattern from the triples of a marked statement; return None if it has blank nodes or unclear tokens.

        The first of `marks` is the subject.
        """
        from pyoxigraph import BlankNode

        numbers = {mark: number for number, mark in enumerate(marks)}
        parts_by_predicate: dict[str, list[str | _TokenGroup]] = {}
        for quad in quads:
            if type(quad.object) is BlankNode:
                return None
            value = quad.object.value
            parts_by_predicate.setdefault(quad.predicate.value, []).append(
                _TokenGroup(numbers[value]) if value in numbers else value
            )
        group_numbers = [
            part.number for parts in parts_by_predicate.values() for part in parts if type(part) is _TokenGroup
        ]
        has_repeated = any(len(parts_by_predicate.get(name, ())) > 1 for name in self._state.single_valued)
        if (
            has_repeated
            or sorted(group_numbers) != list(range(1, len(marks)))
            or parts_by_predicate.keys() <= self._state.skipped_predicates
        ):
            return None
        return _StatementPattern(pattern, parts_by_predicate, len(marks), self._state.skipped_predicates)


def _get_kind(token: re.Match[str]) -> str:
    """Return the placeholder of a token in a template, by its kind: IRI, literal or number."""
    return f"\0{token[0][0] if token[0][0] in _TOKEN_PATTERNS else '0'}"


def _insert_marks(statement: str, constant_tokens: frozenset[int]) -> tuple[dict[str, int], str, str]:
    """Replace variable tokens (IRIs, literals, numbers) of a statement by unique marks, except `constant_tokens`.

    `constant_tokens` are numbers of tokens. Return the token number of each mark, a regular expression with a group per
    mark, and the statement with marks.
    """
    marks: dict[str, int] = {}
    unique = uuid4().int
    pattern, marked_statement, offset = "", "", 0
    for number, token in enumerate(_TOKEN.finditer(statement)):
        if number in constant_tokens:
            continue
        gap, kind = statement[offset : token.start()], _get_kind(token)[1]
        mark = str(unique + len(marks))
        marks[mark] = number
        pattern += re.escape(gap) + _TOKEN_PATTERNS[kind]
        marked_statement += gap + {"<": f"<{mark}>", '"': f'"{mark}"', "0": mark}[kind]
        offset = token.end()
    rest = statement[offset:]
    return marks, rf"{pattern}{re.escape(rest)}(?:[ \t\r\n]++|\Z)", marked_statement + rest
