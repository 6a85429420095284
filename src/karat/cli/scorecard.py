"""`karat scorecard FILE…`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from karat.cli.arguments import check_paths
from karat.cli.options.declaration import group_options, karat_command, option
from karat.cli.options.output import details_option, json_option, layout_options
from karat.cli.options.reading import input_options
from karat.cli.options.scoring import ConventionOptions, convention_options, format_options, golds_option
from karat.cli.options.statistics import alpha_option, permutations_option, resamples_option, seed_option
from karat.cli.output import page_width, print_page, write_output

if TYPE_CHECKING:
    from karat.analysis.comparison.entries import Formats
    from karat.analysis.comparison.scorecard.scorecard import ScorecardOptions


def _build_options(min_effect: float, **options: float) -> ScorecardOptions:
    """Return the options of scorecards; `min_effect` is in points."""
    from karat.analysis.comparison.scorecard.scorecard import ScorecardOptions

    return ScorecardOptions(min_effect=min_effect / 100, **options)  # type: ignore[arg-type]  # named like its fields


@karat_command()
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@golds_option("Gold standard of all FILEs, if they are predictions.")
@convention_options(
    seed_option(None),
    kb="Knowledge base that resolves ids and supplies entity facts: a snapshot or a folder of tables.",
)
@option("--view", default="strong", show_default=True, metavar="VIEW", help="View to compare.")
@group_options(
    "options",
    _build_options,
    alpha_option,
    option(
        "--min-share",
        default=0.02,
        show_default=True,
        metavar="SHARE",
        help="Minimum share of demonyms or metonyms among linked mentions for a dataset to count in their averages.",
    ),
    option("--min-cases", default=20, show_default=True, metavar="N", help="Minimum number of cases for a verdict."),
    option(
        "--min-effect",
        default=1.0,
        show_default=True,
        metavar="X",
        help="Minimum difference that counts (points, or errors per 100 mentions).",
    ),
    resamples_option(),
    permutations_option(),
)
@details_option("Show every difference with its interval and p-values.")
@layout_options()
@json_option()
@format_options(predictions="FILE")
@input_options
def command(
    files: tuple[str, ...],
    golds: tuple[str, ...],
    conventions: ConventionOptions,
    view: str,
    options: ScorecardOptions,
    details: bool,
    table_format: str | None,
    json_file: str | None,
    formats: Formats,
) -> None:
    """Summarise each system's strengths and weaknesses.

    FILEs contain gold labels and predictions, such as ELEVANT's linked articles, of several systems on several
    datasets. Averages are over the datasets that all systems share, with equal weights. A strength is an error category
    in which a system is better than the mean of the others: significantly, and by at least --min-effect.

    \b
    karat scorecard */*.{kore50,msnbc}.linked_articles.jsonl --kb DIR
    karat scorecard --gold gold.jsonl one.jsonl two.jsonl three.jsonl --kb DIR
    karat scorecard --gold demo demo --details
    """
    from dataclasses import replace

    from karat.analysis.comparison.entries import load_entries
    from karat.analysis.comparison.scorecard.scorecard import build_scorecards
    from karat.render.scorecard import render_page, to_json

    check_paths([*files, *golds], [json_file])
    request = conventions.to_request()
    entries = list(load_entries(files, golds, formats))
    scorecards = build_scorecards(entries, request, replace(options, seed=request.interval_options.seed), view=view)
    write_output(json_file, lambda: to_json(scorecards))
    print_page(lambda: render_page(scorecards, table_format, details=details, width=page_width()), json_file)
