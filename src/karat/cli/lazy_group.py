"""Command groups that import a command only when it is called."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from keyword import iskeyword

import click

from karat.model.errors import UnknownNameError


class LazyGroup(click.Group):
    """A click group with one module per command, which is imported only when the command is called."""

    prefix: str = ""
    """Start of the module names, such as `karat.cli.data.`; the command name follows."""

    commands_help: Mapping[str, str] = {}
    """One-line help of each command, by name."""

    suggestions: tuple[str, ...] = ()
    """Commands of other groups to suggest for an unknown name."""

    other_names: Mapping[str, str] = {}
    """Commands by the names that other tools give them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the command names in alphabetical order."""
        return sorted(self.commands_help)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Import the module of the command `name` and return its `command`; None if the group has no such command."""
        if name not in self.commands_help:
            return None
        module = f"{name}_" if iskeyword(name) else name.replace("-", "_")
        command = import_module(f"{self.prefix}{module}").command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return name, command and remaining arguments; raise `UnknownNameError` with similar names if unknown."""
        if args and args[0] not in self.commands_help:
            known_names = [*self.commands_help, *self.suggestions]
            raise UnknownNameError("command", args[0], known_names, meant=self.other_names.get(args[0].lower()))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the command names with their help, without importing a command."""
        with formatter.section("Commands"):
            formatter.write_dl(sorted(self.commands_help.items()))


def command_group(package: str, commands: Mapping[str, str], help: str) -> LazyGroup:
    """Return the group of the commands in `package`, one module per command.

    `commands` has the one-line help of each command by name, `help` is the help of the group.
    """
    group = LazyGroup(help=help)
    group.prefix, group.commands_help = f"{package}.", commands
    return group
