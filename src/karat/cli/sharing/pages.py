"""Pages in one file: options that commands share, and how it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import click

from karat.cli.choices import once
from karat.cli.output import say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from karat.archive.archive import Archive, TextsShown
    from karat.archive.making import Filling
    from karat.comparison.entries import Entry
    from karat.evaluation.request import Request

_C = TypeVar("_C", bound="Callable[..., Any]")


def texts_shown(command: _C) -> _C:
    """Add `--texts`."""
    return click.option(
        "--texts",
        type=click.Choice(["all", "sentences", "none"]),
        default="all",
        show_default=True,
        help="How much of the texts goes into pages of HTML.",
    )(command)


def html(command: _C) -> _C:
    """Add `--html` and `--texts`."""
    to_file = click.option(
        "--html",
        "html_file",
        callback=once,
        multiple=True,
        metavar="FILE",
        help="Write pages to look at, all in one file; it holds the texts (see --texts).",
    )
    return to_file(texts_shown(command))


def write_html(
    entries: Iterable[Entry],
    request: Request,
    out: str | None,
    *,
    texts: TextsShown = "all",
    title: str = "Karat",
    archive: str | None = None,
    filling: Filling | None = None,
) -> None:
    """Score what is given, keep it in the archive if there is one, and write the file if one is asked for."""
    from karat.archive.archive import Archive
    from karat.archive.making import Filling, fill
    from karat.registry import names
    from karat.storage.addressed import InFolder, InMemory

    kept = InMemory() if archive is None else InFolder.made(archive)
    added = fill(kept, entries, request, filling or Filling(tuple(names("profiles"))))
    if out is not None:
        _write(Archive(kept, texts, title), out)
    if archive is not None and out != "-":
        say(f"{archive}: added, and for ever under /at/{added}/ of karat serve {archive}")


def write_archived(path: str, out: str, *, texts: TextsShown, title: str) -> None:
    """Write the file of an archive."""
    from karat.archive.archive import Archive
    from karat.storage.addressed import InFolder

    _write(Archive(InFolder.made(path), texts, title), out)


def _write(archive: Archive, out: str) -> None:
    from karat.archive.html import html as parts_of
    from karat.storage.files import writing

    size = 0
    with writing(out) as file:
        for part in parts_of(archive):
            size += file.write(part)
    if out != "-":
        there = archive.texts if any(map(archive.shown, archive.datasets)) else "none"
        held = {"all": "with all texts", "sentences": "with single sentences", "none": "without texts"}[there]
        say(f"{out}: {size / 1e6:.1f} MB, {held}")
