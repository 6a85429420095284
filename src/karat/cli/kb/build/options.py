"""Options, paths and progress bars of the commands that build snapshots."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from karat.cli.options.declaration import option
from karat.cli.options.output import json_option

if TYPE_CHECKING:
    from click._termui_impl import ProgressBar  # click gives the type no public name

    from karat.kb.snapshot.manifest import SnapshotManifest
    from karat.storage.dumps import Progress

_C = TypeVar("_C", bound=Callable[..., Any])
_DATE = re.compile(r"(20\d\d)-?([01]\d)-?([0-3]\d)")


def output_options(command: _C) -> _C:
    """Add the options `--out`, `--date` and `--json` of a new snapshot to a command (decorator)."""
    day = option("--date", callback=_parse_date, metavar="DATE", help="Date of the source data, such as 2026-11-01.")
    out = option(
        "--out",
        "folder",
        required=True,
        metavar="NAME|DIR",
        help="Name (for --kb) or folder of the snapshot. An old snapshot is replaced once the new one is complete.",
    )
    return out(day(json_option("the contents of the snapshot")(command)))


def memory_option(command: _C) -> _C:
    """Add the option `--memory` to a command (decorator)."""
    return option(
        "--memory",
        default="2GB",
        show_default=True,
        metavar="SIZE",
        help="Memory limit of DuckDB; more data goes to disk.",
    )(command)


def item_options(command: _C) -> _C:
    """Add the options `--language` and `--wiki`, as `languages` and `wikis`, to a command (decorator)."""
    languages = option(
        "--language",
        "languages",
        metavar="CODE",
        multiple=True,
        default=["en"],
        show_default=True,
        help="Language of names, best first (repeatable).",
    )
    wikis = option(
        "--wiki",
        "wikis",
        metavar="NAME",
        multiple=True,
        default=["enwiki"],
        show_default=True,
        help="Wikipedia whose titles to include (repeatable).",
    )
    return languages(wikis(command))


def type_options(command: _C) -> _C:
    """Add the options `--types` and `--adjust`, the input of `read_type_rules`, to a command (decorator)."""
    types = option(
        "--types",
        "whitelist",
        metavar="NAME|FILE",
        help="Whitelist of types, fair or a file; entities get the listed types that apply.",
    )
    adjust = option("--adjust", multiple=True, metavar="FILE", help="Adjustments of types and classes (repeatable).")
    return types(adjust(command))


def snapshot_folder(target: str) -> Path:
    """Return the folder for a snapshot: `target` itself if it contains a separator or is an existing folder.

    Any other `target` is a name, for the folder of that name among Karat's snapshots.
    """
    from karat.kb.catalogue import get_snapshots_folder

    is_name = Path(target).name == target and not Path(target).is_dir()
    return get_snapshots_folder() / target if is_name else Path(target)


def snapshot_date(date: str | None, *files: Path) -> str:
    """Return `date`, or if it is None the first date in a file name, as YYYY-MM-DD; raise `UsageError` without any."""
    from karat.model.errors import UsageError

    if date is not None:
        return date
    for path in files:
        match = _DATE.search(path.name)
        if match is not None:
            return "-".join(match.groups())
    raise UsageError("no file name contains a date. Add --date, the date of the source data.")


def print_manifest(manifest: SnapshotManifest, json_file: str | None) -> None:
    """Print the manifest of a new snapshot (tables, counts, sources), and write it to `json_file` unless None."""
    from karat.cli.output import page_width, print_page, write_output
    from karat.render.kb import encode_manifest, render_manifest

    write_output(json_file, lambda: encode_manifest(manifest))
    print_page(lambda: render_manifest(manifest, width=page_width()), json_file)


@contextmanager
def show_progress_bars() -> Iterator[Progress | None]:
    """Show a progress bar for each dump inside the block, if standard error is a terminal.

    Yields the function that updates a bar (name, bytes done, total bytes), or None without a terminal.
    """
    if not sys.stderr.isatty():
        yield None
        return
    bars: dict[str, ProgressBar[int]] = {}

    def report(name: str, done: int, total: int) -> None:
        if name not in bars:
            bars[name] = click.progressbar(length=total, label=name, file=sys.stderr)
        bars[name].update(done - bars[name].pos)

    try:
        yield report
    finally:
        for bar in bars.values():
            bar.render_finish()


def _parse_date(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    """Return a date such as 20261101 as 2026-11-01, and None as None; raise an error otherwise (click callback)."""
    match = None if value is None else _DATE.fullmatch(value)
    if value is not None and match is None:
        raise click.BadParameter(f"{value!r} is not a date such as 2026-11-01.")
    return None if match is None else "-".join(match.groups())
