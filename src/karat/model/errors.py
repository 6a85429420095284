"""The exceptions that Karat raises.

A message is one line, with escaped control characters and shortened long values.

KaratError                  the base class of all others
├── InputError              invalid input: where, found, expected, remedy
├── ResponseError           a system failed on one document; states whether a retry may help
├── UnknownNameError        no plugin, setting, measure or document of that name; suggests similar names
└── UsageError              a request that makes no sense for the inputs
    └── UnknownKeywordError a keyword that a public function does not have; also a `TypeError`

`KaratWarning` is no exception: public functions warn with it of scores that mislead.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches

from karat.model.output.control_chars import escape_controls

_MAX_LISTED = 20
_MAX_NAME, _MAX_PART, _MAX_MESSAGE = 120, 400, 3000


def shorten(text: str, max_length: int = _MAX_PART) -> str:
    """Return `text`, with its middle replaced by an ellipsis if it is longer than `max_length` characters."""
    if len(text) <= max_length:
        return text
    tail = max_length // 4
    return f"{text[: max_length - tail]}…{text[-tail:]}"


def describe_os_error(problem: OSError, path: str | None = None) -> str:
    """Return `FILE: MESSAGE` for an operating system error; FILE is `path` if the error names no file.

    Without either, only the message is returned.
    """
    message = problem.strerror or str(problem) or type(problem).__name__
    file_name = problem.filename if problem.filename is not None else path
    if file_name is None or isinstance(file_name, int):  # a number is an open file
        return message
    return f"{os.fsdecode(file_name)}: {message}"


def suggest_names(name: str, known_names: Iterable[str], titles: Mapping[str, str] | None = None) -> list[str]:
    """Return up to three of `known_names` that a user may mean by `name`, in any case; empty if none is similar.

    They are the two names with the most similar spelling, or else the shortest names that contain `name`. `titles` of
    known names count as well.
    """
    titles = titles or {}
    originals = {text.lower(): item for item in known_names for text in (item, titles.get(item, item))}
    matches = get_close_matches(name[:_MAX_NAME].lower(), originals, n=2, cutoff=0.5)
    containing = sorted((text for text in originals if name and name.lower() in text), key=len)
    return list(dict.fromkeys(originals[text] for text in matches or containing[:3]))


def _format_name(name: str, titles: Mapping[str, str] | None) -> str:
    """Return a name with its title, if it has one, such as `person (Q215627)`."""
    title = (titles or {}).get(name, name)
    return title if name in title else f"{title} ({name})"


def format_suggestions(names: Sequence[str]) -> str:
    """Return the question whether the user means one of `names`; an empty string without names."""
    return f"Did you mean {' or '.join(map(repr, names))}?" if names else ""


class KaratError(Exception):
    """The base class of all exceptions that Karat raises; the message is meant for users."""

    def __init__(self, message: str) -> None:
        super().__init__(shorten(escape_controls(message), _MAX_MESSAGE))


class InputError(KaratError):
    """Invalid input: where it is, what was found, what was expected and how to fix it.

    `where` is a file, `file:line` or an object. The other three are phrases without a full stop.
    """

    def __init__(self, where: str, *, actual: str, expected: str, remedy: str) -> None:
        self.where = where
        self.actual = actual
        self.expected = expected
        self.remedy = remedy
        rule = shorten(expected, _MAX_MESSAGE // 2)
        super().__init__(f"{shorten(where)}: found {shorten(actual)}; expected {rule}. {shorten(remedy)}.")


class ResponseError(KaratError):
    """A failure on one document; the message becomes the `error` of its response.

    `is_retryable` says whether the same request may succeed later, `retry_after` how many seconds to wait.
    """

    def __init__(self, message: str, *, is_retryable: bool = True, retry_after: float = 0.0) -> None:
        self.is_retryable = is_retryable
        self.retry_after = retry_after
        super().__init__(shorten(message))


class UnknownNameError(KaratError):
    """An unknown name; the message suggests similar names and lists the known ones.

    `kind` is the noun for such names, such as `measure`. `meant` is the known name that other tools call so; without
    it, similar names are suggested. `titles` are what tables show instead of known names, such as `person (Q215627)`.
    """

    def __init__(
        self,
        kind: str,
        name: str,
        known_names: Iterable[str],
        *,
        meant: str | None = None,
        titles: Mapping[str, str] | None = None,
    ) -> None:
        self.kind = kind
        self.name = name
        self.known_names = tuple(sorted(set(known_names)))
        suggestions = suggest_names(name, self.known_names, titles) if meant is None else [meant]
        hint = f" {format_suggestions(suggestions)}".rstrip()
        listed = ", ".join(_format_name(item, titles) for item in self.known_names[:_MAX_LISTED]) or "none"
        more = f" and {len(self.known_names) - _MAX_LISTED} more" if len(self.known_names) > _MAX_LISTED else ""
        super().__init__(f"unknown {kind} {shorten(repr(name), _MAX_NAME)}.{hint} Known: {listed}{more}.")


class UsageError(KaratError):
    """A request that makes no sense for the inputs; the message says what to do instead."""


class UnknownKeywordError(UsageError, TypeError):
    """A keyword that a function does not have; the message suggests what to write instead."""


class KaratWarning(UserWarning):
    """A note without which a result misleads, such as offsets that do not fit the texts."""


_LAYOUT_PATTERN = re.compile(r"(.+)/(\d{1,9})")


def check_layout_version(where: str, text: str, *known_layouts: str) -> None:
    """Raise `InputError` if `text` is a newer version of one of `known_layouts`, such as `karat-result/2`.

    Other names and texts pass. `where` names the file in the message.
    """
    match = _LAYOUT_PATTERN.fullmatch(text)
    for layout in known_layouts:
        name, number = layout.split("/")
        if match is not None and match[1] == name and int(match[2]) > int(number):
            raise InputError(
                where,
                actual=f"the layout {text}, written by a newer Karat",
                expected=layout,
                remedy="Read it with a newer version: pip install --upgrade karat",
            )
