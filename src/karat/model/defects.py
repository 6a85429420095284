"""Handling of invalid documents: raise the first defect, or skip and count all documents with defects.

A reader wraps each separable part in `isolate_defects`. The caller that opens a file sets the policy with
`collect_defects`, so that readers need not know it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TypeVar

import msgspec

from karat.model.counts.skip_counter import SkipCounter, locate_counts, locate_positive, merge_counts, name_locations
from karat.model.errors import InputError
from karat.model.offsets.offset_kinds import OffsetKind

RENAMED_NOTE = "documents with a duplicate id (a number was added)"
"""The description under which renamed documents are counted."""

_MAX_LOCATIONS = 3
_MAX_KINDS = 50
_OTHER_KIND = "something else"
_VALUE_PATTERN = re.compile(r"'[^']*'|\"[^\"]*\"|\d+")
_S = TypeVar("_S")
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class ErrorPolicy:
    """Options for the handling of invalid documents."""

    skip: bool = False
    """Whether to skip documents with defects instead of raising an error."""
    rename_duplicates: bool = False
    """Whether to number duplicate document ids instead of treating them as a defect."""
    realign_spans: bool = False
    """Whether to realign predictions whose text is not at their span instead of treating them as a defect."""
    offsets: OffsetKind = OffsetKind.CODE_POINTS
    """The kind of offsets in predictions, which are converted to code points."""
    on_skip: Callable[[str, Mapping[str, int]], None] | None = field(default=None, compare=False)
    """Called with the name of each file and the counts of what was skipped or realigned, by description."""


class _DefectKind(msgspec.Struct):
    """The defects of one file that break the same rule: their number and first locations."""

    expected: str
    """The rule."""
    count: int = 0
    """The number of defects."""
    locations: list[str] = msgspec.field(default_factory=list)
    """The first locations."""


class Defects(msgspec.Struct):
    """The defects of one file, counted by kind."""

    policy: ErrorPolicy
    """What to do with defects."""
    label: str
    """The name of the file in messages."""
    first_error: InputError | None = None
    """The first defect."""
    renamed: int = 0
    """The number of renamed documents."""
    other_counts: SkipCounter = msgspec.field(default_factory=SkipCounter)
    """Further counts for the report, by description."""
    _kinds: dict[str, _DefectKind] = msgspec.field(default_factory=dict)

    def add(self, problem: InputError) -> None:
        """Count a defect under its `expected` rule; rules that differ only in quoted texts and numbers are one kind.

        Beyond 50 kinds, all further rules are counted as one.
        """
        self.first_error = self.first_error or problem
        key = _VALUE_PATTERN.sub("#", problem.expected)
        if key not in self._kinds and len(self._kinds) >= _MAX_KINDS:
            key = _OTHER_KIND
        kind = self._kinds.setdefault(key, _DefectKind(_OTHER_KIND if key is _OTHER_KIND else problem.expected))
        kind.count += 1
        if len(kind.locations) < _MAX_LOCATIONS:
            kind.locations.append(problem.where)

    @property
    def final_error(self) -> InputError | None:
        """The error for a file whose documents were all skipped: the first defect; None if nothing was skipped."""
        if (first := self.first_error) is None:
            return None
        actual = f"{first.actual}, and no other valid document"
        return InputError(first.where, actual=actual, expected=first.expected, remedy=first.remedy)

    @property
    def counts(self) -> Mapping[str, int]:
        """The number of skipped and of renamed documents and all positive `other_counts`, by description."""
        kinds = self._kinds.values()
        skipped = {
            f"skipped, expected {kind.expected} (at {self._format_locations(kind)})": kind.count for kind in kinds
        }
        counts = skipped | ({RENAMED_NOTE: self.renamed} if self.renamed else {})
        return merge_counts(counts, locate_positive(self.other_counts, self.label))

    def _format_locations(self, kind: _DefectKind) -> str:
        """Return the first locations of a kind of defect, separated by commas; the file name is written once."""
        first, *others = kind.locations
        short = [location.removeprefix(self.label).lstrip(":, ") for location in others]
        return ", ".join([first, *short, *(["…"] if kind.count > len(kind.locations) else [])])


_POLICY: ContextVar[ErrorPolicy] = ContextVar("error_policy", default=ErrorPolicy())  # noqa: B039  # frozen
_DEFECTS: ContextVar[Defects | None] = ContextVar("defects", default=None)


def get_error_policy() -> ErrorPolicy:
    """Return the policy that `use_error_policy` set, or the default, which raises the first defect."""
    return _POLICY.get()


@contextmanager
def use_error_policy(policy: ErrorPolicy) -> Iterator[None]:
    """Use a policy for all files that are read in the block."""
    token = _POLICY.set(policy)
    try:
        yield
    finally:
        _POLICY.reset(token)


@contextmanager
def collect_defects(policy: ErrorPolicy, label: str) -> Iterator[Defects]:
    """Collect the defects of one file while the block reads it; yield the `Defects` that they are added to.

    `label` is the name of the file in messages. If the block ends without an error and anything was counted, the
    policy's `on_skip` is called.
    """
    defects = Defects(policy, label)
    token = _DEFECTS.set(defects)
    try:
        yield defects
    finally:
        _DEFECTS.reset(token)
    if policy.on_skip is not None and defects.counts:
        policy.on_skip(label, name_locations(defects.counts))


def get_defects() -> Defects:
    """Return the `Defects` of the file that is being read.

    Outside `collect_defects`, return an empty one whose policy raises every defect.
    """
    return _DEFECTS.get() or Defects(ErrorPolicy(), "")


def is_skipping() -> bool:
    """Return whether documents with defects are skipped in the file that is being read."""
    return get_defects().policy.skip


def skip_or_raise(problem: InputError) -> None:
    """Count the defect of a skipped document, or raise it if the policy does not skip."""
    defects = get_defects()
    if not defects.policy.skip:
        raise problem
    defects.add(problem)


@contextmanager
def isolate_defects(location: str | None = None) -> Iterator[None]:
    """Treat an `InputError` in the block as a defect: count it and leave the block, or raise it, as the policy says.

    `location` is that of the part that the block reads, for what it skips or repairs.
    """
    try:
        with locate_counts(location):
            yield
    except InputError as problem:
        skip_or_raise(problem)


def map_valid(
    items: Iterable[_S], convert: Callable[[_S], _T], locate: Callable[[_S], str] | None = None
) -> Iterator[tuple[_S, _T]]:
    """Yield each item with `convert(item)`; an item on which it raises `InputError` is skipped and counted.

    The error is raised instead if the policy does not skip. `locate` returns the location of an item, for what
    `convert` skips or repairs.
    """
    for item in items:
        try:
            with locate_counts(None if locate is None else locate(item)):
                value = convert(item)
        except InputError as problem:
            skip_or_raise(problem)
            continue
        yield item, value


class UniqueIds:
    """The document ids of a file so far, each with the last number that was added to it."""

    def __init__(self) -> None:
        self._last_numbers: dict[str, int] = {}

    def reserve(self, name: str) -> str:
        """Return `name`, or `name (2)`, `name (3)`, … if it is taken; the result is taken from now on."""
        unique_name, number = name, self._last_numbers.get(name, 0)
        while unique_name in self._last_numbers:
            number += 1
            unique_name = f"{name} ({number})"
        self._last_numbers[name] = max(number, 1)  # counting goes on from here, so many duplicates take linear time
        self._last_numbers.setdefault(unique_name, 1)
        return unique_name
