"""Choices as the command line gives them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from karat.errors import UsageError
from karat.storage.files import check_target

if TYPE_CHECKING:
    from karat.model.run import Run


def chosen(overrides: tuple[str, ...], **named: str | None) -> dict[str, str]:
    """`--set CHOICE=VALUE` and the options that are short for one, together."""
    choices = {name: value for name, value in named.items() if value is not None}
    for override in overrides:
        name, equals, value = override.partition("=")
        if not equals:
            raise UsageError(f"--set {override}: write CHOICE=VALUE, such as --set assignment=greedy.")
        if choices.get(name, value) != value:
            raise UsageError(f"{name} is given twice: {choices[name]} and {value}. Give it once.")
        choices[name] = value
    return choices


def once(_: click.Context, option: click.Parameter, values: tuple[str, ...]) -> str | None:
    """The value of an option that makes sense only once."""
    if len(values) > 1:
        raise UsageError(f"{option.opts[0]} is given {len(values)} times. Give it once.")
    return values[0] if values else None


def apart(inputs: list[str], outputs: list[str | None]) -> None:
    """Refuse to write where something is read, twice to the same place, or where nothing can be written."""
    targets = [_place(path) for path in outputs if path is not None]
    if len(set(targets)) < len(targets):
        raise UsageError(f"two outputs go to {outputs[0]}. Give each a place of its own.")
    for path in outputs:
        if path is not None:
            check_target(path)
    for path in inputs:
        if path != "-" and _place(path) in targets:
            raise UsageError(f"{path} is read and would be overwritten. Write somewhere else.")


def _place(path: str) -> str:
    return path if path == "-" else os.path.realpath(path)


def named_apart(runs: list[Run], given: list[str]) -> list[Run]:
    """Runs of one name, called by their files instead."""
    from karat.comparison.entries import named_apart as apart_by_file

    return apart_by_file(runs, given)
