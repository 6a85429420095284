"""`karat gate NEW --baseline OLD`."""

from __future__ import annotations

import sys

import click

from karat.cli.arguments import check_paths, parse_settings, single_value
from karat.cli.input_options import input_options
from karat.cli.output import page_width, print_page, write_output


@click.command()
@click.argument("new", metavar="NEW")
@click.option("--baseline", "old", required=True, metavar="OLD", help="Baseline to compare NEW with.")
@click.option(
    "--gold", "golds", multiple=True, metavar="GOLD", help="Gold standard, if NEW and OLD are predictions (repeatable)."
)
@click.option("--max-drop", default=0.0, show_default=True, metavar="X", help="Tolerated drop: 0.01 is one point.")
@click.option("--confidence", default=0.95, show_default=True, metavar="L", help="Confidence level of the interval.")
@click.option("-m", "--measure", metavar="NAME", help="Measure to compare.  [default: strong:micro.f1]")
@click.option("--profile", metavar="PROFILE", help="Scoring profile.  [default: karat]")
@click.option("--set", "overrides", multiple=True, metavar="SETTING=VALUE", help="Override a setting of the profile.")
@click.option("--kb", metavar="NAME|DIR", help="Knowledge base that resolves ids.")
@click.option("--resamples", default=1000, show_default=True, metavar="N", help="Bootstrap samples for intervals.")
@click.option(
    "--max-flips", default=20, show_default=True, metavar="N", help="Maximum number of flipped mentions to show."
)
@click.option(
    "--markdown", "layout", flag_value="markdown", help="Print Markdown, such as for the summary of a CI run."
)
@click.option(
    "--json", "json_file", callback=single_value, multiple=True, metavar="FILE", help="Write the full output as JSON."
)
@click.option("--allow-unknown", is_flag=True, help="Skip predictions for unknown documents.")
@input_options
def command(
    new: str,
    old: str,
    golds: tuple[str, ...],
    max_drop: float,
    confidence: float,
    measure: str | None,
    profile: str | None,
    overrides: tuple[str, ...],
    kb: str | None,
    resamples: int,
    max_flips: int,
    layout: str | None,
    json_file: str | None,
    allow_unknown: bool,
) -> None:
    """Fail if a new version is significantly worse.

    NEW and OLD are result files (`karat score --json`), files with gold labels and predictions, or, with --gold,
    prediction files. The exit code is 1 only if the whole interval of the difference is below −X on some dataset. A
    drop that is not significant passes; the output mentions it. If lower values of the measure are better, a rise
    counts as a drop. X is a share below 1: 0.01 is one point.

    \b
    karat gate new.json --baseline old.json --max-drop 0.01
    karat gate new.jsonl --baseline old.jsonl --gold gold.jsonl --markdown
    """
    from karat.analysis.comparison.entries import load_entries
    from karat.analysis.comparison.gate import check_gate
    from karat.evaluation.request import Request
    from karat.render.gate import render_page, to_json

    check_paths([new, old, *golds], [json_file])
    request = Request.from_options(
        profile=profile or "karat", settings=parse_settings(overrides), kb=kb, allow_unknown=allow_unknown
    )
    new_entries, old_entries = list(load_entries([new], golds)), list(load_entries([old], golds))
    result = check_gate(
        new_entries,
        old_entries,
        request,
        max_drop=max_drop,
        confidence=confidence,
        measure=measure,
        resamples=resamples,
    )
    write_output(json_file, lambda: to_json(result))
    print_page(lambda: render_page(result, layout, max_flips, page_width()), json_file)
    if not result.is_passed:
        sys.exit(1)
