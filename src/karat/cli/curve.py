"""`karat curve GOLD PREDICTIONS…`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import click

from karat.cli.arguments import check_paths
from karat.cli.options.declaration import group_options, karat_command, option
from karat.cli.options.output import file_option, json_option
from karat.cli.options.reading import input_options
from karat.cli.options.scoring import ConventionOptions, convention_options, format_options, measure_option
from karat.cli.output import echo_notes, echo_warnings, page_width, print_page, write_output

if TYPE_CHECKING:
    from karat.analysis.comparison.entries import Formats
    from karat.analysis.curves.curve_set import Axis


class _CurveFiles(NamedTuple):
    """The output files of `karat curve`; None for a file that is not requested."""

    json_file: str | None
    csv: str | None
    plot: str | None
    calibration: str | None


_SCORED_AXES = ("--over threshold", "--over coverage")


@karat_command()
@click.argument("gold")
@click.argument("predictions", nargs=-1, required=True)
@option(
    "--over",
    "axis",
    type=click.Choice(["threshold", "coverage", "alpha", "categories"]),
    default="threshold",
    show_default=True,
    help="Horizontal axis: score threshold; coverage (share of predictions, with their error rate as risk); alpha "
    "(weight of non-strict mentions); or growing sets of mention categories, best first.",
)
@convention_options(
    option(
        "--match",
        multiple=True,
        metavar="R",
        help="Match relation, perhaps filtered: strong, strong[in-kb], weak, mention, mention-weak, entity, or a .py "
        "file to run.  [default: strong]",
    ),
    "task",
    profile_note="karat; finegrained over alpha and categories",
)
@measure_option(
    "Measure to plot and to select the best threshold by.",
    default="micro.f1, or that of the profile",
)
@option(
    "--membership",
    metavar="NAME",
    help="Membership function for alpha: strict or strict-code.  [default: strict]",
    needs=["--over alpha"],
    is_strict=True,
)
@option(
    "--steps",
    type=click.IntRange(1),
    metavar="N",
    help="Number of steps of alpha from 0 to 1.  [default: 100]",
    needs=["--over alpha"],
    is_strict=True,
)
@group_options(
    "files",
    _CurveFiles,
    json_option("the scores at every point"),
    file_option("--csv", "csv", "Write the scores at every point as CSV."),
    file_option("--plot", "plot", "Write a chart of the scores (.svg, .png, .pdf, .html, .json)."),
    file_option(
        "--calibration",
        "calibration",
        "Write a reliability diagram (.svg, .png, .pdf, .html, .json).",
        needs=_SCORED_AXES,
        is_strict=True,
    ),
)
@format_options()
@input_options
def command(
    gold: str,
    predictions: tuple[str, ...],
    axis: Axis,
    conventions: ConventionOptions,
    measure: str | None,
    membership: str | None,
    steps: int | None,
    files: _CurveFiles,
    formats: Formats,
) -> None:
    """Plot scores against threshold, coverage, alpha or categories.

    GOLD and PREDICTIONS are as in `karat score`. Over threshold and coverage, predictions need confidence scores. The
    best threshold is an oracle, because it is selected on the scored corpus. The risk at a coverage is the share of
    wrong predictions among the most confident ones; AURC is the area under that curve. Over alpha and categories,
    mentions need the categories of the fine-grained evaluation paper (its Figures 5 and 4). Several systems share one
    chart. A single system gets precision, recall and F1.

    \b
    karat curve demo demo/noisy
    karat curve demo demo --plot curve.svg --calibration calibration.svg
    karat curve gold.jsonl mine.jsonl -m 'InKB micro F1' --json curve.json
    karat curve demo demo --over coverage --plot risk.svg
    karat curve a.ttl+b.ttl mine_a.ttl+mine_b.ttl --over alpha --plot alpha.svg
    karat curve gold.ttl mine.ttl yours.ttl --over categories --csv curve.csv
    """
    from karat.analysis.comparison.entries import disambiguate_names
    from karat.analysis.curves.curve_set import CurveOptions, compute_curves
    from karat.data.load import expand_stored_predictions, load_gold_and_runs, parse_system_argument
    from karat.kb.catalogue import open_kb
    from karat.render.charts.calibration import reliability_chart
    from karat.render.charts.curve_set import curve_set_chart
    from karat.render.charts.output import check_chart_path, save_chart
    from karat.render.curves import curve_set_csv, curve_set_json, render_curve_set

    run_names = [name for argument in predictions for name in expand_stored_predictions(argument)]
    paths = [parse_system_argument(name)[1] for name in run_names]
    check_paths([gold, *paths], files)
    for path in filter(None, (files.plot, files.calibration)):
        check_chart_path(path)
    options = CurveOptions.from_options(
        axis,
        profile=conventions.profile,
        settings=conventions.settings,
        measure=measure,
        membership=membership,
        steps=steps,
        kb=None if conventions.kb is None else open_kb(conventions.kb),
        allow_unknown=conventions.allow_unknown,
    )
    corpus, runs = load_gold_and_runs(gold, run_names, gold_format=formats.gold, predictions_format=formats.predictions)
    echo_warnings((corpus, run) for run in runs)
    named_runs = disambiguate_names(runs, paths)
    curves = compute_curves(corpus, named_runs, options, calibration=files.calibration is not None)
    echo_notes(curves.notes)
    charts = {}  # drawn before writing, so that an error leaves no files
    if files.plot is not None:
        charts[files.plot] = curve_set_chart(curves)
    if files.calibration is not None:
        charts[files.calibration] = reliability_chart(curves.predictions)
    for path, chart in charts.items():
        save_chart(chart, path)
    write_output(files.json_file, lambda: curve_set_json(curves))
    write_output(files.csv, lambda: curve_set_csv(curves))
    print_page(lambda: render_curve_set(curves, page_width()), files.json_file, files.csv)
