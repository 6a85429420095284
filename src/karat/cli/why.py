"""`karat why GOLD ANSWERS`."""

from __future__ import annotations

import click

from karat.cli.choices import apart, chosen, once
from karat.cli.output import show, width, write
from karat.cli.reading import reading


@click.command()
@click.argument("gold")
@click.argument("answers")
@click.option("--theirs", required=True, metavar="PROFILE", help="The conventions behind the other number.")
@click.option("--ours", default="karat", show_default=True, metavar="PROFILE", help="The conventions behind this one.")
@click.option("--set", "our_overrides", multiple=True, metavar="CHOICE=VALUE", help="Override a choice of ours.")
@click.option("--set-theirs", "their_overrides", multiple=True, metavar="CHOICE=VALUE", help="… of theirs.")
@click.option("-m", "--measure", default="strong:micro.f1", show_default=True, metavar="NAME", help="The number.")
@click.option("--their-measure", metavar="NAME", help="What they call it, where it is another measure.")
@click.option("--kb", metavar="NAME|DIR", help="Resolve ids by this knowledge base.")
@click.option(
    "--flips",
    type=click.IntRange(min=0),
    default=5,
    show_default=True,
    metavar="N",
    help="Show at most N cases for each choice.",
)
@click.option("--details", is_flag=True, help="Print notes in full.")
@click.option("--json", "json_file", callback=once, multiple=True, metavar="FILE", help="Write all of it as JSON.")
@click.option("--gold-format", metavar="NAME", help="The format of GOLD, where it is not recognised.")
@click.option("--answers-format", metavar="NAME", help="The format of ANSWERS, where it is not recognised.")
@click.option("--allow-unknown", is_flag=True, help="Leave out answers to documents that GOLD does not have.")
@reading
def command(
    gold: str,
    answers: str,
    theirs: str,
    ours: str,
    our_overrides: tuple[str, ...],
    their_overrides: tuple[str, ...],
    measure: str,
    their_measure: str | None,
    kb: str | None,
    flips: int,
    details: bool,
    json_file: str | None,
    gold_format: str | None,
    answers_format: str | None,
    allow_unknown: bool,
) -> None:
    """Say why two labs get different numbers from the same answers.

    Scores under every mixture of the choices in which two profiles differ, and divides the gap among them by their
    Shapley values, with the mentions that each choice flips.

    \b
    karat why gold.jsonl mine.jsonl --theirs gerbil
    karat why demo demo/noisy --theirs bat -m weak:micro.f1
    karat why demo demo/noisy --theirs gerbil --set-theirs prefixes=Q
    """
    from karat.data.load import load_both
    from karat.explanation.why import why
    from karat.kb.opened import open_kb
    from karat.pages.why import json_of, page
    from karat.work import working

    apart([gold, answers], [json_file])
    corpus, (run,) = load_both(gold, [answers], gold_format=gold_format, answers_format=answers_format)
    with working("scoring mixtures of choices") as progress:
        found = why(
            corpus,
            run,
            theirs=theirs,
            ours=ours,
            measure=measure,
            their_measure=their_measure,
            their_choices=chosen(their_overrides),
            our_choices=chosen(our_overrides),
            kb=None if kb is None else open_kb(kb),
            allow_unknown=allow_unknown,
            progress=progress,
        )
    write(json_file, lambda: json_of(found))
    show(lambda: page(found, flips, details=details, width=width()), json_file)
