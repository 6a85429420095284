"""Systems that nobody could try here: what they are, and which file of theirs Karat reads in their place."""

from __future__ import annotations

from karat.errors import UsageError
from karat.spec.system import Link, System


def untried(title: str, says: str, why: str, hand_in: str, *, solves: str = "a2kb", space: str = "") -> System:
    """A system that cannot be run, and what to hand in: a file that `answers:FILE` and `karat score` read."""
    reason = f"{why}. Hand in its answers as {hand_in}: karat run answers:FILE --on DATASET."

    def start(options: object, given: bool) -> Link:
        raise UsageError(f"{title} has not been tried: {reason}")

    return System(title, says, start, solves=solves, space=space, untried=reason)
