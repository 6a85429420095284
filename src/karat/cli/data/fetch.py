"""`karat data fetch NAME…`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from karat.cli.choices import apart, once
from karat.cli.output import show, write

if TYPE_CHECKING:
    from click._termui_impl import ProgressBar  # click gives the type no public name

    from karat.data.catalogue import Progress


@click.command()
@click.argument("wanted", nargs=-1, required=True, metavar="NAME[@VERSION][/SPLIT]…")
@click.option(
    "--from", "given", type=click.Path(path_type=Path), metavar="FOLDER", help="Take local copies from this folder."
)
@click.option("--link", is_flag=True, help="With --from: link to the files instead of copying them.")
@click.option("--json", "json_file", callback=once, multiple=True, metavar="FILE", help="Write what was done as JSON.")
def command(wanted: tuple[str, ...], given: Path | None, link: bool, json_file: str | None) -> None:
    """Bring benchmarks to this machine and check them.

    Without a split all splits of the version are fetched. Files go into the folder KARAT_HOME, or into the one that
    the platform has for data. A download that was cut is continued; a file with the wrong checksum is refused. FOLDER
    holds the files of a benchmark, or is laid out like the cache. For data that nobody may pass on, the command says
    how to obtain it and ends with exit code 2.

    \b
    karat data fetch kore50
    karat data fetch aida --from ~/conll2003
    """
    from karat.data.catalogue import every, fetch, named
    from karat.errors import UnknownNameError, UsageError
    from karat.pages.data.datasets import fetched_json, fetched_page
    from karat.registry import names

    apart([], [json_file])
    if link and given is None:
        raise UsageError("--link makes links to local copies. Name their folder with --from.")
    splits = []
    for name in wanted:
        asked = named(name)
        if asked is None:
            raise UnknownNameError("dataset", name, names("datasets"))
        splits += every(asked)
    done = {}
    for one in splits:
        with _progress() as progress:
            fetched = done[str(one.name)] = fetch(one, given=given, link=link, progress=progress)
        show(partial(fetched_page, one, fetched), json_file)
    write(json_file, lambda: fetched_json(done))


@contextmanager
def _progress() -> Iterator[Progress | None]:
    """A progress bar on standard error for each file, for people who look."""
    if not sys.stderr.isatty():
        yield None
        return
    bars: dict[str, ProgressBar[int]] = {}

    def report(path: str, done: int, total: int | None) -> None:
        if path not in bars and total is not None:
            bars[path] = click.progressbar(length=total, label=Path(path).name, file=sys.stderr)
        if path in bars:
            bars[path].update(done - bars[path].pos)

    try:
        yield report
    finally:
        for bar in bars.values():
            bar.render_finish()
