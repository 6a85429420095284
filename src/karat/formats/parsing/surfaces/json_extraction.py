"""Extraction of JSON from the output of a language model: within prose, in Markdown fences, or truncated."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from karat.model.json.decoder import find_json_prefix

_THOUGHT = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"```[^\n`]*\n(.*?)(?:```|\Z)", re.DOTALL)
_OPENING = re.compile(r"[\[{]")
_SEPARATORS = re.compile(r"[\s,]*")
_MAX_FAILURES = 2000


class JsonValue(NamedTuple):
    """A JSON array or object in the output of a model."""

    value: object
    """The decoded value."""
    is_complete: bool = True
    """False for a list that is truncated or invalid in the middle."""


def extract_json(output: str) -> list[JsonValue]:
    """Return the JSON arrays and objects in a model's output, in order: those in Markdown fences, or else all.

    The model's reasoning, in a tag such as `<think>`, is ignored. A truncated list has its complete objects only.
    """
    without_thoughts = _THOUGHT.sub(" ", output)
    fenced_values = [value for block in _FENCE.findall(without_thoughts) for value in _find_values(block)]
    return fenced_values or list(_find_values(without_thoughts))


def _find_values(text: str) -> Iterator[JsonValue]:
    """Yield the outermost JSON arrays and objects in a text; of an invalid array, the objects before the error."""
    offset = failures = 0
    while (opening := _OPENING.search(text, offset)) and failures < _MAX_FAILURES:
        offset = opening.start()
        if decoded := find_json_prefix(text, offset):
            value, offset = decoded
            yield JsonValue(value)
        else:
            failures += 1
            partial = _parse_members(text, offset + 1) if text[offset] == "[" else _PartialList([], offset + 1, False)
            if partial.members:
                yield JsonValue(partial.members, partial.is_closed)
            offset = max(partial.end, offset + 1)


class _PartialList(NamedTuple):
    """The complete members of an invalid list, the offset behind them, and whether a `]` follows."""

    members: list[object]
    end: int
    is_closed: bool


def _parse_members(text: str, offset: int) -> _PartialList:
    """Parse the complete objects at the beginning of an invalid list, from `offset` on; extra commas are ignored."""
    members: list[object] = []
    while True:
        offset = _SEPARATORS.match(text, offset).end()  # type: ignore[union-attr]  # it also matches the empty string
        is_closed = text[offset : offset + 1] == "]"
        if text[offset : offset + 1] != "{":
            return _PartialList(members, offset + is_closed, is_closed)
        decoded = find_json_prefix(text, offset)
        if decoded is None:
            return _PartialList(members, offset, False)
        value, offset = decoded
        members.append(value)
