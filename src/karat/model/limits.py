"""Limits on input sizes, with the reason for each.

Input beyond a limit is refused with a message that names the limit. The environment variable `KARAT_MAX_NAME` raises
it, such as `KARAT_MAX_PAIRS=20000000`, for commands, Python and the processes of an engine.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Final

from karat.model.errors import InputError, UsageError


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit on input size."""

    maximum: int
    """The default maximum."""
    description: str
    """What is counted."""
    reason: str
    """Why the default has this size."""


LIMITS: Final[dict[str, Limit]] = {
    "pairs": Limit(
        1 << 22,
        "competing pairs of mention and prediction in one document",
        "2,048 overlapping mentions of one entity and as many predictions, which need about 0.5 GB at once",
    ),
    "trials": Limit(
        1 << 27,
        "pairs, labels and predictions of one document, summed over all thresholds",
        "some assignments rescore a document at each threshold; this many take a minute or two",
    ),
    "overlaps": Limit(
        1 << 20,
        "overlapping pairs of mentions in a document to lint, of mention and prediction in a document to report, or, "
        "beyond 32 per mention, in all of them",
        "1,024 nested mentions and as many predictions; a report judges them fifty times, which takes ten seconds",
    ),
    "bytes": Limit(
        1 << 34,
        "bytes from one compressed file or archive",
        "16 GiB, ten times the largest published dataset; the size of a plain file is known beforehand",
    ),
    "pipe": Limit(
        1 << 28,
        "bytes from standard input, a pipe or a device",
        "256 MiB; they are held in memory, and a device such as /dev/zero never ends",
    ),
    "growth": Limit(
        250,
        "times the stored size of a compressed file or archive (checked above 64 MiB)",
        "texts and annotations shrink by a factor of 3 to 50, decompression bombs by 1,000 and more",
    ),
    "members": Limit(
        1 << 17,
        "files in an archive or folder",
        "datasets with one file per document have a few thousand",
    ),
    "line": Limit(
        1 << 28,
        "bytes in one line",
        "256 MiB, a document of fifty thousand pages; decoding a line needs several copies in memory",
    ),
    "response": Limit(
        1 << 26,
        "bytes in the response of a service or command to one document",
        "64 MiB, thousands of times the response to a long text; all of it is held in memory",
    ),
    "nesting": Limit(
        500,
        "nested XML elements",
        "no format nests more than ten; Python limits JSON to about nine hundred",
    ),
    "blank": Limit(
        1 << 27,
        "characters of blank texts, which are made from offsets where a file has no texts",
        "128 MiB, 2,000 documents of 60,000 characters; a wrong offset of ten digits would fill gigabytes",
    ),
    "values": Limit(
        10_000,
        "values of one property of a resource in Turtle",
        "a mention has a few links and types; the values are copied with each addition",
    ),
}


def get_limit(name: str) -> int:
    """Return the limit `name` (a key of `LIMITS`) from its environment variable, or else its default.

    Raise `UsageError` if the variable is not a whole number above 0.
    """
    variable = environment_variable(name)
    text = os.environ.get(variable)
    if text is None:
        return LIMITS[name].maximum
    digits = text.replace("_", "").replace(",", "")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 18 and int(digits)):
        raise UsageError(f"{variable} is {text!r}. Give a whole number above 0, such as {LIMITS[name].maximum}.")
    return int(digits)


def environment_variable(name: str) -> str:
    """Return the name of the environment variable that sets the limit `name`, such as `KARAT_MAX_PAIRS`."""
    return f"KARAT_MAX_{name.upper()}"


def limit_error(name: str, where: str, actual: str, remedy: str) -> InputError:
    """Return, without raising it, the error for input beyond the limit `name`.

    `actual` and `remedy` are phrases as in `InputError`; the remedy is extended by how to raise the limit.
    """
    return InputError(
        where,
        actual=actual,
        expected=f"at most {get_limit(name):,} {LIMITS[name].description}",
        remedy=f"{remedy}, or set {environment_variable(name)} to a higher number",
    )
