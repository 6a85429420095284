"""JSON in what a language model wrote: between prose, in Markdown fences, or cut off at the end."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

_THOUGHT = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"```[^\n`]*\n(.*?)(?:```|\Z)", re.DOTALL)
_OPENS = re.compile(r"[\[{]")
_SKIPPED = re.compile(r"[\s,]*")
_TRIES = 2000
_decode = json.JSONDecoder().raw_decode


class Value(NamedTuple):
    """A value of JSON; of a list that breaks off, or is no JSON in the middle, it is not `whole`."""

    value: object
    whole: bool = True


def values_in(answer: str) -> list[Value]:
    """The JSON arrays and objects of an answer in their order: those in Markdown fences, or else all of them.

    What a model thinks aloud, in a tag for it, is no part of its answer.
    """
    said = _THOUGHT.sub(" ", answer)
    fenced = [value for block in _FENCE.findall(said) for value in _values(block)]
    return fenced or list(_values(said))


def _values(text: str) -> Iterator[Value]:
    place = tries = 0
    while (opens := _OPENS.search(text, place)) and tries < _TRIES:
        place = opens.start()
        try:
            value, place = _decode(text, place)
            yield Value(value)
        except (ValueError, RecursionError):
            tries += 1
            broken = _members(text, place + 1) if text[place] == "[" else _Broken([], place + 1, False)
            if broken.members:
                yield Value(broken.members, broken.closed)
            place = max(broken.end, place + 1)


class _Broken(NamedTuple):
    members: list[object]
    end: int
    closed: bool


def _members(text: str, place: int) -> _Broken:
    """The objects of a list that is no JSON, as far as they are whole; a comma too much is no harm."""
    found: list[object] = []
    while True:
        place = _SKIPPED.match(text, place).end()  # type: ignore[union-attr]  # it matches nothing too
        closed = text[place : place + 1] == "]"
        if text[place : place + 1] != "{":
            return _Broken(found, place + closed, closed)
        try:
            value, place = _decode(text, place)
        except (ValueError, RecursionError):
            return _Broken(found, place, False)
        found.append(value)
