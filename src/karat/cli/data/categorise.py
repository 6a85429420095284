"""`karat data categorise GOLD`."""

from __future__ import annotations

import click

from karat.cli.choices import apart, once
from karat.cli.output import say, width, write
from karat.cli.reading import reading


@click.command()
@click.argument("gold")
@click.option("--kb", metavar="NAME|DIR", help="Names, aliases and popular entities: a pack, or a folder.")
@click.option(
    "--tagger",
    default="rules",
    show_default=True,
    metavar="NAME",
    help="What tells parts of speech: `rules`, or `spacy:MODEL` such as spacy:en_core_web_md.",
)
@click.option("--out", "target", metavar="FILE", help="Write the corpus with its categories.")
@click.option("--to", "wanted", metavar="FORMAT", help="The format to write, where the suffix of FILE does not tell.")
@click.option("--keep", is_flag=True, help="Keep the categories that there are, and only fill in missing ones.")
@click.option("--evaluate", is_flag=True, help="Compare with the categories that there are.")
@click.option("--json", "json_file", callback=once, multiple=True, metavar="FILE", help="Write the numbers as JSON.")
@click.option("--gold-format", metavar="NAME", help="The format of GOLD, where it is not recognised.")
@reading
def command(
    gold: str,
    kb: str | None,
    tagger: str,
    target: str | None,
    wanted: str | None,
    keep: bool,
    evaluate: bool,
    json_file: str | None,
    gold_format: str | None,
) -> None:
    """Assign the fine-grained categories: base form, part of speech, overlap and reference.

    What the rules cannot tell stays undecided: the label has no category of that dimension. The rules know English.
    docs/fine-grained.md says how often they agree with people.

    \b
    karat data categorise gold.jsonl --out categorised.jsonl
    karat data categorise gold.jsonl --kb DIR --tagger spacy:en_core_web_md
    karat data categorise categorised.ttl --evaluate
    """
    from karat.categorise.categorise import categorise, tagger_named
    from karat.categorise.compared import agreements
    from karat.data.convert import lost
    from karat.data.load import load, save, target_format
    from karat.errors import UsageError
    from karat.kb.opened import open_kb
    from karat.pages.data.categorised import json_of, page
    from karat.work import working

    apart([gold], [target, json_file])
    if evaluate and keep:
        raise UsageError("--keep keeps what --evaluate compares with. Leave one of them out.")
    format, chosen = (None, None) if target is None else target_format(target, wanted)
    tagging = tagger_named(tagger)
    tables = None if kb is None else open_kb(kb)
    corpus = load(gold, format=gold_format)
    with working(f"categorising {corpus.name}"):
        compared = agreements(corpus, kb=tables, tagger=tagging) if evaluate else {}
        done = categorise(corpus, kb=tables, tagger=tagging, keep=keep)
    if target is not None and chosen is not None:
        save(done.corpus, target, format=format)
        for name, count in lost(done.corpus, chosen).items():
            say(f"{target}: not kept: {name} {count}", err=True)
    write(json_file, lambda: json_of(done, compared))
    say(page(done, compared, width=width()), nl=False, err="-" in (target, json_file))
