"""`karat kb find TEXT`."""

from __future__ import annotations

import click

from karat.cli.options.declaration import karat_command, option
from karat.cli.options.output import json_option, limit_option
from karat.cli.options.scoring import kb_option
from karat.cli.output import page_width, print_page, write_output


@karat_command()
@click.argument("text", metavar="TEXT")
@kb_option("Snapshot to search.", default="starter")
@option("--exact", "match_mode", flag_value="exact", help="Match names exactly.")
@option("--prefix", "match_mode", flag_value="prefix", default=True, help="Match the beginning of names (the default).")
@option("--fuzzy", "match_mode", flag_value="fuzzy", help="Allow one typo.")
@limit_option(10, "entities", min_value=1)
@json_option("the entities")
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
    metadata = zip(
        matches, snapshot.names(ids), snapshot.descriptions(ids), snapshot.have_frequencies(ids), strict=True
    )
    entities = [
        EntityMatch(match.id, name, description, match.surface, match.weight if is_known else None)
        for match, name, description, is_known in metadata
    ]
    write_output(json_file, lambda: encode_matches(snapshot.name, text, entities))
    print_page(lambda: render_matches(entities, width=page_width()), json_file)
