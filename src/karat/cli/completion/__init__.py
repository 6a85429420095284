"""`karat completion SHELL`."""

from __future__ import annotations

import click

from karat.cli.options.declaration import karat_command
from karat.cli.output import echo


@karat_command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the script that completes `karat` in a shell.

    The shell then completes commands and options, and the names of datasets, systems, measures, profiles and other
    plugins.

    \b
    eval "$(karat completion bash)"                                 in ~/.bashrc
    eval "$(karat completion zsh)"                                  in ~/.zshrc
    karat completion fish > ~/.config/fish/completions/karat.fish
    """
    from karat.cli.completion.shells import build_script
    from karat.cli.main import COMPLETION_VARIABLE

    echo(build_script(shell, COMPLETION_VARIABLE), nl=False)
