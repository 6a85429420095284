"""`karat zelda recall GOLD… --lists FILE`."""

from __future__ import annotations

import click

from karat.cli.choices import apart, once
from karat.cli.output import show, width, write
from karat.cli.reading import reading


@click.command()
@click.argument("gold", metavar="GOLD…", nargs=-1, required=True)
@click.option(
    "--lists",
    multiple=True,
    required=True,
    metavar="[KIND=]PATH",
    help="Lists: built here, hoffart, ganea-hofmann, pershina, zelda (repeatable).",
)
@click.option(
    "--lookup",
    type=click.Choice(["zelda", "clean", "exact", "flair"]),
    default="zelda",
    show_default=True,
    help="How mentions are looked up.",
)
@click.option("--json", "json_file", callback=once, multiple=True, metavar="FILE", help="Write everything as JSON.")
@reading
def command(gold: tuple[str, ...], lists: tuple[str, ...], lookup: str, json_file: str | None) -> None:
    """Say what candidate lists allow on test sets, several lists beside each other.

    MFS is the share of mentions whose likeliest candidate is right, CL-recall the share whose entity is in the list at
    all. Lists without counts (hoffart, pershina) have no likeliest candidate.

    \b
    karat zelda recall jsonl --lists lists.parquet
    karat zelda recall test_aida-b.jsonl --lists aida_means.tsv --lookup clean
    """
    from karat.cli.zelda.testing import mentions_of, splits_given
    from karat.pages.zelda.candidates import recall_json, recall_page
    from karat.zelda.candidates.published import open_lists
    from karat.zelda.candidates.recall import compare_lists

    apart([*gold, *lists], [json_file])
    found = compare_lists([open_lists(one) for one in lists], mentions_of(splits_given(gold)), lookup)
    write(json_file, lambda: recall_json(found))
    show(lambda: recall_page(found, width=width()), json_file)
