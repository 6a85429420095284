"""`karat run SYSTEM… --on DATASET…`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from karat.cli.choices import apart, once
from karat.cli.output import say, width, write
from karat.cli.reading import reading

if TYPE_CHECKING:
    from pathlib import Path

    from karat.model.corpus import Corpus
    from karat.model.result import Result
    from karat.running.experiment import Experiment, Performed
    from karat.running.named import RunnableSystem


def _number(flag: str, default: int, says: str, *, least: int) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """An option that is a whole number."""
    return click.option(flag, default=default, show_default=True, type=click.IntRange(least), metavar="N", help=says)


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("given", nargs=-1, required=True, metavar="SYSTEM…", type=click.UNPROCESSED)
@click.option("--on", "datasets", multiple=True, metavar="DATASET", help="A gold standard with texts (repeatable).")
@click.option("--out", default="runs", show_default=True, metavar="DIR", help="Where answers are written.")
@click.option("--task", metavar="TASK", help="With d2kb, systems that can get the mentions and link them.")
@click.option("--like", default="karat", show_default=True, metavar="PROFILE", help="The conventions of the table.")
@click.option("--first", type=click.IntRange(1), metavar="N", help="Only the first N documents, to try it out.")
@_number("--repeat", 1, "Run N times, for variance.", least=1)
@_number("--workers", 4, "Documents at once, for services.", least=1)
@click.option("--rate", type=click.FloatRange(0, min_open=True), metavar="R", help="At most R questions a second.")
@_number("--attempts", 4, "How often a document is asked about.", least=1)
@_number("--give-up", 25, "Stop asking after so many failures.", least=1)
@click.option("--fresh", is_flag=True, help="Ask also about documents whose replies are known.")
@_number("--warm-up", 1, "Documents before times count, locally.", least=0)
@_number("--timings", 1, "Times are medians of N calls, locally.", least=1)
@_number("--calibrate", 6, "Empty requests to time the way.", least=0)
@click.option("--yes", is_flag=True, help="Send texts to the hosts that are named, without asking.")
@click.option("--allow-commands", is_flag=True, help="Let an experiment file run commands and .py files.")
@click.option("--runtimes", "chart", metavar="FILE", help="Draw runtime against text length (.svg, .png, …).")
@click.option("--details", is_flag=True, help="Show every note in full.")
@click.option("--json", "json_file", callback=once, multiple=True, metavar="FILE", help="Write all of it as JSON.")
@click.option("--gold-format", metavar="NAME", help="The format of DATASET, where it is not recognised.")
@reading
def command(
    given: tuple[str, ...],
    datasets: tuple[str, ...],
    out: str,
    task: str | None,
    like: str,
    first: int | None,
    repeat: int,
    workers: int,
    rate: float | None,
    attempts: int,
    give_up: int,
    fresh: bool,
    warm_up: int,
    timings: int,
    calibrate: int,
    yes: bool,
    allow_commands: bool,
    chart: str | None,
    details: bool,
    json_file: str | None,
    gold_format: str | None,
) -> None:
    """Run linkers on benchmarks, keep their answers, and score them.

    SYSTEMs are names that `karat systems` lists, with options behind them, as `tagme[rho=0.2]` or, for all that have
    such an option, as flags: `--kb DIR`; `command:./my-linker --flag` is any program, and `answers:FILE` stands for
    answers that are there already. Or SYSTEM is one experiment file, `FILE.toml`.

    Replies are kept as they come: a run that was stopped goes on where it was, and a run that is repeated asks nothing
    again but what failed. A document that fails is in the answers with its error.

    \b
    karat run prior tagme --on demo
    karat run 'command:./my-linker --fast' --on kore50
    karat run 'llm[url=http://localhost:8000/v1]:small' --on demo --repeat 3
    karat run experiment.toml
    """
    from karat.errors import UsageError
    from karat.pages.charts.lengths import lengths_chart
    from karat.pages.charts.save import check_chart, save_chart
    from karat.pages.systems.runs import runs_json
    from karat.running.ask import RunWishes
    from karat.running.experiment import Experiment, perform, read_experiment
    from karat.running.named import RunnableSystem, refuse_unused, told_apart

    names, flags = divided(given)
    apart([*datasets], [json_file, chart])
    if any(name.endswith(".toml") for name in names):
        _refuse_beside_file(len(names) > 1 or bool(flags))
        experiment, out = read_experiment(names[0])
        _refuse_commands(experiment.systems, names[0], allowed=allow_commands)
    else:
        wishes = RunWishes(
            workers=workers,
            rate=rate,
            attempts=attempts,
            give_up=give_up,
            fresh=fresh,
            warm_up=warm_up,
            timings=timings,
            calibrate=calibrate,
            repeats=repeat,
        )
        if not datasets:
            raise UsageError("no dataset to run on. Name one with --on, such as --on demo.")
        systems = told_apart([RunnableSystem.of(name, flags) for name in names])
        refuse_unused(systems, flags)
        experiment = Experiment(systems, datasets, wishes, task=task, like=like, first=first, gold_format=gold_format)
    if chart is not None:
        check_chart(chart)
    _confirm(experiment, yes=yes)
    done: list[Performed] = []
    files: list[str] = []
    try:
        for one in perform(experiment):
            done.append(one)
            files.append(_write_answers(one, out, experiment.task if experiment.given else None))
    except KeyboardInterrupt:
        say("karat: replies that came are kept: the same command goes on from them.", err=True)
        raise
    if chart is not None:
        save_chart(lengths_chart(done), chart)
    write(json_file, lambda: runs_json([one.ran for one in done], [one.result for one in done], files))
    if json_file != "-":
        _show(experiment, done, details=details)
        _tell(experiment, done, files, out)
    if any(one.ran.documents and one.ran.failures == one.ran.documents for one in done):
        sys.exit(1)


def _tell(experiment: Experiment, done: list[Performed], files: list[str], out: str) -> None:
    """How the runs went, and what to look at next."""
    from karat.pages.systems.runs import next_page, repeats_page, runs_page

    say(runs_page([one.ran for one in done], width()))
    if experiment.wishes.repeats > 1:
        say(repeats_page(_repeated(done), width()))
    answers = {
        name: [file for one, file in zip(done, files, strict=True) if one.dataset == name]
        for name in experiment.datasets
    }
    golds = [(_gold(name, experiment, done, out), own) for name, own in answers.items()]
    say(next_page(golds, _conventions(experiment), width()), nl=False)


def divided(given: tuple[str, ...]) -> tuple[list[str], dict[str, str]]:
    """Names of systems, and flags that are options of theirs."""
    from karat.errors import UsageError

    names: list[str] = []
    flags: dict[str, str] = {}
    rest = iter(given)
    for word in rest:
        if not word.startswith("--"):
            names.append(word)
            continue
        name, equals, value = word.removeprefix("--").partition("=")
        found = value if equals else next(rest, None)
        if found is None:
            raise UsageError(f"{word} has no value. Write {word}=VALUE, or see karat run --help.")
        flags[name] = found
    return names, flags


def _refuse_beside_file(more: bool) -> None:
    """Refuse options that an experiment file would not heed: they would be lost in silence."""
    from karat.errors import UsageError

    context = click.get_current_context()
    source = click.core.ParameterSource.COMMANDLINE
    heeded = {"given", "yes", "allow_commands", "chart", "details", "json_file"}
    said = [name for name in context.params if context.get_parameter_source(name) == source and name not in heeded]
    if more or said:
        raise UsageError(
            "an experiment file says everything itself. Give it alone, with --yes, --allow-commands, --runtimes, "
            "--details and --json at most, and write the rest into it."
        )


def _refuse_commands(systems: tuple[RunnableSystem, ...], path: str, *, allowed: bool) -> None:
    """Refuse to run what a file names, unless the user says so."""
    from karat.errors import UsageError

    named = [one.written for one in systems if one.runs_commands]
    if named and not allowed:
        raise UsageError(f"{path} runs programs: {', '.join(named)}. Look at them, then add --allow-commands.")


def _confirm(experiment: Experiment, *, yes: bool) -> None:
    """Say which texts leave the machine for where, and ask."""
    from karat.errors import UsageError
    from karat.fitting import counted

    hosts = {host: one for one in experiment.systems if one.outside is not None for host in one.outside.hosts}
    if not hosts:
        return
    names = [*experiment.datasets, *filter(None, [experiment.tune_on])]
    texts = [text for name in names for text in experiment.load(name).table.column("text").to_pylist()]
    amount = counted(len(texts) * experiment.wishes.repeats, "document")
    signs = counted(sum(map(len, texts)) * experiment.wishes.repeats, "character")
    for host, one in hosts.items():
        say(f"karat: {one.title}: up to {amount} with {signs} go to {host}", err=True)
    if yes:
        return
    if not sys.stdin.isatty():
        raise UsageError("texts would leave this machine. Add --yes where that is meant.")
    click.confirm("Send them?", abort=True, err=True)


def _folder(corpus: Corpus, out: str) -> Path:
    """Where what belongs to a corpus is written."""
    import re
    from pathlib import Path

    folder = Path(out) / (re.sub(r"[^\w.@+-]+", "-", corpus.name).strip("-.") or "dataset")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _write_answers(one: Performed, out: str, task: str | None) -> str:
    """Write the answers of a system, and say where; those about given mentions say their task in their name."""
    from karat.data.load import save

    if one.named.published is not None:  # they are there already
        return one.named.published
    parts = [one.named.stem, *([task] if task else []), *([str(one.ran.repeat + 1)] if _repeats(one) else [])]
    path = _folder(one.corpus, out) / f"{'.'.join(parts)}.jsonl"
    save(one.ran.run, path)
    return str(path)


def _repeats(one: Performed) -> bool:
    return "repeat" in one.ran.run.about


def _gold(name: str, experiment: Experiment, done: list[Performed], out: str) -> str:
    """What a dataset is called in further commands; where only its first documents were asked about, a file of them."""
    from karat.data.load import save

    corpus = next(one.corpus for one in done if one.dataset == name)
    if experiment.first is None:
        return name
    path = _folder(corpus, out) / "gold.jsonl"
    save(corpus, path)
    return str(path)


def _conventions(experiment: Experiment) -> list[str]:
    """What makes further commands count as the table does."""
    import shlex

    said = {
        "--like": "" if experiment.like == "karat" else experiment.like,
        "--set": f"task={experiment.task}" if experiment.task else "",
        "--gold-format": "" if experiment.first else experiment.gold_format,
    }
    return [f"{name} {shlex.quote(value)}" for name, value in said.items() if value]


def _repeated(done: list[Performed]) -> dict[str, list[Result]]:
    """The results of each system on each dataset over its repeated runs."""
    found: dict[str, list[Result]] = {}
    for one in done:
        found.setdefault(f"{one.named.title} on {one.corpus.name}", []).append(one.result)
    return found


def _show(experiment: Experiment, done: list[Performed], *, details: bool) -> None:
    """The tables of scores, dataset by dataset; an experiment with relations has BAT's shape."""
    from karat.cli.score import show
    from karat.pages.systems.experiment import experiment_page

    if experiment.relations:
        say(experiment_page(experiment, done, width()))
        return
    for name in experiment.datasets:
        show([one.result for one in done if one.dataset == name], details=details)
        say("")
