"""`karat zelda candidates OUT`."""

from __future__ import annotations

import click

from karat.cli.choices import apart, once
from karat.cli.output import show, width, write


@click.command()
@click.argument("target", metavar="OUT")
@click.option(
    "--aliases", multiple=True, metavar="FILE|DIR", help="Aliases of titles, such as Wikidata's; also Kensho's."
)
@click.option("--text", multiple=True, metavar="FILE|DIR", help="Linked text: Kensho's Wikipedia, any corpus.")
@click.option("--pairs", multiple=True, metavar="FILE", help="Mention, entity and count, as Parquet or TSV.")
@click.option(
    "--wikilinks", multiple=True, metavar="FILE", help="Links of web pages, as the Wikilinks corpus has them."
)
@click.option("--vocabulary", metavar="FILE", help="The titles that may be candidates; all others are left out.")
@click.option(
    "--test", "tests", multiple=True, metavar="FILE|DIR", help="Test sets, whose entities must be among them."
)
@click.option(
    "--merge",
    type=click.Choice(["zelda", "sum"]),
    default="zelda",
    show_default=True,
    help="How counts of sources come together: as ZELDA's scripts do it (+1 a source), or added.",
)
@click.option("--kb", metavar="NAME|DIR", help="Renew titles by this knowledge base, and leave dead ones out.")
@click.option(
    "--engine", type=click.Choice(["duckdb", "spark"]), default="duckdb", show_default=True, help="Who merges."
)
@click.option("--memory", default="250MB", show_default=True, metavar="SIZE", help="What DuckDB may hold.")
@click.option("--json", "json_file", callback=once, multiple=True, metavar="FILE", help="Write what was made as JSON.")
def command(
    target: str,
    aliases: tuple[str, ...],
    text: tuple[str, ...],
    pairs: tuple[str, ...],
    wikilinks: tuple[str, ...],
    vocabulary: str | None,
    tests: tuple[str, ...],
    merge: str,
    kb: str | None,
    engine: str,
    memory: str,
    json_file: str | None,
) -> None:
    """Build candidate lists with counts, and write them as one Parquet file.

    Sources are merged in this order: aliases, linked text and pairs, links of the web. What was read is kept beside OUT
    until that is complete: call again after a failure.

    \b
    karat zelda candidates lists.parquet --text train.jsonl
    karat zelda candidates lists.parquet --aliases kdwd --text kdwd \\
        --wikilinks data-00000-of-00010.gz --vocabulary titles.txt
    """
    from karat.cli.zelda.testing import mentions_of, splits_given
    from karat.errors import UsageError
    from karat.kb.opened import open_kb
    from karat.pages.zelda.candidates import built_json, built_page
    from karat.zelda.candidates.merge import build_lists
    from karat.zelda.candidates.staging import CandidateSource
    from karat.zelda.texts.vocabulary import demand_entities, read_vocabulary

    given = {"aliases": aliases, "text": text, "pairs": pairs, "wikilinks": wikilinks}
    sources = [CandidateSource(kind, path) for kind, paths in given.items() for path in paths]
    apart([*(source.path for source in sources), *([vocabulary] if vocabulary else [])], [target, json_file])
    titles = read_vocabulary(vocabulary) if vocabulary else None
    if tests:
        if titles is None or vocabulary is None:
            raise UsageError("--test asks whether a vocabulary has all entities of test sets. Give --vocabulary too.")
        mentions = mentions_of(splits_given(tests))
        wanted = (mention.entity.replace("_", " ") for every in mentions.values() for mention in every)
        demand_entities(titles, wanted, vocabulary)
    built = build_lists(
        sources,
        target,
        merge=merge,
        vocabulary=None if titles is None else list(titles),
        kb=open_kb(kb) if kb else None,
        engine=engine,
        memory=memory,
    )
    write(json_file, lambda: built_json(built))
    show(lambda: built_page(built, width=width()), json_file)
