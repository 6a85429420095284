"""`karat zelda sample SOURCE TEST… --out DIR`."""

from __future__ import annotations

import click

from karat.cli.choices import apart, once
from karat.cli.output import show, width, write
from karat.cli.reading import reading


@click.command()
@click.argument("source", metavar="SOURCE")
@click.argument("tests", metavar="TEST…", nargs=-1, required=True)
@click.option("--out", "target", required=True, metavar="DIR", help="The folder to make.")
@click.option(
    "--threshold", default=10, show_default=True, type=click.IntRange(1), help="How often to see each test entity."
)
@click.option("--seed", default=11, show_default=True, metavar="N", help="Where the order of the draw starts.")
@click.option("--kb", metavar="NAME|DIR", help="Renew titles by this knowledge base, and leave dead links out.")
@click.option(
    "--same-named", is_flag=True, help="Keep sections of a page that share the name of a kept one, as ZELDA's."
)
@click.option(
    "--describe", type=click.Choice(["paragraph", "sentence"]), help="Also write what the entities are (see describe)."
)
@click.option(
    "--format",
    "formats",
    multiple=True,
    type=click.Choice(["jsonl", "conll"]),
    default=("jsonl", "conll"),
    show_default=True,
    help="What to write (repeatable).",
)
@click.option("--json", "json_file", callback=once, multiple=True, metavar="FILE", help="Write the statistics as JSON.")
@reading
def command(
    source: str,
    tests: tuple[str, ...],
    target: str,
    threshold: int,
    seed: int,
    kb: str | None,
    same_named: bool,
    describe: str | None,
    formats: tuple[str, ...],
    json_file: str | None,
) -> None:
    """Draw sections of linked text until each entity of the test sets was seen often enough.

    SOURCE is Kensho's Wikipedia (a folder with link_annotated_text.jsonl and page.csv), a file of sections as
    ZELDA-train has them, or any corpus. Sections are drawn at random and kept if they link an entity that was not seen
    often enough (algorithm 1 of the ZELDA paper). What was drawn is kept beside DIR until that is complete: call again
    after a failure.

    \b
    karat zelda sample kdwd jsonl --out bed
    karat zelda sample kdwd jsonl --out bed --threshold 20 --kb enwiki
    """
    from karat.cli.zelda.testing import splits_given
    from karat.kb.opened import open_kb
    from karat.pages.zelda.bed import bed_json, bed_page
    from karat.zelda.bed import Wishes, make_bed

    apart([source, *tests], [json_file])
    wishes = Wishes(threshold=threshold, seed=seed, same_named=same_named, describe=describe, formats=formats)
    bed = make_bed(source, splits_given(tests), target, wishes, open_kb(kb) if kb else None)
    write(json_file, lambda: bed_json(bed))
    show(lambda: bed_page(bed, width=width()), json_file)
