"""Checks and conversions of command-line arguments."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from karat.model.errors import UsageError
from karat.storage.atomic_writing import check_output_path

if TYPE_CHECKING:
    from karat.model.run import Run


def parse_settings(overrides: tuple[str, ...], **shortcuts: str | None) -> dict[str, str]:
    """Return the settings that `--set SETTING=VALUE` options and shortcut options (such as `--match`) set, by name.

    `shortcuts` has the value of each shortcut option by its setting; None means that the option is absent. Raises
    `UsageError` for an override without `=` and for a setting with two different values.
    """
    settings = {name: value for name, value in shortcuts.items() if value is not None}
    for override in overrides:
        name, equals, value = override.partition("=")
        if not equals:
            raise UsageError(f"--set {override}: write SETTING=VALUE, such as --set assignment=greedy.")
        if settings.get(name, value) != value:
            raise UsageError(f"{name} is set twice: {settings[name]} and {value}. Set it once.")
        settings[name] = value
    return settings


def single_value(_: click.Context, option: click.Parameter, values: tuple[str, ...]) -> str | None:
    """Return the only value of an option with `multiple=True`, or None if it is absent (click callback).

    Raises `UsageError` if the option is repeated.
    """
    if len(values) > 1:
        raise UsageError(f"{option.opts[0]} is repeated {len(values)} times. Pass it once.")
    return values[0] if values else None


def check_paths(inputs: list[str], outputs: list[str | None]) -> None:
    """Raise `UsageError` if an output file is also an input, if two outputs are the same, or if one cannot be written.

    Outputs that are None are skipped; `-` means standard input or output.
    """
    files = [path for path in outputs if path is not None]
    targets: set[str] = set()
    for path in files:
        target = _resolve_path(path)
        if target in targets:
            raise UsageError(f"two outputs go to {path}. Pass a different file for each.")
        targets.add(target)
    for path in files:
        check_output_path(path)
    for path in inputs:
        if path != "-" and _resolve_path(path) in targets:
            raise UsageError(f"{path} is an input and would be overwritten. Write to another file.")


def _resolve_path(path: str) -> str:
    """Return the absolute path of a file with links resolved; `-` (standard input or output) stays."""
    return path if path == "-" else os.path.realpath(path)


def rename_duplicates(runs: list[Run], files: list[str]) -> list[Run]:
    """Return the runs in the same order, renaming all runs that share a name to their paths in `files`."""
    from karat.analysis.comparison.entries import disambiguate_names as apart_by_file

    return apart_by_file(runs, files)
