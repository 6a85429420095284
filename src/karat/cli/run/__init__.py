"""`karat run SYSTEM… --on DATASET…`."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from karat.cli.arguments import check_paths, parse_settings, split_arguments
from karat.cli.options.declaration import Decorator, group_options, karat_command, option
from karat.cli.options.output import details_option, json_option, limit_option
from karat.cli.options.reading import input_options
from karat.cli.options.scoring import gold_format_option, profile_option, settings_option, task_option
from karat.cli.output import echo, page_width, print_tables, write_output
from karat.cli.sending import confirm_sending

if TYPE_CHECKING:
    from karat.model.errors import KaratError
    from karat.model.results.result import Result
    from karat.systems.running.experiment import Experiment, ExperimentResult
    from karat.systems.running.system_runner import RunOptions


def _integer_option(flag: str, default: int, description: str, *, min_value: int) -> Decorator:
    """Return a decorator that adds an integer option of at least `min_value` to a command."""
    return option(
        flag, default=default, show_default=True, type=click.IntRange(min_value), metavar="N", help=description
    )


def _build_run_options(**options: object) -> RunOptions:
    """Return how systems are run."""
    from karat.systems.running.system_runner import RunOptions

    return RunOptions(**options)  # type: ignore[arg-type]  # the options are named like its fields


@karat_command(context_settings={"ignore_unknown_options": True})
@click.argument("arguments", nargs=-1, required=True, metavar="SYSTEM…", type=click.UNPROCESSED)
@option("--on", "datasets", multiple=True, metavar="DATASET", help="Dataset or gold standard with texts (repeatable).")
@option("--out", default="runs", show_default=True, metavar="DIR", help="Output folder of the predictions.")
@task_option("Task; d2kb passes the gold mentions to systems that accept them.")
@profile_option()
@settings_option()
@limit_option(None, "documents, for a quick test", min_value=1)
@option(
    "--tune-nil",
    metavar="DEV",
    help="Dataset on which to tune the option nil of systems that can abstain (by micro F1).",
)
@group_options(
    "run_options",
    _build_run_options,
    option(
        "--repeat",
        "repeats",
        default=1,
        show_default=True,
        type=click.IntRange(1),
        metavar="N",
        help="Number of runs, to measure variance.",
    ),
    _integer_option("--workers", 4, "Parallel requests to services.", min_value=1),
    option("--rate-limit", type=click.FloatRange(0, min_open=True), metavar="R", help="Maximum requests per second."),
    _integer_option("--attempts", 4, "Maximum attempts per document.", min_value=1),
    _integer_option("--max-failures", 25, "Consecutive failures after which to stop.", min_value=1),
    option("--no-cache", is_flag=True, help="Ignore cached responses."),
    _integer_option("--warm-up", 1, "Untimed documents before timing (local systems).", min_value=0),
    _integer_option("--timing-runs", 1, "Calls per document; the median time counts (local systems).", min_value=1),
    _integer_option("--latency-probes", 6, "Requests of spaces that measure the latency of a service.", min_value=0),
)
@option("--yes", is_flag=True, help="Send texts to remote services without asking.")
@option("--allow-commands", is_flag=True, help="Allow an experiment file to run commands and .py files.")
@option("--runtimes", "chart", metavar="FILE", help="Write a chart of runtime over text length (.svg, .png, …).")
@details_option()
@json_option()
@gold_format_option("DATASET")
@input_options
def command(
    arguments: tuple[str, ...],
    datasets: tuple[str, ...],
    out: str,
    task: str | None,
    profile: str,
    overrides: tuple[str, ...],
    limit: int | None,
    tune_nil: str | None,
    run_options: RunOptions,
    yes: bool,
    allow_commands: bool,
    chart: str | None,
    details: bool,
    json_file: str | None,
    gold_format: str | None,
) -> None:
    """Run systems on datasets and score them.

    SYSTEM is a name that `karat systems` lists, with options in brackets: `tagme[rho=0.2]`. An option that several
    systems share may be a flag: `--nil 0.5`. `--kb NAME|DIR` is the knowledge base of the systems and of the scoring,
    as in `karat score`. `TITLE=SYSTEM` names a system in tables and files. `command:./my-linker --flag` runs any
    program, `predictions:FILE` uses existing predictions, and `FILE.toml` is an experiment file.

    Karat caches each response as it arrives. An interrupted run resumes where it stopped, and a repeated run only
    retries failed documents. The predictions record the error of each failed document.

    \b
    karat run light popular --on demo
    karat run 'command:./my-linker --fast' --on kore50
    karat run 'llm[url=http://localhost:8000/v1]:small' --on demo --repeat 3
    karat run graph --on test.jsonl --tune-nil dev.jsonl
    karat run experiment.toml
    """
    from karat.data.load import detect_kind
    from karat.model.errors import UsageError
    from karat.render.charts.output import check_chart_path, save_chart
    from karat.render.charts.runtime_by_length import lengths_chart
    from karat.render.systems.runs import render_tuned_nil, to_json
    from karat.systems.running.experiment import create_experiment, read_experiment, run_experiment
    from karat.systems.running.nil_tuning import tune_experiment
    from karat.systems.running.prediction_files import (
        describe_transfers,
        list_commands,
        write_predictions,
        write_replies,
    )

    names, flags = split_arguments(arguments)
    check_paths(datasets, [json_file, chart])
    if any(name.endswith(".toml") for name in names):
        _check_experiment_options(len(names) > 1 or bool(flags))
        experiment, out = read_experiment(names[0])
        programs = list_commands(experiment)
        if programs and not allow_commands:
            raise UsageError(f"{names[0]} runs programs: {', '.join(programs)}. Check them, then add --allow-commands.")
    else:
        if allow_commands:
            echo("karat: --allow-commands has no effect without an experiment file.", err=True)
        experiment = create_experiment(
            names,
            flags,
            datasets=datasets,
            run_options=run_options,
            task=task,
            profile=profile,
            limit=limit,
            tune_nil=tune_nil,
            gold_format=gold_format,
            settings=parse_settings(overrides),
        )
    if chart is not None:
        check_chart_path(chart)
    for name in experiment.datasets:  # before the first output, which needs to know that all --columns fit a file
        detect_kind(name, format=experiment.gold_format)
    confirm_sending(describe_transfers(experiment), yes=yes)
    experiment, tuned = tune_experiment(experiment)
    if tuned:
        echo(render_tuned_nil(tuned, page_width()), err=json_file == "-")
    outcomes: list[ExperimentResult] = []
    files: list[str] = []
    replies: list[str] = []
    failures: dict[str, KaratError] = {}
    try:
        for outcome in run_experiment(experiment, lambda system, error: failures.setdefault(system.title, error)):
            outcomes.append(outcome)
            files.append(write_predictions(outcome, out, experiment))
            replies += filter(None, [write_replies(outcome, out, experiment)])
    except KeyboardInterrupt:
        echo("karat: interrupted. Run the same command again to resume.", err=True)
        raise
    if not outcomes and failures:
        raise next(iter(failures.values()))
    for title, failure in failures.items():
        echo(f"karat: {title} did not run: {failure}", err=True)
    if chart is not None:
        save_chart(lengths_chart(outcomes), chart)
    write_output(
        json_file,
        lambda: to_json([outcome.system_run for outcome in outcomes], [outcome.result for outcome in outcomes], files),
    )
    if json_file != "-":
        _print_scores(experiment, outcomes, details=details)
        _print_summary(experiment, outcomes, files, replies, out, details=details)
    if failures or any(outcome.has_failed for outcome in outcomes):
        sys.exit(1)


def _print_summary(
    experiment: Experiment,
    outcomes: list[ExperimentResult],
    files: list[str],
    replies: list[str],
    out: str,
    *,
    details: bool,
) -> None:
    """Print times, costs and failures of the runs, the variance of repeated runs, and commands to try next.

    `files` has the file of predictions of each outcome, `replies` the files of replies, `out` is the output folder.
    With --limit, the gold files that the commands need are written too. `details`: whether to print errors in full.
    """
    from karat.render.systems.runs import render_next_commands, render_page, render_repetitions, render_text_commands
    from karat.systems.running.prediction_files import format_scoring_options, group_repeats, name_file, prepare_gold

    echo(render_page([outcome.system_run for outcome in outcomes], page_width(), details=details))
    if replies:
        echo("Replies as they came: " + ", ".join(replies) + "\n")
    if experiment.run_options.repeats > 1:
        echo(render_repetitions(group_repeats(outcomes), page_width()))
    predictions = {
        name: [
            name_file(outcome, file) for outcome, file in zip(outcomes, files, strict=True) if outcome.dataset == name
        ]
        for name in experiment.datasets
    }
    texts = {outcome.dataset for outcome in outcomes if outcome.corpus.is_unlabelled}
    golds = {name: prepare_gold(name, outcomes, out, experiment) for name in predictions}
    labelled_files = [(golds[name], paths) for name, paths in predictions.items() if name not in texts]
    text_files = [(golds[name], paths) for name, paths in predictions.items() if name in texts]
    if labelled_files:
        echo(render_next_commands(labelled_files, format_scoring_options(experiment), page_width()), nl=False)
    if text_files:
        echo(render_text_commands(text_files, page_width()), nl=False)


def _check_experiment_options(has_extra_arguments: bool) -> None:
    """Raise `UsageError` if the command line has options that an experiment file would silently ignore.

    `has_extra_arguments` is whether arguments other than the file were passed, which is an error too.
    """
    from karat.model.errors import UsageError

    context = click.get_current_context()
    source = click.core.ParameterSource.COMMANDLINE
    accepted = {"arguments", "yes", "allow_commands", "chart", "details", "json_file"}
    ignored = [name for name in context.params if context.get_parameter_source(name) == source and name not in accepted]
    if has_extra_arguments or ignored:
        raise UsageError(
            "an experiment file contains all other options. Pass only --yes, --allow-commands, --runtimes, --details "
            "and --json with it, and write the rest into the file."
        )


def _print_scores(experiment: Experiment, outcomes: list[ExperimentResult], *, details: bool) -> None:
    """Print one table of scores per dataset; with match relations, also for similarity, print BAT's tables instead.

    `details`: whether to print notes in full.
    """
    from karat.model.spec.report import Style
    from karat.render.systems.experiment import render_page

    outcomes = [replace(outcome, result=_drop_failures(outcome.result)) for outcome in outcomes]
    if experiment.relations or experiment.similarity:
        echo(render_page(experiment, outcomes, page_width(), details=details))
        return
    for name in experiment.datasets:
        print_tables([outcome.result for outcome in outcomes if outcome.dataset == name], Style(details=details))
        echo("")


def _drop_failures(result: Result) -> Result:
    """Return the result without the note on failed documents, which the summary of the runs names too."""
    from karat.model.results.failures import FAILED_NOTE

    return replace(result, notes=tuple(note for note in result.notes if not note.startswith(FAILED_NOTE)))
