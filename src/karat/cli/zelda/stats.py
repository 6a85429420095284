"""`karat zelda stats TEST…`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from karat.cli.arguments import check_paths
from karat.cli.options.declaration import karat_command, option
from karat.cli.options.output import json_option
from karat.cli.options.reading import input_options
from karat.cli.output import page_width, print_page, write_output

if TYPE_CHECKING:
    from karat.protocols.zelda.texts.statistics import Tokeniser


@karat_command()
@click.argument("tests", metavar="TEST…", nargs=-1, required=True)
@option(
    "--tokens",
    type=click.Choice(["spacy", "words", "spaces"]),
    help="Tokens that lengths count: spaCy's, words and punctuation marks, or what spaces separate.  "
    "[default: spacy if installed, else words]",
)
@json_option("the statistics")
@input_options
def command(tests: tuple[str, ...], tokens: Tokeniser | None, json_file: str | None) -> None:
    """Compute the statistics of test sets.

    The table is Table 2 of the ZELDA paper: domain, document type, documents, mean length in tokens, entities and
    mentions. Domain and document type are those of the registered file with the same content.

    \b
    karat zelda stats jsonl
    karat zelda stats test_aida-b.jsonl --tokens spaces
    """
    from karat.model.output.json_files import encode_indented
    from karat.protocols.zelda.texts.statistics import benchmark_statistics
    from karat.render.zelda.benchmark import render_statistics

    check_paths(list(tests), [json_file])
    statistics = benchmark_statistics(tests, tokens)
    write_output(json_file, lambda: encode_indented(statistics))
    print_page(lambda: render_statistics(statistics, width=page_width()), json_file)
