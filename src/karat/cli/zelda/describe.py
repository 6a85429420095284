"""`karat zelda describe SOURCE OUT`."""

from __future__ import annotations

import click

from karat.cli.choices import apart
from karat.cli.output import say


@click.command()
@click.argument("source", metavar="SOURCE")
@click.argument("target", metavar="OUT")
@click.option("--vocabulary", required=True, metavar="FILE", help="The titles to describe.")
@click.option(
    "--take",
    type=click.Choice(["paragraph", "sentence"]),
    default="paragraph",
    show_default=True,
    help="The opening paragraph, as the paper says, or its first sentence, as its code does.",
)
def command(source: str, target: str, vocabulary: str, take: str) -> None:
    """Write what entities are, from the introductions of their articles in Kensho's Wikipedia.

    \b
    karat zelda describe kdwd descriptions.jsonl --vocabulary vocabulary.tsv
    """
    import msgspec

    from karat.fitting import counted
    from karat.storage.files import writing
    from karat.zelda.texts.descriptions import descriptions
    from karat.zelda.texts.sections import sections
    from karat.zelda.texts.vocabulary import read_vocabulary

    apart([source, vocabulary], [target])
    titles = read_vocabulary(vocabulary)
    count = 0
    with writing(target) as file:
        for one in descriptions(sections(source), titles, take):
            file.write(msgspec.json.encode(one._asdict()) + b"\n")
            count += 1
    say(f"{counted(count, 'description')} of {len(titles):,} titles", err=target == "-")
