"""HTML reports in one file."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from karat.cli.output import echo

if TYPE_CHECKING:
    from collections.abc import Iterable

    from karat.analysis.comparison.entries import Entry
    from karat.analysis.comparison.options import ComparisonOptions
    from karat.evaluation.request import Request
    from karat.web.archive.archive import Archive, TextsShown
    from karat.web.archive.submissions import ArchiveOptions


class HtmlOptions(NamedTuple):
    """The HTML report that a command writes besides its other output."""

    file: str | None
    """Path of the report; None writes none."""
    texts: TextsShown = "all"
    """Amount of document text in the report."""


def write_html(
    entries: Iterable[Entry],
    request: Request,
    out: str | None,
    *,
    texts: TextsShown = "all",
    title: str = "Karat",
    archive: str | None = None,
    options: ArchiveOptions | None = None,
    tests: ComparisonOptions | None = None,
) -> None:
    """Score `entries`, add them to the archive folder `archive`, and write the archive to `out` as one HTML file.

    Without `archive` the report contains only these entries; with it, also the entries added earlier. Without `out` no
    report is written. `texts` is the amount of document text in the report. By default `options` score under all
    profiles. `tests`: see `Archive`.
    """
    from dataclasses import replace

    from karat.cli.startup import freeze_garbage_collector, prepare_process
    from karat.model.output.progress import allow_processes
    from karat.model.registry import list_plugins
    from karat.storage.content_store import FolderStore, MemoryStore
    from karat.web.archive.archive import Archive
    from karat.web.archive.submissions import ArchiveOptions, add_results

    store = MemoryStore() if archive is None else FolderStore.open_or_create(archive)
    options = options or ArchiveOptions(tuple(list_plugins("profiles")))
    freeze_garbage_collector()
    with allow_processes(prepare_process):
        added = add_results(store, entries, request, replace(options, has_all_groups=archive is not None))
    if out is not None:
        write_page(Archive(store, texts, title, tests=tests), out)
    if archive is not None and out != "-":
        echo(f"{archive}: added; the permanent address is /at/{added}/ of karat serve {archive}")


def write_archive_html(path: str, out: str, *, texts: TextsShown, title: str) -> None:
    """Write the archive in the folder `path` to `out` as one HTML file, and print its size unless `out` is `-`.

    A missing folder is created as an empty archive.
    """
    from karat.storage.content_store import FolderStore
    from karat.web.archive.archive import Archive

    write_page(Archive(FolderStore.open_or_create(path), texts, title), out)


def write_page(archive: Archive, out: str) -> None:
    """Write an archive to `out` as one HTML file.

    Unless `out` is `-`, print the size of the file and, if it has datasets, how much text it has.
    """
    from karat.storage.atomic_writing import open_for_writing
    from karat.web.archive.html import render_html as html_parts

    size = 0
    with open_for_writing(out) as file:
        for part in html_parts(archive):
            size += file.write(part)
    if out != "-":
        extent = archive.texts if any(map(archive.get_visible_corpus, archive.datasets)) else "none"
        contents = {"all": "with all texts", "sentences": "with single sentences", "none": "without texts"}[extent]
        echo(f"{out}: {size / 1e6:.1f} MB, {contents}")
