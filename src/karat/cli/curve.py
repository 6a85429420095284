"""`karat curve GOLD ANSWERS…`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import click

from karat.cli.choices import apart, chosen, named_apart, once
from karat.cli.output import say, show, width, write
from karat.cli.reading import reading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from karat.model.corpus import Corpus
    from karat.model.run import Run


class _Files(NamedTuple):
    """Where outcomes go."""

    json: str | None
    csv: str | None
    plot: str | None
    calibration: str | None

    @property
    def charts(self) -> list[str]:
        return [path for path in (self.plot, self.calibration) if path is not None]


class _Sides(NamedTuple):
    """Both sides, and the conventions they are scored by."""

    corpus: Corpus
    runs: list[Run]
    how: dict[str, Any]


@click.command()
@click.argument("gold")
@click.argument("answers", nargs=-1, required=True)
@click.option(
    "--over",
    type=click.Choice(["threshold", "coverage", "alpha", "categories"]),
    default="threshold",
    show_default=True,
    help="Over the score that answers need; the share of answers kept, of which some are wrong (the risk); the weight "
    "of mentions that are not strict; combinations of categories, the best first.",
)
@click.option(
    "--like", metavar="PROFILE", help="The table of conventions to use: karat; over alpha and categories finegrained."
)
@click.option(
    "--match",
    callback=once,
    multiple=True,
    metavar="R",
    help="The relation: strong (the default), weak, mention, mention-weak, entity, a .py file (it runs).",
)
@click.option("--task", metavar="TASK", help="a2kb, d2kb, c2kb, erec, … or BAT's names.")
@click.option("--set", "overrides", multiple=True, metavar="CHOICE=VALUE", help="Override one choice of the profile.")
@click.option("--kb", metavar="NAME|DIR", help="Resolve ids by this knowledge base.")
@click.option(
    "-m",
    "--measure",
    callback=once,
    multiple=True,
    metavar="NAME",
    help="What the best threshold is best by, or what is drawn: micro.f1 unless the profile says otherwise.",
)
@click.option("--membership", metavar="NAME", help="Whose alpha: strict (the default) or strict-code.")
@click.option("--steps", type=click.IntRange(1), metavar="N", help="Steps of alpha from 0 to 1, 100 unless given.")
@click.option(
    "--json",
    "json_file",
    callback=once,
    multiple=True,
    metavar="FILE",
    help="Write the scores at every point (- for standard output).",
)
@click.option(
    "--csv", "csv_file", callback=once, multiple=True, metavar="FILE", help="Write the scores as a table, one row each."
)
@click.option(
    "--plot",
    "plot_file",
    callback=once,
    multiple=True,
    metavar="FILE",
    help="Draw the scores (.svg, .png, .pdf, .html, .json).",
)
@click.option(
    "--calibration",
    "calibration_file",
    callback=once,
    multiple=True,
    metavar="FILE",
    help="Draw how often answers of each score are right (.svg, .png, .pdf, .html, .json).",
)
@click.option("--gold-format", metavar="NAME", help="The format of GOLD, where it is not recognised.")
@click.option("--answers-format", metavar="NAME", help="The format of ANSWERS, where it is not recognised.")
@click.option("--allow-unknown", is_flag=True, help="Leave out answers to documents that GOLD does not have.")
@reading
def command(
    gold: str,
    answers: tuple[str, ...],
    over: str,
    like: str | None,
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
    answers_format: str | None,
    allow_unknown: bool,
) -> None:
    """Show how scores change with the threshold, with coverage, with alpha, or with ever more categories.

    GOLD and ANSWERS are what `karat score` takes. Over the threshold answers need scores, and the best threshold is an
    oracle: it is chosen on the very corpus it is scored on. Over coverage they need scores too: it is the share of
    wrong answers (the risk) as answers are added from the highest score on, and the area under it (AURC). Over alpha
    and over categories mentions need the categories of the fine-grained paper, whose Figures 5 and 4 these are. Systems
    are drawn together; of a single one precision, recall and F1.

    \b
    karat curve demo demo/noisy
    karat curve demo demo --plot curve.svg --calibration calibration.svg
    karat curve gold.jsonl mine.jsonl --set threshold=oracle-bat --json curve.json
    karat curve demo demo --over coverage --plot risk.svg
    karat curve a.ttl+b.ttl mine_a.ttl+mine_b.ttl --over alpha --plot alpha.svg
    karat curve gold.ttl mine.ttl yours.ttl --over categories --csv curve.csv
    """
    from karat.data.load import load_both, stored_runs
    from karat.errors import UsageError
    from karat.kb.opened import open_kb
    from karat.pages.charts.save import check_chart

    names = [name for given in answers for name in stored_runs(given)]
    if [gold, *names].count("-") > 1:
        raise UsageError("standard input can be read once. Give - for one argument only.")
    files = _Files(json_file, csv_file, plot_file, calibration_file)
    apart([gold, *names], list(files))
    for path in files.charts:
        check_chart(path)
    if over != "alpha" and (membership, steps) != (None, None):
        raise UsageError("--membership and --steps are about alpha. Add --over alpha.")
    by_score = over in ("threshold", "coverage")
    if not by_score and calibration_file is not None:
        raise UsageError("--calibration is about scores of answers. Draw it over the threshold.")
    like = like or ("karat" if by_score else "finegrained")
    choices = {"match": "strong", **chosen(overrides, match=match, task=task)}
    if over == "threshold":
        choices = {"threshold": _sweep(like), **choices}
    if over == "coverage" and "threshold" in choices:
        raise UsageError("over coverage all scored answers are kept, one after the other. Give no threshold.")
    _check(over, measure, choices["match"])
    tables = None if kb is None else open_kb(kb)
    corpus, loaded = load_both(gold, names, gold_format=gold_format, answers_format=answers_format, text=False)
    how = {"like": like, "match": choices.pop("match"), "choices": choices, "kb": tables}
    sides = _Sides(corpus, named_apart(loaded, names), {**how, "allow_unknown": allow_unknown})
    if over == "threshold":
        _over_threshold(sides, measure, files)
    elif over == "coverage":
        _over_coverage(sides, files)
    elif over == "alpha":
        _over_alpha(sides, measure or "micro.f1", membership or "strict", steps, files)
    else:
        _over_categories(sides, measure, files)


def _sweep(like: str) -> str:
    """The thresholds that a profile tries, or all where it tries none."""
    from karat.signing import profile_named
    from karat.spec.choices.threshold import SWEEPS

    own = profile_named(like).choices["threshold"]
    return own if own in SWEEPS else "oracle"


def _check(over: str, measure: str | None, relation: str) -> None:
    """Refuse what no curve has, before anything is read."""
    from karat.curves import alpha, categories
    from karat.curves.oracle import known
    from karat.errors import UnknownNameError, UsageError

    if over in ("threshold", "coverage"):
        if over == "coverage" and measure is not None:
            raise UsageError("over coverage there is one thing to measure, the risk. Leave -m out.")
        if measure is not None:
            known(measure)
        if "," in relation:
            raise UsageError(f"a curve is that of one relation, and --match names {relation}. Choose one of them.")
        return
    measures = alpha.MEASURES if over == "alpha" else categories.MEASURES
    if measure not in (None, *measures):
        raise UnknownNameError(f"measure over {over}", str(measure), measures)


def _over_threshold(sides: _Sides, measure: str | None, files: _Files) -> None:
    from karat.curves.calibration import scored_answers
    from karat.curves.threshold import curve
    from karat.pages.charts.save import save_chart
    from karat.pages.charts.threshold import prf_chart, reliability_chart, threshold_chart
    from karat.pages.curves import csv_of, threshold_json, threshold_page

    found = [(run, curve(sides.corpus, run, **sides.how)) for run in sides.runs]
    curves = [one for _, one in found if len(one.curve.score)]
    _leave_out([run.name for run, one in found if not len(one.curve.score)], curves)
    best_by = measure or curves[0].sweep.criterion
    if files.plot is not None:
        save_chart(prf_chart(curves[0], best_by) if len(curves) == 1 else threshold_chart(curves, best_by), files.plot)
    if files.calibration is not None:
        systems = [scored_answers(sides.corpus, run, **sides.how) for run, one in found if len(one.curve.score)]
        save_chart(reliability_chart(systems), files.calibration)
    write(files.json, lambda: threshold_json(curves, best_by))
    write(files.csv, lambda: csv_of([one.table for one in curves]))
    show(lambda: threshold_page(curves, best_by, len(sides.corpus), width()), files.json, files.csv)


def _over_coverage(sides: _Sides, files: _Files) -> None:
    from karat.curves.calibration import scored_answers
    from karat.pages.charts.save import save_chart
    from karat.pages.charts.threshold import reliability_chart, risk_coverage_chart
    from karat.pages.curves import coverage_json, coverage_page, csv_of

    found = [scored_answers(sides.corpus, run, **sides.how) for run in sides.runs]
    systems = [one for one in found if len(one.scores)]
    _leave_out([one.run for one in found if not len(one.scores)], systems)
    if files.plot is not None:
        save_chart(risk_coverage_chart(systems), files.plot)
    if files.calibration is not None:
        save_chart(reliability_chart(systems), files.calibration)
    write(files.json, lambda: coverage_json(systems))
    write(files.csv, lambda: csv_of([one.table for one in systems]))
    show(lambda: coverage_page(systems, len(sides.corpus), width()), files.json, files.csv)


def _leave_out(unscored: Sequence[str], kept: Sequence[object]) -> None:
    """Say which systems have no scores; if none has, there is nothing to show."""
    from karat.errors import UsageError

    if not kept:
        raise UsageError(
            "no answer that counts has a score, and without scores there is no curve. Give scored answers."
        )
    for name in unscored:
        say(f"karat: {name} is left out: no answer that counts has a score.", err=True)


def _over_alpha(sides: _Sides, measure: str, preset: str, steps: int | None, files: _Files) -> None:
    from karat.curves.alpha import alpha_curve, alphas
    from karat.pages.charts.finegrained import alpha_chart, alpha_prf_chart
    from karat.pages.charts.save import save_chart
    from karat.pages.curves import alpha_json, alpha_page, csv_of

    curves = [alpha_curve(sides.corpus, run, preset=preset, **sides.how) for run in sides.runs]
    alpha = alphas(steps)
    if files.plot is not None:
        chart = alpha_prf_chart(curves[0], alpha) if len(curves) == 1 else alpha_chart(curves, measure, alpha)
        save_chart(chart, files.plot)
    write(files.json, lambda: alpha_json(curves, measure, alpha))
    write(files.csv, lambda: csv_of([curve.table(alpha) for curve in curves]))
    show(lambda: alpha_page(curves, measure, len(sides.corpus), width()), files.json, files.csv)


def _over_categories(sides: _Sides, measure: str | None, files: _Files) -> None:
    from karat.curves.categories import MEASURES, category_curve
    from karat.pages.charts.finegrained import category_chart, category_prf_chart
    from karat.pages.charts.save import save_chart
    from karat.pages.curves import category_json, category_page, csv_of

    first = measure or "micro.f1"
    curves = [category_curve(sides.corpus, run, measure=first, **sides.how) for run in sides.runs]
    if files.plot is not None:
        others = [short for short in reversed(MEASURES) if measure is None and short != first]
        if len(curves) == 1 and others:
            more = [category_curve(sides.corpus, sides.runs[0], measure=short, **sides.how) for short in others]
            save_chart(category_prf_chart([*curves, *more]), files.plot)
        else:
            save_chart(category_chart(curves), files.plot)
    write(files.json, lambda: category_json(curves))
    write(files.csv, lambda: csv_of([curve.table for curve in curves]))
    show(lambda: category_page(curves, len(sides.corpus), width()), files.json, files.csv)
