"""`karat gate NEW --baseline OLD`."""

from __future__ import annotations

import sys

import click

from karat.cli.choices import apart, chosen, once
from karat.cli.output import show, width, write
from karat.cli.reading import reading


@click.command()
@click.argument("new", metavar="NEW")
@click.option("--baseline", "old", required=True, metavar="OLD", help="What NEW is compared with.")
@click.option("--gold", "golds", multiple=True, metavar="GOLD", help="The gold standard, where both are answers to it.")
@click.option(
    "--max-drop", default=0.0, show_default=True, metavar="X", help="How much may be lost: 0.01 is one point."
)
@click.option("--confidence", default=0.95, show_default=True, metavar="L", help="How sure a drop has to be.")
@click.option("-m", "--measure", metavar="NAME", help="What is compared.  [default: strong:micro.f1]")
@click.option("--like", metavar="PROFILE", help="The table of conventions to use.  [default: karat]")
@click.option("--set", "overrides", multiple=True, metavar="CHOICE=VALUE", help="Override one choice of the profile.")
@click.option("--kb", metavar="DIR", help="Resolve ids by the tables in this folder.")
@click.option("--resamples", default=1000, show_default=True, metavar="N", help="Samples of documents for intervals.")
@click.option("--flips", "most", default=20, show_default=True, metavar="N", help="How many flipped mentions to show.")
@click.option("--markdown", "layout", flag_value="markdown", help="Print Markdown, for the summary of a CI run.")
@click.option("--json", "json_file", callback=once, multiple=True, metavar="FILE", help="Write all of it as JSON.")
@click.option("--allow-unknown", is_flag=True, help="Leave out answers to documents that GOLD does not have.")
@reading
def command(
    new: str,
    old: str,
    golds: tuple[str, ...],
    max_drop: float,
    confidence: float,
    measure: str | None,
    like: str | None,
    overrides: tuple[str, ...],
    kb: str | None,
    resamples: int,
    most: int,
    layout: str | None,
    json_file: str | None,
    allow_unknown: bool,
) -> None:
    """Fail if a new version of a system is surely worse than the old one.

    NEW and OLD are results (`karat score --json`), files with gold labels and answers, or with --gold answers. The exit
    code is 1 only if the interval of the difference lies wholly below −X on some dataset; a drop that the data cannot
    tell from chance passes, and is said.

    \b
    karat gate new.json --baseline old.json --max-drop 0.01
    karat gate new.jsonl --baseline old.jsonl --gold gold.jsonl --markdown
    """
    from karat.comparison.entries import entries
    from karat.comparison.gate import gate
    from karat.evaluation.request import Request
    from karat.pages.gate import json_of, page

    apart([new, old, *golds], [json_file])
    request = Request.of(like=like or "karat", choices=chosen(overrides), kb=kb, allow_unknown=allow_unknown)
    found = gate(
        entries([new], golds),
        entries([old], golds),
        request,
        max_drop=max_drop,
        confidence=confidence,
        measure=measure,
        resamples=resamples,
    )
    write(json_file, lambda: json_of(found))
    show(lambda: page(found, layout, most, width()), json_file)
    if not found.passed:
        sys.exit(1)
