"""`karat zelda audit TRAIN TEST…`."""

from __future__ import annotations

import click

from karat.cli.arguments import check_paths
from karat.cli.options.declaration import karat_command
from karat.cli.options.output import details_option, json_option
from karat.cli.options.reading import input_options
from karat.cli.output import page_width, print_page, write_output


@karat_command()
@click.argument("train", metavar="TRAIN")
@click.argument("tests", metavar="TEST…", nargs=-1, required=True)
@details_option("List near-duplicate documents.")
@json_option()
@input_options
def command(train: str, tests: tuple[str, ...], details: bool, json_file: str | None) -> None:
    """Measure train-test overlap.

    The report shows the shares of test entities, surface forms and pairs of both that also occur in the training text,
    and mentions whose entity never occurs there. Near-duplicate documents share 80 % of the five-word sequences of the
    shorter text.

    \b
    karat zelda audit train.jsonl jsonl
    karat zelda audit kdwd test_wned-wiki.jsonl --details
    """
    from karat.model.output.json_files import encode_indented
    from karat.protocols.zelda.audit import audit_training_text
    from karat.protocols.zelda.splits import load_splits
    from karat.render.zelda.audit import render_page

    check_paths([train, *tests], [json_file])
    overlap = audit_training_text(train, load_splits(tests))
    write_output(json_file, lambda: encode_indented(overlap))
    print_page(lambda: render_page(overlap, details=details, width=page_width()), json_file)
