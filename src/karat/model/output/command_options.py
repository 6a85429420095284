"""The running command and its options, so that messages recommend this command, and no option that it lacks.

They are those of the process rather than of a context, since files are read in threads.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager

_options: Collection[str] | None = None
_command = "karat score"


@contextmanager
def use_command(command: str, flags: Collection[str]) -> Iterator[None]:
    """Make `command`, such as `karat why`, and its options `flags` those that messages may recommend."""
    global _options, _command
    before, (_command, _options) = (_command, _options), (command, flags)
    try:
        yield
    finally:
        _command, _options = before


def get_command() -> str:
    """Return the running command; `karat score` outside commands."""
    return _command


def find_options(*options: str) -> list[str]:
    """Return those of `options`, with or without a value, that the running command has; all outside commands."""
    return [option for option in options if _options is None or option.partition(" ")[0] in _options]
