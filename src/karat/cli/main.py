"""The command line: one file per command, imported only when it is called."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import click

from karat.cli.data import COMMANDS as DATA
from karat.cli.groups import LazyGroup
from karat.cli.output import say
from karat.cli.progress import showing_progress
from karat.cli.startup import start_sooner
from karat.errors import KaratError, reason
from karat.version import __version__

COMMANDS = {
    "agree": "Say how far annotators of the same documents agree.",
    "card": "Average over benchmarks, and say what each system is good and bad at.",
    "conform": "Compare Karat with a peer's own figures.",
    "compare": "Compare systems: who is better, and is that more than chance?",
    "curve": "Show how scores change with the threshold.",
    "data": "List, show, fetch, convert, check and describe benchmarks.",
    "demo": "Run four linkers on the built-in benchmark and compare them.",
    "explain": "Say what a signature or a measure name means.",
    "kb": "Build, import, show and ask knowledge bases.",
    "gate": "Fail if a new version of a system is surely worse than the old one.",
    "report": "Make one file of everything: board, errors, texts, flips, conventions.",
    "run": "Run linkers on benchmarks, keep their answers, and score them.",
    "score": "Score answers against a gold standard.",
    "serve-nif": "Let GERBIL ask a linker of Karat's over the web.",
    "show": "Show single cases: mentions in their sentence, with gold and answers by name.",
    "serve": "Show the pages of an archive in a browser.",
    "systems": "List the linkers that Karat runs, and say which of their stages loses what.",
    "train": "Train a linker on a gold standard.",
    "verify": "Let people judge answers after the fact, and measure with that.",
    "why": "Say why two labs get different numbers from the same answers.",
    "zelda": "Build and use a fair bed to train and test disambiguation.",
}
"""Every command with its one-line help, so that listing them imports none of them."""


class _UnreadError(Exception):
    """Whoever read our output has gone; no OSError, of which click would make an end of its own."""


@contextmanager
def _as_long_as_read() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise _UnreadError from None


class _Commands(LazyGroup):
    prefix = "karat.cli."
    folders = dict.fromkeys(("gate", "report", "serve"), "sharing")
    commands_help = COMMANDS
    also_known = tuple(f"data {name}" for name in DATA)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        with _as_long_as_read():  # --help is printed here
            return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        with _as_long_as_read():
            return super().invoke(ctx)


@click.command(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="karat")
def karat() -> None:
    """Karat measures entity linkers: how pure is the gold they find?

    \b
    karat demo                       see it work
    karat score GOLD ANSWERS…        score your own files
    karat explain MEASURE            what a number means
    """


def main() -> None:
    """Run the command line; what Karat raises on purpose becomes one message and exit code 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal without our characters shows their numbers
            stream.reconfigure(errors="backslashreplace")
    start_sooner(sys.argv[1:])
    try:
        _run()
    except (_UnreadError, BrokenPipeError):
        _leave_unread()


def _run() -> None:
    try:
        with showing_progress():
            karat(prog_name="karat", standalone_mode=False)
    except KaratError as problem:
        say(f"karat: {problem}", err=True)
        sys.exit(2)
    except click.exceptions.Abort:
        say("karat: stopped", err=True)
        sys.exit(130)
    except click.ClickException as problem:
        message = io.StringIO()
        problem.show(message)
        say(message.getvalue(), nl=False, err=True)
        sys.exit(2)
    except UnicodeEncodeError as problem:
        name = ascii(problem.object[problem.start : problem.end])
        say(f"karat: a name has characters that are no UTF-8 ({name}). Set PYTHONUTF8=1 or rename it.", err=True)
        sys.exit(2)
    except OSError as problem:
        say(f"karat: {reason(problem)}", err=True)
        sys.exit(2)
    except MemoryError:
        say("karat: there is not enough memory for this. Divide the input, or see docs/scale.md.", err=True)
        sys.exit(2)


def _leave_unread() -> None:
    """End as a program does that a pipe ends (`karat … | head`): nothing to say, and nobody to say it to.

    What is still to be written when Python ends goes nowhere, for it would be the next broken pipe.
    """
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):  # a stream that is no file
            os.dup2(nowhere, stream.fileno())
    sys.exit(141)
