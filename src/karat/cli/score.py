"""`karat score GOLD [ANSWERS…]`."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import click

from karat.cli.choices import apart, chosen, named_apart, once
from karat.cli.output import say, width
from karat.cli.reading import reading
from karat.cli.sharing.pages import html, write_html
from karat.work import working

if TYPE_CHECKING:
    from karat.archive.archive import TextsShown
    from karat.data.load import Inputs
    from karat.evaluation.request import Request
    from karat.model.corpus import Corpus
    from karat.model.result import Result
    from karat.model.run import Run
    from karat.spec.report import Report


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
@click.option("--kb", metavar="NAME|DIR", help="Resolve ids by this knowledge base: a pack, or a folder of tables.")
@click.option(
    "--step",
    "steps",
    multiple=True,
    metavar="NAME",
    help="Change the gold by this step first: drop-gone, … (repeatable).",
)
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
@click.option("--seed", type=int, metavar="N", help="Where random numbers start.")
@click.option("--plus-minus", is_flag=True, help="Show intervals as ± half their width.")
@click.option("-m", "--measure", "measures", multiple=True, metavar="NAME", help="Show this measure (repeatable).")
@click.option("--all", "every", is_flag=True, help="Show all measures of the profile below the headline.")
@click.option("--details", is_flag=True, help="Print notes in full, and name every run in them.")
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
    help="Write every case of one view in its sentence (.parquet or .jsonl).",
)
@click.option("--view", metavar="VIEW", help="The view of --verdicts, or all.  [default: that of the first measure]")
@html
@click.option("--layout", metavar="NAME", help="Write --json and --verdicts as another program does: elevant.")
@click.option("--merged-ids", is_flag=True, help="List the ids that are written in several ways, which count as one.")
@click.option("--markdown", "printed", flag_value="markdown", help="Print Markdown tables.")
@click.option("--latex", "printed", flag_value="latex", help="Print LaTeX tables.")
@click.option("--gold-format", metavar="NAME", help="The format of GOLD, where it is not recognised.")
@click.option("--answers-format", metavar="NAME", help="The format of ANSWERS, where it is not recognised.")
@click.option("--allow-unknown", is_flag=True, help="Leave out answers to documents that GOLD does not have.")
@click.option("--overlay", metavar="FILE", help="Score again with this patch of the gold standard, and show both.")
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
    steps: tuple[str, ...],
    ci: bool,
    level: float,
    ci_method: str,
    ci_over: str,
    resamples: int,
    recompute: int,
    seed: int | None,
    plus_minus: bool,
    measures: tuple[str, ...],
    every: bool,
    details: bool,
    by: tuple[str, ...],
    json_file: str | None,
    verdicts_file: str | None,
    view: str | None,
    html_file: str | None,
    texts: TextsShown,
    layout: str | None,
    merged_ids: bool,
    printed: str | None,
    gold_format: str | None,
    answers_format: str | None,
    allow_unknown: bool,
    overlay: str | None,
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
    karat score gold.jsonl mine.jsonl --kb enwiki --step drop-gone
    karat score test.jsonl mine.jsonl theirs.jsonl --latex > table.tex
    karat score mine.kore50.linked_articles.jsonl
    karat score mine.kore50.linked_articles.jsonl --layout elevant --json out.json
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
    if view is not None and (verdicts_file is None or layout is not None):
        raise UsageError("--view is that of the cases in --verdicts, in Karat's own layout. Add --verdicts FILE.")
    if html_file is not None and (tune_on or engine or layout):
        raise UsageError("--html takes answers as they are, in memory. Leave --tune-on, --engine and --layout out.")
    dropping = ",".join(rule for given in drop_answers for rule in rules_of(given)) or None
    choices = chosen(
        overrides,
        match=",".join(match) or None,
        threshold=threshold,
        task=task,
        drop=dropping,
        seed=None if seed is None else str(seed),
    )
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
    text = any((verdicts_file, html_file, overlay, steps)) or request.reads_text
    if engine is None and sides.large and overlay is None:
        engine = "local"
    if engine is not None:
        _undivided(layout, verdicts_file, steps)
    if overlay is not None and (engine, layout, verdicts_file) != (None, None, None):
        raise UsageError("--overlay shows scores only. Write the new gold with karat verify apply, and score that.")
    corpus, loaded = sides.load(text=text) if engine is None else _parts(sides, text=text)
    loaded = named_apart(loaded, runs)
    if steps:
        corpus, loaded = _stepped(corpus, loaded, steps, request)
    tuned = _tuned(tune_on, tune_answers, corpus, loaded, request, engine, steps)
    results = []
    for run, own in tuned:
        with working(f"scoring {run.name}", len(corpus)) as progress:
            asked = request.but(choices=own) if own else request
            results.append(evaluation(asked, corpus, run, engine=engine, progress=progress).result)
    after = [] if overlay is None else _after(overlay, corpus, tuned, request)
    results += after
    if written is not None:
        save_layout(results[0], written, json_file, verdicts_file)
        for note in written.notes(results[0]) if written.notes is not None else ():
            say(f"karat: {note}", err=True)
        results = [_asked_for(results[0], by)]
    else:
        if verdicts_file is not None:
            save_verdicts(results, verdicts_file, _view(results[0], view))
        if json_file is not None:
            save_results(results, json_file)
    asked_by = None if every or measures else by  # what a measure is of has its table where it is asked for
    if html_file is not None:
        write_html(map(entry_between, repeat(corpus), loaded), request, html_file, texts=texts)
    if "-" not in (json_file, verdicts_file, html_file):
        printing = [replace(result, plus_minus=plus_minus) for result in results]
        before = len(printing) - len(after)
        show(printing[:before], every=every, details=details, by=asked_by, layout=printed)
        if after:
            say("")
            show(printing[before:], every=every, details=details, by=asked_by, layout=printed)
        for result in results if merged_ids else ():
            for one in () if result.id_health is None else result.id_health.spellings():
                say(f"{result.run}: {one}")


def _after(overlay: str, corpus: Corpus, tuned: list[tuple[Run, dict[str, str]]], request: Request) -> list[Result]:
    """The same scores on the gold standard as judges left it."""
    from karat.evaluation.evaluation import evaluation
    from karat.verification.overlay import patched, read_overlay

    new = patched(corpus, read_overlay(overlay))
    for why, count in new.left_out.items():
        say(f"karat: {overlay}: {count} {why}", err=True)
    return [evaluation(request.but(choices=own) if own else request, new.corpus, run).result for run, own in tuned]


def _view(result: Result, asked: str | None) -> str | None:
    """The view whose cases are written: the one that is asked for, or else of the first measure; None is all."""
    from karat.model.name import parse_measure

    return None if asked == "all" else asked or str(parse_measure(result.shown[0]).view)


def _parts(sides: Inputs, *, text: bool) -> tuple[Corpus, list[Run]]:
    """Both sides in pieces, which `evaluate` takes in place of a corpus and a run; nobody else asks them anything."""
    return cast("tuple[Corpus, list[Run]]", sides.parts(text=text))


def _stepped(corpus: Corpus, runs: list[Run], steps: tuple[str, ...], request: Request) -> tuple[Corpus, list[Run]]:
    """The gold standard after some steps, and the answers to what is left of it."""
    from karat.data.steps import stepped, to_the_rest

    after, changes = stepped(corpus, steps, request.given["kb"])
    for name, change in changes.items():
        say(f"karat: {corpus.name}, {name}: {change}", err=True)
    return after, [to_the_rest(run, corpus, after) for run in runs]


def _undivided(layout: str | None, verdicts_file: str | None, steps: tuple[str, ...]) -> None:
    """Refuse what needs everything in memory."""
    from karat.errors import UsageError

    if steps:
        raise UsageError(
            "steps need the gold standard in memory. Take them before (karat data convert GOLD OUT --step NAME), or "
            "leave out --engine, and give files in place of folders."
        )
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
    steps: tuple[str, ...],
) -> list[tuple[Run, dict[str, str]]]:
    """Each run with the threshold chosen on a development corpus, if there is one; it takes the same steps."""
    from karat.curves.tune import same_corpus, shared_documents, tuned_threshold, without_dev
    from karat.data.load import laid_on, load, load_parts, load_run_among
    from karat.fitting import counted

    if tune_on is None:
        return [(run, {}) for run in runs]
    dev = load(tune_on) if engine is None else cast("Corpus", load_parts(tune_on, gold=True))
    whole = dev  # answers to what steps leave out are answers to it all the same
    if steps:
        dev, _ = _stepped(dev, [], steps, request)
    if same_corpus(dev, corpus):
        say("karat: the threshold is chosen on the data that is scored: an oracle.", err=True)
        return [(run, {"threshold": "oracle"}) for run in runs]
    if shared := shared_documents(dev, corpus):
        seen = f"{counted(shared, 'document')} of {dev.name} {'is' if shared == 1 else 'are'} also scored"
        say(f"karat: {seen}: the threshold has seen {'it' if shared == 1 else 'them'}.", err=True)
    if engine is None:
        on_dev = [laid_on(dev, load_run_among(name, [dev]), name) for name in answers] or runs
    else:
        on_dev = [cast("Run", load_parts(name, gold=False)) for name in answers] or runs
    return [
        (
            cast("Run", without_dev(run, whole, corpus)),
            {"threshold": tuned_threshold(dev, given, request, engine)},
        )
        for run, given in zip(runs, on_dev, strict=True)
    ]


def show(
    results: list[Result],
    *,
    every: bool = False,
    details: bool = False,
    by: tuple[str, ...] | None = None,
    layout: str | None = None,
) -> None:
    """Print the tables, for the terminal or in the layout of a paper."""
    from karat.pages.scores import page
    from karat.reports.table import table
    from karat.spec.report import Style

    if layout is not None:
        say(page(results, layout), nl=False)
    else:
        say(table(results, Style(width(), every, details, by)), nl=False)
