"""What is to be said about one reply besides the reply: counts, times, and credentials that nobody may see."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Final

from karat.errors import UsageError

_SHORTEST: Final = 4  # characters; shorter ones would be found in everything


@dataclass
class Heard:
    """What was said while a document was asked about: counts in words, and the seconds of the question answered.

    An error that is `final` is what the system has to say, and is not asked about again. `peak` is the most memory, in
    bytes, that a program held which was asked.
    """

    counts: Counter[str] = field(default_factory=Counter)
    seconds: float | None = None
    final: bool = False
    peak: int = 0


_told: ContextVar[Heard | None] = ContextVar("told", default=None)


@contextmanager
def listening() -> Iterator[Heard]:
    """Hear what is told inside."""
    told = Heard()
    before = _told.set(told)
    try:
        yield told
    finally:
        _told.reset(before)


def tell(what: str, count: int = 1) -> None:
    """Count something, in words."""
    told = _told.get()
    if told is not None and count:
        told.counts[what] += count


def tell_time(seconds: float) -> None:
    """Say how long the question took that was answered, without those before it and without waiting."""
    told = _told.get()
    if told is not None:
        told.seconds = seconds


def tell_peak(size: int) -> None:
    """Say how much memory a program has held."""
    told = _told.get()
    if told is not None:
        told.peak = max(told.peak, size)


def tell_final() -> None:
    """Say that an error is the system's own answer, and none of the way to it."""
    told = _told.get()
    if told is not None:
        told.final = True


_secrets: dict[str, str] = {}


def credential(name: str, what: str) -> str:
    """What an environment variable holds; it is kept out of everything that is written from now on."""
    value = os.environ.get(name, "")
    if not value:
        raise UsageError(f"{what} needs a credential in the environment variable {name}. Set it: export {name}=…")
    hide([name])
    return value


def hide(names: Iterable[str]) -> None:
    """Keep what environment variables hold out of everything that is written from now on."""
    _secrets.update({name: os.environ[name] for name in names if name in os.environ})


def without_secrets(text: str) -> str:
    """A text in which credentials are replaced by the names of their variables."""
    for name, value in _secrets.items():
        if len(value) >= _SHORTEST:
            text = text.replace(value, f"${name}")
    return text
