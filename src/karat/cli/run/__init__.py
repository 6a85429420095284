"""`karat run SYSTEM… --on DATASET…`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from karat.cli.arguments import check_paths, parse_settings, single_value
from karat.cli.input_options import input_options
from karat.cli.output import echo, page_width, write_output

if TYPE_CHECKING:
    from pathlib import Path

    from karat.model.corpus import Corpus
    from karat.model.results.result import Result
    from karat.systems.running.experiment import Experiment, ExperimentResult
    from karat.systems.running.system import RunnableSystem


def _integer_option(
    flag: str, default: int, description: str, *, min_value: int
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that adds an integer option of at least `min_value` to a command."""
    return click.option(
        flag, default=default, show_default=True, type=click.IntRange(min_value), metavar="N", help=description
    )


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("arguments", nargs=-1, required=True, metavar="SYSTEM…", type=click.UNPROCESSED)
@click.option(
    "--on", "datasets", multiple=True, metavar="DATASET", help="Dataset or gold standard with texts (repeatable)."
)
@click.option("--out", default="runs", show_default=True, metavar="DIR", help="Output folder of the predictions.")
@click.option("--task", metavar="TASK", help="Task; d2kb passes the gold mentions to systems that accept them.")
@click.option("--profile", default="karat", show_default=True, metavar="PROFILE", help="Scoring profile.")
@click.option("--set", "overrides", multiple=True, metavar="SETTING=VALUE", help="Override a setting of the profile.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Maximum number of documents, for a quick test.")
@_integer_option("--repeat", 1, "Number of runs, to measure variance.", min_value=1)
@_integer_option("--workers", 4, "Parallel requests to services.", min_value=1)
@click.option("--rate-limit", type=click.FloatRange(0, min_open=True), metavar="R", help="Maximum requests per second.")
@_integer_option("--attempts", 4, "Maximum attempts per document.", min_value=1)
@_integer_option("--max-failures", 25, "Consecutive failures after which to stop.", min_value=1)
@click.option("--no-cache", is_flag=True, help="Ignore cached responses.")
@_integer_option("--warm-up", 1, "Untimed documents before timing (local systems).", min_value=0)
@_integer_option("--timing-runs", 1, "Calls per document; the median time counts (local systems).", min_value=1)
@_integer_option("--latency-probes", 6, "Empty requests that measure the latency of a service.", min_value=0)
@click.option("--yes", is_flag=True, help="Send texts to remote services without asking.")
@click.option("--allow-commands", is_flag=True, help="Allow an experiment file to run commands and .py files.")
@click.option("--runtimes", "chart", metavar="FILE", help="Write a chart of runtime over text length (.svg, .png, …).")
@click.option("--details", is_flag=True, help="Print notes in full.")
@click.option(
    "--json", "json_file", callback=single_value, multiple=True, metavar="FILE", help="Write the full output as JSON."
)
@click.option("--gold-format", metavar="NAME", help="Format of DATASET, if not detected.")
@input_options
def command(
    arguments: tuple[str, ...],
    datasets: tuple[str, ...],
    out: str,
    task: str | None,
    profile: str,
    overrides: tuple[str, ...],
    limit: int | None,
    repeat: int,
    workers: int,
    rate_limit: float | None,
    attempts: int,
    max_failures: int,
    no_cache: bool,
    warm_up: int,
    timing_runs: int,
    latency_probes: int,
    yes: bool,
    allow_commands: bool,
    chart: str | None,
    details: bool,
    json_file: str | None,
    gold_format: str | None,
) -> None:
    """Run systems on datasets and score them.

    SYSTEM is a name that `karat systems` lists, with options in brackets: `tagme[rho=0.2]`. An option that several
    systems share may be a flag: `--kb DIR`. `command:./my-linker --flag` runs any program, `predictions:FILE` uses
    existing predictions, and `FILE.toml` is an experiment file.

    Karat caches each response as it arrives. An interrupted run resumes where it stopped, and a repeated run only
    retries failed documents. The predictions record the error of each failed document.

    \b
    karat run prior tagme --on demo
    karat run 'command:./my-linker --fast' --on kore50
    karat run 'llm[url=http://localhost:8000/v1]:small' --on demo --repeat 3
    karat run experiment.toml
    """
    from karat.model.errors import UsageError
    from karat.render.charts.output import check_chart_path, save_chart
    from karat.render.charts.runtime_by_length import lengths_chart
    from karat.render.systems.runs import to_json
    from karat.systems.running.experiment import Experiment, read_experiment, run_experiment
    from karat.systems.running.system import RunnableSystem, check_unused_options, make_titles_unique
    from karat.systems.running.system_runner import RunOptions

    names, flags = split_arguments(arguments)
    check_paths([*datasets], [json_file, chart])
    if any(name.endswith(".toml") for name in names):
        _check_experiment_options(len(names) > 1 or bool(flags))
        experiment, out = read_experiment(names[0])
        _check_commands(experiment.systems, names[0], allowed=allow_commands)
    else:
        run_options = RunOptions(
            workers=workers,
            rate_limit=rate_limit,
            attempts=attempts,
            max_failures=max_failures,
            no_cache=no_cache,
            warm_up=warm_up,
            timing_runs=timing_runs,
            latency_probes=latency_probes,
            repeats=repeat,
        )
        if not datasets:
            raise UsageError("no dataset. Add --on DATASET, such as --on demo.")
        systems = make_titles_unique([RunnableSystem.from_text(name, flags) for name in names])
        check_unused_options(systems, flags)
        experiment = Experiment(
            systems,
            datasets,
            run_options,
            task=task,
            profile=profile,
            limit=limit,
            gold_format=gold_format,
            kb=flags.get("kb"),
            settings=parse_settings(overrides),
        )
    if chart is not None:
        check_chart_path(chart)
    _confirm_sending(experiment, yes=yes)
    outcomes: list[ExperimentResult] = []
    files: list[str] = []
    try:
        for outcome in run_experiment(experiment):
            outcomes.append(outcome)
            files.append(_write_predictions(outcome, out, experiment.task if experiment.gold_mentions else None))
    except KeyboardInterrupt:
        echo("karat: interrupted. Run the same command again to resume.", err=True)
        raise
    if chart is not None:
        save_chart(lengths_chart(outcomes), chart)
    write_output(
        json_file,
        lambda: to_json([outcome.system_run for outcome in outcomes], [outcome.result for outcome in outcomes], files),
    )
    if json_file != "-":
        _print_scores(experiment, outcomes, details=details)
        _print_summary(experiment, outcomes, files, out)
    if any(
        outcome.system_run.n_documents and outcome.system_run.n_failures == outcome.system_run.n_documents
        for outcome in outcomes
    ):
        sys.exit(1)


def _print_summary(experiment: Experiment, outcomes: list[ExperimentResult], files: list[str], out: str) -> None:
    """Print times, costs and failures of the runs, the variance of repeated runs, and commands to try next.

    `files` has the file of predictions of each outcome, `out` is the output folder. With --limit, the gold files that
    the commands need are written too.
    """
    from karat.render.systems.runs import render_next_commands, render_page, render_repetitions

    echo(render_page([outcome.system_run for outcome in outcomes], page_width()))
    if experiment.run_options.repeats > 1:
        echo(render_repetitions(_group_repeats(outcomes), page_width()))
    predictions = {
        name: [file for outcome, file in zip(outcomes, files, strict=True) if outcome.dataset == name]
        for name in experiment.datasets
    }
    golds = [
        (_prepare_gold_argument(name, experiment, outcomes, out), files_on_dataset)
        for name, files_on_dataset in predictions.items()
    ]
    echo(render_next_commands(golds, _format_scoring_options(experiment), page_width()), nl=False)


def split_arguments(arguments: tuple[str, ...]) -> tuple[list[str], dict[str, str]]:
    """Split arguments into system names and the values of system options by name.

    Options are written `--NAME=VALUE` or `--NAME VALUE`. Raises `UsageError` for an option without value.
    """
    from karat.model.errors import UsageError

    names: list[str] = []
    flags: dict[str, str] = {}
    remaining = iter(arguments)
    for argument in remaining:
        if not argument.startswith("--"):
            names.append(argument)
            continue
        name, equals, value = argument.removeprefix("--").partition("=")
        flag_value = value if equals else next(remaining, None)
        if flag_value is None:
            raise UsageError(f"{argument} needs a value. Write {argument}=VALUE, or see karat run --help.")
        flags[name] = flag_value
    return names, flags


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


def _check_commands(systems: tuple[RunnableSystem, ...], path: str, *, allowed: bool) -> None:
    """Raise `UsageError` if a system in the experiment file `path` is a program to run, unless `allowed`."""
    from karat.model.errors import UsageError

    commands = [system.text for system in systems if system.runs_commands]
    if commands and not allowed:
        raise UsageError(f"{path} runs programs: {', '.join(commands)}. Check them, then add --allow-commands.")


def _confirm_sending(experiment: Experiment, *, yes: bool) -> None:
    """Print how many documents are sent to which hosts and ask for confirmation; do nothing without such systems.

    With `yes` there is no question. Raises `UsageError` if standard input is no terminal, and click's `Abort` on no.
    """
    from karat.model.errors import UsageError
    from karat.model.output.text_layout import format_count

    hosts = [
        (system, host) for system in experiment.systems if system.access is not None for host in system.access.hosts
    ]
    if not hosts:
        return
    names = [*experiment.datasets, *filter(None, [experiment.tune_on])]
    texts = [text for name in names for text in experiment.load(name).table.column("text").to_pylist()]
    documents = format_count(len(texts) * experiment.run_options.repeats, "document")
    characters = format_count(sum(map(len, texts)) * experiment.run_options.repeats, "character")
    for system, host in hosts:
        echo(f"karat: {system.title}: up to {documents} with {characters} are sent to {host}", err=True)
    if yes:
        return
    if not sys.stdin.isatty():
        raise UsageError("texts would be sent to other machines. Add --yes to allow this.")
    click.confirm("Send the texts?", abort=True, err=True)


def _create_folder(corpus: Corpus, out: str) -> Path:
    """Create the folder of a corpus in the folder `out` and return it; unsafe characters of its name become `-`."""
    import re
    from pathlib import Path

    folder = Path(out) / (re.sub(r"[^\w.@+-]+", "-", corpus.name).strip("-.") or "dataset")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _write_predictions(outcome: ExperimentResult, out: str, task: str | None) -> str:
    """Write the predictions of a run into the folder `out` and return the path.

    A system that is a file of predictions keeps its file. The file name contains `task`, unless it is None, and the
    number of the run if there are several.
    """
    from karat.data.load import save

    if outcome.system.predictions_file is not None:  # they exist already
        return outcome.system.predictions_file
    parts = [
        outcome.system.stem,
        *([task] if task else []),
        *([str(outcome.system_run.repeat + 1)] if _is_repeated(outcome) else []),
    ]
    path = _create_folder(outcome.corpus, out) / f"{'.'.join(parts)}.jsonl"
    save(outcome.system_run.run, path)
    return str(path)


def _is_repeated(outcome: ExperimentResult) -> bool:
    """Return whether the run is one of several runs of its system on its dataset."""
    return "repeat" in outcome.system_run.run.metadata


def _prepare_gold_argument(name: str, experiment: Experiment, outcomes: list[ExperimentResult], out: str) -> str:
    """Return the gold argument of further commands: the dataset `name`, or with --limit a file of its documents.

    The file is written into the folder `out`.
    """
    from karat.data.load import save

    corpus = next(outcome.corpus for outcome in outcomes if outcome.dataset == name)
    if experiment.limit is None:
        return name
    path = _create_folder(corpus, out) / "gold.jsonl"
    save(corpus, path)
    return str(path)


def _format_scoring_options(experiment: Experiment) -> list[str]:
    """Return the options, quoted for a shell, with which further commands score like the printed table."""
    import shlex

    settings = {**experiment.settings, **({"task": experiment.task} if experiment.task else {})}
    options = [
        ("--profile", "" if experiment.profile == "karat" else experiment.profile),
        *(("--set", f"{name}={value}") for name, value in settings.items()),
        ("--gold-format", "" if experiment.limit else experiment.gold_format),
    ]
    return [f"{name} {shlex.quote(value)}" for name, value in options if value]


def _group_repeats(outcomes: list[ExperimentResult]) -> dict[str, list[Result]]:
    """Return the results of repeated runs by `SYSTEM on DATASET`."""
    results: dict[str, list[Result]] = {}
    for outcome in outcomes:
        results.setdefault(f"{outcome.system.title} on {outcome.corpus.name}", []).append(outcome.result)
    return results


def _print_scores(experiment: Experiment, outcomes: list[ExperimentResult], *, details: bool) -> None:
    """Print one table of scores per dataset; an experiment that names match relations gets BAT's tables instead.

    `details`: whether to print notes in full.
    """
    from karat.cli.score import print_tables
    from karat.render.systems.experiment import render_page

    if experiment.relations:
        echo(render_page(experiment, outcomes, page_width()))
        return
    for name in experiment.datasets:
        print_tables([outcome.result for outcome in outcomes if outcome.dataset == name], details=details)
        echo("")
