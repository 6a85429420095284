"""Counts of what readers skip or repair, with the first locations of each.

A reader says with `locate_counts` which part of the file it reads; `isolate_defects` and `map_valid` do so as well.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import Any

_MAX_NAMED = 3
_KIND = re.compile("line |document |row |task |tweet ")
_LOCATION: ContextVar[str | None] = ContextVar("location", default=None)


def locate_counts(location: str | None) -> AbstractContextManager[None]:
    """Return a block in which what is counted is at `location` of the file."""
    return _LocatedBlock(location)


class _LocatedBlock:
    """A block that reads one location; a class, since it is faster than a generator and runs for each line."""

    __slots__ = ("_location", "_token")

    def __init__(self, location: str | None) -> None:
        self._location = location

    def __enter__(self) -> None:
        self._token = _LOCATION.set(self._location)

    def __exit__(self, *_: object) -> None:
        _LOCATION.reset(self._token)


class SkipCounter(Counter[str]):
    """Counts of what a reader skips or repairs, by description, with the locations at which each count grew."""

    def __init__(self, counts: Mapping[str, int] | None = None) -> None:
        self._locations: dict[str, tuple[str, ...]] = {}
        super().__init__(counts)

    def __setitem__(self, description: str, count: int) -> None:
        if count and (location := _LOCATION.get()) is not None and count > self.get(description, 0):
            self._add_locations(description, [location])
        super().__setitem__(description, count)

    def __reduce__(self) -> Any:  # noqa: ANN401  # as in Counter
        return _restore_counter, (dict(self), self._locations)

    def update(self, counts: Any = None, /, **more: int) -> None:  # noqa: ANN401  # as in Counter
        """Add other counts, at their locations if they have any, else at the location that is being read."""
        if not isinstance(counts, Mapping):
            super().update(counts, **more)
            return
        locations = get_locations(counts)
        for description, count in counts.items():
            if description in locations:
                self._add_locations(description, locations[description])
                super().__setitem__(description, self[description] + count)
            else:
                self[description] += count

    def add_items(self, description: str, documents: Sequence[int], locate: Callable[[int], str]) -> None:
        """Add one for each entry of `documents`, the index of the document concerned, which `locate` locates."""
        self[description] += len(documents)
        self._add_locations(description, map(locate, list(dict.fromkeys(documents))[: _MAX_NAMED + 1]))

    def _add_locations(self, description: str, locations: Iterable[str]) -> None:
        """Add locations of a description; those after the fourth, which shows that three are not all, are dropped."""
        distinct = dict.fromkeys((*self._locations.get(description, ()), *locations))
        if distinct:
            self._locations[description] = tuple(distinct)[: _MAX_NAMED + 1]

    @property
    def locations(self) -> Mapping[str, tuple[str, ...]]:
        """Up to four locations of each description that has any."""
        return self._locations


def _restore_counter(counts: Mapping[str, int], locations: Mapping[str, tuple[str, ...]]) -> SkipCounter:
    """Return the counter that was pickled."""
    counter = SkipCounter(counts)
    for description, items in locations.items():
        counter._add_locations(description, items)
    return counter


class LocatedCounts(dict[str, int]):
    """Counts by description, with the first locations of those that have any."""

    def __init__(self, counts: Mapping[str, int], locations: Mapping[str, tuple[str, ...]]) -> None:
        super().__init__(counts)
        self.locations = {description: items for description, items in locations.items() if description in self}

    def __reduce__(self) -> Any:  # noqa: ANN401  # as in dict
        return LocatedCounts, (dict(self), self.locations)


def get_locations(counts: Mapping[str, int]) -> Mapping[str, tuple[str, ...]]:
    """Return up to four locations of each count by description; empty if the counts have none."""
    return counts.locations if isinstance(counts, SkipCounter | LocatedCounts) else {}


def locate_positive(counts: Mapping[str, int], label: str) -> LocatedCounts:
    """Return the positive counts, with locations inside the file `label`, whose name may have a path."""
    locations = {
        description: tuple(_shorten_location(location, label) for location in items)
        for description, items in get_locations(counts).items()
    }
    return LocatedCounts({description: count for description, count in counts.items() if count > 0}, locations)


def rename_counts(counts: Mapping[str, int], rename: Callable[[str], str]) -> LocatedCounts:
    """Return the counts under other descriptions."""
    locations = {rename(description): items for description, items in get_locations(counts).items()}
    return LocatedCounts({rename(description): count for description, count in counts.items()}, locations)


def merge_counts(counts: Mapping[str, int], further: Mapping[str, int]) -> Mapping[str, int]:
    """Return the counts of both, with their locations; `further` decides about a description that both have."""
    return LocatedCounts({**counts, **further}, {**get_locations(counts), **get_locations(further)})


def name_locations(counts: Mapping[str, int]) -> dict[str, int]:
    """Return counts whose descriptions name their first three locations, as in `duplicates (in line 2, 7)`."""
    locations = get_locations(counts)
    return {
        f"{description}{_format_locations(locations.get(description, ()))}": count
        for description, count in counts.items()
    }


def _shorten_location(location: str, label: str) -> str:
    """Return a location inside the file `label`: `line 3` for `gold.jsonl:3`."""
    inside = location.removeprefix(label).lstrip(":,/ ") if label else location
    return f"line {inside}" if inside.partition(":")[0].isdecimal() else inside


def _format_locations(locations: tuple[str, ...]) -> str:
    """Return the end of a description that names up to three locations; empty without locations."""
    if not locations:
        return ""
    first, *others = locations[:_MAX_NAMED]
    kind = match[0] if (match := _KIND.match(first)) else ""
    more = ["…"] if len(locations) > _MAX_NAMED else []
    return f" (in {', '.join([first, *(item.removeprefix(kind) for item in others), *more])})"
