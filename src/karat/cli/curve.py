"""`karat curve GOLD ANSWERS…`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from karat.cli.choices import apart, chosen, named_apart, once
from karat.cli.curve_finegrained import Asked, Files, over_alpha, over_categories, save_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from karat.curves.threshold import ThresholdCurve
    from karat.model.run import Run

_STEPS = 10  # of the coarse curve
_UNDEFINED = "–"


@click.command()
@click.argument("gold")
@click.argument("answers", nargs=-1, required=True)
@click.option(
    "--over",
    type=click.Choice(["threshold", "alpha", "categories"]),
    default="threshold",
    show_default=True,
    help="Over the score that answers need; the weight of mentions that are not strict; combinations of categories, "
    "the best first.",
)
@click.option(
    "--like", metavar="PROFILE", help="The table of conventions to use: karat, but not over the threshold finegrained."
)
@click.option(
    "--match",
    callback=once,
    multiple=True,
    metavar="R",
    help="The relation: strong (the default), weak, mention, mention-weak, entity, a .py file.",
)
@click.option("--task", metavar="TASK", help="a2kb, d2kb, c2kb, erec, … or BAT's names.")
@click.option("--set", "overrides", multiple=True, metavar="CHOICE=VALUE", help="Override one choice of the profile.")
@click.option("--kb", metavar="DIR", help="Resolve ids by the tables in this folder.")
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
    """Show how scores change with the threshold, with alpha, or with ever more categories.

    GOLD and ANSWERS are what `karat score` takes. Over the threshold answers need scores, and the best threshold is an
    oracle: it is chosen on the very corpus it is scored on. Over alpha and over categories mentions need the categories
    of the fine-grained paper, whose Figures 5 and 4 these are. Systems are drawn together; of a single one precision,
    recall and F1.

    \b
    karat curve demo demo/noisy
    karat curve demo demo --plot curve.svg --calibration calibration.svg
    karat curve gold.jsonl mine.jsonl --set threshold=oracle-bat --json curve.json
    karat curve a.ttl+b.ttl mine_a.ttl+mine_b.ttl --over alpha --plot alpha.svg
    karat curve gold.ttl mine.ttl yours.ttl --over categories --csv curve.csv
    """
    from karat.curves.threshold import curve
    from karat.data.load import load_both, stored_runs
    from karat.errors import UsageError
    from karat.kb.folder import read_kb
    from karat.pages.charts.oracle import known
    from karat.pages.charts.save import check_chart, save_chart
    from karat.pages.charts.scored import scored_answers
    from karat.pages.charts.threshold import prf_chart, reliability_chart, threshold_chart

    runs = [name for given in answers for name in stored_runs(given)]
    if [gold, *runs].count("-") > 1:
        raise UsageError("standard input can be read once. Give - for one argument only.")
    apart([gold, *runs], [json_file, csv_file, plot_file, calibration_file])
    for path in (plot_file, calibration_file):
        if path is not None:
            check_chart(path)
    if over != "alpha" and (membership, steps) != (None, None):
        raise UsageError("--membership and --steps are about alpha. Add --over alpha.")
    if over != "threshold":
        if calibration_file is not None:
            raise UsageError("--calibration is about scores of answers. Draw it over the threshold.")
        asked = Asked(
            gold,
            runs,
            like or "finegrained",
            chosen(overrides, match=match, task=task),
            kb,
            measure,
            Files(json_file, csv_file, plot_file),
            gold_format,
            answers_format,
            allow_unknown,
        )
        return over_categories(asked) if over == "categories" else over_alpha(asked, membership or "strict", steps)
    like = like or "karat"
    if measure is not None:
        known(measure)
    choices = {"match": "strong", "threshold": _sweep(like), **chosen(overrides, match=match, task=task)}
    relation = choices.pop("match")
    if "," in relation:
        raise UsageError(f"a curve is that of one relation, and --match names {relation}. Choose one of them.")
    tables = None if kb is None else read_kb(kb)
    corpus, loaded = load_both(gold, runs, gold_format=gold_format, answers_format=answers_format, text=False)
    found = [
        (run, curve(corpus, run, match=relation, like=like, choices=choices, kb=tables, allow_unknown=allow_unknown))
        for run in named_apart(loaded, runs)
    ]
    drawn = [(run, one) for run, one in found if len(one.curve.score)]
    if not drawn:
        raise UsageError(
            "no answer that counts has a score, and without scores there is no curve. Give scored answers."
        )
    for run, one in found:
        if not len(one.curve.score):
            click.echo(f"karat: {run.name} is left out: no answer that counts has a score.", err=True)
    curves = [one for _, one in drawn]
    best_by = curves[0].sweep.criterion if measure is None else measure
    if plot_file is not None:
        save_chart(prf_chart(curves[0], best_by) if len(curves) == 1 else threshold_chart(curves, best_by), plot_file)
    if calibration_file is not None:
        systems = [
            scored_answers(
                corpus, run, match=relation, like=like, choices=choices, kb=tables, allow_unknown=allow_unknown
            )
            for run, _ in drawn
        ]
        save_chart(reliability_chart(systems), calibration_file)
    if json_file is not None:
        _save(curves, best_by, json_file)
    if csv_file is not None:
        save_table([one.table for one in curves], csv_file)
    if "-" not in (json_file, csv_file):
        _show(drawn, best_by, len(corpus))
    return None


def _sweep(like: str) -> str:
    """The thresholds that a profile tries, or all where it tries none."""
    from karat.evaluation.measures import profile_named
    from karat.spec.threshold import SWEEPS

    own = profile_named(like).choices["threshold"]
    return own if own in SWEEPS else "oracle"


def _save(curves: Sequence[ThresholdCurve], measure: str, path: str) -> None:
    """One curve as an object; several as one object per line."""
    import msgspec

    from karat.storage.files import writing

    with writing(path) as file:
        for curve in curves:
            file.write(msgspec.json.encode(_content(curve, measure)) + b"\n")


def _content(curve: ThresholdCurve, measure: str) -> dict[str, object]:
    """What the file says about one curve: every column of its table, one entry per threshold."""
    from karat.model.result import Counted
    from karat.pages.charts.oracle import oracle_of

    best, points = oracle_of(curve, measure), curve.table.drop_columns(["run"]).to_pydict()
    for name in Counted.__struct_fields__:
        if all(map(float.is_integer, points[name])):
            points[name] = list(map(int, points[name]))  # files say 3, not 3.0
    return {
        "layout": "karat-curve/1",
        "over": "threshold",
        "signature": str(curve.signature),
        "corpus": curve.corpus,
        "run": curve.run,
        "view": curve.view,
        "strict": curve.sweep.strict,
        "measure": measure,
        "oracle": None if best is None else {"threshold": best.threshold.at, "value": best.value},
        "points": points,
    }


def _show(drawn: Sequence[tuple[Run, ThresholdCurve]], measure: str, documents: int) -> None:
    """Print a table for each system."""
    head = drawn[0][1]
    click.echo(f"{head.corpus}, {head.view}: {documents} document{'s' * (documents != 1)}, scores in percent")
    for run, curve in drawn:
        click.echo(f"\n{_count(run, curve)}")
        rows = list(_rows(curve, measure))
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for first, *others in rows:
            cells = [first.ljust(widths[0]), *map(str.rjust, others, widths[1:])]
            click.echo("  ".join(cells).rstrip())
    click.echo(f"\noracle: the best {measure} of all thresholds tried, chosen on this very corpus")
    click.echo(f"\n{head.signature}")


def _count(run: Run, one: ThresholdCurve) -> str:
    """How many of the answers that count have a score."""
    weights = one.curve.weights
    answers, unscored = (int(weights[row, :2].sum()) for row in (-1, 0))
    rest = "; the others always count" if unscored else ""
    return f"{run.name}: {answers - unscored} of {answers} answers that count have a score{rest}"


def _rows(curve: ThresholdCurve, measure: str) -> Iterator[tuple[str, ...]]:
    """The best threshold, all answers, and a coarse curve."""
    from karat.pages.charts.oracle import family, oracle_of, reach_of
    from karat.spec.threshold import Threshold

    scores = {short: curve.curve.values(short) for short in family(measure)}
    best, reach = oracle_of(curve, measure), reach_of([curve])

    def row(name: str, threshold: Threshold) -> tuple[str, ...]:
        sign = ">" if threshold.strict else ">="
        at = _UNDEFINED if threshold.at is None else f"{sign} {threshold.at:.6g}"
        return name, at, *(_percent(values[curve.curve.place(threshold)]) for values in scores.values())

    yield "", "score", *scores
    if best is not None:
        yield row("oracle", best.threshold)
    yield row("all answers", Threshold())
    for step in range(_STEPS + 1):
        at = (reach.low * (_STEPS - step) + reach.high * step) / _STEPS
        yield row("", Threshold(at, curve.sweep.strict))


def _percent(value: float) -> str:
    return _UNDEFINED if value != value else f"{100 * value:.1f}"
