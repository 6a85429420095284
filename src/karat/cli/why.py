"""`karat why GOLD PREDICTIONS`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from karat.cli.arguments import check_paths, parse_settings
from karat.cli.options.declaration import karat_command, option
from karat.cli.options.output import details_option, json_option
from karat.cli.options.reading import input_options
from karat.cli.options.scoring import ConventionOptions, convention_options, format_options, measure_option
from karat.cli.output import page_width, print_page, write_output

if TYPE_CHECKING:
    from karat.analysis.comparison.entries import Formats


@karat_command()
@click.argument("gold")
@click.argument("predictions", required=False)
@option("--reference-profile", required=True, metavar="PROFILE", help="Profile of the score to explain.")
@convention_options()
@option(
    "--set-reference",
    "reference_overrides",
    multiple=True,
    metavar="SETTING=VALUE",
    help="Override a setting of the reference profile.",
)
@measure_option("Measure to explain.", default="strong:micro.f1")
@option("--reference-measure", metavar="NAME", help="Measure of the reference score, if different.")
@option(
    "--max-flips",
    type=click.IntRange(min=0),
    default=5,
    show_default=True,
    metavar="N",
    help="Maximum number of flipped cases to show for each setting.",
)
@details_option()
@json_option()
@format_options()
@input_options
def command(
    gold: str,
    predictions: str | None,
    reference_profile: str,
    conventions: ConventionOptions,
    reference_overrides: tuple[str, ...],
    measure: str | None,
    reference_measure: str | None,
    max_flips: int,
    details: bool,
    json_file: str | None,
    formats: Formats,
) -> None:
    """Explain why two profiles give different scores.

    Karat scores the predictions under every mixture of the settings in which the two profiles differ. It then divides
    the gap among the settings by their Shapley values and lists the mentions that each setting flips. If only one
    profile maps ids by the built-in snapshot, the cause is `ids, kb`. A file with both gold labels and predictions,
    such as ELEVANT's linked articles, is passed once.

    \b
    karat why gold.jsonl mine.jsonl --reference-profile gerbil
    karat why demo demo/noisy --reference-profile bat -m weak:micro.f1
    karat why demo demo/noisy --reference-profile bat --set-reference empty=fair
    """
    from karat.analysis.explanation.gap import explain_gap
    from karat.data.load import detect_inputs, load_gold_and_runs
    from karat.kb.catalogue import open_kb
    from karat.model.output.progress import track_progress
    from karat.render.gap import render_page, to_json

    check_paths([gold, *filter(None, [predictions])], [json_file])
    if predictions is None:
        inputs = detect_inputs(gold, [], gold_format=formats.gold, predictions_format=formats.predictions)
        corpus, (run,) = inputs.load()
    else:
        corpus, (run,) = load_gold_and_runs(
            gold, [predictions], gold_format=formats.gold, predictions_format=formats.predictions
        )
    with track_progress("scoring mixtures of settings") as progress:
        explanation = explain_gap(
            corpus,
            run,
            reference_profile=reference_profile,
            profile=conventions.profile or "karat",
            measure=measure or "strong:micro.f1",
            reference_measure=reference_measure,
            reference_settings=parse_settings(reference_overrides),
            settings=conventions.settings,
            kb=None if conventions.kb is None else open_kb(conventions.kb),
            allow_unknown=conventions.allow_unknown,
            progress=progress,
        )
    write_output(json_file, lambda: to_json(explanation))
    print_page(lambda: render_page(explanation, max_flips, details=details, width=page_width()), json_file)
