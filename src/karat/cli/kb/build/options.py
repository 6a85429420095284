"""What the commands share that build packs: where to, of which day, and how far they are."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from click._termui_impl import ProgressBar  # click gives the type no public name

    from karat.kb.pack.manifest import PackManifest
    from karat.storage.dumps import Progress

_C = TypeVar("_C", bound=Callable[..., Any])
_DAY = re.compile(r"(20\d\d)-?([01]\d)-?([0-3]\d)")


def target(command: _C) -> _C:
    """Add `--out`, `--date` and `--json`."""
    from karat.cli.choices import once

    json = click.option(
        "--json", "json_file", callback=once, multiple=True, metavar="FILE", help="Write what is in it as JSON."
    )
    day = click.option("--date", callback=_day, metavar="DAY", help="The day that the knowledge is of, as 2026-11-01.")
    out = click.option(
        "--out",
        "folder",
        required=True,
        metavar="NAME|DIR",
        help="Where the pack goes: a name for --kb, or a folder. What is there stays until the new one is whole.",
    )
    return out(day(json(command)))


def memory(command: _C) -> _C:
    """Add `--memory`."""
    return click.option(
        "--memory", default="2GB", show_default=True, help="What DuckDB may hold; the rest goes to the disk."
    )(command)


def typing(command: _C) -> _C:
    """Add `--types` and `--adjust`, of which `read_type_rules` makes rules."""
    types = click.option(
        "--types", "whitelist", metavar="FILE", help="A whitelist: entities get those of its types that they are of."
    )
    adjust = click.option(
        "--adjust", multiple=True, metavar="FILE", help="Adjustments of types, corrections of classes; again for more."
    )
    return types(adjust(command))


def folder_of(given: str) -> Path:
    """The folder that a pack goes to: a path, or a name among those that are kept."""
    from karat.kb.opened import packs

    bare = Path(given).name == given and not Path(given).is_dir()
    return packs() / given if bare else Path(given)


def day_of(date: str | None, *files: Path) -> str:
    """The day that was given, or else the one in the name of a file."""
    from karat.errors import UsageError

    if date is not None:
        return date
    for path in files:
        found = _DAY.search(path.name)
        if found is not None:
            return "-".join(found.groups())
    raise UsageError("no file has a day in its name. Say with --date of which day the knowledge is.")


def tell(manifest: PackManifest, json_file: str | None) -> None:
    """Say what was built."""
    from karat.cli.output import show, width, write
    from karat.pages.kb import manifest_json, manifest_page

    write(json_file, lambda: manifest_json(manifest))
    show(lambda: manifest_page(manifest, width=width()), json_file)


@contextmanager
def watched() -> Iterator[Progress | None]:
    """A progress bar on standard error for each dump, for people who look."""
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


def _day(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    found = None if value is None else _DAY.fullmatch(value)
    if value is not None and found is None:
        raise click.BadParameter(f"{value!r} is no day such as 2026-11-01.")
    return None if found is None else "-".join(found.groups())
