"""`karat kb find TEXT`."""

from __future__ import annotations

import click

from karat.cli.choices import once
from karat.cli.output import show, width, write


@click.command()
@click.argument("text", metavar="TEXT")
@click.option("--kb", default="starter", show_default=True, metavar="NAME|DIR", help="The pack.")
@click.option("--exact", "how", flag_value="exact", help="Letter by letter.")
@click.option(
    "--prefix", "how", flag_value="beginning", default=True, help="By how names begin (unless asked otherwise)."
)
@click.option("--fuzzy", "how", flag_value="near", help="In spite of one slip of the hand.")
@click.option("--limit", default=10, show_default=True, metavar="N", help="At most so many.")
@click.option("--json", "json_file", callback=once, multiple=True, metavar="FILE", help="Write them as JSON.")
def command(text: str, kb: str, how: str, limit: int, json_file: str | None) -> None:
    """Look up entities by name, most popular first.

    \b
    karat kb find Cambr
    karat kb find Cambrigde --fuzzy
    karat kb find Paris --exact --kb DIR
    """
    from karat.errors import UsageError
    from karat.kb.opened import open_pack
    from karat.pages.kb import FoundEntity, found_json, found_page

    pack = open_pack(kb)
    if pack.index is None:
        raise UsageError(f"{pack.name} has no aliases, and so no names to look up. Build it with aliases.")
    if how == "exact":
        found = pack.index.exact(text, limit)
    else:
        found = pack.index.near(text, limit) if how == "near" else pack.index.beginning(text, limit)
    ids = [each.id for each in found]
    about = zip(found, pack.names(ids), pack.descriptions(ids), strict=True)
    entities = [FoundEntity(each.id, name, said, each.surface, each.weight) for each, name, said in about]
    write(json_file, lambda: found_json(pack.name, text, entities))
    show(lambda: found_page(entities, width=width()), json_file)
