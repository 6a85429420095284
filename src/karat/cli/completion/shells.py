"""Completion of command lines in Bash, Zsh and fish: the scripts, and the answers to them."""

from __future__ import annotations

import os
import sys
from collections.abc import MutableMapping
from contextlib import suppress
from typing import Any, Final

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
    _resolve_context,
    _resolve_incomplete,
    split_arg_string,
)

from karat.cli.completion.names import complete_value
from karat.model.errors import KaratError

_PROGRAM: Final = "karat"

_BASH_SCRIPT: Final = """\
%(complete_func)s() {
    local IFS=$'\\n' line=${COMP_LINE:0:COMP_POINT} reply type value
    local word=${line##*[[:space:]]}
    local prefix=${word%%"${word##*[:=]}"}  # Bash starts a new word after these characters
    COMPREPLY=()
    for reply in $(COMP_WORDS="$line" %(complete_var)s=bash_complete "$1" 2>/dev/null); do
        IFS=, read -r type value <<< "$reply"
        if [[ $type == file ]]; then
            compopt -o filenames 2>/dev/null
            COMPREPLY+=($(compgen -f -- "${word#"$prefix"}"))
        else
            [[ $value == *: ]] && compopt -o nospace 2>/dev/null
            COMPREPLY+=("${value#"$prefix"}")
        fi
    done
}
complete -F %(complete_func)s %(prog_name)s
"""
"""Unlike the script of click, it completes files and names at once, and names with a colon."""


class _Completion(ShellComplete):
    """Completion of commands, options and values in any shell."""

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem]:
        """Return the completions of `incomplete`; none if the words before it are no valid command line."""
        with suppress(KaratError, click.ClickException):
            context = _resolve_context(self.cli, self.ctx_args, self.prog_name, args)
            item, incomplete = _resolve_incomplete(context, args, incomplete)
            if isinstance(item, click.Parameter) and not isinstance(item.type, click.Choice):
                return complete_value(context.command_path, item, incomplete)
            return item.shell_complete(context, incomplete)
        return []


class _Bash(_Completion, BashComplete):
    """Completion in Bash, from the line up to the cursor."""

    source_template = _BASH_SCRIPT

    @staticmethod
    def _check_version() -> None:
        """Accept every version; the script uses nothing new."""

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the complete words of the line after the program, and the word at the cursor."""
        line = os.environ.get("COMP_WORDS", "")
        words = split_arg_string(line)[1:]
        return (words, "") if not words or line[-1:].isspace() else (words[:-1], words[-1])


class _Zsh(_Completion, ZshComplete):
    """Completion in Zsh."""


class _Fish(_Completion, FishComplete):
    """Completion in fish."""


_CLASSES: Final[dict[str, type[_Completion]]] = {"bash": _Bash, "zsh": _Zsh, "fish": _Fish}


def build_script(shell: str, variable: str) -> str:
    """Return the script that a shell has to run; it asks for completions in the environment variable `variable`."""
    return _CLASSES[shell](click.Group(), {}, _PROGRAM, variable).source()


def answer_script(commands: click.Group, variable: str, environment: MutableMapping[str, str]) -> None:
    """Print the completions that a script asks for in an environment variable, and exit."""
    shell = environment.pop(variable).partition("_")[0]
    options: dict[str, Any] = {}
    if shell in _CLASSES:
        sys.stdout.write(_CLASSES[shell](commands, options, _PROGRAM, variable).complete() + "\n")
    sys.exit(0)
