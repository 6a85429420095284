"""`karat kb import SOURCE`."""

from __future__ import annotations

import click

from karat.cli.kb.build.options import type_options
from karat.cli.options.declaration import karat_command, option
from karat.cli.output import echo, page_width


@karat_command()
@click.argument("source", metavar="SOURCE")
@option("--out", required=True, metavar="DIR", help="Folder of the snapshot.")
@option("--date", required=True, metavar="DATE", help="Date of the source data, such as 2026-11-15.")
@option("--from", "format", metavar="FORMAT", help="Format: tsv (a folder), jsonl, obo or rdf, if not detected.")
@option("--name", default="", metavar="NAME", help="Name in signatures.  [default: name of the folder]")
@option("--licence", default="", metavar="TEXT", help="Licence of SOURCE.")
@option("--id-space", default="", metavar="SPACE", help="Id space of the entities, such as wikidata or MESH.")
@option("--title-space", default="", metavar="SPACE", help="Id space of plain titles, such as enwiki.")
@option("--language", default="en", show_default=True, metavar="CODE", help="Language of names (RDF).")
@option("--partial", is_flag=True, help="Mark the snapshot as partial: missing ids are not known to be wrong.")
@option("--merge-xrefs", is_flag=True, help="Treat OBO cross-references as ids of the same entity.")
@type_options
def command(
    source: str,
    out: str,
    date: str,
    format: str | None,
    name: str,
    licence: str,
    id_space: str,
    title_space: str,
    language: str,
    partial: bool,
    merge_xrefs: bool,
    whitelist: str | None,
    adjust: tuple[str, ...],
) -> None:
    """Import an ontology or tables as a snapshot.

    SOURCE is a folder of TSV tables, JSONL, OBO, SKOS or other RDF.

    \b
    karat kb import DIR --date 2026-11-15 --out SNAPSHOT
    karat kb import doid.obo --date 2026-11-15 --out doid --id-space DOID
    karat kb import stw.ttl.gz --date 2026-11-15 --out stw --language de
    """
    from pathlib import Path

    from karat.kb.importers.importer import import_snapshot
    from karat.kb.type_rules import read_type_rules
    from karat.render.kb import render_manifest

    manifest = import_snapshot(
        source,
        Path(out),
        date=date,
        format=format,
        name=name,
        licence=licence,
        space=id_space,
        title_space=title_space,
        language=language,
        complete=not partial,
        xrefs_are_same_as=merge_xrefs,
        rules=read_type_rules(whitelist, adjust) if whitelist or adjust else None,
    )
    echo(render_manifest(manifest, width=page_width()), nl=False)
