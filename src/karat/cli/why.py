"""`karat why GOLD PREDICTIONS`."""

from __future__ import annotations

import click

from karat.cli.arguments import check_paths, parse_settings, single_value
from karat.cli.options.reading import input_options
from karat.cli.output import page_width, print_page, write_output


@click.command()
@click.argument("gold")
@click.argument("predictions")
@click.option("--reference-profile", required=True, metavar="PROFILE", help="Profile of the score to explain.")
@click.option("--profile", default="karat", show_default=True, metavar="PROFILE", help="Scoring profile.")
@click.option("--set", "overrides", multiple=True, metavar="SETTING=VALUE", help="Override a setting of the profile.")
@click.option(
    "--set-reference",
    "reference_overrides",
    multiple=True,
    metavar="SETTING=VALUE",
    help="Override a setting of the reference profile.",
)
@click.option(
    "-m", "--measure", default="strong:micro.f1", show_default=True, metavar="NAME", help="Measure to explain."
)
@click.option("--reference-measure", metavar="NAME", help="Measure of the reference score, if different.")
@click.option("--kb", metavar="NAME|DIR", help="Knowledge base that resolves ids.")
@click.option(
    "--max-flips",
    type=click.IntRange(min=0),
    default=5,
    show_default=True,
    metavar="N",
    help="Maximum number of flipped cases to show for each setting.",
)
@click.option("--details", is_flag=True, help="Print notes in full.")
@click.option(
    "--json", "json_file", callback=single_value, multiple=True, metavar="FILE", help="Write the full output as JSON."
)
@click.option("--gold-format", metavar="NAME", help="Format of GOLD, if not detected.")
@click.option("--predictions-format", metavar="NAME", help="Format of PREDICTIONS, if not detected.")
@click.option("--allow-unknown", is_flag=True, help="Skip predictions for unknown documents.")
@input_options
def command(
    gold: str,
    predictions: str,
    reference_profile: str,
    profile: str,
    overrides: tuple[str, ...],
    reference_overrides: tuple[str, ...],
    measure: str,
    reference_measure: str | None,
    kb: str | None,
    max_flips: int,
    details: bool,
    json_file: str | None,
    gold_format: str | None,
    predictions_format: str | None,
    allow_unknown: bool,
) -> None:
    """Explain why two profiles give different scores.

    Karat scores the predictions under every mixture of the settings in which the two profiles differ. It then divides
    the gap among the settings by their Shapley values and lists the mentions that each setting flips.

    \b
    karat why gold.jsonl mine.jsonl --reference-profile gerbil
    karat why demo demo/noisy --reference-profile bat -m weak:micro.f1
    karat why demo demo/noisy --reference-profile bat --set-reference empty=fair
    """
    from karat.analysis.explanation.gap import explain_gap
    from karat.data.load import load_gold_and_runs
    from karat.kb.catalogue import open_kb
    from karat.model.output.progress import track_progress
    from karat.render.gap import render_page, to_json

    check_paths([gold, predictions], [json_file])
    corpus, (run,) = load_gold_and_runs(
        gold, [predictions], gold_format=gold_format, predictions_format=predictions_format
    )
    with track_progress("scoring mixtures of settings") as progress:
        explanation = explain_gap(
            corpus,
            run,
            reference_profile=reference_profile,
            profile=profile,
            measure=measure,
            reference_measure=reference_measure,
            reference_settings=parse_settings(reference_overrides),
            settings=parse_settings(overrides),
            kb=None if kb is None else open_kb(kb),
            allow_unknown=allow_unknown,
            progress=progress,
        )
    write_output(json_file, lambda: to_json(explanation))
    print_page(lambda: render_page(explanation, max_flips, details=details, width=page_width()), json_file)
