"""The options of the running command, so that messages recommend no option that it lacks, and none in Python.

They are those of the process rather than of a context, since files are read in threads.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
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


def is_command_running() -> bool:
    """Return whether a command runs, rather than a Python program of the user."""
    return _options is not None


def format_setting(name: str, value: object) -> str:
    """Return how to write a setting: as an option in commands, as an argument in Python."""
    return f"--set {name}={value}" if is_command_running() else f"settings={{{name!r}: '{value}'}}"


def format_roles(roles: Mapping[str, str]) -> str:
    """Return how to name columns by role: with an option in commands, with an argument in Python."""
    if is_command_running():
        return "--columns " + ",".join(f"{role}={name}" for role, name in roles.items())
    return f"columns={{{', '.join(f'{role!r}: {name!r}' for role, name in roles.items())}}}"


def find_options(*options: str) -> list[str]:
    """Return those of `options`, with or without a value, that the running command has; all outside commands."""
    return [option for option in options if _options is None or option.partition(" ")[0] in _options]
