"""`karat curve GOLD PREDICTIONS…`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import click

from karat.cli.arguments import check_paths, parse_settings, rename_duplicates, single_value
from karat.cli.input_options import input_options
from karat.cli.output import echo, echo_warnings, page_width, print_page, write_output

if TYPE_CHECKING:
    from collections.abc import Sequence

    from karat.model.corpus import Corpus
    from karat.model.run import Run


class _Files(NamedTuple):
    """The output files of `karat curve`; None for a file that is not requested."""

    json: str | None
    csv: str | None
    plot: str | None
    calibration: str | None

    @property
    def charts(self) -> list[str]:
        """The requested chart files."""
        return [path for path in (self.plot, self.calibration) if path is not None]


class _CurveData(NamedTuple):
    """Gold standard, runs, and the keyword arguments of all curve functions."""

    corpus: Corpus
    runs: list[Run]
    options: dict[str, Any]


@click.command()
@click.argument("gold")
@click.argument("predictions", nargs=-1, required=True)
@click.option(
    "--over",
    type=click.Choice(["threshold", "coverage", "alpha", "categories"]),
    default="threshold",
    show_default=True,
    help="Horizontal axis: score threshold; coverage (share of predictions, with their error rate as risk); alpha "
    "(weight of non-strict mentions); or growing sets of mention categories, best first.",
)
@click.option(
    "--profile",
    metavar="PROFILE",
    help="Scoring profile.  [default: karat; finegrained over alpha and categories]",
)
@click.option(
    "--match",
    callback=single_value,
    multiple=True,
    metavar="R",
    help="Match relation: strong, weak, mention, mention-weak, entity, or a .py file to run.  [default: strong]",
)
@click.option("--task", metavar="TASK", help="Task: a2kb, d2kb, c2kb, erec, … or a name that BAT uses.")
@click.option("--set", "overrides", multiple=True, metavar="SETTING=VALUE", help="Override a setting of the profile.")
@click.option("--kb", metavar="NAME|DIR", help="Knowledge base that resolves ids.")
@click.option(
    "-m",
    "--measure",
    callback=single_value,
    multiple=True,
    metavar="NAME",
    help="Measure to plot and to select the best threshold by.  [default: micro.f1, or that of the profile]",
)
@click.option(
    "--membership", metavar="NAME", help="Membership function for alpha: strict or strict-code.  [default: strict]"
)
@click.option(
    "--steps", type=click.IntRange(1), metavar="N", help="Number of steps of alpha from 0 to 1.  [default: 100]"
)
@click.option(
    "--json",
    "json_file",
    callback=single_value,
    multiple=True,
    metavar="FILE",
    help="Write the scores at every point as JSON (- for standard output).",
)
@click.option(
    "--csv",
    "csv_file",
    callback=single_value,
    multiple=True,
    metavar="FILE",
    help="Write the scores at every point as CSV.",
)
@click.option(
    "--plot",
    "plot_file",
    callback=single_value,
    multiple=True,
    metavar="FILE",
    help="Write a chart of the scores (.svg, .png, .pdf, .html, .json).",
)
@click.option(
    "--calibration",
    "calibration_file",
    callback=single_value,
    multiple=True,
    metavar="FILE",
    help="Write a reliability diagram (.svg, .png, .pdf, .html, .json).",
)
@click.option("--gold-format", metavar="NAME", help="Format of GOLD, if not detected.")
@click.option("--predictions-format", metavar="NAME", help="Format of PREDICTIONS, if not detected.")
@click.option("--allow-unknown", is_flag=True, help="Skip predictions for unknown documents.")
@input_options
def command(
    gold: str,
    predictions: tuple[str, ...],
    over: str,
    profile: str | None,
    match: str | None,
    task: str | None,
    overrides: tuple[str, ...],
    kb: str | None,
    measure: str | None,
    membership: str | None,
    steps: int | None,
    json_file: str | None,
    csv_file: str | None,
    plot_file: str | None,
    calibration_file: str | None,
    gold_format: str | None,
    predictions_format: str | None,
    allow_unknown: bool,
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
    karat curve gold.jsonl mine.jsonl --set threshold=oracle-bat --json curve.json
    karat curve demo demo --over coverage --plot risk.svg
    karat curve a.ttl+b.ttl mine_a.ttl+mine_b.ttl --over alpha --plot alpha.svg
    karat curve gold.ttl mine.ttl yours.ttl --over categories --csv curve.csv
    """
    from karat.data.load import expand_stored_predictions, load_gold_and_runs
    from karat.kb.catalogue import open_kb
    from karat.model.errors import UsageError
    from karat.render.charts.output import check_chart_path

    run_names = [name for argument in predictions for name in expand_stored_predictions(argument)]
    if [gold, *run_names].count("-") > 1:
        raise UsageError("standard input can be read only once. Pass - for one argument.")
    files = _Files(json_file, csv_file, plot_file, calibration_file)
    check_paths([gold, *run_names], list(files))
    for path in files.charts:
        check_chart_path(path)
    if over != "alpha" and (membership, steps) != (None, None):
        raise UsageError("--membership and --steps only apply to alpha. Add --over alpha.")
    needs_scores = over in ("threshold", "coverage")
    if not needs_scores and calibration_file is not None:
        raise UsageError("--calibration needs confidence scores. Use --over threshold or --over coverage.")
    profile = profile or ("karat" if needs_scores else "finegrained")
    settings = {"match": "strong", **parse_settings(overrides, match=match, task=task)}
    if over == "threshold":
        settings = {"threshold": _default_sweep(profile), **settings}
    if over == "coverage" and "threshold" in settings:
        raise UsageError("--over coverage uses all scored predictions. Remove the threshold.")
    _check_options(over, measure, settings["match"])
    knowledge_base = None if kb is None else open_kb(kb)
    corpus, runs = load_gold_and_runs(gold, run_names, gold_format=gold_format, predictions_format=predictions_format)
    echo_warnings((corpus, run) for run in runs)
    options = {"profile": profile, "settings": settings, "kb": knowledge_base}
    data = _CurveData(corpus, rename_duplicates(runs, run_names), {**options, "allow_unknown": allow_unknown})
    if over == "threshold":
        _plot_threshold(data, measure, files)
    elif over == "coverage":
        _plot_coverage(data, files)
    elif over == "alpha":
        _plot_alpha(data, measure or "micro.f1", membership or "strict", steps, files)
    else:
        _plot_categories(data, measure, files)


def _default_sweep(profile: str) -> str:
    """Return the `threshold` setting of a profile if it is a sweep over all thresholds, or else `oracle`."""
    from karat.model.profile_signatures import get_profile
    from karat.model.spec.settings.threshold import SWEEPS

    sweep = get_profile(profile).settings["threshold"]
    return sweep if sweep in SWEEPS else "oracle"


def _check_options(over: str, measure: str | None, relation: str) -> None:
    """Raise an error if the curve over `over` does not support the measure or match relation, before files are read.

    `over` is the x axis: threshold, coverage, alpha or categories. A measure of None is always supported.
    """
    from karat.analysis.curves import alpha, categories
    from karat.analysis.curves.oracle import check_measure
    from karat.model.errors import UnknownNameError, UsageError

    if over in ("threshold", "coverage"):
        if over == "coverage" and measure is not None:
            raise UsageError("--over coverage always measures the risk. Remove -m.")
        if measure is not None:
            check_measure(measure)
        if "," in relation:
            raise UsageError(f"--match {relation}: a curve needs one relation. Choose one of them.")
        return
    measures = alpha.MEASURES if over == "alpha" else categories.MEASURES
    if measure not in (None, *measures):
        raise UnknownNameError(f"measure over {over}", str(measure), measures)


def _plot_threshold(data: _CurveData, measure: str | None, files: _Files) -> None:
    """Print the scores over the threshold and write the requested files; runs without scores are skipped.

    `measure` selects the best threshold; None means the criterion of the sweep.
    """
    from karat.analysis.curves.calibration import calibration_data
    from karat.analysis.curves.threshold import threshold_curve
    from karat.render.charts.calibration import reliability_chart
    from karat.render.charts.output import save_chart
    from karat.render.charts.threshold import prf_chart, threshold_chart
    from karat.render.curves import render_threshold_page, threshold_json, to_csv

    all_curves = [(run, threshold_curve(data.corpus, run, **data.options)) for run in data.runs]
    curves = [curve for _, curve in all_curves if len(curve.curve.score)]
    _report_unscored([run.name for run, curve in all_curves if not len(curve.curve.score)], curves)
    criterion = measure or curves[0].sweep.criterion
    if files.plot is not None:
        save_chart(
            prf_chart(curves[0], criterion) if len(curves) == 1 else threshold_chart(curves, criterion), files.plot
        )
    if files.calibration is not None:
        systems = [
            calibration_data(data.corpus, run, **data.options) for run, curve in all_curves if len(curve.curve.score)
        ]
        save_chart(reliability_chart(systems), files.calibration)
    write_output(files.json, lambda: threshold_json(curves, criterion))
    write_output(files.csv, lambda: to_csv([curve.table for curve in curves]))
    print_page(lambda: render_threshold_page(curves, criterion, len(data.corpus), page_width()), files.json, files.csv)


def _plot_coverage(data: _CurveData, files: _Files) -> None:
    """Print the risk over the coverage and write the requested files; runs without scores are skipped."""
    from karat.analysis.curves.calibration import calibration_data
    from karat.render.charts.calibration import reliability_chart, risk_coverage_chart
    from karat.render.charts.output import save_chart
    from karat.render.curves import coverage_json, render_coverage_page, to_csv

    all_systems = [calibration_data(data.corpus, run, **data.options) for run in data.runs]
    systems = [system for system in all_systems if len(system.scores)]
    _report_unscored([system.run for system in all_systems if not len(system.scores)], systems)
    if files.plot is not None:
        save_chart(risk_coverage_chart(systems), files.plot)
    if files.calibration is not None:
        save_chart(reliability_chart(systems), files.calibration)
    write_output(files.json, lambda: coverage_json(systems))
    write_output(files.csv, lambda: to_csv([system.table for system in systems]))
    print_page(lambda: render_coverage_page(systems, len(data.corpus), page_width()), files.json, files.csv)


def _report_unscored(unscored: Sequence[str], scored: Sequence[object]) -> None:
    """Print a message for each system without confidence scores; raise `UsageError` if no system has any.

    `unscored` are the names of systems without scores, `scored` the curves or data of the others.
    """
    from karat.model.errors import UsageError

    if not scored:
        raise UsageError(
            "no counted prediction has a confidence score, so there is no curve. Pass predictions with scores."
        )
    for name in unscored:
        echo(f"karat: {name} is skipped: no counted prediction has a confidence score.", err=True)


def _plot_alpha(data: _CurveData, measure: str, preset: str, steps: int | None, files: _Files) -> None:
    """Print the scores over alpha, the weight of non-strict mentions, and write the requested files.

    `preset` is the membership function; `steps` is the number of steps of alpha from 0 to 1, None for the default.
    """
    from karat.analysis.curves.alpha import alpha_curve, alpha_values
    from karat.render.charts.finegrained import alpha_chart, alpha_prf_chart
    from karat.render.charts.output import save_chart
    from karat.render.curves import alpha_json, render_alpha_page, to_csv

    curves = [alpha_curve(data.corpus, run, preset=preset, **data.options) for run in data.runs]
    alpha = alpha_values(steps)
    if files.plot is not None:
        chart = alpha_prf_chart(curves[0], alpha) if len(curves) == 1 else alpha_chart(curves, measure, alpha)
        save_chart(chart, files.plot)
    write_output(files.json, lambda: alpha_json(curves, measure, alpha))
    write_output(files.csv, lambda: to_csv([curve.table(alpha) for curve in curves]))
    print_page(lambda: render_alpha_page(curves, measure, len(data.corpus), page_width()), files.json, files.csv)


def _plot_categories(data: _CurveData, measure: str | None, files: _Files) -> None:
    """Print the scores over growing sets of fine-grained categories, and write the requested files.

    If `measure` is None, micro F1 is shown; the chart of a single run then also shows precision and recall.
    """
    from karat.analysis.curves.categories import MEASURES, category_curve
    from karat.render.charts.finegrained import category_chart, category_prf_chart
    from karat.render.charts.output import save_chart
    from karat.render.curves import category_json, render_category_page, to_csv

    main_measure = measure or "micro.f1"
    curves = [category_curve(data.corpus, run, measure=main_measure, **data.options) for run in data.runs]
    if files.plot is not None:
        others = [short for short in reversed(MEASURES) if measure is None and short != main_measure]
        if len(curves) == 1 and others:
            other_curves = [
                category_curve(data.corpus, data.runs[0], measure=short, **data.options) for short in others
            ]
            save_chart(category_prf_chart([*curves, *other_curves]), files.plot)
        else:
            save_chart(category_chart(curves), files.plot)
    write_output(files.json, lambda: category_json(curves))
    write_output(files.csv, lambda: to_csv([curve.table for curve in curves]))
    print_page(lambda: render_category_page(curves, len(data.corpus), page_width()), files.json, files.csv)
