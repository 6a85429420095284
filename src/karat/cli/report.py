"""`karat report FILE…`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from karat.cli.arguments import check_paths
from karat.cli.html import write_archive_html, write_html
from karat.cli.options.declaration import karat_command, option
from karat.cli.options.output import archive_option, texts_option, title_option
from karat.cli.options.reading import input_options
from karat.cli.options.scoring import (
    ConventionOptions,
    convention_options,
    facets_option,
    format_options,
    golds_option,
    measures_option,
)
from karat.cli.options.statistics import resamples_option
from karat.cli.output import echo, echo_warnings, print_tables, write_output

if TYPE_CHECKING:
    from collections.abc import Sequence

    from karat.analysis.comparison.entries import Formats
    from karat.model.results.result import Result
    from karat.web.archive.archive import TextsShown

_HTML = ["--to html"]


@karat_command()
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@golds_option()
@option(
    "--to",
    "layout",
    default="html",
    show_default=True,
    metavar="NAME",
    help="Report format: html, md, latex, csv, junit, table or paper (a folder).",
)
@option(
    "-o",
    "--out",
    metavar="FILE",
    help="Output file; required for html and, as a folder, for paper.  [default: standard output]",
)
@archive_option("results", needs=_HTML, is_strict=True)
@title_option(needs=_HTML)
@texts_option(needs=_HTML)
@convention_options(kb="Knowledge base that resolves ids and supplies entity names: a snapshot or a folder of tables.")
@measures_option("Measure to score instead of those of the profile; the first is the main one (repeatable).")
@facets_option()
@option(
    "--why",
    "why_profiles",
    multiple=True,
    metavar="PROFILE",
    help="Profile whose different scores to explain (repeatable).",
    needs=_HTML,
)
@option("--one-profile", is_flag=True, help="Omit scores under other profiles.", needs=_HTML)
@resamples_option(needs=[*_HTML, "--to paper"])
@format_options(predictions="FILE")
@input_options
def command(
    files: tuple[str, ...],
    golds: tuple[str, ...],
    layout: str,
    out: str | None,
    archive: str | None,
    title: str,
    texts: TextsShown,
    conventions: ConventionOptions,
    measures: tuple[str, ...],
    by: tuple[str, ...],
    why_profiles: tuple[str, ...],
    one_profile: bool,
    resamples: int,
    formats: Formats,
) -> None:
    """Write an HTML report.

    The report contains leaderboard, errors, annotated texts, flips, gold standard, profiles and curves. FILEs are as in
    `karat compare`: result files (`karat score --json`), files with gold labels and predictions, or, with --gold,
    prediction files. NAME=FILE names a system. FILE may also be an archive folder. The report is one file that works
    offline and can be shared. It contains the document texts unless --texts limits them.

    \b
    karat report --gold demo demo --out demo.html
    karat report --gold gold.jsonl one.jsonl two.jsonl --why gerbil --out r.html
    karat report */*.kore50.linked_articles.jsonl --archive archive
    karat report results/*.json --to latex
    karat report --gold gold.jsonl one.jsonl two.jsonl --to paper --out paper
    """
    from pathlib import Path

    from karat.analysis.comparison.entries import describe_separate_systems, load_entries
    from karat.data.load import parse_system_argument
    from karat.evaluation.score_intervals import IntervalOptions
    from karat.model.errors import UsageError
    from karat.render.report import check_report_format, render_text_report
    from karat.storage.content_store import is_archive
    from karat.web.archive.submissions import ArchiveOptions, score_results

    if layout == "html" and out is None and archive is None:
        raise UsageError("an HTML report cannot be printed. Add --out FILE, such as --out report.html.")
    if layout == "html" and out is not None and Path(out).suffix.lower() not in ("", ".html", ".htm"):
        raise UsageError(
            f"{out}: the report is HTML. Name a file that ends in .html, or pass another format with --to."
        )
    if layout == "paper" and out in (None, "-"):
        raise UsageError("a paper is a folder. Add --out DIR, such as --out paper.")
    archives = [path for path in files if is_archive(path)]
    check_paths([*(parse_system_argument(file)[1] for file in files if file not in archives), *golds], [out])
    intervals = IntervalOptions(resamples=resamples) if layout == "paper" else None
    request = conventions.to_request(measures=measures, by=by, interval_options=intervals)
    if archives:
        if layout != "html":
            raise UsageError(
                f"--to {layout}: {archives[0]} is an archive, which becomes an HTML report. Remove --to, or pass the "
                "result files or predictions from which the archive was built."
            )
        if len(files) > 1 or golds or out is None:
            raise UsageError(f"{archives[0]} is an archive. Pass it alone, with --out FILE.")
        write_archive_html(archives[0], out, texts=texts, title=title)
        return
    if layout not in ("html", "paper"):
        check_report_format(layout)
    entries = list(load_entries(files, golds, formats))
    if hint := describe_separate_systems(entries):
        echo(f"karat: {hint}", err=True)
    if measures and any(entry.result is not None for entry in entries):
        raise UsageError("-m has no effect on result files. Pass predictions with --gold, or use karat score -m.")
    if layout == "html":
        echo_warnings((entry.corpus, entry.run) for entry in entries)
        options = ArchiveOptions.from_names(why_profiles, resamples=resamples, one_profile=one_profile)
        write_html(entries, request, out, texts=texts, title=title, archive=archive, options=options)
        return
    results = score_results(entries, request)
    if layout == "paper":
        _write_paper(results, str(out))
    elif layout == "table" and out is None:
        print_tables(results)
    elif out is None:
        echo(render_text_report(results, layout), nl=False)
    else:
        write_output(out, render_text_report(results, layout).encode)


def _write_paper(results: Sequence[Result], folder: str) -> None:
    """Write results as the folder of a paper, and print the command that typesets it."""
    from pathlib import Path

    from karat.render.paper.folder import build_paper
    from karat.render.paper.references import list_open_entries, list_uncited
    from karat.storage.atomic_writing import open_for_writing

    for path, data in build_paper(results).items():
        (Path(folder) / path).parent.mkdir(parents=True, exist_ok=True)
        with open_for_writing(str(Path(folder) / path)) as file:
            file.write(data)
    steps = "pdflatex paper && bibtex paper && pdflatex paper && pdflatex paper"
    echo(f"{folder}: tables, figures, methods, signatures and references. Run: cd {folder} && {steps}")
    uncited = ", ".join(list_uncited(results))
    for note in [*list_open_entries(results), *[f"not cited, publication unknown: {uncited}"] * bool(uncited)]:
        echo(note)
