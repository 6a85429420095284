"""Everything Karat raises on purpose.

KaratError                  the root: catch this one
├── InputError              a file or an object is not what it should be: where, found, expected, remedy
├── UnknownNameError        no plugin, choice, measure or document of that name; says which are near
└── UsageError              the request itself makes no sense with these inputs
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

_LISTED = 20


class KaratError(Exception):
    """The root of all errors that Karat raises on purpose; the message is meant for the user."""


class InputError(KaratError):
    """Input that cannot be used, said as a repair manual.

    `where` is a file, `file:line` or an object; the other three are short sentences without a full stop.
    """

    def __init__(self, where: str, *, found: str, expected: str, remedy: str) -> None:
        self.where = where
        self.found = found
        self.expected = expected
        self.remedy = remedy
        super().__init__(f"{where}: found {found}; expected {expected}. {remedy}.")


class UnknownNameError(KaratError):
    """A name that is not registered, with the nearest known ones."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        self.kind = kind
        self.name = name
        self.known = tuple(sorted(known))
        lower = {known.lower(): known for known in self.known}
        near = [lower[found] for found in get_close_matches(name.lower(), lower, n=2, cutoff=0.5)]
        near = near or sorted((known for known in self.known if name and name.lower() in known.lower()), key=len)[:3]
        hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
        listed = ", ".join(self.known[:_LISTED]) or "none"
        more = f" and {len(self.known) - _LISTED} more" if len(self.known) > _LISTED else ""
        super().__init__(f"unknown {kind} {name!r}.{hint} Known: {listed}{more}.")


class UsageError(KaratError):
    """A request that makes no sense as it stands; the message says what to ask for instead."""


_NUMBERED = re.compile(r"(.+)/(\d{1,9})")


def refuse_newer(where: str, found: str, *known: str) -> None:
    """Raise `InputError` for a stored layout, NAME/NUMBER, that has a higher number than the known one of that name."""
    given = _NUMBERED.fullmatch(found)
    for layout in known:
        name, number = layout.split("/")
        if given is not None and given[1] == name and int(given[2]) > int(number):
            raise InputError(
                where,
                found=f"the layout {found}, written by a newer Karat",
                expected=layout,
                remedy="Read it with a newer version: pip install --upgrade karat",
            )
