"""`karat score GOLD [PREDICTIONS…]`."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import click

from karat.cli.arguments import check_paths, parse_settings, rename_duplicates, single_value
from karat.cli.html import html_options, write_html
from karat.cli.input_options import input_options
from karat.cli.output import echo, page_width
from karat.model.output.progress import track_progress

if TYPE_CHECKING:
    from karat.data.load import Inputs
    from karat.evaluation.request import Request
    from karat.model.corpus import Corpus
    from karat.model.results.result import Result
    from karat.model.run import Run
    from karat.model.spec.report import Report
    from karat.web.archive.archive import TextsShown


@click.command()
@click.argument("gold")
@click.argument("predictions", nargs=-1)
@click.option("--profile", default="karat", show_default=True, metavar="PROFILE", help="Scoring profile.")
@click.option(
    "--match",
    multiple=True,
    metavar="R,…",
    help="Match relation: strong, weak, mention, mention-weak, entity, or a .py file to run (repeatable).",
)
@click.option("--set", "overrides", multiple=True, metavar="SETTING=VALUE", help="Override a setting of the profile.")
@click.option(
    "--task", metavar="TASK", help="Task: a2kb, d2kb, c2kb, rc2kb, erec, rt2kb, re, … or a name that BAT uses."
)
@click.option("--threshold", metavar="T", help="Minimum score of a prediction (>T: exclusive), or oracle.")
@click.option(
    "--drop-predictions",
    multiple=True,
    metavar="RULE",
    help="Predictions to drop before scoring: lowercase, non-named (needs --kb), type:X, score<T (repeatable).",
)
@click.option(
    "--invented",
    metavar="wrong|skip",
    help="Whether predicted mentions that the text does not contain are wrong or not scored.  [default: skip]",
)
@click.option("--tune-on", metavar="DEV", help="Gold standard on which to tune the threshold (by micro F1).")
@click.option(
    "--tune-predictions",
    multiple=True,
    metavar="FILE",
    help="Predictions for DEV, one file per PREDICTIONS file, if PREDICTIONS do not include them (repeatable).",
)
@click.option("--kb", metavar="NAME|DIR", help="Knowledge base that resolves ids: a snapshot or a folder of tables.")
@click.option(
    "--step",
    "steps",
    multiple=True,
    metavar="NAME",
    help="Step to apply to the gold standard first: drop-deleted, … (repeatable).",
)
@click.option("--ci", is_flag=True, help="Add confidence intervals.")
@click.option("--confidence", default=0.95, show_default=True, metavar="L", help="Confidence level of the intervals.")
@click.option(
    "--ci-method",
    default="percentile",
    show_default=True,
    metavar="METHOD",
    help="Interval method: percentile or bca (bootstrap), or wilson (binomial).",
)
@click.option(
    "--ci-unit", default="documents", show_default=True, metavar="UNIT", help="Resampling unit: documents or cases."
)
@click.option("--resamples", default=1000, show_default=True, metavar="N", help="Bootstrap samples for --ci.")
@click.option(
    "--jackknife-groups",
    default=0,
    metavar="N",
    help="Document groups for jackknife intervals of clustering and calibration measures (0: no such intervals).",
)
@click.option("--seed", type=int, metavar="N", help="Random seed.")
@click.option("--plus-minus", is_flag=True, help="Show intervals as ± half width.")
@click.option("-m", "--measure", "measures", multiple=True, metavar="NAME", help="Measure to show (repeatable).")
@click.option("--all", "show_all", is_flag=True, help="Show all measures of the profile, not only the headline.")
@click.option("--details", is_flag=True, help="Print notes in full, with every run by name.")
@click.option(
    "--by",
    multiple=True,
    metavar="FACET",
    help="Facet to break scores down by: types, nil, doc, meta.KEY, … (repeatable).",
)
@click.option(
    "--json",
    "json_file",
    callback=single_value,
    multiple=True,
    metavar="FILE",
    help="Write a result file (- for standard output).",
)
@click.option(
    "--verdicts",
    "verdicts_file",
    callback=single_value,
    multiple=True,
    metavar="FILE",
    help="Write every case of a view with its sentence (.parquet or .jsonl).",
)
@click.option("--view", metavar="VIEW", help="View for --verdicts, or all.  [default: view of the first measure]")
@html_options
@click.option("--layout", metavar="NAME", help="Layout of --json and --verdicts for another program: elevant.")
@click.option("--merged-ids", is_flag=True, help="List ids with several spellings, which count as one entity.")
@click.option("--markdown", "table_format", flag_value="markdown", help="Print Markdown tables.")
@click.option("--latex", "table_format", flag_value="latex", help="Print LaTeX tables.")
@click.option("--gold-format", metavar="NAME", help="Format of GOLD, if not detected.")
@click.option("--predictions-format", metavar="NAME", help="Format of PREDICTIONS, if not detected.")
@click.option("--allow-unknown", is_flag=True, help="Skip predictions for unknown documents.")
@click.option("--overlay", metavar="FILE", help="Patch of the gold standard; scores are shown without and with it.")
@click.option("--engine", metavar="NAME", help="Engine for large data: local, duckdb or spark.")
@input_options
def command(
    gold: str,
    predictions: tuple[str, ...],
    profile: str,
    match: tuple[str, ...],
    overrides: tuple[str, ...],
    task: str | None,
    threshold: str | None,
    drop_predictions: tuple[str, ...],
    invented: str | None,
    tune_on: str | None,
    tune_predictions: tuple[str, ...],
    kb: str | None,
    steps: tuple[str, ...],
    ci: bool,
    confidence: float,
    ci_method: str,
    ci_unit: str,
    resamples: int,
    jackknife_groups: int,
    seed: int | None,
    plus_minus: bool,
    measures: tuple[str, ...],
    show_all: bool,
    details: bool,
    by: tuple[str, ...],
    json_file: str | None,
    verdicts_file: str | None,
    view: str | None,
    html_file: str | None,
    texts: TextsShown,
    layout: str | None,
    merged_ids: bool,
    table_format: str | None,
    gold_format: str | None,
    predictions_format: str | None,
    allow_unknown: bool,
    overlay: str | None,
    engine: str | None,
) -> None:
    """Score predictions against a gold standard.

    GOLD and PREDICTIONS are files, dataset names, or - for standard input. The name `demo` is the built-in dataset
    and also its stored predictions. Several PREDICTIONS are shown side by side. A file with both gold labels and
    predictions, such as ELEVANT's linked articles, is passed once; several such files must share the gold standard.
    Folders of Karat Parquet files are processed in parts and need not fit into memory.

    \b
    karat score gold.jsonl mine.jsonl
    karat score demo demo --by types
    karat score demo demo/noisy --verdicts cases.jsonl
    karat score demo demo --html report.html
    karat score demo demo --profile gerbil --set prefixes=Q
    karat score test.jsonl mine.jsonl --tune-on dev.jsonl
    karat score gold.jsonl mine.jsonl --kb enwiki --step drop-deleted
    karat score test.jsonl mine.jsonl theirs.jsonl --latex > table.tex
    karat score mine.kore50.linked_articles.jsonl
    karat score mine.kore50.linked_articles.jsonl --layout elevant --json out.json
    """
    from dataclasses import replace

    from karat.analysis.comparison.entries import entry_from_evaluation
    from karat.data.load import detect_inputs
    from karat.data.save import save_report, save_results, save_verdicts
    from karat.evaluation.drop_rules import parse_drop_rules
    from karat.evaluation.evaluation import create_evaluation
    from karat.evaluation.request import Request
    from karat.evaluation.score_intervals import IntervalOptions
    from karat.model.errors import UsageError

    _check_interval_options(ci=ci, resamples=resamples)
    if [gold, *predictions].count("-") > 1:
        raise UsageError("standard input can be read only once. Pass - for one argument.")
    check_paths([gold, *predictions], [json_file, verdicts_file, html_file])
    if view is not None and (verdicts_file is None or layout is not None):
        raise UsageError("--view selects the cases of --verdicts in Karat's own layout. Add --verdicts FILE.")
    if html_file is not None and (tune_on or engine or layout):
        raise UsageError("--html cannot be combined with --tune-on, --engine or --layout. Remove these options.")
    drop_rules = ",".join(rule for rules in drop_predictions for rule in parse_drop_rules(rules)) or None
    settings = parse_settings(
        overrides,
        match=",".join(match) or None,
        threshold=threshold,
        task=task,
        drop=drop_rules,
        invented=invented,
        seed=None if seed is None else str(seed),
    )
    if tune_on is not None and "threshold" in settings:
        raise UsageError("--tune-on selects the threshold, but a threshold is set too. Pass only one of them.")
    data = detect_inputs(gold, predictions, gold_format=gold_format, predictions_format=predictions_format)
    run_names = data.run_names
    layout_spec = None if layout is None else _get_layout(layout, len(run_names), json_file, verdicts_file)
    if tune_predictions and (tune_on is None or len(tune_predictions) != len(run_names)):
        raise UsageError(
            f"--tune-predictions needs --tune-on, and one file for each of the {len(run_names)} PREDICTIONS."
        )
    facets = by if layout_spec is None else (*by, *layout_spec.facets)
    request = Request.from_options(
        profile=profile,
        settings=settings,
        measures=measures,
        extra_measures=() if layout_spec is None else layout_spec.measures,
        by=facets,
        kb=kb,
        interval_options=IntervalOptions(resamples if ci else 0, 0, ci_method, confidence, ci_unit, jackknife_groups),  # type: ignore[arg-type]
        allow_unknown=allow_unknown,
    )
    text = any((verdicts_file, html_file, overlay, steps)) or request.needs_text
    if engine is None and data.is_partitioned and overlay is None:
        engine = "local"
    if engine is not None:
        _check_memory_options(layout, verdicts_file, steps)
    if overlay is not None and (engine, layout, verdicts_file) != (None, None, None):
        raise UsageError("--overlay only shows scores. Write the new gold with karat verify apply and score it.")
    corpus, runs = data.load() if engine is None else _load_partitioned(data, text=text)
    runs = rename_duplicates(runs, run_names)
    if steps:
        corpus, runs = _apply_steps(corpus, runs, steps, request)
    tuned_runs = _tune_thresholds(tune_on, tune_predictions, corpus, runs, request, engine, steps)
    results = []
    for run, tuned_settings in tuned_runs:
        with track_progress(f"scoring {run.name}", len(corpus)) as progress:
            run_request = request.replace(settings=tuned_settings) if tuned_settings else request
            results.append(create_evaluation(run_request, corpus, run, engine=engine, progress=progress).result)
    overlay_results = [] if overlay is None else _score_overlay(overlay, corpus, tuned_runs, request)
    results += overlay_results
    if layout_spec is not None:
        save_report(results[0], layout_spec, json_file, verdicts_file)
        for note in layout_spec.notes(results[0]) if layout_spec.notes is not None else ():
            echo(f"karat: {note}", err=True)
        results = [_drop_layout_facets(results[0], by)]
    else:
        if verdicts_file is not None:
            save_verdicts(results, verdicts_file, _select_view(results[0], view))
        if json_file is not None:
            save_results(results, json_file)
    # a measure of one group gets its table only if --by names the facet
    table_facets = None if show_all or measures else by
    if html_file is not None:
        evaluations = [result.evaluation for result in results[: len(runs)]]
        write_html(map(entry_from_evaluation, evaluations), request, html_file, texts=texts)
    if "-" not in (json_file, verdicts_file, html_file):
        tables = [replace(result, plus_minus=plus_minus) for result in results]
        n_tables = len(tables) - len(overlay_results)
        print_tables(tables[:n_tables], show_all=show_all, details=details, by=table_facets, table_format=table_format)
        if overlay_results:
            echo("")
            print_tables(
                tables[n_tables:], show_all=show_all, details=details, by=table_facets, table_format=table_format
            )
        for result in results if merged_ids else ():
            for spelling in () if result.id_health is None else result.id_health.format_spellings():
                echo(f"{result.run}: {spelling}")


def _score_overlay(
    overlay: str, corpus: Corpus, tuned_runs: list[tuple[Run, dict[str, str]]], request: Request
) -> list[Result]:
    """Score runs on the gold standard after applying the patch file `overlay`; print what could not be applied.

    Each run comes with settings that override those of the request.
    """
    from karat.evaluation.evaluation import create_evaluation
    from karat.protocols.verification.overlay import apply_overlay, read_overlay

    patch = apply_overlay(corpus, read_overlay(overlay))
    for reason, count in patch.excluded.items():
        echo(f"karat: {overlay}: {count} {reason}", err=True)
    return [
        create_evaluation(request.replace(settings=settings) if settings else request, patch.corpus, run).result
        for run, settings in tuned_runs
    ]


def _select_view(result: Result, view: str | None) -> str | None:
    """Return the view whose cases are written to a file; None means all views.

    `view` is the value of `--view`: a view, `all`, or None for the view of the first measure in the table.
    """
    from karat.model.measure_name import parse_measure

    return None if view == "all" else view or str(parse_measure(result.table_measures[0]).view)


def _load_partitioned(data: Inputs, *, text: bool) -> tuple[Corpus, list[Run]]:
    """Open gold and predictions as partitioned data, typed as corpus and runs because evaluations accept both.

    `text`: False skips the texts of a gold standard in memory where this saves time.
    """
    return cast("tuple[Corpus, list[Run]]", data.load_partitioned(text=text))


def _apply_steps(corpus: Corpus, runs: list[Run], steps: tuple[str, ...], request: Request) -> tuple[Corpus, list[Run]]:
    """Apply the named steps to a gold standard and print their changes.

    Returns the changed gold standard, and the runs with only the responses to its documents.
    """
    from karat.data.steps import apply_steps, filter_run

    remaining, changes = apply_steps(corpus, steps, request.base_kb)
    for name, change in changes.items():
        echo(f"karat: {corpus.name}, {name}: {change}", err=True)
    return remaining, [filter_run(run, corpus, remaining) for run in runs]


def _check_interval_options(*, ci: bool, resamples: int) -> None:
    """Raise `UsageError` for options of intervals without `--ci`, and for `--ci` without samples."""
    from karat.model.errors import UsageError

    context, source = click.get_current_context(), click.core.ParameterSource.COMMANDLINE
    names = ("confidence", "ci_method", "ci_unit", "resamples", "jackknife_groups", "plus_minus")
    options = [f"--{name.replace('_', '-')}" for name in names if context.get_parameter_source(name) == source]
    if options and not ci:
        verb = "needs" if len(options) == 1 else "need"
        raise UsageError(f"{', '.join(options)} {verb} intervals. Add --ci.")
    if ci and not resamples:
        raise UsageError("--resamples is 0, so --ci has no intervals. Pass a number of samples, or omit --ci.")


def _check_memory_options(layout: str | None, verdicts_file: str | None, steps: tuple[str, ...]) -> None:
    """Raise `UsageError` for options that need the whole data in memory, which an engine does not load."""
    from karat.model.errors import UsageError

    if steps:
        raise UsageError(
            "--step needs the gold standard in memory. Apply the steps first (karat data convert GOLD OUT --step NAME) "
            "or remove --engine and pass files instead of folders."
        )
    if layout is not None and verdicts_file is not None:
        raise UsageError(
            f"the cases of {layout} need gold and predictions in memory. Remove --engine and pass files instead of "
            "folders (karat data convert writes files), or remove --layout or --verdicts."
        )


def _get_layout(name: str, n_runs: int, json_file: str | None, verdicts_file: str | None) -> Report:
    """Return the plugin of a file layout of another program, such as ELEVANT.

    Raise an error if the layout does not apply. Such files hold one run, so `n_runs` must be 1, and at least one of the
    two output files must be given.
    """
    from karat.model.errors import UsageError
    from karat.model.registry import get_plugin
    from karat.model.spec.report import Report

    layout = get_plugin("reports", name, Report)
    if not layout.is_reference_layout:
        raise UsageError(f"--layout {name}: not a layout of another program. Use elevant, or remove --layout.")
    if json_file is None and verdicts_file is None:
        raise UsageError("--layout needs an output file. Add --json FILE, --verdicts FILE or both.")
    if n_runs != 1:
        raise UsageError(f"a file in the layout {name} holds one system on one dataset. Pass one PREDICTIONS file.")
    stem = (verdicts_file or "-").removesuffix(".gz").removesuffix(".zst")
    if verdicts_file is not None and (layout.cases is None or not (stem == "-" or stem.endswith(".jsonl"))):
        raise UsageError(f"{verdicts_file}: the layout {name} stores cases as JSON lines. Name the file .jsonl.")
    return layout


def _drop_layout_facets(result: Result, by: tuple[str, ...]) -> Result:
    """Return the result without the groups of facets that only a layout needs: not in `by` nor in a shown measure."""
    from dataclasses import replace

    from karat.model.measure_name import parse_measure

    measure_facets = {name.group[0] for name in map(parse_measure, result.table_measures) if name.group}
    return replace(
        result, groups={facet: groups for facet, groups in result.groups.items() if facet in {*by, *measure_facets}}
    )


def _tune_thresholds(
    tune_on: str | None,
    dev_predictions: tuple[str, ...],
    corpus: Corpus,
    runs: list[Run],
    request: Request,
    engine: str | None,
    steps: tuple[str, ...],
) -> list[tuple[Run, dict[str, str]]]:
    """Return each run with settings that override those of the request: the threshold tuned on the corpus `tune_on`.

    The settings are empty if `tune_on` is None, and an oracle threshold if `tune_on` is the scored corpus. The tuning
    uses `dev_predictions` (one file per run), or the runs themselves if there are none. The same steps apply to the
    development corpus. Responses to development documents that are not scored are removed from the runs.
    """
    from karat.data.load import load, load_partitioned, load_run_for_any, reload_and_align_run
    from karat.evaluation.threshold_tuning import (
        count_shared_documents,
        drop_dev_responses,
        is_same_corpus,
        tune_threshold,
    )
    from karat.model.output.text_layout import format_count

    if tune_on is None:
        return [(run, {}) for run in runs]
    dev = load(tune_on) if engine is None else cast("Corpus", load_partitioned(tune_on, gold=True))
    full_dev = dev  # documents that steps remove are still development documents
    if steps:
        dev, _ = _apply_steps(dev, [], steps, request)
    if is_same_corpus(dev, corpus):
        echo("karat: --tune-on is the scored data, so the threshold is an oracle.", err=True)
        return [(run, {"threshold": "oracle"}) for run in runs]
    if shared := count_shared_documents(dev, corpus):
        overlap = f"{format_count(shared, 'document')} of {dev.name} {'is' if shared == 1 else 'are'} also scored"
        echo(f"karat: {overlap}: the threshold was tuned on {'it' if shared == 1 else 'them'}.", err=True)
    if engine is None:
        dev_runs = [reload_and_align_run(dev, load_run_for_any(name, [dev]), name) for name in dev_predictions] or runs
    else:
        dev_runs = [cast("Run", load_partitioned(name, gold=False)) for name in dev_predictions] or runs
    return [
        (
            cast("Run", drop_dev_responses(run, full_dev, corpus)),
            {"threshold": tune_threshold(dev, dev_run, request, engine)},
        )
        for run, dev_run in zip(runs, dev_runs, strict=True)
    ]


def print_tables(
    results: list[Result],
    *,
    show_all: bool = False,
    details: bool = False,
    by: tuple[str, ...] | None = None,
    table_format: str | None = None,
) -> None:
    """Print score tables for the terminal, or as Markdown or LaTeX (`table_format`).

    `show_all` shows all measures instead of the profile's, `details` shows notes in full, and `by` names the facets to
    show tables for (None for all); all three only apply to the terminal.
    """
    from karat.model.spec.report import Style
    from karat.plugins.reports.table import render_table
    from karat.render.scores import render_page

    if table_format is not None:
        echo(render_page(results, table_format), nl=False)
    else:
        echo(render_table(results, Style(page_width(), show_all, details, by)), nl=False)
