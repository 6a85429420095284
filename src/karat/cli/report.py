"""`karat report FILE…`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from karat.cli.arguments import check_paths, parse_settings
from karat.cli.html import texts_option, write_archive_html, write_html
from karat.cli.input_options import input_options
from karat.cli.output import echo, echo_warnings

if TYPE_CHECKING:
    from collections.abc import Iterable

    from karat.analysis.comparison.entries import Entry
    from karat.evaluation.request import Request
    from karat.web.archive.archive import TextsShown


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@click.option(
    "--gold", "golds", multiple=True, metavar="GOLD", help="Gold standard of the predictions in FILEs (repeatable)."
)
@click.option(
    "--to",
    "layout",
    default="html",
    show_default=True,
    metavar="NAME",
    help="Report format: html, md, latex, csv, junit or table.",
)
@click.option("-o", "--out", metavar="FILE", help="Output file; required for html.  [default: standard output]")
@click.option("--archive", metavar="DIR", help="Archive folder to add the results to, for karat serve.")
@click.option("--title", default="Karat", show_default=True, help="Title of the pages.")
@texts_option
@click.option("--profile", metavar="PROFILE", help="Scoring profile.  [default: karat]")
@click.option("--set", "overrides", multiple=True, metavar="SETTING=VALUE", help="Override a setting of the profile.")
@click.option("--kb", metavar="NAME|DIR", help="Knowledge base that resolves ids and supplies entity names.")
@click.option("--by", multiple=True, metavar="FACET", help="Facet to break scores down by: types, nil, … (repeatable).")
@click.option(
    "--why",
    "why_profiles",
    multiple=True,
    metavar="PROFILE",
    help="Profile whose different scores to explain (repeatable).",
)
@click.option("--one-profile", is_flag=True, help="Omit scores under other profiles.")
@click.option("--resamples", default=1000, show_default=True, metavar="N", help="Bootstrap samples for intervals.")
@click.option("--gold-format", metavar="NAME", help="Format of GOLD, if not detected.")
@click.option("--predictions-format", metavar="NAME", help="Format of FILE, if not detected.")
@click.option("--allow-unknown", is_flag=True, help="Skip predictions for unknown documents.")
@input_options
def command(
    files: tuple[str, ...],
    golds: tuple[str, ...],
    layout: str,
    out: str | None,
    archive: str | None,
    title: str,
    texts: TextsShown,
    profile: str | None,
    overrides: tuple[str, ...],
    kb: str | None,
    by: tuple[str, ...],
    why_profiles: tuple[str, ...],
    one_profile: bool,
    resamples: int,
    gold_format: str | None,
    predictions_format: str | None,
    allow_unknown: bool,
) -> None:
    """Write an HTML report.

    The report contains leaderboard, errors, annotated texts, flips, gold standard, profiles and curves. FILEs are as in
    `karat compare`: result files (`karat score --json`), files with gold labels and predictions, or, with --gold,
    prediction files. FILE may also be an archive folder. The report is one file that works offline and can be shared.
    It contains the document texts unless --texts limits them.

    \b
    karat report --gold demo demo --out demo.html
    karat report --gold gold.jsonl one.jsonl two.jsonl --why gerbil --out r.html
    karat report */*.kore50.linked_articles.jsonl --archive archive
    karat report results/*.json --to latex --by types
    """
    from karat.analysis.comparison.entries import Formats, load_entries, parse_system_argument
    from karat.evaluation.request import Request
    from karat.model.errors import UsageError
    from karat.model.registry import list_plugins
    from karat.storage.content_store import is_archive
    from karat.web.archive.submissions import ArchiveOptions, check_profiles

    if layout == "html" and out is None and archive is None:
        raise UsageError("an HTML report cannot be printed. Add --out FILE, such as --out report.html.")
    if layout != "html" and archive is not None:
        raise UsageError(f"--archive needs the html format, not {layout}. Remove --to or --archive.")
    archives = [path for path in files if is_archive(path)]
    check_paths([*(parse_system_argument(file)[1] for file in files if file not in archives), *golds], [out])
    request = Request.from_options(
        profile=profile or "karat", settings=parse_settings(overrides), by=by, kb=kb, allow_unknown=allow_unknown
    )
    if archives:
        if len(files) > 1 or golds or layout != "html" or out is None:
            raise UsageError(f"{archives[0]} is an archive. Pass it alone, with --out FILE.")
        write_archive_html(archives[0], out, texts=texts, title=title)
        return
    entries = list(load_entries(files, golds, Formats(gold_format, predictions_format)))
    if layout == "html":
        echo_warnings((entry.corpus, entry.run) for entry in entries)
        profiles = tuple(list_plugins("profiles")) if not one_profile else check_profiles(why_profiles)
        options = ArchiveOptions(profiles, check_profiles(why_profiles), resamples)
        write_html(entries, request, out, texts=texts, title=title, archive=archive, options=options)
        return
    _write_text_report(entries, request, layout, out)


_TABLE_LAYOUTS = {"md": "markdown", "markdown": "markdown", "latex": "latex"}
"""Table layouts of `karat.render.report` by the format name that users type."""


def _write_text_report(entries: Iterable[Entry], request: Request, layout: str, out: str | None) -> None:
    """Score `entries` and write the results to `out` in a format other than HTML; print them if `out` is None.

    `layout` is the value of `--to`. Raises an error if it is not a report format.
    """
    from karat.cli.output import write_output
    from karat.cli.score import print_tables
    from karat.model.errors import UnknownNameError, UsageError
    from karat.model.registry import get_plugin, list_plugins
    from karat.model.spec.report import Report
    from karat.render.report import render_report as tables
    from karat.web.archive.submissions import score_results

    formats = [name for name in list_plugins("reports") if not get_plugin("reports", name, Report).is_reference_layout]
    if layout not in (*_TABLE_LAYOUTS, *formats):
        if layout in list_plugins("reports"):
            raise UsageError(
                f"--to {layout}: this is a file layout of another program. Use karat score --layout {layout}."
            )
        raise UnknownNameError("report", layout, ["html", *_TABLE_LAYOUTS, *formats])
    scores = score_results(entries, request)
    if layout == "table" and out is None:
        print_tables(scores)
        return
    text = (
        tables(scores, _TABLE_LAYOUTS[layout])
        if layout in _TABLE_LAYOUTS
        else get_plugin("reports", layout, Report).render(scores)
    )
    if out is None:
        echo(text, nl=False)
    else:
        write_output(out, text.encode)
