"""How much Karat takes on: one table, with the reason for each number.

An input that asks for more is refused with one message, which names the limit. Whoever means it raises the limit by
the environment variable `KARAT_MAX_NAME`, such as `KARAT_MAX_PAIRS=20000000`; it holds for commands, Python and the
processes that an engine starts alike.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Final

from karat.errors import InputError, UsageError


@dataclass(frozen=True, slots=True)
class Limit:
    """`of` says of what there may be at most so much, `why` this number and no other."""

    most: int
    of: str
    why: str


LIMITS: Final[dict[str, Limit]] = {
    "pairs": Limit(
        1 << 22,
        "pairs of a mention and an answer of one document that compete",
        "2,048 mentions of one entity that all overlap and as many answers; they are held at once, in about 0.5 GB",
    ),
    "trials": Limit(
        1 << 27,
        "pairs, labels and answers of one document to look at, over all thresholds",
        "some assignments score a document anew at each of its scores; this many take a minute or two",
    ),
    "bytes": Limit(
        1 << 34,
        "bytes from one compressed file, archive or pipe",
        "16 GiB, ten times the largest published benchmark; a plain file has the size that can be seen beforehand",
    ),
    "growth": Limit(
        250,
        "times the stored size of a compressed file or archive (asked from 64 MiB on)",
        "texts and annotations shrink three- to fiftyfold; files made to fill a memory, a thousandfold and more",
    ),
    "members": Limit(
        1 << 17,
        "files in an archive or folder",
        "benchmarks with one file per document have a few thousand",
    ),
    "line": Limit(
        1 << 28,
        "bytes in one line",
        "256 MiB, a document of fifty thousand pages; a line is held in memory, several times while it is decoded",
    ),
    "reply": Limit(
        1 << 26,
        "bytes in what a service or a command answers to one document",
        "64 MiB, thousands of times what linkers say of a long text; all of it is held while it is read",
    ),
    "nesting": Limit(
        500,
        "XML elements inside each other",
        "no format nests more than ten; Python itself ends JSON at about nine hundred",
    ),
}


def most(name: str) -> int:
    """The limit of a name: that of the table, or what the environment says instead."""
    variable = variable_of(name)
    written = os.environ.get(variable)
    if written is None:
        return LIMITS[name].most
    digits = written.replace("_", "").replace(",", "")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 18 and int(digits)):
        raise UsageError(f"{variable} is {written!r}. Give a whole number above 0, such as {LIMITS[name].most}.")
    return int(digits)


def variable_of(name: str) -> str:
    """The environment variable that raises a limit."""
    return f"KARAT_MAX_{name.upper()}"


def refused(name: str, where: str, found: str, remedy: str) -> InputError:
    """What is raised where an input asks for more than a limit."""
    return InputError(
        where,
        found=found,
        expected=f"at most {most(name):,} {LIMITS[name].of}",
        remedy=f"{remedy}, or set {variable_of(name)} to a higher number",
    )
