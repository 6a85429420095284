"""`karat zelda candidates OUT`."""

from __future__ import annotations

import click

from karat.cli.arguments import check_paths
from karat.cli.options.declaration import karat_command, option
from karat.cli.options.output import json_option
from karat.cli.options.scoring import kb_option
from karat.cli.output import page_width, print_page, write_output


@karat_command()
@click.argument("target", metavar="OUT")
@option(
    "--aliases",
    multiple=True,
    metavar="FILE|DIR",
    help="Aliases of titles, such as those of Wikidata or Kensho (repeatable).",
)
@option(
    "--titles",
    multiple=True,
    metavar="FILE|DIR",
    help="Test sets whose titles are candidates of themselves, as all titles of Wikidata are in ZELDA (repeatable).",
)
@option("--text", multiple=True, metavar="FILE|DIR", help="Linked text: Kensho's Wikipedia or any corpus (repeatable).")
@option("--pairs", multiple=True, metavar="FILE", help="Mention, entity and count, as Parquet or TSV (repeatable).")
@option(
    "--wikilinks", multiple=True, metavar="FILE", help="Web links in the format of the Wikilinks corpus (repeatable)."
)
@option("--vocabulary", metavar="FILE", help="Titles that may be candidates; others are dropped.")
@option(
    "--test",
    "tests",
    multiple=True,
    metavar="FILE|DIR",
    help="Test set whose entities the vocabulary must contain (repeatable).",
    needs=["--vocabulary"],
    is_strict=True,
)
@option(
    "--merge",
    type=click.Choice(["zelda", "sum"]),
    default="zelda",
    show_default=True,
    help="Merging of counts: as in ZELDA's scripts (+1 per source), or their sum.",
)
@kb_option("Knowledge base that updates titles and drops deleted ones.")
@option(
    "--engine", type=click.Choice(["duckdb", "spark"]), default="duckdb", show_default=True, help="Engine that merges."
)
@option(
    "--memory",
    default="250MB",
    show_default=True,
    metavar="SIZE",
    help="Memory limit of DuckDB.",
    needs=["--engine duckdb"],
)
@json_option("the statistics")
def command(
    target: str,
    aliases: tuple[str, ...],
    titles: tuple[str, ...],
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
    """Build candidate lists from linked text, aliases and web links.

    The output is one Parquet file with counts, merged by DuckDB (pip install 'karat[duckdb]'). Sources are merged in
    this order: aliases and titles, linked text and pairs, web links. After a failure, run the same command again: it
    resumes from temporary files next to OUT.

    \b
    karat zelda candidates lists.parquet --text train.jsonl
    karat zelda candidates lists.parquet --aliases kdwd --text kdwd \\
        --wikilinks data-00000-of-00010.gz --vocabulary titles.txt
    """
    from karat.kb.catalogue import open_kb
    from karat.model.output.json_files import encode_indented
    from karat.protocols.zelda.candidates.merge import build_candidate_lists
    from karat.protocols.zelda.candidates.staging import CandidateSource
    from karat.protocols.zelda.split_predictions import collect_linked_mentions
    from karat.protocols.zelda.splits import load_splits
    from karat.protocols.zelda.texts.vocabulary import check_entities, read_vocabulary
    from karat.render.zelda.candidates import render_build_result

    paths_by_kind = {"aliases": aliases, "titles": titles, "text": text, "pairs": pairs, "wikilinks": wikilinks}
    sources = [CandidateSource(kind, path) for kind, paths in paths_by_kind.items() for path in paths]
    check_paths([*(source.path for source in sources), vocabulary], [target, json_file])
    allowed_titles = read_vocabulary(vocabulary) if vocabulary else None
    if tests and allowed_titles is not None and vocabulary is not None:
        mentions = collect_linked_mentions(load_splits(tests))
        test_titles = (
            mention.entity.replace("_", " ") for split_mentions in mentions.values() for mention in split_mentions
        )
        check_entities(allowed_titles, test_titles, vocabulary)
    built = build_candidate_lists(
        sources,
        target,
        merge=merge,
        vocabulary=None if allowed_titles is None else list(allowed_titles),
        kb=open_kb(kb) if kb else None,
        engine=engine,
        memory=memory,
    )
    write_output(json_file, lambda: encode_indented(built))
    print_page(lambda: render_build_result(built, width=page_width()), json_file)
