"""Choices as the command line gives them."""

from __future__ import annotations

from karat.errors import UsageError


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
