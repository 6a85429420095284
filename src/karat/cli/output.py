"""Output: files that options name, and standard output unless a file option is `-`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from shutil import get_terminal_size
from typing import TYPE_CHECKING

import click

from karat.cli.progress import hide_progress
from karat.model.output.control_chars import escape_lines
from karat.model.output.text_layout import wrap_text
from karat.storage.atomic_writing import open_for_writing, run_output_check

if TYPE_CHECKING:
    from karat.model.corpus import Corpus
    from karat.model.results.result import Result
    from karat.model.run import Run
    from karat.model.spec.report import Style


def page_width() -> int:
    """Return the terminal width in columns, at least 80."""
    return max(80, get_terminal_size().columns)


def write_output(path: str | None, content: Callable[[], bytes]) -> None:
    """Write the bytes that `content` returns to the file `path`, or to standard output for `-`.

    If `path` is None, `content` is not called. If `content` raises, no file is created.
    """
    if path is not None:
        data = content()
        with open_for_writing(path) as file:
            file.write(data)


def print_page(page: Callable[[], str], *files: str | None) -> None:
    """Print the text that `page` returns, unless one of the output `files` is `-`, which uses standard output."""
    if "-" not in files:
        echo(page(), nl=False)


def echo_warnings(inputs: Iterable[tuple[Corpus | None, Run | None]]) -> None:
    """Print warnings about pairs of corpus and run on standard error, for commands whose output has no notes.

    Pairs with None, which come from result files, are ignored.
    """
    for corpus, run in inputs:
        if corpus is not None and run is not None:
            echo_run_warnings(corpus, run)


def echo_run_warnings(corpus: Corpus, run: Run) -> None:
    """Print warnings about a run on a corpus on standard error."""
    from karat.evaluation.cases.input_checks import find_warnings

    echo_notes(f"{run.name}: {warning}" for warning in find_warnings(corpus, run))


def echo_offset_warnings(corpus: Corpus, run: Run) -> None:
    """Print the warning that offsets do not fit on standard error, for commands that print the notes of readers."""
    from karat.evaluation.cases.input_checks import find_offset_warnings

    echo_notes(f"{run.name}: {warning}" for warning in find_offset_warnings(corpus, run))


def echo_notes(notes: Iterable[str]) -> None:
    """Print notes on standard error, one per line."""
    for note in notes:
        echo(f"karat: {note}", err=True)


def echo_losses(target: str, losses: Mapping[str, int]) -> None:
    """Print on standard error what the format of a file could not store, one line for each description."""
    for name, count in losses.items():
        echo(f"{target}: not stored: {name} {count}", err=True)


def print_tables(results: Sequence[Result], style: Style | None = None, layout: str | None = None) -> None:
    """Print score tables for the terminal in the `style` that is given, or as Markdown or LaTeX (`layout`)."""
    from karat.model.spec.report import Style
    from karat.plugins.reports.table import render_table
    from karat.render.scores import render_page

    if layout is not None:
        echo(render_page(results, layout, None if style is None else style.facets), nl=False)
    else:
        echo(render_table(results, (style or Style())._replace(width=page_width())), nl=False)


def echo(text: str, *, nl: bool = True, err: bool = False) -> None:
    """Print text with control characters escaped, so that names in the data cannot control the terminal.

    `err` prints to standard error, `nl` adds a line break. The progress line is cleared first.
    """
    if not err:
        run_output_check()
    hide_progress()
    page = escape_lines(text)
    if err and sys.stderr.isatty():  # in a file, each message stays on one line for searching
        page = wrap_text(page, page_width())
    click.echo(page, nl=nl, err=err)
