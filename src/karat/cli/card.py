"""`karat card FILE…`."""

from __future__ import annotations

import click

from karat.cli.choices import apart, chosen, once
from karat.cli.output import show, width, write
from karat.cli.reading import reading


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@click.option("--gold", metavar="GOLD", help="One gold standard that all FILEs are answers to.")
@click.option("--like", default="karat", show_default=True, metavar="PROFILE", help="The table of conventions to use.")
@click.option("--set", "overrides", multiple=True, metavar="CHOICE=VALUE", help="Override one choice of the profile.")
@click.option("--view", default="strong", show_default=True, metavar="VIEW", help="What is compared: links.")
@click.option("--kb", metavar="NAME|DIR", help="Resolve ids by this knowledge base, and take facts from it.")
@click.option("--level", default=0.05, show_default=True, metavar="P", help="Significant is a p-value of at most this.")
@click.option(
    "--min-share",
    default=0.02,
    show_default=True,
    metavar="SHARE",
    help="Average demonyms and metonyms over benchmarks in which at least this share of linked mentions are some.",
)
@click.option("--min-cases", default=20, show_default=True, metavar="N", help="Fewer cases are too few to judge.")
@click.option(
    "--min-effect",
    default=1.0,
    show_default=True,
    metavar="X",
    help="Smaller differences (points, errors per 100 mentions) are tiny.",
)
@click.option("--resamples", default=1000, show_default=True, metavar="N", help="Samples of documents for intervals.")
@click.option("--permutations", default=10_000, show_default=True, metavar="N", help="Permutations for p-values.")
@click.option("--seed", type=int, metavar="N", help="Where random numbers start.")
@click.option("--details", is_flag=True, help="Show every difference with its interval and p-values.")
@click.option("--markdown", "layout", flag_value="markdown", help="Print Markdown tables.")
@click.option("--latex", "layout", flag_value="latex", help="Print LaTeX tables.")
@click.option("--json", "json_file", callback=once, multiple=True, metavar="FILE", help="Write all of it as JSON.")
@click.option("--gold-format", metavar="NAME", help="The format of GOLD, where it is not recognised.")
@click.option("--answers-format", metavar="NAME", help="The format of FILE, where it is not recognised.")
@click.option("--allow-unknown", is_flag=True, help="Leave out answers to documents that the gold does not have.")
@reading
def command(
    files: tuple[str, ...],
    gold: str | None,
    like: str,
    overrides: tuple[str, ...],
    view: str,
    kb: str | None,
    level: float,
    min_share: float,
    min_cases: int,
    min_effect: float,
    resamples: int,
    permutations: int,
    seed: int | None,
    details: bool,
    layout: str | None,
    json_file: str | None,
    gold_format: str | None,
    answers_format: str | None,
    allow_unknown: bool,
) -> None:
    """Average over benchmarks, and say what each system is good and bad at beside the others.

    FILEs hold gold labels and answers, as ELEVANT's linked articles do: of several systems on several benchmarks.
    Averages are over the benchmarks that all systems answered, each of which counts alike. A strength is an error
    category in which a system is better than the mean of the others: significantly, and not by a tiny amount.

    \b
    karat card */*.{kore50,msnbc}.linked_articles.jsonl --kb DIR
    karat card --gold gold.jsonl one.jsonl two.jsonl three.jsonl --kb DIR
    karat card --gold demo demo --details
    """
    from karat.comparison.card.card import CardTerms, cards
    from karat.comparison.entries import Formats, entries
    from karat.evaluation.request import Request
    from karat.pages.card import json_of, page

    apart([*files, *([gold] if gold else [])], [json_file])
    choices = chosen(overrides, seed=None if seed is None else str(seed))
    request = Request.of(like=like, choices=choices, kb=kb, allow_unknown=allow_unknown)
    terms = CardTerms(
        level=level,
        resamples=resamples,
        permutations=permutations,
        seed=request.draw.seed,
        min_share=min_share,
        min_cases=min_cases,
        min_effect=min_effect / 100,
    )
    given = entries(files, [gold] if gold else [], Formats(gold_format, answers_format))
    found = cards(given, request, terms, view=view)
    write(json_file, lambda: json_of(found))
    show(lambda: page(found, layout, details=details, width=width()), json_file)
