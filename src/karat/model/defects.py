"""Defects of single documents: the first is an error, or all such documents are left out and counted.

A reader says what a defect takes with it by reading that part `by_itself`; whoever opens a file says with `collecting`
what becomes of defects, so that readers need not be told.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TypeVar

import msgspec

from karat.errors import InputError

ID_TAKEN = "documents whose id was taken (a number was added to it)"

_PLACES = 3
_KINDS = 50
_OTHERS = "something else"
_VALUE = re.compile(r"'[^']*'|\"[^\"]*\"|\d+")
_S = TypeVar("_S")
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Tolerance:
    """What becomes of documents with defects: `skip` leaves them out; `apart` gives each of one id an id of its own.

    `repair` moves an answer whose words do not stand on its span to where they do; else it is a defect.
    `told` is called with the name of each file and what was left out of it or moved, in words.
    """

    skip: bool = False
    apart: bool = False
    repair: bool = False
    told: Callable[[str, Mapping[str, int]], None] | None = field(default=None, compare=False)


class _Kind(msgspec.Struct):
    """Defects that break the same rule."""

    expected: str
    count: int = 0
    places: list[str] = msgspec.field(default_factory=list)


class Defects(msgspec.Struct):
    """What was left out of one file, by kind, with the first places of each; and what else is to be `noted` of it."""

    how: Tolerance
    label: str
    first: InputError | None = None
    renamed: int = 0
    noted: Counter[str] = msgspec.field(default_factory=Counter)
    _kinds: dict[str, _Kind] = msgspec.field(default_factory=dict)

    def take(self, problem: InputError) -> None:
        """Count a defect; those whose rules differ in names and numbers only are of one kind."""
        self.first = self.first or problem
        key = _VALUE.sub("#", problem.expected)
        if key not in self._kinds and len(self._kinds) >= _KINDS:
            key = _OTHERS
        kind = self._kinds.setdefault(key, _Kind(_OTHERS if key is _OTHERS else problem.expected))
        kind.count += 1
        if len(kind.places) < _PLACES:
            kind.places.append(problem.where)

    @property
    def counts(self) -> dict[str, int]:
        """What was left out or renamed, in words."""
        kinds = self._kinds.values()
        found = {f"left out, expected {kind.expected} (at {self._at(kind)})": kind.count for kind in kinds}
        return found | ({ID_TAKEN: self.renamed} if self.renamed else {}) | +self.noted

    def _at(self, kind: _Kind) -> str:
        """The first places; the file is named once."""
        first, *others = kind.places
        short = [place.removeprefix(self.label).lstrip(":, ") for place in others]
        return ", ".join([first, *short, *(["…"] if kind.count > len(kind.places) else [])])


_ASKED: ContextVar[Tolerance] = ContextVar("_ASKED", default=Tolerance())  # noqa: B039  # frozen
_HERE: ContextVar[Defects | None] = ContextVar("_HERE", default=None)


def tolerance() -> Tolerance:
    """What was asked for, wherever nothing else is said."""
    return _ASKED.get()


@contextmanager
def tolerating(how: Tolerance) -> Iterator[None]:
    """Ask for it, for all that is read inside."""
    token = _ASKED.set(how)
    try:
        yield
    finally:
        _ASKED.reset(token)


@contextmanager
def collecting(how: Tolerance, label: str) -> Iterator[Defects]:
    """Collect the defects of one file, whoever finds them inside."""
    defects = Defects(how, label)
    token = _HERE.set(defects)
    try:
        yield defects
    finally:
        _HERE.reset(token)
    if how.told is not None and defects.counts:
        how.told(label, defects.counts)


def current() -> Defects:
    """The defects of the file that is being read; outside of all files they are errors."""
    return _HERE.get() or Defects(Tolerance(), "")


def skipping() -> bool:
    """Whether documents with defects are to be left out here."""
    return current().how.skip


def pass_over(problem: InputError) -> None:
    """Count a defect, whose document was left out; or raise it, where nothing is to be left out."""
    here = current()
    if not here.how.skip:
        raise problem
    here.take(problem)


@contextmanager
def by_itself() -> Iterator[None]:
    """Read something that a defect inside it takes with it, and nothing else."""
    try:
        yield
    except InputError as problem:
        pass_over(problem)


def sound(items: Iterable[_S], make: Callable[[_S], _T]) -> Iterator[tuple[_S, _T]]:
    """Each item with what is made of it, without those of which nothing can be made."""
    for item in items:
        try:
            made = make(item)
        except InputError as problem:
            pass_over(problem)
            continue
        yield item, made


def free_id(name: str, taken: set[str]) -> str:
    """The id, or the id with a number behind it if it was taken; from now on it is taken."""
    free, number = name, 1
    while free in taken:
        number += 1
        free = f"{name} ({number})"
    taken.add(free)
    return free
