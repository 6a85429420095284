"""`karat gate NEW… --baseline OLD`."""

from __future__ import annotations

import sys

import click

from karat.cli.arguments import check_paths
from karat.cli.options.declaration import karat_command, option
from karat.cli.options.output import json_option, layout_options
from karat.cli.options.reading import input_options
from karat.cli.options.scoring import ConventionOptions, convention_options, golds_option, measure_option
from karat.cli.options.statistics import confidence_option, resamples_option
from karat.cli.output import page_width, print_page, write_output


@karat_command()
@click.argument("new", nargs=-1, required=True, metavar="NEW…")
@option(
    "--baseline", "old", required=True, multiple=True, metavar="OLD", help="Baseline to compare NEW with (repeatable)."
)
@golds_option("Gold standard, if NEW and OLD are predictions (repeatable).")
@option("--max-drop", default=0.0, show_default=True, metavar="X", help="Tolerated drop: 0.01 is one point.")
@option(
    "--max-failed",
    type=click.IntRange(0),
    metavar="N",
    help="Tolerated failed documents and documents without predictions of NEW in each dataset (default: any number).",
)
@option("--allow-untested", is_flag=True, help="Pass datasets on which the difference has no interval.")
@confidence_option()
@measure_option("Measure to compare.", default="strong:micro.f1")
@convention_options()
@resamples_option()
@option(
    "--max-flips",
    type=click.IntRange(0),
    default=20,
    show_default=True,
    metavar="N",
    help="Maximum number of flipped mentions to show.",
)
@layout_options("tables, such as for the summary of a CI run,", latex=False)
@json_option()
@input_options
def command(
    new: tuple[str, ...],
    old: tuple[str, ...],
    golds: tuple[str, ...],
    max_drop: float,
    max_failed: int | None,
    allow_untested: bool,
    confidence: float,
    measure: str | None,
    conventions: ConventionOptions,
    resamples: int,
    max_flips: int,
    table_format: str | None,
    json_file: str | None,
) -> None:
    """Fail if a new version is significantly worse.

    NEW and OLD are result files (`karat score --json`), files with gold labels and predictions, or, with --gold,
    prediction files; with several datasets, one file of each version for each dataset. The exit code is 1 if the
    whole interval of the difference is below −X on some dataset. A drop that is not significant passes; the output
    mentions it. If lower values of the measure are better, a rise counts as a drop. X is a share below 1: 0.01 is
    one point. The exit code is also 1 if the difference has no interval (see --allow-untested) or, with
    --max-failed, if NEW failed on or has no predictions for more than N documents of a dataset. -m
    'strong:micro.f1@types=PER' compares a group.

    \b
    karat gate new.json --baseline old.json --max-drop 0.01
    karat gate new.jsonl --baseline old.jsonl --gold gold.jsonl --markdown
    karat gate new/*.json --baseline old/a.json --baseline old/b.json
    """
    from karat.analysis.comparison.entries import load_entries
    from karat.analysis.comparison.gate import check_gate
    from karat.render.gate import render_page, to_json

    check_paths([*new, *old, *golds], [json_file])
    request = conventions.to_request()
    new_entries, old_entries = list(load_entries(new, golds)), list(load_entries(old, golds))
    result = check_gate(
        new_entries,
        old_entries,
        request,
        max_drop=max_drop,
        confidence=confidence,
        measure=measure,
        resamples=resamples,
        max_failed=max_failed,
        allow_untested=allow_untested,
    )
    write_output(json_file, lambda: to_json(result))
    print_page(lambda: render_page(result, table_format, max_flips, page_width()), json_file)
    if not result.is_passed:
        sys.exit(1)
