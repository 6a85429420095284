"""Systems that nobody could try here: what they are, and which file of theirs Karat reads in their place."""

from __future__ import annotations

from karat.errors import UsageError
from karat.spec.outside import TrainingCard
from karat.spec.system import Link, System

_NO_CARD = TrainingCard()


def untried(
    title: str, says: str, hand_in: str, *, solves: str = "a2kb", space: str = "", training: TrainingCard = _NO_CARD
) -> System:
    """A system that cannot be run, and what to hand in: a file that `answers:FILE` and `karat score` read."""

    def start(options: object, given: bool) -> Link:
        raise UsageError(f"{title} could not be tried. Hand in its answers.")

    return System(title, says, start, solves=solves, space=space, untried=hand_in, training=training)
