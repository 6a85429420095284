"""`karat kb find TEXT`."""

from __future__ import annotations

import click

from karat.cli.arguments import single_value
from karat.cli.output import page_width, print_page, write_output


@click.command()
@click.argument("text", metavar="TEXT")
@click.option("--kb", default="starter", show_default=True, metavar="NAME|DIR", help="Snapshot.")
@click.option("--exact", "match_mode", flag_value="exact", help="Match names exactly.")
@click.option(
    "--prefix", "match_mode", flag_value="prefix", default=True, help="Match the beginning of names (the default)."
)
@click.option("--fuzzy", "match_mode", flag_value="fuzzy", help="Allow one typo.")
@click.option(
    "--limit",
    type=click.IntRange(1),
    default=10,
    show_default=True,
    metavar="N",
    help="Maximum number of entities.",
)
@click.option(
    "--json", "json_file", callback=single_value, multiple=True, metavar="FILE", help="Write the entities as JSON."
)
def command(text: str, kb: str, match_mode: str, limit: int, json_file: str | None) -> None:
    """Look up entities by name.

    The most popular entities come first.

    \b
    karat kb find Cambr
    karat kb find Cambrigde --fuzzy
    karat kb find Paris --exact --kb DIR
    """
    from karat.kb.catalogue import open_snapshot
    from karat.model.errors import UsageError
    from karat.render.kb import EntityMatch, encode_matches, render_matches

    snapshot = open_snapshot(kb)
    if snapshot.name_index is None:
        raise UsageError(f"{snapshot.name} has no aliases to search. Build the snapshot with aliases.")
    if match_mode == "exact":
        matches = snapshot.name_index.find_exact(text, limit)
    else:
        matches = (
            snapshot.name_index.find_similar(text, limit)
            if match_mode == "fuzzy"
            else snapshot.name_index.find_by_prefix(text, limit)
        )
    ids = [match.id for match in matches]
    metadata = zip(matches, snapshot.names(ids), snapshot.descriptions(ids), strict=True)
    entities = [
        EntityMatch(match.id, name, description, match.surface, match.weight) for match, name, description in metadata
    ]
    write_output(json_file, lambda: encode_matches(snapshot.name, text, entities))
    print_page(lambda: render_matches(entities, width=page_width()), json_file)
