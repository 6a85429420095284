"""The options of the running command, so that messages recommend no option that it lacks.

They are those of the process rather than of a context, since files are read in threads.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager

_options: Collection[str] | None = None


@contextmanager
def use_command_options(flags: Collection[str]) -> Iterator[None]:
    """Make `flags` the options that messages may recommend, such as `--on-error`."""
    global _options
    before, _options = _options, flags
    try:
        yield
    finally:
        _options = before


def find_options(*options: str) -> list[str]:
    """Return those of `options`, with or without a value, that the running command has; all outside commands."""
    return [option for option in options if _options is None or option.partition(" ")[0] in _options]
