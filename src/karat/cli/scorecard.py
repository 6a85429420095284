"""`karat scorecard FILE…`."""

from __future__ import annotations

import click

from karat.cli.arguments import check_paths, parse_settings, single_value
from karat.cli.options.reading import input_options
from karat.cli.output import echo_warnings, page_width, print_page, write_output


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@click.option("--gold", metavar="GOLD", help="Gold standard of all FILEs, if they are predictions.")
@click.option("--profile", default="karat", show_default=True, metavar="PROFILE", help="Scoring profile.")
@click.option("--set", "overrides", multiple=True, metavar="SETTING=VALUE", help="Override a setting of the profile.")
@click.option("--view", default="strong", show_default=True, metavar="VIEW", help="View to compare.")
@click.option("--kb", metavar="NAME|DIR", help="Knowledge base that resolves ids and supplies entity facts.")
@click.option("--alpha", default=0.05, show_default=True, metavar="P", help="Significance level.")
@click.option(
    "--min-share",
    default=0.02,
    show_default=True,
    metavar="SHARE",
    help="Minimum share of demonyms or metonyms among linked mentions for a dataset to count in their averages.",
)
@click.option("--min-cases", default=20, show_default=True, metavar="N", help="Minimum number of cases for a verdict.")
@click.option(
    "--min-effect",
    default=1.0,
    show_default=True,
    metavar="X",
    help="Minimum difference that counts (points, or errors per 100 mentions).",
)
@click.option("--resamples", default=1000, show_default=True, metavar="N", help="Bootstrap samples for intervals.")
@click.option("--permutations", default=10_000, show_default=True, metavar="N", help="Permutations for p-values.")
@click.option("--seed", type=int, metavar="N", help="Random seed.")
@click.option("--details", is_flag=True, help="Show every difference with its interval and p-values.")
@click.option("--markdown", "layout", flag_value="markdown", help="Print Markdown tables.")
@click.option("--latex", "layout", flag_value="latex", help="Print LaTeX tables.")
@click.option(
    "--json", "json_file", callback=single_value, multiple=True, metavar="FILE", help="Write the full output as JSON."
)
@click.option("--gold-format", metavar="NAME", help="Format of GOLD, if not detected.")
@click.option("--predictions-format", metavar="NAME", help="Format of FILE, if not detected.")
@click.option("--allow-unknown", is_flag=True, help="Skip predictions for unknown documents.")
@input_options
def command(
    files: tuple[str, ...],
    gold: str | None,
    profile: str,
    overrides: tuple[str, ...],
    view: str,
    kb: str | None,
    alpha: float,
    min_share: float,
    min_cases: int,
    min_effect: float,
    resamples: int,
    permutations: int,
    seed: int | None,
    details: bool,
    layout: str | None,
    json_file: str | None,
    gold_format: str | None,
    predictions_format: str | None,
    allow_unknown: bool,
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
    from karat.analysis.comparison.entries import Formats, load_entries
    from karat.analysis.comparison.scorecard.scorecard import ScorecardOptions, build_scorecards
    from karat.evaluation.request import Request
    from karat.render.scorecard import render_page, to_json

    check_paths([*files, *([gold] if gold else [])], [json_file])
    settings = parse_settings(overrides, seed=None if seed is None else str(seed))
    request = Request.from_options(profile=profile, settings=settings, kb=kb, allow_unknown=allow_unknown)
    options = ScorecardOptions(
        alpha=alpha,
        resamples=resamples,
        permutations=permutations,
        seed=request.interval_options.seed,
        min_share=min_share,
        min_cases=min_cases,
        min_effect=min_effect / 100,
    )
    entries = list(load_entries(files, [gold] if gold else [], Formats(gold_format, predictions_format)))
    echo_warnings((entry.corpus, entry.run) for entry in entries)
    scorecards = build_scorecards(entries, request, options, view=view)
    write_output(json_file, lambda: to_json(scorecards))
    print_page(lambda: render_page(scorecards, layout, details=details, width=page_width()), json_file)
