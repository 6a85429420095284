"""`karat zelda audit TRAIN TEST…`."""

from __future__ import annotations

import click

from karat.cli.choices import apart, once
from karat.cli.output import show, width, write
from karat.cli.reading import reading


@click.command()
@click.argument("train", metavar="TRAIN")
@click.argument("tests", metavar="TEST…", nargs=-1, required=True)
@click.option("--details", is_flag=True, help="Name the documents that the training text nearly has.")
@click.option("--json", "json_file", callback=once, multiple=True, metavar="FILE", help="Write everything as JSON.")
@reading
def command(train: str, tests: tuple[str, ...], details: bool, json_file: str | None) -> None:
    """Say what training text gives away of test sets.

    Shares of surface–entity pairs, entities and surfaces that the training text links too, mentions whose entity it
    never links, and documents that it nearly has: the shorter of the two texts shares 80 % of its runs of five words.

    \b
    karat zelda audit train.jsonl jsonl
    karat zelda audit kdwd test_wned-wiki.jsonl --details
    """
    from karat.cli.zelda.testing import splits_given
    from karat.pages.zelda.audit import audit_json, audit_page
    from karat.zelda.audit import audit

    apart([train, *tests], [json_file])
    found = audit(train, splits_given(tests))
    write(json_file, lambda: audit_json(found))
    show(lambda: audit_page(found, details=details, width=width()), json_file)
