"""Checks and conversions of command-line arguments."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from karat.model.errors import UsageError
from karat.storage.atomic_writing import check_output_path


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


def check_paths(inputs: Sequence[str | None], outputs: Sequence[str | None]) -> None:
    """Raise `UsageError` if an output file is also an input, if two outputs are the same, or if one cannot be written.

    It also raises if standard input is read twice. Paths that are None are skipped; `-` means standard input or output.
    `inputs` needs only what the arguments of the command do not name as they are, such as the file in `NAME=FILE`; a
    file that two arguments name is an output and an input.
    """
    if inputs.count("-") > 1:
        raise UsageError("standard input can be read only once. Pass - for one argument.")
    files = [path for path in outputs if path is not None]
    targets: set[str] = set()
    for path in files:
        target = _resolve_path(path)
        if target in targets:
            raise UsageError(f"two outputs go to {path}. Pass a different file for each.")
        targets.add(target)
    for path in files:
        check_output_path(path)
    counts = Counter(map(_resolve_path, _list_values()))
    repeated = [path for path in files if counts[_resolve_path(path)] > 1 and Path(path).is_file()]
    for path in [*filter(None, inputs), *repeated]:
        if path != "-" and _resolve_path(path) in targets:
            raise UsageError(f"{path} is an input and would be overwritten. Write to another file.")


def _list_values() -> Iterator[str]:
    """Yield the texts that the arguments and options of the running command have as values."""
    context = click.get_current_context(silent=True)
    for value in () if context is None else context.params.values():
        yield from (item for item in (value if isinstance(value, tuple) else (value,)) if isinstance(item, str))


def _resolve_path(path: str) -> str:
    """Return the absolute path of a file with links resolved; `-` (standard input or output) stays."""
    return path if path == "-" else os.path.realpath(path)


def parse_datasets(option: str, arguments: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Parse the `SYSTEM=DATASET` arguments of a repeatable option; return the datasets of each system.

    `option` is the name of the option for the `UsageError` about an argument without `=`.
    """
    datasets: dict[str, tuple[str, ...]] = {}
    for argument in arguments:
        system, equals, dataset = argument.rpartition("=")
        if not equals:
            raise UsageError(f"{option} {argument}: write SYSTEM=DATASET, such as {option} mine=aida-conll-test.")
        datasets[system] = (*datasets.get(system, ()), dataset)
    return datasets


def parse_pair(option: str, argument: str | None) -> tuple[str, str] | None:
    """Return the two system names of an argument `A,B`; None if the option is absent.

    `option` is the name of the option for the `UsageError` about another argument.
    """
    if argument is None:
        return None
    system_a, comma, system_b = argument.partition(",")
    if not (comma and system_a and system_b):
        raise UsageError(f"{option} {argument}: write A,B, such as {option} mine,yours.")
    return system_a.strip(), system_b.strip()


def split_arguments(arguments: tuple[str, ...]) -> tuple[list[str], dict[str, str]]:
    """Split arguments into system names and the values of system options by name.

    Options are written `--NAME=VALUE` or `--NAME VALUE`. Raises `UsageError` for an option without value, for one that
    is repeated or has a single dash, and without systems.
    """
    context = click.get_current_context(silent=True)
    command = "karat run" if context is None else context.command_path
    names: list[str] = []
    flags: dict[str, str] = {}
    remaining = iter(arguments)
    for argument in remaining:
        if argument.startswith("-") and not argument.startswith("--"):
            hint = " karat score has -m; karat run writes the predictions for it." if argument[1:2] == "m" else ""
            raise UsageError(f"{command} has no option {argument}. See {command} --help.{hint}")
        if not argument.startswith("--"):
            names.append(argument)
            continue
        name, equals, value = argument.removeprefix("--").partition("=")
        flag_value = value if equals else next(remaining, None)
        if flag_value is None:
            raise UsageError(f"{argument} needs a value. Write {argument}=VALUE, or see {command} --help.")
        if name in flags:
            remedy = f"Join them by +: --kb {flags[name]}+{flag_value}." if name == "kb" else "Pass it once."
            raise UsageError(f"--{name} is repeated. {remedy}")
        flags[name] = flag_value
    if not names:
        name, value = next(iter(flags.items()))
        raise UsageError(f"no system: {value!r} is the value of --{name}. Name a system first, as in {command} light …")
    return names, flags
