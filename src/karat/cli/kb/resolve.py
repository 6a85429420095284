"""`karat kb resolve IN OUT`."""

from __future__ import annotations

import click

from karat.cli.choices import apart, once
from karat.cli.output import show, width, write
from karat.cli.reading import reading


@click.command()
@click.argument("source", metavar="IN")
@click.argument("target", metavar="OUT", required=False)
@click.option("--kb", default="starter", show_default=True, metavar="NAME|DIR", help="The knowledge base.")
@click.option("--to", "wanted", metavar="FORMAT", help="The format to write, where the suffix of OUT does not tell.")
@click.option("--from", "given", metavar="FORMAT", help="The format of IN, where it is not recognised.")
@click.option("--as", "kind", type=click.Choice(["gold", "answers"]), help="What IN holds, where it could be both.")
@click.option("--list", "listed", is_flag=True, help="Print every id that is moved, ambiguous or not known.")
@click.option("--json", "json_file", callback=once, multiple=True, metavar="FILE", help="Write the report as JSON.")
@reading
def command(
    source: str,
    target: str | None,
    kb: str,
    wanted: str | None,
    given: str | None,
    kind: str | None,
    listed: bool,
    json_file: str | None,
) -> None:
    """Say what becomes of the ids of a corpus or a run in a knowledge base, and write it with the new ids.

    An id that is replaced is kept beside the new one (`same_as`). Without OUT nothing is written but the report.

    \b
    karat kb resolve gold.jsonl --kb DIR --list
    karat kb resolve answers.jsonl resolved.jsonl --kb starter
    """
    from karat.data.load import load_either, read_for, save, target_format
    from karat.kb.opened import open_kb
    from karat.kb.resolve import resolve
    from karat.pages.kb import resolution_json, resolution_page

    apart(read_for(source), [target, json_file])
    format = None if target is None else target_format(target, wanted)[0]
    done, report = resolve(load_either(source, kind=kind, format=given), open_kb(kb))
    if target is not None:
        save(done, target, format=format)
    write(json_file, lambda: resolution_json(report))
    show(lambda: resolution_page(report, listed=listed, width=width()), json_file, target)
