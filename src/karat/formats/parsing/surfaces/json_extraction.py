"""Extraction of JSON from the output of a language model: within prose, in Markdown fences, or truncated."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from karat.model.json.decoder import find_json_prefix

_THOUGHT = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"```[^\n`\"]*\n(.*?)(?:```|\Z)", re.DOTALL)  # indented JSON has a quote behind fences in strings
_OPENING = re.compile(r"[\[{]")
_SEPARATORS = re.compile(r"(?:[\s,;…]|\.{3}|//[^\n]*|#[^\n]*|/\*.*?\*/)*", re.DOTALL)  # also comments
_NEXT_OBJECT = re.compile(r"\{[^][{}]*\}\s*,\s*(?=\{)")  # behind an object without lists and objects
_TRAILING_COMMA = re.compile(r'(?P<string>"(?:[^"\\\n]|\\.)*")|,(?=\s*\})')
_PYTHON_HINT = re.compile(r"[\[{(,:]\s*'|\b(?:None|True|False)\b")
_PYTHON_TOKEN = re.compile(r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"|[][{}()]")
_MAX_FAILURES = 2000
_MAX_PYTHON = 1_000_000  # characters of a literal of Python
_MAX_DEPTH = 20  # of brackets in such a literal; deeper ones are no answers, and searching them all would take long


class JsonValue(NamedTuple):
    """A JSON array or object in the output of a model."""

    value: object
    """The decoded value."""
    is_complete: bool = True
    """False for a list that is truncated or invalid in the middle."""
    n_invalid: int = 0
    """Number of members of a list that are invalid JSON, so that they are missing."""
    is_repaired: bool = False
    """Whether commas before a closing brace were ignored."""


def extract_json(output: str) -> list[JsonValue]:
    """Return the JSON arrays and objects in a model's output, in order: those in Markdown fences, or else all.

    The model's reasoning, in a tag such as `<think>`, is ignored. A truncated list has its complete objects only. An
    output that is one JSON string is read as the text in it. In an output that is one array or object, fences and tags
    are part of its strings.
    """
    stripped = output.strip()
    value, end = (find_json_prefix(stripped, 0) if stripped.startswith(("[", "{", '"')) else None) or (None, 0)
    if isinstance(value, str):
        output = value
    elif value is not None and end == len(stripped):
        return [JsonValue(value)]
    without_thoughts = _THOUGHT.sub(" ", output)
    fenced_values = [value for block in _FENCE.findall(without_thoughts) for value in _find_values(block)]
    return fenced_values or list(_find_values(without_thoughts))


def _find_values(text: str) -> Iterator[JsonValue]:
    """Yield the outermost JSON arrays and objects in a text; of an invalid array, the objects that can be decoded."""
    offset = failures = 0
    repaired_from: int | None = None  # where the text without commas before closing braces begins
    while (opening := _OPENING.search(text, offset)) and failures < _MAX_FAILURES:
        offset = opening.start()
        decoded = find_json_prefix(text, offset)
        if decoded is None and repaired_from is None:
            tail = _TRAILING_COMMA.sub(lambda match: match["string"] or "", text[offset:])
            repaired_from = offset if offset + len(tail) < len(text) else len(text) + 1
            text = text[:offset] + tail
            decoded = find_json_prefix(text, offset)
        decoded = decoded or _find_python_literal(text, offset)
        is_repaired = repaired_from is not None and offset >= repaired_from
        if decoded:
            value, offset = decoded
            yield JsonValue(value, is_repaired=is_repaired)
        else:
            failures += 1
            partial = _parse_members(text, offset + 1) if text[offset] == "[" else _PartialList([], offset + 1)
            if partial.members:
                yield JsonValue(partial.members, partial.is_closed, partial.n_invalid, is_repaired)
            offset = max(partial.end, offset + 1)


def _find_python_literal(text: str, offset: int) -> tuple[object, int] | None:
    """Decode the list or dictionary of Python that begins at `offset`; None if there is none that JSON could hold."""
    depth = 0
    for token in _PYTHON_TOKEN.finditer(text, offset, offset + _MAX_PYTHON):
        depth += (token[0] in "[{(") - (token[0] in "]})")
        if depth > _MAX_DEPTH:
            return None
        if depth == 0:
            literal = text[offset : token.end()]
            if _PYTHON_HINT.search(literal) is None:
                return None
            try:
                decoded = find_json_prefix(msgspec.json.encode(ast.literal_eval(literal)).decode(), 0)
            except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
                return None
            return None if decoded is None else (decoded[0], token.end())
    return None


class _PartialList(NamedTuple):
    """The objects of an invalid list that can be decoded, the offset behind them, and whether a `]` follows."""

    members: list[object]
    end: int
    is_closed: bool = False
    n_invalid: int = 0


def _parse_members(text: str, offset: int) -> _PartialList:
    """Parse the objects of an invalid list, from `offset` on, up to its end or the last one that can be decoded.

    Extra commas are ignored. An object that cannot be decoded is left out if another one follows it directly.
    """
    members: list[object] = []
    n_invalid = n_pending = 0  # pending: invalid objects behind the last one that can be decoded
    end = offset
    while n_invalid + n_pending < _MAX_FAILURES:
        offset = _SEPARATORS.match(text, offset).end()  # type: ignore[union-attr]  # it also matches the empty string
        is_closed = text[offset : offset + 1] == "]"
        if text[offset : offset + 1] != "{":
            return _PartialList(members, offset + is_closed if not n_pending else end, is_closed, n_invalid)
        decoded = find_json_prefix(text, offset) or _find_python_literal(text, offset)
        if decoded is not None:
            value, offset = decoded
            members.append(value)
            n_invalid, n_pending, end = n_invalid + n_pending, 0, offset
            continue
        following = _NEXT_OBJECT.match(text, offset)
        if following is None:
            break
        n_pending += 1
        offset = following.end()
    return _PartialList(members, end, False, n_invalid)
