"""Where outcomes go: files that are asked for, and standard output unless one of them takes it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from shutil import get_terminal_size

import click

from karat.cli.progress import hide_progress
from karat.fitting import wrapped
from karat.printable import shown_lines
from karat.storage.files import writing


def width() -> int:
    """How wide a page may be: as the terminal, and 80 columns at least."""
    return max(80, get_terminal_size().columns)


def write(path: str | None, content: Callable[[], bytes]) -> None:
    """Write what is asked for; nothing is made, and no file begun, where nobody asks or it cannot be made."""
    if path is not None:
        data = content()
        with writing(path) as file:
            file.write(data)


def show(page: Callable[[], str], *files: str | None) -> None:
    """Print a page, unless a file goes to standard output."""
    if "-" not in files:
        say(page(), nl=False)


def say(text: str, *, nl: bool = True, err: bool = False) -> None:
    """Print a text as data: what names hold is shown, never obeyed by the terminal."""
    hide_progress()
    page = shown_lines(text)
    if err and sys.stderr.isatty():  # a file of messages is searched, and keeps them in one line each
        page = wrapped(page, width())
    click.echo(page, nl=nl, err=err)
