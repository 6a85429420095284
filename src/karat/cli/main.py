"""The command line: one file per command, imported only when the command is called."""

from __future__ import annotations

import io
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

import click

from karat.cli.data import COMMANDS as DATA
from karat.cli.lazy_group import LazyGroup
from karat.cli.output import echo
from karat.cli.progress import show_progress
from karat.cli.startup import speed_up_start
from karat.model.errors import KaratError, KaratWarning, describe_os_error
from karat.version import __version__

COMMANDS = {
    "agreement": "Measure inter-annotator agreement.",
    "annotate": "Annotate texts, measure agreement and adjudicate.",
    "compare": "Compare systems and test the differences.",
    "completion": "Print the completion script of a shell.",
    "curve": "Plot scores against threshold, coverage, alpha or categories.",
    "data": "List, fetch, convert, check and describe datasets.",
    "demo": "Run four systems on the built-in dataset and compare them.",
    "explain": "Explain a signature, measure, setting or error category.",
    "gate": "Fail if a new version is significantly worse.",
    "kb": "Build, import, query and compare knowledge bases.",
    "report": "Write an HTML report.",
    "reproduce": "Recompute another tool's published scores.",
    "run": "Run systems on datasets and score them.",
    "score": "Score predictions against a gold standard.",
    "scorecard": "Summarise each system's strengths and weaknesses.",
    "serve": "Serve an archive of results to web browsers.",
    "serve-nif": "Serve a system to GERBIL as a NIF web service.",
    "show": "Show individual cases in context.",
    "systems": "List the built-in systems and measure their stages.",
    "train": "Train a system on a gold standard.",
    "verify": "Collect human judgements and rescore.",
    "why": "Explain why two profiles give different scores.",
    "zelda": "Build and score ZELDA-style benchmarks.",
}
"""One-line help of every command, so that listing the commands imports none of them."""

_OTHER_NAMES = {
    **dict.fromkeys(("assess", "benchmark", "eval", "evaluate", "metric", "metrics"), "score"),
    **dict.fromkeys(("diff", "significance"), "compare"),
    **dict.fromkeys(("link", "predict"), "run"),
    **dict.fromkeys(("check", "validate"), "data lint"),
    "datasets": "data list",
    "download": "data fetch",
}
"""Commands by the names that other tools give them."""

COMPLETION_VARIABLE = "_KARAT_COMPLETE"
"""Environment variable with which the script of `karat completion` asks for completions, as `bash_complete`."""


class _BrokenOutputError(Exception):
    """The reader of standard output has closed the pipe. Not an OSError, because click would handle that itself."""


@contextmanager
def _convert_broken_pipe() -> Iterator[None]:
    """Raise `_BrokenOutputError` in place of BrokenPipeError inside the block."""
    try:
        yield
    except BrokenPipeError:
        raise _BrokenOutputError from None


class _Commands(LazyGroup):
    """The commands of `karat`; they raise `_BrokenOutputError` if the reader of their output has gone."""

    prefix = "karat.cli."
    commands_help = COMMANDS
    suggestions = tuple(f"data {name}" for name in DATA)
    other_names = _OTHER_NAMES

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        with _convert_broken_pipe():  # click prints --help while parsing
            return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        with _convert_broken_pipe():
            return super().invoke(ctx)


@click.command(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="karat")
def karat() -> None:
    """Evaluate entity linking systems.

    \b
    karat demo                       see an example
    karat score GOLD PREDICTIONS…    score your own files
    karat explain MEASURE            learn what a score means
    """


def main() -> None:
    """Run the command line.

    Expected errors print one message and exit with code 2, an interrupt exits with 130 and a broken pipe with 141.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # terminals that lack a character show its code
            stream.reconfigure(errors="backslashreplace")
    speed_up_start(sys.argv[1:])
    try:
        if COMPLETION_VARIABLE in os.environ:  # a shell asks how a line may go on
            from karat.cli.completion.shells import answer_script

            answer_script(karat, COMPLETION_VARIABLE, os.environ)
        _run()
    except (_BrokenOutputError, BrokenPipeError):
        _exit_silently()


def _run() -> None:
    """Run the command of `sys.argv`; print expected exceptions as one message and exit with their code."""
    try:
        with show_progress(), _print_warnings():
            karat(prog_name="karat", standalone_mode=False)
    except KaratError as problem:
        for message in (problem, *getattr(problem, "__notes__", ())):
            echo(f"karat: {message}", err=True)
        sys.exit(2)
    except click.exceptions.Abort:
        echo("karat: interrupted", err=True)
        sys.exit(130)
    except click.ClickException as problem:
        message = io.StringIO()
        problem.show(message)
        echo(message.getvalue(), nl=False, err=True)
        sys.exit(2)
    except UnicodeEncodeError as problem:
        name = ascii(problem.object[problem.start : problem.end])
        echo(f"karat: a file or other name is not valid UTF-8 ({name}). Rename it, or set PYTHONUTF8=1.", err=True)
        sys.exit(2)
    except OSError as problem:
        echo(f"karat: {describe_os_error(problem)}", err=True)
        sys.exit(2)
    except MemoryError:
        echo("karat: out of memory. Split the input, or see the documentation page 'Score large data'.", err=True)
        sys.exit(2)


@contextmanager
def _print_warnings() -> Iterator[None]:
    """Print the warnings of public functions like other messages, without the line of code."""
    with warnings.catch_warnings():
        default = warnings.showwarning

        def show(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            if issubclass(category, KaratWarning):
                echo(f"karat: warning: {message}", err=True)
            else:
                default(message, category, filename, lineno, file, line)

        warnings.showwarning = show
        yield


def _exit_silently() -> None:
    """Exit with code 141, as shells expect after a broken pipe (`karat … | head`).

    Both streams now write to the null device, so that flushing them at exit cannot fail again.
    """
    null_device = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):  # the stream is not a file
            os.dup2(null_device, stream.fileno())
    sys.exit(141)
