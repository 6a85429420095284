"""`karat score GOLD [PREDICTIONS…]`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import click

from karat.cli.arguments import check_paths
from karat.cli.html import HtmlOptions, write_html
from karat.cli.options.declaration import group_options, karat_command, option
from karat.cli.options.output import details_option, file_option, html_options, json_option, layout_options
from karat.cli.options.reading import input_options
from karat.cli.options.scoring import (
    ConventionOptions,
    convention_options,
    facets_option,
    format_options,
    measures_option,
    steps_option,
)
from karat.cli.options.statistics import interval_options, seed_option
from karat.cli.output import echo, echo_notes, print_tables

if TYPE_CHECKING:
    from karat.analysis.comparison.entries import Formats
    from karat.analysis.scoring import Tuning
    from karat.evaluation.score_intervals import IntervalOptions
    from karat.model.results.result import Result


class _ScoreFiles(NamedTuple):
    """The output files of `karat score`; None for a file that is not requested."""

    json_file: str | None
    verdicts_file: str | None
    view: str | None
    """View of the cases in `verdicts_file`; None for that of the first measure."""
    layout: str | None
    """Layout of another program for both files; None for Karat's own."""


class _TableOptions(NamedTuple):
    """Printed output of `karat score`."""

    show_all: bool
    details: bool
    plus_minus: bool
    merged_ids: bool
    table_format: str | None


def _build_tuning(tune_on: str | None, tune_predictions: tuple[str, ...]) -> Tuning | None:
    """Return the development data, or None if no threshold is tuned."""
    from karat.analysis.scoring import Tuning

    return None if tune_on is None else Tuning(tune_on, tune_predictions)


@karat_command()
@click.argument("gold")
@click.argument("predictions", nargs=-1)
@convention_options(
    "match", "task", "threshold", "drop_predictions", "invented", seed_option(None, needs=["--ci", "--html"])
)
@group_options(
    "tuning",
    _build_tuning,
    option("--tune-on", metavar="DEV", help="Gold standard on which to tune the threshold (by micro F1)."),
    option(
        "--tune-predictions",
        multiple=True,
        metavar="FILE",
        help="Predictions for DEV, one file per PREDICTIONS file in the same order, if PREDICTIONS do not include them "
        "(repeatable).",
        needs=["--tune-on"],
        is_strict=True,
    ),
)
@steps_option("Step to apply to the gold standard first: drop-deleted, … (repeatable).")
@option(
    "--overlay",
    metavar="FILE",
    help="Patch of the gold standard; scores are shown without and with it.",
    unless=["--engine", "--layout", "--verdicts"],
    is_strict=True,
    hint="karat verify apply writes the patched gold standard.",
)
@option("--engine", metavar="NAME", help="Engine for large data: local, duckdb or spark.")
@interval_options
@measures_option("Measure to show (repeatable).")
@facets_option()
@group_options(
    "tables",
    _TableOptions,
    option(
        "--all",
        "show_all",
        is_flag=True,
        help="Show all measures of the profile, not only the headline.",
        unless=["--markdown", "--latex"],
    ),
    details_option("Print notes in full, with every run by name.", unless=["--markdown", "--latex"]),
    option("--plus-minus", is_flag=True, help="Show intervals as ± half width.", needs=["--ci"], is_strict=True),
    option("--merged-ids", is_flag=True, help="List ids with several spellings, which count as one entity."),
    layout_options(),
)
@group_options(
    "files",
    _ScoreFiles,
    json_option("a result file"),
    file_option("--verdicts", "verdicts_file", "Write every case of a view with its sentence (.parquet or .jsonl)."),
    option(
        "--view",
        metavar="VIEW",
        help="View for --verdicts, or all.  [default: view of the first measure]",
        needs=["--verdicts"],
        unless=["--layout"],
        is_strict=True,
    ),
    option(
        "--layout",
        metavar="NAME",
        help="Layout of --json and --verdicts for another program: elevant.",
        needs=["--json", "--verdicts"],
        is_strict=True,
    ),
)
@html_options(unless=["--tune-on", "--engine", "--layout"], is_strict=True)
@format_options()
@input_options
def command(
    gold: str,
    predictions: tuple[str, ...],
    conventions: ConventionOptions,
    tuning: Tuning | None,
    steps: tuple[str, ...],
    overlay: str | None,
    engine: str | None,
    intervals: IntervalOptions,
    measures: tuple[str, ...],
    by: tuple[str, ...],
    tables: _TableOptions,
    files: _ScoreFiles,
    html: HtmlOptions,
    formats: Formats,
) -> None:
    """Score predictions against a gold standard.

    GOLD and PREDICTIONS are files, dataset names, or - for standard input. The name `demo` is the built-in dataset
    and also its stored predictions. Several PREDICTIONS are shown side by side. A file with both gold labels and
    predictions, such as ELEVANT's linked articles, is passed once; several such files must share the gold standard.
    Folders of Karat Parquet files are processed in parts and need not fit into memory.

    \b
    karat score gold.jsonl mine.jsonl
    karat score demo demo --by types
    karat score demo demo/noisy --verdicts cases.jsonl
    karat score demo demo --html report.html
    karat score demo demo --profile gerbil --set prefixes=Q
    karat score test.jsonl mine.jsonl --tune-on dev.jsonl
    karat score gold.jsonl mine.jsonl --kb enwiki --step drop-deleted
    karat score test.jsonl mine.jsonl theirs.jsonl --latex > table.tex
    karat score mine.kore50.linked_articles.jsonl
    karat score mine.kore50.linked_articles.jsonl --layout elevant --json out.json
    """
    from dataclasses import replace

    from karat.analysis.comparison.entries import entry_from_evaluation
    from karat.analysis.scoring import score_runs, select_groups
    from karat.data.load import detect_inputs, parse_system_argument
    from karat.data.save import LayoutFiles, save_results, save_verdicts, select_view
    from karat.model.spec.report import Style

    json_file, verdicts_file, view, layout_name = files
    paths = [parse_system_argument(argument)[1] for argument in (gold, *predictions)]
    check_paths(paths, [json_file, verdicts_file, html.file])
    request = conventions.to_request(measures=measures, by=by, interval_options=intervals)
    layout = None if layout_name is None else LayoutFiles.from_name(layout_name, json_file, verdicts_file)
    inputs = detect_inputs(gold, predictions, gold_format=formats.gold, predictions_format=formats.predictions)
    scored = score_runs(
        inputs,
        request,
        steps=steps,
        tuning=tuning,
        engine=engine,
        layout=layout,
        text=any((verdicts_file, html.file, overlay, steps)),
        in_memory=overlay is not None,
    )
    echo_notes(scored.notes)
    results = scored.results
    corrected: list[Result] = []
    if overlay is not None:
        from karat.protocols.verification.overlay import score_overlay

        corrected, notes = score_overlay(overlay, scored)
        echo_notes(notes)
    if layout is not None:
        echo_notes(layout.save(results[0]))
        results = [select_groups(results[0], by)]
    elif verdicts_file is not None:
        save_verdicts([*results, *corrected], verdicts_file, select_view(results[0], view))
    if layout is None and json_file is not None:
        save_results([*results, *corrected], json_file)
    if html.file is not None:
        entries = [entry_from_evaluation(item.evaluation) for item in scored.runs]
        write_html(entries, request, html.file, texts=html.texts)
    if "-" in (json_file, verdicts_file, html.file):
        return
    # a measure of one group gets its table only if --by names the facet
    style = Style(all_measures=tables.show_all, details=tables.details, facets=None if tables.show_all else by)
    for number, group in enumerate(filter(None, [results, corrected])):
        echo("", nl=bool(number))
        print_tables([replace(result, plus_minus=tables.plus_minus) for result in group], style, tables.table_format)
    for result in [*results, *corrected] if tables.merged_ids else ():
        for spelling in () if result.id_health is None else result.id_health.format_spellings():
            echo(f"{result.run}: {spelling}")
    if len(corrected) > 1:
        from karat.protocols.verification.overlay import describe_rank_changes

        echo("\n" + describe_rank_changes(results, corrected))
