"""`karat show GOLD ANSWERS…`."""

from __future__ import annotations

from shutil import get_terminal_size

import click

from karat.cli.choices import apart, chosen, named_apart, once
from karat.cli.output import show, write
from karat.cli.reading import reading


@click.command()
@click.argument("gold")
@click.argument("answers", nargs=-1)
@click.option("--outcome", "outcomes", multiple=True, metavar="NAME", help="wrong, right, tp, fp, fn, wrong-link, …")
@click.option("--error", "errors", multiple=True, metavar="CATEGORY", help="An error category, such as ner-fn.")
@click.option("--type", "types", multiple=True, metavar="TYPE", help="The type of the mention, or else of the answer.")
@click.option("--entity", "entities", multiple=True, metavar="ENTITY", help="What is linked to: an id, a name, or NIL.")
@click.option("--system", "systems", multiple=True, metavar="NAME", help="Cases of this system; others stand beside.")
@click.option("--doc", "documents", multiple=True, metavar="ID", help="A document.")
@click.option("--flips", metavar="ONE,TWO", help="Mentions that one of two systems gets and the other does not.")
@click.option("--view", metavar="VIEW", help="What is compared: strong, weak, mention, …  [default: as compare]")
@click.option(
    "--limit", default=10, show_default=True, type=click.IntRange(0), metavar="N", help="Print so many cases."
)
@click.option("--like", default="karat", show_default=True, metavar="PROFILE", help="The table of conventions to use.")
@click.option("--set", "overrides", multiple=True, metavar="CHOICE=VALUE", help="Override one choice of the profile.")
@click.option(
    "--kb", metavar="DIR", help="Resolve ids by the tables in this folder, and take names and facts from there."
)
@click.option("--json", "json_file", callback=once, multiple=True, metavar="FILE", help="Write all cases as JSON.")
@click.option("--jsonl", "lines_file", callback=once, multiple=True, metavar="FILE", help="Write each case on a line.")
@click.option("--gold-format", metavar="NAME", help="The format of GOLD, where it is not recognised.")
@click.option("--answers-format", metavar="NAME", help="The format of ANSWERS, where it is not recognised.")
@click.option("--allow-unknown", is_flag=True, help="Leave out answers to documents that GOLD does not have.")
@reading
def command(
    gold: str,
    answers: tuple[str, ...],
    outcomes: tuple[str, ...],
    errors: tuple[str, ...],
    types: tuple[str, ...],
    entities: tuple[str, ...],
    systems: tuple[str, ...],
    documents: tuple[str, ...],
    flips: str | None,
    view: str | None,
    limit: int,
    like: str,
    overrides: tuple[str, ...],
    kb: str | None,
    json_file: str | None,
    lines_file: str | None,
    gold_format: str | None,
    answers_format: str | None,
    allow_unknown: bool,
) -> None:
    """Show single cases: each mention in its sentence, with the gold standard and what every system answers, by name.

    GOLD and ANSWERS are as in `karat score`. Filters are combined: a case is shown where all of them hold, and of one
    that is given several times one of its values. Names come from the knowledge base or from the gold standard.

    \b
    karat show gold.jsonl mine.jsonl --outcome wrong
    karat show gold.jsonl mine.jsonl yours.jsonl --flips mine,yours
    karat show demo demo --system noisy --error ner-fn-lowercased
    karat show demo demo --entity Berlin --json cases.json
    """
    from karat.comparison.asking import cases_between
    from karat.comparison.cases import CaseFilter
    from karat.comparison.entries import entry_between
    from karat.data.load import inputs
    from karat.errors import UsageError
    from karat.evaluation.request import Request
    from karat.pages.cases import WIDTH, json_of, lines_of, page
    from karat.storage.files import writing

    if [gold, *answers].count("-") > 1:
        raise UsageError("standard input can be read once. Give - for one argument only.")
    apart([gold, *answers], [json_file, lines_file])
    _no_results([gold, *answers])
    words = tuple(name.replace(" ", "-") for name in outcomes)
    kept = CaseFilter(words, errors, types, entities, systems, documents, _pair(flips))
    request = Request.of(like=like, choices=chosen(overrides), kb=kb, allow_unknown=allow_unknown)
    sides = inputs(gold, answers, gold_format=gold_format, answers_format=answers_format)
    corpus, runs = sides.load(text=True)
    entries = [entry_between(corpus, run) for run in named_apart(runs, sides.runs)]
    found = cases_between(entries, request, kept, view=view)
    if lines_file is not None:
        with writing(lines_file) as file:
            file.writelines(lines_of(found))
    write(json_file, lambda: json_of(found))
    show(lambda: page(found, limit, max(WIDTH, get_terminal_size().columns)), json_file, lines_file)


def _pair(flips: str | None) -> tuple[str, str] | None:
    """The two systems that an option names."""
    from karat.errors import UsageError

    if flips is None:
        return None
    one, comma, two = flips.partition(",")
    if not (comma and one and two):
        raise UsageError(f"--flips {flips}: write ONE,TWO, such as --flips mine,yours.")
    return one.strip(), two.strip()


def _no_results(files: list[str]) -> None:
    """Refuse results, which keep sums and no cases."""
    from karat.comparison.entries import results_in
    from karat.errors import InputError

    for name in files:
        if name != "-" and results_in(name) is not None:
            raise InputError(
                name,
                found="a result, which keeps sums and no cases",
                expected="a gold standard, or answers to it",
                remedy="Give the files that were scored",
            )
