"""Entities by name: an index on the disk that answers letter by letter, by beginnings, and in spite of a slip."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat.storage.strings import MappedNumbers, MappedStrings

NAMES = "names"
"""The folder of the index in a pack."""

NUMBERED = 1 << 31
"""Below it stands the number of an item of Wikidata; from it on, which of the other ids it is."""

SPAN = 256
"""Rows of which the highest count is kept."""

_END = b"\xff"  # comes after every character of UTF-8


class Named(NamedTuple):
    """An entity that a surface stands for, and how much speaks for it: counts, or links to the entity."""

    id: str
    surface: str
    weight: int


def folded(text: str) -> str:
    """A text as people type it: without marks and case."""
    if text.isascii():
        return text.lower()
    plain = "".join(sign for sign in unicodedata.normalize("NFKD", text) if not unicodedata.combining(sign))
    return plain.casefold()


class _Keys(Sequence[bytes]):
    """The surfaces as people type them; made when they are looked at, so that they need no place of their own."""

    def __init__(self, surfaces: MappedStrings) -> None:
        self._surfaces = surfaces

    def __len__(self) -> int:
        return len(self._surfaces)

    def __getitem__(self, place: Any) -> Any:  # noqa: ANN401  # a number is all that is asked for
        found = self._surfaces[place]
        return found.lower() if found.isascii() else folded(found.decode()).encode()


class _Backwards(Sequence[bytes]):
    """The same from their ends, in an order of their own."""

    def __init__(self, keys: _Keys, order: NDArray[np.uint32]) -> None:
        self._keys, self._order = keys, order

    def __len__(self) -> int:
        return len(self._order)

    def __getitem__(self, place: Any) -> Any:  # noqa: ANN401  # a number is all that is asked for
        return backwards(self._keys[int(self._order[place])])


def backwards(key: bytes) -> bytes:
    """A key from its end, letter by letter."""
    return key[::-1] if key.isascii() else key.decode()[::-1].encode()


def is_index(folder: Path) -> bool:
    """Whether a folder holds an index with all that is asked of it; one of an older Karat may lack something."""
    return (folder / "backwards").is_file()


class NameIndex:
    """The names of a pack, sorted as people type them; nothing is read before it is asked for."""

    def __init__(self, folder: Path) -> None:
        self._surfaces, self._ids = (MappedStrings(folder / name) for name in ("surfaces", "ids"))
        numbers = (MappedNumbers(folder / name, "uint32").array for name in ("entity", "count", "tops", "backwards"))
        self._entity, self._count, self._tops, order = numbers
        self._keys = _Keys(self._surfaces)
        self._backwards = _Backwards(self._keys, order)

    def __len__(self) -> int:
        return len(self._keys)

    def exact(self, surface: str, limit: int | None = None) -> list[Named]:
        """The entities that a surface stands for, letter by letter, most counted first."""
        own = surface.encode()
        low, high = self._same(folded(surface).encode())
        low = bisect_left(self._surfaces, own, low, high)
        high = bisect_left(self._surfaces, own + b"\0", low, high)
        return self._best(np.arange(low, high), high - low if limit is None else limit)

    def beginning(self, text: str, limit: int = 10) -> list[Named]:
        """The entities with a name that begins so, whatever its case and marks."""
        return self._best(self._highest(*_range(self._keys, folded(text).encode()), _several(limit)), limit)

    def near(self, text: str, limit: int = 10) -> list[Named]:
        """The entities with a name that is so but for one slip: a letter more, less, another, or two exchanged.

        Of a single letter nothing would be left; it is looked for as it is.
        """
        key = folded(text)
        ranges = (self._same(each.encode()) for each in {*self._slips(key)})
        rows = [self._highest(low, high, _several(limit)) for low, high in ranges if low < high]
        return self._best(np.sort(np.concatenate(rows)) if rows else np.arange(0), limit)

    def _slips(self, key: str) -> Iterator[str]:
        """Keys that are one slip away; a slip in one half leaves the other half as it is, by which few are left."""
        yield key
        if len(key) < 2:
            return
        for place in range(len(key)):
            yield key[:place] + key[place + 1 :]
            yield key[:place] + key[place : place + 2][::-1] + key[place + 2 :]
        half = len(key) // 2
        yield from _other_letters(self._keys, key, half)
        yield from (found[::-1] for found in _other_letters(self._backwards, key[::-1], len(key) - half))

    def _same(self, key: bytes) -> tuple[int, int]:
        """The rows with a key: few as a rule, so that their end is looked for close by."""
        low, many, step = bisect_left(self._keys, key), len(self._keys), 1
        while low + step < many and self._keys[low + step] == key:
            step *= 2
        return low, bisect_left(self._keys, key + b"\0", low + step // 2, min(low + step, many))

    def _highest(self, low: int, high: int, most: int) -> NDArray[np.int64]:
        """Rows between two, among which are those with the highest counts: few of many spans can have them."""
        if high - low <= most * SPAN:
            return np.arange(low, high)
        first, last = -(-low // SPAN), high // SPAN
        tops = self._tops[first:last]
        spans = first + _largest(tops, most)
        inside = (spans[:, None] * SPAN + np.arange(SPAN)).ravel()
        return np.concatenate([np.arange(low, first * SPAN), np.sort(inside), np.arange(last * SPAN, high)])

    def _best(self, rows: NDArray[np.int64], limit: int) -> list[Named]:
        """What stands in some rows, most counted first, each entity once."""
        rows = rows[_largest(self._count[rows], _several(limit))]
        count = self._count[rows]
        found: dict[str, Named] = {}
        for place in np.lexsort((rows, -count.astype(np.int64))).tolist():
            row = int(rows[place])
            id = self._id(int(self._entity[row]))
            found.setdefault(id, Named(id, self._surfaces[row].decode(), int(count[place])))
        return list(found.values())[:limit]

    def _id(self, entity: int) -> str:
        return f"Q{entity}" if entity < NUMBERED else self._ids[entity - NUMBERED].decode()


def _several(limit: int) -> int:
    """Rows that are looked at for some entities, of which each may have several names."""
    return 4 * limit


def _largest(values: NDArray[Any], most: int) -> NDArray[np.int64]:
    """Where the largest of some values stand, in no order."""
    if len(values) <= most:
        return np.arange(len(values))
    return np.argpartition(values, len(values) - most)[len(values) - most :]


def _range(keys: Sequence[bytes], start: bytes) -> tuple[int, int]:
    """The rows of which the key begins so."""
    low = bisect_left(keys, start)
    return low, bisect_left(keys, start + _END, low)


def _other_letters(keys: Sequence[bytes], text: str, first: int) -> Iterator[str]:
    """The text with a letter more or another one from some place on, as far as some key begins like it."""
    for place in range(first, len(text) + 1):
        start = text[:place]
        letters = _next_letters(keys, start.encode())
        if not letters:
            return
        for letter in letters:
            yield start + letter + text[place:]
            if place < len(text):
                yield start + letter + text[place + 1 :]


def _next_letters(keys: Sequence[bytes], start: bytes) -> list[str]:
    """The letters that follow a beginning in any key; an empty one where a key ends there."""
    row, high = _range(keys, start)
    letters = []
    while row < high:
        rest = keys[row][len(start) :]
        letter = rest[: _width(rest[0])] if rest else b""
        letters.append(letter.decode())
        row = bisect_left(keys, start + (letter + _END if rest else b"\0"), row, high)
    return letters


def _width(first: int) -> int:
    """How many bytes a character has that begins with this one."""
    return 1 if first < 0x80 else 2 if first < 0xE0 else 3 if first < 0xF0 else 4
