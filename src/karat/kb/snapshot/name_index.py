"""The name index of a snapshot: exact, prefix and one-typo search for entities by name, in files on disk."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat.storage.mapped_strings import MappedNumbers, MappedStrings

NAME_INDEX_FOLDER = "names"
"""Folder of the name index in a snapshot."""

FIRST_OTHER_ID = 1 << 31
"""Entity codes below this are numbers of Wikidata items; codes from it on index the other ids."""

ROWS_PER_SPAN = 256
"""Number of rows of a span, for which the highest count is stored."""

_AFTER_LAST_CHARACTER = b"\xff"  # sorts after every UTF-8 character


class NameMatch(NamedTuple):
    """An entity with a name that matches a query."""

    id: str
    """Id of the entity."""
    surface: str
    """Matching name."""
    weight: int
    """Number of anchors with this name, or of links to the entity."""


def fold_text(text: str) -> str:
    """Return a text in lower case and without diacritics, by which names are sorted and searched."""
    if text.isascii():
        return text.lower()
    base = "".join(
        character for character in unicodedata.normalize("NFKD", text) if not unicodedata.combining(character)
    )
    return base.casefold()


class _FoldedNames(Sequence[bytes]):
    """The names without case and diacritics, computed on access."""

    def __init__(self, surfaces: MappedStrings) -> None:
        self._surfaces = surfaces

    def __len__(self) -> int:
        return len(self._surfaces)

    def __getitem__(self, index: Any) -> Any:  # noqa: ANN401  # only integers are used
        surface = self._surfaces[index]
        return surface.lower() if surface.isascii() else fold_text(surface.decode()).encode()


class _ReversedNames(Sequence[bytes]):
    """The folded names with their characters reversed, in the sort order of the reversed names."""

    def __init__(self, keys: _FoldedNames, order: NDArray[np.uint32]) -> None:
        self._keys, self._order = keys, order

    def __len__(self) -> int:
        return len(self._order)

    def __getitem__(self, index: Any) -> Any:  # noqa: ANN401  # only integers are used
        return reverse_key(self._keys[int(self._order[index])])


def reverse_key(key: bytes) -> bytes:
    """Return a UTF-8 key with its characters reversed."""
    return key[::-1] if key.isascii() else key.decode()[::-1].encode()


def is_name_index(folder: Path) -> bool:
    """Return whether a folder holds a complete name index; older versions of Karat wrote fewer files."""
    return (folder / "backwards").is_file()


class NameIndex:
    """The names of a snapshot, sorted without case and diacritics; files are memory-mapped and read on demand.

    Each row is a name of one entity with a weight. Its key is the folded name.
    """

    def __init__(self, folder: Path) -> None:
        self._surfaces, self._ids = (MappedStrings(folder / name) for name in ("surfaces", "ids"))
        numbers = (MappedNumbers(folder / name, "uint32").array for name in ("entity", "count", "tops", "backwards"))
        self._entity, self._count, self._span_maxima, order = numbers
        self._keys = _FoldedNames(self._surfaces)
        self._order = order
        self._reversed_keys = _ReversedNames(self._keys, order)

    def __len__(self) -> int:
        return len(self._keys)

    def find_exact(self, surface: str, limit: int | None = None) -> list[NameMatch]:
        """Return the entities with exactly this name, highest weight first; all if `limit` is None."""
        name_bytes = surface.encode()
        low, high = self._find_rows(fold_text(surface).encode())
        low = bisect_left(self._surfaces, name_bytes, low, high)
        high = bisect_left(self._surfaces, name_bytes + b"\0", low, high)
        return self._rank_rows(np.arange(low, high), high - low if limit is None else limit)

    def find_equal(self, text: str, limit: int = 10) -> list[NameMatch]:
        """Return at most `limit` entities with the name `text`, highest weight first.

        Case and diacritics are ignored.
        """
        low, high = self._find_rows(fold_text(text).encode())
        return self._rank_rows(self._select_top_rows(low, high, _count_rows_to_read(limit)), limit)

    def find_by_prefix(self, text: str, limit: int = 10) -> list[NameMatch]:
        """Return at most `limit` entities with a name that starts with `text`, highest weight first.

        Case and diacritics are ignored.
        """
        return self._rank_rows(
            self._select_top_rows(
                *_find_prefix_range(self._keys, fold_text(text).encode()), _count_rows_to_read(limit)
            ),
            limit,
        )

    def find_by_last_words(self, text: str, limit: int = 10) -> list[NameMatch]:
        """Return at most `limit` entities with a name whose last words are `text`, such as a surname.

        The highest weight comes first. Case and diacritics are ignored.
        """
        low, high = _find_prefix_range(self._reversed_keys, reverse_key(f" {fold_text(text)}".encode()))
        return self._rank_rows(np.sort(self._order[low:high].astype(np.int64)), limit)

    def find_similar(self, text: str, limit: int = 10) -> list[NameMatch]:
        """Return at most `limit` entities with a name at most one typo from `text`, highest weight first.

        A typo is an inserted, missing or wrong letter, or two exchanged letters. Case and diacritics are ignored. A
        text of one letter is matched without typos.
        """
        key = fold_text(text)
        ranges = (self._find_rows(similar_key.encode()) for similar_key in {*self._iterate_typos(key)})
        rows = [self._select_top_rows(low, high, _count_rows_to_read(limit)) for low, high in ranges if low < high]
        return self._rank_rows(np.sort(np.concatenate(rows)) if rows else np.arange(0), limit)

    def _iterate_typos(self, key: str) -> Iterator[str]:
        """Yield the key and the keys one typo away that may exist.

        A typo in one half leaves the other half intact, which limits the search.
        """
        yield key
        if len(key) < 2:
            return
        for position in range(len(key)):
            yield key[:position] + key[position + 1 :]
            yield key[:position] + key[position : position + 2][::-1] + key[position + 2 :]
        half = len(key) // 2
        yield from _iterate_letter_changes(self._keys, key, half)
        yield from (
            reversed_key[::-1]
            for reversed_key in _iterate_letter_changes(self._reversed_keys, key[::-1], len(key) - half)
        )

    def _find_rows(self, key: bytes) -> tuple[int, int]:
        """Return the range of rows (first, after the last) with exactly this key; the range is usually short."""
        low, n_rows, step = bisect_left(self._keys, key), len(self._keys), 1
        while low + step < n_rows and self._keys[low + step] == key:
            step *= 2
        return low, bisect_left(self._keys, key + b"\0", low + step // 2, min(low + step, n_rows))

    def _select_top_rows(self, low: int, high: int, n_rows: int) -> NDArray[np.int64]:
        """Return rows from `low` to before `high` that include those with the `n_rows` highest counts, and others.

        In a long range, only the spans of rows with the highest maxima are returned, and the rows at both ends.
        """
        if high - low <= n_rows * ROWS_PER_SPAN:
            return np.arange(low, high)
        first, last = -(-low // ROWS_PER_SPAN), high // ROWS_PER_SPAN
        maxima = self._span_maxima[first:last]
        spans = first + _find_largest(maxima, n_rows)
        inside = (spans[:, None] * ROWS_PER_SPAN + np.arange(ROWS_PER_SPAN)).ravel()
        return np.concatenate(
            [np.arange(low, first * ROWS_PER_SPAN), np.sort(inside), np.arange(last * ROWS_PER_SPAN, high)]
        )

    def _rank_rows(self, rows: NDArray[np.int64], limit: int) -> list[NameMatch]:
        """Return at most `limit` matches in some rows, highest count first, each entity once with its best name."""
        rows = rows[_find_largest(self._count[rows], _count_rows_to_read(limit))]
        count = self._count[rows]
        matches: dict[str, NameMatch] = {}
        for position in np.lexsort((rows, -count.astype(np.int64))).tolist():
            row = int(rows[position])
            id = self._get_entity_id(int(self._entity[row]))
            matches.setdefault(id, NameMatch(id, self._surfaces[row].decode(), int(count[position])))
        return list(matches.values())[:limit]

    def _get_entity_id(self, entity: int) -> str:
        """Return the id of an entity code: a Wikidata item below `FIRST_OTHER_ID`, else a stored id."""
        return f"Q{entity}" if entity < FIRST_OTHER_ID else self._ids[entity - FIRST_OTHER_ID].decode()


def _count_rows_to_read(limit: int) -> int:
    """Return the number of rows to read to get `limit` entities, because an entity may match with several names."""
    return 4 * limit


def _find_largest(values: NDArray[Any], n_values: int) -> NDArray[np.int64]:
    """Return the indexes of the `n_values` largest values, unordered; all indexes if there are fewer values."""
    if len(values) <= n_values:
        return np.arange(len(values))
    return np.argpartition(values, len(values) - n_values)[len(values) - n_values :]


def _find_prefix_range(keys: Sequence[bytes], prefix: bytes) -> tuple[int, int]:
    """Return the range of rows (first, after the last) whose key starts with `prefix`; `keys` must be sorted."""
    low = bisect_left(keys, prefix)
    return low, bisect_left(keys, prefix + _AFTER_LAST_CHARACTER, low)


def _iterate_letter_changes(keys: Sequence[bytes], text: str, start_position: int) -> Iterator[str]:
    """Yield `text` with one letter inserted or replaced at or after `start_position`, if a key starts like it.

    Only letters that follow the unchanged first part of the text in some key are tried. `keys` must be sorted.
    """
    for position in range(start_position, len(text) + 1):
        start = text[:position]
        letters = _list_next_letters(keys, start.encode())
        if not letters:
            return
        for letter in letters:
            yield start + letter + text[position:]
            if position < len(text):
                yield start + letter + text[position + 1 :]


def _list_next_letters(keys: Sequence[bytes], prefix: bytes) -> list[str]:
    """Return the letters that follow `prefix` in any key; an empty one if a key equals `prefix`."""
    row, high = _find_prefix_range(keys, prefix)
    letters = []
    while row < high:
        rest = keys[row][len(prefix) :]
        letter = rest[: _utf8_width(rest[0])] if rest else b""
        letters.append(letter.decode())
        row = bisect_left(keys, prefix + (letter + _AFTER_LAST_CHARACTER if rest else b"\0"), row, high)
    return letters


def _utf8_width(first_byte: int) -> int:
    """Return the number of bytes of the UTF-8 character that starts with this byte."""
    return 1 if first_byte < 0x80 else 2 if first_byte < 0xE0 else 3 if first_byte < 0xF0 else 4
