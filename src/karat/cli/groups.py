"""Commands that are imported only when they are called."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from keyword import iskeyword

import click

from karat.errors import UnknownNameError


class LazyGroup(click.Group):
    """A group whose commands are files: `prefix` and the name make the module, `commands_help` its one-line help.

    `also_known` are commands of other groups that people look for here; `folders` names the folder of commands that do
    not lie beside the others.
    """

    prefix: str = ""
    folders: Mapping[str, str] = {}
    commands_help: Mapping[str, str] = {}
    also_known: tuple[str, ...] = ()

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names in alphabetical order."""
        return sorted(self.commands_help)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """The command of that name."""
        if name not in self.commands_help:
            return None
        module = f"{name}_" if iskeyword(name) else name.replace("-", "_")
        folder = f"{self.folders[name]}." if name in self.folders else ""
        found = import_module(f"{self.prefix}{folder}{module}").command
        assert isinstance(found, click.Command)
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is called; of an unknown one the nearest names."""
        if args and args[0] not in self.commands_help:
            raise UnknownNameError("command", args[0], [*self.commands_help, *self.also_known])
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The names with their help, without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl(sorted(self.commands_help.items()))
