"""`karat compare FILE…`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from karat.cli.choices import apart, chosen, once
from karat.cli.output import show, width, write
from karat.cli.reading import reading
from karat.cli.sharing.pages import html, write_html

if TYPE_CHECKING:
    from karat.archive.archive import TextsShown
    from karat.comparison.compare import Comparison
    from karat.pages.charts.drawing import Spec

_MATCH = "strong,weak,mention-weak,entity"


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@click.option(
    "--gold", "golds", multiple=True, metavar="GOLD", help="The gold standard that FILEs answer (repeatable)."
)
@click.option("--like", metavar="PROFILE", help="The table of conventions to use.  [default: karat]")
@click.option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    metavar="NAME",
    help="What is compared (repeatable: a page for each).  [default: strong:micro.f1]",
)
@click.option("--set", "overrides", multiple=True, metavar="CHOICE=VALUE", help="Override one choice of the profile.")
@click.option("--kb", metavar="NAME|DIR", help="Resolve ids by this knowledge base, and take facts from it.")
@click.option("--level", default=0.05, show_default=True, metavar="P", help="Systems differ if p is at most this.")
@click.option("--correction", default="holm", show_default=True, metavar="NAME", help="For many tests: holm or bh.")
@click.option(
    "--test",
    type=click.Choice(["permutation", "bootstrap"]),
    default="permutation",
    show_default=True,
    help="What p-values are of: permutations of paired documents, or samples of them (the paired bootstrap).",
)
@click.option(
    "--swap",
    type=click.Choice(["systems", "signs"]),
    default="systems",
    show_default=True,
    help="What a permutation changes in a document: who is who, or the sign of the difference.",
)
@click.option("--resamples", default=1000, show_default=True, metavar="N", help="Samples of documents for intervals.")
@click.option("--permutations", default=10_000, show_default=True, metavar="N", help="Draws for p-values.")
@click.option("--seed", type=int, metavar="N", help="Where random numbers start.")
@click.option(
    "--home", "homes", multiple=True, metavar="SYSTEM=DATASET", help="What a system was made for (repeatable)."
)
@click.option(
    "--chosen",
    "chosen_on",
    multiple=True,
    metavar="SYSTEM=DATASET",
    help="Where a system was chosen among its variants (repeatable).",
)
@click.option("--by", multiple=True, metavar="LABEL", help="Count flips by mention-type, error, types, … (repeatable).")
@click.option(
    "--flips",
    "flips_file",
    callback=once,
    multiple=True,
    metavar="FILE",
    help="Write every mention that some get and others do not (.jsonl).",
)
@click.option("--similarity", is_flag=True, help="Say how alike systems are, and what they find together.")
@click.option("--match", multiple=True, metavar="R,…", help=f"Relations for --similarity  [default: {_MATCH}]")
@click.option("--best", metavar="SWEEP", help="Similarity above each system's best threshold: oracle, …")
@click.option("--winners", is_flag=True, help="Say who leads under which conventions: scores everything many times.")
@click.option("--drop", is_flag=True, help="Say how much F1 systems lose between finding mentions and linking them.")
@click.option("--details", is_flag=True, help="Show every pair on every dataset.")
@click.option("--ranks", "ranks_file", metavar="FILE", help="Draw the ranks with critical differences (.svg, .png, …).")
@click.option("--heatmap", "heatmap_file", metavar="FILE", help="Draw how alike systems are (.svg, .png, …).")
@click.option("--runtimes", "runtimes_file", metavar="FILE", help="Draw the measure over the runtime (.svg, .png, …).")
@click.option("--markdown", "layout", flag_value="markdown", help="Print Markdown tables.")
@click.option("--latex", "layout", flag_value="latex", help="Print LaTeX tables.")
@click.option("--json", "json_file", callback=once, multiple=True, metavar="FILE", help="Write all of it as JSON.")
@html
@click.option("--gold-format", metavar="NAME", help="The format of GOLD, where it is not recognised.")
@click.option("--answers-format", metavar="NAME", help="The format of FILE, where it is not recognised.")
@click.option("--allow-unknown", is_flag=True, help="Leave out answers to documents that GOLD does not have.")
@reading
def command(
    files: tuple[str, ...],
    golds: tuple[str, ...],
    like: str | None,
    measures: tuple[str, ...],
    overrides: tuple[str, ...],
    kb: str | None,
    level: float,
    correction: str,
    test: str,
    swap: str,
    resamples: int,
    permutations: int,
    seed: int | None,
    homes: tuple[str, ...],
    chosen_on: tuple[str, ...],
    by: tuple[str, ...],
    flips_file: str | None,
    similarity: bool,
    match: tuple[str, ...],
    best: str | None,
    winners: bool,
    drop: bool,
    details: bool,
    ranks_file: str | None,
    heatmap_file: str | None,
    runtimes_file: str | None,
    layout: str | None,
    json_file: str | None,
    html_file: str | None,
    texts: TextsShown,
    gold_format: str | None,
    answers_format: str | None,
    allow_unknown: bool,
) -> None:
    """Compare systems on one or several datasets: who is better, and is that more than chance?

    FILEs are results (`karat score --json`), or files that hold gold labels and answers, as ELEVANT's linked articles
    do, or with --gold answers; SYSTEM=FILE gives a system another name. All pairs of systems are tested on all datasets
    (permutations of paired documents, or what --test says, with a correction for many tests). Averages are over the
    datasets that all systems answered.

    \b
    karat compare --gold gold.jsonl one.jsonl two.jsonl three.jsonl
    karat compare results/*.json
    karat compare */*.linked_articles.jsonl --home mine=aida --ranks ranks.svg
    karat compare --gold demo demo -m strong:micro.p --test bootstrap
    karat compare --gold demo demo --flips flips.jsonl --by types
    karat compare --gold demo demo --match strong --best oracle-bat-paper
    """
    from karat.comparison.compare import ComparisonParts, compare
    from karat.comparison.entries import Formats, entries, named
    from karat.comparison.terms import Terms
    from karat.errors import UsageError
    from karat.evaluation.request import Request
    from karat.pages.charts.save import check_chart, save_chart
    from karat.pages.comparison import flips_of, json_of, page
    from karat.storage.files import writing

    charts = [ranks_file, heatmap_file, runtimes_file]
    apart([*(named(given)[1] for given in files), *golds], [json_file, flips_file, html_file, *charts])
    for path in filter(None, charts):
        check_chart(path)
    choices = chosen(overrides, seed=None if seed is None else str(seed))
    request = Request.of(like=like or "karat", choices=choices, by=by, kb=kb, allow_unknown=allow_unknown)
    terms = Terms(
        level,
        correction,
        resamples,
        permutations,
        swap="signs" if swap == "signs" else "systems",
        seed=request.draw.seed,
        test="bootstrap" if test == "bootstrap" else "permutation",
    )
    relations = ",".join(match) or (_MATCH if similarity or best or heatmap_file else None)
    if len(measures) > 1 and any([flips_file, *charts]):
        raise UsageError("flips and charts are of one measure. Give -m once.")
    parts = ComparisonParts(
        relations, best, _datasets("--home", homes), winners, drop, _datasets("--chosen", chosen_on)
    )
    given = list(entries(files, golds, Formats(gold_format, answers_format)))
    every = [compare(given, request, terms, parts, measure=measure) for measure in measures or (None,)]
    found = every[0]
    if flips_file is not None and not found.mentions:
        raise UsageError("flips are single mentions, and results have none. Give gold and answers.")
    drawn = _drawn(found, ranks_file, heatmap_file, runtimes_file)  # before anything is written
    if flips_file is not None:
        with writing(flips_file) as file:
            file.writelines(flips_of(found))
    write(json_file, lambda: b"".join(map(json_of, every)))
    for path, chart in drawn.items():
        save_chart(chart, path)
    if html_file is not None:
        write_html(given, request, html_file, texts=texts)
    pages = (page(one, layout, details=details, width=width()) for one in every)
    show(lambda: "\n".join(pages), json_file, flips_file, html_file)


def _datasets(option: str, given: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """The datasets that an option names for each system."""
    from karat.errors import UsageError

    found: dict[str, tuple[str, ...]] = {}
    for one in given:
        system, equals, dataset = one.rpartition("=")
        if not equals:
            raise UsageError(f"{option} {one}: write SYSTEM=DATASET, such as {option} mine=aida-conll-test.")
        found[system] = (*found.get(system, ()), dataset)
    return found


def _drawn(found: Comparison, ranks: str | None, heatmap: str | None, runtimes: str | None) -> dict[str, Spec]:
    """The charts that are asked for, by their files."""
    from karat.pages.charts.comparison import heatmap_chart, ranks_chart, runtime_chart

    made = ((ranks, ranks_chart), (heatmap, heatmap_chart), (runtimes, runtime_chart))
    return {path: chart(found) for path, chart in made if path is not None}
