"""`karat kb import SOURCE`."""

from __future__ import annotations

import click

from karat.cli.kb.build.options import typing
from karat.cli.output import say, width


@click.command()
@click.argument("source", metavar="SOURCE")
@click.option("--out", required=True, metavar="DIR", help="The folder of the pack.")
@click.option("--date", required=True, metavar="DAY", help="The day that the knowledge is of, such as 2026-11-15.")
@click.option(
    "--from", "format", metavar="FORMAT", help="tsv (a folder), jsonl, obo or rdf, where the name does not tell."
)
@click.option("--name", default="", metavar="NAME", help="What signatures call it; otherwise as the folder.")
@click.option("--licence", default="", metavar="TEXT", help="The licence of SOURCE.")
@click.option("--space", default="", metavar="SPACE", help="The id space of its entities, such as wikidata or MESH.")
@click.option("--titles", default="", metavar="SPACE", help="The space of bare titles, such as enwiki.")
@click.option("--language", default="en", show_default=True, metavar="CODE", help="The language of names (RDF).")
@click.option("--partial", is_flag=True, help="It has some entities only: of others nothing is known.")
@click.option("--xrefs", is_flag=True, help="Cross-references of OBO mean the same.")
@typing
def command(
    source: str,
    out: str,
    date: str,
    format: str | None,
    name: str,
    licence: str,
    space: str,
    titles: str,
    language: str,
    partial: bool,
    xrefs: bool,
    whitelist: str | None,
    adjust: tuple[str, ...],
) -> None:
    """Make a pack of any ontology: tables with tabs, JSONL, OBO, or SKOS and other RDF.

    \b
    karat kb import DIR --date 2026-11-15 --out PACK
    karat kb import doid.obo --date 2026-11-15 --out doid --space DOID
    karat kb import thesaurus.ttl.gz --date 2026-11-15 --out thesaurus --language de
    """
    from pathlib import Path

    from karat.knowledge.importing.imported import import_pack
    from karat.knowledge.type_rules import read_type_rules
    from karat.pages.kb import manifest_page

    manifest = import_pack(
        source,
        Path(out),
        date=date,
        format=format,
        name=name,
        licence=licence,
        space=space,
        titles=titles,
        language=language,
        complete=not partial,
        xrefs=xrefs,
        rules=read_type_rules(whitelist, adjust) if whitelist or adjust else None,
    )
    say(manifest_page(manifest, width=width()), nl=False)
