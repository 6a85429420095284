"""The running command and its options, so that messages recommend this command, no option that it lacks, and none in
Python.

They are those of the process rather than of a context, since files are read in threads.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Mapping
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


def is_command_running() -> bool:
    """Return whether a command runs, rather than a Python program of the user."""
    return _options is not None


def format_setting(name: str, value: object) -> str:
    """Return how to write a setting: as an option in commands, as an argument in Python."""
    return f"--set {name}={value}" if is_command_running() else f"settings={{{name!r}: '{value}'}}"


def format_argument(name: str) -> str:
    """Return how to write the name of an argument: as an option in commands, as in Python elsewhere."""
    return f"--{name.replace('_', '-')}" if is_command_running() else name


def format_option(name: str, value: object = None) -> str:
    """Return how to pass an argument, with its value if it has one: as an option in commands, by keyword in Python."""
    if is_command_running():
        return f"--{name.replace('_', '-')}{'' if value is None else f' {value}'}"
    return f"{name}={'' if value is None else repr(str(value))}"


def format_roles(roles: Mapping[str, str]) -> str:
    """Return how to name columns by role: with an option in commands, quoted for a shell, and an argument in Python."""
    if is_command_running():
        text = ",".join(f"{role}={name}" for role, name in roles.items())
        plain = text.replace("…", "")
        return f"--columns {text if shlex.quote(plain) == plain else shlex.quote(text)}"
    return f"columns={{{', '.join(f'{role!r}: {name!r}' for role, name in roles.items())}}}"


def advise_score_column() -> str:
    """Return the end of an advice about predictions without scores: they may have scores under another name."""
    if is_command_running():
        return f"or name the column of the scores as well: {format_roles({'score': '…'})}"
    return "or name the scores: as `score` in dictionaries, or by columns={…, 'score': '…'} in karat.load_run"


def advise_gold_standard() -> str:
    """Return the advice for predictions in place of a gold standard: the order of both, or how to make them gold."""
    if not is_command_running():
        return "Pass the gold standard first, then the predictions; karat.load_run reads predictions"
    if find_options("--predictions-format"):
        return "Pass the gold standard first, then the predictions"
    return (
        "Pass a file with gold labels; karat data convert PREDICTIONS OUT --as gold --gold GOLD makes gold labels of "
        "predictions"
    )


def find_options(*options: str) -> list[str]:
    """Return those of `options`, with or without a value, that the running command has; all outside commands."""
    return [option for option in options if _options is None or option.partition(" ")[0] in _options]
