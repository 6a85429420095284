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
