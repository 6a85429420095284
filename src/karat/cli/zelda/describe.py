"""`karat zelda describe SOURCE OUT`."""

from __future__ import annotations

import click

from karat.cli.arguments import check_paths
from karat.cli.options.declaration import karat_command, option
from karat.cli.output import echo


@karat_command()
@click.argument("source", metavar="SOURCE")
@click.argument("target", metavar="OUT")
@option("--vocabulary", required=True, metavar="FILE", help="Titles to describe.")
@option(
    "--extract",
    type=click.Choice(["paragraph", "sentence"]),
    default="paragraph",
    show_default=True,
    help="Part to extract: the opening paragraph (ZELDA paper) or its first sentence (ZELDA code).",
)
def command(source: str, target: str, vocabulary: str, extract: str) -> None:
    """Write entity descriptions from Wikipedia articles.

    SOURCE is Kensho's Wikipedia; the descriptions are the introductions of its articles.

    \b
    karat zelda describe kdwd descriptions.jsonl --vocabulary vocabulary.tsv
    """
    import msgspec

    from karat.model.output.text_layout import format_count
    from karat.protocols.zelda.texts.descriptions import describe_entities
    from karat.protocols.zelda.texts.sections import read_sections
    from karat.protocols.zelda.texts.vocabulary import read_vocabulary
    from karat.storage.atomic_writing import open_for_writing

    check_paths([source, vocabulary], [target])
    titles = read_vocabulary(vocabulary)
    count = 0
    with open_for_writing(target) as file:
        for description in describe_entities(read_sections(source), titles, extract):
            file.write(msgspec.json.encode(description._asdict()) + b"\n")
            count += 1
    echo(f"{format_count(count, 'description')} of {len(titles):,} titles", err=target == "-")
