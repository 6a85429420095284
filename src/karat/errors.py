"""Everything Karat raises on purpose, as messages that are fit to be printed.

A message is one line: control characters are shown as escapes, and long values are cut in the middle.

KaratError                  the root: catch this one
├── InputError              a file or an object is not what it should be: where, found, expected, remedy
├── FailedError             a system gave no answer to one document; whether asking again may help
├── UnknownNameError        no plugin, choice, measure or document of that name; says which are near
└── UsageError              the request itself makes no sense with these inputs
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from difflib import get_close_matches

from karat.printable import shown

_LISTED = 20
_NAME, _PART, _MESSAGE = 120, 400, 3000


def cut(text: str, longest: int = _PART) -> str:
    """The text, without its middle where it is too long to be read."""
    if len(text) <= longest:
        return text
    tail = longest // 4
    return f"{text[: longest - tail]}…{text[-tail:]}"


def reason(problem: OSError, place: str | None = None) -> str:
    """What the operating system said, and about which file; `place` where it does not name one."""
    said = problem.strerror or str(problem) or type(problem).__name__
    given = problem.filename if problem.filename is not None else place
    if given is None or isinstance(given, int):  # a number is an open file
        return said
    return f"{os.fsdecode(given)}: {said}"


class KaratError(Exception):
    """The root of all errors that Karat raises on purpose; the message is meant for the user."""

    def __init__(self, message: str) -> None:
        super().__init__(cut(shown(message), _MESSAGE))


class InputError(KaratError):
    """Input that cannot be used, said as a repair manual.

    `where` is a file, `file:line` or an object; the other three are short sentences without a full stop.
    """

    def __init__(self, where: str, *, found: str, expected: str, remedy: str) -> None:
        self.where = where
        self.found = found
        self.expected = expected
        self.remedy = remedy
        super().__init__(f"{cut(where)}: found {cut(found)}; expected {cut(expected, _MESSAGE // 2)}. {cut(remedy)}.")


class FailedError(KaratError):
    """No answer to one document, though others may have one; the message becomes the error of its reply.

    `again` says whether the same question may be answered later, `after` how many seconds the other side asks to wait.
    """

    def __init__(self, message: str, *, again: bool = True, after: float = 0.0) -> None:
        self.again = again
        self.after = after
        super().__init__(cut(message))


class UnknownNameError(KaratError):
    """A name that is not registered, with the nearest known ones."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        self.kind = kind
        self.name = name
        self.known = tuple(sorted(known))
        lower = {known.lower(): known for known in self.known}
        near = [lower[found] for found in get_close_matches(name[:_NAME].lower(), lower, n=2, cutoff=0.5)]
        near = near or sorted((known for known in self.known if name and name.lower() in known.lower()), key=len)[:3]
        hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
        listed = ", ".join(self.known[:_LISTED]) or "none"
        more = f" and {len(self.known) - _LISTED} more" if len(self.known) > _LISTED else ""
        super().__init__(f"unknown {kind} {cut(repr(name), _NAME)}.{hint} Known: {listed}{more}.")


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
