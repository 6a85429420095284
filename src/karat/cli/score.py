"""`karat score GOLD [ANSWERS…]`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast

import click

from karat.cli.choices import apart, chosen, named_apart, once
from karat.cli.output import say
from karat.cli.reading import reading
from karat.cli.sharing.pages import html, write_html
from karat.printable import shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from karat.archive.archive import TextsShown
    from karat.data.load import Inputs
    from karat.evaluation.request import Request
    from karat.model.corpus import Corpus
    from karat.model.result import Result
    from karat.model.run import Run
    from karat.spec.report import Report

_LARGE = 20_000  # documents from which on a progress bar is worth its line


@click.command()
@click.argument("gold")
@click.argument("answers", nargs=-1)
@click.option("--like", default="karat", show_default=True, metavar="PROFILE", help="The table of conventions to use.")
@click.option(
    "--match",
    multiple=True,
    metavar="R,…",
    help="Relations: strong, weak, mention, mention-weak, entity, a .py file (it runs).",
)
@click.option("--set", "overrides", multiple=True, metavar="CHOICE=VALUE", help="Override one choice of the profile.")
@click.option("--task", metavar="TASK", help="a2kb, d2kb, c2kb, rc2kb, erec, rt2kb, re, … or BAT's names.")
@click.option("--threshold", metavar="T", help="Leave out answers with a score below T (>T: of at most T); or oracle.")
@click.option(
    "--drop-answers",
    multiple=True,
    metavar="RULE",
    help="Drop answers before scoring: lowercase, non-named (by --kb), type:X, score<T (repeatable).",
)
@click.option("--tune-on", metavar="DEV", help="Choose the threshold on this gold standard (best micro F1).")
@click.option(
    "--tune-answers",
    multiple=True,
    metavar="FILE",
    help="The answers to DEV, one file for each of ANSWERS, where these do not hold them.",
)
@click.option("--kb", metavar="DIR", help="Resolve ids by the tables in this folder (redirects, same-as, classes).")
@click.option("--ci", is_flag=True, help="Add confidence intervals.")
@click.option("--level", default=0.95, show_default=True, metavar="L", help="The level of the intervals.")
@click.option(
    "--ci-method",
    default="percentile",
    show_default=True,
    metavar="METHOD",
    help="percentile, bca (both from samples), or wilson (shares of independent cases).",
)
@click.option("--ci-over", default="documents", show_default=True, metavar="WHAT", help="Draw documents, or cases.")
@click.option("--resamples", default=1000, show_default=True, metavar="N", help="Samples for --ci.")
@click.option(
    "--recompute",
    default=0,
    metavar="N",
    help="Intervals also for clusterings and calibration: compute them without each of N groups of documents.",
)
@click.option("--plus-minus", is_flag=True, help="Show intervals as ± half their width.")
@click.option("-m", "--measure", "measures", multiple=True, metavar="NAME", help="Show this measure (repeatable).")
@click.option("--by", multiple=True, metavar="LABEL", help="Scores by types, nil, doc, meta.KEY, … (repeatable).")
@click.option(
    "--json",
    "json_file",
    callback=once,
    multiple=True,
    metavar="FILE",
    help="Write the result file (- for standard output).",
)
@click.option(
    "--verdicts",
    "verdicts_file",
    callback=once,
    multiple=True,
    metavar="FILE",
    help="Write every case (.parquet or .jsonl).",
)
@html
@click.option("--layout", metavar="NAME", help="Write --json and --verdicts as another program does: elevant.")
@click.option("--gold-format", metavar="NAME", help="The format of GOLD, where it is not recognised.")
@click.option("--answers-format", metavar="NAME", help="The format of ANSWERS, where it is not recognised.")
@click.option("--allow-unknown", is_flag=True, help="Leave out answers to documents that GOLD does not have.")
@click.option("--engine", metavar="NAME", help="What divides the documents: local, duckdb, spark.")
@reading
def command(
    gold: str,
    answers: tuple[str, ...],
    like: str,
    match: tuple[str, ...],
    overrides: tuple[str, ...],
    task: str | None,
    threshold: str | None,
    drop_answers: tuple[str, ...],
    tune_on: str | None,
    tune_answers: tuple[str, ...],
    kb: str | None,
    ci: bool,
    level: float,
    ci_method: str,
    ci_over: str,
    resamples: int,
    recompute: int,
    plus_minus: bool,
    measures: tuple[str, ...],
    by: tuple[str, ...],
    json_file: str | None,
    verdicts_file: str | None,
    html_file: str | None,
    texts: TextsShown,
    layout: str | None,
    gold_format: str | None,
    answers_format: str | None,
    allow_unknown: bool,
    engine: str | None,
) -> None:
    """Score answers against a gold standard.

    GOLD and ANSWERS are files (Karat JSONL or Parquet, also .gz and .zst), - for standard input, or names:
    `demo` is the built-in benchmark and stands for its stored answers too. Several files of answers are shown
    side by side. A file that holds both, as ELEVANT's linked articles do, is given once; several such files must
    have the same gold standard. Folders of Karat Parquet are read piece by piece, and need not fit into memory.

    \b
    karat score gold.jsonl mine.jsonl
    karat score demo demo --by types
    karat score demo demo/noisy --verdicts cases.jsonl
    karat score demo demo --html report.html
    karat score demo demo --like gerbil --set prefixes=Q
    karat score test.jsonl mine.jsonl --tune-on dev.jsonl
    karat score mine.kore50.linked_articles.jsonl
    karat score mine.kore50.linked_articles.jsonl --like elevant --kb DIR --layout elevant --json results.json
    """
    from dataclasses import replace
    from itertools import repeat

    from karat.comparison.entries import entry_between
    from karat.data.load import inputs
    from karat.data.save import save_layout, save_results, save_verdicts
    from karat.errors import UsageError
    from karat.evaluation.drop import rules_of
    from karat.evaluation.evaluation import evaluation
    from karat.evaluation.intervals import Draw
    from karat.evaluation.request import Request

    if not ci and (plus_minus or recompute or (level, ci_method, ci_over) != (0.95, "percentile", "documents")):
        raise UsageError("--level, --ci-method, --ci-over, --recompute and --plus-minus are about intervals. Add --ci.")
    if [gold, *answers].count("-") > 1:
        raise UsageError("standard input can be read once. Give - for one argument only.")
    apart([gold, *answers], [json_file, verdicts_file, html_file])
    if html_file is not None and (tune_on or engine or layout):
        raise UsageError("--html takes answers as they are, in memory. Leave --tune-on, --engine and --layout out.")
    dropping = ",".join(rule for given in drop_answers for rule in rules_of(given)) or None
    choices = chosen(overrides, match=",".join(match) or None, threshold=threshold, task=task, drop=dropping)
    if tune_on is not None and "threshold" in choices:
        raise UsageError("--tune-on chooses the threshold, and one is given. Give one of the two.")
    sides = inputs(gold, answers, gold_format=gold_format, answers_format=answers_format)
    runs = sides.runs
    written = None if layout is None else _layout(layout, len(runs), json_file, verdicts_file)
    if tune_answers and (tune_on is None or len(tune_answers) != len(runs)):
        raise UsageError(f"--tune-answers goes with --tune-on, once for each of the {len(runs)} files of answers.")
    labels = by if written is None else (*by, *written.by)
    request = Request.of(
        like=like,
        choices=choices,
        measures=measures,
        also=() if written is None else written.measures,
        by=labels,
        kb=kb,
        draw=Draw(resamples if ci else 0, 0, ci_method, level, ci_over, recompute),  # type: ignore[arg-type]
        allow_unknown=allow_unknown,
    )
    text = verdicts_file is not None or html_file is not None or request.reads_text
    if engine is None and sides.large:
        engine = "local"
    if engine is not None:
        _undivided(layout, verdicts_file)
    corpus, loaded = sides.load(text=text) if engine is None else _parts(sides, text=text)
    loaded = named_apart(loaded, runs)
    tuned = _tuned(tune_on, tune_answers, corpus, loaded, request, engine)
    results = []
    for run, own in tuned:
        with _progress(len(corpus), run.name) as progress:
            asked = request.but(choices=own) if own else request
            results.append(evaluation(asked, corpus, run, engine=engine, progress=progress).result)
    if written is not None:
        save_layout(results[0], written, json_file, verdicts_file)
        for note in written.notes(results[0]) if written.notes is not None else ():
            say(f"karat: {note}", err=True)
        results = [_asked_for(results[0], by)]
    else:
        if verdicts_file is not None:
            save_verdicts(results, verdicts_file)
        if json_file is not None:
            save_results(results, json_file)
    if html_file is not None:
        write_html(map(entry_between, repeat(corpus), loaded), request, html_file, texts=texts)
    if "-" not in (json_file, verdicts_file, html_file):
        show([replace(result, plus_minus=plus_minus) for result in results])


def _parts(sides: Inputs, *, text: bool) -> tuple[Corpus, list[Run]]:
    """Both sides in pieces, which `evaluate` takes in place of a corpus and a run; nobody else asks them anything."""
    return cast("tuple[Corpus, list[Run]]", sides.parts(text=text))


def _undivided(layout: str | None, verdicts_file: str | None) -> None:
    """Refuse what needs everything in memory."""
    from karat.errors import UsageError

    if layout is not None and verdicts_file is not None:
        raise UsageError(
            f"the cases of {layout} need both sides in memory. Leave out --engine, and give files in place of folders "
            "(karat data convert makes one); or leave out --layout, or --verdicts."
        )


def _layout(name: str, runs: int, json_file: str | None, verdicts_file: str | None) -> Report:
    """The layout of another program's files, if it can hold what is asked for."""
    from karat.errors import UsageError
    from karat.registry import get
    from karat.spec.report import Report

    found = get("reports", name, Report)
    if not found.peer:
        raise UsageError(f"{name} is no layout of another program's files. Leave --layout out, or give elevant.")
    if json_file is None and verdicts_file is None:
        raise UsageError("--layout says how --json and --verdicts are written. Give one of the two, or both.")
    if runs != 1:
        raise UsageError(f"a file in the layout {name} holds one system on one benchmark. Give one file of answers.")
    bare = (verdicts_file or "-").removesuffix(".gz").removesuffix(".zst")
    if verdicts_file is not None and (found.cases is None or not (bare == "-" or bare.endswith(".jsonl"))):
        raise UsageError(f"{verdicts_file}: the layout {name} has its cases as JSON lines. Name a file .jsonl.")
    return found


def _asked_for(result: Result, by: tuple[str, ...]) -> Result:
    """A result without the labels that only a layout asks for."""
    from dataclasses import replace

    from karat.model.name import parse_measure

    named = {name.group[0] for name in map(parse_measure, result.shown) if name.group}
    return replace(result, by={label: groups for label, groups in result.by.items() if label in {*by, *named}})


def _tuned(
    tune_on: str | None,
    answers: tuple[str, ...],
    corpus: Corpus,
    runs: list[Run],
    request: Request,
    engine: str | None,
) -> list[tuple[Run, dict[str, str]]]:
    """Each run with the threshold chosen on a development corpus, if there is one."""
    from karat.curves.tune import same_corpus, shared_documents, tuned_threshold, without_dev
    from karat.data.load import laid_on, load, load_parts, load_run

    if tune_on is None:
        return [(run, {}) for run in runs]
    dev = load(tune_on) if engine is None else cast("Corpus", load_parts(tune_on, gold=True))
    if same_corpus(dev, corpus):
        say("karat: the threshold is chosen on the data that is scored: an oracle.", err=True)
        return [(run, {"threshold": "oracle"}) for run in runs]
    if shared := shared_documents(dev, corpus):
        say(f"karat: {shared} documents of {dev.name} are also scored: the threshold has seen them.", err=True)
    if engine is None:
        on_dev = [laid_on(dev, load_run(name), name) for name in answers] or runs
    else:
        on_dev = [cast("Run", load_parts(name, gold=False)) for name in answers] or runs
    return [
        (
            cast("Run", without_dev(run, dev, corpus)),
            {"threshold": tuned_threshold(dev, given, request, engine)},
        )
        for run, given in zip(runs, on_dev, strict=True)
    ]


def show(results: list[Result]) -> None:
    """Print the table."""
    from karat.registry import get
    from karat.spec.report import Report

    say(get("reports", "table", Report).render(results), nl=False)


@contextmanager
def _progress(documents: int, name: str) -> Iterator[Callable[[int], None] | None]:
    """A progress bar on standard error, for large corpora and people who look."""
    if documents < _LARGE or not sys.stderr.isatty():
        yield None
        return
    with click.progressbar(length=documents, label=shown(name), file=sys.stderr) as bar:
        yield bar.update
