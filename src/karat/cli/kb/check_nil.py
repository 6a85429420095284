"""`karat kb check-nil GOLD`."""

from __future__ import annotations

import click

from karat.cli.arguments import check_paths
from karat.cli.options.declaration import karat_command, option
from karat.cli.options.output import json_option
from karat.cli.options.reading import input_options
from karat.cli.options.scoring import kb_option
from karat.cli.output import echo, echo_losses, page_width, write_output


@karat_command()
@click.argument("gold", metavar="GOLD")
@kb_option("Snapshot to search.", default="starter")
@option("--out", metavar="FILE", help="Write GOLD without these labels.")
@json_option("every label")
@input_options
def command(gold: str, kb: str, out: str | None, json_file: str | None) -> None:
    """List NIL labels whose text is a name in a snapshot.

    These entities may have been added to the knowledge base after the gold standard was annotated.

    \b
    karat kb check-nil gold.jsonl --kb enwiki --out rest.jsonl
    karat score rest.jsonl predictions.jsonl
    """
    from karat.data.kb_changes import drop_known_nil, find_known_nil
    from karat.data.load import load, split_pool_name, write_data
    from karat.kb.catalogue import open_snapshot
    from karat.render.knowledge import encode_known_nil, render_known_nil

    check_paths(split_pool_name(gold), [out, json_file])
    snapshot, corpus = open_snapshot(kb), load(gold)
    if out is not None:
        echo_losses(out, write_data(drop_known_nil(corpus, snapshot), out))
    known_labels, label = find_known_nil(corpus, snapshot), f"{snapshot.name}@{snapshot.digest}"
    write_output(json_file, lambda: encode_known_nil(known_labels, label))
    if json_file != "-":
        echo(render_known_nil(known_labels, label, width=page_width()), nl=False, err=out == "-")
